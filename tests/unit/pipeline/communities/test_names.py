"""Topics are named by hubs, index pages and shared phrases, and by nothing where none of them tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from noctule.pipeline.communities.communities import Clusters, LinkGraph, link_graph
from noctule.pipeline.communities.names import Headed, name_communities
from noctule.pipeline.model import DocId, ResolvedLink
from noctule.pipeline.settings.settings import Communities

# Titles by path, and links: two communities, of fruits and of boats.
FRUITS = {f"x/{name}.md": name.title() for name in ("apple", "pear", "plum", "quince", "cherry")}
BOATS = {f"x/{name}.md": name.title() for name in ("barge", "dinghy", "ferry", "yacht")}


def _named(
    groups: Sequence[Mapping[str, str]],
    links: Sequence[tuple[str, str]] = (),
    headings: Mapping[str, set[str]] | None = None,
    common: frozenset[str] = frozenset(),
    settings: Communities | None = None,
) -> list[tuple[str, ...]]:
    """The names of each group, which have the numbers of their places."""
    titles = {DocId(f"c:{path}"): title for group in groups for path, title in group.items()}
    graph = _graph(titles, links)
    row = {name: at for at, name in enumerate(graph.documents)}
    members = {
        number: tuple(sorted(row[DocId(f"c:{path}")] for path in group))
        for number, group in enumerate(groups)
    }
    headed = Headed(
        [titles[name] for name in graph.documents],
        [{titles[name], *(headings or {}).get(name[2:], ())} for name in graph.documents],
        common,
    )
    clusters = Clusters(members, dict.fromkeys(members, 1.0), 0.5)
    found = name_communities(clusters, graph, headed, settings or Communities())
    return [found[number] for number in range(len(groups))]


def _graph(titles: Mapping[DocId, str], links: Sequence[tuple[str, str]]) -> LinkGraph:
    return link_graph(
        titles,
        (
            ResolvedLink(DocId(f"c:x/{a}.md"), DocId(f"c:x/{b}.md"), "", "link", "", "", 0, "resolved")
            for a, b in links
        ),
    )


def to(hub: str, *others: str) -> list[tuple[str, str]]:
    return [(other, hub) for other in others]


def test_the_page_that_most_of_the_others_link_to_names_them() -> None:
    links = [*to("quince", "apple", "pear", "plum"), *to("apple", "pear"), *to("yacht", "barge", "ferry")]
    assert [names[0] for names in _named([FRUITS, BOATS], links)] == ["Quince", "Yacht"]


def test_a_page_that_everybody_links_to_names_nobody() -> None:
    links = [*to("quince", "apple", "pear", *BOATS_NAMES), *to("plum", "pear", "apple")]
    assert _named([FRUITS, BOATS], links)[0][0] == "Plum"


BOATS_NAMES = ("barge", "dinghy", "ferry", "yacht")


@pytest.mark.parametrize("index", ["fruit/index.md", "fruit/README.md", "fruit/fruit.md", "fruit.md"])
def test_the_index_of_their_folder_names_pages(index: str) -> None:
    below = {f"fruit/{name}.md": name for name in ("apple", "pear", "plum")} | {index: "All Fruit"}
    assert _named([below, BOATS])[0][0] == "All Fruit"


def test_a_dotted_name_has_those_that_it_begins_below_it() -> None:
    notes = {"dev.md": "Development", "dev.api.md": "one", "dev.api.rest.md": "two", "dev.style.md": "three"}
    assert _named([notes, BOATS])[0][0] == "Development"


def test_a_phrase_of_many_headings_names_their_pages() -> None:
    headings = {path: {f"The Garden Fruit of {title}"} for path, title in FRUITS.items()}
    assert _named([FRUITS, BOATS], headings=headings)[0][0] == "Garden Fruit"


@pytest.mark.parametrize(
    "title", ["Role", "How", "Daily", "Overview", "What is it?", "How-to", "42", "The c", "x" * 61]
)
def test_words_that_name_nothing_are_no_names(title: str) -> None:
    hub = FRUITS | {"x/quince.md": title}
    assert _named([hub, BOATS], to("quince", "apple", "pear", "plum"))[0] == ("",)


def test_the_words_that_all_pages_share_are_no_names() -> None:
    links = to("quince", "apple", "pear", "plum")
    hub = FRUITS | {"x/quince.md": "What is Noctule?"}
    assert _named([hub, BOATS], links)[0][0] == "What is Noctule?"
    assert _named([hub, BOATS], links, common=frozenset({"noctul"}))[0] == ("",)


@pytest.mark.parametrize(
    ("title", "name"),
    [("Using the Web Audio API", "Web Audio API"), ("Introduction to Boats", "Boats"), ("Using the", "the")],
)
def test_a_name_begins_with_its_subject(title: str, name: str) -> None:
    hub = FRUITS | {"x/quince.md": title}
    found = _named([hub, BOATS], to("quince", "apple", "pear", "plum"))[0]
    assert found == ((name, name) if name != "the" else ("",))


def test_below_the_confidence_there_is_no_label_but_there_are_terms() -> None:
    links = to("quince", "apple", "pear")
    assert _named([FRUITS, BOATS], links)[0] == ("Quince", "Quince")
    unsure = Communities(label_confidence=0.51)
    assert _named([FRUITS, BOATS], links, settings=unsure)[0] == ("", "Quince")


def test_no_name_is_given_twice_and_the_larger_community_has_it() -> None:
    boats = BOATS | {"x/yacht.md": "QUINCE"}
    links = [
        *to("quince", "apple", "pear", "plum", "cherry"),
        *to("yacht", "barge", "dinghy", "ferry"),
        *to("ferry", "barge", "dinghy", "yacht"),
    ]
    found = _named([boats, FRUITS], links)
    assert (found[1][0], found[0][0]) == ("Quince", "Ferry")


def test_so_many_terms_are_kept() -> None:
    links = [*to("quince", "apple", "pear", "plum"), *to("apple", "pear", "plum"), *to("plum", "pear")]
    assert _named([FRUITS, BOATS], links)[0][1:] == ("Quince", "Apple", "Plum")
    assert _named([FRUITS, BOATS], links, settings=Communities(label_terms=1))[0] == ("Quince", "Quince")
