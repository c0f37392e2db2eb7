"""Names for communities, taken from titles of their hubs and index pages, and from phrases they share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

import numpy as np

from ..address import INDEX_NAMES
from ..lexical.analyzer import fold, prose_analyzer
from ..model import DocId
from ..settings.settings import Communities
from .communities import Clusters, LinkGraph

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between
    both but by can could did do does doing done down during each few for from further get had has have
    having he her here hers him his how i if in into is it its itself just let make may me might more most
    must my new no nor not now of off on once one only or other our out over own same see she should so
    some such than that the their them then there these they this those through to too two under until up
    upon us use used using very via vs was we were what what's when where which while who whom why will
    with within without would you your yours
    """.split()  # noqa: SIM905  # a list would be one word a line
)
# Words that say of a page what kind of page it is; alone they name no subject.
FILLERS = frozenset(
    """
    add advanced api appendix article articles basics chapter common concepts config configuration
    contents daily default demo description details doc docs documentation entries example examples faq
    features file files general guide guides help home howto index info information intro introduction
    item items list main misc miscellaneous next note notes notation option options overview page pages
    part prerequisites properties readme reference related required requirements role roles section
    sections settings setup site specifications status step steps summary syntax title todo tips topic
    topics type types value values website welcome work
    """.split()  # noqa: SIM905
)
_MAX_CHARS = 60
_MIN_WORD = 3
# Of each community, the pages most linked to within it are tried.
_HUBS = 12
_PHRASE_WORDS = (2, 3)
_PHRASE_PAGES, _PHRASE_SHARE = 3, 0.15
# A phrase names less surely than a page whose subject the community is.
_PHRASE_WEIGHT = 0.8
# In a group of two every link reaches everybody.
_SMALL = 3
_WORD = re.compile(r"[^\W_](?:[\w'’.+#]*[\w+#])?")
_LEAD = re.compile(
    r"(?:using|introduction to|getting started with|working with|about|(?:an? )?overview of)"
    r"\s+(?:the\s+|an?\s+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Headed:
    """What documents contribute to names, by row of the link graph.

    That is their titles and headings, and the words too common to distinguish anything.
    """

    titles: Sequence[str]
    headings: Sequence[AbstractSet[str]]
    common: AbstractSet[str]

    @classmethod
    def of(
        cls,
        documents: Sequence[DocId],
        titles: Iterable[tuple[DocId, str]],
        headings: Iterable[tuple[DocId, str]],
        common: AbstractSet[str],
    ) -> Headed:
        """Return what titles and headings, given by document, contribute to names."""
        row = {document: at for at, document in enumerate(documents)}
        titled, headed = [""] * len(row), [set[str]() for _ in row]
        for document, title in titles:
            titled[row[document]] = title
            headed[row[document]].add(title)
        for document, heading in headings:
            headed[row[document]].add(heading)
        return cls(titled, headed, common)


@dataclass(frozen=True, slots=True)
class _Shares:
    """Counts over the whole graph: links to each document, pages below each place, pages with each phrase."""

    links_in: Sequence[int]
    below: Mapping[tuple[str, ...], int]
    at: Mapping[tuple[str, ...], int]
    phrase: Mapping[str, int]
    titles: Mapping[str, int]


def name_communities(
    clusters: Clusters, graph: LinkGraph, headed: Headed, settings: Communities
) -> dict[int, tuple[str, ...]]:
    """Return for each community its label, and then the closest runners-up, best first.

    A name is as good as it tells the community's pages from all others: the share of them that it stands for,
    times the share of what it stands for that belongs to the community. A page stands for those that link to
    it, an index for those below it, a phrase for those that have it in a title or heading; where several lead
    to one name, they count together. The label is empty if the best score is below ``label_confidence``.
    Larger communities choose first, and no label is given twice.
    """
    found = _candidates(clusters, graph, headed)
    taken: set[str] = set()
    names: dict[int, tuple[str, ...]] = {}
    for number in sorted(found, key=lambda each: (-len(clusters.members[each]), each)):
        sure = (name for name, score in found[number] if score >= settings.label_confidence)
        label = next((name for name in sure if fold(name) not in taken), "")
        taken.add(fold(label))
        names[number] = (label, *(name for name, _ in found[number][: settings.label_terms]))
    return names


def _candidates(clusters: Clusters, graph: LinkGraph, headed: Headed) -> dict[int, list[tuple[str, float]]]:
    """Return the names of each community with their scores, best first."""
    shares = _shares(graph, headed)
    within = _links_within(clusters, graph)
    found: dict[int, list[tuple[str, float]]] = {}
    for number, rows in clusters.members.items():
        missed: dict[str, float] = {}
        shown: dict[str, str] = {}
        for name, score in (
            *_hubs(rows, within, headed, shares),
            *_indexes(rows, graph, headed, shares),
            *_shared_phrases(rows, headed, shares),
        ):
            if _tells(name, headed.common):
                shown.setdefault(fold(name), name)
                missed[fold(name)] = missed.get(fold(name), 1.0) * (1.0 - score)
        scores = {name: round(1.0 - left, 9) for name, left in missed.items()}
        found[number] = [
            (shown[name], scores[name]) for name in sorted(scores, key=lambda n: (-scores[n], n))
        ]
    return found


def _shares(graph: LinkGraph, headed: Headed) -> _Shares:
    below: Counter[tuple[str, ...]] = Counter()
    at: dict[tuple[str, ...], int] = {}
    for row, document in enumerate(graph.documents):
        place = _place(document)
        below.update(_above(place))
        at[place] = row
    phrases = Counter(
        phrase for headings in headed.headings for phrase in {fold(each) for each in _phrases_of(headings)}
    )
    titles = Counter(fold(title) for title in headed.titles)
    return _Shares(graph.links_in.tolist(), below, at, phrases, titles)


def _links_within(clusters: Clusters, graph: LinkGraph) -> Sequence[int]:
    """Return how many documents of its own community link to each."""
    of = np.full(len(graph.documents), -1, dtype=np.int64)
    for number, rows in clusters.members.items():
        of[list(rows)] = number
    inside = of[graph.source] == of[graph.target]
    counts: list[int] = np.bincount(graph.target[inside], minlength=len(of)).tolist()
    return counts


def _hubs(
    rows: Sequence[int], within: Sequence[int], headed: Headed, shares: _Shares
) -> Iterator[tuple[str, float]]:
    """Yield the titles of the pages that most of the others link to."""
    others = max(_SMALL, len(rows) - 1)
    for row in sorted(rows, key=lambda each: (-within[each], each))[:_HUBS]:
        if within[row]:
            score = within[row] / others * within[row] / shares.links_in[row]
            yield _titled(row, headed), score / shares.titles[fold(headed.titles[row])]


def _indexes(
    rows: Sequence[int], graph: LinkGraph, headed: Headed, shares: _Shares
) -> Iterator[tuple[str, float]]:
    """Yield the titles of pages that have others of the community below them in the page tree."""
    here = Counter(place for row in rows for place in _above(_place(graph.documents[row])))
    for place, count in here.items():
        if count > 1 and (row := shares.at.get(place)) is not None:
            score = count / len(rows) * count / shares.below[place]
            yield _titled(row, headed), score / shares.titles[fold(headed.titles[row])]


def _shared_phrases(rows: Sequence[int], headed: Headed, shares: _Shares) -> Iterator[tuple[str, float]]:
    """Yield phrases that several of the pages have in a title or a heading."""
    written: dict[str, Counter[str]] = {}
    pages: Counter[str] = Counter()
    for row in rows:
        phrases = _phrases_of(headed.headings[row])
        pages.update({fold(phrase) for phrase in phrases})
        for phrase in phrases:
            written.setdefault(fold(phrase), Counter())[phrase] += 1
    for phrase, count in pages.items():
        if count >= _PHRASE_PAGES and count >= _PHRASE_SHARE * len(rows):
            shown = min(written[phrase], key=lambda each: (-written[phrase][each], each))
            yield shown, _PHRASE_WEIGHT * count / len(rows) * count / shares.phrase[phrase]


def _titled(row: int, headed: Headed) -> str:
    """Return a title without its opening words that come before the subject."""
    title = " ".join(headed.titles[row].split())
    return title[lead.end() :] if (lead := _LEAD.match(title)) and lead.end() < len(title) else title


def _tells(name: str, common: AbstractSet[str]) -> bool:
    """Return whether the name is short and has a word that is not a stop word, common, or a filler."""
    words = {fold(word) for word in _WORD.findall(name)}
    return len(name) <= _MAX_CHARS and any(
        len(word) >= _MIN_WORD
        and not word.isdigit()
        and word not in common
        and common.isdisjoint(prose_analyzer("en").expand(word))
        for word in words - STOP_WORDS - FILLERS
    )


def _place(document: DocId) -> tuple[str, ...]:
    """Return where a document is in the page tree; a dot in a name separates levels, as in Dendron.

    An index, a README and a note with the name of its folder stand for the folder.
    """
    collection, _, path = document.partition(":")
    *folders, name = PurePosixPath(path).with_suffix("").parts or ("",)
    is_folder = bool(folders) and (name.lower() in INDEX_NAMES or name.lower() == folders[-1].lower())
    return (collection, *folders) if is_folder else (collection, *folders, *name.split("."))


def _above(place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Return the place and all places above it."""
    return (place[:depth] for depth in range(1, len(place) + 1))


def _phrases_of(headings: AbstractSet[str]) -> set[str]:
    return {phrase for heading in headings for phrase in _phrases(heading)}


@lru_cache(maxsize=1 << 16)
def _phrases(heading: str) -> frozenset[str]:
    """Return the runs of two and three words that neither begin nor end with a stop word."""
    words = _WORD.findall(heading)
    runs = (words[at : at + count] for count in _PHRASE_WORDS for at in range(len(words) - count + 1))
    return frozenset(" ".join(run) for run in runs if STOP_WORDS.isdisjoint({fold(run[0]), fold(run[-1])}))
