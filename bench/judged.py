"""Stores over the documents of the judged sets: made once, kept in the cache, used again."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from bench.children import noctule
from bench.corpora import ARCHIVES, cache_folder, data_folder, settings_file
from noctule.artifacts.judged.reading import Judged, read_corpus, read_judged
from noctule.artifacts.store.store import Store
from noctule.flows.quality.tuning.settings_file import as_toml
from noctule.pipeline.errors import NoSnapshot, SourceError, UnsupportedFormat
from noctule.pipeline.identity import canonical_json, sha256_hex
from noctule.pipeline.settings.reading import load
from noctule.pipeline.settings.settings import Settings

CORPUS_OF = {
    "scifact": "scifact",
    "cranfield": "cranfield",
    "med": "med",
    "npl": "npl",
    "ray-docs": "ray",
    "rust-book-links": "rust",
    "mdn-3p-links": "mdn",
    "mdn-3p-titlelike": "mdn",
}


def judged_sets() -> list[str]:
    """Return the names of the judged sets in the data folder whose documents are known."""
    return [name for name in CORPUS_OF if (data_folder() / "judged" / name).is_dir()]


def judged_set(name: str) -> Judged:
    """Return a judged set of the data folder."""
    return read_judged(data_folder() / "judged" / name)


def settings_for(name: str) -> Settings:
    """Return the settings that index the documents of a judged set."""
    return settings_of(CORPUS_OF[name])


def settings_of(source: str) -> Settings:
    """Return the settings that index a corpus."""
    return load(_settings_file(source))


def store_for(name: str, settings: Settings) -> Store:
    """Return a store with the set's documents, as ``store_of`` does."""
    return store_of(CORPUS_OF[name], settings)


def store_of(source: str, settings: Settings) -> Store:
    """Return a store with the corpus's documents, built with ``settings`` if there is none yet.

    Each combination of settings that shape a snapshot gets a store of its own.
    """
    same = settings.shaping() == settings_of(source).shaping()
    key = "" if same else "-" + sha256_hex(canonical_json(settings.shaping()).encode())[:12]
    store = Store(cache_folder() / f"store-{source}{key}")
    if not _readable(store.root):
        config = _settings_file(source) if same else _written(settings, source + key)
        try:
            noctule("index", "--config", config, "--store", store.root, "--no-prefect", "--json")
        except SystemExit as failure:
            raise SourceError(str(failure), where=source, hint="Its own message stands above.") from None
        _readable.cache_clear()
    return store


@lru_cache
def _readable(root: Path) -> bool:
    """Return whether the store has a snapshot of the format that this noctule reads."""
    try:
        Store(root).open().close()
    except (NoSnapshot, UnsupportedFormat):
        return False
    return True


def _settings_file(source: str) -> Path:
    if source in ARCHIVES:
        return settings_file(source)
    root = _text_corpus(source)
    path = cache_folder() / f"{source}.toml"
    path.write_text(f"[collections.{source}]\nroot = {json.dumps(str(root))}\n", "utf-8")
    return path


def _text_corpus(name: str) -> Path:
    """Return a folder with a markdown file for each document of a set that came as text."""
    target = cache_folder() / "corpora" / name
    if not target.is_dir():
        partial = target.with_suffix(".partial")
        partial.mkdir(parents=True, exist_ok=True)
        for document in read_corpus(data_folder() / "judged" / name):
            title = json.dumps(document.title, ensure_ascii=False)
            (partial / f"{document.document_id}.md").write_text(
                f"---\ntitle: {title}\n---\n\n{document.text}\n", "utf-8"
            )
        partial.rename(target)
    return target


def _written(settings: Settings, name: str) -> Path:
    path = cache_folder() / f"{name}.toml"
    path.write_text("\n".join(as_toml(settings.model_dump(mode="json"))) + "\n", "utf-8")
    return path
