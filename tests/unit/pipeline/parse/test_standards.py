"""PEPs, RFCs, CVEs and CWEs that roles name, with and without a title, in reStructuredText and MyST."""

from __future__ import annotations

import pytest

from noctule.pipeline.model import Source
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection

PEPS, RFCS = "https://peps.python.org/pep-", "https://datatracker.ietf.org/doc/html/rfc"


@pytest.mark.parametrize("form", [":{}:`{}`", "{{{}}}`{}`"])
@pytest.mark.parametrize(
    ("role", "text", "shown", "target"),
    [
        ("pep", "8", "PEP 8", f"{PEPS}0008"),
        ("pep", "universal newlines <278>", "universal newlines", f"{PEPS}0278"),
        ("pep", "3333#url-reconstruction", "PEP 3333#url-reconstruction", f"{PEPS}3333#url-reconstruction"),
        ("rfc", "2388#section-5.3", "RFC 2388 Section 5.3", f"{RFCS}2388#section-5.3"),
        ("rfc", "removed <7946#section-4>", "removed", f"{RFCS}7946#section-4"),
        ("cve", "2020-10735", "CVE 2020-10735", "https://www.cve.org/CVERecord?id=CVE-2020-10735"),
        ("cwe", "787", "CWE 787", "https://cwe.mitre.org/data/definitions/787.html"),
        ("pep", "the index", "the index", None),
    ],
)
def test_a_numbered_standard_is_a_link(
    form: str, role: str, text: str, shown: str, target: str | None
) -> None:
    name = "a.rst" if form.startswith(":") else "a.md"
    content = f"See {form.format(role, text)}.\n".encode()
    document = parse(Source("c", name, content, "0" * 64), Collection(root="."))
    assert [block.text for block in document.blocks] == [f"See {shown}."]
    assert [link.target for link in document.links] == ([target] if target else [])
