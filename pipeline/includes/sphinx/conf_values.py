"""What ``conf.py`` of Sphinx gives its documents: substitutions, roles for links, and text around each.

Only what is written there as a literal is known; nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from ...errors import is_transient
from ...untrusted import as_text
from ..project import front_matter_of
from .conf_literals import MAX_CHARS, Computed, literals_of, settings_of_book

CONF = "conf.py"
MARKDOWN, RST = (".md", ".markdown"), (".rst", ".rest")
_MAX_BYTES = 500_000
_SUBSTITUTED = ("version", "release", "project", "author", "copyright")
_USED = re.compile(r"\|([A-Za-z][\w -]*)\|")
_RST_ROLE = re.compile(
    r"(?<![`\w:\\]):([A-Za-z][\w:+-]{0,80}):`(?!`)((?:[^`\n]|\n(?![ \t]*\n)){1,500})`(?!`)"
)
_MYST_ROLE = re.compile(r"(?<![`\\])\{([A-Za-z][\w:+-]{0,80})\}`(?!`)([^`\n]{1,500})`(?!`)")
_MYST_VALUE = re.compile(r"(?<!`)\{\{[ \t]*([A-Za-z_]\w*)[ \t]*\}\}")
_OWN_KEYS = ("substitutions", "myst")
_LABEL_ROLES = frozenset({"ref", "doc", "numref", "any", "term", "keyword", "option"})
_TITLED = re.compile(r"(.+?)\s*<([^<>]+)>", re.DOTALL)
_EXTERNAL = re.compile(r"external(?:\+([\w-]+))?(?::|\Z)")
_ENDING = re.compile(r"\.[A-Za-z][\w.-]{0,20}")
_KNOWN = (*MARKDOWN, *RST, ".ipynb")


@dataclass(frozen=True, slots=True)
class SphinxValues:
    """The values of one ``conf.py``; ``links`` are addresses and captions, each with ``%s``, by role."""

    texts: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # The address of each project of ``intersphinx_mapping``; which page a label is on, its inventory tells.
    projects: Mapping[str, str] = field(default_factory=dict)
    substitutions: Mapping[str, str] = field(default_factory=dict)
    computed: frozenset[str] = frozenset()  # substitutions of which only the names are known
    prolog: str = ""
    epilog: str = ""
    # By the endings of files that do not tell it, those of files that they are read like.
    formats: Mapping[str, str] = field(default_factory=dict)

    def read_as(self, path: str) -> str:
        """Return the ending of files that the one at ``path`` is read like; nothing for its own."""
        name = path.lower()
        return next((given for ending, given in self.formats.items() if name.endswith(ending.lower())), "")


def sphinx_values(path: str, folders: Sequence[Path]) -> SphinxValues | None:
    """Return what the nearest ``conf.py`` above a document gives it, in the folders that may be read."""
    for folder in Path(path).parents:
        if not any(folder.is_relative_to(each) for each in folders):
            break
        for name, reader in _READERS.items():
            content = _content_of(folder / name)
            if content is not None and (values := reader(content)) is not None:
                return values
    return None


def _content_of(conf: Path) -> bytes | None:
    try:
        if conf.is_file() and not conf.is_symlink():
            with conf.open("rb") as file:
                return file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if is_transient(error):
            raise
    return None


def with_values(text: str, path: str, values: SphinxValues) -> tuple[str, tuple[str, ...]]:
    """Return the text of a document with the values that it names, and remarks on those not known."""
    if path.lower().endswith(RST):
        return _rst(_RST_ROLE.sub(lambda found: _rst_link(found, values), text), values), ()
    if path.lower().endswith(MARKDOWN):
        text = (
            _MYST_ROLE.sub(lambda found: _myst_link(found, values), text)
            if values.links or values.projects
            else text
        )
        return _substituted(text, values.substitutions, values.computed)
    return text, ()


def _substituted(
    text: str, known: Mapping[str, str], computed: frozenset[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the text with the values that it names, and a remark on each that the script computes.

    The name stands in the place of one that is computed, as in reStructuredText.
    """
    values = {**known, **_own(text)} if any(f"{key}:" in text for key in _OWN_KEYS) else known
    left: dict[str, None] = {}

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name in computed and name not in values:
            left[name] = None
            return name
        return values.get(name, found[0])

    filled = _MYST_VALUE.sub(value, text) if values or computed else text
    return filled, tuple(
        f"the value of {name!r:.80} is computed in conf.py: its name stands there" for name in left
    )


def _own(text: str) -> dict[str, str]:
    given = front_matter_of(text)
    myst = given.get("myst")
    tables = (given.get("substitutions"), myst.get("substitutions") if isinstance(myst, Mapping) else None)
    pairs = (pair for table in tables if isinstance(table, Mapping) for pair in table.items())
    texts = ((as_text(name), as_text(each)) for name, each in pairs)
    return {name: text for name, text in texts if name is not None and text is not None}


@lru_cache(maxsize=8)
def _values_in(content: bytes) -> SphinxValues:
    return _values_of(literals_of(content) if len(content) <= _MAX_BYTES else {})


@lru_cache(maxsize=8)
def _values_in_book(content: bytes) -> SphinxValues | None:
    given = settings_of_book(content) if len(content) <= _MAX_BYTES else {}
    return _values_of(given) if given else None


_READERS: Mapping[str, Callable[[bytes], SphinxValues | None]] = {
    CONF: _values_in,
    "_config.yml": _values_in_book,
}


def _values_of(given: Mapping[str, object]) -> SphinxValues:
    texts = {name: given[name] for name in _SUBSTITUTED if _is_text(given.get(name))}
    own, links = given.get("myst_substitutions"), given.get("extlinks")
    table = own if isinstance(own, Mapping) else {}
    return SphinxValues(
        {name: str(text) for name, text in texts.items() if "\n" not in str(text)},
        dict(_links(links)) if isinstance(links, Mapping) else {},
        dict(_projects(given.get("intersphinx_mapping"))),
        {str(name): str(each) for name, each in table.items() if _is_text(each)},
        frozenset(str(name) for name, each in table.items() if each is Computed),
        str(given["rst_prolog"]) if _is_text(given.get("rst_prolog")) else "",
        str(given["rst_epilog"]) if _is_text(given.get("rst_epilog")) else "",
        formats_of(given.get("source_suffix")),
    )


def formats_of(given: object) -> dict[str, str]:
    """Return what ``source_suffix`` says of other endings than the usual: ``.rst`` or ``.md`` for each."""
    endings = given if isinstance(given, list | tuple) else (given,)
    kinds = given.items() if isinstance(given, Mapping) else ((ending, None) for ending in endings)
    return {
        ending: ".rst" if kind in (None, "restructuredtext") else ".md"
        for ending, kind in kinds
        if isinstance(ending, str) and _ENDING.fullmatch(ending) and not ending.lower().endswith(_KNOWN)
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_CHARS


def _links(given: Mapping[object, object]) -> Iterator[tuple[str, tuple[str, str]]]:
    for name, each in given.items():
        address, caption = each if isinstance(each, tuple | list) and len(each) == 2 else (None, None)
        if isinstance(name, str) and isinstance(address, str) and address.startswith(("https://", "http://")):
            yield name, (address, caption if isinstance(caption, str) else "")


def _projects(given: object) -> Iterator[tuple[str, str]]:
    for name, each in given.items() if isinstance(given, Mapping) else ():
        address = each[0] if isinstance(each, tuple | list) and each else None
        if isinstance(name, str):
            is_web = isinstance(address, str) and address.startswith(("https://", "http://"))
            yield name, str(address) if is_web else ""


def _link(found: re.Match[str], values: SphinxValues) -> tuple[str, str] | None:
    """Return the text and the address of a role that ``extlinks`` defines, or of another project's label."""
    known = values.links.get(found[1])
    titled = _TITLED.fullmatch(found[2])
    target = (titled[2] if titled else found[2]).strip()
    if known is None:
        return _elsewhere(found[1], target, titled[1] if titled else "", values)
    address, caption = known
    shown = caption.replace("%s", target) if caption else address.replace("%s", target)
    return (titled[1] if titled else shown), address.replace("%s", quote(target, safe="/:#?=&%+@~,;.!*-_"))


def _elsewhere(role: str, target: str, title: str, values: SphinxValues) -> tuple[str, str] | None:
    """Return the text and the address of a reference to a page or label of another project."""
    external = _EXTERNAL.match(role)
    project, _, label = target.partition(":")
    if external:
        project, label = external[1] or "", target
    if role.rpartition(":")[2] not in _LABEL_ROLES or not label or project not in values.projects:
        return None
    return title or label, values.projects[project]


def _rst_link(found: re.Match[str], values: SphinxValues) -> str:
    link = _link(found, values)
    if link is None:
        project, _, name = found[2].lstrip("~!").partition(":")
        is_elsewhere = project in values.projects and name[:1] not in (":", "") and "<" not in name
        before, named, after = found[0].partition("`")
        return f"{before}{named}{after.replace(f'{project}:', '', 1)}" if is_elsewhere else found[0]
    return f"`{link[0]} <{link[1]}>`__" if link[1] else link[0]


def _myst_link(found: re.Match[str], values: SphinxValues) -> str:
    link = _link(found, values)
    if link is None or not link[1]:
        return found[0] if link is None else link[0]
    return f"[{link[0]}](<{link[1]}>)"


def _rst(text: str, values: SphinxValues) -> str:
    """Return the text between prolog and epilog, if it uses names, and with what the used ones stand for."""
    used = {name for name in _USED.findall(text) if name in values.texts and f".. |{name}|" not in text}
    defined = "".join(f"\n.. |{name}| replace:: {values.texts[name]}" for name in sorted(used))
    around = values.prolog + values.epilog
    names_something = bool(around) and ("|" in text or "_" in text or ":" in text)
    head = f"{values.prolog.strip(chr(10))}\n\n" if names_something and values.prolog else ""
    tail = f"\n\n{values.epilog.strip(chr(10))}\n" if names_something and values.epilog else ""
    given = "".join(line for line in (head, tail))
    defined = "".join(
        line for line in defined.splitlines(True) if line.split("replace::")[0].strip() not in given
    )
    return f"{head}{text}{tail}" + (f"\n{defined}\n" if defined else "")
