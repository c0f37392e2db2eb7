"""Communities are followed from night to night by the documents they share, whatever their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from noctule.flows.report.topic_changes import RisingTerm, rising_terms, topic_changes


@dataclass
class _Tables:
    """The columns of a snapshot that these functions read."""

    tables: dict[str, pa.Table]

    def table(self, name: str, columns: list[str]) -> pa.Table:
        return self.tables[name].select(columns)


def _snapshot(members: dict[int, str], labels: dict[int, str]) -> Any:
    """Documents named by one letter each, by community."""
    documents = [(letter, number) for number, letters in members.items() for letter in letters]
    return _Tables(
        {
            "documents": pa.table(
                {
                    "doc_id": [name for name, _ in documents],
                    "community": pa.array([number for _, number in documents], pa.int32()),
                }
            ),
            "communities": pa.table(
                {
                    "community_id": list(members),
                    "label": [labels[number] for number in members],
                    "size": [len(letters) for letters in members.values()],
                }
            ),
        }
    )


def test_other_numbers_for_the_same_communities_are_no_change() -> None:
    before = _snapshot({0: "abcd", 1: "xyz"}, {0: "owls", 1: "bats"})
    now = _snapshot({1: "abcd", 0: "xyz"}, {1: "owls", 0: "bats"})
    found = topic_changes(before, now)
    assert (found.moved, found.new, found.gone, found.renamed, found.grown) == (0, (), (), (), ())


def test_a_topic_without_a_name_is_shown_by_its_number_and_another_number_is_no_new_name() -> None:
    before = _snapshot({0: "abcd", 1: "xyz"}, {0: "", 1: ""})
    now = _snapshot({1: "abcd", 0: "xyzn"}, {1: "owls", 0: ""})
    found = topic_changes(before, now)
    assert [(each.label_before, each.label) for each in found.renamed] == [("Topic 0", "owls")]
    assert [(each.label, each.now) for each in found.grown] == [("Topic 0", 4)]


def test_a_document_that_went_over_moved_and_a_new_one_did_not() -> None:
    before = _snapshot({0: "abcd", 1: "xyz"}, {0: "owls", 1: "bats"})
    now = _snapshot({0: "abc", 1: "xyzdn"}, {0: "owls", 1: "bats and mice"})
    found = topic_changes(before, now)
    assert found.moved == 1
    assert [(each.label, each.before, each.now) for each in found.grown] == [
        ("bats and mice", 3, 5),
        ("owls", 4, 3),
    ]
    assert [(each.label_before, each.label) for each in found.renamed] == [("bats", "bats and mice")]


def test_a_community_that_was_split_leaves_its_name_to_the_larger_part() -> None:
    before = _snapshot({0: "abcde", 1: "xy"}, {0: "owls", 1: "bats"})
    now = _snapshot({0: "abc", 1: "de"}, {0: "owls", 1: "young owls"})
    found = topic_changes(before, now)
    assert [each.label for each in found.new] == ["young owls"]
    assert [each.label for each in found.gone] == ["bats"]
    assert found.moved == 2


def test_rising_terms_go_by_how_much_they_rose_for_how_many_they_are() -> None:
    def terms(**passages: int) -> Any:
        surfaces = {"surface": ["Owls"], "terms": [["owl"]], "count": [9]}
        return _Tables(
            {
                "terms": pa.table(
                    {"term": list(passages), "passages": pa.array(passages.values(), pa.int32())}
                ),
                "surfaces": pa.table(surfaces),
            }
        )

    before = terms(bat=5, common=1000, falling=9)
    now = terms(bat=6, common=1003, falling=8, owl=4, x1=50)
    assert rising_terms(before, now) == (
        RisingTerm("Owls", 0, 4),
        RisingTerm("bat", 5, 6),
        RisingTerm("common", 1000, 1003),
    )
