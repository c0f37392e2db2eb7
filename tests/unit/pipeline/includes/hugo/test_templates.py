"""Templates of a site's own shortcodes: what is simple is followed, and of the rest nothing is shown."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from unittest.mock import Mock

import pytest

from noctule.pipeline.includes.as_markdown import arguments
from noctule.pipeline.includes.hugo.templates import filled
from noctule.pipeline.includes.project import Context, Project
from tests.processor_time import processor_seconds

OWLS = [{"name": "Ada", "kind": "barn"}, {"name": "Bo", "kind": "barn"}, {"name": "Cy", "kind": "eagle"}]
SITE = {
    "title": "Barn",
    "params": {"version": "2.1", "links": ["a", "b"], "mixed": {None: 1, "a": 2}, "owls": OWLS},
}
CONTEXT = Context(
    Project("/docs", site=SITE), {"title": "Owls", "Weight": 3, "params": {"x": 1}}, "/docs/a.md"
)


def made(template: str, given: str = "", *, encloses: bool = False) -> str | None:
    found = filled(template, arguments(given), CONTEXT, encloses=encloses)
    if found is None or found[1] is None:
        return found and found[0]
    return "|".join([found[0], found[1]]) if encloses else found[0] + found[1]


@pytest.mark.parametrize(
    ("template", "given", "expected"),
    [
        ("{{ if .Get 0 }}x{{ else }}y{{ end }}", "1", "x"),
        ("{{ if .Get 0 }}x{{ else }}y{{ end }}", "", "y"),
        ('{{ if eq (.Get "a") "1" }}x{{ else if .Get "b" }}y{{ else }}z{{ end }}', 'b="2"', "y"),
        ('{{ if eq (.Get "a") "1" }}x{{ else if .Get "b" }}y{{ else }}z{{ end }}', "c=1", "z"),
        ('{{ if and (.Get "a") (not (.Get "b")) }}x{{ end }}', "a=1 b=false", "x"),
        ('{{ with .Get "t" }}<b x="{{ . }}">{{ . }}</b>{{ end }}', "t='a\"b'", '<b x="a&quot;b">a"b</b>'),
        ("{{ with .Get 0 }}{{ . }}{{ else with .Get 1 }}never{{ else }}none{{ end }}", "", "none"),
        ("{{ range .Params }}[{{ . }}]{{ end }}", "a b", "[a][b]"),
        ('{{ range $i, $e := split (.Get 0) "," }}{{ $i }}{{ $e }}{{ end }}', '"a,b"', "0a1b"),
        ("{{ range $k, $v := .Params }}{{ $k }}={{ $v }};{{ end }}", "b=1 a=2", "a=2;b=1;"),
        ("{{ range site.Params.links }}{{ . }}{{ else }}none{{ end }}", "", "ab"),
        ('{{ $x := .Get 0 | default "d" -}}\n  {{ $x }}', "", "d"),
        ('{{ $x := "a" }}{{ if true }}{{ $x = "b" }}{{ end }}{{ $x }}', "", "b"),
        ('{{ $x := "a" }}{{ if true }}{{ $x := "b" }}{{ end }}{{ $x }}', "", "a"),
        ('{{ printf "%s-%d" (.Get 0) 3 | upper }}', "a", "A-3"),
        ("{{ $.Page.Title }} {{ .Page.Params.weight }}", "", "Owls 3"),
        ("{{ .Site.Params.Version }} {{ .Site.Title }}", "", "2.1 Barn"),
        ('<a href="{{ "css/a.png" | relURL }}">x</a>', "", '<a href="/css/a.png">x</a>'),
        ('{{ ref . "b.md" }}', "", "b.md"),
        ("{{- /* use: {{< x >}} */ -}}\n\n    <i>\n\n    x</i>", "", "<i>\nx</i>"),
        ('{{ with .Get "a" }}{{ . }}{{ $.Get "b" }}{{ end }}', "a=1 b=2", "12"),
        ('{{ title "don\'t feed the well-known owl of" }}', "", "Don't Feed the Well-Known Owl Of"),
        ("{{ add 1 2.5 }} {{ add 1 2 3 }} {{ add 0.5 0.5 }}", "", "3.5 6 1"),
        ('{{ add "a" "b" }} {{ sub 5 1 1 }}', "", "ab 3"),
        ('{{ delimit (slice "a" "b" "c") ", " " and " }}', "", "a, b and c"),
        ('{{ delimit (slice "a") ", " " and " }}', "", "a"),
        ('{{ range .Params }}{{ if eq (substr . 0 1) "@" }}{{ substr . 1 }}{{ end }}{{ end }}', "@a 1", "a"),
        ('{{ substr "barn owls" 5 3 }} {{ substr "barn owls" -4 -1 }}', "", "owl owl"),
        ('{{ delimit (last 2 (slice "a" "b" "c")) "" }}{{ len (last 0 .Params) }}', "", "bc0"),
        ('{{ delimit (slice "a" | append "b" "c") "" }}', "", "abc"),
        ('{{ delimit (slice "a" | append (slice "d")) "" }}', "", "ad"),
        ("{{ if isset .Params 1 }}{{ index .Params 1 }}{{ end }}", "a b", "b"),
        ("{{ .Params }}", "a b", "[a b]"),
        ("{{ range where site.Params.owls `Kind` `==` `barn` }}{{ .name }},{{ end }}", "", "Ada,Bo,"),
        ('{{ range where site.Params.owls "kind" "ne" "barn" }}{{ .name }}{{ end }}', "", "Cy"),
        ('{{ range where site.Params.owls "kind" "in" (slice "eagle") }}{{ .name }}{{ end }}', "", "Cy"),
        ('{{ $.Scratch.Set "a" 2 }}{{ .Page.Store.Set "b" 3 }}{{ $.Scratch.Get "a" }}', "", "2"),
        (r"{{ .Params | strings.ReplaceRE `\[` `<li>` | replaceRE `\s+` `, ` }}", "a b", "<li>a, b]"),
        ("{{ if .IsNamedParams }}n{{ else }}p{{ end }}{{ len .Params }}", "a", "p1"),
    ],
)  # fmt: skip
def test_what_is_simple_is_followed(template: str, given: str, expected: str) -> None:
    assert made(template, given) == expected


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("<p>{{ .Inner | markdownify }}</p>", "<p>|</p>"),
        ("{{ with .Inner }}<p>{{ . | $.Page.RenderString }}</p>{{ end }}", "<p>|</p>"),
        ("{{ if .Inner }}a{{ end }}", "a"),
        ("{{ .Inner | upper }}", None),
        ("{{ .Inner }}{{ .Inner }}", None),
    ],
)
def test_what_a_shortcode_encloses_stands_where_its_template_says(
    template: str, expected: str | None
) -> None:
    assert made(template, encloses=True) == expected
    if expected == "a":
        assert made(template) == ""


@pytest.mark.parametrize(
    "template",
    [
        '{{ partial "x" . }}', "{{ .Site.Pages }}{{ range .Site.Pages }}x{{ end }}", "{{ if }}x{{ end }}",
        "{{ if true }}x", "{{ end }}", "{{ else }}", "{{ $y }}", "{{ site.Params.mixed }}", "{{ now }}",
        "{{ 1 2 }}",
        "{{ (1 }}", "{{", "{{/* x", '{{ define "x" }}{{ end }}', '{{ printf "%v %x" 1 2 }}',
        "{{ range 5 }}x{{ end }}", '{{ $.Scratch.Get "x" }}', '{{ replaceRE "(a+)+b" "x" (.Get 0) }}',
        '{{ range where 5 "a" "b" }}x{{ end }}', '{{ range where site.Params.owls "kind" "lt" 3 }}x{{ end }}',
        '{{ replaceRE `a` `$1` "a" }}', "{{ slice .Params }}", "{{ index 3 1 }}", "{{ .Page.File }}",
        "{{ if true }}" * 50 + "{{ end }}" * 50, "{{ " + "(" * 50 + "1" + ")" * 50 + " }}",
        "{{ range .Params }}{{ range $.Params }}{{ range $.Params }}x{{ end }}{{ end }}{{ end }}",
    ],
)  # fmt: skip
def test_nothing_is_made_of_what_is_not_known(template: str) -> None:
    assert made(template, " ".join("a" * 40)) is None


@pytest.mark.parametrize(
    "template",
    [
        "{{ .Get -1 }}", "{{ .Get }}", "{{ .Get 0 1 }}", '{{ printf "%s" }}', '{{ printf "x" 1 }}',
        "{{ range site.Params.mixed }}x{{ end }}", "{{ delimit .Params 1 }}",
        f"{{{{ {'9' * 5_000} }}}}", f"{{{{ $a := {'9' * 5_000} }}}}x",
    ],
)  # fmt: skip
def test_a_template_with_a_mistake_is_not_known(template: str) -> None:
    assert made(template, "a b") is None


@pytest.mark.parametrize(
    "template",
    [
        "{{ .Site.Data.release.version }}", "{{ site.Data.x }}", "{{ .Page.Site.Language.Lang }}",
        "{{ with .Site }}{{ .Data }}{{ end }}", "{{ $s := .Site }}{{ if $s.IsServer }}x{{ end }}y",
        '{{ index .Site "data" }}',
    ],
)  # fmt: skip
def test_what_a_site_says_beyond_its_settings_is_not_known(template: str) -> None:
    assert made(template) is None


def test_a_parameter_that_a_site_lacks_is_empty() -> None:
    assert made("{{ .Site.Params.none }}{{ site.Params.none.x }}.") == "."
    context = Context(Project("/docs", site={"title": "Barn"}))
    assert filled("{{ .Site.Params.x }}.", arguments(""), context, encloses=False) == (".", None)


@pytest.mark.parametrize(
    "template",
    [
        '{{ .Parent.Get "x" }}', '{{ .Page.Scratch.Get "x" }}', '{{ $x := 1 }}{{ $x.Get "x" }}',
        '{{ resources.Get "x" }}', '{{ .Page.Resources.Get "x" }}', '{{ with "y" }}{{ .Get "x" }}{{ end }}',
    ],
)  # fmt: skip
def test_only_a_shortcode_itself_gives_its_arguments(template: str) -> None:
    assert made(template, "x=1") is None


def test_a_template_that_fails_in_an_unforeseen_way_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError):
        monkeypatch.setattr(Project, "address_of", Mock(side_effect=error))
        assert made('{{ ref . "b.md" }}') is None


@pytest.mark.parametrize(
    "template",
    [
        '{{ $a := "x" }}' + "{{ $a = print $a $a }}" * 24,
        '{{ $a := "x" }}' + '{{ $a = printf "%s%s" $a $a }}' * 24,
        '{{ $a := "x" }}' + "{{ $a = replace $a `x` (print $a $a) }}" * 6,
        '{{ $a := "x," }}' + "{{ $a = print $a $a }}" * 14 + '{{ $a = delimit (split $a ",") $a }}',
        '{{ $a := "x" }}' + "{{ $a = delimit (slice $a $a) $a }}" * 16,
        "{{ $a := .Get 0 }}" + "".join(f"{{{{ $a{n} := print $a {n} }}}}" for n in range(800)),
        "{{ $a := .Get 0 }}{{ $l := slice 1 }}"
        + "{{ range .Params }}{{ $l = slice $l (upper $a) }}{{ end }}" * 40,
        "{{ if eq" + " (len (.Get 0))" * 1_000 + " }}{{ end }}",
        "{{ $a := slice 1 }}" + "{{ $a = slice $a $a }}" * 40 + "{{ delimit $a `` }}",
    ],
)  # fmt: skip
def test_the_texts_that_a_template_makes_are_bounded(template: str) -> None:
    tracemalloc.start()
    start = processor_seconds()
    try:
        assert made(template, "a" * 50_000 + " b" * 19) is None
        assert tracemalloc.get_traced_memory()[1] < 16_000_000
    finally:
        tracemalloc.stop()
    assert processor_seconds() - start < 2


@pytest.mark.parametrize(
    "template",
    [
        '{{ range where site.Params.tables "k" "in" site.Params.many }}x{{ end }}',
        '{{ range where site.Params.tables "k" "==" site.Params.many }}x{{ end }}',
        "{{ if in site.Params.many site.Params.many }}x{{ end }}",
        f"{{{{ if eq site.Params.many {'1 ' * 4_000} }}}}x{{{{ end }}}}",
        r"{{ $a := .Get 0 }}{{ replaceRE (replace $a `a` `\w`) `x` $a }}",
    ],
)
def test_long_lists_are_compared_in_one_pass(template: str) -> None:
    params = {"tables": [{}] * 20_000, "many": [*range(20_000)]}
    context = Context(Project("/docs", site={"params": params}), {}, "/docs/a.md")
    start = processor_seconds()
    found = filled(template, arguments("a" * 20_000), context, encloses=False)
    assert processor_seconds() - start < 2 and (found is None or found == ("", None))


def test_a_text_at_the_bound_is_written() -> None:
    assert made("{{ print (.Get 0) }}", "a" * 100_000) == "a" * 100_000
    assert made("{{ print (.Get 0) }}", "a" * 100_001) is None
    assert made("{{ .Get 0 }}", "a" * 100_001) is None
    assert made("{{ $a := .Get 0 }}{{ $a }}", "a" * 100_001) is None


@pytest.mark.parametrize("piece", ["{{", "{{ if", "{{/*", "{{ (", " ", "{{ `", '{{ "', "{{ $x := 1 }}", "}}"])
def test_a_hostile_template_costs_time_in_proportion(piece: str) -> None:
    start = processor_seconds()
    made((piece * 20_000)[:20_000])
    assert processor_seconds() - start < 2


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ('{{ partial "card.html" . }}!', "card a Owls!"),
        ('{{ partialCached "card" $ }}', "card a Owls"),
        ('{{ partial "deep/named.html" (dict "name" "Bat") }}', "Bat, Bat,"),
        ('{{ $made := partial "card" . }}{{ upper $made }}', "CARD A OWLS"),
        ('{{ partial "card" (dict "x" 1) }}', None),
        ('{{ partial "value" . }}', None),
        ('{{ partial "icons/owl.svg" (dict "size" "20px") }}', '<svg width="20px"></svg>'),
        ('{{ partial "none" . }}', None),
        ('{{ partial "../secret" . }}', None),
        ('{{ partial "again" . }}', None),
    ],
)
def test_a_template_uses_the_partials_of_its_site(
    template: str, expected: str | None, tmp_path: Path
) -> None:
    texts = {
        "card": "card {{ .Get 0 }} {{ $.Page.Title }}",
        "deep/named": "{{ with .name }}{{ . }}, {{ $.name }}, {{ $.none }}{{ end }}",
        "value": "{{ return 1 }}",
        "icons/owl.svg": '<svg width="{{ .size }}"></svg>',
        "again": '{{ partial "again" . }}{{ partial "again" . }}',
        "../secret": "secret",
    }
    folder = tmp_path / "partials"
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / (name if "svg" in name else f"{name}.html")).write_text(text)
    context = Context(Project("/docs", partials=(str(folder),)), {"title": "Owls"})
    found = filled(template, arguments("a"), context, encloses=False)
    assert (found and found[0]) == expected
