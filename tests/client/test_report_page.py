"""The night's report in a browser: it fits a phone, is accessible in both themes, and asks for nothing."""

from __future__ import annotations

from importlib import resources

import pytest
from selenium import webdriver

from noctule.docsite.charts.answers import Difference, Predicted, differences_figure, reliability_figure
from noctule.docsite.charts.page import lone_page
from noctule.docsite.charts.rows import Bar, Shift, bars_figure, moves_figure
from noctule.docsite.charts.treemap import Cell, treemap_figure
from noctule.docsite.charts.trends import Stack, Trend, stack_figure, trend_figure
from noctule.docsite.pages.report import ReportSheet, sheets_html
from tests.browser_driver import needs_browser, prefer, resize

pytestmark = needs_browser
NIGHTS = [f"2026-01-{day:02}" for day in range(1, 31)]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with every kind of chart."""
    trends = [
        trend_figure(Trend("Documents", tuple(float(day) for day in range(30))), NIGHTS),
        stack_figure(Stack("Seconds", tuple({f"s{n}": 1.0 + n for n in range(9)} for _ in NIGHTS)), NIGHTS),
    ]
    others = [
        treemap_figure("Folders", "By size.", [Cell(f"a/long/name/{n}", n + 1, n % 2) for n in range(40)]),
        bars_figure("Bars", "Some.", [Bar("a-name-without-an-end" * 9, 1.0, 0.5)]),
        moves_figure("Moves", "Some.", [Shift("topic", 1, 2, "was another one")]),
        differences_figure("Won", [Difference(f"q{n}", n / 10 - 1) for n in range(20)], "nDCG@10"),
        reliability_figure("Confidence", [Predicted(n / 20, n % 3 > 0) for n in range(20)]),
    ]
    sheets = [
        ReportSheet("Charts", "All.", figures=tuple(each for each in figures if each is not None))
        for figures in (trends, others)
    ]
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(lone_page("A report", sheets_html(sheets)), "utf-8")
    return path.as_uri()


def _contrast(browser: webdriver.Chrome) -> list[float]:
    """The contrast of every filled or drawn mark with the page."""
    script = """
        const light = colour => {
            const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map(c => c / 255)
                .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        };
        const page = light(getComputedStyle(document.body).backgroundColor);
        const marks = document.querySelectorAll('.trend, .s1, .s2, .s3, .s4, .s5, .s6, .added, .up, .down');
        return [...marks].filter(each => each instanceof SVGElement).map(each => {
            const style = getComputedStyle(each);
            const ink = light(style.fill === 'none' ? style.stroke : style.fill);
            return Math.max(ink, page) / Math.min(ink, page);
        });
    """
    return list(browser.execute_script(script))


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_chart_fits_and_can_be_seen(
    browser: webdriver.Chrome, address: str, width: int, scheme: str
) -> None:
    resize(browser, width, 900)
    prefer(browser, scheme)
    browser.get_log("browser")
    browser.get(address)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    wide = "return [...document.querySelectorAll('svg')].map(e => e.getBoundingClientRect().right)"
    assert max(browser.execute_script(wide)) <= width
    contrasts = _contrast(browser)
    assert len(contrasts) > 100 and min(contrasts) >= 3
    assert browser.get_log("browser") == [], "the page's policy allows all that is in it"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_chart_breaks_a_rule_of_accessibility(
    browser: webdriver.Chrome, address: str, scheme: str
) -> None:
    try:
        axe = resources.files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    except ModuleNotFoundError:
        pytest.skip("needs axe-core-python, which is among the test extras")
    resize(browser, 360, 900)
    prefer(browser, scheme)
    browser.get(address)
    browser.execute_script(axe)
    found = browser.execute_async_script(
        "const done = arguments[0];"
        "axe.run(document, {resultTypes: ['violations']}).then(f => done(f.violations.map(v => v.id + "
        "v.nodes.map(n => n.html.slice(0, 150)).join())));"
    )
    assert found == []
