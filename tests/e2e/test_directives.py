"""Folders of Jekyll, Hugo, Docusaurus and VitePress: nothing raw, nothing private, on pages or in search."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
from bs4 import BeautifulSoup

from tests.command_line import CommandLine

SETTINGS = """
[collections.jekyll]
root = "jekyll"
[collections.hugo]
root = "hugo"
[collections.docusaurus]
root = "docusaurus/docs"
snippet_folders = ["docusaurus"]
[collections.vitepress]
root = "vitepress"
[site]
base_url = "https://example.org"
feed = 20
[static_encoder]
phrases = 20
spans = 20
passages = 50
"""
FILES = {
    "jekyll/_config.yml": "title: Barn\nbaseurl: /barn\n",
    "jekyll/_layouts/page.html": "<html>{{ content }}</html>\n",
    "jekyll/_includes/note.html": "<p>{{ include.text }} of {{ site.title }}</p>\n",
    "jekyll/_drafts/later.md": "# Later\n\nplecotus\n",
    "jekyll/index.md": (
        "---\nlayout: page\n---\n# Home\n{: .no_toc }\n\n* TOC\n{:toc}\n\n[Owls]({% link owls.md %}#food) and"
        " [again]({{ site.baseurl }}/owls) and a [draft](_drafts/later.md)\n\n"
        '{% include note.html text="Tyto" %}\n\n{% if page.x %}Sometimes.{% endif %}\n'
    ),
    "jekyll/owls.md": "# Owls\n\n## Food\n\n{% highlight ruby %}\nputs {{ 1 }}\n{% endhighlight %}\n",
    "hugo/index.md": (
        '# Start\n\n{{% note %}}\nMind the [owl]({{< ref "owl" >}}).\n{{% /note %}}\n\n'
        '{{< tabs >}}\n{{< tab "One" >}}Uno{{< /tab >}}\n{{< /tabs >}}\n'
    ),
    "hugo/owl.md": "---\ntitle: Owl\nunlisted: true\ntags: [nocturnal]\n---\nstrigiform [back](index.md)\n",
    "hugo/cave.md": '+++\ntitle = "Cave"\ndraft = true\n+++\nplecotus\n',
    "hugo/bat.md": "---\ntitle: Bat\nexcludeSearch: true\n---\nchiroptera\n",
    "docusaurus/docusaurus.config.js": "export default {};\n",
    "docusaurus/docs/_part.mdx": "Hello {props.name}.\n",
    "docusaurus/docs/intro.mdx": (
        "import Part from './_part.mdx';\nimport Tabs from '@theme/Tabs';\n"
        "import TabItem from '@theme/TabItem';\n\n# Intro\n\n"
        '<Part name="Tyto" />\n\n{version}\n\n<Tabs>\n<TabItem value="a" label="Apple">\n\nMalus\n\n'
        "</TabItem>\n</Tabs>\n"
    ),
    "vitepress/.vitepress/config.ts": "export default {}\n",
    "vitepress/index.md": (
        "---\ntitle: Hooray\n---\n# {{ $frontmatter.title }} <Badge type='tip' text='new' />\n\n[[toc]]\n\n"
        "{{ count }}\n\n::: v-pre\n`{{ code }}`\n:::\n"
    ),
}
RAW = re.compile(r"\{%|\{\{|\{:|^import |\{props|\{version|<Badge|v-pre|/{8}|\[\[toc", re.MULTILINE)


def written(folder: Path, files: dict[str, str]) -> CommandLine:
    (folder / "noctule.toml").write_text(SETTINGS)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return CommandLine(folder, folder / "store")


def prose_of(page: Path) -> str:
    content = BeautifulSoup(page.read_text(), "html.parser").select_one("main")
    assert content is not None
    for code in content.select("pre, code"):
        code.decompose()
    return content.get_text()


def test_no_directive_is_left_and_nothing_private_is_found(tmp_path: Path) -> None:
    command = written(tmp_path, FILES)
    done = command.run("index", "--no-prefect", "--json")
    assert done.code == 0, done.err
    built = command.run("site", "--no-prefect", "--strict", "--out", "site")
    assert built.code == 0, built.err
    site = tmp_path / "site"
    pages = [page for page in site.rglob("*.html") if "/_" not in str(page.relative_to(site.parent))]
    assert {p.name for p in pages} >= {"owls.html", "owl.html", "intro.html"}
    assert [(p.name, RAW.findall(prose_of(p))) for p in pages if RAW.search(prose_of(p))] == []

    home = BeautifulSoup((site / "jekyll/index.html").read_text(), "html.parser")
    assert [a["href"] for a in home.select("main p a[href^='owls']")] == ["owls.html#food", "owls.html"]
    assert "Tyto of Barn" in home.get_text()
    assert "Hello Tyto." in prose_of(site / "docusaurus/intro.html")
    assert (site / "docusaurus/intro.html").read_text().count("callout-tab") == 1
    report = command.run("report", "--json").json
    assert report["private"] == {"drafts": 1, "unlisted": 1, "unsearched": 1}
    assert "1 drafts, 1 unlisted, 1 excluded from search" in command.run("report").out
    remarks = {row["reason"] for row in report["rejected"]}
    assert "line 14: {% if %} is not evaluated: what it encloses is shown" in remarks
    assert any("version" in remark and "is removed" in remark for remark in remarks)

    passages = pq.read_table(next((tmp_path / "store/snapshots").glob("*/passages.parquet")))
    texts = " ".join(passages["text"].to_pylist())
    assert not RAW.search(texts.replace("{{ 1 }}", "").replace("{{ code }}", ""))
    for word, places in {"strigiform": {"owl.html", "owl.md"}, "plecotus": set()}.items():
        assert word not in texts
        assert {p.name for p in site.rglob("*") if p.is_file() and word.encode() in p.read_bytes()} == places
    assert "chiroptera" not in texts
    lists = [*site.glob("*.xml"), site / "llms.txt", *site.rglob("_tags/*"), *site.rglob("_search/*")]
    for each in (path for path in lists if path.is_file()):
        assert b"nocturnal" not in each.read_bytes() and b"owl.html" not in each.read_bytes(), each
    assert 'name="robots" content="noindex"' in (site / "hugo/owl.html").read_text()

    drafts = command.run("index", "--no-prefect", "--drafts", "--json")
    assert drafts.json["documents"] == done.json["documents"] + 2


def test_a_strict_site_fails_on_the_first_directive_that_is_left(tmp_path: Path) -> None:
    text = "# Raw\n\nHello {{ name }}.\n\n{{#include gone.md}}\n\n`{{ code }}`\n"
    command = written(
        tmp_path, {"vitepress/x.txt": "x", "hugo/a.md": text, "jekyll/b.md": "b", "docusaurus/docs/c.md": "c"}
    )
    assert command.run("index", "--no-prefect").code == 0
    failed = command.run("site", "--no-prefect", "--strict", "--out", "site", "--json")
    assert failed.code == 2
    assert failed.error["kind"] == "DirectivesLeft"
    assert failed.error["where"] == "hugo:a.md"
    assert "line 5: 'gone.md' is not included" in failed.error["what"]
    assert "(and 1 more)" in failed.error["what"]
    assert not (tmp_path / "site").exists()
    kept = command.run("site", "--no-prefect", "--out", "site")
    assert kept.code == 0 and "2 directives" in kept.out
    assert json.loads(command.run("report", "--json").out)["directives"] == 2
