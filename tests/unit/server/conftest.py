"""A search service over the library of notes, in process: its application is asked without a socket."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from noctule.artifacts.store.store import Store
from noctule.pipeline.settings.reading import parse
from noctule.server import current
from noctule.server.app import Extension, service_app
from noctule.server.service import SearchService

ADDRESS = "http://127.0.0.1"
TOKENS = {"all": "s3cret-all", "notes": "s3cret-notes", "other": "s3cret-other", "reader": "s3cret-reader"}


@dataclass(frozen=True)
class Asked:
    """A running service, and a client of it."""

    service: SearchService
    client: TestClient

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, **more)

    def problem(self, path: str, status: int, code: str, **more: Any) -> dict[str, Any]:
        """The problem that a request is answered by, which must be this one."""
        return problem_in(self.client.request(more.pop("method", "GET"), path, **more), status, code)


def problem_in(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert (answer.status_code, answer.json().get("code")) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    found = dict(answer.json())
    assert found["status"] == status
    assert found["instance"].endswith(answer.headers["x-request-id"])
    return found


Start = Callable[..., Asked]


@pytest.fixture(autouse=True, scope="session")
def no_collection_at_a_swap() -> Iterator[None]:
    """A swap looks for cycles in the whole process, which is that of all tests here, and takes a second."""
    with pytest.MonkeyPatch.context() as patched:
        calls = ("collect", "freeze", "unfreeze", "set_threshold")
        nothing = SimpleNamespace(**dict.fromkeys(calls, lambda *_: None))
        patched.setattr(current, "gc", nothing)
        yield


@pytest.fixture(scope="session")
def start_service(library: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts services with these values in their table ``serve``; all end with the session.

    They hold a snapshot of their own, since other tests look at who holds the library's.
    """
    store = Store(shutil.copytree(library.root, tmp_path_factory.mktemp("service") / "store"))
    with ExitStack() as stack:

        def start(
            site: Path | None = None,
            search: dict[str, Any] | None = None,
            extensions: tuple[Callable[[SearchService], Extension], ...] = (),
            client: tuple[str, int] = ("127.0.0.1", 50_000),
            over: Store | None = None,
            **serve: Any,
        ) -> Asked:
            given = {"serve": {"requests_per_second": 0, **serve}, "search": search or {}}
            service = SearchService(over or store, parse(given, where="test"))
            app = service_app(service, site, [make(service) for make in extensions])
            asked = TestClient(app, base_url=ADDRESS, client=client)
            stack.enter_context(asked)
            deadline = time.monotonic() + 60
            while asked.get("/readyz").status_code != 200:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            return Asked(service, asked)

        yield start


@pytest.fixture(scope="session")
def asked(start_service: Start) -> Asked:
    """A service with the settings of a fresh install, but for its rate."""
    return start_service()


@pytest.fixture(scope="session")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tokens of one who may do all, of two for a collection each, and of one who only reads."""
    rights = {
        "all": "* *",
        "notes": "search,documents notes",
        "other": "search,documents,mcp other",
        "reader": "documents",
    }
    lines = [f"{name} {hashed(token)} {rights[name]}" for name, token in TOKENS.items()]
    path = tmp_path_factory.mktemp("tokens") / "tokens.txt"
    path.write_text("# who\n\n" + "\n".join(lines) + "\n")
    return path


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKENS[name]}"}
