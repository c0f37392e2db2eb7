"""Pages of a graph of Logseq: their heads, their blocks in the syntax of Org mode, and their references."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from noctule.pipeline.includes.logseq.config import GraphConfig, read_config
from noctule.pipeline.includes.logseq.page_heads import day_title
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.collection import Collection
from noctule.pipeline.source_files import FoundFile
from tests.processor_time import processor_seconds
from tests.site_builder import content_of

ID, OTHER = "64b8c1f0-1111-2222-3333-444455556666", "64b8c1f0-1111-2222-3333-444455557777"


def read(folder: Path, text: str, path: str = "pages/note.md", config: str = "{}") -> str:
    """The text of a page of a graph as it is indexed."""
    for name, content in (("logseq/config.edn", config), (path, text)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, "utf-8")
    found = FoundFile("graph", path, str(folder / path), len(text))
    return read_source(found, Collection(root=str(folder))).content.decode()


@pytest.mark.parametrize(
    ("path", "text", "head"),
    [
        ("pages/a b.md", "- x\n", '{"title": "a b"}'),
        ("pages/a___b.md", "- x\n", '{"title": "a/b"}'),
        ("pages/a%3Ab.md", "- x\n", '{"title": "a:b"}'),
        ("journals/2024_01_05.md", "- x\n", '{"title": "Jan 5th, 2024"}'),
        ("journals/2024_13_05.md", "- x\n", '{"title": "2024_13_05"}'),
        ("pages/2024_01_05.md", "- x\n", '{"title": "2024_01_05"}'),
        (
            "pages/a.md",
            "title:: Owls\nalias:: owl, [[the bird, of night]]\ntags:: #a, [[b c]]\nicon:: x\n- x\n",
            '{"title": "Owls", "aliases": ["owl", "the bird, of night"], "tags": ["a", "b c"]}',
        ),
        ("pages/a.md", "public:: false\n- x\n", '{"title": "a", "published": false}'),
        (
            "pages/a.md",
            "- tags:: b\n  title:: c\n- x\n",
            '{"title": "c", "tags": ["b"]}',
        ),
    ],
)
def test_a_page_has_the_name_and_the_properties_that_logseq_gives_it(
    path: str, text: str, head: str, tmp_path: Path
) -> None:
    assert read(tmp_path, text, path) == f"---json\n{head}\n---\n- x\n"


@pytest.mark.parametrize(
    "text",
    [
        "类型:: 书\npublic:: false\n- x\n",
        "a/b:: c\nPublic::  FALSE \n- x\n",
        ".a:: b\npublic:: false\n- x\n",
        "\n\npublic:: false\n\n- x\n",
        "tags:: a\n\npublic:: false\n- x\n",
        "# Heading\npublic:: [[false]]\n- x\n",
        "- a:: b\n\tpublic:: no\n- x\n",
        "---\ntitle: a\n---\npublic:: false\n- x\n",
        "---\ntitle: a\npublic: false\n---\n- x\n",
        "---\n- : &\n'public': \"false\"\ntitle: [\n---\n- x\n",
    ],
)
def test_a_page_that_says_anywhere_in_its_head_that_it_is_not_public_is_none(
    text: str, tmp_path: Path
) -> None:
    assert '"published": false}' in read(tmp_path, text).split("\n---\n")[0]


@pytest.mark.parametrize(
    "text",
    [
        "public:: true\n- public:: false\n",
        "- x\n- public:: false\n",
        "- ```\n  public:: false\n  ```\n",
        "---\npublic: true\n---\npublic: false\n",
    ],
)
def test_properties_of_other_blocks_and_code_keep_no_page_private(text: str, tmp_path: Path) -> None:
    assert "published" not in read(tmp_path, text)


def test_front_matter_that_is_never_closed_stays(tmp_path: Path) -> None:
    assert read(tmp_path, "---\ndraft: true\ntitle: a\n- x\n").startswith("---\ndraft: true")


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("{::comment}", "{:/comment}"),
        ("{% comment %}", "{% endcomment %}"),
        ("#+BEGIN_COMMENT", "#+END_COMMENT"),
        ("#+begin_comment", "never closed"),
    ],
)
def test_no_reference_shows_the_words_of_a_block_in_a_comment(begin: str, end: str, tmp_path: Path) -> None:
    written = f"- see (({ID}))\n{begin}\n- secret\n  id:: {ID}\n{end}\n- x\n"
    assert f"- see [[#^{ID}]]" in read(tmp_path, written)


def test_comments_within_other_blocks_are_left_out(tmp_path: Path) -> None:
    comment = "#+BEGIN_COMMENT\nsecret\n#+END_COMMENT\n"
    found = read(tmp_path, f"- y\n#+BEGIN_NOTE\na\n{comment}b\n#+END_NOTE\n- x\n")
    assert "secret" not in found and "COMMENT" not in found
    assert "> a" in found and "> b" in found
    assert "secret" not in read(tmp_path, f"- y\n#+BEGIN_NOTE\na\n{comment}- x\n")
    assert "secret" in read(tmp_path, f"- y\n#+BEGIN_SRC\n{comment}#+END_SRC\n- x\n")


def test_other_properties_are_shown_and_front_matter_stays(tmp_path: Path) -> None:
    assert read(tmp_path, "type:: [[bird]]\nid:: x\n\n- x\n").endswith(
        "\n---\n**type:** [[bird]]  \n\n\n- x\n"
    )
    assert read(tmp_path, "---\ntitle: a\n---\n- x\n") == "---\ntitle: a\n---\n- x\n"


def test_days_are_named_as_the_graph_names_them(tmp_path: Path) -> None:
    config = '{;; :journal/page-title-format "yyyy"\n :journal/page-title-format "EEEE, dd.MM.yyyy"}'
    assert '"Friday, 05.01.2024"' in read(tmp_path, "- x\n", "journals/2024_01_05.md", config)
    days = [datetime.date(2023, 3, day) for day in (1, 2, 3, 4, 11, 12, 13, 21)]
    assert [day_title(day, "do") for day in days] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st")
    ]
    assert day_title(days[0], "yy-M-d E 'of' MMMM") == "23-3-1 Wed of March"


@pytest.mark.parametrize(
    ("config", "hidden"),
    [
        ("{}", ()),
        ('{:hidden ["/a" "b;c.md"] ; "d"\n}', ("/a", "b;c.md")),
        ('{;:hidden ["a"]\n}', ()),
        ("{:hidden #{}}", None),
        ('{:hidden [(str "a")]}', None),
    ],
)
def test_what_a_graph_hides_is_read_or_not_known(config: str, hidden: tuple[str, ...] | None) -> None:
    assert read_config(config) == GraphConfig(hidden=hidden)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("- #+BEGIN_NOTE\n  a\n\n  b\n  #+END_NOTE\n- c\n", "- > [!note]\n  > a\n  >\n  > b\n\n- c\n"),
        ("#+begin_quote\na\n#+end_quote\n", ">\n> a\n"),
        ("- #+BEGIN_SRC py\n  #+BEGIN_TIP\n  x\n  #+END_SRC\n", "- ~~~py\n  #+BEGIN_TIP\n  x\n  ~~~\n"),
        ("- a\n- #+BEGIN_COMMENT\n  secret\n  #+END_COMMENT\n", "- a\n- \n"),
        ("- #+BEGIN_TIP\n  never closed\n", "- #+BEGIN_TIP\n  never closed\n"),
        (
            "- TODO [#A] a #b\n- DONE c\n- LATER d\n- TODOS\n",
            "- [ ] \\[A\\] a #b\n- [x] c\n- [ ] LATER d\n- TODOS\n",
        ),
        ("- a\n  SCHEDULED: <2024-03-01 Fri .+1d>\n", "- a\n  SCHEDULED: 2024-03-01 Fri .+1d\n"),
        ("- a\n  background-color:: red\n  card-repeats:: 1\n- b\n", "- a\n- b\n"),
        ("- {{cloze a}} {{youtube https://youtu.be/x}}\n", "- a ![](https://youtu.be/x)\n"),
        ("- {{tweet https://x.com/a}}\n", "- <https://x.com/a>\n"),
        ("- [a]([[b/c]])\n", "- [[b/c|a]]\n"),
        (
            "- ```\n  TODO [#A] {{cloze a}}\n  - TODO a\n  ```\n",
            "- ```\n  TODO [#A] {{cloze a}}\n  - TODO a\n  ```\n",
        ),
        (f"- (({ID}))\n", f"- ![[#^{ID}]]\n"),
        (f"- {{{{embed (({ID}))}}}}\n", f"- ![[#^{ID}]]\n"),
        (f"- See (({ID})).\n", f"- See [[#^{ID}]].\n"),
        (f"- [it]((({ID})))\n", f"- [[#^{ID}|it]]\n"),
        (f"- a\n  hl-page:: 1\n  id:: {ID}\n  hl-color:: red\n", f"- a   ^{ID}  \n"),
    ],
)
def test_blocks_are_shown_as_logseq_shows_them(written: str, shown: str, tmp_path: Path) -> None:
    text = read(tmp_path, written).partition("\n---\n")[2]
    assert [line.rstrip() for line in text.split("\n")] == [line.rstrip() for line in shown.split("\n")]


def test_a_reference_leads_to_the_block_on_its_page_and_shows_its_words() -> None:
    other = f"# Other\n\n- [ ] Sow *beans*\n  SCHEDULED: 2024-03-01 Fri ^{ID}\n"
    page = content_of(f"See [[#^{ID}]], [[#^{ID}|it]] and [[#^{OTHER}]].\n\n![[#^{ID}]]\n", other=other)
    assert f'href="other.html#%5E{ID}">Sow beans</a>, ' in page
    assert f'href="other.html#%5E{ID}">it</a>' in page
    assert "Sow <em>beans</em>" in page
    assert ">…</a>." in page
    assert OTHER not in page


@pytest.mark.parametrize(
    "piece",
    [
        "#+BEGIN_NOTE\n",
        "- #+BEGIN_A\n",
        "- ",
        "- TODO ",
        "a:: b\n",
        "[[",
        "[a]([[",
        "{{cloze ",
        " ",
        "SCHEDULED: <2",
        "((",
        "\\",
    ],
)
def test_a_long_page_costs_time_in_proportion_to_its_length(piece: str, tmp_path: Path) -> None:
    start = processor_seconds()
    read(tmp_path, (piece * 100_000)[:100_000])
    assert processor_seconds() - start < 5


@pytest.mark.parametrize("piece", [":hidden [", '"', ":hidden", ";", '"\\', ":journal/page-title-format "])
def test_long_settings_cost_time_in_proportion_to_their_length(piece: str) -> None:
    start = processor_seconds()
    read_config((piece * 60_000)[:60_000])
    assert processor_seconds() - start < 2
