"""The settings of a collection: its folder, which files are documents, how to read and address them."""

from __future__ import annotations

import re
import warnings
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from ..encodings import known_encoding
from ..filesystems.opening import is_address, source_fault
from ..patterns import PathPattern
from ..printable import is_printable
from .search import Table

DEFAULT_INCLUDE = (
    "**/*.md",
    "**/*.markdown",
    "**/*.mdx",
    "**/*.qmd",
    "**/*.rst",
    "**/*.ipynb",
    "**/*.canvas",
    "**/*.html",
    "**/*.htm",
    "**/*.txt",
)
# Of the kinds in ``pipeline.assets.media``: no pattern makes an asset of a page or a script.
DEFAULT_ASSETS = ("**/*",)


class Rule(Table):
    """A regular expression and its replacement, applied to the source text before parsing."""

    pattern: str
    replacement: str = ""

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", FutureWarning)
                re.compile(pattern)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        except FutureWarning as warning:  # a later Python will read it in another way
            raise ValueError(rf"escape the bracket that begins no set, as in \[: {warning}") from None
        return pattern


def web_address(url: str) -> str:
    """Return the address; raise ``ValueError`` if it has a scheme other than that of web pages."""
    # Browsers skip line ends and tabs, also within the name of a scheme.
    if not is_printable(url) or re.search(r"\s", url.strip()):
        raise ValueError("an address has no spaces and no control characters")
    scheme = re.match(r"\s*([^/?#:]*):", url)
    if scheme and scheme[1].lower() not in ("http", "https"):
        raise ValueError(f"{scheme[1]:.40}: leads to no page; give an address that begins with https://")
    return url


def absolute_address(url: str) -> str:
    """Return the address; raise ``ValueError`` if it is neither empty nor begins with a scheme and a host."""
    if url and not re.match(r"https?://[^\s/?#]", web_address(url), re.IGNORECASE):
        raise ValueError("give the whole address, which begins with https://")
    return url


WebAddress = Annotated[str, AfterValidator(web_address)]
AbsoluteAddress = Annotated[str, AfterValidator(absolute_address)]


class Address(Table):
    """How a document's address is made, so that a hit carries the address a reader would open.

    ``path`` gives ``guide/install.html``, ``directory`` gives ``guide/install/``, ``slug`` takes the front
    matter's ``slug`` (or the path without extension). ``base_url`` goes before it. ``anchors`` says how the
    heading part is written: ``slug`` (``using-fetch``), ``underscore`` (``using_fetch``) or ``none``.
    """

    base_url: WebAddress = ""
    style: Literal["path", "directory", "slug"] = "path"
    anchors: Literal["slug", "underscore", "none"] = "slug"


class Api(Table):
    """Python packages that a collection documents: a page for each module, and ``:::`` blocks."""

    packages: tuple[str, ...] = Field(
        default=(), strict=False, description="folders of packages, or files of single modules"
    )
    pages: str = Field(default="api", description="the folder of the modules' pages; empty for none")
    inherited_members: bool = Field(default=False, description="classes show what they have from others")
    docstring_style: Literal["auto", "google", "numpy", "sphinx"] = "auto"
    # Those of mkdocstrings, by its names; a block may say otherwise.
    heading_level: int = Field(default=0, ge=0, le=6, description="0: below the heading before the block")
    show_root_heading: bool = Field(default=True, description="what a block names has a heading")
    show_root_full_path: bool = Field(default=False, description="with its dotted name in full")
    show_if_no_docstring: bool = Field(default=True, description="members without a docstring are shown")
    merge_init_into_class: bool = Field(default=False, description="a class is shown with __init__ in it")
    members_order: Literal["alphabetical", "source"] = "source"
    group_by_category: bool = Field(default=False, description="attributes, then classes, then functions")

    @field_validator("pages")
    @classmethod
    def _is_relative(cls, folder: str) -> str:
        if folder and not re.fullmatch(r"[\w-]+(?:/[\w-]+)*", folder):
            raise ValueError("pages is a folder such as api or reference/python")
        return folder


class Collection(Table):
    """One folder of documents, or an address: which files, how to read them, how to address them."""

    root: str
    snippet_folders: tuple[str, ...] = Field(
        default=(), strict=False, description="folders besides root for include directives and symbolic links"
    )
    auto_append: tuple[str, ...] = Field(
        default=(), strict=False, description="files whose text every markdown document ends with"
    )
    variables: tuple[str, ...] = Field(
        default=(),
        strict=False,
        description="files whose values {{ name }} stands for, as with mkdocs-macros",
    )
    static_folders: tuple[str, ...] = Field(
        default=(), strict=False, description="folders besides root whose files paths such as /img/x.png name"
    )
    sidebars: tuple[str, ...] = Field(
        default=(), strict=False, description="sidebars of Docusaurus whose generated pages are documents"
    )
    heading_references: bool = Field(
        default=False, description="[text][heading] leads to a heading of any page, as with mkdocs-autorefs"
    )
    include: tuple[PathPattern, ...] = Field(default=DEFAULT_INCLUDE, strict=False)
    exclude: tuple[PathPattern, ...] = Field(default=(), strict=False)
    assets: tuple[PathPattern, ...] = Field(default=DEFAULT_ASSETS, strict=False)
    language: str = "en"
    encoding: str = Field(default="", description="of text files that are not UTF-8 and declare none")
    modified_from: Literal["front-matter", "file-time", "git"] = "front-matter"
    author_from: Literal["front-matter", "git"] = "front-matter"
    git_ignored: Literal["read", "left-out"] = "read"
    drafts: bool = False
    address: Address = Address()
    api: Api = Api()
    rules: tuple[Rule, ...] = Field(default=(), strict=False)
    max_bytes: int = Field(default=5_000_000, ge=1)
    max_asset_bytes: int = Field(default=20_000_000, ge=1)

    @field_validator("encoding")
    @classmethod
    def _is_an_encoding(cls, name: str) -> str:
        return known_encoding(name) if name else ""

    @model_validator(mode="after")
    def _fits_its_root(self) -> Collection:
        if not is_address(self.root):
            return self
        if fault := source_fault(self.root):
            raise ValueError(f"root: {fault}")
        of_folders = {
            'modified_from = "git"': self.modified_from == "git",
            'author_from = "git"': self.author_from == "git",
            'git_ignored = "left-out"': self.git_ignored == "left-out",
            "snippet_folders": self.snippet_folders,
            "variables": self.variables,
            "static_folders": self.static_folders,
            "sidebars": self.sidebars,
            "api.packages": self.api.packages,
        }
        if wrong := [name for name, given in of_folders.items() if given]:
            raise ValueError(
                f"root is an address, and not a folder of this machine: leave out {', '.join(wrong)}"
            )
        return self
