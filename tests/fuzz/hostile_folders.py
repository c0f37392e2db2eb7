"""Folders of documents whose settings, in the words of other tools, mean harm: as files by their paths.

Each lies in ``work``, beside a folder ``secret`` that nothing in it may reach. A value that begins with
``->`` is a symbolic link, and ``PIPE`` a named pipe.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

PIPE = "|"
SECRET = "TOPSECRET"
Files = Mapping[str, str | bytes]

_VALUES = (
    "!!bool x", "!!int ''", "!!float ''", "!!timestamp x", "!!int 0x", "!!int 1:a", "!!binary '*'",
    "!!omap {}", "!!pairs x", "!!set []", "!!python/object/apply:os.system ['touch PWNED']", "!!merge x",
    "!!value x", "!!null x", "2001-99-99", "2001-01-01T00:00:00+99:99", "0o9", "1_:_", "0b", "9" * 6_000,
    "? [a]\n: b", "? {a: b}\n: c", "{<<: 5}", "!!str {a: b}", "!!seq x", "!!map x", "!!map [1]", "!ENV []",
    "!ENV {a: b}", "!x &a [*a]", "&a [*a]", "&a {b: *a}",
    '"\\ud800"', '"\\0"', '"\\x7f\\x1b[2J"', '"\\u202e"',
    "'\"\"\"'", '"a\\nb"', '"a\\u0085b\\u2028c"', '"\\U00110000"',
)  # fmt: skip
_PLACES = (
    "/{top}/secret", "../secret", "../../../../../../etc", "/", "~", "link", "docs/../../secret",
    "%2e%2e/secret",
)  # fmt: skip
_LINK = {"link": "->../secret", "docs/link": "->../../secret"}
_PAGE = {"docs/index.md": "# Hi\n", "content/a.md": "# A\n", "src/a.md": "# A\n", "a.md": "# A\n"}
# One file of each tool that names a folder.
_NAMING = {
    "mkdocs.yml": 'docs_dir: "{}"\n',
    "book.toml": "[book]\nsrc = '{}'\ntitle = 'x'\n",
    "hugo.toml": "contentDir = 'content'\nstaticDir = '{}'\n",
    ".vitepress/config.js": "export default {{srcDir: '{}'}}",
    "docusaurus.config.js": "module.exports = {{presets: [['x', {{docs: {{path: '{0}'}}}}]], "
    "staticDirectories: ['{0}']}}",
    "dendron.yml": "workspace:\n  vaults:\n  - fsPath: '{}'\n",
    "astro.config.mjs": "export default defineConfig({{publicDir: '{}'}})",
    "mkdocs.yaml": "plugins:\n - blog:\n    blog_dir: '{}'\n",
}


def cases() -> Iterator[tuple[str, Files]]:
    """Yield each folder with a name; ``{top}`` stands for the folder around it."""
    for value in _VALUES:
        for key in ("site_name", "docs_dir", "nav"):
            yield f"{key}: {value:.30}", {"mkdocs.yml": f"{key}: {value}\n"}
        authors = {"docs/blog/.authors.yml": f"authors:\n  x: {{name: ok}}\n  y: {value}\n"}
        yield (
            f"authors: {value:.30}",
            {"mkdocs.yml": "plugins: [blog]\n", "docs/blog/posts/a.md": "# A\n"} | authors,
        )
        maps = (
            f"plugins:\n  - redirects:\n      redirect_maps:\n        {value}: x.md\n        a.md: {value}\n"
        )
        yield f"redirects: {value:.30}", {"mkdocs.yml": maps if "\n" not in value else ""}
    for place in _PLACES:
        for name, text in _NAMING.items():
            yield f"{name} names {place}", {name: text.format(place), **_LINK}
    for inherited in (
        "/{top}/secret/nav.yml",
        "../secret/nav.yml",
        "l.yml",
        "/dev/zero",
        "pipe",
        "/etc/passwd",
    ):
        own = {"mkdocs.yml": f"INHERIT: {inherited}\n", "l.yml": "->../secret/nav.yml", "pipe": PIPE}
        yield f"INHERIT {inherited}", own
    yield from _links_and_pipes()
    yield from _bombs()
    yield from _strange()


def _links_and_pipes() -> Iterator[tuple[str, Files]]:
    """Yield folders with a link, or a pipe, in the place of each file that is read."""
    for link in ("->../secret/nav.yml", PIPE):
        what = "a pipe" if link == PIPE else "a link"
        folder = "->../secret" if link != PIPE else PIPE
        yield f"{what}: mkdocs.yml", {"mkdocs.yml": link}
        yield f"{what}: book.toml", {"book.toml": link}
        yield f"{what}: SUMMARY.md", {"book.toml": "[book]\n", "src/SUMMARY.md": link}
        yield f"{what}: .pages", {"mkdocs.yml": "plugins: [awesome-pages]\n", "docs/.pages": link}
        yield f"{what}: .authors.yml", {"mkdocs.yml": "plugins: [blog]\n", "docs/blog/.authors.yml": link}
        yield f"{what}: blog", {"mkdocs.yml": "plugins: [blog]\n", "docs/blog": folder}
        jekyll = {"_config.yml": "title: x\n", "_data/navigation.yml": link, "_posts": folder}
        yield f"{what}: Jekyll's data", jekyll
        docusaurus = {"docusaurus.config.js": "module.exports = {}", "sidebars.js": link}
        yield f"{what}: Docusaurus", docusaurus | {"blog": folder, "static": folder}
        yield f"{what}: Obsidian's templates", {".obsidian/templates.json": link}
        yield f"{what}: a document", {"mkdocs.yml": "", "docs/a.md": link, "docs/b.md": "->/dev/zero"}
    snippets = '--8<-- "../x"\n{* /etc/passwd *}\n{!../../secret/id.md!}\n--8<-- "sn/a.py"\n'
    yield "snippets", {"mkdocs.yml": "", "docs/b.md": snippets, "sn": "->../secret", "x": "x"}


def _bombs() -> Iterator[tuple[str, Files]]:
    """Yield settings that are nested deeply, double themselves, or are long."""
    many, deep = 150_000, 100_000
    keys = ",".join(f"k{at}: " for at in range(many))
    merged = "".join(f"a{at}: &a{at} {{<<: [*a{at - 1}, *a{at - 1}]}}\n" for at in range(1, 11))
    doubled = "".join(f"a{at}: &a{at} [*a{at - 1}, *a{at - 1}]\n" for at in range(1, 10))
    yaml = {
        "merged": f"a0: &a0 {{{keys}}}\n{merged}",
        "doubled": "a0: &a0 [ {"
        + ",".join(f"k{at}: x.md" for at in range(many // 2))
        + f"}} ]\n{doubled}nav: *a9\n",
        "deep": "a: " + "[" * deep,
        "deep blocks": "".join(" " * at + "- \n" for at in range(1_900)),
        "anchors": "".join(f"k{at}: &a{at} x\n" for at in range(deep)),
        "entries": "nav:\n" + "".join(f"- k{at}: x.md\n" for at in range(deep)),
        "a long name": "site_name: " + "a" * 1_900_000,
        "the same key": "nav:\n- {" + "a: b, " * 200_000 + "}\n",
        "documents": "---\na: b\n" * deep,
    }
    yield from ((f"YAML: {name}", {"mkdocs.yml": text}) for name, text in yaml.items())
    chain = "".join(f"const a{at} = [a{at + 1}, a{at + 1}];" for at in range(50))
    script = {
        "deep": "module.exports = " + "{a:" * deep,
        "parentheses": "module.exports = " + "(" * 500_000,
        "spread": "const a = {b: a}; module.exports = {...a, title: a," + "x:a," * deep + "}",
        "doubled": f"{chain}const a50 = 'x'; module.exports = {{title: a0, plugins: a0, static: a0}}",
        "constants": "const a" * 200_000,
        "comments": "/*" * 500_000 + "'\\" * deep + "`\\" * deep,
    }
    yield from ((f"JavaScript: {name}", {"docusaurus.config.js": text}) for name, text in script.items())
    yield "TOML: deep", {"book.toml": "a=" + "[" * deep}
    yield "TOML: dotted", {"book.toml": "a" + ".a" * 300_000 + "=1"}
    yield "Python: parentheses", {"conf.py": "project=" + "(" * 90_000 + "1" + ")" * 90_000}
    yield "Python: signs", {"conf.py": "project=" + "-" * 500_000 + "1"}
    yield (
        "a pattern of many stars",
        {"_config.yml": "exclude: ['" + "*a" * 40 + "b']\n", "a" * 200 + ".md": "# A\n"},
    )


def _strange() -> Iterator[tuple[str, Files]]:
    """Yield settings whose values are of other kinds than a tool takes, or lead elsewhere."""
    powers = (
        "project=9**9**9\nlanguage='x'*10**10\nhtml_title=f'{1}'\nexclude_patterns=[b'x',None]\na,b=1,2\n"
    )
    wrong_titles = (
        "{title: ['a'], tagline: {}, url: 'javascript:x', baseUrl: '\\n[site]\\n', presets: 5, i18n: []}"
    )
    redirects = (
        "[['client-redirects', {redirects: [{from: '/../../x', to: 'javascript:alert(1)'}]}], [], [[]]]"
    )
    texts: dict[str, tuple[str, str | bytes]] = {
        "Python: powers": ("conf.py", powers),
        "Python: a zero": ("conf.py", "project='a\0b'"),
        "Python: escapes": ("conf.py", "project='\\ud800'\n"
                            "language='\\x1b[2J'\nhtml_baseurl='javascript:alert(1)'"),
        "patterns": ("_config.yml",
                     "exclude: ['[', '!', '', '../x', \"a\\\\\", '/', '**', \"\\0\", 5, [1]]\n"),
        "titles": ("docusaurus.config.js", f"module.exports = {wrong_titles}"),
        "redirects": ("docusaurus.config.js", f"module.exports = {{presets: 5.5, plugins: {redirects}}}"),
        "srcExclude": (".vitepress/config.js", "export default {srcExclude: 5, lang: '\\u202e'}"),
        "a list for a folder": (".obsidian/templates.json", json.dumps({"folder": ["../../"]})),
        "half a character": (".obsidian/templates.json", '{"folder": "\\ud800"}'),
        "a file for a folder": (".obsidian", "x"),
        "lists": ("hugo.yaml", "contentDir: [a]\nstaticDir: [1, {a: b}, null]\n1: 2\ntitle: {a: b}\n"),
        "addresses": ("book.toml", "[output.html]\nedit-url-template='https://x/{evil}/{path}'\n"
                      "redirect={'/a'='javascript:x','../../b'='//evil',\"c\\u0000\"='x'}"),
        "kinds": ("mkdocs.yml", "site_name: [a]\nsite_url: 5\ntheme: x\n"
                  "plugins: {redirects: {redirect_maps: [1]}}\n"
                  "extra: 5\ndocs_dir: {a: b}\nnav: 5\n"),
        "languages": ("mkdocs.yml", "theme: {language: '\"><script>'}\nrepo_url: 'javascript:x'\n"
                      "edit_uri: '{x}'\nsite_url: '//evil'\n"),
        "a list": ("mkdocs.yml", "- a\n"),
        "a text": ("mkdocs.yml", "a"),
        "bytes": ("mkdocs.yml", b"\xff\xfe\x00"),
        "numbers for names": ("mkdocs.yml", "plugins: {1: 2}\n"),
        "names of all kinds": ("mkdocs.yml", "plugins: [{1: 2}, {a: b}, {null: c}, 'x', {2001-01-01: d}]\n"),
        "hierarchies": ("dendron.yml", "workspace: {vaults: [{fsPath: 'v'}, {fsPath: 5}]}\npublishing: "
                        "{siteIndex: '../../../etc/passwd', siteHierarchies: ['**', '../', 5, '[', '!x']}\n"),
    }  # fmt: skip
    yield from ((f"strange: {name}", {file: text, "v/a.md": "# A\n"}) for name, (file, text) in texts.items())


def written(files: Files, top: Path) -> Path:
    """Write a folder, and beside it what it must not reach; return it."""
    (top / "secret").mkdir(exist_ok=True)
    for name, text in {
        "id.md": f"# {SECRET}\n",
        "nav.yml": f"site_name: {SECRET}\na: {{name: {SECRET}}}\n",
    }.items():
        (top / "secret" / name).write_text(text)
    folder = top / "work"
    (folder / ".git").mkdir(parents=True)
    own = {name.split("/")[0] for name, text in files.items() if text == PIPE or str(text).startswith("->")}
    for name, text in (
        {name: text for name, text in _PAGE.items() if name.split("/")[0] not in own} | dict(files)
    ).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text == PIPE:
            os.mkfifo(path)
        elif isinstance(text, str) and text.startswith("->"):
            path.symlink_to(text[2:])
        else:
            content = text.replace("{top}", str(top).lstrip("/")) if isinstance(text, str) else text
            path.write_bytes(
                content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
            )
    return folder
