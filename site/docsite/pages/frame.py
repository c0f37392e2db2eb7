"""What every page of the site is given: its address, its name, and what surrounds its content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from .. import urls
from ..features import Features
from ..library import Entry
from ..outline import navigation
from ..outline.languages import Translation
from ..outline.plan import SitePlan, shard_count

# Languages that are written from right to left.
_RIGHT_TO_LEFT = "ar arc ckb dv fa he iw ks nqo ps sd syr ug ur yi"
RIGHT_TO_LEFT = frozenset(_RIGHT_TO_LEFT.split())


@dataclass(frozen=True, slots=True)
class Frame:
    """A page's place and names, and the navigation around it.

    ``site_language`` is that of the interface. ``listed`` gives a node's address in the list of all pages;
    ``previews`` is the number of preview files.
    """

    site_title: str
    site_language: str
    title: str
    description: str
    language: str
    page: str
    root: str
    href: Callable[..., str]
    listed: Callable[[navigation.Node], str]
    nav: tuple[navigation.NavItem, ...]
    features: Features
    previews: int
    snapshot_id: str
    canonical: str
    modified: str
    twin: str
    is_document: bool
    translations: tuple[Translation, ...]
    base: str
    address: Callable[[str], str]
    words_script: str = ""
    atom: str = ""
    image: str = ""
    card: bool = False
    robots: bool = True

    @property
    def full_title(self) -> str:
        """Return the page's title followed by the site's."""
        return self.title if self.title == self.site_title else f"{self.title} · {self.site_title}"

    @property
    def alternates(self) -> Mapping[str, str]:
        """Return the absolute address of this page in each language, if the site has one."""
        exact = [each for each in self.translations if each.exact] if self.base else []
        found = {each.language: self.base + self.address(each.page) for each in exact}
        return found if len(found) > 1 else {}

    @property
    def version(self) -> str:
        """Return the label of the version that this site shows."""
        return next((version.label for version in self.features.versions if version.current), "")

    @property
    def direction(self) -> str:
        """Return ``rtl`` for a language that is written from right to left."""
        return direction(self.language)

    @property
    def site_direction(self) -> str:
        """Return the direction of the site's own texts."""
        return direction(self.site_language)


def direction(language: str) -> str:
    """Return ``rtl`` or ``ltr``, as the language is written."""
    return "rtl" if language.lower().split("-")[0] in RIGHT_TO_LEFT else "ltr"


def _listed(plan: SitePlan, page: str, node: navigation.Node) -> str:
    """Return where a node is in the list of all pages."""
    return plan.library.href(page, plan.listing.page_of[node.key], node.anchor)


def frame_of(plan: SitePlan, page: str, title: str, description: str, entry: Entry | None = None) -> Frame:
    """Return the frame of any page of the site; ``entry`` is the document that it shows, if any."""
    settings = plan.settings
    base, own = settings.base_url.rstrip("/"), plan.languages.of(page)
    card = plan.cards.path(entry) if plan.cards and entry and entry.shown.listed else ""
    return Frame(
        site_title=plan.title,
        site_language=own if own in plan.theme.others else settings.language,
        title=title,
        description=description,
        language=own or (entry.language if entry else "") or settings.language,
        page=page,
        root=urls.root_of(page),
        href=partial(plan.library.href, page),
        listed=partial(_listed, plan, page),
        nav=navigation.items_for(plan.tree, page),
        features=plan.features,
        previews=shard_count(len(plan.by_page)),
        snapshot_id=plan.library.snapshot_id,
        canonical=f"{base}/{plan.library.address(page)}" if base else "",
        modified=entry.modified if entry else "",
        twin=plan.twins.get(page, ""),
        is_document=entry is not None,
        words_script=urls.words_script(own) if own in plan.theme.others else "",
        translations=plan.languages.translations(page),
        base=f"{base}/" if base else "",
        address=plan.library.address,
        atom=blog.feed if base and settings.feed and (blog := plan.blogs.of(page)) else "",
        image=f"{base}/{card}" if card else settings.image,
        card=bool(card),
        robots=entry is None or entry.shown.robots,
    )
