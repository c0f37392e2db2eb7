"""What settings of other tools keep private is compared every night, in the same words in every process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from noctule.flows.incremental.unchanged import shared_inputs
from noctule.flows.sources.publishing_rules import rules_of
from noctule.pipeline.identity import stable_text
from noctule.pipeline.settings.reading import parse
from tests.command_line import REPOSITORY

_PROGRAM = """
import sys
from noctule.flows.incremental.unchanged import shared_inputs
from noctule.flows.sources.publishing_rules import rules_of
from noctule.pipeline.settings.reading import parse
settings = parse({"collections": {"docs": {"root": sys.argv[1]}}}, where="here")
print(shared_inputs(settings, rules_of(settings))[-1])
"""


def _book(folder: Path, chapters: int) -> Path:
    (folder / "docs").mkdir()
    toc = "".join(f"  - file: chapter-{number}.md\n" for number in range(chapters))
    (folder / "docs" / "myst.yml").write_text(f"version: 1\nproject:\n  toc:\n  - file: index.md\n{toc}")
    return folder / "docs"


def test_documents_that_a_table_of_contents_names_are_said_alike_in_every_process(tmp_path: Path) -> None:
    docs = _book(tmp_path, 30)
    said = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(docs)],
            env={"PYTHONPATH": str(REPOSITORY), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1 and "chapter-29" in said.pop()


def test_the_end_of_a_long_list_of_what_is_left_out_is_compared(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    settings = parse({"collections": {"docs": {"root": str(tmp_path / "docs")}}}, where="here")
    found = []
    for last in ("private", "public"):
        names = "\n".join([*(f"  chapter-{number}.md" for number in range(60)), f"  {last}.md"])
        (tmp_path / "mkdocs.yml").write_text(f"docs_dir: docs\nexclude_docs: |\n{names}\n")
        found.append(shared_inputs(settings, rules_of(settings))[-1])
    assert found[0] != found[1] and re.search("private", found[0])


def test_settings_that_nest_deeply_are_said_in_proportion_to_their_length() -> None:
    nested: object = "draft's"
    for _ in range(60):
        nested = {"a": frozenset({1, 2}), "b": [nested]}
    assert len(stable_text(nested)) < 10_000
    assert stable_text({"a": {1, 2}}) != stable_text({"a": [1, 2]})
