"""Links of documents that lead nowhere, found without an index: files are parsed, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ...pipeline.address import heading_slugs
from ...pipeline.errors import RejectedDocument, SettingsError
from ...pipeline.includes.source import read_source
from ...pipeline.links.linking_documents import LinkingDocument, linking_document
from ...pipeline.links.redirects import redirects_of
from ...pipeline.links.resolve import resolve_links
from ...pipeline.model import ResolvedLink, Source
from ...pipeline.parse import parse
from ...pipeline.settings.settings import Settings
from ...pipeline.source_files import FoundFile
from ..stages.sources import list_sources

_MISSING = "missing-"


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link that leads nowhere: its file, the first line that names its target (0 if none does), and what
    is missing: a ``document``, ``heading`` or ``asset``.
    """

    path: str
    line: int
    target: str
    missing: str


@dataclass(frozen=True, slots=True)
class LinkReport:
    """The broken links of documents in order, how many links there are, and files that could not be read."""

    documents: int
    links: int
    broken: tuple[BrokenLink, ...]
    left_out: Mapping[str, str]

    def as_dict(self) -> dict[str, object]:
        """Return the report as JSON."""
        return asdict(self)


def broken_links(settings: Settings) -> LinkReport:
    """Return the links of all collections that lead nowhere; raise ``SourceError`` if none can be listed."""
    listing = list_sources(settings, rules=())
    sources: dict[str, Source] = {}
    left_out = {f"{each.collection}:{each.path}": each.reason for each in listing.rejections}
    linking = list(_linking(listing.files, settings, sources, left_out))
    assets: dict[str, list[str]] = {}
    for file in listing.assets:
        assets.setdefault(file.collection, []).append(file.path)
    links = resolve_links(linking, settings.collections, assets, redirects_of(settings.site))
    broken = [each for each in links if each.status.startswith(_MISSING)]
    named = tuple(_broken(each, sources[each.source_id], settings) for each in broken)
    return LinkReport(len(linking), len(links), named, left_out)


def _linking(
    files: tuple[FoundFile, ...], settings: Settings, sources: dict[str, Source], left_out: dict[str, str]
) -> Iterator[LinkingDocument]:
    """Yield what each document links, and note its source, or why it is none."""
    for file in files:
        collection = settings.collections[file.collection]
        try:
            source = read_source(file, collection)
            document = parse(source, collection)
        except RejectedDocument as error:
            left_out[f"{file.collection}:{file.path}"] = error.what
            continue
        except ModuleNotFoundError as error:  # of the extra, which an install that only searches lacks
            what = f"{file.path} is read with a package that is not installed: {error.name}"
            hint = "Install it: pip install 'noctule[build]'"
            raise SettingsError(what, where=file.collection, hint=hint) from None
        sources[document.doc_id] = source
        yield linking_document(document, heading_slugs(document.headings))


def _broken(link: ResolvedLink, source: Source, settings: Settings) -> BrokenLink:
    path = Path(settings.collections[source.collection].root).expanduser() / source.path
    near = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    wanted = (link.target or f"#{link.fragment}").encode(errors="surrogateescape")
    place = source.content.find(wanted)
    line = source.content.count(b"\n", 0, place) + 1 if place >= 0 else 0
    shown = link.target if link.fragment in link.target else f"{link.target}#{link.fragment}"
    return BrokenLink(str(near), line, shown, link.status.removeprefix(_MISSING))
