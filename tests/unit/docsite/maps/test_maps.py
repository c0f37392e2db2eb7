"""Maps and drawings: nothing lies on anything else, every link leads to a page, large sites stay bounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from noctule.docsite.build import build_site
from noctule.docsite.maps.layout import Shapes, placed
from noctule.pipeline.settings.site import Site
from tests.site_builder import TablesInMemory, page_of, snapshot_of


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(2, 90), min_size=1, max_size=25), round_=st.booleans(), seed=st.integers(0, 9)
)
def test_nothing_lies_on_anything_else(sizes: list[int], round_: bool, seed: int) -> None:
    half = np.array(sizes, dtype=np.float64)
    weight = np.random.default_rng(seed).integers(0, 5, (len(sizes), len(sizes))).astype(np.float64)
    weight = np.triu(weight, 1) + np.triu(weight, 1).T
    places = placed(Shapes(half, half, weight, round=round_), 400, 300)
    for i in range(len(sizes)):
        for j in range(i):
            across, upright = np.abs(places[i] - places[j])
            together = half[i] + half[j]
            apart = np.hypot(across, upright) >= together if round_ else max(across, upright) >= together
            assert apart


def test_what_is_linked_lies_nearer() -> None:
    half, weight = np.full(12, 10.0), np.zeros((12, 12))
    weight[0, 11] = weight[11, 0] = 5
    places = placed(Shapes(half, half, weight, round=True), 600, 400)
    distances = np.hypot(*(places - places[0]).T)
    assert distances[11] <= np.sort(distances)[2]


def _two_topics() -> dict[str, str]:
    texts = {}
    for name in ("owl", "bat"):
        for i in range(8):
            links = " ".join(f"[x]({name}{j}.md)" for j in range(8) if j != i)
            texts[f"{name}{i}.md"] = f"# {name.capitalize()} {i} <b>\n\n{links}\n"
    return texts | {"alone.md": "# Alone\n"}


def test_the_map_has_every_topic_and_its_main_pages(tmp_path: Path) -> None:
    build_site(snapshot_of({"notes": _two_topics()}), tmp_path / "site", Site())
    page = BeautifulSoup((tmp_path / "site/_communities/map.html").read_bytes(), "html.parser")
    assert len(page.select("svg.wide-map circle")) == len(page.select("svg.narrow-map circle")) == 2
    links = [a["href"] for a in page.select("svg.wide-map a")]
    assert len(links) == 8 and all((tmp_path / "site/_communities" / href).is_file() for href in links)
    topic = BeautifulSoup(
        next((tmp_path / "site/_communities").glob("[0-9]*.html")).read_bytes(), "html.parser"
    )
    assert len(topic.select("svg.wide-map rect")) == 8 and not topic.select("svg b")


def test_a_topic_without_a_name_is_nowhere_on_the_site(tmp_path: Path) -> None:
    snapshot = snapshot_of({"notes": _two_topics()})
    communities = snapshot.tables["communities"]
    place = communities.schema.get_field_index("label")
    nameless, named = communities["community_id"].to_pylist()
    tables = {
        **snapshot.tables,
        "communities": communities.set_column(place, "label", [["", "creatures"]]),
    }
    build_site(TablesInMemory("another", tables), tmp_path / "site", Site())
    pages = {str(path.relative_to(tmp_path / "site")) for path in (tmp_path / "site").rglob("*.html")}
    assert f"_communities/{named}.html" in pages and f"_communities/{nameless}.html" not in pages
    texts = [(tmp_path / "site" / page).read_text("utf-8") for page in sorted(pages)]
    assert not any(f"{nameless}.html" in text for text in texts)
    assert sum("creatures" in text for text in texts) > 8


def test_a_site_with_one_topic_has_no_map(tmp_path: Path) -> None:
    build_site(
        snapshot_of({"notes": {"a.md": "# A\n\n[b](b.md)", "b.md": "# B\n\n[a](a.md)"}}),
        tmp_path / "site",
        Site(),
    )
    assert not (tmp_path / "site/_communities/map.html").exists()
    assert "map.html" not in (tmp_path / "site/a.html").read_text()


def test_the_drawing_shows_the_most_linked_neighbours_on_both_sides() -> None:
    texts = {f"p{i}.md": f"# P{i}\n\n[q](q.md)\n" for i in range(20)}
    texts |= {f"in{i}.md": "# In\n\n[hub](hub.md)\n" for i in range(9)}
    texts["hub.md"] = "# Hub\n\n" + " ".join(f"[p](p{i}.md)" for i in range(20)) + " [in](in0.md)\n"
    texts["q.md"] = "# Q \\<script>\n"
    hub = page_of(texts, "hub.html").select_one("svg.graph")
    assert hub is not None and (len(hub.select("text.l")), len(hub.select("text.r"))) == (7, 7)
    assert [path.find_next("text").text for path in hub.select("path.both")] == ["In"]
    beside = page_of(texts, "p3.html").select_one("svg.graph")
    assert beside is not None and [t.text for t in beside.select("text.l")] == ["Hub"]
    assert [t.text for t in beside.select("text.r")] == ["Q <script>"]


def test_a_page_with_hardly_a_link_has_no_drawing() -> None:
    assert page_of({"a.md": "# A\n\n[b](b.md)", "b.md": "# B"}, "b.html").select_one("svg") is None
