"""A preview as a writer has it: a page at once, what is saved, what is wrong, and an end by Ctrl-C."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser_driver import chromium, needs_browser
from tests.command_line import CommandLine, Started, wait_until, write_vault


@dataclass(frozen=True)
class Previewed:
    """A vault that is served while it is written to."""

    vault: Path
    port: int
    started: Started
    out: Path

    def get(self, path: str, method: str = "GET") -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def holds(self, path: str, text: str) -> bool:
        return text in self.get(path)[1]

    def state(self) -> dict[str, Any]:
        """The state that a page which is opened now is told."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(b"GET /_live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with connection.makefile("rb") as lines:
                line = next(each for each in lines if each.startswith(b"data: "))
        found: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
        return found

    def wait_until_built(self) -> None:
        wait_until(lambda: self.get("/")[0] == 200 and not self.state()["building"], 200, "no site")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def previewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Previewed]:
    """One preview for all tests, which is not built yet when the first begins and ends in the last."""
    folder, port = tmp_path_factory.mktemp("preview"), _free_port()
    vault = write_vault(folder / "vault")
    (folder / "noctule.toml").write_text(
        f'[collections.vault]\nroot = "{vault}"\n[engine]\nname = "inline"\n[site]\ntitle = "Owls"\n'
    )
    started = CommandLine(folder, folder / "store").start("serve", "--watch", "--port", str(port))
    try:
        wait_until(lambda: _answers(port), 60, "no server")
        yield Previewed(vault, port, started, folder / "public")
    finally:
        started.end()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def test_a_writer_sees_what_is_saved_and_what_is_wrong(previewed: Previewed) -> None:
    status, waiting = previewed.get("/")
    assert status == 503, "before the first build"
    assert "_live/script.js" in waiting
    previewed.wait_until_built()
    assert previewed.holds("/", "Owls")
    owls = previewed.vault / "guide/owls.md"
    owls.write_text("# Owls\n\nA zygodactyl foot.\n")
    wait_until(lambda: previewed.holds("/guide/owls.html", "zygodactyl"), 20, "no saved page")
    assert previewed.holds("/_live/search?q=zygod", "/guide/owls.html")
    wait_until(lambda: "zygodactyl" in (previewed.out / "guide/owls.html").read_text(), 90, "no build")
    assert "_live" not in (previewed.out / "guide/owls.html").read_text()
    wait_until(lambda: not previewed.holds("/_live/search?q=zygod", "owls"), 30, "the site's search has it")

    owls.write_text("---\ndraft: [\n---\n# Lost\n")
    wait_until(lambda: bool(previewed.state()["problems"]), 20, "no problem")
    problem = previewed.state()["problems"][0]
    assert (problem["where"], problem["line"]) == (str(owls), 3)
    assert previewed.holds("/guide/owls.html", "zygodactyl")
    owls.write_text("# Owls\n\nMended.\n")
    wait_until(lambda: previewed.holds("/guide/owls.html", "Mended."), 20, "no mended page")
    assert not previewed.state()["problems"]


@needs_browser
def test_the_page_is_loaded_again_where_it_was_read(previewed: Previewed, tmp_path: Path) -> None:
    owls, long = previewed.vault / "guide/owls.md", "\n\nHoot.\n" * 400
    owls.write_text(f"# Owls{long}")
    previewed.wait_until_built()
    wait_until(lambda: previewed.holds("/guide/owls.html", "Hoot."), 20, "no saved page")
    with chromium(tmp_path / "profile") as browser:
        browser.get(f"http://127.0.0.1:{previewed.port}/guide/owls.html")
        browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'; scrollTo(0, 700)")
        owls.write_text(f"# Owls{long}\n\nThe last word.\n")
        WebDriverWait(browser, 30).until(lambda page: "The last word." in page.page_source)
        WebDriverWait(browser, 10).until(lambda page: page.execute_script("return scrollY") == 700)
        owls.write_text("---\ndraft: [\n---\n")
        shown = "return document.documentElement.lastElementChild.shadowRoot?.textContent || ''"
        WebDriverWait(browser, 30).until(lambda page: f"{owls}:3" in page.execute_script(shown))
    owls.write_text("# Owls\n\nMended.\n")
    wait_until(lambda: not previewed.state()["problems"], 20, "a fault that was mended is told")


def test_settings_are_taken_up_and_their_faults_told(previewed: Previewed) -> None:
    previewed.wait_until_built()
    settings = previewed.out.parent / "noctule.toml"
    kept = settings.read_text()
    settings.write_text(f"{kept}unheard = 1\n")
    wait_until(lambda: bool(previewed.state()["problems"]), 20, "no problem")
    assert "unheard" in str(previewed.state()["problems"])
    assert previewed.holds("/", "Owls")
    settings.write_text(kept.replace("Owls", "Barn owls"))
    wait_until(lambda: previewed.holds("/", "Barn owls"), 90, "no new title")
    assert not previewed.state()["problems"]
    assert previewed.get("/guide/owls.html")[0] == 200
    above = "docs_dir: vault\nexclude_docs: guide/owls.md\n"
    (previewed.out.parent / "mkdocs.yml").write_text(above)
    wait_until(
        lambda: previewed.get("/guide/owls.html")[0] == 404, 90, "settings of a tool above are not seen"
    )


def test_ctrl_c_ends_it_at_once_with_all_it_started(previewed: Previewed) -> None:
    previewed.wait_until_built()
    with socket.create_connection(("127.0.0.1", previewed.port)) as connection:
        connection.sendall(b"GET /_live/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(1)
        (previewed.vault / "new.md").write_text("# New\n")
        start = time.monotonic()
        previewed.started.process.send_signal(signal.SIGINT)
        assert previewed.started.process.wait(10) == 130
    assert time.monotonic() - start < 3
    wait_until(lambda: not previewed.started.family(), 10, "something is left")
