"""What all pages of a site share: settings, templates, interface texts, this program and its libraries."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import asdict
from functools import lru_cache
from importlib import metadata
from pathlib import Path

from ... import pipeline
from ...pipeline.identity import canonical_json
from ...pipeline.settings.search import Search
from ...pipeline.settings.site import Site
from .. import theme_folder
from ..appearance import appearance_files
from ..incremental.columns import digest, digest_of_texts
from ..outline.declared import navigation_files
from ..outline.plan import SitePlan, shard_count

# The libraries, besides this program, that affect a page's bytes.
_LIBRARIES = (
    "jinja2", "latex2mathml", "linkify-it-py", "markdown-it-py", "markupsafe", "mdit-py-plugins", "nh3",
    "numpy", "pygments", "pyyaml",
)  # fmt: skip
_SNAPSHOT = b"snapshot_id"
_SHAPES_NO_FILE = {"verify_days"}
# These shape stylesheets, what `Features` says, and the tree of pages.
_SHAPES_NO_CONTENT = {"colors", "fonts", "logo", "logo_dark", "favicon", "navigation", "redirects"}


def shared_digest(plan: SitePlan) -> bytes:
    """Return a digest of what every page is made with; if it differs, every page may."""
    return digest(content_digest(plan), *_owners(plan))


def content_digest(plan: SitePlan) -> bytes:
    """Return a digest of what documents' contents are rendered with; an owner's templates are not used."""
    settings = plan.settings.model_dump(mode="json", exclude=_SHAPES_NO_FILE | _SHAPES_NO_CONTENT)
    for place in ("templates", "words", "mermaid", "card_font"):  # what lies there counts, not where it lies
        settings[place] = bool(settings[place])
    stated = {
        "settings": settings,
        "features": asdict(plan.features) | {"versions": [], "also": []},
        "title": plan.title,
        "previews": shard_count(len(plan.by_page)),
        "words": {name: dict(table) for name, table in plan.theme.words.parts.items()},
    }
    return digest(program_digest(), canonical_json(stated).encode())


def site_fingerprint(snapshot_id: str, settings: Site, ranking: Search | None) -> str:
    """Return a fingerprint of the whole site's inputs; if it is unchanged, so is every file."""
    stated = {
        "snapshot": snapshot_id,
        "settings": settings.model_dump(mode="json", exclude=_SHAPES_NO_FILE),
        "ranking": ranking.model_dump(mode="json") if ranking else None,
    }
    folder = Path(settings.templates) if settings.templates else None
    given = sorted(path for path in folder.iterdir() if path.is_file()) if folder and folder.is_dir() else []
    glossary = ranking.synonyms.file if ranking and "synonyms" in ranking.understand else ""
    named = (
        glossary and str(Path(glossary).expanduser()),
        settings.words,
        settings.mermaid,
        settings.card_font,
        *appearance_files(settings),
    )
    given += [Path(name) for name in named if name]
    files = [digest(path.name.encode(), path.read_bytes()) for path in given if path.is_file()]
    files += [digest(each.path.encode(), each.content) for each in navigation_files(settings)]
    return digest(
        program_digest(("py", "html", "toml", "js", "css", "svg")), canonical_json(stated).encode(), *files
    ).hex()


@lru_cache
def program_digest(endings: tuple[str, ...] = ("py", "html", "toml")) -> bytes:
    """Return a digest of the program's files, its rendering libraries, and its Python version."""
    tops = (theme_folder.HERE, Path(pipeline.__file__).parent)
    files = [
        digest(str(path.relative_to(top)).encode(), path.read_bytes())
        for top in tops
        for ending in endings
        for path in sorted(top.rglob(f"*.{ending}"))
    ]
    versions = (f"{name} {metadata.version(name)}" for name in _LIBRARIES)
    return digest(digest_of_texts(platform.python_version(), *versions), *files)


def _owners(plan: SitePlan) -> Iterator[bytes]:
    """Yield digests of the owner's templates, if any, and then one of all documents' entries.

    These templates may show anything about any page, so with them everything known about pages counts.
    """
    folder = plan.theme.folder
    templates = sorted(folder.glob("*.html")) if folder is not None else []
    if not templates:
        return
    texts = [path.read_bytes() for path in templates]
    for path, text in zip(templates, texts, strict=True):
        yield digest(path.name.encode(), text)
    yield digest_of_texts(*(repr(entry) for entry in plan.library.entries))
    yield digest_of_texts(*(f"{topic.community_id} {topic.label}" for topic in plan.topics))
    if any(_SNAPSHOT in text for text in texts):
        yield plan.library.snapshot_id.encode()
