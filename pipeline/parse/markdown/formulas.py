"""Formulas as LaTeX: ``$x^2$`` or ``\\(x^2\\)`` within a line, ``$$`` or ``\\[`` on lines of its own.

So are environments of amsmath, such as ``\\begin{align}``, which Jupyter and MathJax show without such signs.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

MAX_CHARS = 5_000
_ENDS = "formula_ends"
# Amounts of money are not formulas: a formula neither begins nor ends at a space, and no letter or digit
# follows the last $.
_INLINE = re.compile(r"\$(?![\s$])((?:\\[^\n]|[^\\$\n]|\n(?!\s*\n)){1,1000})(?<!\s)\$(?![\w$])")
_DISPLAY = re.compile(r"\$\$((?:\\[\s\S]|[^\\$]){1,5000})\$\$")
# As MathJax has them. Brackets that an author escaped hold no sign of mathematics.
_BRACKETED = re.compile(r"\\(?:\(((?:[^\\\n]|\\[^()\n]){1,1000})\\\)|\[((?:[^\\]|\\[^\[\]]){1,5000})\\\])")
_SIGN = re.compile(r"[\\^_={}<>+*/|]|\A\s*[A-Za-z]\s*\Z")
_ENVIRONMENT = re.compile(
    r"\\begin\{((?:equation|multline|gather|align(?:at)?|flalign|eqnarray|[pbBvV]?matrix)\*?)\}"
)
# Words between two dollar signs are a formula only if something in them looks like one.
_LOOKS_LIKE_MATHS = re.compile(r"[\\^_={}<>+*/|]|\A[\w']{1,3}\Z|\w\([\w, ]*\)\Z")


def formula(state: StateInline, silent: bool) -> bool:
    """Parse a ``formula`` token, whose ``meta`` holds ``latex`` and ``display`` (an inline rule)."""
    src, pos = state.src, state.pos
    if src.startswith(("\\(", "\\["), pos):
        return _bracketed(state, silent)
    if (end := _end_of_environment(src, pos)) is not None:
        return _pushed(state, end, src[pos:end], silent, display=True)
    if src[pos] != "$":
        return False
    display = src.startswith("$$", pos)
    found = (_DISPLAY if display else _INLINE).match(src, pos, state.posMax)
    if not found or not (display or _LOOKS_LIKE_MATHS.search(found[1])) or not found[1].strip():
        return False
    return _pushed(state, found.end(), found[1].strip(), silent, display=display)


def _bracketed(state: StateInline, silent: bool) -> bool:
    found = _BRACKETED.match(state.src, state.pos, state.posMax)
    latex = (found[1] or found[2]) if found else ""
    if not found or not _SIGN.search(latex) or (found[2] and not _is_alone(state.src, *found.span())):
        return False
    return _pushed(state, found.end(), latex.strip(), silent, display=found[2] is not None)


def _end_of_environment(src: str, at: int) -> int | None:
    """Return where the environment ends that begins there; none if there is none or it is too long."""
    found = _ENVIRONMENT.match(src, at)
    if found is None:
        return None
    closing, depth, begin, end = f"\\end{{{found[1]}}}", 1, found.end(), found.end()
    while depth:
        begin, end = end, src.find(closing, end, at + MAX_CHARS) + len(closing)
        if end < len(closing):
            return None
        depth += src.count(found[0], begin, end) - 1
    return end


def _pushed(state: StateInline, end: int, latex: str, silent: bool, *, display: bool) -> bool:
    """Take the text up to ``end`` as a formula."""
    if not silent:
        token = state.push("formula", "", 0)
        token.content = state.src[state.pos : end]
        token.meta = {"latex": latex, "display": display}
    state.pos = end
    return True


def _is_alone(text: str, start: int, end: int) -> bool:
    """Return whether nothing else stands on the lines of a formula: in a line, brackets are escaped ones."""
    before, after = text[text.rfind("\n", 0, start) + 1 : start], text[end:].partition("\n")[0]
    return not before.strip() and not after.strip()


def formula_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse lines from ``$$`` to ``$$`` as one paragraph, whatever they begin with (a block rule).

    So are those of an environment.
    """
    first = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(("$$", "\\begin{"), first) or state.is_code_block(start):
        return False
    is_marked = state.src[first] == "$"
    closing = _closing(state, start, end) if is_marked else _last_line(state, start, end)
    if closing is None:
        return False
    if not silent:
        _push(state, start, closing)
    return True


def _closing(state: StateBlock, start: int, end: int) -> int | None:
    """Return the line that ends in ``$$``; none if another block or too much text comes before it."""
    text = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].rstrip()
    if text.endswith("$$") and len(text) > 4:
        return start
    closings, blanks = _ends(state)
    found = bisect_right(closings, start)
    line = closings[found] if found < len(closings) else end
    if line >= end or bisect_right(blanks, line) > bisect_right(blanks, start):
        return None
    if state.eMarks[line] - state.bMarks[start] > MAX_CHARS:
        return None
    return line if _is_whole(state, start, line) else None


def _last_line(state: StateBlock, start: int, end: int) -> int | None:
    """Return the line on which the environment ends that begins on the first, if nothing follows it there."""
    ending = _end_of_environment(state.src, state.bMarks[start] + state.tShift[start])
    if ending is None:
        return None
    line = bisect_left(state.eMarks, ending)
    is_last = line < end and not state.src[ending : state.eMarks[line]].strip()
    return line if is_last and _is_whole(state, start, line) else None


def _is_whole(state: StateBlock, start: int, line: int) -> bool:
    """Return whether no line up to this one is blank or belongs to what is around."""
    inside = range(start + 1, line + 1)
    return all(state.sCount[each] >= state.blkIndent and not state.isEmpty(each) for each in inside)


def _ends(state: StateBlock) -> tuple[list[int], list[int]]:
    """Return the lines that end in ``$$`` and those that are blank, looked for once in a text."""
    known = state.env.get(_ENDS)
    if known is None or known[0] is not state.src:
        lines = [state.src[begin:end].rstrip() for begin, end in zip(state.bMarks, state.eMarks, strict=True)]
        closings = [at for at, line in enumerate(lines) if line.endswith("$$")]
        known = state.env[_ENDS] = state.src, closings, [at for at, line in enumerate(lines) if not line]
    return known[1], known[2]


def _push(state: StateBlock, start: int, closing: int) -> None:
    lines = [start, closing + 1]
    state.push("paragraph_open", "p", 1).map = lines
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, closing + 1, state.blkIndent, False).strip()
    inline.map, inline.children = lines, []
    state.push("paragraph_close", "p", -1)
    state.line = closing + 1
