"""Directives that contain code, or lead to other documents."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from html import escape

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.directives import misc

from ...navigation.toctree import CLASS as TOCTREE
from ...navigation.toctree import HIDDEN
from ..code.info import code_classes
from ..code.listing import options_info
from ..standard_objects import standard_anchors
from .admonitions import EQUATION, Lenient, Unknown, by_name, label_or_document

# The language of literal blocks from here on, as ``highlight`` sets it.
LANGUAGE = "noctule-language"
# Of code whose options for doctest are a subject of the text.
UNTRIMMED = "noctule-untrimmed"
# What is said of lines: their numbers, and those that are marked.
LINES = "noctule-lines"
# The block's title, which the option ``caption`` gives.
TITLE = "noctule-title"
# Attributes of the element that is written, as HTML.
GIVEN = "noctule-given"

_MAX_GUESSED = 20_000
# An assignment, a call, a decorator or a statement: other text may be read as Python by chance.
_PYTHON_SIGN = re.compile(
    r"^[ \t]*(?:[\w.\[\]'\"]+[ \t]*=\s|@?[\w.]+\(|@\w|(?:from|import|def|class|with|for|async)\s)",
    re.MULTILINE,
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")
_LANGUAGE_NAME = re.compile(r"[\w+#.-]{1,40}")
_ENTRY = re.compile(r"(.+?)\s*<([^<>]+)>")
_OPTION_LINE = re.compile(r":[\w-]+:")
_FIXED = {
    "testcode": "python",
    "doctest": "pycon",
    "ipython": "ipython",
    "jupyter-execute": "python",
    "plot": "python",
    "digraph": "dot",
    "graph": "dot",
    "graphviz": "dot",
    "uml": "plantuml",
    "mermaid": "mermaid",
    "productionlist": "bnf",
}
# In these, code follows the name; in others, a language or a name for tools.
_CODE_BESIDE = frozenset({"mermaid", "plot", "productionlist", "uml"})


class Code(Lenient):
    """A block of code whose language is its argument or follows from its name."""

    def run(self) -> list[nodes.Node]:
        """Return the code with its caption as title; nothing if the author hid it."""
        if "hide" in self.options:
            return []
        argument, code = _parts(self, beside=self.name not in _CODE_BESIDE)
        if not code.strip():
            return self.caption()
        block = nodes.literal_block(code, code)
        block[LANGUAGE] = _FIXED.get(self.name) or _language(argument)
        block[UNTRIMMED] = "no-trim-doctest-flags" in self.options
        block[LINES] = code_classes(
            options_info([f":{name}: {value}" for name, value in self.options.items()])
        )
        block[TITLE] = "".join(node.astext() for node in self.inline(self.options.get("caption", "")))
        return list(self.named(block))


class Foreign(Unknown):
    """A directive of an unknown extension: code if it can be read as Python, else text."""

    def run(self) -> list[nodes.Node]:
        """Return the code under what stands beside the name, or everything that may be meant for readers.

        What is beside the name alone may be an object of a type that an extension declares.
        """
        found = foreign_code(self) or super().run()
        if self.argument and not self.content and isinstance(found[0], nodes.paragraph):
            found[0]["ids"] += standard_anchors(self.name, self.argument)
        return found


def foreign_code(directive: Lenient, *, beside: bool = True) -> list[nodes.Node]:
    """Return the code that a directive of an unknown extension holds, nothing if it holds none.

    Without ``beside`` one with an argument beside its name holds none.
    """
    argument, code = _parts(directive, beside=True)
    language = language_of_literal(code) if beside or not argument else ""
    if not language:
        return []
    block = nodes.literal_block(code, code)
    block[LANGUAGE] = language
    return [*directive.title(argument), *directive.named(block)]


def _parts(directive: Lenient, *, beside: bool) -> tuple[str, str]:
    """Return the argument and the code, between which some authors leave no blank line."""
    lines = directive.arguments[0].split("\n") if directive.arguments else []
    is_beside = bool(lines) and not directive.block_text.partition("\n")[0].rstrip().endswith("::")
    argument = lines.pop(0) if is_beside and beside else ""
    above = [*lines, ""] if lines and directive.content else lines
    return argument, "\n".join([*above, *directive.content]).strip("\n")


def _language(argument: str) -> str:
    name = argument.split(" ", maxsplit=1)[0].lower()
    return name if _LANGUAGE_NAME.fullmatch(name) else ""


def language_of_literal(code: str) -> str:
    """Return the language of a literal block without one, which for Sphinx is Python if it can be read so."""
    if code.lstrip().startswith(">>> "):
        return "pycon"
    if len(code) > _MAX_GUESSED or not _PYTHON_SIGN.search(code):
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(textwrap.dedent(code))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    return "python"


def as_code(text: str) -> nodes.paragraph:
    """Return a paragraph that is code."""
    return nodes.paragraph("", "", nodes.literal("", text))


def listed_nodes(entries: Iterable[nodes.paragraph]) -> list[nodes.bullet_list]:
    """Return the paragraphs as a list, nothing for none."""
    items = [nodes.list_item("", entry) for entry in entries]
    return [nodes.bullet_list("", *items)] if items else []


class _Formulas(Code):
    """``math``: formulas with a blank line between, under the name that ``label`` gives them."""

    def run(self) -> list[nodes.Node]:
        """Return each formula in a block of its own."""
        said = "\n".join([*self.arguments, "", *self.content])
        drawn = [nodes.math_block("", _aligned(part)) for part in _BLANK_LINES.split(said.strip()) if part]
        if label := self.options.get("label"):
            self.options["name"] = f"{EQUATION}{label}"
        if drawn:
            self.add_name(drawn[0])
        return list(drawn)


def _aligned(latex: str) -> str:
    """Return a formula of several lines as Sphinx has it drawn: one below the other, aligned at ``&``."""
    is_bare = "\\\\" in latex and "\\begin" not in latex
    return f"\\begin{{split}}\n{latex}\n\\end{{split}}" if is_bare else latex


class _Highlight(Lenient):
    """``highlight``: the language of the literal blocks that follow."""

    def run(self) -> list[nodes.Node]:
        """Return a mark that the HTML writer reads."""
        return [nodes.comment("", **{LANGUAGE: self.argument.lower()})]


class _NamedFile(Lenient):
    """``literalinclude`` and the like: the file's name, since nothing but the document itself is read."""

    def run(self) -> list[nodes.Node]:
        name = as_code(self.argument.lstrip("./"))
        return [*self.caption(), *(self.named(name) if self.argument else [])]


class _Include(Lenient):
    """``include``: a link to the document that Sphinx would insert here."""

    def run(self) -> list[nodes.Node]:
        if not self.argument:
            return []
        text = self.argument.rpartition("/")[2]
        return [nodes.paragraph("", "", nodes.reference("", text, refuri=self.argument))]


class _TocTree(Lenient):
    """``toctree``: links to the documents below this one."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Return the caption and a list of links; nothing of it is text if the author hid it."""
        hidden = "hidden" in self.options
        found = listed_nodes(self.entries(hidden))
        caption = str(self.options.get("caption", "")) if hidden else ""
        for listed in found:
            listed[GIVEN] = f' class="{HIDDEN if hidden else TOCTREE}"' + _titled(caption)
        return [*([] if hidden else self.caption()), *found]

    def entries(self, hidden: bool) -> Iterator[nodes.paragraph]:
        """Yield one paragraph per entry; patterns cannot be followed and say nothing."""
        for line in filter(None, map(str.strip, self.content)):
            titled = _ENTRY.fullmatch(line)
            text, target = (titled[1], titled[2]) if titled else (line, line)
            untitled = not titled and "://" not in target
            if target == "self" or "*" in target:
                continue
            link = nodes.reference("", "" if hidden else text, refuri=target, untitled=untitled)
            link[GIVEN] = _titled(text) if hidden and titled else ""
            yield nodes.paragraph("", "", link)


def _titled(text: str) -> str:
    return f' title="{escape(text)}"' if text else ""


class _Autosummary(Lenient):
    """``autosummary``: the names of objects that have pages of their own."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        lines = [line.split("(")[0].strip() for line in self.content]
        names = [line for line in lines if line and not _OPTION_LINE.match(line)]
        return [*self.caption(), *listed_nodes(as_code(name.lstrip("~")) for name in names)]


class _Button(Lenient):
    """``button-ref`` and ``button-link``: a link, titled by its content."""

    def run(self) -> list[nodes.Node]:
        kind = "url" if self.name == "button-link" else self.options.get("ref-type", "any")
        text = " ".join(" ".join(self.content).split()) or self.argument
        link = nodes.reference("", "", *self.inline(text), refuri=label_or_document(self.argument, kind))
        return [nodes.paragraph("", "", link)]


class Setting(Lenient):
    """A directive that concerns the generator and not the reader."""

    def run(self) -> list[nodes.Node]:
        """Return nothing."""
        return []


_CODES = "code code-block code-cell parsed-code prompt sourcecode terminal testoutput"
_TELLING_NOTHING = """
    autosectionlabel changelog_imports codeauthor contents date default-domain index minitoc nextpage
    nocover sectionauthor sectnum section-numbering tabularcolumns target-notes testcleanup testsetup
    title-slide towncrier-draft-entries
"""

OBJECTS: dict[str, type[Directive]] = {
    **by_name(_CODES, Code),
    **by_name(" ".join(_FIXED), Code),
    **by_name("button-link button-ref", _Button),
    **by_name("literalinclude remoteliteralinclude command-output program-output", _NamedFile),
    **by_name(_TELLING_NOTHING, Setting),
    "autosummary": _Autosummary,
    "math": _Formulas,
    "cssclass": misc.Class,
    "highlight": _Highlight,
    "include": _Include,
    "rst-class": misc.Class,
    "toctree": _TocTree,
}
"""Directives for code and documents, by name."""
