"""Trials are the real search: lists are kept, words counted again, and no snapshot has the settings yet."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from noctule.artifacts.judged.evaluate import evaluate, for_evaluation, rank_documents
from noctule.artifacts.judged.locating import locate, places
from noctule.artifacts.judged.reading import Judged
from noctule.artifacts.judged.significance import Comparison
from noctule.artifacts.query import Searcher
from noctule.artifacts.query.index.corpus import CorpusReader
from noctule.artifacts.query.index.postings import PostingList
from noctule.artifacts.store.store import Store
from noctule.flows.api import build_snapshot
from noctule.flows.quality.tuning.descent import AxisOfToday, Effort
from noctule.flows.quality.tuning.held_out import HeldOutSet, TuningResult, fold_of, tune
from noctule.flows.quality.tuning.rescore import _Scorer, recount, rescored_code, rescored_prose
from noctule.flows.quality.tuning.run import Tuned, write
from noctule.flows.quality.tuning.settings_file import as_file
from noctule.flows.quality.tuning.space import DEFAULT_SPACE, Axis, Change, Point, applied, axes, today
from noctule.flows.quality.tuning.trials import AFTER_LISTS, BEFORE_LISTS, Built, Trials, TuningSet
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.lexical.bm25f import build_index
from noctule.pipeline.settings.reading import load, parse
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.settings import Lexical, LexicalField, Settings
from tests.library_builder import WordEncoder, write_notes

QUERIES = {
    "cool cellar": "fruit/apples.md",
    "storing fruit in spring": "fruit/apples.md",
    "ripen after the harvest": "fruit/pears.md",
    "garden of trees": "fruit/orchard.md",
    "wind and canvas": "boats.md",
    "rowing with oars": "boats.md",
    "boats sleep at night": "harbour.md",
    "ships and rocks": "copy-three.md",
    "twice a day": "glossary/tide.md",
    "waves on the coast": "sea.md",
    "animals of the deep": "whale.md",
    "the saga of the whale": "saga.md",
}


@pytest.fixture
def tuning_set(library: Store) -> Iterator[TuningSet]:
    queries = {f"q{at:02}": text for at, text in enumerate(QUERIES)}
    qrels = {f"q{at:02}": {path: 1} for at, path in enumerate(QUERIES.values())}
    judged = Judged("notes", queries, qrels)
    with library.open() as snapshot:
        searcher = Searcher(snapshot, for_evaluation(Settings()), WordEncoder())
        built = Built(searcher, locate(judged, places(snapshot)), Settings().lexical)
        yield TuningSet(judged, {"256/32": built})
        searcher.close()


def plain(tuning_set: TuningSet, point: Point, corpus: CorpusReader | None = None) -> list[float]:
    """The scores by a searcher that shares and keeps nothing."""
    (built,) = tuning_set.built.values()
    settings = applied(Settings(), point)
    searcher = Searcher(built.searcher.corpus.snapshot, for_evaluation(settings), WordEncoder())
    if corpus is not None:
        searcher = searcher.with_settings(for_evaluation(settings).search, corpus)
    found = evaluate(searcher, tuning_set.judged, built.located, depth=10)
    return [score.values["ndcg@10"] for score in found.scores]


def random_points(count: int) -> list[Point]:
    rng = random.Random(1)
    space = {key: values for key, values in DEFAULT_SPACE.items() if key.startswith("search.")}
    space |= {"search.weights.code": [0.5], "search.candidates": [3, 30], "search.graph.seeds": [1, 5]}
    space |= {"search.fuzziness": ["auto"], "search.understand.concepts": [True]}
    points = []
    for _ in range(count):
        point = Point()
        for key in rng.sample(sorted(space), 5):
            point = point.having(key, rng.choice(list(space[key])))
        points.append(point)
    return points


def test_a_trial_gives_what_the_search_gives(tuning_set: TuningSet) -> None:
    trials = Trials([tuning_set], Settings())
    for point in random_points(25):
        assert trials.scores(point)[0].tolist() == plain(tuning_set, point), point
    assert trials.warnings == {}


def test_lists_are_made_once_where_only_what_follows_them_changes(tuning_set: TuningSet) -> None:
    (built,) = tuning_set.built.values()
    trials = Trials([tuning_set], Settings())
    trials.scores(Point())
    assert _made(built) == 2 * len(QUERIES)
    trials.scores(Point().having("search.rrf_k", 5).having("search.fusion", "convex"))
    assert _made(built) == 2 * len(QUERIES)
    trials.scores(Point().having("lexical.k1", 0.5))
    assert _made(built) == 3 * len(QUERIES)


def _made(built: Built) -> int:
    return sum(map(len, built.kept.lists.values()))


def test_only_the_lists_asked_for_last_are_kept(tuning_set: TuningSet) -> None:
    (built,) = tuning_set.built.values()
    trials = Trials([tuning_set], Settings())
    for k1 in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        trials.scores(Point().having("lexical.k1", k1))
    assert len(built.kept.lists) == len(built.corpora) == 4
    assert (
        trials.scores(Point().having("lexical.k1", 0.5))[0].tolist()
        == Trials([tuning_set], Settings()).scores(Point().having("lexical.k1", 0.5))[0].tolist()
    )


@pytest.mark.parametrize("query", QUERIES)
def test_the_first_ten_of_a_hundred_are_those_of_ten(tuning_set: TuningSet, query: str) -> None:
    (built,) = tuning_set.built.values()
    short = built.searcher.with_settings(Search(candidates=10))
    ten, hundred = (rank_documents(short, query, "hybrid", depth).documents for depth in (10, 100))
    assert hundred[: len(ten)] == ten


def test_every_search_setting_is_known_to_reach_the_lists_or_not() -> None:
    """A setting that is new is taken to reach them; one that is gone must not be named for ever."""
    assert set(Search.model_fields) >= AFTER_LISTS | BEFORE_LISTS


def test_the_same_settings_are_tried_once(tuning_set: TuningSet) -> None:
    trials = Trials([tuning_set], Settings())
    trials.scores(Point())
    trials.scores(Point().having("search.rrf_k", Settings().search.rrf_k))
    assert trials.spent == 1


# Words counted again


def equal(own: CorpusReader, other: CorpusReader) -> bool:
    pairs = [(own.prose, other.prose, own.prose.terms), (own.code, other.code, own.code.terms)]
    for left, right, terms in pairs:
        for term in terms.to_pylist():
            one, two = left.of(term), right.of(term)
            assert one is not None and two is not None, term
            same = [
                np.array_equal(getattr(one, n), getattr(two, n)) for n in ("passages", "scores", "fields")
            ]
            if not all(same):
                return False
    return True


def test_counted_again_a_snapshot_has_the_scores_that_it_has(library: Store) -> None:
    with library.open() as snapshot:
        own = CorpusReader(snapshot)
        counts = recount(snapshot)
        words = own.prose.terms.to_pylist()[::2]  # the others are counted when they are asked for
        prose = rescored_prose(own.prose, counts, Settings().lexical, words)
        code = rescored_code(own.code, counts, Settings().lexical)
        assert equal(own, own.with_postings(prose, code))


def test_other_weights_give_the_scores_of_a_build_with_them(library: Store, tmp_path: Path) -> None:
    lexical = {
        "k1": 0.7,
        "fields": {"title": {"weight": 5.0, "b": 0.4}, "anchors": {"weight": 1.0, "b": 0.2}},
    }
    collections = {"notes": {"root": str(write_notes(tmp_path / "notes"))}}
    given = {"collections": collections, "engine": {"name": "inline"}, "lexical": lexical}
    store = Store(tmp_path / "store")
    build_snapshot(parse(given, where="test"), store, PlainDriver(), Silent())
    wanted = Lexical.model_validate(lexical)
    with library.open() as before, store.open() as after:
        own, counts = CorpusReader(before), recount(before)
        prose = rescored_prose(own.prose, counts, wanted, own.prose.terms.to_pylist())
        rescored = own.with_postings(prose, rescored_code(own.code, counts, wanted))
        assert not equal(own, rescored)
        assert equal(CorpusReader(after), rescored)


def test_repetition_and_length_say_less_where_no_document_has_headings(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for at, text in enumerate(["Owls hunt, owls sleep, owls nest.", "Owls.", "Bats and owls and " * 9]):
        (tmp_path / "notes" / f"{at}.md").write_text(text, encoding="utf-8")
    store = Store(tmp_path / "store")
    given = {"collections": {"notes": {"root": str(tmp_path / "notes")}}, "engine": {"name": "inline"}}
    build_snapshot(parse(given, where="test"), store, PlainDriver(), Silent())
    with store.open() as snapshot:
        counts, found = recount(snapshot), CorpusReader(snapshot).prose.of("owl")
        fields = [LexicalField(weight=each.weight, b=0.5) for each in Lexical().fields.values()]
        index = build_index(counts.prose, fields, 0.75)
        own = slice(*index.offsets[index.terms.index("owl") :][:2])
        assert found is not None
        assert found.scores == pytest.approx(index.score[own])


def test_a_thread_that_asks_for_a_word_while_another_counts_it_gets_its_postings(
    library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with library.open() as snapshot:
        own, counts = CorpusReader(snapshot), recount(snapshot)
        prose = rescored_prose(own.prose, counts, Settings().lexical, ())
        word, count, asked = own.prose.terms.to_pylist()[0], _Scorer.postings, list[object]()

        def counted(scorer: _Scorer, words: Sequence[str]) -> Iterator[tuple[str, PostingList]]:
            found = list(count(scorer, words))
            if not asked:
                asked.append(None)
                asked.append(prose.of(word))  # as another thread would, before the first has its answer
            return iter(found)

        monkeypatch.setattr(_Scorer, "postings", counted)
        assert prose.of(word) is not None and asked[1] is not None


def test_a_word_that_only_a_field_without_weight_holds_has_no_postings(library: Store) -> None:
    fields = {name: {"weight": 0.0} for name in Settings().lexical.fields if name != "title"}
    with library.open() as snapshot:
        own = CorpusReader(snapshot)
        only_titles = Lexical.model_validate({"fields": fields})
        rescored = rescored_prose(own.prose, recount(snapshot), only_titles, ["cellar", "boat"])
        assert rescored.of("cellar") is None
        assert rescored.of("boat") is not None
        assert rescored.of("no such word") is None


# Held out


def test_folds_are_of_the_same_size_and_drawn_by_the_seed() -> None:
    parts = fold_of(23, 5, seed=1)
    assert sorted(np.bincount(parts).tolist()) == [4, 4, 5, 5, 5]
    assert parts.tolist() == fold_of(23, 5, seed=1).tolist() != fold_of(23, 5, seed=2).tolist()


def of_today(settings: Settings, **space: list[object]) -> list[AxisOfToday]:
    found = axes({key.replace("__", "."): values for key, values in space.items()}, "test")
    return [AxisOfToday(axis, today(settings, axis)) for axis in found]


def test_a_tuning_is_repeatable_and_compares_with_today(tuning_set: TuningSet) -> None:
    space = of_today(Settings(), search__weights__keyword=[0.2, 1.0, 3.0], search__rrf_k=[5, 60])
    once, again = (tune(Trials([tuning_set], Settings()), space, 3, Effort(20, 3)) for _ in range(2))
    assert once == again
    assert once.overall.baseline == pytest.approx(np.mean(plain(tuning_set, Point())))
    assert once.chosen == pytest.approx(np.mean(plain(tuning_set, once.point)))
    assert once.chosen >= once.overall.baseline
    assert once.sets[0].held_out == once.overall


def test_no_query_is_answered_with_settings_that_it_helped_to_choose(tuning_set: TuningSet) -> None:
    """Each fold's answers are those of the point that is best without it."""
    settings = parse({"search": {"weights": {"keyword": 0.0}}}, where="test")
    trials = Trials([tuning_set], settings)
    found = tune(trials, of_today(settings, search__weights__keyword=[0.0, 1.0]), 3, Effort(20, 0))
    parts, held = fold_of(len(QUERIES), 3, 0), np.zeros(len(QUERIES))
    today, other = (
        trials.scores(each)[0] for each in (Point(), Point().having("search.weights.keyword", 1.0))
    )
    for fold in range(3):
        own, rest = parts == fold, parts != fold
        held[own] = (other if other[rest].mean() > today[rest].mean() else today)[own]
    assert found.overall.difference != 0
    assert found.overall.mean == pytest.approx(held.mean())


def test_two_sets_count_the_same_however_many_queries_they_have(tuning_set: TuningSet) -> None:
    few = Judged("few", dict(list(tuning_set.judged.queries.items())[:4]), tuning_set.judged.qrels)
    both = [tuning_set, TuningSet(few, tuning_set.built)]
    found = tune(Trials(both, Settings()), of_today(Settings(), search__rrf_k=[5, 60]), 2, Effort(5, 0))
    assert found.overall.baseline == pytest.approx(np.mean([each.held_out.baseline for each in found.sets]))
    assert [each.held_out.queries for each in found.sets] == [12, 4]


# What is written


def found_with(difference: float, p: float, *changes: Change) -> TuningResult:
    result = Comparison(
        300, 0.7, 0.7 + difference, difference, difference - 0.01, difference + 0.01, p, 5, 1, 4
    )
    return TuningResult(
        Point(changes), 0.72, result, (HeldOutSet("faq", 0.72, result, p),), 5, ((changes[0], 5),), 40
    )


CHANGES = (Change("lexical.fields.title.weight", 5.0), Change("search.fusion", "convex"))


def tuned(found: TuningResult) -> Tuned:
    given = {"collections": {"my-notes": {"root": "/srv/notes", "rules": [{"pattern": "a\\b"}]}}}
    return Tuned(found, applied(parse(given, where="test"), found.point), ())


def test_a_written_file_is_the_settings_and_says_how_sure_they_are(tmp_path: Path) -> None:
    better = tuned(found_with(0.03, 0.001, *CHANGES))
    assert write(better, tmp_path / "tuned.toml", even_if_noise=False)
    assert load(tmp_path / "tuned.toml") == better.settings
    text = (tmp_path / "tuned.toml").read_text()
    assert "better than chance explains" in text and '# Changed: search.fusion = "convex"' in text


@pytest.mark.parametrize(("difference", "p"), [(0.01, 0.4), (-0.03, 0.001), (0.03, 0.05)])
def test_noise_is_not_written_unless_it_is_asked_for(tmp_path: Path, difference: float, p: float) -> None:
    noise = tuned(found_with(difference, p, *CHANGES))
    path = tmp_path / "tuned.toml"
    assert not write(noise, path, even_if_noise=False) and not path.exists()
    assert write(noise, path, even_if_noise=True)
    assert "within noise" in path.read_text()


def test_without_a_change_there_is_nothing_to_write(tmp_path: Path) -> None:
    nothing = found_with(0.0, 1.0, *CHANGES)
    same = Tuned(TuningResult(Point(), 0.7, nothing.overall, nothing.sets, 5, (), 40), Settings(), ())
    assert not write(same, tmp_path / "tuned.toml", even_if_noise=True)


def test_names_that_need_quotes_have_them() -> None:
    given = {
        "collections": {"a": {"root": 'quo"te', "include": ["*.md"]}},
        "site": {"title": "Zaun \u2028 Ende \U0001f680 \x7f"},
    }
    settings = parse(given, where="test")
    text = as_file(settings, found_with(0.1, 0.01, *CHANGES)).decode()
    import tomllib

    assert parse(tomllib.loads(text), where="test") == settings


def test_an_axis_has_each_value_once() -> None:
    assert axes({"search.rrf_k": [5, 5, 60]}, "test") == (Axis("search.rrf_k", (5, 60)),)
