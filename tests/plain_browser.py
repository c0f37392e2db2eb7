"""A Chromium that nothing drives: over a page's own debugging socket, which leaves service workers alone.

ChromeDriver attaches itself to every worker that starts, and its pages then wait for ever now and then while
one worker follows
another.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import websocket  # selenium brings it

from tests.browser_driver import CHROMIUM, FLAGS

_LIMIT_S = 20.0


class PlainBrowser:
    """One page: addresses to visit, and expressions to evaluate in it."""

    def __init__(self, socket: websocket.WebSocket) -> None:
        self._socket, self._number = socket, 0
        self._seen: list[str] = []
        self._call("Page.enable")

    def visit(self, address: str) -> None:
        """The page is loaded when this returns."""
        self._seen.clear()
        self._call("Page.navigate", url=address)
        while "Page.loadEventFired" not in self._seen:
            self._seen.append(json.loads(self._socket.recv()).get("method", ""))

    def ask(self, expression: str) -> Any:
        """The value of an expression, awaited."""
        found = self._call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        """Returns once the expression is true."""
        end = time.monotonic() + _LIMIT_S
        while not self.ask(expression):
            if time.monotonic() > end:
                pytest.fail(f"never true: {expression}")
            time.sleep(0.1)

    def _call(self, method: str, **parameters: object) -> Any:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._number:
                return answer["result"]
            self._seen.append(answer.get("method", ""))


@contextmanager
def plain_browser(profile: Path) -> Iterator[PlainBrowser]:
    """A browser with one page."""
    flags = (*FLAGS, f"--user-data-dir={profile}", "--remote-debugging-port=0", "--remote-allow-origins=*")
    with subprocess.Popen([str(CHROMIUM), *flags, "about:blank"], stderr=subprocess.DEVNULL) as process:
        try:
            address = _socket_of_the_page(profile)
            with closing(websocket.create_connection(address, timeout=_LIMIT_S)) as socket:
                yield PlainBrowser(socket)
        finally:
            process.terminate()


def _socket_of_the_page(profile: Path) -> str:
    told, end = profile / "DevToolsActivePort", time.monotonic() + _LIMIT_S
    while time.monotonic() < end:
        if told.is_file() and (lines := told.read_text().splitlines()):
            with urlopen(f"http://127.0.0.1:{lines[0]}/json") as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            if pages:
                return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.1)
    pytest.fail("chromium opened no page")
