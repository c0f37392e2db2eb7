"""The parse cache: groups as they were understood, found by content, and left out when damaged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from noctule.artifacts.cache import segments
from noctule.artifacts.cache.parse_cache import CollectionRecord, ParseCache
from noctule.artifacts.cache.parsed_corpus import ParsedCorpus, in_one_piece, joined
from noctule.artifacts.disk.layout import OLD_PARSE_CACHE, PARSE_CACHE, collections_file
from noctule.artifacts.store.store import Store
from noctule.flows.run.versions import parse_fingerprints
from noctule.flows.stages.groups import group_key, grouped
from noctule.flows.stages.parse_batch import FileBatch, parse_files
from noctule.pipeline.discover import list_files
from noctule.pipeline.identity import canonical_json, sha256_hex
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.model import ReportEntry, SnapshotId
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings

TEXTS = {
    "owls.md": "---\ntags: [night]\naliases: [strix]\n---\n"
    "# Owls\n\nOwls hunt at dusk (see [bats](bats.md#sonar)).\n",
    "bats.md": "# Bats\n\n## Sonar\n\n"
    "Single Sign-On (SSO) is no bat. `node.js` neither.\n\n```js\nlet bat = 1\n```\n",
    "eulen.md": "---\nlang: de\n---\n# Eulen\n\nEulen jagen nachts, owls too.\n",
    "broken.md": "---\ntitle: [\n---\n",
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    root = tmp_path / "docs"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_text(text, "utf-8")
    return parse({"collections": {"c": {"root": str(root)}}}, where="a test")


def _rows(settings: Settings, size: int) -> pa.Table:
    files = list_files("c", settings.collections["c"]).files
    groups = tuple(files[at : at + size] for at in range(0, len(files), size))
    return parse_files(FileBatch(groups, settings, parse_fingerprints(settings)))


def _plain(understood: ParsedCorpus) -> tuple[object, ...]:
    """What can be compared: numbers of terms differ with the grouping, the terms do not."""
    counts = []
    for found in (understood.prose, understood.code):
        columns = (found.text.tolist(), found.field.tolist(), found.term.tolist(), found.count.tolist())
        counts.append(
            sorted((text, field, found.terms[term], n) for text, field, term, n in zip(*columns, strict=True))
        )
        ends = found.surface_offsets.tolist()
        counts.append(
            sorted(
                (language, surface, n, [found.terms[t] for t in found.surface_terms[start:end].tolist()])
                for surface, language, n, start, end in zip(
                    found.surface,
                    found.surface_language,
                    found.surface_count.tolist(),
                    ends,
                    ends[1:],
                    strict=False,
                )
            )
        )
        counts.append(found.lengths.tolist())
    tables = (understood.documents, understood.sections, understood.passages, understood.code_blocks)
    return (
        *(table.to_pylist() for table in tables),
        understood.linking, understood.acronyms, understood.languages, understood.rejections, counts,
    )  # fmt: skip


def test_groups_joined_say_what_one_group_of_all_says(settings: Settings) -> None:
    whole = _plain(joined(_rows(settings, 4)))
    assert whole == _plain(joined(_rows(settings, 1)))
    assert whole == _plain(joined(_rows(settings, 3)))
    assert len(joined(_rows(settings, 1)).linking) == 3
    assert joined(_rows(settings, 1)).rejections[0].path == "broken.md"


def test_what_was_remembered_is_read_back_as_it_was(settings: Settings, tmp_path: Path) -> None:
    rows = _rows(settings, 1)
    keys = rows["key"].to_pylist()
    ParseCache(tmp_path).add(rows)
    again = ParseCache(tmp_path)
    assert all(key in again for key in keys)
    assert _plain(joined(again.rows(keys))) == _plain(joined(rows))
    assert again.rows(keys[::-1])["key"].to_pylist() == keys[::-1]


def test_many_rows_are_kept_in_chunks(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noctule.artifacts.cache.parse_cache._ROWS_AT_A_TIME", 2)
    rows = _rows(settings, 1)
    remembered = ParseCache(tmp_path)
    remembered.add(rows)
    keys = rows["key"].to_pylist()
    for known in (remembered, ParseCache(tmp_path)):
        found = known.rows(keys)
        assert found.equals(rows) and [len(chunk) for chunk in found["key"].chunks if len(chunk)] == [2, 2]


@dataclass(frozen=True)
class _Bounded:
    """A table of which more rows than two have too much text for one chunk."""

    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)

    def slice(self, start: int, size: int | None = None) -> _Bounded:
        return _Bounded(self.table.slice(start, size))

    def combine_chunks(self) -> pa.Table:
        if len(self) > 2:
            raise pa.ArrowInvalid("offset overflow while concatenating arrays")
        return self.table.combine_chunks()


def test_what_offsets_cannot_reach_is_in_several_pieces() -> None:
    table = pa.table({"a": [str(number) for number in range(7)]})
    found = in_one_piece(_Bounded(table))
    assert found.equals(table) and max(len(chunk) for chunk in found["a"].chunks) == 2


def test_a_key_is_that_of_content_settings_and_place(settings: Settings) -> None:
    files = list_files("c", settings.collections["c"]).files
    sources = [read_source(file, settings.collections["c"]) for file in files]
    fingerprints = parse_fingerprints(settings)
    other = parse_fingerprints(
        settings.model_copy(update={"chunk": settings.chunk.model_copy(update={"max_tokens": 64})})
    )
    keys = {
        group_key(sources, fingerprints), group_key(sources[1:], fingerprints), group_key(sources, other),
    }  # fmt: skip
    assert len(keys) == 3
    assert group_key(sources, fingerprints) in keys
    assert group_key([*sources, None], fingerprints) == ""


def test_a_damaged_segment_is_not_remembered(settings: Settings, tmp_path: Path) -> None:
    rows = _rows(settings, 1)
    keys = rows["key"].to_pylist()
    ParseCache(tmp_path).add(rows)
    [segment] = (tmp_path / PARSE_CACHE).glob("*.arrow")
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    damaged = ParseCache(tmp_path)
    assert not any(key in damaged for key in keys)
    damaged.add(rows)
    damaged.forget_all_but(keys)
    assert len(list((tmp_path / PARSE_CACHE).glob("*.arrow"))) == 1


def test_what_no_group_has_any_more_is_forgotten_when_it_is_most(settings: Settings, tmp_path: Path) -> None:
    rows = _rows(settings, 1)
    keys = rows["key"].to_pylist()
    ParseCache(tmp_path).add(rows)
    ParseCache(tmp_path).forget_all_but(keys[:3])
    assert keys[3] in ParseCache(tmp_path)  # one of four is no reason to write all of them again
    ParseCache(tmp_path).forget_all_but(keys[:1])
    left = ParseCache(tmp_path)
    assert [key in left for key in keys] == [True, False, False, False]
    assert len(list((tmp_path / PARSE_CACHE).iterdir())) == 1


def _recorded(settings: Settings, store: Path) -> tuple[SnapshotId, SnapshotId]:
    """The names of two snapshots: the first has one group of a collection, the second two."""
    rows, first, second = _rows(settings, 1), SnapshotId("a" * 20), SnapshotId("b" * 20)
    keys = rows["key"].to_pylist()
    remembered = ParseCache(store)
    remembered.add(rows)
    remembered.record(first, {"c": CollectionRecord((keys[0],), "")})
    remembered.record(
        second, {"c": CollectionRecord((keys[0], keys[1]), "", (ReportEntry("c", "x", "noted", "y"),))}
    )
    return first, second


def test_each_snapshot_has_a_record_of_its_own(settings: Settings, tmp_path: Path) -> None:
    first, second = _recorded(settings, tmp_path)
    known = ParseCache(tmp_path)
    assert len(known.collections(first)["c"].keys) == 1
    assert len(known.collections(second)["c"].keys) == 2
    assert known.collections(second)["c"].rejections[0].reason == "y"
    assert known.collections(None) == known.collections(SnapshotId("c" * 20)) == {}
    known.tidy([second], 1)
    assert known.collections(first) == {} and known.collections(second)


def test_rows_of_an_earlier_snapshot_are_held_as_long_as_it_may_come_back(
    settings: Settings, tmp_path: Path
) -> None:
    first, second = _recorded(settings, tmp_path)
    ParseCache(tmp_path).record(second, {})
    ParseCache(tmp_path).tidy([second, first], 2)
    assert ParseCache(tmp_path).collections(first)
    ParseCache(tmp_path).tidy([second, first], 1)
    assert ParseCache(tmp_path).collections(first) == {}


@pytest.mark.parametrize("fault", ["swapped", "changed", "renamed within", "cut", "no object", "old format"])
def test_a_record_that_is_not_what_was_written_of_this_snapshot_is_not_used(
    settings: Settings, tmp_path: Path, fault: str
) -> None:
    first, second = _recorded(settings, tmp_path)
    folder = tmp_path / PARSE_CACHE
    path, other = folder / collections_file(second), (folder / collections_file(first)).read_text()
    content = path.read_text()
    if fault == "swapped":
        path.write_text(other)
    elif fault == "changed":
        path.write_text(content.replace('"fingerprint":""', '"fingerprint":"x"'))
    elif fault == "renamed within":
        path.write_text(other.replace(first, second))
    elif fault == "cut":
        path.write_text(content[:-9])
    elif fault == "no object":
        path.write_text("[]")
    else:
        path.rename(folder / "collections.json")
    known = ParseCache(tmp_path)
    assert known.collections(second) == {}
    assert known.collections(first)
    known.tidy([first, second], 2)
    assert not (folder / "collections.json").exists()


def test_the_record_of_an_older_noctule_is_read(settings: Settings, tmp_path: Path) -> None:
    first, _ = _recorded(settings, tmp_path)
    known = ParseCache(tmp_path).collections(first)
    path = tmp_path / PARSE_CACHE / collections_file(first)
    record = json.loads(path.read_text("utf-8"))
    for each in record["collections"].values():
        each["deciding"] = each.pop("fingerprint")
    record["sha256"] = sha256_hex(canonical_json([first, record["collections"]]).encode())
    path.write_text(json.dumps(record), "utf-8")
    assert known and ParseCache(tmp_path).collections(first) == known


def test_a_file_more_or_less_changes_one_group_alone(tmp_path: Path) -> None:
    for at in range(300):
        (tmp_path / f"page-{at:03}.md").write_text("text")
    collection = parse({"collections": {"c": {"root": str(tmp_path)}}}, where="a test").collections["c"]
    before = set(grouped(list_files("c", collection).files))
    (tmp_path / "page-150.md").unlink()
    after = set(grouped(list_files("c", collection).files))
    assert len(before) > 20
    assert len(before - after) <= 2
    assert max(map(len, before)) <= 32


def test_the_parse_cache_of_an_older_noctule_is_used_under_its_new_name(
    settings: Settings, tmp_path: Path
) -> None:
    rows = _rows(settings, 1)
    ParseCache(tmp_path).add(rows)
    (tmp_path / PARSE_CACHE).rename(tmp_path / OLD_PARSE_CACHE)
    with Store(tmp_path).lock("test"):
        assert rows["key"][0].as_py() in ParseCache(tmp_path)
    assert not (tmp_path / OLD_PARSE_CACHE).exists()


def test_a_segment_of_another_purpose_is_refused_and_said_to_be(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = _rows(settings, 1)
    sink = pa.BufferOutputStream()
    given = segments.marked(rows, {"kind": "parse-cache", "format": "0"})
    with pa.ipc.new_file(sink, given.schema) as file:
        file.write_table(given)
    segments.write(tmp_path / PARSE_CACHE, sink.getvalue(), ".arrow")
    assert rows["key"][0].as_py() not in ParseCache(tmp_path)
    assert "1 of 1 segments" in caplog.text
    assert "parsed again: 1 of another version" in caplog.text


def test_a_segment_that_is_damaged_while_others_are_gathered_costs_its_rows_alone(
    settings: Settings, tmp_path: Path
) -> None:
    cache, rows = ParseCache(tmp_path / "store"), _rows(settings, 1)
    for at in range(len(rows)):
        cache.add(rows.slice(at, 1))
    first, second = rows["key"].to_pylist()[:2]
    lost = cache._paths[0]
    lost.write_bytes(lost.read_bytes()[:-1])
    cache.forget_all_but([first, second])
    assert (first in ParseCache(tmp_path / "store"), second in ParseCache(tmp_path / "store")) == (
        False,
        True,
    )
