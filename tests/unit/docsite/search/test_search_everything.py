"""All stages at once over real notes: every hit explains itself exactly, and answers stay full."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from datetime import date, timedelta
from typing import get_args

import pytest

from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.query.answer import Answer, Hit
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.settings.search import LISTS, StageName, Understanding
from noctule.pipeline.settings.settings import Embed
from tests.cross_encoder_builder import write_cross_encoder
from tests.library_builder import TODAY, WordEncoder, searcher_of, settings_of

STAGES = (
    "rocchio", "community", "recency", "glossary", "support", "in_degree", "calibrate",
    "duplicate_hash", "duplicate_url", "duplicate_ngram", "duplicate_cosine", "rerank",
    "mmr", "per_document", "elbow", "aggregate", "parents",
)  # fmt: skip
TEXTS = [
    "how do I store apples in a cool cellar and where do boats sleep?",
    "tide",
    "harbuor gate SSO",
    "launchBoat()",
    '"cool cellar" -cinnamon',
    "title:boats canvas sails",
    "lighthouse ships rocks",
    "saga of the whale",
    "orchard guide",
    "עברית",
    "naive cafe",
]


@pytest.fixture(scope="module")
def everything(library: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    folder = tmp_path_factory.mktemp("everything")
    glossary = folder / "glossary.toml"
    glossary.write_text('cellar = ["basement"]\nboat = ["ship", "vessel"]\n')
    calibration = folder / "calibration.json"
    calibration.write_text(json.dumps({"steepness": 6.0, "threshold": 0.4, "fitted_on": "notes"}))
    patch = pytest.MonkeyPatch()
    patch.setattr(Manifest, "mostly_without_headings", True)
    with searcher_of(
        library,
        load_encoder(Embed(workers=1)),
        understand=list(get_args(Understanding)),
        fuzziness="auto",
        weights={
            "keyword": 1.0,
            "semantic": 0.5,
            "document": 0.5,
            "code": 0.5,
            "graph": 0.5,
            "hypothesis": 0.7,
        },
        stages=list(STAGES),
        synonyms={"file": str(glossary)},
        calibrate={"file": str(calibration), "min_confidence": 0.01},
        rerank={"model": str(write_cross_encoder(folder / "model")), "depth": 5},
        graph={"depth": 2},
        balance={"enabled": True},
        elbow={"ratio": 0.05, "max_results": 50},
        mmr={"relevance_weight": 0.9},
    ) as found:
        patch.undo()
        yield found


def multiplied_out(why: dict[str, dict[str, object]]) -> float:
    """The score that an explanation, as JSON gives it, comes to."""
    total = 0.0
    for given in why["lists"].values():
        total += given["share"]  # type: ignore[index]
    for factor in why["multipliers"].values():
        total *= factor  # type: ignore[operator]
    return total


def test_all_stages_and_lists_are_on() -> None:
    assert sorted(STAGES) == sorted(get_args(StageName))
    assert set(LISTS) == {"keyword", "semantic", "document", "code", "graph", "hypothesis"}


@pytest.mark.parametrize("text", TEXTS)
def test_every_hit_multiplies_out_to_its_score_exactly(everything: Searcher, text: str) -> None:
    answer = everything.search(text, hypothesis="Fruit is kept in the dark and cold.")
    assert answer.hits and answer.warnings == ()
    printed = json.loads(json.dumps(answer.as_dict()))
    for hit in printed["hits"]:
        assert multiplied_out(hit["why"]) == hit["score"] > 0
        for given in hit["why"]["lists"].values():
            assert (given["rank"] is None or given["rank"] >= 1) and given["share"] > 0
    assert set(printed["counts"]) >= {*STAGES, "understand", "filter", "fuse", "hits", "graph", "keyword"}
    assert all(seconds >= 0 for seconds in printed["timings"].values())


def test_the_defaults_answer_and_explain_themselves_too(library: Store) -> None:
    with Searcher(library.open(), settings_of(), WordEncoder()) as found:
        for text in TEXTS:
            for hit in found.search(text).as_dict()["hits"]:
                assert multiplied_out(hit["why"]) == hit["score"]


@pytest.mark.parametrize("text", TEXTS)
def test_counts_fall_through_the_stages_and_end_with_the_hits(everything: Searcher, text: str) -> None:
    answer = everything.search(text)
    counts = [step.count for step in answer.steps if step.stage in ("fuse", *STAGES)]
    assert counts == sorted(counts, reverse=True)
    assert answer.steps[-1].count == len(answer.hits) <= 10


@pytest.mark.parametrize("text", TEXTS)
def test_the_moves_of_a_hit_lead_from_fusion_to_where_it_stands(everything: Searcher, text: str) -> None:
    for place, hit in enumerate(everything.search(text).hits, start=1):
        moves = hit.why.moves
        assert all(move.before != move.after for move in moves)
        assert all(a.after == b.before for a, b in itertools.pairwise(moves))
        if moves:
            assert moves[-1].after == place
        stages = [move.stage for move in moves]
        assert stages == [stage for stage in STAGES if stage in stages]


def confirm_highlights(library: Store, hit: Hit, max_chars: int = 280) -> None:
    with library.open() as snapshot:
        table = snapshot.table("passages", ["passage_id", "text"]).to_pydict()
    text = dict(zip(table["passage_id"], table["text"], strict=True))[hit.passage_id]
    lead = 2 if hit.excerpt_start > 0 else 0
    assert hit.excerpt.startswith("… " if lead else "")
    for start, end in hit.highlights:
        assert 0 <= start < end <= len(hit.excerpt)
        at = hit.excerpt_start + start - lead
        assert hit.excerpt[start:end] == text[at : at + end - start]
    assert len(hit.excerpt) <= max_chars + 4
    spans = list(hit.highlights)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


@pytest.mark.parametrize("text", TEXTS)
def test_highlights_are_ranges_of_the_passages_text(everything: Searcher, library: Store, text: str) -> None:
    for hit in everything.search(text).hits:
        confirm_highlights(library, hit)


def test_an_excerpt_is_the_window_with_most_of_the_query(library: Store) -> None:
    with searcher_of(library, excerpt_chars=40) as found:
        (hit, *_) = found.search("cellar spring", mode="keyword").hits
        confirm_highlights(library, hit, 40)
        assert [hit.excerpt[a:b] for a, b in hit.highlights] == ["cellar", "spring"]
        assert hit.excerpt_start > 0


def test_words_that_the_query_was_expanded_by_are_highlighted(everything: Searcher) -> None:
    marked = {
        hit.excerpt[a:b].lower() for hit in everything.search("harbuor").hits for a, b in hit.highlights
    }
    assert "harbour" in marked


def documents(answer: Answer) -> list[str]:
    return [hit.doc_id.removeprefix("notes:") for hit in answer.hits]


def test_an_answer_is_filled_though_one_document_has_most_of_what_was_found(library: Store) -> None:
    """60 sections of the saga hold all the words; no more than two of them may be shown."""
    with searcher_of(library, weights={"keyword": 1.0, "semantic": 0.0, "document": 0.0}) as found:
        answer = found.search("saga whale part keep", top_n=5)
        assert documents(answer).count("saga.md") == 2
        assert "whale.md" in documents(answer)
        assert len(answer.hits) == 5


def test_an_answer_is_filled_though_the_lists_are_short(library: Store) -> None:
    with searcher_of(library, candidates=10) as found:
        answer = found.search("saga whale", mode="keyword", top_n=3)
        assert sorted(documents(answer)) == ["saga.md", "saga.md", "whale.md"]


def test_no_more_is_read_for_hits_that_scored_too_little(library: Store) -> None:
    for cut in ({"stages": ["elbow"], "elbow": {"max_results": 2}}, {"calibrate": {"min_confidence": 1.0}}):
        with searcher_of(library, candidates=10, **cut) as found:
            answer = found.search("saga whale")
            assert len(answer.hits) <= 2
            assert answer.as_dict()["counts"]["keyword"] == 10


def test_duplicates_do_not_take_places(library: Store) -> None:
    with searcher_of(
        library, stages=["duplicate_ngram"], weights={"keyword": 1.0, "semantic": 0.0, "document": 0.0}
    ) as found:
        assert (
            documents(found.search("lighthouse ships"))[:1]
            != documents(found.search("lighthouse ships"))[1:2]
        )
        assert (
            sum(name.startswith("copy-") for name in documents(found.search("lighthouse ships rocks"))) == 1
        )
    with searcher_of(library, stages=[], weights={"keyword": 1.0, "semantic": 0.0, "document": 0.0}) as found:
        assert (
            sum(name.startswith("copy-") for name in documents(found.search("lighthouse ships rocks"))) == 3
        )


def test_recency_counts_from_the_day_that_is_passed_in(library: Store) -> None:
    with searcher_of(library, stages=["recency"]) as found:

        def factor(day: date | None) -> list[float]:
            answer = found.search("apples orchard fruit tree", today=day)
            (hit,) = (hit for hit in answer.hits if hit.passage_id == "notes:fruit/apples.md@0")
            return [each.factor for each in hit.why.multipliers]

        assert factor(None) == factor(TODAY) == [1.2]
        assert factor(TODAY + timedelta(days=10)) == [1.1]
        assert factor(TODAY + timedelta(days=40)) == []
        assert factor(TODAY - timedelta(days=5)) == []


def test_sections_are_given_as_their_parent_with_its_text(library: Store) -> None:
    with searcher_of(
        library, stages=["aggregate"], weights={"keyword": 1.0, "semantic": 0.0, "document": 0.0}
    ) as found:
        hit = next(hit for hit in found.search("apples").hits if hit.doc_id == "notes:fruit/apples.md")
        assert len(hit.passages) >= 3
        assert hit.text.startswith("# Apples") or hit.text.startswith("Apples are the fruit")
        assert "cinnamon" in hit.text


def test_a_hit_brings_the_section_around_it_and_the_answer_stays_full(library: Store) -> None:
    with searcher_of(library, stages=["parents"]) as found:
        answer = found.search("keep fruit cool in the cellar", top_n=5)
        assert len(answer.hits) == len(set(documents(answer))) == 5
        assert any("Bake apples" in hit.text and "Keep apples" in hit.text for hit in answer.hits)


def test_the_order_of_stages_is_that_of_the_settings(library: Store) -> None:
    for stages in (["recency", "per_document"], ["per_document", "recency"]):
        with searcher_of(library, stages=stages) as found:
            names = [step.stage for step in found.search("boats").steps]
            assert [name for name in names if name in stages] == stages


def test_a_convex_combination_is_at_most_one_and_explains_itself(library: Store) -> None:
    with searcher_of(library, load_encoder(Embed(workers=1)), fusion="convex", stages=["calibrate"]) as found:
        for text in TEXTS:
            for hit in found.search(text).hits:
                assert 0 < hit.score <= 1
                assert math.isclose(sum(each.share for each in hit.why.lists), hit.score)
