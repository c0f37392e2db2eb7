"""``noctule graph`` as a user runs it: to standard output, to a file, and with what is missing named."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import pytest

from noctule.flows.graph import BUILD
from tests.command_line import CommandLine
from tests.e2e.conftest import Built


@pytest.fixture
def command(built: Built, tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, built.store)


def test_the_link_graph_goes_to_standard_output_or_to_a_file(command: CommandLine) -> None:
    printed = command.run("graph", "--links")
    assert (printed.code, printed.err) == (0, "")
    read = nx.parse_graphml(printed.out)
    assert read.nodes["vault:guide/owls.md"]["path"] == "guide/owls.md" and read.number_of_edges() > 0
    told = command.run("graph", "--links", "--format", "gexf", "--out", "links.gexf", "--json").json
    assert told["format"] == "gexf" and told["documents"] == len(read)
    assert list(nx.read_gexf(command.folder / "links.gexf")) == list(read)
    as_json = json.loads(command.run("graph", "--links", "--format", "json").out)
    assert [node["id"] for node in as_json["nodes"]] == list(read)
    assert len(as_json["edges"]) == told["edges"] == read.number_of_edges()


def test_without_links_it_prints_the_stages_of_a_build(command: CommandLine) -> None:
    lines = command.run("graph").out.splitlines()
    assert [line.split("  ")[0].strip() for line in lines] == [stage.name for stage in BUILD]
    assert any(line.startswith("publish ") and "relevance" in line for line in lines)
    assert command.run("graph", "--format", "mermaid").out.startswith("flowchart TD")
    rows = command.run("graph", "--json").json["stages"]
    assert [row["stage"] for row in rows] == [stage.name for stage in BUILD]


def test_a_format_of_the_other_graph_is_refused(command: CommandLine) -> None:
    outcome = command.run("graph", "--format", "gexf", "--json")
    assert outcome.code == 2 and "--links" in outcome.error["hint"]


def test_a_file_that_cannot_be_written_is_an_error(command: CommandLine) -> None:
    outcome = command.run("graph", "--links", "--out", "nowhere/links.graphml", "--json")
    assert outcome.code == 3 and "nowhere" in outcome.error["where"]
