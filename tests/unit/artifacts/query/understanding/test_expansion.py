"""What a query is looked for besides its words: concepts, synonyms, acronyms, and words spelt right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from noctule.artifacts.query.index.vocabulary import (
    ConceptVocabulary,
    NearWord,
    SpellingIndex,
    SurfaceForms,
    acronym_table,
    auto_edits,
    whole_words,
)
from noctule.artifacts.query.model import Query
from noctule.artifacts.query.understanding.expansion import (
    near_concepts,
    with_compounds,
    with_concepts,
    with_identifiers,
    with_spelling,
)
from noctule.artifacts.query.understanding.synonyms import (
    read_glossary,
    with_acronyms,
    with_synonyms,
)
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.lexical.analyzer import query_terms
from noctule.pipeline.settings.search import Acronyms, Concepts, Spelling, Synonyms
from tests.candidate_builder import angles

EN = ("en",)


def query(text: str) -> Query:
    return Query(text, terms=tuple(query_terms(text, EN)))


# Concepts: the query points at 0 degrees, so a term's cosine is that of its angle.
TERMS = ("alpha", "boat", "cellar", "delta", "zebra")
VOCABULARY = ConceptVocabulary(TERMS, angles(70, 50, 30, 20, 10))
ZERO = angles(0)[0]


def concepts(text: str = "orchard", **settings: float) -> list[str]:
    given = Concepts.model_validate(settings)
    return [each.term for each in near_concepts(ZERO, query(text), VOCABULARY, EN, given)]


def test_concepts_come_by_similarity_and_not_by_the_alphabet() -> None:
    assert concepts() == ["zebra", "delta", "cellar"]


def test_concepts_below_the_least_similarity_are_left_out() -> None:
    assert concepts(terms=5) == ["zebra", "delta", "cellar", "boat"]
    assert concepts(terms=5, min_similarity=0.95) == ["zebra"]
    assert concepts(min_similarity=1.0) == []


def test_concepts_as_near_as_each_other_come_by_name() -> None:
    vocabulary = ConceptVocabulary(("anchor", "buoy", "chain", "deck"), angles(30, 10, -30, 30))
    found = near_concepts(ZERO, query("x"), vocabulary, EN, Concepts(terms=4))
    assert [each.term for each in found] == ["buoy", "anchor", "chain", "deck"]


def test_a_concept_that_is_in_the_query_is_none() -> None:
    assert concepts("a zebra crossing") == ["delta", "cellar", "boat"]
    assert concepts("Zebras") == ["delta", "cellar", "boat"]


def test_concepts_join_the_keywords_at_a_low_weight_and_the_vector_by_their_similarity() -> None:
    found = with_concepts(query("orchard"), ZERO, VOCABULARY, EN, Concepts(terms=2))
    assert [(each.text, each.terms, each.weight) for each in found.expansions] == [
        ("zebra", ("zebra",), 0.2),
        ("delta", ("delta",), 0.2),
    ]
    assert [text for text, _ in found.nearby] == ["zebra", "delta"]
    assert [weight for _, weight in found.nearby] == pytest.approx(
        [0.2 * np.cos(np.radians(degrees)) for degrees in (10, 20)], abs=1e-4
    )
    assert "0.98" in found.expansions[0].because


def test_without_a_vocabulary_there_are_no_concepts() -> None:
    empty = ConceptVocabulary((), np.zeros((0, 2), np.float32))
    assert near_concepts(ZERO, query("x"), empty, EN, Concepts()) == []


def test_a_term_of_the_vocabulary_has_its_vector_and_no_other_text_has() -> None:
    found = VOCABULARY.vector_of("delta")
    assert found is not None and np.array_equal(found, angles(20)[0])
    assert VOCABULARY.vector_of("Delta") is VOCABULARY.vector_of("zzz") is VOCABULARY.vector_of("") is None


# Synonyms.
def synonyms(text: str, glossary: Mapping[str, tuple[str, ...]], **settings: float) -> Query:
    return with_synonyms(query(text), glossary, EN, Synonyms.model_validate(settings))


def test_synonyms_are_keywords_at_a_weight_and_variants_of_the_text_for_the_vector() -> None:
    found = synonyms("Sign in, please", {"sign in": ("log in", "authenticate")})
    assert [(each.text, each.terms, each.weight, each.because) for each in found.expansions] == [
        ("log in", ("log",), 0.3, "synonym of 'sign in'"),
        ("authenticate", ("authent",), 0.3, "synonym of 'sign in'"),
    ]
    assert found.nearby == (("log in, please", 1.0), ("authenticate, please", 1.0))


def test_there_are_eight_synonyms_at_most_the_longest_terms_first() -> None:
    many = tuple(f"word{at}" for at in range(9))
    found = synonyms("trade wind", {"trade wind": ("passat",), "wind": many})
    assert [each.text for each in found.expansions] == ["passat", *many[:7]]
    assert len(synonyms("wind", {"wind": many}, max_terms=2).expansions) == 2


def test_a_synonym_that_says_nothing_new_is_left_out() -> None:
    assert synonyms("boat", {"boat": ("boats",)}).expansions == ()


def test_a_synonym_is_put_in_as_it_stands() -> None:
    assert synonyms("a boat", {"boat": (r"\g<0> \1",)}).nearby == ((r"a \g<0> \1", 1.0),)


def test_a_part_of_a_word_is_no_term_of_the_glossary() -> None:
    assert synonyms("lifeboat", {"boat": ("ship",)}).expansions == ()


def write(folder: Path, content: str) -> Path:
    path = folder / "glossary.toml"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    return path


def test_a_glossary_is_read_whatever_the_case_of_its_terms(tmp_path: Path) -> None:
    path = write(tmp_path, '"Sign In" = ["log in"]\nBoat = ["ship", "vessel"]\nnone = []\n')
    assert read_glossary(path) == {"sign in": ("log in",), "boat": ("ship", "vessel"), "none": ()}


@pytest.mark.parametrize(
    "content",
    [
        "boat = ",
        "boat = 3",
        'boat = "ship"',
        "boat = [1]",
        "[boat]\nship = []\nx = 1",
        "\udcff",
        "a = " + "[" * 9_999,
    ],
    ids=["cut off", "number", "text", "numbers", "table", "bytes", "nested"],
)
def test_a_broken_glossary_is_one_error_that_names_it(tmp_path: Path, content: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(SettingsError) as caught:
        read_glossary(path)
    assert caught.value.where == str(path)
    assert 'term = ["synonym"' in caught.value.hint


def test_a_glossary_that_is_missing_or_huge_is_one_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        read_glossary(tmp_path / "nowhere.toml")
    with pytest.raises(SettingsError, match="cannot read"):
        read_glossary(tmp_path)
    with pytest.raises(SettingsError, match="over 5 MB"):
        read_glossary(write(tmp_path, "#" * 5_000_001))


# Acronyms.
TABLE = acronym_table(
    [
        ("SSO", "Single Sign-On", 4),
        ("TS", "tiny snapshot", 1),
        ("TS", "TypeScript", 3),
        ("TS", "time series", 3),
    ]
)


def acronyms(text: str) -> list[tuple[str, tuple[str, ...]]]:
    found = with_acronyms(query(text), TABLE, EN, Acronyms())
    return [(each.text, each.terms) for each in found.expansions]


def test_an_acronym_stands_for_its_long_form_and_the_other_way_round() -> None:
    assert acronyms("SSO setup") == [("Single Sign-On", ("singl", "sign", "on"))]
    assert acronyms("sso setup") == acronyms("SSO setup")
    assert acronyms("Set up single sign-on") == [("SSO", ("sso",))]


def test_of_several_meanings_the_commonest_is_taken_then_the_first_by_name() -> None:
    assert acronyms("TS compiler") == [("TypeScript", ("typescript",))]


def test_words_that_are_no_acronym_bring_nothing() -> None:
    assert acronyms("boats float") == acronyms("") == []
    assert acronyms("ts it or who") == []


# Compounds.
PASSAGES = {"dataset": 4, "check": 9, "box": 5, "user": 8, "name": 7, "her": 3, "mit": 3}


def compounds(text: str, *unknown: str) -> Query:
    asked = replace(query(text), unknown=unknown)
    return with_compounds(asked, lambda term: PASSAGES.get(term, 0), EN)


def test_two_words_are_found_as_one_and_an_unknown_one_as_two() -> None:
    (each,) = compounds("how do I load a Data set?").expansions
    assert (each.text, each.terms, each.weight) == ("dataset", ("dataset",), 0.8)
    halved = compounds("a checkbox", "checkbox")
    (each,) = halved.expansions
    assert (each.text, each.terms, each.weight) == ("check box", ("check", "box"), 0.5)
    assert halved.unknown == ()


@pytest.mark.parametrize("text", ["user name", "dataset", "of set", "", "東京 都"])
def test_words_that_stand_as_they_are_written_bring_nothing(text: str) -> None:
    assert compounds(text).expansions == ()


@pytest.mark.parametrize("word", ["checkboxes1", "boxen", "zzz", "checkzzz"])
def test_a_word_that_is_not_made_of_two_stays_unknown(word: str) -> None:
    assert compounds(word, word) == replace(query(word), unknown=(word,))


# Spelling.
COUNTS = {
    "orchard": 5,
    "harbour": 9,
    "harbor": 2,
    "cellar": 3,
    "cellos": 3,
    "launchboat": 2,
    "storing": 4,
    "on": 50,
}
WRITTEN = SurfaceForms(SpellingIndex(COUNTS), COUNTS)
KNOWN = frozenset(term for word in COUNTS for term in query_terms(word, EN))


def corrected(text: str, **settings: float) -> list[str]:
    given = Spelling.model_validate(settings)
    found = with_spelling(query(text), KNOWN.__contains__, lambda: WRITTEN, EN, given)
    return [each.text for each in found.expansions]


@pytest.mark.parametrize(
    ("text", "right"),
    [("orchad", "orchard"), ("Orhcard?", "orchard"), ("harbuor", "harbour"), ("stroing", "storing")],
)
def test_an_unknown_word_is_read_as_the_nearest_known_one(text: str, right: str) -> None:
    assert corrected(text) == [right]


def test_the_correction_has_the_weight_of_the_settings_and_says_what_it_is() -> None:
    found = with_spelling(query("orchad"), KNOWN.__contains__, lambda: WRITTEN, EN, Spelling(weight=0.5))
    (each,) = found.expansions
    assert (each.terms, each.weight, each.because) == (("orchard",), 0.5, "spelling of 'orchad'")
    assert found.terms == ("orchad",)


def test_a_correction_is_offered_where_another_word_is_known_and_followed_where_none_is() -> None:
    asked = replace(query("storing in an Orchad?"), unknown=("orchad", "an"))
    offered = with_spelling(asked, KNOWN.__contains__, lambda: WRITTEN, EN, Spelling())
    assert (offered.text, offered.suggestion) == ("storing in an Orchad?", "storing in an orchard")
    assert (offered.expansions, offered.unknown) == ((), ("an",))
    followed = with_spelling(query("on an orchad"), KNOWN.__contains__, lambda: WRITTEN, EN, Spelling())
    assert (followed.text, followed.suggestion) == ("on an orchard", "")
    assert [each.text for each in followed.expansions] == ["orchard"]


def test_what_the_model_knows_is_never_spelled_into_another_word() -> None:
    def asked(words: set[str]) -> Query:
        return with_spelling(
            query("cellist"), KNOWN.__contains__, lambda: WRITTEN, EN, Spelling(), words.__contains__
        )

    assert [each.text for each in asked(set()).expansions] == ["cellos"]
    assert asked({"cellist"}) == query("cellist")


@pytest.mark.parametrize(
    "vocab",
    [
        {"[CLS]": 0, "revert": 1, "##ing": 2, "Event": 3, "2": 4},
        [["<s>", 0.0], ["\u2581revert", -1.0], ["ing", -2.0], ["\u2581Event", -3.0], ["\u2581", -4.0]],
    ],
)
def test_whole_words_of_a_tokenizer_are_those_with_one_token(vocab: object) -> None:
    assert whole_words(json.dumps({"model": {"vocab": vocab}}).encode()) == {"revert", "event"}


def test_the_words_of_the_corpus_are_read_only_for_one_that_it_does_not_hold() -> None:
    def never() -> SurfaceForms:
        raise AssertionError("read for nothing")

    asked = query("storing orchards launch_baot xyz")
    assert with_spelling(asked, KNOWN.__contains__, never, EN, Spelling()) == asked


def test_of_words_as_near_the_commonest_is_taken_then_the_first_by_name() -> None:
    assert corrected("harbous") == ["harbour"]
    assert corrected("cellas") == ["cellar"]


@pytest.mark.parametrize("text", ["orchards", "storing", "stored", "Harbour,"])
def test_a_word_that_the_index_holds_is_right(text: str) -> None:
    assert corrected(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "launch_baot",
        "launchbo4t",
        "`orchad`",
        "orchad.js",
        "orchad()",
        "3.13",
        "xyz",
        "qqqqqqqq",
    ],
)
def test_code_numbers_and_short_or_strange_words_are_never_corrected(text: str) -> None:
    assert corrected(text) == []


def test_the_distance_allowed_is_that_of_the_settings_and_of_the_words_length() -> None:
    assert corrected("orcad") == []
    assert corrected("orchrad", max_edits=1) == ["orchard"]
    assert corrected("orhcrad", max_edits=1) == []
    assert corrected("orch", min_chars=2) == []


@pytest.mark.parametrize(("word", "edits"), [("", 0), ("ab", 0), ("abc", 1), ("abcde", 1), ("abcdef", 2)])
def test_fuzziness_auto_allows_what_elasticsearch_does(word: str, edits: int) -> None:
    assert auto_edits(word) == edits


def test_near_words_come_by_distance_then_by_name_and_never_the_word_itself() -> None:
    words = SpellingIndex(["boat", "boats", "bolt", "coat", "moats", "b0at", "boa_t"])
    assert words.near("boat", 1) == [NearWord("boats", 1), NearWord("bolt", 1), NearWord("coat", 1)]
    assert words.near("boat", 2)[-1] == NearWord("moats", 2)
    assert words.near("baot", 1) == [NearWord("boat", 1)]
    assert words.near("boat", 0) == words.near("b0at", 2) == words.near("", 2) == []


def test_near_words_are_sixteen_at_most() -> None:
    words = SpellingIndex([f"boat{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"])
    assert [each.word for each in words.near("boat", 1)] == [f"boat{letter}" for letter in "abcdefghijklmnop"]


def test_of_ten_thousand_unknown_words_the_first_are_looked_up() -> None:
    text = " ".join(["xxxxxxxx"] * 63 + ["orchad"] + ["harbuor"] * 9_936)
    assert corrected(text) == ["orchard"]


def named(text: str, *held: str) -> list[tuple[str, tuple[str, ...], float]]:
    found = with_identifiers(query(text), set(held).__contains__, EN).expansions
    return [(each.text, each.terms, each.weight) for each in found]


def test_an_unknown_name_is_also_its_longest_known_beginning_and_its_parts() -> None:
    assert named("use MutationObserverInit here", "mutationobserv", "mutationobserver", "observ") == [
        ("mutationobserver", ("mutationobserver",), 0.8),
        ("Mutation Observer Init", ("mutat", "observ", "init"), 0.5),
    ]
    assert named("SquareTiles", "squar", "tile", "sq") == [
        ("squar", ("squar",), 0.8),
        ("Square Tiles", ("squar", "tile"), 0.5),
    ]


@pytest.mark.parametrize("text", ["MutationObserver", "mutationobserverinit", "plain words", "XYZ", "42", ""])
def test_a_name_that_is_known_or_a_word_that_is_no_name_stays_alone(text: str) -> None:
    assert named(text, "mutationobserv", "plain", "word") == []


def test_a_name_of_unknown_parts_stays_alone() -> None:
    assert named("QuuxFrob", "mutat") == []
