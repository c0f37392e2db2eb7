"""Inline marks beyond CommonMark: highlights, keys, tracked changes, tasks, abbreviations.

They are those of Material for MkDocs, Obsidian, Docusaurus and GitHub.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from .icons import inline_runs, shortcode
from .myst.roles import role

KEYS, TASK = "keys", "task"
# What Obsidian's themes agree on, besides GitHub's "to do" and "done": the states of tasks by their signs.
TASK_STATES = {
    "/": "in progress", "-": "cancelled", ">": "deferred", "<": "scheduled", "?": "question",
    "!": "important", "*": "starred", "~": "partly done", '"': "quotation",
}  # fmt: skip
_STATE = re.compile(rf"\[([{re.escape(''.join(TASK_STATES))}])\][ \t]+(?=\S)")
_CHECKED = re.compile(r"\[([ xX])\][ \t\n\v\f\r]")

# No letter or digit stands before or after, as it does in comparisons.
_HIGHLIGHT = re.compile(r"(?<!\w)==(?=[^\s=])((?:[^\n=]|=(?!=)){1,500}?)(?<=\S)==(?!\w)")
_INSERTED = re.compile(r"\^\^(?=[^\s^])([^\n^]{1,500})(?<=\S)\^\^")
_KEY = r'(?:[a-z0-9][a-z0-9-]*|"[^"\n]{1,30}")'
_PRESSED = re.compile(rf"(?<!\w)\+\+({_KEY}(?:\+{_KEY}){{0,8}})\+\+(?!\w)")
_EACH_KEY = re.compile(_KEY)
# What stands on keys whose name is another, in PyMdown's words for them.
_KEY_NAMES = {
    "add": "Num +", "alt-graph": "AltGr", "altgr": "AltGr", "apps": "Menu", "arrow-down": "Down",
    "arrow-left": "Left", "arrow-right": "Right", "arrow-up": "Up", "back": "Backspace", "backslash": "\\",
    "backtab": "Back Tab", "bar": "|", "bksp": "Backspace", "bktab": "Back Tab", "brace-left": "{",
    "brace-right": "}", "bracket-left": "[", "bracket-right": "]", "colon": ":", "comma": ",",
    "command": "Cmd", "context-menu": "Menu", "control": "Ctrl", "cplk": "Caps Lock", "decimal": "Num .",
    "delete": "Del", "divide": "Num /", "double-quote": '"', "equal": "=", "escape": "Esc", "exclam": "!",
    "function": "Fn", "grave": "`", "greater": ">", "hyphen": "-", "insert": "Ins", "lcmd": "Left Command",
    "lctrl": "Left Ctrl", "left-control": "Left Ctrl", "left-windows": "Left Win", "less": "<",
    "lshift": "Left Shift", "lwin": "Left Win", "media-play-pause": "Play/Pause", "minus": "-",
    "multiply": "Num *", "numlk": "Num Lock", "opt": "Option", "period": ".", "pg-dn": "Page Down",
    "pg-up": "Page Up", "pipe": "|", "plus": "+", "prtsc": "Print Screen", "question": "?",
    "ralt": "Right Alt", "rctrl": "Right Ctrl", "return": "Enter", "right-control": "Right Ctrl",
    "right-windows": "Right Win", "rshift": "Right Shift", "rwin": "Right Win", "scroll": "Scroll Lock",
    "semicolon": ";", "single-quote": "'", "slash": "/", "spc": "Space", "subtract": "Num -",
    "tilde": "~", "underscore": "_", "volume-mute": "Mute", "windows": "Win",
}  # fmt: skip
_CHANGE = re.compile(r"\{(\+\+|--|==|>>)((?:[^{}\n]|\n(?!\s*\n)){1,1000}?)(\+\+|--|==|<<)\}")
_SUBSTITUTED = re.compile(r"\{~~([^{}~\n]{0,500})~>([^{}~\n]{0,500})~~\}")
_TRACKED = {("++", "++"): "ins", ("--", "--"): "del", ("==", "=="): "mark", (">>", "<<"): ""}
# Before code in a line, in Material for MkDocs; after it in Quartz, Nextra and Fumadocs. Three colons may
# also open a box of another tool.
_LANGUAGE = re.compile(
    r"\A(?:#!|:::(?!(?:caution|danger|details|important|info|note|success|tip|warning)\b))"
    r"[a-z][\w+-]{0,20} +(?=\S)"
    r"|(?<=\S)\{:\.?[a-z][\w.+-]{0,20}\}\Z"
)
_ATTRIBUTES = re.compile(
    r"\{:?[ \t]*(?:[.#][\w:-]+|[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|[\w:%-]+))"
    r"(?:[ \t]+(?:[.#][\w:-]+|[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|[\w:%-]+)))*[ \t]*\}"
)
# PyMdown's bars: a share or a fraction, and a label.
_PROGRESS = re.compile(
    r"\[=[ \t]*(\d{1,3}(?:\.\d+)?%|\d{1,6}/\d{1,6})"
    r"(?:[ \t]+(?:\"([^\"\n]{0,200})\"|'([^'\n]{0,200})'))?[ \t]*\]"
)
_ABBREVIATION = re.compile(r"\*\[([^\[\]\n]{1,60})\]:[ \t]*([^\n]{1,300})")


def mark(state: StateInline, silent: bool) -> bool:
    """Parse one mark (an inline rule); its tokens are those of HTML's elements, and ``keys``."""
    rule = _RULES.get(state.src[state.pos])
    return rule is not None and rule(state, silent)


def _highlight(state: StateInline, silent: bool) -> bool:
    found = _HIGHLIGHT.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        _element(state, "mark", found.start(1), found.end(1))
    state.pos = found.end()
    return True


def _keys(state: StateInline, silent: bool) -> bool:
    found = _PRESSED.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        names = _EACH_KEY.findall(found[1])
        token = state.push(KEYS, "", 0)
        token.meta = {"names": [name[1:-1] if name[0] == '"' else _key_name(name) for name in names]}
        token.content = "+".join(token.meta["names"])
    state.pos = found.end()
    return True


def _key_name(name: str) -> str:
    shown = _KEY_NAMES.get(name)
    return shown or (name.upper() if len(name) == 1 else " ".join(map(str.capitalize, name.split("-"))))


def render_keys(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Return the keys as HTML."""
    return "+".join(f"<kbd>{escapeHtml(name)}</kbd>" for name in tokens[index].meta["names"])


def _braces(state: StateInline, silent: bool) -> bool:
    """Parse a role, a change of CriticMarkup, or an attribute list that no rule before this one took."""
    if role(state, silent):
        return True
    found = _CHANGE.match(state.src, state.pos, state.posMax)
    tag = _TRACKED.get((found[1], found[3])) if found else None
    if found and tag is not None:
        if tag and not silent:
            _element(state, tag, found.start(2), found.end(2))
        state.pos = found.end()
        return True
    if found := _SUBSTITUTED.match(state.src, state.pos, state.posMax):
        if not silent:
            _element(state, "del", found.start(1), found.end(1))
            _element(state, "ins", found.start(2), found.end(2))
        state.pos = found.end()
        return True
    listed = _ATTRIBUTES.match(state.src, state.pos, state.posMax)
    # After text it is text, such as a set or a placeholder; at the end of a line it is python-markdown's.
    before = state.src[state.pos - 1 : state.pos]
    alone = (
        before in ("", "\n") and state.src[listed.end() : listed.end() + 1] in ("", "\n") if listed else False
    )
    if not listed or not (alone or before in set(")]*_`:>") or (state.pos and listed[0].startswith("{:"))):
        return False
    state.pos = listed.end()
    return True


def bare_code(state: StateCore) -> None:
    """Take the language from the head of code in a line, ``#!python x`` (a core rule, after ``inline``)."""
    for run in inline_runs(state):
        for child in run:
            if child.type == "code_inline":
                child.content = _LANGUAGE.sub("", child.content)


def _element(state: StateInline, tag: str, start: int, end: int) -> None:
    """Push an element with the tokens of the text in ``[start, end)``."""
    most = state.posMax
    state.push(f"{tag}_open", tag, 1)
    state.pos, state.posMax = start, end
    state.md.inline.tokenize(state)
    state.push(f"{tag}_close", tag, -1)
    state.posMax = most


def _progress(state: StateInline, silent: bool) -> bool:
    """Parse a bar, ``[=75% "Loaded"]``, as the text that it shows, and how far it is."""
    found = _PROGRESS.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        label = (found[2] or found[3] or "").strip()
        state.push("text", "", 0).content = (
            f"{label} ({found[1]})" if label not in ("", found[1]) else found[1]
        )
    state.pos = found.end()
    return True


_RULES = {"=": _highlight, "+": _keys, "{": _braces, ":": shortcode, "[": _progress}


def inserted(state: StateInline, silent: bool) -> bool:
    """Parse ``^^inserted^^`` (an inline rule, before that of superscript)."""
    if not state.src.startswith("^^", state.pos):
        return False
    found = _INSERTED.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        _element(state, "ins", found.start(1), found.end(1))
    state.pos = found.end()
    return True


def mark_tasks(state: StateCore) -> None:
    """Turn ``- [/] text`` into an item of a list of tasks, with a token ``task`` (before ``inline``)."""
    for at, around in _items(state.tokens):
        token = state.tokens[at]
        if found := _STATE.match(token.content):
            token.content = token.content[found.end() :]
            token.children = [Token(TASK, "", 0, meta={"state": TASK_STATES[found[1]]}, content=found[1])]
            _mark_task(state.tokens[at - 2], around)


def check_tasks(state: StateCore) -> None:
    """Give items such as ``- [ ] text`` and ``- [x] text`` a box, ticked or not (after ``inline``)."""
    for at, around in _items(state.tokens):
        token = state.tokens[at]
        if token.children and (found := _CHECKED.match(token.content)):
            ticked = "" if found[1] == " " else 'checked="checked" '
            box = f'<input class="task-list-item-checkbox" {ticked}disabled="disabled" type="checkbox">'
            token.children[0].content = token.children[0].content[3:]
            token.children.insert(0, Token("html_inline", "", 0, content=box))
            token.content = token.content[3:]
            _mark_task(state.tokens[at - 2], around)


def _mark_task(item: Token, around: Token) -> None:
    item.attrSet("class", "task-list-item")
    around.attrSet("class", "contains-task-list")


def _items(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """Yield where the text of each item of a list is, with the token that opens the list."""
    lists: list[Token] = []
    for at, token in enumerate(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open"):
            lists.append(token)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif _begins_item(tokens, at):
            yield at, lists[-1]


def _begins_item(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].type == "inline" and at > 1 and tokens[at - 2].type == "list_item_open"


def render_task(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Return the state of a task as HTML: its sign, and its name for those who hear it."""
    name, sign = tokens[index].meta["state"], escapeHtml(tokens[index].content)
    return f'<span class="task-state" role="img" aria-label="{name}" title="{name}">{sign}</span> '


# Abbreviations: *[HTML]: Hyper Text Markup Language


def find_abbreviations(state: StateCore) -> None:
    """Take the definitions of abbreviations out of the document (a core rule, before ``inline``)."""
    if "*[" not in state.src:
        return
    known: dict[str, str] = {}
    for at, token in enumerate(state.tokens):
        lines = token.content.split("\n") if token.type == "inline" else []
        found = [_ABBREVIATION.fullmatch(line.strip()) for line in lines]
        if found and all(found):
            known |= {each[1]: each[2] for each in found if each}
            token.content = ""
            if state.tokens[at - 1].type == "paragraph_open":
                state.tokens[at - 1].hidden = state.tokens[at + 1].hidden = True
    state.env["abbreviations"] = known


def mark_abbreviations(state: StateCore) -> None:
    """Mark the abbreviations that the document defines (a core rule, after ``inline``)."""
    known: dict[str, str] = state.env.get("abbreviations") or {}
    if not known:
        return
    longest_first = sorted(known, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, longest_first))})(?!\w)")
    for token in state.tokens:
        if token.children:
            token.children = [new for child in token.children for new in _abbreviated(child, pattern, known)]


def _abbreviated(token: Token, pattern: re.Pattern[str], known: dict[str, str]) -> Iterator[Token]:
    pieces = pattern.split(token.content) if token.type == "text" else []
    if len(pieces) < 2:
        yield token
        return
    for number, piece in enumerate(pieces):
        if number % 2:
            yield Token("abbr_open", "abbr", 1, attrs={"title": known[piece]}, level=token.level)
        yield Token("text", "", 0, content=piece, level=token.level + number % 2)
        if number % 2:
            yield Token("abbr_close", "abbr", -1, level=token.level)
