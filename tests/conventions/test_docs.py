"""The guide says what the code does: links lead somewhere, and no command, setting or dependency is
left out.
"""

from __future__ import annotations

import ast
import importlib
import re
import tomllib
import types
import typing
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import typer.main
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from noctule.flows.cli.main import app
from noctule.pipeline import __version__
from noctule.pipeline.address import heading_slugs
from noctule.pipeline.discover import list_files
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.links.linking_documents import linking_document
from noctule.pipeline.links.resolve import resolve_links
from noctule.pipeline.model import Document, ResolvedLink
from noctule.pipeline.parse import parse
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TOP_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")


def _page(path: str) -> str:
    return (DOCS / path).read_text("utf-8")


@cache
def _documents(root: Path, include: tuple[str, ...]) -> tuple[Document, ...]:
    collection = Collection(root=str(root), include=include, exclude=("/noctule/", "/site/node_modules"))
    listing = list_files("guide", collection)
    assert not listing.rejections
    return tuple(parse(read_source(file, collection), collection) for file in listing.files)


@cache
def _links(root: Path, include: tuple[str, ...]) -> tuple[ResolvedLink, ...]:
    documents = _documents(root, include)
    linking = [linking_document(each, heading_slugs(each.headings)) for each in documents]
    return tuple(resolve_links(linking, {"guide": Collection(root=str(root))}))


def _guide() -> tuple[Document, ...]:
    return _documents(DOCS, ("**/*.md",))


def _dead(links: typing.Iterable[ResolvedLink], root: Path) -> list[str]:
    return [
        f"{link.source_id}: {link.target} ({link.status})"
        for link in links
        if link.status not in ("resolved", "external") and not _is_file(link, root)
    ]


def _is_file(link: ResolvedLink, root: Path) -> bool:
    """Whether the link names a file that is not a document, such as a picture or the licence."""
    source = root / link.source_id.partition(":")[2]
    return link.status != "missing-heading" and (source.parent / link.target).is_file()


def test_every_link_of_the_guide_leads_somewhere() -> None:
    links = _links(DOCS, ("**/*.md",))
    assert len(links) > 100
    assert _dead(links, DOCS) == []


def test_every_link_of_the_top_pages_leads_somewhere() -> None:
    links = _links(ROOT, (*(f"/{name}" for name in TOP_PAGES), "/docs/**/*.md"))
    of_top = [link for link in links if link.source_id.partition(":")[2] in TOP_PAGES]
    assert len(of_top) > 8
    assert _dead(of_top, ROOT) == []


def test_the_guide_shows_every_kind_of_link() -> None:
    links = _links(DOCS, ("**/*.md",))
    kinds = [link.kind for link in links if link.status == "resolved"]
    assert {"link", "wikilink", "transclusion"} <= set(kinds)
    assert kinds.count("transclusion") >= 3


def test_the_guide_has_pages_with_title_description_and_tags() -> None:
    pages = _guide()
    assert len(pages) >= 27
    lacking = [page.path for page in pages if not (page.title and page.description and page.tags)]
    assert lacking == []
    assert len({page.title for page in pages}) == len(pages)


def test_no_page_of_the_guide_is_cut_off_from_the_others() -> None:
    reached = {link.target_id for link in _links(DOCS, ("**/*.md",)) if link.target_id != link.source_id}
    assert sorted({page.doc_id for page in _guide()} - reached) == []


def test_no_placeholder_is_left_in_the_text() -> None:
    left = [page.path for page in _guide() if re.search(r"@@\w+@@|\bTODO\b|\bTBD\b", page.text)]
    assert left == []


def test_what_samples_import_is_there() -> None:
    code = [block.code for page in _guide() for block in page.blocks if block.language == "python"]
    imports = {
        (node.module, each.name)
        for block in code
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("noctule")
        for each in node.names
    }
    assert len(imports) > 10
    missing = [pair for pair in imports if not hasattr(importlib.import_module(pair[0] or ""), pair[1])]
    assert missing == []


def _sections(page: str) -> dict[str, str]:
    """The text below each heading of a page, up to the next heading."""
    parts = re.split(r"(?m)^#{2,3} (.+)$", page)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _commands() -> dict[str, click.Command]:
    group = typer.main.get_command(app)
    return dict(vars(group)["commands"])


@pytest.mark.parametrize("name", sorted(_commands()))
def test_every_command_and_flag_is_documented(name: str) -> None:
    sections = _sections(_page("reference/command-line.md"))
    assert name in sections, f"reference/command-line.md has no heading {name!r}"
    text = sections[name] + sections["Common flags"]
    flags = [flag for each in _commands()[name].params for flag in each.opts if flag.startswith("--")]
    assert [flag for flag in flags if f"`{flag}" not in text] == []


def test_no_command_is_documented_that_does_not_exist() -> None:
    code = "\n".join(block.code for page in _guide() for block in page.blocks if block.kind == "code")
    named = re.findall(r"(?m)^\s*noctule ([a-z]+)", code)
    assert len(named) > 30
    assert sorted(set(named) - set(_commands())) == []


def _models(model: type[BaseModel], at: str = "") -> Iterator[tuple[str, str, FieldInfo]]:
    """The heading, key and field of every plain setting below a model."""
    for name, field in model.model_fields.items():
        inner = _model_in(field.annotation)
        if inner is None:
            yield at, name, field
        elif name != "fields":  # the weights of fields have a table and a test of their own
            yield from _models(inner, name)


def _model_in(annotation: object) -> type[BaseModel] | None:
    for part in (annotation, *typing.get_args(annotation)):
        if (
            isinstance(part, type)
            and not isinstance(part, types.GenericAlias)
            and issubclass(part, BaseModel)
        ):
            return part
    return None


def _as_toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_as_toml, value))}]"
    if isinstance(value, dict):
        inside = ", ".join(f"{key} = {_as_toml(each)}" for key, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return str(value)


def _rows(text: str) -> dict[str, str]:
    """The first two cells of a table's rows, where the first is code."""
    rows = re.findall(r"(?m)^\| `([^`]+)` \| ([^|]+?) \|", text)
    return {key: value.strip("`") for key, value in rows}


def _documented_settings() -> list[tuple[str, str, str]]:
    sections = _sections(_page("reference/settings.md"))
    return [
        (heading, key, value)
        for heading, text in sections.items()
        if heading != "fields"
        for key, value in _rows(text).items()
    ]


def test_every_setting_is_documented_with_its_default() -> None:
    expected = [
        (
            heading,
            key,
            "required" if field.is_required() else _as_toml(field.get_default(call_default_factory=True)),
        )
        for heading, key, field in _models(Settings)
    ]
    assert len(expected) > 30
    assert sorted(_documented_settings()) == sorted(expected)


def test_every_field_is_documented_with_its_weight() -> None:
    documented = _rows(_sections(_page("reference/settings.md"))["fields"])
    assert documented == {name: str(field.weight) for name, field in Settings().lexical.fields.items()}


def test_every_dependency_is_documented() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [each for group in project["optional-dependencies"].values() for each in group]
    names = {re.split(r"[<>=!~\[ ;]", each, maxsplit=1)[0] for each in (*project["dependencies"], *extras)}
    rows = re.findall(r"(?m)^\| (`[^|]+`) \|", _page("reference/dependencies.md"))
    documented = {name for row in rows for name in re.findall(r"`([\w.-]+)`", row)}
    assert sorted(names - documented) == []
    assert sorted(documented - names) == []


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"(?m)^## \[([^\]]+)\]", changelog)
    assert versions[0] == __version__


def test_the_licence_is_whole() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert len(text.splitlines()) == 202
    assert "END OF TERMS AND CONDITIONS" in text


def test_no_list_and_no_term_runs_into_its_paragraph() -> None:
    """Whatever wraps lines may join them."""
    found = [
        f"{path.relative_to(ROOT)}: {paragraph[:80]}"
        for path in (*sorted(DOCS.rglob("*.md")), *(ROOT / name for name in TOP_PAGES))
        for paragraph in re.sub(r"```.*?```", "", path.read_text("utf-8"), flags=re.DOTALL).split("\n\n")
        if _runs_together(paragraph)
    ]
    assert not found, found


def _runs_together(paragraph: str) -> bool:
    if paragraph.lstrip().startswith("|"):
        return False
    prose = re.sub(r"^(?:[-*]|\d+\.) .*(?:\n  .*)*", "", paragraph, flags=re.MULTILINE)
    return bool(re.search(r"[.:;]\s- \S", prose) or re.match(r"[^\n|`]{3,60} : [A-Z`]", prose))
