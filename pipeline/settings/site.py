"""The settings of the site: its names and addresses, its optional parts, and the owner's own files."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, field_validator

from .collection import WebAddress
from .search import Table


class Version(Table):
    """Another edition of the documents, in the site's menu; ``current`` marks this one."""

    label: str
    url: WebAddress
    current: bool = False


class Site(Table):
    """The generated site."""

    title: str = ""
    description: str = ""
    base_url: WebAddress = Field(default="", description="absolute address: sitemap, feed, canonical links")
    related: int = Field(default=5, ge=0)
    language: str = "en"
    search: bool = True
    graph: bool = True
    markdown: bool = Field(default=True, description="a .md twin of every page, and llms.txt")
    report: bool = Field(default=True, description="a page on what the last night did")
    offline: bool = Field(default=False, description="a service worker keeps what was visited")
    feed: int = Field(default=50, ge=0, description="0: no feed")
    edit_url: WebAddress = Field(default="", description="with {path} and {collection}")
    image: WebAddress = Field(default="", description="absolute address of a picture for previews of links")
    templates: str = Field(default="", description="a folder of templates, styles and files of your own")
    words: str = Field(default="", description="a TOML file with words of the interface")
    mermaid: str = Field(default="", description="a local copy of mermaid's script")
    home: str = Field(default="", description="the document that is the home page; empty: index or README")
    navigation: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = Field(
        default_factory=dict, description="files of other tools that order a collection's pages"
    )
    redirects: dict[str, str] = Field(
        default_factory=dict, description="former addresses, and the page, document or address to go to"
    )
    verify_nights: int = Field(default=7, ge=0, description="every file is read within so many; 0: never")
    versions: tuple[Version, ...] = Field(default=(), strict=False)

    def __hash__(self) -> int:  # of tables too, which are dictionaries
        return hash(self.model_dump_json())

    @field_validator("edit_url")
    @classmethod
    def _known_places(cls, url: str) -> str:
        unknown = sorted(set(re.findall(r"\{([^{}]*)\}", url)) - {"path", "collection"})
        if unknown:
            raise ValueError(f"unknown {{{unknown[0]}}}; there are {{path}} and {{collection}}")
        return url
