"""Documents that roles of Sphinx name by a number: PEPs, RFCs, CVEs and CWEs."""

from __future__ import annotations

import re
from types import MappingProxyType
from urllib.parse import quote

STANDARDS = MappingProxyType(
    {
        "cve": "https://www.cve.org/CVERecord?id=CVE-{}",
        "cwe": "https://cwe.mitre.org/data/definitions/{}.html",
        "pep": "https://peps.python.org/pep-{:0>4}",
        "rfc": "https://datatracker.ietf.org/doc/html/rfc{}",
    }
)
_NUMBER = re.compile(r"(?P<number>[0-9]{1,20}(?:-[0-9]{1,20})?)(?:#(?P<anchor>\S{1,100}))?")
_SECTION = re.compile(r"(section|appendix|page)-(\w[\w.]*)")


def standard(role: str, target: str) -> tuple[str, str] | None:
    """Return the title and the address of what the text of a role names; ``None`` if that is no number."""
    found = _NUMBER.fullmatch(target)
    if found is None:
        return None
    address, title = STANDARDS[role].format(found["number"]), f"{role.upper()} {found['number']}"
    if not (anchor := found["anchor"]):
        return title, address
    section = _SECTION.fullmatch(anchor)
    said = f" {section[1].title()} {section[2]}" if role == "rfc" and section else f"#{anchor}"
    return f"{title}{said}", f"{address}#{quote(anchor)}"
