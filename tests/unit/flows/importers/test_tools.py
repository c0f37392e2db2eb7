"""Settings imported from other tools: read and never run, each line with where it is from."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from noctule.flows.cli.init import import_settings
from noctule.pipeline.errors import SettingsError, SourceError

_SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
# What mkdocstrings does where its settings say nothing.
_DESCRIBED = {
    "heading_level": 2, "show_root_heading": False, "show_root_full_path": True,
    "show_if_no_docstring": False, "inherited_members": False, "merge_init_into_class": False,
    "members_order": "alphabetical", "group_by_category": True,
}  # fmt: skip
CASES: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "MkDocs": (
        {
            "docs/en/mkdocs.yml": "site_name: T\nsite_url: https://e.org/\nnav: [a.md]\nplugins:\n"
            "- redirects:\n"
            "    redirect_maps: {old.md: a.md}\n- mike\n"
            "- blog: {pagination_per_page: 5, post_date_format: yyyy-MM}\nx: !!python/name:os.system ''\n",
            "docs/en/docs/a.md": "# A\n\n{* ../../src/x.py *}\n",
            "docs/en/docs/blog/.authors.yml": "authors:\n  jane: {name: Jane Doe}\n",
            "src/x.py": "1",
        },
        {"root": "docs/en/docs", "title": "T", "base_url": "https://e.org/", "redirects": {"old.md": "a.md"},
         "navigation": ["docs/en/mkdocs.yml"], "snippet_folders": ["src"], "left": "the plugin mike",
         "address": {"base_url": "https://e.org/"}, "posts_per_page": 5,
         "post_url": "{year}-{month}/{slug}",
         "blogs": ["blog"], "authors": {"jane": "Jane Doe"}},
    ),
    "MkDocs, inherited": (
        {"en/mkdocs.yml": "INHERIT: !ENV [BASE, ../base.yml]\nsite_name: E\ntheme: {language: de}\n",
         "base.yml": "site_name: B\nsite_description: D\nnav: [a.md]\ntheme: {name: material}\n",
         "en/docs/a.md": "# A\n"},
        {"root": "en/docs", "title": "E", "description": "D", "language": "de", "navigation": ["base.yml"]},
    ),
    "Sphinx, including files above": (
        {"docs/conf.py": "project = 'T'\n", "docs/changes.rst": ".. include:: ../CHANGES.rst\n",
         "docs/code.md": "```{literalinclude} ../examples/a.py\n```\n", "CHANGES.rst": "x\n",
         "examples/a.py": "1\n"},
        {"root": "docs", "title": "T", "snippet_folders": ["."]},
    ),
    "MkDocs, describing a package": (
        {"mkdocs.yml": "site_name: T\nplugins:\n- mkdocstrings:\n    handlers: {python: {options: {"
         "heading_level: 9, show_root_heading: true, members_order: source, docstring_style: numpy}}}\n",
         "docs/api.md": "# ::: kept.part\n",
         "src/kept/__init__.py": "", "src/other/__init__.py": "", "tests/__init__.py": ""},
        {"root": "docs", "title": "T",
         "api": {**{key: value for key, value in _DESCRIBED.items() if key != "heading_level"},
                 "show_root_heading": True, "members_order": "source", "docstring_style": "numpy",
                 "packages": ["src/kept"], "pages": ""}},
    ),
    "Sphinx, describing a package": (
        {"docs/conf.py": "project = 'T'\nextensions = ['sphinx.ext.autodoc']\n",
         "docs/api.rst": ".. module:: kept\n", "kept/__init__.py": ""},
        {"root": "docs", "title": "T", "api": {"packages": ["kept"], "pages": ""}},
    ),
    "Sphinx, describing a package, with extensions that are computed": (
        {"docs/conf.py": "globals().update(build_config('T'))\n",
         "docs/api.rst": ".. automodule:: kept.part\n", "kept/__init__.py": "", "other/__init__.py": ""},
        {"root": "docs", "api": {"packages": ["kept"], "pages": ""},
         "left": "settings that globals().update() computes"},
    ),
    "Sphinx, with extensions that are computed, describing none": (
        {"docs/conf.py": "extensions = EXTENSIONS\n", "docs/a.rst": "A\n=\n", "kept/__init__.py": ""},
        {"root": "docs", "api": None},
    ),
    "MkDocs, with files at the end of each page": (
        {"mkdocs.yml": "site_name: T\nmarkdown_extensions:\n- pymdownx.snippets:\n    base_path: [parts]\n"
         "    auto_append: [links.md, gone.md]\n", "docs/a.md": "# A\n", "parts/links.md": "[x]: a.md\n"},
        {"root": "docs", "auto_append": ["parts/links.md"], "snippet_folders": ["parts"]},
    ),
    "MkDocs, with folders of snippets": (
        {"mkdocs.yml": "markdown_extensions:\n- pymdownx.snippets:\n"
         "    base_path: [., docs, docs/parts, ../away, gone, license]\n",
         "docs/a.md": '--8<-- "x.md"\n', "docs/parts/x.md": "x\n", "license": "L\n"},
        {"root": "docs", "snippet_folders": ["docs/parts"]},
    ),
    "Zensical": (
        {"zensical.toml": '[project]\nsite_name = "T"\nsite_url = "https://e.org/"\nnav = ["a.md"]\n'
         '[project.theme]\nlanguage = "de"\n[project.plugins.mkdocstrings.handlers]\n'
         '[project.markdown_extensions.pymdownx.snippets]\nauto_append = ["links.md"]\n',
         "mkdocs.yml": "site_name: before\n", "docs/a.md": "::: kept\n", "kept/__init__.py": "",
         "links.md": "[x]: a.md\n"},
        {"root": "docs", "title": "T", "base_url": "https://e.org/", "language": "de",
         "navigation": ["zensical.toml"], "api": {**_DESCRIBED, "packages": ["kept"], "pages": ""},
         "auto_append": ["links.md"]},
    ),
    "MkDocs, with folders of languages and an extension that runs programs": (
        {"mkdocs.yml": "site_name: T\nmarkdown_extensions: [mkdocs-click]\nplugins:\n- i18n:\n"
         "    docs_structure: folder\n"
         "    languages: [{locale: en}, {locale: de}, {locale: x y}, {locale: fr, build: false}]\n",
         "docs/a.md": "# A\n", "docs/de/a.md": "# A\n", "docs/fr/a.md": "# A\n"},
        {"root": "docs", "languages": {"en": "", "de": "de"},
         "left": "the extension mkdocs-click, which runs programs"},
    ),
    "MkDocs, whose posts have addresses of a plugin's own": (
        {"mkdocs.yml": "site_name: T\nplugins:\n- blog: {post_url_format: '{date}/{author}'}\n",
         "docs/blog/a.md": "# A\n"},
        {"root": "docs", "blogs": ["blog"], "left":
         "plugins.blog: post_url_format has more than {date}, {slug}, {file} and {categories}"},
    ),
    "MkDocs, with names of languages": (
        {"mkdocs.yml": "site_name: T\nplugins:\n- i18n: {languages: [{locale: en}, {locale: de}]}\n",
         "docs/a.md": "# A\n"},
        {"root": "docs", "left": "the plugin i18n: languages by the ends of names, index.fr.md"},
    ),
    "MkDocs, with what is private": (
        {"mkdocs.yml": "site_name: T\nexclude_docs: |\n  *.py\n\n  /internal/\ndraft_docs: |\n  drafts/\n",
         "docs/a.md": "# A\n"},
        {"root": "docs", "exclude": ["*.py", "/internal/", "drafts/"]},
    ),
    "MkDocs, with a plugin of Material by its full name": (
        {"mkdocs.yml": "site_name: T\nplugins: [material/blog, material/x]\n",
         "docs/blog/posts/a.md": "# A\n"},
        {"root": "docs", "blogs": ["blog"], "left": "the plugin x"},
    ),
    "MkDocs, with settings for each language that share some": (
        {"docs/mkdocs.de.yml": "site_name: D\ndocs_dir: de\n", "docs/de/a.md": "# A\n",
         "docs/mkdocs.en.yml": "INHERIT: config.yml\nsite_name: E\ndocs_dir: en\n", "docs/en/a.md": "# A\n",
         "docs/config.yml": "site_description: D\n", "docs/mkdocs_theme.yml": "site_name: no\n"},
        {"root": "docs/en", "title": "E", "description": "D"},
    ),
    "MkDocs, whose mkdocstrings describes what pages name": (
        {"mkdocs.yml": "site_name: T\nplugins: [mkdocstrings]\n", "docs/a.md": "# A\n",
         "src/owl/__init__.py": ""},
        {"root": "docs", "api": None, "heading_references": True},
    ),
    "MkDocs, whose pages of modules a script makes": (
        {"mkdocs.yml": "site_name: T\nplugins: [mkdocstrings, gen-files]\n", "docs/a.md": "# A\n",
         "src/owl/__init__.py": ""},
        {"root": "docs", "api": {**_DESCRIBED, "packages": ["src/owl"]}},
    ),
    "MkDocs, with values for macros": (
        {"mkdocs.yml": "INHERIT: base.yml\nsite_name: T\n", "docs/a.md": "# A\n", "main.py": "",
         "more.yml": "",
         "base.yml": "plugins:\n- macros: {include_yaml: [more.yml, gone.yml, ../../etc/passwd]}\n"},
        {"root": "docs", "variables": ["mkdocs.yml", "base.yml", "more.yml"],
         "left": "the functions of macros"},
    ),
    "MkDocs, with files above that pages include": (
        {"mkdocs.yml": "site_name: T\nplugins: [include-markdown]\n", "src/x.md": "x\n", "text/y.txt": "y\n",
         "docs/a/b.md": '{% include-markdown "../../src/x.md" %}\n{!../text/y.txt!}\n'},
        {"root": "docs", "snippet_folders": ["src", "text"]},
    ),
    "Zensical, in YAML": (
        {"zensical.yml": "site_name: T\nnav: [a.md]\n", "docs/a.md": "# A\n"},
        {"root": "docs", "title": "T", "navigation": ["zensical.yml"]},
    ),
    "mdBook": (
        {"book.toml": '[book]\ntitle = "T"\n[output.html.redirect]\n"/a.html" = "b.html"\n[preprocessor.p]\n',
         "src/SUMMARY.md": "# S\n\n- [B](./b.md)\n", "src/b.md": "{{#include ../code/x.rs}}\n",
         "code/x.rs": "1"},
        {"root": "src", "title": "T", "home": "b.md", "redirects": {"/a.html": "b.html"},
         "snippet_folders": ["code"], "left": "the preprocessor p"},
    ),
    "Docusaurus": (
        {"docusaurus.config.js": "const config = {title: 'T', url: 'https://e.org', baseUrl: '/x/',\n"
         "plugins: [['@docusaurus/plugin-client-redirects',\n"
         "{redirects: [{from: ['/o'], to: '/docs/a'}]}]]};\n"
         "module.exports = config;", "static/i.png": "x",
         "sidebars.js": "module.exports = {s: [{type: 'category', link: {type: 'generated-index'}}]}",
         "docs/a.mdx": "# A\n"},
        {"root": "docs", "title": "T", "base_url": "https://e.org/x/", "redirects": {"/o": "/docs/a"},
         "navigation": ["sidebars.js", "docs"], "static_folders": ["static"], "slugs": True,
         "sidebars": ["sidebars.js"]},
    ),
    "Docusaurus, with a blog": (
        {"docusaurus.config.js": "module.exports = {title: 'T', presets: [['classic',\n"
         "{docs: {editUrl: 'https://git.example.org/edit/main/', exclude: ['**/private/**']}}]]};\n",
         "docs/a.mdx": "import S from '!!raw-loader!@site/src/x.js';\n", "src/x.js": "x",
         "blog/2026-11-25-owl.md": "Owls.\n", "versioned_docs/version-1.0/a.md": "# A\n"},
        {"root": "docs", "blogs": ["blog"], "snippet_folders": ["src"], "exclude": ["**/private/**"],
         "edit_url": "https://git.example.org/edit/main/{collection}/{path}", "name": "docs",
         "left": "the pages in src/; the versions in versioned_docs/"},
    ),
    "Starlight": (
        {"astro.config.mjs": "export default defineConfig({site: 'https://e.org/',\n"
         "integrations: [starlight({title: 'T', sidebar: ['a'], locales: {root: {lang: 'en'}, de: {}}})]})",
         "src/content/docs/a.mdx": "# A\n", "public/i.png": "x"},
        {"root": "src/content/docs", "base_url": "https://e.org/", "static_folders": ["public"], "title": "T",
         "navigation": ["astro.config.mjs"], "language": "en", "slugs": True, "left": "locales of starlight"},
    ),
    "Mintlify": (
        {"docs/docs.json": '{"name": "T", "navigation": {"pages": ["a"]}, "theme": "mint",'
         '"redirects": [{"source": "/o", "destination": "/a"}, {"source": "/p/:x*", "destination": "/:x*"}]}',
         "docs/a.mdx": "# A\n", "docs/snippets/s.mdx": "S\n", "docs.json": "{}"},
        {"root": "docs", "title": "T", "navigation": ["docs/docs.json"], "redirects": {"/o": "/a"},
         "exclude": ["snippets/"], "left": "theme of Mintlify"},
    ),
    "VitePress": (
        {"docs/.vitepress/config.mts": "export default defineConfig({title: 'T', lang: 'en-GB'})",
         "docs/a.md": "# A\n", "config.js": "nonsense("},
        {"root": "docs", "title": "T", "language": "en-GB", "navigation": ["docs/.vitepress/config.mts"]},
    ),
    "VitePress, in several scripts": (
        {"docs/.vitepress/config/index.mts":
         "import { en } from './en'\nexport default { ...shared(), base: '/x/', srcDir: 'src',"
         "sitemap: { hostname: 'https://e.org/' }, locales: { root: { lang: 'en-US', ...en }, de: {}, fr: {},"
         "zh: { link: 'https://zh.e.org' } } }\nfunction shared() { return { title: 'T' } }",
         "docs/.vitepress/config/en.ts":
         "export const en = { description: 'D', themeConfig: { logo: '/l.svg',"
         "editLink: { pattern: 'https://e.org/edit/:path' } } }",
         "docs/src/a.md": "# A\n", "docs/src/de/a.md": "# A\n", "docs/src/zh/a.md": "# A\n"},
        {"root": "docs/src", "title": "T", "description": "D", "language": "en-US",
         "base_url": "https://e.org/x/", "edit_url": "https://e.org/edit/{path}",
         "languages": {"en-US": "", "de": "de", "zh": "zh"}, "left": "themeConfig.logo",
         "navigation": ["docs/.vitepress/config/index.mts"]},
    ),
    "VuePress": (
        {"docs/.vuepress/config.js":
         "module.exports = {title: 'T', themeConfig: {sidebar: ['/', 'a']}, plugins: ['x']}",
         "docs/.vuepress/public/i.png": "x", "docs/a.md": "# A\n"},
        {"root": "docs", "title": "T", "navigation": ["docs/.vuepress/config.js"],
         "static_folders": ["docs/.vuepress/public"], "left": "plugins of VuePress"},
    ),
    "Jekyll": (
        {"_config.yml": "title: T\nurl: https://e.org\nbaseurl: /x\nexclude: [vendor]\nplugins: [p]\n",
         "a.md": "# A\n"},
        {"root": ".", "title": "T", "base_url": "https://e.org/x", "exclude": ["vendor"],
         "slugs": True, "left": "plugins of Jekyll", "include": ["**/*.md", "**/*.markdown"]},
    ),
    "Jekyll, with files about the project": (
        {"_config.yml": "title: T\n", "index.markdown": "---\n---\n", "README.md": "# R\n",
         "CONTRIBUTING.md": "# C\n", "LICENSE.md": "---\n---\n", "notes.md": "# N\n"},
        {"root": ".", "exclude": ["/CONTRIBUTING.md", "/README.md"]},
    ),
    "Jekyll, with a home page in HTML and a line above its license": (
        {"_config.yml": "title: T\n", "index.html": "---\n---\nHome\n", "README.md": "# R\n",
         "LICENSE.md": "----\nL\n"},
        {"root": ".", "exclude": ["/LICENSE.md", "/README.md"]},
    ),
    "Jekyll, with pages of HTML": (
        {"_config.yml": "title: T\n", "index.html": "---\n---\nHome\n", "a/b.html": "---\nx: y\n---\n",
         "demo.html": "<p>D</p>\n", "_layouts/x.html": "---\n---\n",
         "posts.html": "---\n---\n{%- for post in site.posts %}{% endfor %}\n"},
        {"root": ".", "include": ["**/*.md", "**/*.markdown", "/index.html", "/a/b.html"],
         "exclude": ["_layouts/"], "left": "posts.html, which lists what Jekyll computes"},
    ),
    "Jekyll, with its README as home": (
        {"_config.yml": "name: T\n", "README.md": "# R\n", "CODE_OF_CONDUCT.md": "# C\n"},
        {"root": ".", "title": "T", "exclude": ["/CODE_OF_CONDUCT.md"]},
    ),
    "Hugo": (
        {"hugo.toml": 'title = "T"\nbaseURL = "https://e.org/"\ntheme = "x"\n', "content/a.md": "# A\n"},
        {"root": "content", "title": "T", "base_url": "https://e.org/", "slugs": True,
         "left": "theme of Hugo"},
    ),
    "Hugo, in a folder": (
        {"config/_default/config.toml": 'baseURL = "https://e.org/"\ndisableLanguages = ["de"]\n',
         "config/_default/languages.toml": '[en]\ncontentDir = "content/en"\n[de]\n[nl]\n',
         "config/_default/params.toml": 'title = "T"\n', "content/en/a.md": "# A\n"},
        {"root": "content/en", "title": "T", "snippet_folders": ["."],
         "base_url": "https://e.org/", "left": "the language nl"},
    ),
    "Hugo, with its settings in JSON under their older name": (
        {"config.json": '{\n\t"baseurl": "https://e.org",\n\t"title": "T"\n}\n', "content/a.md": "# A\n"},
        {"root": "content", "title": "T", "base_url": "https://e.org"},
    ),
    "Hugo, with a sentence as title": (
        {"hugo.toml": "title = 'Let’s Encrypt client and ACME library written in Go.'",
         "content/a.md": "# A\n"},
        {"name": "let-s-encrypt-client-and-acme-library"},
    ),
    "Hugo, with minified settings in JSON": (
        {"config.json": '{"title":"\\ud83e\\udd89","baseURL":"https://e.org"}', "content/a.md": "# A\n"},
        {"root": "content", "title": "\U0001f989", "base_url": "https://e.org"},
    ),
    "Hugo, beside settings of something else": (
        {"config.json": '{"title": "N"}', "config.yaml": "title: N\n", "site/hugo.json": '{"title": "T"}',
         "site/content/a.md": "# A\n"},
        {"root": "site/content", "title": "T"},
    ),
    "Hugo, with a part of its settings in a folder": (
        {"hugo.toml": 'title = "T"\n', "config/_default/languages.toml": '[en]\ncontentDir = "content/en"\n',
         "config/_default/params.toml": 'description = "D"\n', "content/en/a.md": "# A\n"},
        {"root": "content/en", "title": "T", "description": "D"},
    ),
    "Hugo, with other languages": (
        {"hugo.toml": '[languages.en]\n[languages.de]\n[languages.nl]\ncontentDir = "content/nl"\n'
         '[languages.fr]\ncontentDir = "french"\n', "content/a.md": "# A\n", "content/a.de.md": "# A\n"},
        {"root": "content", "exclude": ["*.de.md", "/nl/"], "left": "the language de"},
    ),
    "Dendron": (
        {"dendron.yml": "workspace:\n  vaults: [{fsPath: p, visibility: private}, {fsPath: v}, {fsPath: w}]\n"
         "publishing: {siteUrl: 'https://e.org', siteIndex: a, siteHierarchies: [a], seo: {title: T}}\n",
         "v/a.md": "# A\n"},
        {"root": "v", "title": "T", "home": "a.md", "include": ["/a.md", "/a.*.md"], "left": "the vault w"},
    ),
    "Obsidian": (
        {".obsidian/templates.json": '{"folder": "Templates"}', "a.md": "# A\n"},
        {"root": ".", "exclude": ["Templates/"]},
    ),
    "Logseq": (
        {"logseq/config.edn": "{}", "pages/a.md": "- A\n"},
        {"root": ".", "include": ["**/*.md"]},
    ),
    "Sphinx": (
        {"conf.py": "import os\nproject = 'T'\nexclude_patterns = ['_build']\n"
         "epub_title = release\nrelease = os.getcwd()\n",
         "index.rst": "T\n=\n"},
        {"root": ".", "title": "T", "exclude": ["_build"], "left": "release: not a literal"},
    ),
    "Sphinx, with its table of contents in a file": (
        {"conf.py": "project = 'T'\nextensions = ['myst_parser', 'sphinx_external_toc']\n",
         "_toc.yml": "root: start\nentries: [{file: a}]\n", "start.md": "# S\n", "a.md": "# A\n"},
        {"root": ".", "navigation": ["_toc.yml"], "home": "start.md"},
    ),
    "Jupyter Book": (
        {"_config.yml": "title: T\nexclude_patterns: ['old/*']\nhtml: {use_edit_page_button: true,"
         " baseurl: 'https://e.org/b/'}\nrepository: {url: 'https://g.org/o/r', path_to_book: book,"
         " branch: main}\nsphinx: {extra_extensions: [x], config: {language: de}}\n",
         "_toc.yml": "format: jb-book\nroot: index\n", "index.md": "# A\n"},
        {"root": ".", "title": "T", "base_url": "https://e.org/b/", "language": "de", "home": None,
         "exclude": ["old/*"], "edit_url": "https://g.org/o/r/edit/main/book/{path}", "slugs": None,
         "include": ["**/*.md", "**/*.ipynb", "**/*.rst"], "navigation": ["_toc.yml"],
         "left": "the extension x"},
    ),
    "MyST": (
        {"docs/myst.yml": "version: 1\nextends: [base.yml]\nproject: {title: P, exclude: parts/*,"
         " toc: [{file: start.md}, {pattern: '*.md'}], plugins: [x.mjs]}\nsite: {options: {logo: l.png}}\n",
         "docs/start.md": "# S\n"},
        {"root": "docs", "title": "P", "home": "start.md", "exclude": ["parts/*"],
         "navigation": ["docs/myst.yml"],
         "left": "the plugin x.mjs; base.yml, which it extends; site.options.logo"},
    ),
    "Sphinx, in files with another ending": (
        {"conf.py": "project = 'T'\nsource_suffix = ['.rst', '.txt']\n", "index.txt": "T\n=\n"},
        {"root": ".", "title": "T", "include": ["**/*.rst", "**/*.txt"]},
    ),
    "Sphinx, with a README for authors": (
        {"conf.py": "source_suffix = {'.txt': 'restructuredtext'}\n", "index.txt": "T\n=\n"},
        {"root": ".", "include": ["**/*.txt"]},
    ),
    "Sphinx, with extensions from another file": (
        {"conf.py": "from common import extensions\n", "index.md": "# T\n"},
        {"root": ".", "include": ["**/*.rst", "**/*.md", "**/*.ipynb"], "left": "extensions from elsewhere"},
    ),
    "Sphinx, with extensions that are computed": (
        {"conf.py": "extensions = EXTENSIONS\n", "index.md": "# T\n"},
        {"root": ".", "include": ["**/*.rst", "**/*.md", "**/*.ipynb"], "left": "extensions: not a literal"},
    ),
    "Sphinx, with no ending at all": (
        {"conf.py": "source_suffix = []\n", "index.rst": "T\n=\n"},
        {"root": ".", "include": ["**/*.rst", "**/*.md", "**/*.ipynb"], "left": "source_suffix: it names no"},
    ),
    "Sphinx, with an ending that is none": (
        {"conf.py": "source_suffix = '*'\n", "index.rst": "T\n=\n"},
        {"root": ".", "include": ["**/*.rst", "**/*.md", "**/*.ipynb"], "left": "source_suffix: it names no"},
    ),
    "Sphinx, with extensions that read other formats": (
        {"conf.py": "extensions = []\nif 1:\n    extensions += ['myst_nb']\n", "index.rst": "T\n=\n"},
        {"root": ".", "include": ["**/*.rst", "**/*.md", "**/*.ipynb"]},
    ),
    "MkDocs, with images of its own": (
        {"mkdocs.yml": "theme: {name: material, custom_dir: over, logo: img/l.svg, favicon: /img/f.svg,"
         " palette: {primary: red}}\n",
         "docs/img/l.svg": "<svg onload='x()'/>", "over/img/l.svg": _SVG, "docs/img/f.svg": _SVG},
        {"root": "docs", "logo": "over/img/l.svg", "favicon": "docs/img/f.svg", "left": "theme.custom_dir"},
    ),
    "MkDocs, with colours of Material": (
        {"mkdocs.yml": "theme: {name: material, palette: [{scheme: slate}, {primary: deep purple}]}\n"},
        {"colors": {"accent": ["#7d55c0", "#a589d4"]}, "left": ""},
    ),
    "MkDocs, with a colour that is too light to read": (
        {"mkdocs.yml": "theme: {name: material, palette: {primary: yellow}}\n"},
        {"colors": {"accent": ["#756d1c", "#ffec3d"]}, "left": ""},
    ),
    "MkDocs, with a colour of a style sheet": (
        {"mkdocs.yml": "theme: {name: material, palette: {primary: custom}}\n"},
        {"colors": None, "left": "theme.palette.primary: 'custom' is defined in a style sheet"},
    ),
    "MkDocs, with odd palettes": (
        {"mkdocs.yml": "theme: {name: material, palette: [1, [], {primary: [red]}, {primary: black}]}\n"},
        {"colors": None, "left": ""},
    ),
    "MkDocs, with images that pages cannot show": (
        {"mkdocs.yml": f"theme: {{logo: l.svg, favicon: {'f' * 300}.png}}\n",
         "docs/l.svg": "<svg xmlns='http://www.w3.org/2000/svg' onload='x()'/>"},
        {"root": "docs", "logo": None, "favicon": None, "left": "theme.logo: "},
    ),
    "MkDocs, with a logo for its coloured header": (
        {"mkdocs.yml": "theme: {logo: l.svg}\n", "docs/l.svg": _SVG.replace("/>", " fill='#FFF'/>")},
        {"root": "docs", "logo": None, "left": "theme.logo: it is white"},
    ),
    "MkDocs, with a logo that lies elsewhere": (
        {"project/mkdocs.yml": "theme: {logo: ../../l.svg}\n", "project/docs/a.md": "# A\n", "l.svg": _SVG},
        {"root": "project/docs", "logo": "l.svg"},
    ),
    "Docusaurus, with images of its own": (
        {"docusaurus.config.js": "module.exports = {title: 'T', favicon: 'img/f.svg', themeConfig: {navbar:"
         " {logo: {src: 'img/l.svg', srcDark: '/img/d.svg'}}}}",
         "docs/a.md": "# A\n", "static/img/f.svg": _SVG, "static/img/l.svg": _SVG, "static/img/d.svg": _SVG},
        {"root": "docs", "logo": "static/img/l.svg", "logo_dark": "static/img/d.svg",
         "favicon": "static/img/f.svg"},
    ),
    "VitePress, with pages that a script makes": (
        {"docs/.vitepress/config.js":
         "export default {srcExclude: ['x.md'], markdown: {container: {tipLabel: 'T'}}}",
         "docs/a.md": "# A\n", "docs/p/[id].md": "# {{ $params.id }}\n",
         "docs/p/[id].paths.mts": "export default 1"},
        {"root": "docs", "exclude": ["x.md", "/p/\\[id\\].md"], "left": "[id].paths.mts makes of p/[id].md"},
    ),
    "VitePress, with a logo for each theme": (
        {"docs/.vitepress/config.js":
         "export default {themeConfig: {logo: {light: '/l.svg', dark: '/d.svg', alt: 'L'}}}",
         "docs/a.md": "# A\n", "docs/public/l.svg": _SVG, "docs/public/d.svg": _SVG},
        {"root": "docs", "logo": "docs/public/l.svg", "logo_dark": "docs/public/d.svg"},
    ),
    "Starlight, with images of its own": (
        {"astro.config.mjs": "export default defineConfig({integrations: [starlight({title: 'T',"
         "logo: {src: './src/assets/l.svg'}, favicon: '/f.svg'})]})",
         "src/content/docs/a.md": "# A\n", "src/assets/l.svg": _SVG, "public/f.svg": _SVG},
        {"root": "src/content/docs", "logo": "src/assets/l.svg", "favicon": "public/f.svg"},
    ),
    "Mintlify, with a logo for each theme": (
        {"docs.json": '{"name": "T", "navigation": {}, "favicon": "/f.svg",'
         ' "logo": {"light": "/logo/l.svg", "dark": "/logo/d.svg"}}',
         "a.mdx": "# A\n", "f.svg": _SVG, "logo/l.svg": _SVG, "logo/d.svg": _SVG},
        {"logo": "logo/l.svg", "logo_dark": "logo/d.svg", "favicon": "f.svg"},
    ),
    "mdBook, with an icon of its own": (
        {"book.toml": "[book]\ntitle = 'T'\n", "src/SUMMARY.md": "# S\n", "theme/favicon.svg": _SVG},
        {"root": "src", "favicon": "theme/favicon.svg"},
    ),
    "Jekyll, with a logo": (
        {"_config.yml": "title: T\nlogo: /assets/l.svg\n", "a.md": "# A\n", "assets/l.svg": _SVG},
        {"root": ".", "logo": "assets/l.svg"},
    ),
    "Sphinx, with images of its own": (
        {"docs/conf.py": "project = 'T'\nhtml_logo = '_static/s.svg'\nhtml_favicon = '_static/f.svg'\n"
         "html_static_path = ['_static']\n"
         "html_theme_options = {'light_logo': 'l.svg', 'logo': {'image_dark': '_static/s.svg'}}\n",
         "docs/_static/s.svg": _SVG, "docs/_static/f.svg": _SVG, "docs/_static/l.svg": _SVG},
        {"root": "docs", "logo": "docs/_static/l.svg", "logo_dark": "docs/_static/s.svg",
         "favicon": "docs/_static/f.svg"},
    ),
    "MyST, with a logo": (
        {"myst.yml": "project: {title: P}\nsite: {options: {logo: l.svg, favicon: gone.ico, style: s.css}}\n",
         "a.md": "# A\n", "l.svg": _SVG},
        {"root": ".", "logo": "l.svg", "left": "site.options.favicon; site.options.style"},
    ),
    "Jupyter Book, with a logo": (
        {"_config.yml": "title: T\nlogo: l.svg\nhtml: {favicon: l.svg}\n", "_toc.yml": "root: a\n",
         "a.md": "# A\n", "l.svg": _SVG},
        {"root": ".", "logo": "l.svg", "favicon": "l.svg"},
    ),
    "Quartz": (
        {"quartz.config.ts": "const config: QuartzConfig = {configuration: {pageTitle: 'T',\n"
         "baseUrl: 'e.org',\n"
         "locale: 'en-US', ignorePatterns: ['private']}, plugins: {transformers: [Plugin.X()]}}\n"
         "export default config", "content/a.md": "# A\n"},
        {"root": "content", "title": "T", "base_url": "https://e.org", "exclude": ["private"],
         "slugs": True},
    ),
}  # fmt: skip


@pytest.mark.parametrize("tool", CASES)
def test_settings_of_every_tool_are_imported(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, expected = CASES[tool]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    written, found = import_settings(tmp_path, Path())
    text = written.path.read_text()
    given = tomllib.loads(text)
    collection, site = given["collections"][written.collection], given.get("site", {})
    assert found.tool == tool.partition(",")[0]
    assert expected.pop("left", "") in "; ".join(found.left) and "epub_title" not in str(found.left)
    known = {
        **site,
        **collection,
        "name": written.collection,
        "navigation": site.get("navigation", {}).get(written.collection),
    }
    assert {key: known.get(key) for key in expected} == expected
    assert all("#" in line for line in text.splitlines() if line.startswith(("title", "base_url", "root")))


def test_files_beside_the_folder_of_documents_may_be_included(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/conf.py").write_text("project = 'T'\n")
    (tmp_path / "docs/changes.rst").write_text(".. include:: ../CHANGES.rst\n")
    (tmp_path / "CHANGES.rst").write_text("Changes\n=======\n")
    monkeypatch.chdir(tmp_path)
    written, _ = import_settings(tmp_path, Path("docs"))
    given = tomllib.loads(written.path.read_text())
    assert given["collections"][written.collection]["snippet_folders"] == ["."]
    written.path.unlink()
    monkeypatch.chdir(tmp_path / "docs")
    written, _ = import_settings(tmp_path / "docs", Path())
    assert "snippet_folders" not in written.path.read_text(), (
        "nobody said that the folder around is the project"
    )


def test_the_readme_above_may_be_the_home_page_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: T\n")
    (tmp_path / "README.md").write_text("# Owls\n")
    (tmp_path / "docs/index.md").symlink_to("../README.md")
    (tmp_path / "docs/passwd.md").symlink_to("/etc/passwd")
    monkeypatch.chdir(tmp_path)
    written, _ = import_settings(tmp_path, Path())
    given = tomllib.loads(written.path.read_text())["collections"][written.collection]
    assert given["snippet_folders"] == ["."]
    (tmp_path / "docs/index.md").unlink()
    written.path.unlink()
    written, _ = import_settings(tmp_path, Path())
    assert "snippet_folders" not in written.path.read_text()


def test_the_settings_of_a_folder_of_documents_may_lie_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs/guide").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: T\n")
    (tmp_path / "docs/a.md").write_text("# A\n")
    monkeypatch.chdir(tmp_path)
    written, found = import_settings(tmp_path, Path("docs/guide"))
    assert found.tool == "MkDocs" and Path(written.root) == tmp_path / "docs"
    written.path.unlink()
    for source, here in (("other", tmp_path), ("docs", tmp_path / "docs")):
        monkeypatch.chdir(here)
        with pytest.raises(SourceError, match="no settings of a known tool"):
            import_settings(tmp_path, tmp_path / source)


def test_a_book_without_a_title_is_named_after_its_project(tmp_path: Path) -> None:
    book = tmp_path / "Owl Manual" / "docs"
    (book / "src").mkdir(parents=True)
    (book / "book.toml").write_text("[book]\n")
    (book / "src" / "SUMMARY.md").write_text("# S\n\n- [B](b.md)\n")
    (book / "src" / "b.md").write_text("# B\n")
    import_settings(book, book)
    assert list(tomllib.loads((book / "noctule.toml").read_text())["collections"]) == ["owl-manual"]


@pytest.mark.parametrize(
    ("folder", "repository", "name"),
    [
        ("hx-25.07.1+20260723", "https://example.org/owls/Helix.git/", "helix"),
        ("hx-25.07.1+20260723", "", "hx"),
        ("jupyter_book-2.1.7", "", "jupyter-book"),
        ("owls-2", "", "owls-2"),
        ("1.2.3", "", "1-2-3"),
    ],
)
def test_a_book_without_a_title_is_named_without_the_version_of_an_archive(
    tmp_path: Path, folder: str, repository: str, name: str
) -> None:
    book = tmp_path / folder / "docs"
    (book / "src").mkdir(parents=True)
    (book / "book.toml").write_text(f'[output.html]\ngit-repository-url = "{repository}"\n')
    (book / "src" / "b.md").write_text("# B\n")
    import_settings(book, book)
    assert list(tomllib.loads((book / "noctule.toml").read_text())["collections"]) == [name]


def test_preprocessors_whose_work_is_done_here_are_not_named_as_left_out(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.md").write_text("# A\n")
    (tmp_path / "book.toml").write_text("[preprocessor.admonish]\n[preprocessor.katex]\n[preprocessor.own]\n")
    assert import_settings(tmp_path, tmp_path)[1].left == ["the preprocessor own"]


def test_settings_of_another_name_may_be_given_by_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: T\n")
    (tmp_path / "mkdocs-insiders.yml").write_text("INHERIT: mkdocs.yml\nsite_name: I\n")
    monkeypatch.chdir(tmp_path)
    _, found = import_settings(tmp_path, Path("mkdocs-insiders.yml"))
    assert found.tables["site"]["title"][0] == "I"


def test_settings_that_inherit_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("INHERIT: mkdocs.yml\n")
    with pytest.raises(SourceError, match="in a circle"):
        import_settings(tmp_path, tmp_path)


def test_a_folder_of_no_tool_and_a_second_file_are_errors(tmp_path: Path) -> None:
    (tmp_path / "of owls").mkdir()
    with pytest.raises(SourceError, match="no settings of a known tool") as failed:
        import_settings(tmp_path, tmp_path / "of owls")
    assert f"noctule index '{tmp_path}/of owls'" in failed.value.hint
    (tmp_path / "book.toml").write_text("[book\n")
    with pytest.raises(SourceError, match="cannot be read"):
        import_settings(tmp_path, tmp_path)
    (tmp_path / "noctule.toml").write_text("")
    with pytest.raises(SettingsError, match="a settings file already"):
        import_settings(tmp_path, tmp_path)


def test_hostile_titles_are_strings_and_addresses_of_scripts_are_left(tmp_path: Path) -> None:
    title = 'a"]\n[site]\nbase_url = "x" # \x7f'
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text(json.dumps({"site_name": title, "site_url": "javascript:x"}))
    written, found = import_settings(tmp_path, tmp_path)
    assert tomllib.loads(written.path.read_text())["site"]["title"].startswith('a"] [site]')
    assert "javascript:x" in found.left[0]


@pytest.mark.parametrize("folder", ["", "src", "lib"])
def test_packages_beside_the_folder_of_documents_are_those_that_they_describe(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("kept", "other"):
        (tmp_path / folder / name).mkdir(parents=True)
        (tmp_path / folder / name / "__init__.py").touch()
    docs = tmp_path / "doc" / "en"
    docs.mkdir(parents=True)
    (docs / "conf.py").write_text("extensions = ['sphinx.ext.autodoc']\n")
    (docs / "api.rst").write_text(".. autoclass:: kept.Owl\n")
    monkeypatch.chdir(tmp_path)
    written, _ = import_settings(tmp_path, Path("doc/en"))
    given = tomllib.loads(written.path.read_text())["collections"][written.collection]
    assert given["api"]["packages"] == [(Path(folder) / "kept").as_posix()]
