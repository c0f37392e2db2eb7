"""Loops of Liquid over data, front matter and texts write what Jekyll writes; others are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from noctule.pipeline.includes.expand import ExpandedText, IncludedFile, NotIncluded, expand
from noctule.pipeline.includes.project import context_of
from tests.processor_time import processor_seconds

DATA = {
    "_config.yml": "title: Owls\nlevels: [one, two]\n",
    "_data/birds.yml": "- {name: Barn, size: 3, rare: true, sub: [a, b]}\n- {name: Tawny, size: 5}\n",
    "_data/more/places.csv": "name,country\nFens,UK\n",
    "_data/release.json": '{"version": "2.1", "notes": {"a": "x"}}',
    "_data/code.yml": "- '{{ site.time | date }}'\n",
    "_data/broken.yml": "a: [\n",
    "_data/many.json": str([*range(20_000)]),
    "_includes/table.html": "{% for row in include.rows -%}\n<b>{{ row.name }}</b>\n{% endfor %}",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return the folder of a site with data."""
    for name, text in DATA.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def _expanded(site: Path, text: str) -> ExpandedText:
    def find(target: str, _by: str) -> IncludedFile:
        if target not in DATA:
            raise NotIncluded("there is no such file")
        return IncludedFile(str(site / target), DATA[target])

    page = f"---\nkinds: [x, y]\n---\n{text}\n"
    path = str(site / "page.md")
    return expand(page, path, find, 1_000_000, context_of(page, path, [site]))


def _shown(found: ExpandedText) -> str:
    return found.text.split("---\n", 2)[2].strip()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("{{ site.data.release.version }} {{ site.data.release.notes.a | upcase }}", "2.1 X"),
        ("{{ site.data.release.gone }}.{{ site.data.broken.a }}.", ".."),
        ("{{ site.title\n}}", "Owls"),
        ("{% raw %}`{{`{% endraw %} and {% raw %}`}}`{% endraw %}", "`{{` and `}}`"),
        ("{% for b in site.data.birds %}{{ b.name }}{% unless forloop.last %}, {% endunless %}{% endfor %}",
         "Barn, Tawny"),
        ("{% for b in site.data.birds reversed limit: 1 %}{{ forloop.index }}{{ b.name }}{% endfor %}",
         "1Barn"),
        ("{% for b in site.data.birds %}{% if b.rare and b.size < 4 %}!{% elsif b.size == 5 %}?{% endif %}"
         "{% endfor %}",
         "!?"),
        ("{% for b in site.data.birds %}{% for s in b.sub %}{{ s }}{% else %}-{% endfor %}{% endfor %}",
         "ab-"),
        ("{% for p in site.data.more.places %}{{ p.name }} ({{ p.country }}){% endfor %}", "Fens (UK)"),
        ("{% for p in site.data.release.notes %}{{ p[0] }}={{ p[1] }}{% endfor %}", "a=x"),
        ("{% for k in page.kinds %}{{ k }}{% endfor %}"
         "{% for l in site.levels %}{{ l | capitalize }}{% endfor %}",
         "xyOneTwo"),
        ('{% assign n = "1|2" | split: "|" %}'
         '{% for i in n %}[#{{ i }}]: {{ site.title }}/{{ i }};{% endfor %}',
         "[#1]: Owls/1;[#2]: Owls/2;"),
        ('{% assign s = site.data.birds | where: "rare", true | map: "name" %}'
         '{% for i in s %}{{ i }}{% endfor %}',
         "Barn"),
        ("{% for c in site.data.code %}<td>{{ c }}</td>{% endfor %}", "<td>&#123;{ site.time | date }}</td>"),
        ("<ul>\n  {% for b in site.data.birds %}\n    <li>{{- b.name -}}</li>\n  {% endfor %}\n</ul>",
         "<ul>\n  <li>Barn</li>\n<li>Tawny</li>\n</ul>"),
        ("{% include table.html rows=site.data.birds %}", "<b>Barn</b>\n<b>Tawny</b>"),
    ],
)  # fmt: skip
def test_loops_and_values_of_data_are_filled_in(site: Path, given: str, shown: str) -> None:
    found = _expanded(site, given)
    assert _shown(found) == shown and not [note for note in found.notes if "no value" not in note]


@pytest.mark.parametrize(
    "given",
    [
        "{% for p in site.posts %}{{ p.title }}{% endfor %}",
        "{% for b in site.data.birds %}{{ b.name | unknown }}{% endfor %}",
        "{% for b in site.data.birds %}{% include x.html b=b %}{% endfor %}",
        "{% for b in site.data.birds %}{{ b }}{% endfor %}",
        "{% for b in site.data.birds %}{% case b.name %}{% endcase %}{% endfor %}",
        "{% for b in site.data.birds %}{% if %}{{ b.name }}{% endif %}{% endfor %}",
    ],
)
def test_a_loop_with_anything_else_is_left_out_with_a_remark(site: Path, given: str) -> None:
    found = _expanded(site, f"Before {given} after")
    assert _shown(found) == "Before  after" and any("is not evaluated" in note for note in found.notes)


def test_no_data_is_read_from_outside_the_folder(
    site: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.yml").write_text("- {name: Secret}\n")
    (site / "_data/linked.yml").symlink_to(outside / "secret.yml")
    (site / "_data/folder").symlink_to(outside)
    loop = "{%% for b in site.data.%s %%}{{ b.name }}{%% endfor %%}"
    loops = "".join(loop % name for name in ("linked", "folder.secret"))
    found = _expanded(site, loops + "{{ site.data.linked.first.name }}")
    assert "Secret" not in found.text


@pytest.mark.parametrize(
    "given",
    [
        "{% for a in site.data.birds %}" * 3_000 + "{% endfor %}" * 3_000,
        "{% for a in site.levels %}" * 11 + "{% for k in page.kinds %}{{ k }}" * 1 + "{% endfor %}" * 12,
        "{% for a in site.levels %}{{ a" + " | append: 'x'" * 900 + " }}{% endfor %}",
        "{% for a in site.levels %}{{ '" + "'|" * 190 + "}}{% endfor %}",
        "{% for a in site.levels %}{% if " + "a and " * 60 + "a %}x{% endif %}{% endfor %}",
        "{% for a in site.levels %}{{ " * 4_000,
        "{% assign s = 'xxxxx' %}{% for a in site.data.many %}{% assign s = s | append: s %}{% endfor %}",
        "{% for a in site.data.many %}{% for b in site.data.many %}{{ b }}{% endfor %}{% endfor %}" * 200,
        "{% for a in site.data.many %}{% assign s = site.data.many | sort | join: a %}{% endfor %}" * 200,
        "{% assign s = site.data.many | join %}{% for a in page.kinds %}{{ s|replace: '1', s }}{% endfor %}",
    ],
)
def test_hostile_loops_take_little_time(site: Path, given: str) -> None:
    start = processor_seconds()
    _expanded(site, given)
    assert processor_seconds() - start < 2
