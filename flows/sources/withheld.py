"""Documents that are not published for what is known only when all of them are read."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence, Set

import pyarrow as pa

from ...pipeline.address import unnumbered
from ...pipeline.identity import read_front_matter_json
from ...pipeline.model import ReportEntry
from ...pipeline.navigation.category_pages import is_of_folder, items_of
from ...pipeline.navigation.entry import REST
from ...pipeline.patterns import globs
from ...pipeline.sanitize import is_outward
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile
from ...pipeline.visibility import DRAFT
from .cascades import held_by_cascades
from .mdbook_chapters import without_a_page
from .publication_dates import held_back, pages_of
from .publishing_rules import NO_RULES, Rules, bundle_of

_IGNORED = "ignorePatterns of Quartz"
_NO_CHAPTER = "it is not in SUMMARY.md, and mdBook makes no page of it"
_RESOURCE = "it belongs to the page in {}, a leaf bundle, and Hugo makes no page of it"
_EXPLICIT = "it does not say publish: true, which ExplicitPublish of Quartz asks for"
_LEFT_OUT = "{} leaves it out"
_EMPTY = "the generated page of a category of which no page is published"


def withheld(
    rows: pa.Table, files: Iterable[FoundFile], settings: Settings, rules: Rules, day: str
) -> list[ReportEntry]:
    """Return the documents that are left out on a day, by their dates and by what settings and sections say.

    Of ``files``, those of the rows, generated pages of categories are left out that lead nowhere. Remarks on
    documents that will expire are among the rejections. Raise ``SourceError`` for a document whose rules are
    not known.
    """
    of_hugo = [name for name, rule in rules if rule.of_hugo]
    held = [*held_back(rows, settings, of_hugo, day), *held_by_cascades(rows, settings, rules)]
    pages = [file for file in files if file.category]
    held += _remarks(settings, rules)
    held += _not_published(rows, settings, rules, {(page.collection, page.path) for page in pages})
    held = list(dict.fromkeys(held))  # two rules of a collection may say the same
    return [*held, *empty_categories(pages, rows, held, settings)] if pages else held


def _not_published(
    rows: pa.Table,
    settings: Settings,
    rules: Rules,
    generated: Set[tuple[str, str]],
) -> Iterator[ReportEntry]:
    """Yield the documents that settings leave out, and all where rules cannot be read.

    What is ``generated`` for a category has no front matter: what it leads to says whether it is published.
    """
    for name, rule in rules:
        if settings.collections[name].drafts or rule == NO_RULES:
            continue
        pages, ignored = [*pages_of(rows, name)], globs(rule.ignored)
        if rule.away and pages:
            raise rule.away
        unlinked = {*without_a_page(rule.books, (path for path, _ in pages))}
        for path, front in pages:
            if rule.unread:
                why = f"{rule.unread} cannot be read and may exclude it"
            elif (name, path) in generated:
                continue
            elif ignored.match_file(path):
                why = _IGNORED
            elif path in unlinked:
                why = _NO_CHAPTER
            elif bundle := bundle_of(path, rule.bundles):
                why = _RESOURCE.format(bundle)
            elif rule.is_explicit and not _says_public(front):
                why = _EXPLICIT
            else:
                why = next((_LEFT_OUT.format(e.setting) for e in rule.exclusions if e.matches(path)), "")
            if why:
                yield ReportEntry(name, path, "skipped", f"{DRAFT} ({why})")


def _remarks(settings: Settings, rules: Rules) -> Iterator[ReportEntry]:
    """Yield notes on settings of which a part is not known, but for collections that take drafts."""
    for name, rule in rules:
        if not settings.collections[name].drafts:
            yield from (ReportEntry(name, ".", "noted", each) for each in rule.remarks)


def _says_public(front_matter: str) -> bool:
    given = read_front_matter_json(front_matter) if "publish" in front_matter else {}
    return str(given.get("publish", "")).lower() == "true"


def empty_categories(
    pages: Sequence[FoundFile], rows: pa.Table, held: Iterable[ReportEntry], settings: Settings
) -> Iterator[ReportEntry]:
    """Yield the generated pages of categories below which nothing is published."""
    lost = {(each.collection, each.path) for each in held if each.is_left_out}
    left = [page for page in pages if (page.collection, page.path) not in lost]
    lost |= {(page.collection, page.path) for page in pages}
    for name in sorted({page.collection for page in left}):
        known = set(_names(rows, name, lost))
        for page in (each for each in left if each.collection == name):
            if not any(_leads(item, known) for item in _items(page, settings)):
                yield ReportEntry(name, page.path, "skipped", _EMPTY)


def _items(page: FoundFile, settings: Settings) -> tuple[str, ...]:
    """Return what a category lists, as the sidebars of Docusaurus write it."""
    if is_of_folder(page):
        return (f"{page.category}/{REST}",)
    return items_of(page, settings.collections[page.collection])


def _leads(item: str, known: Set[str]) -> bool:
    """Return whether an item leads to what is published."""
    if is_outward(item) or item.startswith("/"):
        return True
    return f"{posixpath.dirname(item)}/" in known if item.endswith(REST) else item in known


def _names(rows: pa.Table, collection: str, lost: Set[tuple[str, str]]) -> Iterator[str]:
    """Yield what sidebars call the published documents, and the folders that these lie in, with a slash."""
    for path, front in pages_of(rows, collection):
        if (collection, path) not in lost:
            yield from _spellings(path, front)


def _spellings(path: str, front_matter: str) -> Iterator[str]:
    stem = posixpath.splitext(path)[0]
    folder = posixpath.dirname(path)
    yield from (stem, unnumbered(stem), "/")
    if '"id"' in front_matter:
        own = read_front_matter_json(front_matter).get("id")
        yield from (posixpath.join(each, str(own)) for each in (folder, unnumbered(folder)))
    while folder:
        yield f"{folder}/"
        folder = posixpath.dirname(folder)
