"""Rendering a docutils tree as plain HTML (headings, paragraphs, lists, tables, code)."""

from __future__ import annotations

import re
from html import escape

from docutils import nodes

from ..labels import DESCRIPTION, DESCRIPTION_CONTENT, FORMULA, PARSED, UNTITLED, label_anchor
from .admonitions import FOLDS
from .faults import balanced, quoted_by
from .fields import is_first, without_settings
from .layout import DEPTH, numbering
from .objects import GIVEN, LANGUAGE, LINES, TITLE, language_of_literal
from .pictures import SHAPE

# Definitions may refer to each other: ten lines can expand to an endless page.
MAX_SUBSTITUTED_CHARS = 1_000_000
_AUTOMATIC_ID = re.compile(r"(?:section|toc-entry)-\d+|id\d+")
# The nodes that each HTML element stands for.
_NODES = {
    "blockquote": "block_quote",
    "code": "literal title_reference",
    "dd": "definition description field_body",
    "div": "footer header legend sidebar table topic",
    "dl": "definition_list field_list option_list",
    "dt": "field_name option_group",
    "em": "emphasis",
    "figcaption": "caption",
    "li": "list_item",
    "p": "attribution line_block paragraph rubric",
    "strong": "strong",
    "sub": "subscript",
    "sup": "superscript",
    "table": "tgroup",
    "tbody": "tbody",
    "thead": "thead",
    "tr": "row",
}
_TAGS = {node: tag for tag, names in _NODES.items() for node in names.split()}
# Names go inside these: around them HTML allows nothing else.
_NAMED_INSIDE = frozenset({"definition", "field_body", "list_item", "row", "tbody", "thead"})
_KEPT = frozenset({"grid", "grid-item", DESCRIPTION, DESCRIPTION_CONTENT})
_UNSEEN = frozenset({"classifier", "colspec", "label", "pending", "substitution_definition"})


def tree_html(document: nodes.document, where: str) -> str:
    """Return the document as an HTML page; raises ``RejectedDocument`` if its raw HTML is a bomb."""
    writer = _Writer(document, where)
    writer.children(document)
    title = str(document.get("title", ""))
    head = (f"<title>{escape(title)}</title>" if title else "") + "".join(writer.head)
    return f"<html><head>{head}</head><body><main>{''.join(writer.out)}</main></body></html>"


class _Writer:
    def __init__(self, document: nodes.document, where: str) -> None:
        self.document, self.where = document, where
        self.out: list[str] = []
        self.head: list[str] = []
        self.depth = 0
        self.language = ""
        self.header_cells = False
        self.substituted = 0
        self.expanding: set[str] = set()

    def children(self, node: nodes.Element) -> None:
        for child in node.children:
            self.visit(child)

    def visit(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Text):
            self.out.append(escape(node.astext(), quote=False))
        elif isinstance(node, nodes.Element):
            name = type(node).__name__
            if handler := getattr(self, f"visit_{name}", None):
                handler(node)
            elif name not in _UNSEEN:
                self.tag(_TAGS.get(name, ""), node)

    def tag(self, tag: str, node: nodes.Element, attributes: str = "") -> None:
        names = self.names(node)
        inside = type(node).__name__ in _NAMED_INSIDE
        opening, closing = (f"<{tag}{attributes}>", f"</{tag}>") if tag else ("", "")
        self.out.append(opening + names if inside else names + opening)
        self.children(node)
        self.out.append(closing)

    def names(self, node: nodes.Element, but: str = "") -> str:
        """Return empty elements with the ids of a node and, where the author named it, its labels."""
        if "refuri" in node or "refname" in node:  # a name for an address elsewhere, not for a place
            return ""
        ids = [each for each in node["ids"] if each != but]
        if not isinstance(node, nodes.footnote | nodes.citation):
            explicit = [name for name in node["names"] if self.document.nametypes.get(name)]
            ids += [label_anchor(name) for name in explicit]
        return "".join(f'<span id="{escape(each)}"></span>' for each in dict.fromkeys(ids))

    def visit_bullet_list(self, node: nodes.Element) -> None:
        self.tag("ul", node, str(node.get(GIVEN, "")))

    def visit_section(self, node: nodes.Element) -> None:
        self.depth += 1
        self.children(node)
        self.depth -= 1

    def visit_title(self, node: nodes.Element) -> None:
        parent = node.parent
        if not isinstance(parent, nodes.section):
            self.box_title(node)
            return
        wanted = nodes.make_id(node.astext())
        named = self.document.ids.get(wanted)  # a link to it, `Title <#title>`_, is no place
        is_free = wanted in parent["ids"] or (isinstance(named, nodes.target) and "refuri" in named)
        own = wanted if is_free else parent["ids"][0] if parent["ids"] else ""
        own = "" if _AUTOMATIC_ID.fullmatch(own) and own != wanted else own
        level = min(max(self.depth, 1), 6)
        at = f' id="{escape(own)}"' if own else ""
        self.out.append(f"<h{level}{at}>{self.names(parent, own)}")
        self.children(node)
        self.out.append(f"</h{level}>")

    def box_title(self, node: nodes.Element) -> None:
        if isinstance(node.parent, nodes.admonition):
            self.tag("summary" if node.parent.get(FOLDS) else "p", node, ' class="callout-title"')
        else:
            self.out.append("<p>")
            self.tag("strong", node)
            self.out.append("</p>")

    def visit_admonition(self, node: nodes.Element) -> None:
        kind = re.sub(r"[^\w-]", "", node["classes"][0]) if node["classes"] else "note"
        folds = node.get(FOLDS)
        attributes = f' class="callout callout-{kind}"' + (" open" if folds == "open" else "")
        self.tag("details" if folds else "div", node, attributes)

    def visit_literal_block(self, node: nodes.Element) -> None:
        if any(not isinstance(child, nodes.Text) for child in node.children):  # a parsed literal
            self.tag("pre", node, f' class="{PARSED}"')
            return
        classes = [name for name in node["classes"] if name != "code"]
        language = node.get(LANGUAGE) or "".join(classes[:1]) or ("" if LANGUAGE in node else self.language)
        self.code(node, language or ("" if LANGUAGE in node else language_of_literal(node.astext())))

    def visit_doctest_block(self, node: nodes.Element) -> None:
        self.code(node, "pycon")

    def visit_math(self, node: nodes.Element) -> None:
        self.out.append(f'<span class="{FORMULA}">{escape(node.astext(), quote=False)}</span>')

    def visit_math_block(self, node: nodes.Element) -> None:
        self.code(node, "math")

    def code(self, node: nodes.Element, language: str) -> None:
        classes = f"{f'language-{language}' if language else ''} {node.get(LINES, '')}".strip()
        given = {"class": classes, "title": str(node.get(TITLE, ""))}
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in given.items() if value)
        self.out.append(f"{self.names(node)}<pre{attributes}>{escape(node.astext(), quote=False)}</pre>")

    def visit_comment(self, node: nodes.Element) -> None:
        self.language = str(node.get(LANGUAGE, self.language))

    def visit_raw(self, node: nodes.Element) -> None:
        if "html" in str(node.get("format", "")).split():
            self.out.append(balanced(node.astext(), self.where))

    def visit_reference(self, node: nodes.Element) -> None:
        address = self.address(node)
        if not address or isinstance(node.parent, nodes.reference):
            self.tag("", node)
        elif title := self.title_of(str(node.get("label", ""))):
            self.out.append(f'<a href="{escape(address)}">{escape(title, quote=False)}</a>')
        else:
            untitled = f' class="{UNTITLED}"' if node.get("untitled") and node.astext() else ""
            self.tag("a", node, f' href="{escape(address)}"{untitled}{node.get(GIVEN, "")}')

    def address(self, node: nodes.Element) -> str:
        if "refuri" in node:
            return str(node["refuri"])
        return f"#{node['refid']}" if "refid" in node else ""

    def title_of(self, label: str) -> str:
        """Return the title of the section that a label of this document names, else an empty string."""
        named = self.document.ids.get(self.document.nameids.get(label) or "") if label else None
        if isinstance(named, nodes.target) and "refid" in named:
            named = self.document.ids.get(named["refid"])
        kinds = {nodes.section: nodes.title, nodes.table: nodes.title, nodes.figure: nodes.caption}
        kind = next((kinds[each] for each in kinds if isinstance(named, each)), None)
        title = named.next_node(kind) if named is not None and kind else None
        return title.astext() if title else ""

    def visit_footnote_reference(self, node: nodes.Element) -> None:
        text = f"[{escape(node.astext(), quote=False)}]"
        address = self.address(node)
        self.out.append(f'<a href="{escape(address)}">{text}</a>' if address else text)

    def visit_footnote(self, node: nodes.Element) -> None:
        label = node.next_node(nodes.label)
        shown = f"[{escape(label.astext(), quote=False)}] " if label else ""
        self.out.append(f'<div class="footnote">{self.names(node)}')
        first, *others = [child for child in node.children if child is not label] or [nodes.paragraph()]
        if isinstance(first, nodes.paragraph):
            self.out.append(f"<p>{shown}")
            self.children(first)
            self.out.append("</p>")
        else:
            self.out.append(f"<p>{shown}</p>")
            self.visit(first)
        for other in others:
            self.visit(other)
        self.out.append("</div>")

    visit_citation = visit_footnote
    visit_citation_reference = visit_footnote_reference

    def visit_image(self, node: nodes.Element) -> None:
        source, alt = escape(str(node.get("uri", ""))), escape(str(node.get("alt", "")))
        given = "".join(f' {name}="{value}"' for name, value in dict[str, str](node.get(SHAPE, {})).items())
        self.out.append(f'{self.names(node)}<img src="{source}" alt="{alt}"{given}>')

    def visit_figure(self, node: nodes.Element) -> None:
        self.tag("figure", node, _kept_classes(node))

    def visit_container(self, node: nodes.Element) -> None:
        around, self.depth = self.depth, int(node.get(DEPTH, self.depth))
        self.tag("div", node, _kept_classes(node))
        self.depth = around

    def visit_enumerated_list(self, node: nodes.Element) -> None:
        self.tag("ol", node, numbering(node))

    def visit_term(self, node: nodes.Element) -> None:
        self.out.append(f"<dt>{self.names(node)}")
        self.children(node)
        for other in node.parent.children if isinstance(node.parent, nodes.Element) else ():
            if isinstance(other, nodes.classifier):
                self.out.append(" : ")
                self.children(other)
        self.out.append("</dt>")

    def visit_option(self, node: nodes.Element) -> None:
        before = ", " if node.parent and node.parent.index(node) else ""
        self.out.append(f"{before}<code>{escape(node.astext(), quote=False)}</code>")

    def visit_line(self, node: nodes.Element) -> None:
        self.children(node)
        self.out.append("<br>")

    def visit_line_block(self, node: nodes.Element) -> None:
        self.tag("" if isinstance(node.parent, nodes.line_block) else "p", node)

    def visit_thead(self, node: nodes.Element) -> None:
        self.header_cells = True
        self.tag("thead", node)
        self.header_cells = False

    def visit_entry(self, node: nodes.Element) -> None:
        spans = {"colspan": node.get("morecols", 0) + 1, "rowspan": node.get("morerows", 0) + 1}
        attributes = "".join(f' {name}="{cells}"' for name, cells in spans.items() if cells > 1)
        tag = "th" if self.header_cells else "td"
        self.out.append(f"<{tag}{attributes}>{self.names(node)}")
        self.children(node)
        self.out.append(f"</{tag}>")

    def visit_field_list(self, node: nodes.Element) -> None:
        if isinstance(node.parent, nodes.document) and is_first(node):
            node, metas = without_settings(node)
            for name, content in metas.items():
                self.meta_tag(name, content)
        if node.children:
            self.tag("dl", node)

    def visit_meta(self, node: nodes.Element) -> None:
        self.meta_tag(str(node.get("name", "")), str(node.get("content", "")))

    def meta_tag(self, name: str, content: str) -> None:
        self.head.append(f'<meta name="{escape(name)}" content="{escape(" ".join(content.split()))}">')

    def visit_substitution_reference(self, node: nodes.Element) -> None:
        """Return what the name stands for, or the name itself if that is unknown, endless or too long."""
        name = str(node.get("refname", ""))
        known = self.document.substitution_names.get(name.lower(), name)
        definition = self.document.substitution_defs.get(known)
        if definition is None or known in self.expanding or self.substituted > MAX_SUBSTITUTED_CHARS:
            self.tag("", node)
            return
        self.substituted += len(definition.astext()) + 100
        self.expanding.add(known)
        self.children(definition)
        self.expanding.discard(known)

    def visit_system_message(self, node: nodes.Element) -> None:
        """Keep what docutils' complaints quote, which would otherwise be lost, but not the complaints."""
        self.out += quoted_by(node, min(self.depth + 1, 6))


def _kept_classes(node: nodes.Element) -> str:
    kept = [each for each in node["classes"] if each.startswith("align-") or each in _KEPT]
    return f' class="{" ".join(kept)}"' if kept else ""
