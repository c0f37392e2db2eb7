"""The link graph as networkx has it, and that what was exported can be read back."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import networkx as nx
import pytest

from noctule.artifacts.query.graph import FORMATS, gexf, graphml, link_graph, node_link
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.printable import is_printable
from tests.library_builder import searcher_of
from tests.site_builder import snapshot_of


@pytest.fixture(scope="module")
def searcher(library: Store) -> Iterator[Searcher]:
    with searcher_of(library) as found:
        yield found


def test_documents_are_nodes_with_what_is_known_of_them(searcher: Searcher) -> None:
    graph = searcher.graph()
    assert isinstance(graph, nx.DiGraph)
    documents = searcher.corpus.snapshot.table("documents").to_pylist()
    assert list(graph) == [each["doc_id"] for each in documents]
    topics = searcher.corpus.snapshot.table("communities").to_pylist()
    label = {each["community_id"]: each["label"] for each in topics}
    for each in documents:
        node = graph.nodes[each["doc_id"]]
        assert (node["title"], node["collection"], node["path"], node["url"]) == (
            each["title"], "notes", each["path"], each["url"],
        )  # fmt: skip
        assert node.get("community") == each["community"]
        assert node.get("topic", "") == label.get(each["community"], "")
        assert (graph.in_degree(each["doc_id"]), graph.out_degree(each["doc_id"])) == (
            each["links_in"], each["links_out"],
        )  # fmt: skip
    assert graph.has_edge("notes:fruit/apples.md", "notes:fruit/pears.md")


def test_an_edge_has_the_number_and_the_texts_of_its_links() -> None:
    links = "[One](b.md) [one more](b.md#x) [One](b.md) [self](a.md) [gone](gone.md) [x](https://example.com)"
    graph = _graph({"a.md": f"# A\n\n{links}\n", "b.md": "# B\n\n## X\n\ntext\n"})
    assert dict(graph.edges) == {("n:a.md", "n:b.md"): {"weight": 3, "texts": "One\none more"}}


def _graph(texts: dict[str, str]) -> nx.DiGraph:
    return link_graph(snapshot_of({"n": texts}))  # type: ignore[arg-type]  # it has tables, which is all that is read


HOSTILE = {
    "a.md": '# A <b> & "c" \u0001\ufffe 𝔘\n\n[<x> & "y"\u0002](<b c.md>)\n',
    "b c.md": "# B ]]> é\n\n[a](a.md)\n",
    "alone.md": "# Alone\n",
}


@pytest.mark.parametrize("make", [lambda: _graph(HOSTILE), lambda: _graph({"only.md": "# Only\n"})])
def test_graphml_can_be_read_back(make: Callable[[], nx.DiGraph]) -> None:
    graph = make()
    read = nx.parse_graphml(graphml(graph))
    assert read.is_directed() and list(read) == list(graph)
    assert list(read.edges) == list(graph.edges)
    for node, values in graph.nodes(data=True):
        kept = {name: _without_controls(value) for name, value in values.items()}
        assert {name: value for name, value in read.nodes[node].items() if value is not None} == {
            name: value for name, value in kept.items() if value != ""
        }
    assert [each["weight"] for *_, each in read.edges(data=True)] == [1] * graph.number_of_edges()


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_holds_what_moves_a_terminal(form: str) -> None:
    graph = nx.DiGraph()
    graph.add_node("n:a.md", title="\x9b2J\u202eevil\u2066")
    graph.add_edge("n:a.md", "n:b.md", weight=1, texts="\x85\u2028evil")
    written = FORMATS[form](graph)
    assert written.count("evil") >= 2 and is_printable(written)


def _without_controls(value: object) -> object:
    return value.replace("\u0001", "").replace("\ufffe", "") if isinstance(value, str) else value


def test_gexf_can_be_read_back_and_has_no_date(searcher: Searcher) -> None:
    graph = searcher.graph()
    text = gexf(graph)
    read = nx.read_gexf(io.StringIO(text))
    assert list(read) == list(graph) and sorted(read.edges) == sorted(graph.edges)
    assert read.nodes["notes:boats.md"]["label"] == "Boats"
    assert "lastmodified" not in text and "label" not in graph.nodes["notes:boats.md"]


def test_json_can_be_read_back(searcher: Searcher) -> None:
    graph = searcher.graph()
    read = nx.node_link_graph(json.loads(node_link(graph)), edges="edges")
    assert nx.utils.graphs_equal(read, graph)


_SCRIPT = """
import sys
from pathlib import Path
from noctule.artifacts.query.graph import FORMATS, link_graph
from noctule.artifacts.store.store import Store
with Store(Path(sys.argv[1])).open() as snapshot:
    graph = link_graph(snapshot)
    for write in FORMATS.values():
        sys.stdout.buffer.write(write(graph).encode())
"""


def test_the_same_snapshot_gives_the_same_bytes(library: Store) -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT, str(library.root)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(found) == 1 and len(found.pop()) > 1000
    assert list(FORMATS) == ["graphml", "gexf", "json"]
