"""Marks of the field become HTML on the page and plain words in the index."""

from __future__ import annotations

import pytest

from noctule.pipeline.parse.markdown.inline import read_inline
from noctule.pipeline.parse.markdown.syntax import markdown_parser
from tests.processor_time import processor_seconds


def html(text: str) -> str:
    return str(markdown_parser().render(text)).strip()


def words(text: str) -> str:
    return " ".join(
        read_inline(token.children).text for token in markdown_parser().parse(text) if token.type == "inline"
    ).strip()


@pytest.mark.parametrize(
    ("text", "shown", "indexed"),
    [
        ("a ==marked *word*== b", "a <mark>marked <em>word</em></mark> b", "a marked word b"),
        ("x==1 and y==2", "x==1 and y==2", "x==1 and y==2"),
        ("no :x: and 1:2:3", "no \u274c and 1:2:3", "no \u274c and 1:2:3"),
        ("a == b == c", "a == b == c", "a == b == c"),
        ("H~2~O and x^2^", "H<sub>2</sub>O and x<sup>2</sup>", "H2O and x2"),
        ("++windows+slash++", "<kbd>Win</kbd>+<kbd>/</kbd>", "Win+/"),
        ("++ctrl+alt+del++", "<kbd>Ctrl</kbd>+<kbd>Alt</kbd>+<kbd>Del</kbd>", "Ctrl+Alt+Del"),
        ('++"My Key"++ ++page-up++', "<kbd>My Key</kbd> <kbd>Page Up</kbd>", "My Key Page Up"),
        ('++ctrl+"My Key"+"+"++', "<kbd>Ctrl</kbd>+<kbd>My Key</kbd>+<kbd>+</kbd>", "Ctrl+My Key++"),
        ("C++ and G++ and i++ + ++j", "C++ and G++ and i++ + ++j", "C++ and G++ and i++ + ++j"),
        ("{++new++}{--old--}{>>note<<}.", "<ins>new</ins><del>old</del>.", "newold."),
        ("{~~old~>new~~}", "<del>old</del><ins>new</ins>", "oldnew"),
        (":rocket: :material-check: :nosuch:", "🚀 :nosuch:", "🚀 :nosuch:"),
        ("10:30:45 and a:b:c", "10:30:45 and a:b:c", "10:30:45 and a:b:c"),
        ("[b](b.md){ .md-button target=_blank } c", '<a href="b.md" class="md-button">b</a> c', "b c"),
        ("[a *b*]{.x} [c]{1 2} [d] {.e}", '<span class="x">a <em>b</em></span> [c]{1 2} [d] {.e}',
         "a b [c]{1 2} [d] {.e}"),
        ("**b**{.x} text {.y} {a: 1}", "<strong>b</strong> text {.y} {a: 1}", "b text {.y} {a: 1}"),
        ("Text.\n{: .note }", "Text.\n", "Text."),
        ("[=75% \"75%\"] and [= 1/4 'A *b*']{: .x}", "75% and A *b* (1/4)", "75% and A *b* (1/4)"),
        ("`f(x){:js}` `{:js}` `a{:.b} c`", "<code>f(x)</code> <code>{:js}</code> <code>a{:.b} c</code>",
         "f(x) {:js} a{:.b} c"),
        ("[=5%] [=75] [=a b] `[=5%]`", "5% [=75] [=a b] <code>[=5%]</code>", "5% [=75] [=a b] [=5%]"),
    ],
)  # fmt: skip
def test_a_mark_is_shown_and_indexed(text: str, shown: str, indexed: str) -> None:
    assert html(text) == f"<p>{shown}</p>"
    assert words(text) == indexed


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ('??? note "T"\n    B.\n', '<details class="callout callout-note">'),
        ('???+ note "T"\n    B.\n', '<details class="callout callout-note" open="">'),
        ("> [!note]- T\n> B.\n", '<details class="callout callout-note">'),
        ("> [!note]+ T\n> B.\n", '<details class="callout callout-note" open="">'),
        ("::: details T\nB.\n:::\n", '<details class="callout callout-details">'),
    ],
)
def test_a_box_that_folds_is_a_details_element(text: str, opening: str) -> None:
    shown = "".join(html(text).split("\n"))
    assert shown == f'{opening}<summary class="callout-title">T</summary><p>B.</p></details>'
    quoted = "".join(f"> {line}\n" for line in text.splitlines())
    nested = html(f"> [!tip] Out\n> Out.\n>\n{quoted}\nAfter.")
    assert nested.count("<details") == nested.count("</details>") == 1


@pytest.mark.parametrize(
    ("text", "opening", "title"),
    [
        ("> [!quote|left] T\n> B.", '<blockquote class="callout callout-quote">', "T"),
        (
            "> [!multi-column|3 a,b]\n> B.",
            '<blockquote class="callout callout-multi-column">',
            "Multi column",
        ),
        ("> [!todo|x]- \n> B.", '<details class="callout callout-todo">', "Todo"),
    ],
)
def test_metadata_of_a_callout_is_not_shown(text: str, opening: str, title: str) -> None:
    shown = "".join(html(text).split("\n"))
    assert shown.startswith(opening) and f'class="callout-title">{title}</' in shown and "[!" not in shown


def test_an_image_keeps_its_width() -> None:
    assert html('![a](x.png){ width="300" .right onclick="x" }') == (
        '<p><img src="x.png" alt="a" width="300" class="right" /></p>'
    )


def test_abbreviations_are_explained_where_they_stand_and_not_defined_on_the_page() -> None:
    text = 'HTML and XHTML.\n\n*[HTML]: Hyper Text\n*[W3C]: A "body"\n'
    assert html(text) == '<p><abbr title="Hyper Text">HTML</abbr> and XHTML.</p>'
    assert words(text) == "HTML and XHTML."


@pytest.mark.parametrize(
    "piece",
    ["==", "++", "{++", "{.a", ":a", "==a", "++a+", "{a=b ", "~a", "^a", "*[A]: b\n", '[=5% "', "[=5% '"],
)
def test_a_long_run_of_marks_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    markdown_parser().parse(piece * 5_000)
    assert processor_seconds() - start < 5


def test_a_long_gap_in_a_heading_costs_time_in_proportion_to_its_length() -> None:
    start = processor_seconds()
    markdown_parser().parse(f"# a{' ' * 60_000}b\n")
    assert processor_seconds() - start < 2


def test_items_of_lists_of_tasks_have_boxes() -> None:
    page = markdown_parser().render("- [ ] a\n- [X] *b*\n- [ ]\n- [x]c\n\n1. - [x] d\n2. e\n")
    box = '<input class="task-list-item-checkbox" {}disabled="disabled" type="checkbox">'
    ticked = box.format('checked="checked" ')
    assert page == (
        '<ul class="contains-task-list">\n'
        f'<li class="task-list-item">{box.format("")} a</li>\n'
        f'<li class="task-list-item">{ticked} <em>b</em></li>\n<li>[ ]</li>\n<li>[x]c</li>\n</ul>\n'
        '<ol>\n<li>\n<ul class="contains-task-list">\n'
        f'<li class="task-list-item">{ticked} d</li>\n</ul>\n</li>\n<li>e</li>\n</ol>\n'
    )


def test_a_long_list_of_tasks_costs_time_in_proportion_to_its_length() -> None:
    start = processor_seconds()
    markdown_parser().render("- [ ] a\n" * 8_000)
    assert processor_seconds() - start < 5
