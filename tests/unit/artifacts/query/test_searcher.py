"""A searcher over real notes: lists, modes, operators, questions, hypotheses, namespaces, more like one."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from noctule.artifacts.disk.manifest import Manifest
from noctule.artifacts.query.answer import Answer, Hit
from noctule.artifacts.query.context import SearchRequest
from noctule.artifacts.query.federate import search_namespaces
from noctule.artifacts.query.model import Candidate, Mode
from noctule.artifacts.query.ranking.calibrate import sigmoid
from noctule.artifacts.query.retrieval import operator_filters
from noctule.artifacts.query.searcher import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.embedding.encoder import load_encoder
from noctule.pipeline.errors import ModelUnavailable, QueryError
from noctule.pipeline.lexical.analyzer import prose_analyzer
from noctule.pipeline.lexical.bm25f import credibility
from noctule.pipeline.settings.settings import Embed
from tests.library_builder import PLAIN, FailingEncoder, WordEncoder, searcher_of, settings_of


@pytest.fixture(scope="module")
def searcher(library: Store) -> Iterator[Searcher]:
    """With the real model."""
    with searcher_of(library, load_encoder(Embed(workers=1))) as found:
        yield found


@pytest.fixture(scope="module")
def cheap(library: Store) -> Iterator[Searcher]:
    """With the cheap encoder, of which the keyword list alone can be judged."""
    with searcher_of(library) as found:
        yield found


def documents(answer: Answer) -> list[str]:
    """The distinct documents of the hits, in order."""
    return list(dict.fromkeys(hit.doc_id.removeprefix("notes:") for hit in answer.hits))


def lists_of(hit: Hit) -> set[str]:
    return {each.list for each in hit.why.lists}


def test_meaning_finds_what_words_do_not(searcher: Searcher) -> None:
    assert documents(searcher.search("a vessel propelled by paddling"))[0] == "boats.md"
    assert documents(searcher.search("where to put fruit for the winter", mode="semantic"))[0] in (
        "fruit/apples.md",
        "fruit/pears.md",
    )


def test_a_hit_of_both_lists_says_so(searcher: Searcher) -> None:
    (hit, *_) = searcher.search("sails catch the wind").hits
    assert (hit.doc_id, hit.section_id) == ("notes:boats.md", "notes:boats.md#sails")
    assert lists_of(hit) == {"keyword", "semantic"}
    assert hit.url == "boats.html#sails"
    assert hit.confidence is not None and hit.confidence > 0.9


def test_a_weak_match_is_worth_the_share_that_known_words_have_of_the_question(cheap: Searcher) -> None:
    def words_of(text: str) -> float:
        best = max(cheap.with_settings(by_score).rank(SearchRequest(text)).run.candidates, key=_words)
        return _words(best)

    def _words(candidate: Candidate) -> float:
        return sum(each.share for each in candidate.contributions if each.list == "keyword")

    by_score = settings_of(**{**PLAIN, "fusion": "convex"}).search
    whole = words_of("cellar")
    assert whole == pytest.approx(0.5 * credibility(len(cheap.corpus.documents)))
    assert words_of("cellar xylophone") < 0.7 * whole
    assert words_of("cellar xylophone zeppelin") < 0.5 * whole
    assert words_of("is there a cellar") == whole


@pytest.mark.parametrize("mode", ["keyword", "semantic", "code"])
def test_a_mode_asks_one_list(searcher: Searcher, mode: str) -> None:
    answer = searcher.search("get user by id", mode=mode)  # type: ignore[arg-type]
    assert answer.weights == {mode: 1.0}
    assert answer.hits
    assert all(lists_of(hit) == {mode} for hit in answer.hits)


@pytest.mark.parametrize(("mode", "encoder", "fed_back"), [
    ("hybrid", "full", True), ("keyword", "full", False), ("semantic", "full", False),
    ("hybrid", "static", False),
])  # fmt: skip
def test_what_is_near_the_best_gains_where_headings_are_few_and_documents_have_vectors(
    library: Store, monkeypatch: pytest.MonkeyPatch, mode: Mode, encoder: str, fed_back: bool
) -> None:
    monkeypatch.setattr(Manifest, "mostly_without_headings", True)
    settings = settings_of(**{**PLAIN, "stages": ["rocchio"]})
    search = settings.search.model_copy(update={"encoder": encoder})
    with Searcher(library.open(), settings.model_copy(update={"search": search}), WordEncoder()) as found:
        answer = found.search("boats under sail", mode=mode)
    factors = [{each.stage for each in hit.why.multipliers} for hit in answer.hits]
    assert factors and all(("rocchio" in each) == fed_back for each in factors[:2])


def test_what_is_gained_near_the_best_is_part_of_what_ranks_can_give(
    library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Manifest, "mostly_without_headings", True)
    settings = settings_of(**{**PLAIN, "stages": ["rocchio", "calibrate"], "encoder": "full"})
    with Searcher(library.open(), settings, WordEncoder()) as found:
        (best, *_) = found.search("boats under sail").hits
    search = settings.search
    most = 2 / (search.rrf_k + 1) * (1 + search.rocchio.share)
    curve = search.calibrate
    assert best.confidence == pytest.approx(sigmoid(best.score / most, curve.steepness, curve.threshold))


@pytest.mark.parametrize(("documents", "plain", "found"), [
    (100, 101, True), (100, 100, False), (99, 200, False), (5_000, 0, False),
])  # fmt: skip
def test_headings_are_few_where_most_passages_are_of_documents_without(
    library: Store, documents: int, plain: int, found: bool
) -> None:
    with library.open() as snapshot:
        counts = {"documents": documents, "passages": 200}
        manifest = replace(snapshot.manifest, counts=counts, passages_without_headings=plain)
    assert manifest.mostly_without_headings is found


@pytest.mark.parametrize("text", ["getUserById", "get_user_by_id", "GET_USER_BY_ID", "user id"])
def test_an_identifier_is_found_in_any_spelling(cheap: Searcher, text: str) -> None:
    assert documents(cheap.search(text, mode="code")) == ["boats.md"]


def test_a_phrase_must_stand_as_it_is(cheap: Searcher) -> None:
    assert documents(cheap.search('"trade wind"')) == ["boats.md"]
    assert documents(cheap.search('"cool cellar"')) == ["fruit/apples.md", "fruit/pears.md"]


def test_a_phrase_that_stands_nowhere_is_searched_as_words_and_said_so(cheap: Searcher) -> None:
    with pytest.warns(RuntimeWarning, match='nothing contains the phrase "wind trade"'):
        answer = cheap.search('"wind trade"')
    assert documents(answer)[0] == "boats.md"
    assert len(answer.warnings) == 1


def test_what_was_not_read_for_a_phrase_is_left_out_either_way_and_said(
    cheap: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operator_filters, "_MAX_READ", 1)
    for text in ('cellar "cool cellar"', 'cellar -"cool cellar"', 'cellar -"cellar cool"'):
        with warnings.catch_warnings(action="ignore"):
            answer = cheap.search(text, mode="keyword")
        assert "stand in very many passages: 1 of them were not read" in answer.warnings[0]
        assert len(answer.warnings) == 1
        assert len({"fruit/apples.md", "fruit/pears.md"} & set(documents(answer))) <= 1
    with pytest.warns(RuntimeWarning, match='nothing read contains the phrase "cellar cool"'):
        assert (
            len(cheap.search('"cellar cool"').warnings) == 1
        )  # nothing is left out, so nothing is said to be


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("東京都", "東京と京都を旅する", False),
        ("東京都", "東京都立大学", True),
        ("机器学习,深度学习", "本文介绍机器学习,深度学习等", True),
        ("node.js server", "a Node.js server", True),
        ("user id", "users of ids", False),
    ],
)
def test_a_phrase_without_spaces_stands_where_all_its_characters_do(
    phrase: str, text: str, stands: bool
) -> None:
    assert operator_filters.PhraseMatcher(prose_analyzer("en"), phrase).is_in(text) is stands


def test_other_settings_may_ask_another_encoder(library: Store) -> None:
    settings = settings_of(**PLAIN)
    static = settings.search.model_copy(update={"encoder": "static"})
    full_search = static.model_copy(update={"encoder": "full"})
    with library.open() as snapshot:
        both = Searcher(snapshot, settings.model_copy(update={"search": static}))
        full = both.with_settings(full_search)
        question = "where to put fruit for the winter"
        found = [_score(each.search(question, mode="semantic")) for each in (both, full)]
        both.close()
    # In full precision: where the processor has bf16, batches of passages are encoded in it.
    torch = load_encoder(Embed(workers=1, precision="fp32"))
    with Searcher(library.open(), settings.model_copy(update={"search": full_search}), torch) as plain:
        # The export has weights of eight bits.
        assert found[1] == pytest.approx(_score(plain.search(question, mode="semantic")), abs=0.01)
        assert abs(found[1] - found[0]) > 0.02
        assert found[0] == _score(plain.with_settings(static).search(question, mode="semantic"))


def _score(answer: Answer) -> float:
    return answer.hits[0].why.lists[0].score


def test_what_no_document_holds_is_related_by_what_its_tokens_mean(library: Store) -> None:
    static = settings_of(**PLAIN).search.model_copy(update={"encoder": "static"})
    with library.open() as snapshot:
        searcher = Searcher(snapshot, settings_of(**PLAIN).model_copy(update={"search": static}))
        assert all(searcher.related(word) for word in ("fruit", "orchardist", "\u4e00"))
        searcher.close()


def test_an_excluded_word_is_in_no_hit_of_any_list(cheap: Searcher) -> None:
    assert "fruit/pears.md" in documents(cheap.search("cellar"))
    for text in ("cellar -pears", 'cellar -"pears in a cool"'):
        answer = cheap.search(text)
        assert documents(answer)
        assert not any("Keep pears" in hit.excerpt for hit in answer.hits)


def test_a_word_in_a_field_is_demanded_of_every_hit(cheap: Searcher) -> None:
    assert documents(cheap.search("title:orchard garden")) == ["fruit/orchard.md"]
    assert documents(cheap.search("tags:craft wind")) == ["boats.md"]
    assert {hit.section_id.partition("#")[2] for hit in cheap.search("headings:storing cool").hits} == {
        "storing"
    }


def test_a_demand_that_nothing_meets_gives_nothing_and_says_so(cheap: Searcher) -> None:
    with pytest.warns(RuntimeWarning, match="title:zeppelin"):
        answer = cheap.search("title:zeppelin boats")
    assert answer.hits == ()
    assert len(answer.warnings) == 1


def test_the_beginning_of_a_word_finds_its_words(cheap: Searcher) -> None:
    assert documents(cheap.search("lightho*", mode="keyword"))[0].startswith("copy-")
    assert cheap.search("lightho", mode="keyword").hits == ()


def test_a_word_misspelt_is_found_with_fuzziness_or_spelling(library: Store, cheap: Searcher) -> None:
    assert cheap.search("harbuor", mode="keyword").hits == ()
    for search in ({"fuzziness": "auto"}, {"understand": ["spelling"]}):
        with searcher_of(library, **search) as found:
            assert documents(found.search("harbuor", mode="keyword"))[0] == "harbour.md"


def test_an_acronym_of_the_corpus_is_found_by_its_long_form(library: Store) -> None:
    with searcher_of(library, understand=["acronyms"]) as found:
        (query,) = found.search("SSO", mode="keyword").understood
        assert [each.text for each in query.expansions] == ["Single Sign-On"]
        assert documents(found.search("SSO", mode="keyword"))[0] == "harbour.md"


def test_concepts_of_the_corpus_join_the_query(library: Store) -> None:
    with searcher_of(library, load_encoder(Embed(workers=1)), understand=["concepts"]) as found:
        answer = found.search("ship")
        (query,) = answer.understood
        similarities = [each.because for each in query.expansions]
        assert similarities == sorted(similarities, reverse=True)
        assert 1 <= len(similarities) <= 3
        assert "boats.md" in documents(answer)


def test_a_kind_of_query_changes_the_weights(library: Store) -> None:
    with searcher_of(library, understand=["classify"]) as found:
        assert found.search("launchBoat()").weights == {"keyword": 1.5, "semantic": 1.0}
        assert found.search("how do boats float?").weights == {"keyword": 1.0, "semantic": 1.3}
        assert found.search("boats").weights == {"keyword": 1.0, "semantic": 1.0}
        assert found.search('"trade wind" of summer').understood[0].kind == "factual"


def test_several_questions_are_answered_together(library: Store) -> None:
    with searcher_of(library, load_encoder(Embed(workers=1)), understand=["split"]) as found:
        answer = found.search("how do I bake apples in the oven and where do boats sleep at night?")
        assert [query.text for query in answer.understood] == [
            "how do I bake apples in the oven",
            "where do boats sleep at night",
        ]
        assert {each.question for hit in answer.hits for each in hit.why.lists} == {0, 1}
        assert {"keyword", "keyword#2", "semantic", "semantic#2"} <= set(answer.as_dict()["counts"])


def test_the_best_answer_of_each_question_comes_first(library: Store) -> None:
    with searcher_of(library, load_encoder(Embed(workers=1)), understand=["split"]) as found:
        answer = found.search("how do I bake apples in the oven and where do boats sleep at night?")
        assert set(documents(answer)[:2]) == {"fruit/apples.md", "harbour.md"}


def test_a_hypothesis_is_embedded_as_it_stands_and_joins_the_lists(searcher: Searcher) -> None:
    made_up = "The gate is unlocked by identity federation, one login for all."
    answer = searcher.search("zzz", hypothesis=made_up)
    assert answer.weights == {"keyword": 1.0, "semantic": 1.0, "hypothesis": 1.0}
    ranks = {
        each.rank: hit.doc_id for hit in answer.hits for each in hit.why.lists if each.list == "hypothesis"
    }
    assert ranks[1] == searcher.search(made_up, mode="semantic").hits[0].doc_id == "notes:harbour.md"
    assert "hypothesis" not in searcher.search("zzz").weights


def test_the_graph_brings_what_is_linked_and_not_what_is_linked_from_there(library: Store) -> None:
    weights = {"keyword": 1.0, "semantic": 0.0, "graph": 0.5}
    with searcher_of(library, weights=weights) as found:
        by_graph = {
            hit.doc_id: each.rank
            for hit in found.search("salty canvas").hits
            for each in hit.why.lists
            if each.list == "graph"
        }
    assert set(by_graph) == {"notes:fruit/orchard.md", "notes:harbour.md"}
    with searcher_of(library, weights=weights, graph={"depth": 2}) as found:
        further = {hit.doc_id for hit in found.search("salty canvas").hits}
    assert {"notes:fruit/apples.md", "notes:fruit/pears.md"} <= further


def test_a_list_that_fails_is_left_out_with_a_warning_and_only_for_now(library: Store) -> None:
    with searcher_of(library, FailingEncoder(RuntimeError("out of memory"), times=1)) as found:
        with pytest.warns(RuntimeWarning, match="no semantic list: out of memory"):
            answer = found.search("boats")
        assert documents(answer)
        assert all(lists_of(hit) == {"keyword"} for hit in answer.hits)
        assert len(answer.warnings) == 1
        healed = found.search("boats")
        assert healed.warnings == ()
        assert {"semantic", "keyword"} == {name for hit in healed.hits for name in lists_of(hit)}


def test_the_only_list_that_fails_raises_its_error(library: Store) -> None:
    with searcher_of(library, FailingEncoder(OSError("gone"))) as found, pytest.raises(OSError, match="gone"):
        found.search("boats", mode="semantic")


def test_expansions_that_fail_leave_the_query_as_it_stands(library: Store) -> None:
    failing = FailingEncoder(RuntimeError("out of memory"), times=1)
    with searcher_of(library, failing, understand=["spelling", "concepts"]) as found:
        with pytest.warns(RuntimeWarning, match="taken as it stands"):
            answer = found.search("boats")
        assert documents(answer)[0] == "boats.md"


def test_a_question_is_reformulated_for_the_keywords_alone(library: Store) -> None:
    def keywords(question: str) -> str:
        return "harbour gate" if "sign" in question else question

    with Searcher(library.open(), settings_of(), WordEncoder(), reformulate=keywords) as found:
        answer = found.search("how do people sign in?")
        (query,) = answer.understood
        assert query.text == "how do people sign in?"
        assert query.terms == ("harbour", "gate")
        assert "harbour gate" in query.notes[0]
        assert documents(answer)[0] == "harbour.md"


def test_reformulation_that_fails_leaves_the_query_as_it_stands(library: Store) -> None:
    def broken(question: str) -> str:
        raise ConnectionError("the model does not answer")

    with Searcher(library.open(), settings_of(), WordEncoder(), reformulate=broken) as found:
        with pytest.warns(RuntimeWarning, match="taken as it stands: the model does not answer"):
            answer = found.search("boats")
        assert documents(answer)[0] == "boats.md"


def test_documents_like_one_are_others_each_once(searcher: Searcher) -> None:
    answer = searcher.similar("notes:copy-one.md", top_n=5)
    found = [hit.doc_id for hit in answer.hits]
    assert found[0] == "notes:copy-two.md"
    assert "notes:copy-one.md" not in found
    assert len(found) == len(set(found)) == 5
    assert documents(searcher.similar("notes:fruit/apples.md"))[0] == "fruit/pears.md"
    with pytest.raises(QueryError, match="no such document") as refused:
        searcher.similar("notes:fruit/apple.html")
    assert "notes:fruit/apples.md" in str(refused.value.hint)


def test_terms_near_a_term_are_the_vocabularys_by_nearness(searcher: Searcher) -> None:
    found = searcher.related("boats", 5)
    assert len(found) == 5
    assert [each.similarity for each in found] == sorted((each.similarity for each in found), reverse=True)
    assert "boats" not in {each.term for each in found}
    assert searcher.related("a vessel under sail", 3)


def test_answers_of_several_namespaces_are_fused_by_rank(library: Store) -> None:
    with searcher_of(library) as one, searcher_of(library) as two:
        both = {"two": two, "one": one}
        found = search_namespaces(both, SearchRequest("cool cellar", top_n=4))
        assert [(each.namespace, each.rank) for each in found.hits] == [
            ("one", 1),
            ("two", 1),
            ("one", 2),
            ("two", 2),
        ]
        assert [each.score for each in found.hits] == [1 / 61, 1 / 61, 1 / 62, 1 / 62]
        assert set(found.answers) == {"one", "two"}
        weighted = search_namespaces(both, SearchRequest("cool cellar", top_n=3), {"two": 2.0})
        assert [(each.namespace, each.rank) for each in weighted.hits] == [("two", 1), ("two", 2), ("two", 3)]


def test_threads_get_the_answers_that_one_gets(library: Store) -> None:
    texts = ["boats", "cool cellar", "lighthouse", "saga", "tide", "apples in spring", "harbour gate"] * 6

    def answers(found: Searcher, workers: int) -> Sequence[list[str]]:
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda text: [hit.passage_id for hit in found.search(text).hits], texts))

    with searcher_of(library) as first, searcher_of(library, caches={"answers": 0, "vectors": 0}) as second:
        assert answers(first, 8) == answers(second, 1)


def test_a_model_that_was_asked_for_and_is_not_there_is_an_error(library: Store) -> None:
    missing = FailingEncoder(ModelUnavailable("the model is not on this machine"))
    with searcher_of(library, missing) as found, pytest.raises(ModelUnavailable):
        found.search("boats")


def test_a_filter_of_a_megabyte_is_cut_in_warnings_and_errors(library: Store) -> None:
    long = "\u202e" + "x" * 1_000_000
    with searcher_of(library) as found:
        with pytest.warns(RuntimeWarning, match=r"\\u202e"):
            answer = found.search("boats", filters=[f"tag:{long}"])
        assert max(map(len, answer.warnings)) < 1_000
        with pytest.raises(QueryError) as caught:
            found.search("boats", filters=[long])
        assert len(str(caught.value)) < 10_000 and "\u202e" not in str(caught.value)
