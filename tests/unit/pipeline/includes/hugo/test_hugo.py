"""Hugo's shortcodes become boxes, links, figures and code; those in code and escaped ones are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.discover import list_files
from noctule.pipeline.includes.expand import ExpandedText, IncludedFile, NotIncluded, expand
from noctule.pipeline.includes.hugo.page_names import PageNames
from noctule.pipeline.includes.project import Context, Project, context_of
from noctule.pipeline.includes.source import read_source
from noctule.pipeline.settings.collection import Collection
from tests.processor_time import processor_seconds

FILES = {
    "part.md": "---\ntitle: x\n---\nA part.\n",
    "remark.md": "---\n# Do not remove these lines.\n---\nOf a remark.\n",
    "a.go": "package a\n",
}


def expanded(text: str, root: str = "/docs", name: str = "page.md") -> ExpandedText:
    def find(target: str, _included_by: str) -> IncludedFile:
        if target not in FILES:
            raise NotIncluded("there is no such file")
        return IncludedFile(f"{root}/{target}", FILES[target])

    path = f"{root}/{name}"
    context = Context(
        Project(root, pages=PageNames(root) if root else None),
        {"title": "Barn", "params": {"v": "1.2"}},
        path,
    )
    return expand(text, path, find, 100_000, context)


def lines(text: str) -> list[str]:
    return [line for line in expanded(text).text.splitlines() if line]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ('{{< include "part.md" >}}', "A part."),
        ('{{% include "remark.md" %}}', "Of a remark."),
        ('{{% readfile file="part.md" %}}', "A part."),
        ('{{< readfile file="a.go" code="true" lang="go" >}}', "```go\npackage a\n```"),
        ('{{< readfile file="a.go" lang="go" >}}', "```go\npackage a\n```"),
        ('{{< readfile file="part.md" code="false" lang="md" >}}', "A part."),
        ("{{< param title >}} {{< param v >}}", "Barn 1.2"),
        ("{{< youtube abc-1 >}}", "<https://www.youtube.com/watch?v=abc-1>"),
        ("{{< gist user 123 >}}", "<https://gist.github.com/user/123>"),
        ('{{< figure src="/a.png" alt="An owl" width="300px" >}}', "![An owl](/a.png){width=300}"),
        ('{{< figure src="a.png" caption="Owls" >}}', "![Owls](a.png)\n\n*Owls*"),
        ("{{</* note */>}}", "\\{{< note >}}"),
        ("`{{</* note */>}}` `{{< note >}}`", "`{{< note >}}` `{{< note >}}`"),
        ("```\n{{%/* note */%}} {{< note >}}\n```", "```\n{{% note %}} {{< note >}}\n```"),
        ('[x]({{< ref "https://example.org/" >}})', "[x](https://example.org/)"),
        ('[x]({{< relref "gone.md#a" >}})', "[x](gone.md#a)"),
        ('{{< button href="https://e.org" >}}Go{{< /button >}}', "[Go](https://e.org)"),
        ("{{< comment >}}secret{{< /comment >}}", ""),
        ('{{< tweet user="SanDiegoZoo" id="14531" >}}', "<https://x.com/SanDiegoZoo/status/14531>"),
        ("{{< x_simple 877500564405444608 >}}", "<https://x.com/i/status/877500564405444608>"),
        ('{{% children style="h2" description="true" %}}', "\n\n<!-- pages below -->\n\n"),
        ("{{< instagram abc >}}", "<https://www.instagram.com/p/abc/>"),
        ('a {{< badge "new" >}} {{< badge content="b" >}} {{< kbd "Ctrl" >}}', "a new b Ctrl"),
        ('{{< hextra/hero-button text="Start" link="docs" >}}', "[Start](docs)"),
        (
            '{{< cards >}}\n    {{< card link="a" title="A" subtitle="B" image="/c.png" >}}\n{{< /cards >}}',
            "\n- ![A](/c.png) **[A](a)** — B\n",
        ),
        (
            '{{< filetree/folder name="a" >}}\n  {{< filetree/file name="b" >}}\n{{< /filetree/folder >}}',
            "- `a`\n  - `b`\n",
        ),
        (
            '{{< figure src="a.png" link="https://e.org" caption="C" attr="Ada" attrlink="b" >}}',
            "[![C](a.png)](https://e.org)\n\n*C [Ada](b)*",
        ),
        ("{{< imgproc a.png Fit >}}\nA *caption*.\n{{< /imgproc >}}", "![](a.png)\n\nA *caption*."),
    ],
)
def test_a_shortcode_becomes_what_it_stands_for(given: str, shown: str) -> None:
    found = expanded(given)
    assert (found.text, found.notes) == (shown, ())


def test_highlighted_code_is_a_fence_with_its_marked_lines() -> None:
    text = '{{< highlight go "linenos=table,hl_lines=1 3" >}}\n{{ x }}\n{{< /highlight >}}'
    assert expanded(text).text == '\n```go hl_lines="1 3"\n{{ x }}\n```\n'


def test_a_themes_own_shortcode_for_code_is_code() -> None:
    text = "{{< code-toggle file=hugo >}}\n[a]\nb = 1\n{{< /code-toggle >}}"
    assert expanded(text).text == "\n```\n[a]\nb = 1\n```\n"
    text = '{{< my/code file="layouts/a.html" >}}\n{{ .Title }}\n{{< /my/code >}}'
    assert expanded(text).text == "\n```html\n{{ .Title }}\n```\n"
    assert "kept" in expanded("{{< encoder >}}kept{{< /encoder >}}").text


def test_notes_and_tabs_become_boxes_that_nest() -> None:
    text = (
        '{{% note %}}\nA\n{{% /note %}}\n{{< tabs >}}{{< tab "One" >}}1\n'
        '{{< alert color="warning" title="T" >}}'
        "W{{< /alert >}}{{< /tab >}}{{< /tabs >}}"
    )
    assert lines(text) == [
        *("//////// note", "A", "////////"),
        *("//////// tab | One", "1", "///////// warning | T", "W", "/////////", "////////"),
    ]


def test_tabs_are_named_by_their_group_and_hold_code_in_docsy() -> None:
    text = '{{< tabs items="A, B" >}}{{< tab >}}1{{< /tab >}}{{< tab name="C" >}}2{{< /tab >}}{{< /tabs >}}'
    assert [line for line in lines(text) if "tab" in line] == ["//////// tab | A", "//////// tab | C"]
    text = '{{< tabpane lang="go" >}}{{% tab header="No" disabled=true /%}}\n'
    text += '{{< tab header="X" >}}\na *b*\n{{< /tab >}}'
    assert lines(text + '{{< tab "Y" "js" >}}c{{< /tab >}}{{< /tabpane >}}') == [
        *("//////// tab | X", "```go", "a *b*", "```", "////////"),
        *("//////// tab | Y", "```js", "c", "```", "////////"),
    ]
    text = '{{< tabpane text=true >}}{{% tab header="X" %}}\na *b*\n{{% /tab %}}{{< /tabpane >}}'
    assert lines(text) == ["//////// tab | X", "a *b*", "////////"]


def test_an_image_is_found_by_the_beginning_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "a/images").mkdir(parents=True)
    for name in ("a/index.md", "a/owl.txt", "a/images/owl-1.png"):
        (tmp_path / name).write_text("x")
    found = expanded('{{< imgproc owl Fit "4x4" >}}{{< /imgproc >}}', str(tmp_path), "a/index.md")
    assert found.text.strip() == "![](images/owl-1.png)"


def test_an_image_at_a_path_from_the_top_is_not_looked_for_beside_the_page(tmp_path: Path) -> None:
    found = expanded('{{< figure src="/images/owl" >}}', str(tmp_path), "a/index.md")
    assert found.text == "![](/images/owl)"


def test_the_path_of_an_image_with_spaces_is_an_address(tmp_path: Path) -> None:
    (tmp_path / "owl at night.png").write_bytes(b"")
    assert expanded("{{< img owl >}}", str(tmp_path)).text == "![](owl%20at%20night.png)"


def test_a_sites_own_shortcodes_and_parameters_are_filled_in(tmp_path: Path) -> None:
    templates = {
        "version": "<b>{{ site.Params.Version }}</b>{{/* not shown */}}\n",
        "beta": '<div title="{{ .Get "t" | safeHTML }}"><p>{{ .Page.Title }}</p>'
        "{{ .Inner | markdownify }}</div>",
        "key": "[{{ .Get 0 }}]",
        "decides": "{{ if .Get 0 }}x{{ end }}",
        "x": "{{ .Get 0 }} times",
        "twice": "{{ .Inner }}{{ .Inner }}",
    }
    for name, template in templates.items():
        (tmp_path / "layouts/shortcodes").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"layouts/shortcodes/{name}.html").write_text(template)
    (tmp_path / "hugo.toml").write_text('[params]\nversion = "2.1"\n[params.a]\nB = "c"\n')
    (tmp_path / "content").mkdir()
    text = (
        "+++\ntitle = 'T'\n+++\nv{{< version >}} {{< param version >}} {{< param a.b >}} {{< key A >}}"
        '{{< beta t="u" >}}x{{< /beta >}} {{< decides 1 >}}{{< twice >}}y{{< /twice >}} {{< x 5 >}}'
    )
    path = str(tmp_path / "content/a.md")
    context = context_of(text, path, [tmp_path / "content", tmp_path])
    found = expand(text, path, lambda *_: IncludedFile("", ""), 100_000, context)
    assert found.text.partition("+++\n")[2].partition("+++\n")[2] == (
        'v<b>2.1</b> 2.1 c [A]<div title="u"><p>T</p>x</div> xy 5 times'
    )
    assert [note.split()[4] for note in found.notes] == ["twice"]
    outside = expand(
        text, path, lambda *_: IncludedFile("", ""), 1_000, context_of(text, path, [tmp_path / "content"])
    )
    assert "2.1" not in outside.text


@pytest.mark.parametrize("place", ["themes/t", "_vendor/github.com/owls/t"])
def test_shortcodes_of_themes_and_vendored_modules_are_filled_in(tmp_path: Path, place: str) -> None:
    """The site's own of the same name comes first."""
    for folder, name, template in (
        (place, "new", "[new in {{ .Get 0 }}]"),
        (place, "own", "[theme]"),
        (".", "own", "[site]"),
    ):
        (tmp_path / folder / "layouts/shortcodes").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / f"layouts/shortcodes/{name}.html").write_text(template)
    (tmp_path / "hugo.toml").write_text("")
    text = "{{< new 2.1 >}} {{< own >}}\n"
    found = expand(text, "a.md", lambda *_: IncludedFile("", ""), 1_000, context_of(text, "a.md", [tmp_path]))
    assert found.text.strip() == "[new in 2.1] [site]" and not found.notes


def test_what_a_template_shows_as_it_is_written_is_code(tmp_path: Path) -> None:
    (tmp_path / "layouts/shortcodes").mkdir(parents=True)
    template = '<p>{{ index .Params 0 }}</p>\n<pre class="x">\n<code>{{- .Inner | string -}}</code></pre>\n'
    (tmp_path / "layouts/shortcodes/output.html").write_text(template)
    (tmp_path / "hugo.toml").write_text("")
    text = '{{< output "a.html" >}}\n<b>{{ .Title }}</b>\n{{< /output >}}\n'
    found = expand(text, "a.md", lambda *_: IncludedFile("", ""), 1_000, context_of(text, "a.md", [tmp_path]))
    assert found.text.strip() == "```\n<b>{{ .Title }}</b>\n```" and not found.notes


@pytest.mark.parametrize("shown", [".Inner | markdownify", ".Inner | .Page.RenderString"])
def test_what_a_template_renders_in_pre_is_no_code(tmp_path: Path, shown: str) -> None:
    (tmp_path / "layouts/shortcodes").mkdir(parents=True)
    (tmp_path / "layouts/shortcodes/term.html").write_text(f"<pre>{{{{ {shown} }}}}</pre>\n")
    (tmp_path / "hugo.toml").write_text("")
    text = "{{< term >}}**x**{{< /term >}}\n"
    found = expand(text, "a.md", lambda *_: IncludedFile("", ""), 1_000, context_of(text, "a.md", [tmp_path]))
    assert "**x**" in found.text and "```" not in found.text


def test_what_a_template_does_not_show_is_not_shown(tmp_path: Path) -> None:
    """Hugo's own documentation has a ``todo`` of this kind, and rclone's a ``rem`` that is an empty file."""
    (tmp_path / "layouts/shortcodes").mkdir(parents=True)
    (tmp_path / "layouts/shortcodes/todo.html").write_text("{{ if .Inner }}{{ end }}")
    (tmp_path / "layouts/shortcodes/rem.html").write_text("")
    (tmp_path / "hugo.toml").write_text("")
    text = "A {{< rem FAQLINK >}}b.\n\n{{< todo >}}\nFor {{< rem x >}} us.\n{{< /todo >}}\n\n"
    text += "C {{< rem >}}x{{< /rem >}}\n"
    found = expand(text, "a.md", lambda *_: IncludedFile("", ""), 1_000, context_of(text, "a.md", [tmp_path]))
    assert found.text.split() == ["A", "b.", "C"] and not found.notes


# As in Hugo's own documentation, where tables of media types and templates are made so.
_TABLE = """{{ $list := (index (index .Site.Data.docs (index .Params 0)) (index .Params 1)) }}
{{ $fields := after 2 .Params }}
<table>{{ range $list }}{{ range $k, $v := . }}{{ $.Scratch.Set $k $v }}{{ end }}
<tr>{{ range $fields }}<td>{{ $.Scratch.Get . }}</td>{{ end }}</tr>{{ end }}</table>
"""


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("data/docs.json", '{"media": {"types": [{"type": "a/b", "suffixes": ["b", "c"]}]}}'),
        ("data/docs/media.toml", '[[types]]\ntype = "a/b"\nsuffixes = ["b", "c"]\n'),
        ("data/docs/media/types.yaml", "- type: a/b\n  suffixes: [b, c]\n"),
    ],
)
def test_a_template_may_use_the_data_of_the_site(tmp_path: Path, file: str, text: str) -> None:
    for name, content in ((file, text), ("layouts/shortcodes/datatable.html", _TABLE), ("hugo.toml", "")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    text = '{{< datatable "media" "types" "type" "suffixes" >}}\n'
    found = expand(text, "a.md", lambda *_: IncludedFile("", ""), 1_000, context_of(text, "a.md", [tmp_path]))
    assert "<td>a/b</td><td>[b c]</td>" in found.text and not found.notes


def test_data_of_the_site_is_not_looked_for_among_the_pages(tmp_path: Path) -> None:
    """A section may be called ``data``; a name from a page may be longer than that of any file."""
    template = "{{ .Site.Data.owls.a }} {{ index .Site.Data (.Get 0) }}"
    files = {"hugo.toml": "", "data/owls.json": '{"a": "Barn"}', "content/data/_index.md": "# D\n"}
    for name, content in {**files, "layouts/shortcodes/owl.html": template}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    text = f'{{{{< owl "{"x" * 300}" >}}}} {{{{< {"y" * 300} >}}}} end'
    context = context_of(text, "a.md", [tmp_path / "content", tmp_path])
    found = expand(text, "a.md", lambda *_: IncludedFile("", ""), 10_000, context)
    assert found.text.split() == ["Barn", "end"]


@pytest.mark.parametrize(
    "templates",
    [
        {"item": '{{ .Page.Scratch.Set "x" .Inner }}', "out": '{{ .Page.Scratch.Get "x" }}'},
        {
            "item": '{{ .Scratch.Set "x" slice }}{{ $y := .Inner }}'
            '{{ range .Scratch.Get "x" }}{{ . }}{{ end }}',
            "out": '{{ .Parent.Scratch.Add "x" (.Get 0) }}',
        },
    ],
)
def test_what_another_shortcode_shows_is_not_lost(tmp_path: Path, templates: dict[str, str]) -> None:
    (tmp_path / "layouts/shortcodes").mkdir(parents=True)
    (tmp_path / "hugo.toml").write_text("")
    for name, template in templates.items():
        (tmp_path / f"layouts/shortcodes/{name}.html").write_text(template)
    text = "{{< item >}}Owls{{< out >}}{{< /item >}}"
    found = expand(text, "a.md", lambda *_: IncludedFile("", ""), 1_000, context_of(text, "a.md", [tmp_path]))
    assert "Owls" in found.text


def test_a_filled_template_takes_no_text_beside_it_for_html(tmp_path: Path) -> None:
    (tmp_path / "layouts/shortcodes").mkdir(parents=True)
    (tmp_path / "layouts/shortcodes/new.html").write_text("<button>\n<i>{{ .Get 0 }}</i>\n</button>\n")
    (tmp_path / "hugo.toml").write_text("")
    text = "{{< new 1 >}} **Note**\n\n- a {{< new 2 >}}\n\n  {{< new 3 >}}\n"
    found = expand(text, "a.md", lambda *_: IncludedFile("", ""), 1_000, context_of(text, "a.md", [tmp_path]))
    made = ["<button> <i>1</i> </button> **Note**", "", "- a <button> <i>2</i> </button>", ""]
    assert found.text.splitlines()[:4] == made and found.text.count("<button>\n") == 1


def test_no_template_and_no_setting_is_read_through_a_link_that_leads_out(tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    (outside / "x.html").write_text("Secret")
    (outside / "params.toml").write_text('key = "secret"')
    for name in ("docs/layouts/shortcodes", "docs/config/_default"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).symlink_to(outside)
    context = context_of("", str(tmp_path / "docs/page.md"), [tmp_path / "docs"])
    assert context.is_of("hugo") and not context.project.templates and not context.project.site


def test_a_box_may_have_its_text_as_an_argument() -> None:
    text = '{{< alert icon="x" text="Mind the owl." />}}'
    assert lines(text) == ["//////// note", "Mind the owl.", "////////"]


def test_unknown_shortcodes_go_and_what_they_enclose_stays() -> None:
    found = expanded("a\n{{< chart x=1 >}} {{< frame >}}inner{{< /frame >}} {{< /stray >}}")
    assert found.text == "a\n inner "
    assert [note.partition(":")[0] for note in found.notes] == ["line 2"] * 3
    assert "the shortcode chart is not known: it is removed" in found.notes[0]
    found = expanded('{{< partners style="h2" description="true" >}}{{< tweet title="T" >}}')
    assert found.text == "T" and len(found.notes) == 2
    assert expanded('{{< section title="Owls" >}}').text == "Owls"
    found = expanded('A {{< tooltip text="Pod" term="pod" >}} is {{< x title="T" url="u" >}}.')
    assert found.text == "A Pod is [T](u)." and "tooltip is not known: its words" in found.notes[0]


def test_a_reference_is_found_as_hugo_finds_it(tmp_path: Path) -> None:
    for name in ("guide/page.md", "guide/next.md", "top.md", "part/_index.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    names = ("next", "top.md#a", "/top", "part", "../../etc")
    for name in ("far/away/alone.md", "far/twice.md", "part/twice.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("x")
    assert (
        expanded('{{< ref "alone#b" >}} {{< ref "twice" >}}', str(tmp_path)).text
        == "/far/away/alone.md#b twice"
    )
    text = " ".join(f'{{{{< ref "{name}" >}}}}' for name in names)
    found = expanded(text, str(tmp_path), "guide/page.md").text
    assert found == "/guide/next.md /top.md#a /top /part/_index.md ../../etc"


@pytest.mark.parametrize(
    "piece", ["{{<", "{{< a", "{{< note >}}", "{{< /note >}}", '{{< figure "', '{{< a "\\"']
)
def test_a_long_run_costs_time_in_proportion_to_its_length(piece: str) -> None:
    start = processor_seconds()
    expanded((piece * 80_000)[:80_000])
    assert processor_seconds() - start < 5


def test_a_page_that_is_added_later_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    assert PageNames(str(tmp_path)).path_of("owl") == ""
    (tmp_path / "a/b/Owl.md").write_text("x")
    assert PageNames(str(tmp_path)).path_of("Owl.md") == "a/b/Owl.md"
    (tmp_path / "a/owl").mkdir()
    (tmp_path / "a/owl/_index.md").write_text("x")
    assert PageNames(str(tmp_path)).path_of("owl") == ""


def test_the_names_of_pages_are_looked_up_once_for_a_document(tmp_path: Path) -> None:
    names = PageNames(str(tmp_path))
    assert names.path_of("owl") == ""
    (tmp_path / "owl.md").write_text("x")
    assert names.path_of("owl") == ""


@pytest.mark.parametrize(
    "head", ['{"title": "T", "date": 1}\n', "\n\n---\ntitle: T\n---\n", "---\r\ntitle: T\r\n---\r\n"]
)
def test_the_front_matter_of_a_page_is_known_however_it_is_written(head: str, tmp_path: Path) -> None:
    (tmp_path / "hugo.toml").touch()
    (tmp_path / "a.md").write_bytes(f"{head}Of {{{{< param title >}}}}.".encode())
    collection = Collection(root=str(tmp_path))
    file = next(each for each in list_files("c", collection).files if each.path == "a.md")
    assert read_source(file, collection).content.endswith(b"Of T.")


def test_the_name_of_a_shortcode_may_have_capitals_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "layouts/shortcodes/Ui").mkdir(parents=True)
    (tmp_path / "layouts/shortcodes/Ui/myKey.html").write_text("[{{ .Get 0 }}]")
    (tmp_path / "hugo.toml").touch()
    path, text = str(tmp_path / "a.md"), "{{< Ui/myKey A >}}"
    context = context_of(text, path, [tmp_path])
    assert expand(text, path, lambda *_: IncludedFile("", ""), 1_000, context).text == "[A]"
