"""The syntax tree of a JavaScript or TypeScript file, made within bounds of time and of the stack.

``tree-sitter`` recurs where the readings of an ambiguous text meet, such as those of ``{a:{a:{a:``, and lexes
the rest of a broken one again and again.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from functools import cache

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Point

# Of a script, and of an expression in a document, of which there may be many.
MAX_BYTES, MAX_EXPRESSION_BYTES = 256_000, 100_000
_CHUNK = 256
# How often the lexer may fetch a chunk, and the parser go a hundred steps, for any text and each 1,000 bytes;
# a hundred steps cost up to 0.4 ms. 1,370 scripts in packages, minified ones among them, took 7 (and 300) and
# 20 for each 1,000 bytes at most, and ``a.b,`` takes 58.
_FETCHES, _STEPS, _MOST_STEPS = (300, 30), (20, 70), 6_500
# 110 bytes of stack were measured for the three characters of ``{a:``; a thread may have 128 KB in all.
_STACK, _MOST_ON_ANY_STACK = 32 << 20, 1_000
_starting = threading.Lock()
_ESCAPE = re.compile(r"\\(?:u\{?([0-9A-Fa-f]{1,6})\}?|x([0-9A-Fa-f]{2})|(\r\n|[\s\S]))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}


def parsed(source: str, name: str = "", max_bytes: int = MAX_BYTES) -> Node | None:
    """Return the root of the tree of a script; None for one that is too large or too broken.

    In a file with the name of one of TypeScript, ``<Type>value`` is no element.
    """
    text = source.encode("utf-8", "replace")
    grammar = "typescript" if name.endswith(("ts", ".json")) else "tsx"
    if len(text) > max_bytes:
        return None
    if len(text) <= _MOST_ON_ANY_STACK:
        return _parse(text, grammar)
    return _parsed_on_own_stack(text, grammar)


def _parsed_on_own_stack(text: bytes, grammar: str) -> Node | None:
    """Return the root of a tree, made on a thread whose stack is large enough; None where none may be had."""
    found: list[Node | None] = []
    thread = threading.Thread(target=lambda: found.append(_parse(text, grammar)))
    with _starting:
        try:
            before = threading.stack_size(_STACK)
        except (RuntimeError, ValueError):  # the system sets no stack's size
            return None
        try:
            thread.start()
        except RuntimeError:  # no room for the stack
            return None
        finally:
            threading.stack_size(before)
    thread.join()
    return found[0] if found else None


def _parse(text: bytes, grammar: str) -> Node | None:
    fetches, steps = (least + each * len(text) // 1_000 for least, each in (_FETCHES, _STEPS))
    steps = min(steps, _MOST_STEPS)

    def chunk(at: int, _: Point) -> bytes:
        nonlocal fetches
        fetches -= 1
        return text[at : at + _CHUNK] if fetches >= 0 else b""

    def is_too_much(*_: object) -> bool:
        nonlocal steps
        steps -= 1
        return steps < 0 or fetches < 0

    try:
        tree = Parser(_language(grammar)).parse(chunk, progress_callback=is_too_much)
    except ValueError:
        return None
    is_whole, fetches = fetches >= 0, sys.maxsize  # nodes fetch their text in the same way
    return tree.root_node if is_whole else None


@cache
def _language(grammar: str) -> Language:
    given = {
        "tsx": tree_sitter_typescript.language_tsx,
        "typescript": tree_sitter_typescript.language_typescript,
    }
    return Language(given[grammar]())


def nodes_below(root: Node) -> Iterator[Node]:
    """Yield a node and all in it, from the first to the last; a tree may be deeper than Python recurs."""
    cursor = root.walk()
    while True:
        if (node := cursor.node) is not None:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def parts(node: Node) -> list[Node]:
    """Return the named nodes in one, without comments."""
    return [each for each in node.named_children if each.type != "comment"]


def field(node: Node, name: str) -> Node | None:
    """Return the node in one that has a role there."""
    return node.child_by_field_name(name)


def text_of(node: Node | None) -> str:
    """Return what stands in the script there."""
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def string_of(node: Node | None) -> str:
    """Return what a string says; nothing for what is none."""
    return _unescaped(text_of(node)[1:-1]) if node is not None and node.type == "string" else ""


def template_of(node: Node) -> Iterator[str | Node]:
    """Yield the texts in a template, and between them what is computed."""
    text, at = node.text or b"", 1
    for each in (each for each in parts(node) if each.type == "template_substitution"):
        yield _unescaped(text[at : each.start_byte - node.start_byte].decode("utf-8", "replace"))
        yield each
        at = each.end_byte - node.start_byte
    yield _unescaped(text[at:-1].decode("utf-8", "replace"))


def number_of(node: Node) -> float | None:
    """Return a number with its sign; None for what is none."""
    text = text_of(node).replace("_", "")
    digits = text.removeprefix("-").strip()
    if not digits[:1].isdecimal():
        return None
    try:
        number = float(int(digits, 0)) if digits[1:2] in tuple("xXoObB") else float(digits)
    except (ValueError, OverflowError):
        return None
    return -number if text.startswith("-") else number


def _unescaped(text: str) -> str:
    """Return a text with the characters that its escapes stand for, of which two may be the halves of one."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_letter, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _letter(found: re.Match[str]) -> str:
    if number := found[1] or found[2]:
        code = int(number, 16)
        return chr(code) if code < 0x110000 else ""
    return _LETTERS.get(found[3], found[3])
