"""Documents that were saved since the snapshot, parsed by the build's own stage and shown by its own plan.

The site's plan is made anew from the snapshot's tables with the edited rows in place, so that pages, their
navigation, tags and backlinks are those of the next build. What that build alone can know stays as it was:
topics, related words, images that no document named before.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import pyarrow.compute as pc

from ...artifacts.cache.parsed_corpus import ParsedCorpus, joined
from ...artifacts.store.snapshot import Snapshot
from ...docsite.outline.plan import SitePlan, plan_site
from ...docsite.pages.documents import render_page
from ...pipeline.discover import list_files
from ...pipeline.errors import SourceError
from ...pipeline.filesystems.opening import is_address
from ...pipeline.identity import doc_id
from ...pipeline.links.redirects import redirects_of
from ...pipeline.links.resolve import resolve_links
from ...pipeline.model import ResolvedLink, leads_nowhere
from ...pipeline.parse.front_matter import FAULTY
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile
from ..engines import Caller
from ..run.versions import parse_fingerprints
from ..sources.page_titles import title_in_collection
from ..sources.publication_dates import rows_of, today
from ..sources.publishing_rules import rules_of
from ..sources.withheld import withheld
from ..stages.parse import isolated
from ..stages.parse_batch import FileBatch
from .edited_tables import Edit, EditedTables
from .problems import PreviewProblem, problem_of

# Renamed folders and changed branches are left to the build, which does many at once.
MOST_FILES = 32


@dataclass(frozen=True, slots=True)
class Edition:
    """The site with all edits: its plan, none without edits, and what keeps a file from being shown."""

    plan: SitePlan | None
    edits: Mapping[str, Edit]
    problems: Mapping[str, PreviewProblem]

    def page_of(self, path: str) -> bytes | None:
        """Return the page of a document at this path of the site, or nothing for another file."""
        entry = self.plan.by_page.get(path) if self.plan else None
        if self.plan is None or entry is None:
            return None
        return render_page(self.plan, entry, self.plan.renderer.render(entry)).content


class Editor:
    """Shows files as they are saved; ``snapshot`` is open for as long, and one thread calls at a time."""

    def __init__(self, settings: Settings, snapshot: Snapshot, workers: Caller) -> None:
        self._settings, self._workers = settings, workers
        self._tables, self._edits = EditedTables(snapshot), dict[str, Edit]()
        self._problems: dict[str, PreviewProblem] = {}
        self._fingerprints = parse_fingerprints(settings)
        local = {name: c for name, c in settings.collections.items() if not is_address(c.root)}
        self._roots = {name: Path(os.path.realpath(c.root)) for name, c in local.items()}
        self._generated = [each for name in local for each in self._listed(name) if each.category]
        self._lock = threading.Lock()
        self._plan: SitePlan | None = None  # the last one

    def warm(self) -> None:
        """Read the tables, plan the site and parse a file once: the first one saved takes no longer."""
        self._tables.linking()
        self._plan = plan_site(self._tables, self._settings.site)
        local = (entry for entry in self._plan.library.entries if entry.collection in self._roots)
        for entry in islice(local, 1):
            root = self._roots[entry.collection]
            self._parsed(FoundFile(entry.collection, entry.path, str(root / entry.path), 0))

    def shown(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Return the paths that are documents, or that documents include."""
        with self._lock:
            return tuple(found for path in paths for found in (path, *self._including(path)))

    def apply(self, paths: Iterable[Path]) -> Edition:
        """Return the site with the files at these paths as they are now."""
        with self._lock:
            files, gone = self._found(paths)
            self._edits |= dict.fromkeys(gone, Edit())
            for name in gone:
                self._problems.pop(name, None)
            for file in files[:MOST_FILES]:
                self._parse(file, self._edits)
            self._tables = self._tables.with_edits(self._edits)
            edits = self._edits | self._withheld()
            self._tables = self._tables.with_edits(edits)
            self._tables = self._tables.with_edits(self._with_links(edits))
            if edits:
                self._plan = plan_site(self._tables, self._settings.site, before=self._plan)
            return Edition(self._plan if edits else None, self._tables.edits, dict(self._problems))

    def _parse(self, file: FoundFile, edits: dict[str, Edit]) -> None:
        """Put the file's document among the edits; one that cannot be used stays as it was, with a reason."""
        name = doc_id(file.collection, file.path)
        parsed = self._parsed(file)
        self._problems.pop(name, None)
        if parsed.documents.num_rows:
            edits[name] = Edit(parsed)
        for rejection in parsed.rejections:
            if rejection.kind == "skipped":  # a draft, say, which its author has taken back
                edits[name] = Edit()
            elif rejection.kind == "quarantined" or rejection.reason.startswith(FAULTY):
                self._problems[name] = problem_of(rejection, file.location)

    def _withheld(self) -> dict[str, Edit]:
        """Return the documents that are private as everything is now, by settings of their tool or by dates.

        What a section of Hugo says that is private itself stands in its file alone.
        """
        columns = ["doc_id", "collection", "path", "front_matter"]
        rows = rows_of(self._tables.table("documents", columns))
        rules = rules_of(self._settings, with_sections=True)
        held = withheld(rows, self._generated, self._settings, rules, today())
        return {doc_id(each.collection, each.path): Edit() for each in held if each.is_left_out}

    def _parsed(self, file: FoundFile) -> ParsedCorpus:
        batch = FileBatch(((file,),), self._settings, self._fingerprints)
        return joined(isolated(self._workers, batch))

    def _with_links(self, edits: Mapping[str, Edit]) -> dict[str, Edit]:
        """Return the edits with their links resolved among all documents."""
        assets: dict[str, list[str]] = {}
        table = self._tables.table("assets", ["collection", "path"])
        for collection, path in zip(*(table.column(i).to_pylist() for i in range(2)), strict=True):
            assets.setdefault(collection, []).append(path)
        found: dict[str, list[ResolvedLink]] = {}
        redirects, collections = redirects_of(self._settings.site), self._settings.collections
        for link in resolve_links(self._tables.linking(), collections, assets, redirects):
            found.setdefault(link.source_id, []).append(link)
        found = {name: self._known_links(name, links) for name, links in found.items()}
        return {name: Edit(edit.parsed, tuple(found.get(name, ()))) for name, edit in edits.items()}

    def _known_links(self, name: str, links: Sequence[ResolvedLink]) -> list[ResolvedLink]:
        """Return the links; one that seems to be broken leads where it led, for labels are not known here."""
        before = self._tables.links_before(name)
        known = (before.get((each.kind, each.target), each) for each in links)
        return [
            replace(old, ordinal=new.ordinal, text=new.text) if leads_nowhere(new.status) else new
            for new, old in zip(links, known, strict=True)
        ]

    def _found(self, paths: Iterable[Path]) -> tuple[list[FoundFile], list[str]]:
        """Return the documents' files at these paths, and the ids of documents that are gone."""
        files: dict[str, FoundFile] = {}
        gone: list[str] = []
        for path in paths:
            for collection, relative in self._places(path):
                known = self._known(doc_id(collection, relative))
                if path.is_file():
                    found = self._file(collection, relative, path, known)
                    files |= {relative: found} if found else {}
                else:
                    gone += [name for name in self._below(collection, relative) if name not in gone]
        return list(files.values()), gone

    def _places(self, path: Path) -> list[tuple[str, str]]:
        """Return the collections that the path lies in, with the path in each."""
        return [
            (name, path.relative_to(root).as_posix())
            for name, root in self._roots.items()
            if path.is_relative_to(root)
        ]

    def _known(self, name: str) -> Mapping[str, str] | None:
        """Return the columns of a document that its file does not tell."""
        documents = self._tables.table("documents")
        at = pc.index(documents.column("doc_id"), name).as_py()
        if at < 0:
            return None
        row: dict[str, str] = documents.select(["modified", "author"]).slice(at, 1).to_pylist()[0]
        return row

    def _file(
        self, collection: str, relative: str, path: Path, known: Mapping[str, str] | None
    ) -> FoundFile | None:
        """Return the file if it is a document of the collection; a new one is found as in a build."""
        title = title_in_collection(collection, relative, self._settings)
        if known is not None:
            size, author = path.stat().st_size, known["author"] or ""
            return FoundFile(collection, relative, str(path), size, known["modified"], author, title)
        found = next((file for file in self._listed(collection) if file.path == relative), None)
        return replace(found, title=title) if found else None

    def _listed(self, collection: str) -> Sequence[FoundFile]:
        """Return the files of a collection, none where they cannot be listed: the build says so."""
        try:
            return list_files(collection, self._settings.collections[collection]).files
        except SourceError:
            return ()

    def _below(self, collection: str, relative: str) -> list[str]:
        """Return the documents at this path or, if it was a folder, below it."""
        names = self._tables.table("documents").column("doc_id")
        name = doc_id(collection, relative)
        known = pc.or_(pc.equal(names, name), pc.starts_with(names, f"{name}/"))
        found: list[str] = names.filter(known).to_pylist()
        return found

    def _including(self, path: Path) -> list[Path]:
        """Return the files of documents that name a file which is none itself."""
        if any(self._known(doc_id(*place)) for place in self._places(path)):
            return []
        documents = self._tables.table("documents")
        columns = zip(*(documents.column(n).to_pylist() for n in ("collection", "path")), strict=True)
        files = (self._roots[collection] / relative for collection, relative in columns)
        return [file for file in files if _names(file, path.name.encode())][:MOST_FILES]


def _names(file: Path, name: bytes) -> bool:
    try:
        return name in file.read_bytes()
    except OSError:
        return False
