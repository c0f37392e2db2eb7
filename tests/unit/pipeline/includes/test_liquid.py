"""The tags of Liquid become what Jekyll and GitBook make of them; those in code stay."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from noctule.pipeline.includes.expand import ExpandedText, IncludedFile, NotIncluded, expand
from noctule.pipeline.includes.project import Context, Project
from tests.processor_time import processor_seconds

SITE = {"title": "Owls", "baseurl": "/owls", "url": "https://example.org", "nested": {"deep": 3}}
FILES = {
    "_includes/note.html": (
        '---\nx: y\n---\n<p class="{{ include.class }}">{{ include.text }} {{ site.title }}</p>\n'
    ),
    "_includes/grid.html": "<div>\n\n    <p>{{ include.text }}</p>\n\n    {% include note.html %}\n  - a\n",
    "_includes/shown.html": "<pre>\n    <b>\n</pre>",
    "_includes/code.html": "  <p>a</p>\n```\n    <b>\n```\n<textarea>\n  <b>\n</textarea>\n  <p>b</p>\n",
    "_includes/list.html": "- a\n  - b\n    <b>x</b>\n\n  <i>in item</i>\n\n<p>c</p>\n",
    "_includes/loop.html": "{% include loop.html %}",
    "part.md": "A part of {{ page.title }}.\n",
    "../.gitbook/includes/tip.md": "A tip.\n",
}
JEKYLL = Context(Project("/docs", frozenset({"jekyll"}), SITE), {"title": "Barn"}, "/docs/page.md")
ELSEWHERE = Context(Project("/docs"), {"title": "Barn"}, "/docs/page.md")


def expanded(text: str, context: Context = JEKYLL, files: Mapping[str, str] = FILES) -> ExpandedText:
    def find(target: str, _included_by: str) -> IncludedFile:
        if target not in files:
            raise NotIncluded("there is no such file")
        return IncludedFile(f"/docs/{target}", files[target])

    return expand(text, "/docs/page.md", find, 100_000, context)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("[x]({% link _docs/a b.md %}#c)", "[x](/_docs/a%20b.md#c)"),
        ("[x]({{ site.baseurl }}{% link a.md %})", "[x](/a.md)"),
        ("[x]({% post_url 2020-01-02-owl %})", "[x](/_posts/2020-01-02-owl)"),
        ("[x]({{ site.url }}{{ site.baseurl }}/a)", "[x](/a)"),
        ("[x]: {{ site.baseurl }}/a", "[x]: /a"),
        ("<a href=\"{{ '/a' | relative_url }}\">", '<a href="/a">'),
        ("{{ site.baseurl }} {{ '/a' | relative_url }}", "/owls /owls/a"),
        ("{{ site.title }}, {{ site.nested.deep }}, {{ page.title | upcase }}", "Owls, 3, BARN"),
        ("{{ page.gone | default: 'none' }}", "none"),
        ("{%- assign a = 'x' -%}{{ a | append: 'y' }}", "xy"),
        ("{% capture a %}b{% endcapture %}{{ a }}", "b"),
        ("{% include note.html class='k' text=\"T\" %}", '<p class="k">T Owls</p>'),
        ("{% include note.html\nclass='k'\n  text=\"T\"\n%}", '<p class="k">T Owls</p>'),
        ("{% include note.html class=page.title %}", '<p class="Barn"> Owls</p>'),
        ("  {% include_relative part.md %}", "  A part of Barn."),
        ('{% include "../.gitbook/includes/tip.md" %}', "A tip."),
        ("{% include grid.html text='T' %}", '<div>\n\n<p>T</p>\n\n<p class=""> Owls</p>\n  - a'),
        ("{% include shown.html %}", "<pre>\n    <b>\n</pre>"),
        ("{% include code.html %}", "<p>a</p>\n```\n    <b>\n```\n<textarea>\n  <b>\n</textarea>\n<p>b</p>"),
        ("{% include list.html %}", "- a\n  - b\n    <b>x</b>\n\n  <i>in item</i>\n\n<p>c</p>"),
        ("{% highlight ruby linenos %}\nputs {{ 1 }}\n{% endhighlight %}", "\n```ruby\nputs {{ 1 }}\n```\n"),
        ("{% raw %}{{ x }} `{{ y }}`{% endraw %}", "\\{{ x }} `{{ y }}`"),
        ("{% comment %}secret {% link a.md %}{% endcomment %}{% # secret %}", ""),
        ("`{% link a.md %}` and ``{{ site.title }}``", "`{% link a.md %}` and ``{{ site.title }}``"),
        ("```\n{{ site.title }} {% raw %}{{ x }}{% endraw %}\n```", "```\n{{ site.title }} {{ x }}\n```"),
        ("{% katex %}x^2{% endkatex %}", "x^2"),
        ("{{ 'a\\b' }", "{{ 'a\\b' }"),
    ],
)
def test_a_tag_becomes_what_it_stands_for(given: str, shown: str) -> None:
    found = expanded(given)
    assert (found.text, found.notes) == (shown, ())


@pytest.mark.parametrize(
    ("given", "shown", "note"),
    [
        ("a\n{% if page.x %}b{% else %}c{% endif %}", "a\nbc", "line 2: {% if %} is not evaluated"),
        ("{% for p in site.posts %}{{ p.title }}{% endfor %}", "", "line 1: {% for %} is not evaluated"),
        (
            '{% for p in a %}<a href="{{ p.url }}">x</a>{% for q in p %}{{ q }}{% endfor %}y{% endfor %}z',
            "z",
            "{% for %} is not evaluated: what it repeats is left out",
        ),
        (
            "{% for p in a %}x {% for q in b %}{% if q.c %}y{% endif %}{% endfor %}{% endfor %}z",
            "x z",
            "{% for %} is not evaluated: what it encloses is shown",
        ),
        (
            "{% tablerow p in a %}{% include note.html text=p %}{% endtablerow %}z",
            "z",
            "what it repeats is left out",
        ),
        ("{% for p in a %}{{ p }}", "", "{% for %} is not evaluated: what it encloses is shown"),
        ("{% unheard-of x %}", "", "line 1: {% unheard-of %} is not known"),
        ("{{ site.gone }}", "", "line 1: {{ site.gone }} has no value"),
        ("{% include gone.html %}", "", "'_includes/gone.html' is not included: there is no such file"),
        ("{% include loop.html %}", "", "the file includes itself"),
        ("{% raw %}x", "x", "{% raw %} is never closed"),
    ],
)
def test_what_cannot_be_followed_goes_with_a_remark(given: str, shown: str, note: str) -> None:
    found = expanded(given)
    assert found.text == shown
    assert note in found.notes[0]


def test_outside_a_folder_of_jekyll_only_what_is_unmistakable_is_touched() -> None:
    text = "{{ id }} {{ site.title }} {{cssxref('a')}} {% link a.md %} {{ page.title }}"
    assert expanded(text, ELSEWHERE).text == "{{ id }} {{ site.title }} {{cssxref('a')}} /a.md Barn"


def test_a_page_with_loops_is_a_template_whatever_its_tool() -> None:
    found = expanded("{% for a in b %}\n- {{ c.name }}\n{% endfor %}\n`{{ c }}`", ELSEWHERE)
    assert (found.text, len(found.notes)) == ("\n- \n\n`{{ c }}`", 2)
    assert expanded("`{% for a in b %}` {{ c }}", ELSEWHERE).text == "`{% for a in b %}` {{ c }}"


def test_prose_about_loops_stays_outside_a_folder_of_jekyll() -> None:
    text = "Use {% for host in hosts %} with {{ host }}.\n\n# Important\n\nClose with {% endfor %}."
    assert "# Important" in expanded(text, ELSEWHERE).text
    assert expanded(text).text == "Use ."


@pytest.mark.parametrize("tag", ["{% link a.md %}", "{% post_url a %}", "{% cycle 'a', \"a\" %}"])
def test_a_loop_that_does_not_use_what_it_goes_over_is_shown(tag: str) -> None:
    assert "Text" in expanded(f"{{% for a in b %}}Text {tag}{{% endfor %}}").text


def test_titles_of_code_are_left_as_they_are_outside_of_jekyll() -> None:
    text = '```py title="{% yield a %}{{ b }}.py"\nx\n```\n'
    assert expanded(text, ELSEWHERE).text == text


def test_hints_and_tabs_of_gitbook_become_boxes() -> None:
    text = (
        '{% hint style="warning" %}\nMind.\n{% endhint %}\n'
        '{% tabs %}\n{% tab title="One" %}\n1\n{% endtab %}\n{% endtabs %}'
    )
    lines = [line for line in expanded(text, ELSEWHERE).text.splitlines() if line]
    assert lines == ["//////// warning", "Mind.", "////////", "//////// tab | One", "1", "////////"]


@pytest.mark.parametrize(
    "piece",
    [
        "{%",
        "{{ ",
        "{% raw %}",
        "{% if x %}",
        "{% endraw %}",
        '{% include a x="',
        "`{%",
        "{% comment %}",
        "{%\n",
    ],
)
def test_a_long_run_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    expanded((piece * 80_000)[:80_000])
    assert processor_seconds() - start < 5


def test_tags_in_comments_are_nobodys_outside_of_jekyll() -> None:
    """Other tools than the one that shows a folder may read them there."""
    text = '<!-- {% include "gone.md" %} -->\n`<!--` [x]({% link a.md %})\n<!-- {% if a %} -->\n'
    found = expanded(text, ELSEWHERE)
    assert found.text == text.replace("{% link a.md %}", "/a.md") and not found.notes
    assert "is not included" in expanded(text).notes[0]
