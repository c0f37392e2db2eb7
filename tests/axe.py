"""Rules of accessibility, checked by axe in a browser."""

from __future__ import annotations

from importlib import resources

import pytest
from selenium import webdriver


def axe() -> str:
    """Return axe's script; skips the test without it."""
    try:
        return resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    except ModuleNotFoundError:
        pytest.skip("needs axe-core-python, which is among the test extras")


def violations(browser: webdriver.Chrome, scheme: str) -> list[str]:
    """Return what breaks a rule; in the dark the rules of colour are enough, as all else is the same."""
    browser.execute_script(axe())
    script = """
        const done = arguments[arguments.length - 1];
        const rules = {runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}};
        const only = arguments[0] === 'dark' ? rules : {};
        axe.run(document, {...only, resultTypes: ['violations']}).then(
            found => done(found.violations.map(v =>
                v.id + ': ' + v.nodes.map(n => n.html.slice(0, 120)).join(' | '))),
            error => done([String(error)]));
    """
    return list(browser.execute_async_script(script, scheme))
