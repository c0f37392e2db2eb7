"""Front matter and settings that mean harm: at most they cost their own page, and nothing in a site runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from noctule.docsite.build import build_site
from noctule.pipeline.errors import NoctuleError
from noctule.pipeline.settings.reading import parse
from tests.fuzz.forged_site import active
from tests.fuzz.hostile_sites import HostileSite, of_front_matter, of_settings
from tests.processor_time import processor_seconds
from tests.repetitions import ALL
from tests.site_builder import snapshot_of

_LIMIT_S = 60.0
# A redirect within the site or to a web page, the policy with sites that were named, the theme's own script.
_OWN = re.compile(
    r"""<meta content="0; url=(?:https?://|(?!//)[^:]*["/])|<link href='data:,'>"""
    r"""|<meta content="default-src 'none'; script-src 'self'(?: https://[\w.:\[\]-]+)*;"""
    r"""|<script src="(?!//)[\w%./]*/_assets/theme\.js"></script>"""
)
_TITLE = re.compile(r"<h1[^>]*>([^<]*?) *<")


def _faults(site: HostileSite, out: Path) -> Iterator[str]:
    """Yield what is wrong with a site that was built, or with how that ended."""
    began = processor_seconds()
    try:
        given = {"collections": {"notes": {"root": "."}}, "site": site.settings}
        settings = parse(given, where="test").site
        build_site(snapshot_of({"notes": dict(site.documents)}), out, settings)
    except NoctuleError as error:
        if site.titles:
            yield f"the site was not built: {error}"
        return
    if processor_seconds() - began > _LIMIT_S:
        yield "it took too long"
    files = [path for path in sorted(out.rglob("*")) if path.is_file()]
    yield from (f"{path}: outside" for path in files if not path.resolve().is_relative_to(out.resolve()))
    for path in files:
        found = [each for each in active(path) if not _OWN.match(each)]
        yield from (f"{path.relative_to(out)}: {each:.200}" for each in found)
    pages = [path.read_text() for path in files if path.suffix == ".html"]
    titles = {_TITLE.search(page)[1] for page in pages if _TITLE.search(page)}  # type: ignore[index]
    yield from (f"the page {title} is missing" for title in site.titles if title not in titles)


def _wrong(sites: list[HostileSite], folder: Path) -> dict[str, list[str]]:
    found = {site.name: list(_faults(site, folder / str(at))) for at, site in enumerate(sites)}
    return {name: faults[:3] for name, faults in found.items() if faults}


@pytest.mark.parametrize("at", range(18) if ALL else (0, 12))
def test_front_matter_that_means_harm_costs_its_own_page_alone(at: int, tmp_path: Path) -> None:
    assert not _wrong(list(of_front_matter())[at : at + 1], tmp_path)


@pytest.mark.parametrize("at", range(12) if ALL else (5,))
def test_settings_that_mean_harm_are_refused_or_do_none(at: int, tmp_path: Path) -> None:
    sites = list(of_settings(tmp_path))
    assert len(sites) > 250
    assert not _wrong(sites[at :: 12 if ALL else 97], tmp_path)
