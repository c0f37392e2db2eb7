"""The gate: a night whose snapshot answers judged queries worse is not published, and says which queries, and
why.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from noctule.artifacts.judged.reading import read_judged
from noctule.artifacts.store.run_records import read_runs
from noctule.artifacts.store.store import Store
from noctule.flows.quality.gate import Verdict, judge
from noctule.flows.quality.gate_lines import lines
from noctule.flows.report.store import gate_lines, snapshot_report
from noctule.pipeline.errors import RelevanceFell, SettingsError, SourceError
from noctule.pipeline.settings.reading import load, parse
from noctule.pipeline.settings.settings import Settings
from tests.command_line import CommandLine
from tests.judged_builder import SUBJECTS, night, settings_for, shuffled, write_judged, write_notes


@dataclass(frozen=True)
class Editions:
    """A store for each state of the notes."""

    folder: Path

    def store(self, name: str) -> Store:
        return Store(self.folder / name)


@pytest.fixture(scope="module")
def editions(tmp_path_factory: pytest.TempPathFactory) -> Editions:
    folder = tmp_path_factory.mktemp("editions")
    few = dict(list(SUBJECTS.items())[3:])
    states = {
        "good": SUBJECTS,
        "shuffled": shuffled(),
        "few": few,
        "other": {"tide": "The tide comes and goes."},
    }
    states["another"] = {"moon": "The moon pulls at the sea."}
    for name, texts in states.items():
        night(folder / name, settings_for(write_notes(folder / f"{name}-notes", texts)))
    return Editions(folder)


def verdict(editions: Editions, before: str | None, after: str, judged: Path, **relevance: object) -> Verdict:
    settings = parse({"relevance": relevance}, where="test")
    current = editions.store(before).open() if before else None
    return judge(editions.store(after).open(), current, [read_judged(judged)], settings)


def test_notes_that_answer_other_questions_now_are_refused_with_figures(
    editions: Editions, tmp_path: Path
) -> None:
    found = verdict(editions, "good", "shuffled", write_judged(tmp_path / "faq"))
    (faq,) = found.sets
    assert faq.before is not None and faq.before > 0.95 > faq.after + 0.2
    assert faq.p < 0.05
    assert "nDCG@10 on faq fell from" in found.reasons[0]


def test_the_reasons_name_rank_lists_words_and_fields_before_and_after(
    editions: Editions, tmp_path: Path
) -> None:
    found = verdict(editions, "good", "shuffled", write_judged(tmp_path / "faq"), shown=3)
    (faq,) = found.sets
    assert len(faq.fell) == 3
    fallen = faq.fell[0]
    assert fallen.before.rank == 1 < fallen.after.rank
    assert {each.list for each in fallen.before.lists} == {"keyword", "semantic", "document"}
    assert {field for term in fallen.before.terms for field in term.fields} >= {"body"}
    assert sum(term.score for term in fallen.after.terms) < sum(term.score for term in fallen.before.terms)
    shown = "\n".join(lines(found))
    assert f"{fallen.change.query_id} " in shown
    assert "keyword rank 1 gave" in shown and "(body" in shown


@pytest.mark.parametrize(
    "allowed", [{"max_drop": 0.9}, {"significance": 0.0001}], ids=["small", "may be chance"]
)
def test_a_drop_that_is_small_or_may_be_chance_is_let_through(
    editions: Editions, tmp_path: Path, allowed: dict[str, float]
) -> None:
    found = verdict(editions, "good", "shuffled", write_judged(tmp_path / "faq"), **allowed)
    assert found.reasons == ()
    assert found.sets[0].fell


def test_content_that_has_not_changed_is_not_asked(editions: Editions, tmp_path: Path) -> None:
    found = verdict(editions, "good", "good", write_judged(tmp_path / "faq"))
    assert (found.reasons, found.sets) == ((), ())
    assert "the content is that of the current snapshot" in found.notes[0]


def test_notes_that_answer_as_well_pass(editions: Editions, tmp_path: Path) -> None:
    (faq,) = verdict(editions, "good", "few", write_judged(tmp_path / "faq", list(SUBJECTS)[3:])).sets
    assert (faq.reason, faq.fell, faq.p) == ("", (), 1.0)


def test_documents_deleted_tonight_are_left_out_and_listed(editions: Editions, tmp_path: Path) -> None:
    (faq,) = verdict(editions, "good", "few", write_judged(tmp_path / "faq")).sets
    assert faq.deleted == tuple(sorted(list(SUBJECTS)[:3]))
    assert (faq.queries, faq.reason) == (len(SUBJECTS) - 3, "")
    assert faq.before == faq.after


def test_more_deleted_documents_than_allowed_are_refused(editions: Editions, tmp_path: Path) -> None:
    (faq,) = verdict(editions, "good", "few", write_judged(tmp_path / "faq"), max_deleted=0.1).sets
    assert faq.reason == "3 of 12 judged documents of faq are no longer there"


def test_a_set_whose_documents_are_all_gone_is_refused_whatever_is_allowed(
    editions: Editions, tmp_path: Path
) -> None:
    (faq,) = verdict(editions, "good", "other", write_judged(tmp_path / "faq"), max_deleted=1.0).sets
    assert faq.reason == "12 of 12 judged documents of faq are no longer there"


def test_the_first_night_has_figures_and_nothing_to_compare_with(editions: Editions, tmp_path: Path) -> None:
    found = verdict(editions, None, "good", write_judged(tmp_path / "faq", lost="owls"))
    (faq,) = found.sets
    assert (found.current, faq.before, found.reasons) == ("", None, ())
    assert faq.after > 0.95
    assert faq.unknown_queries == ("lost",)
    assert "there is no current snapshot" in found.notes[0]


def test_a_set_whose_documents_came_tonight_has_figures_and_nothing_to_compare_with(
    editions: Editions, tmp_path: Path
) -> None:
    found = verdict(editions, "other", "good", write_judged(tmp_path / "faq"))
    (faq,) = found.sets
    assert (faq.before, faq.reason) == (None, "")
    assert faq.after > 0.95
    assert "faq: the current snapshot has no document that answers its queries" in found.notes[0]


def test_a_set_that_lost_every_answer_is_refused_though_other_judgements_are_left(
    editions: Editions, tmp_path: Path
) -> None:
    gone, left = list(SUBJECTS)[:3], list(SUBJECTS)[3:]
    folder = write_judged(tmp_path / "faq", gone)
    with (folder / "qrels.tsv").open("a", encoding="utf-8") as qrels:
        qrels.writelines(f"{gone[0]}\t{name}\t0\n" for name in left)
    (faq,) = verdict(editions, "good", "few", folder).sets
    assert faq.reason == "3 of 12 judged documents of faq are no longer there"


@pytest.mark.parametrize("before", [None, "other"])
def test_a_set_made_for_other_documents_is_an_error(
    editions: Editions, tmp_path: Path, before: str | None
) -> None:
    with pytest.raises(SourceError, match="none of the 12 judged documents is in the snapshot"):
        verdict(editions, before, "another", write_judged(tmp_path / "faq"))


def test_documents_that_no_snapshot_holds_are_listed_and_count_for_neither(
    editions: Editions, tmp_path: Path
) -> None:
    (faq,) = verdict(editions, "good", "few", write_judged(tmp_path / "faq", wool="unicorns")).sets
    assert faq.missing == ("unicorns",)
    assert faq.before == faq.after > 0.95


# A whole night


@pytest.fixture
def nights(editions: Editions, tmp_path: Path) -> CommandLine:
    """A store with the good edition, and settings that guard it over notes that were shuffled tonight."""
    shutil.copytree(editions.folder / "good", tmp_path / "store")
    write_notes(tmp_path / "notes", shuffled())
    write_judged(tmp_path / "faq")
    text = '[collections.notes]\nroot = "notes"\n[embed]\nworkers = 1\n[relevance]\njudged = ["faq"]\n'
    (tmp_path / "noctule.toml").write_text(text)
    return CommandLine(tmp_path, tmp_path / "store")


def test_a_refused_night_leaves_the_old_snapshot_and_a_report_and_can_be_accepted(
    nights: CommandLine,
) -> None:
    store = Store(nights.store)
    current = store.current()
    done = nights.run("nightly", "--no-prefect", "--quiet", "--json")
    assert (done.code, done.error["kind"]) == (2, "RelevanceFell")
    assert "--accept-drop" in done.error["hint"]
    assert Path(done.error["where"]).parent == nights.store / "runs"
    assert store.current() == current
    assert not (nights.folder / "public").exists()
    assert [path.name for path in (nights.store / "snapshots").iterdir()] == [current]
    (record, *_) = read_runs(nights.store)
    assert record["relevance"]["sets"][0]["fell"][0]["before"]["rank"] == 1
    refused = snapshot_report(store, None).refused
    assert refused["refused"] == record["refused"]
    shown = nights.run("report").out
    assert "Not published" in shown and "refused: nDCG@10 on faq fell" in shown and "before: score" in shown
    accepted = nights.run("index", "--no-prefect", "--quiet", "--json", "--accept-drop").json
    assert accepted["snapshot"] == record["refused"] == store.current()
    assert accepted["relevance"]["sets"][0]["reason"]
    now = snapshot_report(store, None)
    assert now.refused == {} and any("refused" in line for line in gate_lines(now.relevance))


def test_judged_queries_that_cannot_be_read_stop_a_night_before_any_work(nights: CommandLine) -> None:
    (nights.folder / "faq" / "qrels.tsv").write_text("owls\towls\t-1\n")
    done = nights.run("index", "--no-prefect", "--quiet", "--json")
    assert (done.code, done.error["kind"]) == (2, "SourceError")
    assert "the gain -1 is below zero" in done.error["what"]
    assert json.loads(done.err.strip().split("\n")[-1])


def test_the_folders_are_taken_from_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "noctule.toml").write_text('[relevance]\njudged = ["faq"]\n')
    assert load(tmp_path / "noctule.toml").relevance.judged == (str(tmp_path / "faq"),)


def test_a_folder_named_twice_is_refused() -> None:
    with pytest.raises(SettingsError, match="a folder is named twice"):
        parse({"relevance": {"judged": ["faq", "faq"]}}, where="test")


def test_the_gate_shapes_no_snapshot() -> None:
    guarded = parse({"relevance": {"judged": ["faq"], "max_drop": 0.5}}, where="test")
    assert guarded.fingerprint() == Settings().fingerprint()


def test_the_error_is_one_of_your_input() -> None:
    assert issubclass(RelevanceFell, SourceError) and RelevanceFell.exit_code == 2
