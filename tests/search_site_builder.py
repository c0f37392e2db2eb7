"""Most of the project's own guide and a few notes as a site with its search index, built once a session."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from noctule.artifacts.store.store import Store
from noctule.docsite.build import build_site
from noctule.docsite.templates import CONTENT_SECURITY_POLICY
from noctule.docsite.theme_folder import CLIENT
from noctule.flows.api import build_snapshot
from noctule.flows.run.plain import PlainDriver
from noctule.flows.run.stage import Silent
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.settings import Settings
from noctule.pipeline.settings.site import Site
from tests.shared_folder import shared_folder

DOCS = Path(__file__).resolve().parents[1] / "docs"
FOLDERS = ("concepts", "guide", "store", "start")
# A third of their words, which no query here asks for: a model takes half a minute to read them.
LEFT_OUT = (
    "agents.md", "api-reference.md", "collections.md", "compared-with-other-tools.md", "directives.md",
    "feedback.md", "images-and-attachments.md", "order-of-pages.md", "publish-elsewhere.md",
    "questions-in-sql.md", "rst-and-notebooks.md", "search-over-http.md", "shards.md", "site-features.md",
)  # fmt: skip
NOTES = {
    "eulen.md": "---\nlang: de\ntags: [birds]\ndate: 2024-12-31\n---\n# Eulen\n\n"
        "Die Eulen jagten in den Häusern der Müller. Größe zählt nicht.\n",
    "cafe.md": "---\ntags: [birds, food]\ndate: 2021-01-01\n---\n# Café culture\n\n"
        "A naïve résumé of coffee. `getUserById` and `append_event` are names.\n",
    "tokyo.md": "---\nlang: ja\n---\n# 東京\n\n東京都の天気は晴れです。\n",
    "kestrel.md": "# Kestrel\n\nA kestrel hovers over the meadow. The windhover is another name.\n\n"
        "## Food\n\nVoles and mice.\n",
    "copy.md": "# Kestrel\n\nA kestrel hovers over the meadow. The windhover is another name.\n",
}  # fmt: skip
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">
<title>search</title><script src="../_search/engine.js"></script></head>
<body><p>Readable.</p></body></html>"""


@dataclass(frozen=True)
class SearchSite:
    """A folder to be served: the site lies below ``some/path/``, and a bare page with the engine in
    ``try/``.
    """

    root: Path
    store: Store
    settings: Settings

    @property
    def site(self) -> Path:
        """The site's own folder."""
        return self.root / "some" / "path"


def _settings(folder: Path) -> Settings:
    given = {"collections": {"guide": {"root": str(folder)}}, "store": {"keep": 5}}
    return parse(given | {"engine": {"name": "inline"}, "search": {"encoder": "static"}}, where="test")


@pytest.fixture(scope="session")
def search_site(tmp_path_factory: pytest.TempPathFactory) -> SearchSite:
    """Built once, whichever module of whichever process asks first."""
    return _in(shared_folder(tmp_path_factory, "search site", _build))


def _in(base: Path) -> SearchSite:
    return SearchSite(base / "server", Store(base / "store"), _settings(base / "docs"))


def _build(base: Path) -> None:
    for folder in FOLDERS:
        shutil.copytree(DOCS / folder, base / "docs" / folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (base / "docs" / "notes").mkdir()
    for name, text in NOTES.items():
        (base / "docs" / "notes" / name).write_text(text, "utf-8")
    made = _in(base)
    build_snapshot(made.settings, made.store, PlainDriver(), Silent())
    with made.store.open() as snapshot:
        build_site(snapshot, made.site, Site(title="Guide"), made.settings.search)
    (made.site / "try").mkdir()
    (made.site / "try" / "index.html").write_text(PAGE, "utf-8")


def analyzer_script() -> str:
    """Return the modules of the client's analyzer as one classic script, whose functions are global."""
    code = "".join((CLIENT / "search" / f"{name}.js").read_text("utf-8") for name in ("stem", "analyze"))
    return re.sub(r"^import [^;]*;\n|^export ", "", code, flags=re.MULTILINE)
