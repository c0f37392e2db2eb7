"""A site built on the one before, damaged or not, has the bytes of a site built from nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noctule.docsite.build import build_site
from noctule.docsite.fingerprints import around
from noctule.docsite.maps import neighbours
from noctule.docsite.outline import all_pages, navigation
from noctule.docsite.pages import documents as pages
from noctule.pipeline.settings.site import Site
from tests.repetitions import ALL
from tests.site_builder import snapshot_of

# Vaults that are built night by night; more of them for `make torture`.
EXAMPLES = 200 if ALL else 12
NAMES = (
    "index.md", "a/index.md", "a/one.md", "a/two.md", "a/three.md", "a/deep/x.md", "a/deep/y.md", "b.md",
    "b/inner.md", "c/page.html", "c/other.html", "plain.txt", "z.md",
)  # fmt: skip
BLOCKS = (
    "Plain words.", "## Wings\n\nTwo of them.", "## Ears\n\nAlso two.", "#night", "#day and #Night",
    "See [one](/a/one.md#wings).", "See [x](/a/deep/x.md), [[b]] and [[two#Ears]].", "![[one]]",
    "![[two#Wings]]",
    "![[y]]", "[[z]] [[index]] [page](/c/page.html#top)", "[gone](/gone.md)", "[[x]] [[y]] [[three]]",
    "[one](/a/one.md) [two](/a/two.md) [b](/b.md)", "A note.[^1]\n\n[^1]: Below.",
    "```python\nimport owl\n```",
)  # fmt: skip
TITLES = ("Owl", "Bat", "Moth & friends", "owl")
FRONT = ("", "description: In short\n", "nav_order: 1\n", "updated: 2026-01-02\n", "tags: [late, day]\n")

_PAGE = st.tuples(
    st.sampled_from(TITLES), st.sampled_from(FRONT), st.lists(st.sampled_from(BLOCKS), max_size=4)
)
_VAULT = st.dictionaries(st.sampled_from(NAMES), _PAGE, min_size=2)
_EDITS = st.dictionaries(st.sampled_from(NAMES), st.none() | _PAGE, min_size=0, max_size=3)
_SITES = st.sampled_from(
    [
        Site(),
        Site(),
        Site(title="Night"),
        Site(related=0),
        Site(related=1),
        Site(markdown=False),
        Site(graph=False),
        Site(search=False),
    ]
)
# Which files, counted round, and where the bit is that is flipped.
_DAMAGE = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 5_000)), max_size=3)
Page = tuple[str, str, list[str]]


def _written(name: str, page: Page) -> str:
    title, front, blocks = page
    if name.endswith(".html"):
        links = "".join(
            f'<p id="at{at}"><a href="/{NAMES[at]}#wings">to</a></p>' for at in range(len(blocks))
        )
        return (
            f"<html><title>{title}</title><main><h1 id='top'>{title}</h1>{links}<pre>code</pre></main></html>"
        )
    body = "\n\n".join([f"# {title}", *blocks])
    return f"---\n{front}---\n{body}\n" if front else f"{body}\n"


def _files(folder: Path) -> Mapping[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _flip_bits(site: Path, damage: list[tuple[int, int]]) -> None:
    """Flip bits and leave the files' times as they are."""
    for which, at in damage if site.is_dir() else ():
        paths = sorted(path for path in site.rglob("*") if path.is_file())
        path = paths[which % len(paths)]
        found, content = path.stat(), bytearray(path.read_bytes())
        content[at % len(content)] ^= 1 << at % 8
        path.write_bytes(content)
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists so short that small vaults overflow them."""
    monkeypatch.setattr(navigation, "WHOLE_TREE_PAGES", 4)
    monkeypatch.setattr(navigation, "SIBLINGS_EACH_SIDE", 0)
    monkeypatch.setattr(all_pages, "NODES_PER_PAGE", 4)
    for module in (pages, around):
        monkeypatch.setattr(module, "MAX_BACKLINKS", 2)
    for module in (neighbours, around):
        monkeypatch.setattr(module, "EACH_SIDE", 1)


@pytest.mark.usefixtures("narrow")
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_VAULT, st.lists(st.tuples(_EDITS, _SITES, _DAMAGE), min_size=1, max_size=4), st.booleans())
def test_a_site_is_the_same_whatever_was_there_before(
    vault: dict[str, Page],
    nights: list[tuple[dict[str, Page | None], Site, list[tuple[int, int]]]],
    with_aside: bool,
) -> None:
    with TemporaryDirectory() as folder:
        site, fresh = Path(folder, "site"), Path(folder, "fresh")
        for edits, given_site, damage in [({}, Site(), []), *nights]:
            wanted = given_site.model_copy(update={"verify_days": 1})
            _flip_bits(site, damage)
            vault = {name: page for name, page in {**vault, **edits}.items() if page is not None}
            snapshot = snapshot_of({"notes": {name: _written(name, page) for name, page in vault.items()}})
            build_site(snapshot, site, wanted, aside=Path(folder, "aside") if with_aside else None)
            build_site(snapshot, fresh, wanted, full=True)
            assert _files(site) == _files(fresh)
