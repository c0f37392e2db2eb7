"""Faults of the documents themselves: rows 4 to 24 of docs/store/fault-matrix.md that no other test proves
whole.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest

from noctule.artifacts.cache.parsed_corpus import ParsedCorpus, joined
from noctule.artifacts.cache.source_hashes import SourceHashes
from noctule.docsite.urls import Placed, page_paths
from noctule.flows.run.versions import parse_fingerprints
from noctule.flows.sources.file_hashes import FileHasher
from noctule.flows.sources.publishing_rules import NO_RULES, rules_of
from noctule.flows.stages.parse_batch import FileBatch, parse_files
from noctule.flows.stages.sources import hash_files, list_sources
from noctule.pipeline.discover import list_files
from noctule.pipeline.discover.local_folder import _Folder, _visit
from noctule.pipeline.discover.selection import Selection
from noctule.pipeline.errors import RejectedDocument, SourceError
from noctule.pipeline.identity import sha256_hex
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.includes.tool_folders import tools_of
from noctule.pipeline.model import Document, Source
from noctule.pipeline.parse import parse
from noctule.pipeline.patterns import globs
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.settings.settings import Settings, ShardSettings
from noctule.pipeline.source_files import FoundFile
from tests.processor_time import processor_seconds
from tests.repetitions import ALL, sample, torture_only
from tests.site_builder import page_of

MANY = 100_000


def collection(root: Path, **more: object) -> Collection:
    return Collection(root=str(root), **more)  # type: ignore[arg-type]


def read(text: str, path: str = "a.md") -> Document:
    content = text.encode()
    return parse(Source("c", path, content, sha256_hex(content)), Collection(root="unused"))


def write(path: Path, text: str = "# Words\n\nSome words.\n") -> FoundFile:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return FoundFile("c", path.name, str(path), len(text))


def understood(files: tuple[FoundFile, ...], settings: Settings) -> ParsedCorpus:
    return joined(parse_files(FileBatch((files,), settings, parse_fingerprints(settings))))


@pytest.mark.timeout(20)
def test_sockets_and_devices_are_skipped_without_opening_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
    kinds = {"socket.md": "a socket"}
    try:
        os.mknod("device.md", stat.S_IFCHR | 0o600, os.makedev(1, 5))
        kinds["device.md"] = "a device"
    except PermissionError:  # making a device takes rights that the rest of this test does not need
        pass
    opened: list[str] = []
    monkeypatch.setattr(os, "open", lambda path, *_: opened.append(str(path)))
    listing = list_files("c", collection(tmp_path))
    assert {r.path: r.reason.partition(":")[0] for r in listing.rejections} == kinds
    assert {r.kind for r in listing.rejections} == {"skipped"}
    assert (listing.files, opened) == ((), [])


def test_no_pattern_leads_out_of_the_collections_folder(tmp_path: Path) -> None:
    write(tmp_path / "secret.md")
    write(tmp_path / "docs" / "a.md")
    outward = ("../*.md", "../**/*.md", f"{tmp_path}/*.md", "/etc/*", "docs/../../*.md", "a.md")
    listing = list_files("c", collection(tmp_path / "docs", include=outward))
    assert [file.path for file in listing.files] == ["a.md"]


def test_no_page_lies_outside_the_site_whatever_a_document_is_called() -> None:
    names = ["../../x.md", "/etc/x.md", "a/../../../x.md", "./x.md", "..", "../", "//x/y.md", "a//b.md"]
    pages = page_paths([Placed(name, name) for name in names])
    for page in pages.values():
        assert not page.startswith("/") and not {"", ".", ".."} & set(page.split("/"))
    assert len(set(pages.values())) == len(names)


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, int], None]:
    """Another process that appends to a file while it is read, so many times."""

    def start(path: Path, times: int) -> None:
        left, fstat = [times], os.fstat

        def looked_at(descriptor: int) -> os.stat_result:
            found = fstat(descriptor)
            if left[0] > 0 and os.path.samestat(found, path.stat()):
                left[0] -= 1
                with path.open("a") as file:
                    file.write("more\n")
            return found

        monkeypatch.setattr(os, "fstat", looked_at)

    return start


def test_a_file_that_changed_while_it_was_read_is_read_again(
    tmp_path: Path, writer: Callable[[Path, int], None]
) -> None:
    file = write(tmp_path / "a.md", "first\n")
    writer(Path(file.location), 1)
    source = read_source(file, collection(tmp_path))
    assert source.content == b"first\nmore\n"
    assert source.sha256 == sha256_hex(source.content)


def test_a_file_that_never_rests_is_quarantined(tmp_path: Path, writer: Callable[[Path, int], None]) -> None:
    file = write(tmp_path / "a.md", "first\n")
    writer(Path(file.location), 100)
    with pytest.raises(RejectedDocument, match="changes while it is read"):
        read_source(file, collection(tmp_path))


def test_a_file_that_may_not_be_read_is_quarantined_and_the_others_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tuple(write(tmp_path / name) for name in ("a.md", "b.md", "c.md"))
    really = os.open

    def refusing(path: Path, flags: int, mode: int = 0o777) -> int:
        if str(path).endswith("b.md"):
            raise PermissionError(13, "Permission denied")
        return really(path, flags, mode)

    monkeypatch.setattr(os, "open", refusing)
    found = understood(files, Settings(collections={"c": collection(tmp_path)}))
    assert found.documents["path"].to_pylist() == ["a.md", "c.md"]
    assert [(r.path, r.kind, r.reason) for r in found.rejections] == [
        ("b.md", "quarantined", "the file cannot be read: Permission denied")
    ]


def test_a_folder_that_cannot_be_looked_at_for_a_moment_is_no_folder_less(tmp_path: Path) -> None:
    away = _Away(tmp_path / "deep")
    with pytest.raises(SourceError, match="cannot be accessed: Stale file handle"):
        _visit(
            Selection("c", collection(tmp_path), globs(("**",)), globs(()), globs(()), globs(())),
            cast("os.DirEntry[str]", away),
            _Folder(str(tmp_path), "", str(tmp_path), None, ""),
        )


class _Away:
    """An entry of a folder on a file system that is away."""

    def __init__(self, path: Path) -> None:
        self.name, self.path = path.name, str(path)

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        raise OSError(errno.ESTALE, "Stale file handle")


@pytest.mark.parametrize("times", [1, 99])
def test_a_folder_that_is_briefly_away_is_asked_again_and_loses_no_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    write(tmp_path / "deep" / "a.md")
    really, left = os.scandir, [times]

    def refusing(path: str) -> Any:
        if str(path).endswith("deep") and left[0]:
            left[0] -= 1
            raise OSError(errno.EIO, "Input/output error")
        return really(path)

    monkeypatch.setattr(os, "scandir", refusing)
    settings = Settings(collections={"c": collection(tmp_path)})
    if times == 1:
        assert [file.path for file in list_sources(settings, rules=()).files] == ["deep/a.md"]
        return
    with pytest.raises(SourceError, match="cannot be accessed: Input/output error") as caught:
        list_sources(settings, rules=())
    assert "deep" in caught.value.where and "exclude it" in caught.value.hint


_NOT_THE_FILES_FAULT = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE)


@pytest.mark.parametrize("code", _NOT_THE_FILES_FAULT, ids=errno.errorcode.__getitem__)
def test_too_few_handles_or_too_little_memory_is_no_folder_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    write(tmp_path / "a.md")
    write(tmp_path / "deep" / "b.md")
    really = os.scandir

    def refusing(path: str) -> Any:
        if str(path).endswith("deep"):
            raise OSError(code, os.strerror(code))
        return really(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(SourceError, match=os.strerror(code)) as caught:
        list_sources(Settings(collections={"c": collection(tmp_path)}), rules=())
    assert ("Mount the folder again" if code == errno.ESTALE else "ulimit -n") in caught.value.hint


@pytest.mark.parametrize("code", _NOT_THE_FILES_FAULT, ids=errno.errorcode.__getitem__)
@pytest.mark.parametrize("call", ["open", "fstat", "read"])
def test_too_few_handles_or_too_little_memory_is_no_file_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    files = (write(tmp_path / "one" / "a.md"), FoundFile("d", "b.md", str(tmp_path / "two" / "b.md"), 1))
    write(tmp_path / "two" / "b.md")
    roots = {"c": collection(tmp_path / "one"), "d": collection(tmp_path / "two")}
    settings = Settings(collections=roots)
    monkeypatch.setattr("noctule.flows.run.retry._PAUSES_S", (0,))
    parse_fingerprints(settings)  # reads noctule's own files
    really = getattr(os, call)

    def refusing(first: Any, *more: Any) -> Any:
        path = str(first) if call == "open" else str(Path(f"/proc/self/fd/{first}").resolve())
        if path.endswith("b.md"):
            raise OSError(code, os.strerror(code))
        return really(first, *more)

    monkeypatch.setattr(os, call, refusing)
    looked = hash_files(files, settings, _hasher(settings, tmp_path))
    assert list(looked.failures) == ["d"]  # its collection keeps the documents that it had
    assert looked.groups == ((files[0],),) and looked.keys[0]
    with pytest.raises(SourceError, match=os.strerror(code)) as caught:
        parse_files(FileBatch(((files[1],),), settings, looked.fingerprints))
    assert not isinstance(caught.value, RejectedDocument)


def test_a_parser_without_a_handle_for_its_own_files_costs_no_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("noctule.pipeline.parse.decoded", refusing)
    settings = Settings(collections={"c": collection(tmp_path)})
    with pytest.raises(SourceError, match="cannot be understood now"):
        understood((write(tmp_path / "a.txt"),), settings)


def test_a_line_of_20_mb_is_quarantined_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "line.md", "word " * 4_000_000)
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("it was opened"))
    (rejection,) = list_files("c", collection(tmp_path)).rejections
    assert rejection.reason.startswith("20,000,000 bytes, more than max_bytes = 5,000,000")


@pytest.mark.timeout(30)
@pytest.mark.parametrize("path", sample(["a.md", "a.txt", "a.rst", "a.html", "a.mdx"], 2))
def test_the_longest_line_that_is_let_in_is_parsed_in_seconds(path: str) -> None:
    assert len(read("word " * 999_999, path).text) > 4_000_000


def test_one_name_in_two_compositions_is_one_document_and_the_other_is_named(tmp_path: Path) -> None:
    names = [unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD")]
    for name in names:
        write(tmp_path / name)
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system sees one name")
    listing = list_sources(Settings(collections={"c": collection(tmp_path)}), rules=())
    assert [file.path for file in listing.files] == [names[0]]
    (rejection,) = listing.rejections
    assert (rejection.path, rejection.kind) == (names[0], "quarantined")
    assert "the same name as another file" in rejection.reason


def _bombs() -> Iterator[tuple[str, str, str]]:
    nested = "<div>" * MANY
    attributes = f"<p {' '.join(f'a{n}=1' for n in range(MANY))}>x</p>"
    for path in ("a.html", "a.md", "a.mdx"):
        yield path, "nested", nested
        yield path, "attributes", attributes
    for name, bomb in (("nested", nested), ("attributes", attributes)):
        yield "a.rst", name, f".. raw:: html\n\n   {bomb}\n"
    yield "a.md", "quotes", ">" * MANY
    yield "a.md", "lists", "- " * MANY
    yield "a.ipynb", "brackets", "[" * MANY
    yield "a.md", "front matter", f"---\na: {'[' * MANY}\n---\n"


@pytest.mark.parametrize(
    ("path", "bomb"), [(p, b) for p, _, b in _bombs()], ids=[f"{p}-{n}" for p, n, _ in _bombs()]
)
def test_a_hundred_thousand_tags_or_attributes_take_less_than_a_second(path: str, bomb: str) -> None:
    read("warm up", path) if not path.endswith("ipynb") else None
    began = processor_seconds()
    try:
        document = read(bomb, path)
    except RejectedDocument as rejection:
        assert (
            "more than" in rejection.what or "nested" in rejection.what or "not a notebook" in rejection.what
        )
    else:  # read as far as the parser goes: said in the report, or nothing of it was markup
        assert document.notes or len(document.blocks) <= 1
    assert processor_seconds() - began < 1


def test_templates_in_a_document_are_shown_as_they_are() -> None:
    vector = "{{ 7 * 7 }} {% for x in y %}{{ x }}{% endfor %} {% include 'base.html' %} {# gone? #}"
    for text in (f"{vector}\n", f"---\ntitle: >-\n  {vector}\n---\nText.\n", f"# {vector}\n\nText.\n"):
        assert vector in page_of({"a.md": text}, "a.html").get_text()


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("!?… ---- ***\n", "a.md"),
        ("```\nx = 1\n```\n", "a.md"),
        ("owl", "a.txt"),
        pytest.param("The owl hunts at dusk. " * 170_000, "a.txt", marks=torture_only),
        ("\u200b\u200b\n", "a.md"),
        ("<p></p>", "a.html"),
        ("", "a.md"),
    ],
    ids=["punctuation", "code alone", "one token", "a million tokens", "nothing to see", "no words", "empty"],
)
def test_odd_documents_become_sound_passages_or_none(text: str, path: str, tmp_path: Path) -> None:
    settings = Settings(collections={"c": collection(tmp_path)})
    found = understood((write(tmp_path / path, text),), settings)
    limit = settings.chunk.max_tokens
    tokens = found.passages["tokens"].to_pylist()
    assert all(0 < count <= limit for count in tokens)
    for start, end in zip(
        found.passages["byte_start"].to_pylist(), found.passages["byte_end"].to_pylist(), strict=True
    ):
        assert 0 <= start < end <= len(text.encode())
    assert len(found.documents) + sum(r.kind == "quarantined" for r in found.rejections) == 1
    if len(found.documents) and text.strip():
        assert len(tokens) >= (1_000_000 // limit if len(text) > 10**6 else 0)


_SCARCE = (
    errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EDQUOT, errno.ENOSPC, errno.EIO,
    errno.ESTALE, errno.ETIMEDOUT,
)  # fmt: skip


@pytest.mark.parametrize("call", sample(["scandir", "stat", "open", "fstat", "lstat", "readlink", "read"], 2))
def test_whichever_call_finds_the_machine_wanting_no_document_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    for name in ("a.md", "deep/b.md", "deep/er/c.md"):
        write(tmp_path / name)
    settings = Settings(collections={"c": collection(tmp_path)})
    monkeypatch.setattr("noctule.flows.run.retry._PAUSES_S", ())
    fingerprints, refusals = parse_fingerprints(settings), 0
    for code in _SCARCE:
        for nth in range(1, 30):
            with monkeypatch.context() as patched:
                calls = _refuse(patched, call, nth, code)
                kept = _kept_or_stopped(settings, fingerprints, tmp_path)
            assert kept in ({"a.md", "deep/b.md", "deep/er/c.md"}, None), (
                f"{call} {nth}: {errno.errorcode[code]}"
            )
            if calls[0] < nth:
                break
            refusals += 1
    assert refusals >= len(_SCARCE)


_OF_TOOLS = {
    "hugo": {
        "hugo.toml": "[[cascade]]\ndraft = true\n",
        "_index.md": "---\ncascade: {draft: true}\n---\n",
        "content/owls/index.md": "# Owls\n",
    },
    "quartz": {"quartz.config.ts": "export default { plugins: { filters: [Plugin.ExplicitPublish()] } }\n"},
    "jekyll": {"_config.yml": "defaults: [{scope: {path: ''}, values: {published: false}}]\n"},
    "dendron": {"dendron.yml": "publishing: {hierarchy: {root: {publishByDefault: false}}}\n"},
    "mdbook": {"book.toml": "[book]\nsrc = '.'\n", "SUMMARY.md": "# S\n\n- [A](a.md)\n", "a.md": "# A\n"},
}


@pytest.mark.parametrize("tool", _OF_TOOLS)
@pytest.mark.parametrize("call", ["open", "read", "stat", "fstat", "lstat", "scandir", "readlink"])
def test_settings_of_a_tool_that_are_away_make_no_document_private_nor_public(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, tool: str
) -> None:
    """The folder is a link, and settings may stand beside the link or where it leads."""
    for name, text in _OF_TOOLS[tool].items():
        write(tmp_path / "real" / name, text)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    settings = Settings(collections={"c": collection(tmp_path / "link")}, shards=ShardSettings(count=2))
    expected = rules_of(settings)
    assert expected != (("c", NO_RULES),)
    monkeypatch.setattr("noctule.flows.run.retry._PAUSES_S", ())
    # Of some calls there are a thousand, most of which look for files that are not there.
    for code in _SCARCE if ALL else _SCARCE[-1:]:
        for nth in range(1, 10_000, 1 if ALL else 7):
            with monkeypatch.context() as patched:
                calls = _refuse(patched, call, nth, code)
                found = rules_of(settings)
            away = [rule.away for _, rule in found if rule.away]
            assert away or found == expected
            assert all(error.hint for error in away)
            if calls[0] < nth:
                break


@pytest.mark.parametrize("tool", [name for name in _OF_TOOLS if name != "mdbook"])
def test_a_tool_whose_settings_cannot_be_looked_for_is_not_taken_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    for name, text in _OF_TOOLS[tool].items():
        write(tmp_path / name, text)
    expected, refused = tools_of([tmp_path]), 0
    assert tool in expected
    for call, nth in product(("stat", "lstat"), range(1, 60)):  # either, as versions of Python go
        with monkeypatch.context() as patched:
            _refuse(patched, call, nth, errno.EIO)
            try:
                assert tools_of([tmp_path]) == expected
            except SourceError as error:
                assert error.hint and str(tmp_path.parent) in error.where
                refused += 1
    assert refused > 5


def _refuse(patched: pytest.MonkeyPatch, call: str, nth: int, code: int) -> list[int]:
    """Refuse the n-th call; the list holds how many there were."""
    really, calls = getattr(os, call), [0]

    def refusing(*given: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == nth:
            raise OSError(code, os.strerror(code))
        return really(*given, **named)

    patched.setattr(os, call, refusing)
    return calls


def _hasher(settings: Settings, store: Path) -> FileHasher:
    return FileHasher(settings, parse_fingerprints(settings), SourceHashes(store))


def _kept_or_stopped(settings: Settings, fingerprints: Mapping[str, str], store: Path) -> set[str] | None:
    """The documents that a run would publish; none where it stops, or keeps what the collection had."""
    try:
        listing = list_sources(settings, rules=())
        looked = hash_files(listing.files, settings, _hasher(settings, store))
        if looked.failures:
            return None
        found = joined(parse_files(FileBatch(looked.groups, settings, fingerprints)))
    except SourceError as error:
        assert not isinstance(error, RejectedDocument)
        return None
    return set(found.documents["path"].to_pylist())
