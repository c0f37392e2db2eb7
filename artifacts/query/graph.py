"""The link graph of a snapshot as networkx knows it, and the formats it can be exported in."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

from ...pipeline.errors import SettingsError
from ...pipeline.printable import json_printable, xml_printable
from ..store.snapshot import Snapshot
from ..tables.parquet import tuples

if TYPE_CHECKING:
    import networkx as nx

_DOCUMENT = (
    "collection",
    "path",
    "title",
    "url",
    "language",
    "modified",
    "community",
    "links_in",
    "links_out",
)
# XML 1.0 has no characters for these, escaped or not.
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DATE = re.compile(r' lastmodifieddate="[^"]*"')


def link_graph(snapshot: Snapshot) -> nx.DiGraph:
    """Return the documents by id, with an edge from each to every other document that it links to.

    Anything unknown about a document is left out of its node's attributes. ``topic`` is the name of its
    community, if that has one. An edge has the number of links as ``weight``, and their different texts in
    ``texts``, one a line. Raise ``SettingsError`` if networkx is not installed.
    """
    if find_spec("networkx") is None:
        raise SettingsError(
            "the link graph needs networkx, which is not installed",
            where="this Python environment",
            hint="Install it: pip install networkx. The snapshot's table links contains the links as well.",
        )
    import networkx as nx

    graph = nx.DiGraph()
    topics = dict(tuples(snapshot.table("communities", ["community_id", "label"])))
    for doc_id, *values in tuples(snapshot.table("documents", ["doc_id", *_DOCUMENT])):
        known = dict(zip(_DOCUMENT, values, strict=True))
        known["topic"] = topics.get(known["community"]) or None
        graph.add_node(doc_id, **{name: value for name, value in known.items() if value is not None})
    texts: dict[tuple[str, str], list[str]] = {}
    for source, target, text in tuples(snapshot.table("links", ["source_id", "target_id", "text"])):
        if target is not None and target != source:
            texts.setdefault((source, target), []).append(text)
    for (source, target), found in sorted(texts.items()):
        different = sorted({" ".join(text.split()) for text in found} - {""})
        graph.add_edge(source, target, weight=len(found), texts="\n".join(different))
    return graph


def graphml(graph: nx.DiGraph) -> str:
    """Return the graph as GraphML."""
    import networkx as nx

    return xml_printable("\n".join(nx.generate_graphml(_for_xml(graph))) + "\n")


def gexf(graph: nx.DiGraph) -> str:
    """Return the graph as GEXF without the date that networkx adds: the same graph gives the same file."""
    import networkx as nx

    named = _for_xml(graph)
    for node, values in named.nodes(data=True):
        values["label"] = values.get("title", node)
    file = io.BytesIO()
    nx.write_gexf(named, file)
    return xml_printable(_DATE.sub("", file.getvalue().decode("utf-8"), count=1) + "\n")


def node_link(graph: nx.DiGraph) -> str:
    """Return the graph as JSON in networkx's node-link form, with ``nodes`` and ``edges``."""
    import networkx as nx

    return json_printable(json.dumps(nx.node_link_data(graph, edges="edges"), ensure_ascii=False) + "\n")


FORMATS: Mapping[str, Callable[[nx.DiGraph], str]] = {"graphml": graphml, "gexf": gexf, "json": node_link}


def _for_xml(graph: nx.DiGraph) -> nx.DiGraph:
    """Return a copy without the characters that XML cannot hold."""
    import networkx as nx

    copy = nx.relabel_nodes(graph, {node: _NOT_IN_XML.sub("", node) for node in graph})
    for *_, values in chain(copy.nodes(data=True), copy.edges(data=True)):
        for name, value in values.items():
            values[name] = _NOT_IN_XML.sub("", value) if isinstance(value, str) else value
    return copy
