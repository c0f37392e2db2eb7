"""A place among the tokens of a script, and what can be passed over there unread."""

from __future__ import annotations

from .script_tokens import CLOSING, OPENING, tokens

# Tokens of the type before the arguments of a call, or of what a function returns.
_MAX_TYPE = 200


class Cursor:
    """A place among the tokens of a script, which goes forward."""

    def __init__(self, source: str) -> None:
        self._tokens = tokens(source)
        self._texts = [text for _, text in self._tokens]
        self._at = 0

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _text(self, at: int) -> str:
        return self._texts[at] if at < len(self._texts) else ""

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _pass_over_type(self) -> None:
        """Pass over ``<Type<Other>>`` before the arguments of a call."""
        level = 0
        for _ in range(_MAX_TYPE):
            text = self._peek()
            if not level and text != "<":
                return
            level += (text == "<") - (text == ">")
            self._at += 1

    def _pass_over(self, ends: str) -> None:
        """Go to the next of these signs that is in no brackets, or to one that closes brackets around."""
        level = 0
        while self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            if kind == "sign":
                if not level and (text in ends or text in CLOSING):
                    return
                level += (text in OPENING) - (text in CLOSING)
            self._at += 1

    def _go_to_parameters(self) -> bool | None:
        """Go to the parameters of a function that begins here; tell whether ``function`` is before them."""
        self._at += self._peek() == "async"
        if self._peek() == "function":
            self._at += 1
            while self._peek() == "*" or self._kind() == "name":
                self._at += 1
            self._pass_over_type()
            return True if self._peek() == "(" else None
        is_arrow = self._peek() == "(" or self._texts[self._at + 1 : self._at + 2] == ["=>"]
        return False if is_arrow else None

    def _parameters(self) -> list[str]:
        """Return the names in the brackets that begin here, and go behind them and the type of the result."""
        start = self._at
        self._at += 1
        if self._texts[start] == "(":
            self._pass_over(")")
            self._at += 1
        names = [text for kind, text in self._tokens[start : self._at] if kind == "name"]
        if self._peek() == ":":
            ends = ("=>", "{", ";", ",", ")", "}", "")
            self._at = next(
                (at for at in range(self._at, self._at + _MAX_TYPE) if self._text(at) in ends), self._at
            )
        return names
