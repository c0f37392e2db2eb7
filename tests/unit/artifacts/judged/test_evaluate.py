"""Rankings are measured as by hand and by trec_eval; queries and documents that do not fit are listed."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import ir_measures
import pytest
import pytrec_eval

from noctule.artifacts.judged.compare import Pair, compared
from noctule.artifacts.judged.evaluate import (
    Evaluation,
    RankedDocuments,
    evaluate_rankings,
    evaluate_run,
    for_evaluation,
)
from noctule.artifacts.judged.locating import Located
from noctule.artifacts.judged.measures import NAMES, measure
from noctule.artifacts.judged.reading import Judged
from noctule.pipeline.model import DocId
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings


def judged(
    qrels: Mapping[str, Mapping[str, int]], *others: str, run: Mapping[str, tuple[str, ...]] = {}
) -> Judged:
    queries = {query: f"text of {query}" for query in (*qrels, *others)}
    return Judged("set", queries, qrels, run=run)


def everywhere(given: Judged) -> Located:
    return Located({document: DocId(document) for document in given.documents}, ())


def evaluated(qrels: Mapping[str, Mapping[str, int]], **rankings: str) -> Evaluation:
    given = judged(qrels)
    ranked = {query: RankedDocuments(tuple(documents.split())) for query, documents in rankings.items()}
    return evaluate_rankings(given, everywhere(given), ranked, None)


def random_rankings(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    rng = random.Random(seed)
    pool = [f"d{number}" for number in range(300)]
    qrels = {f"q{n}": {each: rng.choice([0, 1, 1, 2, 3]) for each in rng.sample(pool, 30)} for n in range(20)}
    for gains in qrels.values():
        gains[min(gains)] = 1
    return qrels, {query: rng.sample(pool, rng.randint(1, 150)) for query in qrels}


def test_measures_are_those_computed_by_hand() -> None:
    values = measure({"q": {"a": 2, "b": 1, "c": 1}}, {"q": ["b", "x", "a"]})["q"]
    gained = 1 / math.log2(2) + 2 / math.log2(4)
    most = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert values == pytest.approx(
        {"ndcg@10": gained / most, "recall@100": 2 / 3, "mrr@10": 1.0, "hit@1": 1.0, "judged@10": 2 / 3}
    )


def test_gain_is_linear_and_the_second_rank_is_worth_what_ir_measures_documents() -> None:
    assert measure({"q": {"a": 1}}, {"q": ["x", "a"]})["q"]["ndcg@10"] == 0.6309297535714575
    graded = measure({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]})["q"]["ndcg@10"]
    assert graded == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


@pytest.mark.parametrize("seed", range(3))
def test_measures_agree_with_trec_eval(seed: int) -> None:
    qrels, rankings = random_rankings(seed)
    run = {
        query: {document: float(-rank) for rank, document in enumerate(documents)}
        for query, documents in rankings.items()
    }
    wanted = {"ndcg_cut_10": "ndcg@10", "recall_100": "recall@100", "success_1": "hit@1"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(wanted)).evaluate(run)
    ours = measure(qrels, rankings)
    for query in qrels:
        for name, own in wanted.items():
            assert ours[query][own] == pytest.approx(theirs[query][name], abs=1e-12), (query, name)
        ranks = [rank for rank, each in enumerate(rankings[query][:10], 1) if qrels[query].get(each, 0) > 0]
        assert ours[query]["mrr@10"] == (1 / ranks[0] if ranks else 0)


@pytest.mark.parametrize("seed", range(3))
def test_measures_agree_with_ir_measures(seed: int) -> None:
    qrels, rankings = random_rankings(seed)
    for ranking in list(rankings.values())[:3]:
        del ranking[2:]
    qrels["q4"] = dict.fromkeys(qrels["q4"], 0)
    qrels["q5"][min(qrels["q5"])] = -1
    judged = [ir_measures.Qrel(q, d, gain) for q, gains in qrels.items() for d, gain in gains.items()]
    scored = [ir_measures.ScoredDoc(q, d, -at) for q, docs in rankings.items() for at, d in enumerate(docs)]
    names = {ir_measures.parse_measure(name): key for key, name in NAMES.items()}
    ours, compared = measure(qrels, rankings), 0
    for each in ir_measures.iter_calc(list(names), judged, scored):
        key = names[each.measure]
        assert ours[each.query_id][key] == pytest.approx(each.value, abs=1e-12), (each.query_id, key)
        compared += 1
    assert compared == len(qrels) * len(NAMES)


def test_the_eleventh_rank_is_too_late_for_ten() -> None:
    values = measure({"q": {"a": 1}}, {"q": [*(f"x{n}" for n in range(10)), "a"]})["q"]
    assert (values["ndcg@10"], values["mrr@10"], values["recall@100"]) == (0.0, 0.0, 1.0)


def test_a_query_to_which_nothing_was_found_counts_as_zero() -> None:
    found = evaluated({"q1": {"a": 1}, "q2": {"b": 1}}, q1="a", q2="")
    assert found.means["ndcg@10"] == 0.5
    assert found.unanswered == 0.5
    assert found.scores[1].values == dict.fromkeys(NAMES, 0.0)


def test_a_query_that_no_document_answers_is_excluded_and_counted() -> None:
    given = judged({"q1": {"a": 1}, "q2": {"b": 0}}, "q3")
    assert given.answerable == ("q1",)
    found = evaluate_rankings(given, everywhere(given), {"q1": RankedDocuments(("a",))}, None)
    assert (found.excluded, found.means["ndcg@10"]) == (("q2", "q3"), 1.0)


def test_a_judged_document_that_is_not_in_the_snapshot_counts_against_the_search() -> None:
    given = judged({"q": {"a": 1, "gone": 1}})
    located = Located({"a": DocId("docs:a.md")}, ("gone",))
    found = evaluate_rankings(given, located, {"q": RankedDocuments(("docs:a.md",))}, None)
    assert found.missing == ("gone",)
    assert found.means["recall@100"] == 0.5
    assert found.means["ndcg@10"] == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_two_judged_documents_that_are_one_in_the_snapshot_count_once_with_the_better_gain() -> None:
    given = judged({"q": {"a": 1, "b": 2}})
    same = Located({"a": DocId("docs:a.md"), "b": DocId("docs:a.md")}, ())
    found = evaluate_rankings(given, same, {"q": RankedDocuments(("docs:a.md",))}, None)
    assert found.means["ndcg@10"] == 1.0


def test_the_rank_of_the_first_right_document_is_kept() -> None:
    found = evaluated({"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}, q1="b x a", q2="x")
    assert [(score.rank, score.found) for score in found.scores] == [(3, 3), (0, 1)]


def test_a_ranking_that_came_with_the_set_is_scored_like_a_search() -> None:
    given = judged({"q": {"a": 1}}, run={"q": ("x", "a")})
    assert evaluate_run(given, everywhere(given)).means["mrr@10"] == 0.5


def test_a_document_that_a_ranking_names_twice_stands_where_it_stands_first() -> None:
    given = judged({"q": {"a": 1, "b": 1}}, run={"q": ("a", "x", "b")})
    same = Located({"a": DocId("docs:a.md"), "b": DocId("docs:a.md")}, ())
    found = evaluate_run(given, same)
    assert (found.means["ndcg@10"], found.means["hit@1"], found.scores[0].found) == (1.0, 1.0, 2)


def test_json_has_the_figures_under_their_names() -> None:
    shown = evaluated({"q": {"a": 1}}, q="x a").as_dict(per_query=True)
    assert (shown["ndcg@10"], shown["mrr@10"], shown["hit@1"]) == (0.63093, 0.5, 0.0)
    assert (shown["queries"], shown["unanswered"], shown["p50_ms"]) == (1, 0.0, None)
    assert shown["per_query"] == [
        {
            "query": "q",
            "text": "text of q",
            "ndcg@10": 0.6309297535714575,
            "recall@100": 1.0,
            "mrr@10": 0.5,
            "hit@1": 0.0,
            "judged@10": 0.5,
            "rank": 2,
            "found": 2,
        }
    ]


# What an evaluation changes in the settings


def test_an_evaluation_takes_one_passage_a_document_and_no_cache() -> None:
    search = for_evaluation(Settings()).search
    assert (search.max_per_document, search.stages[-1]) == (1, "per_document")
    assert (search.caches.answers, search.caches.vectors) == (0, 0)


def test_the_limit_is_added_where_there_is_none() -> None:
    given = parse({"search": {"stages": ["calibrate"]}}, where="test")
    assert for_evaluation(given).search.stages == ("calibrate", "per_document")


def test_a_limit_that_other_stages_follow_stays_as_it_is() -> None:
    given = parse({"search": {"stages": ["per_document", "elbow"], "max_per_document": 3}}, where="test")
    search = for_evaluation(given).search
    assert (search.stages, search.max_per_document) == (("per_document", "elbow"), 3)


# Two evaluations side by side


def test_a_comparison_names_the_queries_that_fell_and_rose() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(4)}
    before = evaluated(qrels, q0="a", q1="x a", q2="a", q3="x")
    after = evaluated(qrels, q0="x y a", q1="a", q2="a", q3="x")
    (found,) = compared([Pair("before", before, after)])
    assert [(each.query_id, each.rank_before, each.rank_after) for each in found.fell] == [("q0", 1, 3)]
    assert [(each.query_id, each.rank_before, each.rank_after) for each in found.rose] == [("q1", 2, 1)]
    assert (found.result.wins, found.result.ties, found.result.losses) == (1, 2, 1)
    assert found.as_dict()["against"] == "before"


def test_comparisons_made_together_are_corrected_together() -> None:
    qrels = {f"q{n:02}": {"a": 1} for n in range(12)}
    worse = evaluated(qrels, **dict.fromkeys(qrels, "x a"))
    better = evaluated(qrels, **dict.fromkeys(qrels, "a"))
    alone = compared([Pair("worse", worse, better)])[0]
    together = compared([Pair("worse", worse, better), Pair("same", better, better)])
    assert alone.p == alone.result.p < 0.01
    assert together[0].p == pytest.approx(2 * alone.p)
    assert (together[1].p, together[1].result.difference) == (1.0, 0.0)


def test_evaluations_of_other_queries_are_not_compared() -> None:
    left, right = evaluated({"q1": {"a": 1}}, q1="a"), evaluated({"q2": {"a": 1}}, q2="a")
    with pytest.raises(ValueError, match="q1 is not q2"):
        compared([Pair("left", left, right)])
