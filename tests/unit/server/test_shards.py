"""Which edition a router answers from, whom it asks, and what servers tell it, without sockets."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from noctule.artifacts.query.answer import Answer
from noctule.artifacts.query.context import SearchRequest
from noctule.artifacts.query.retrieval.filters import Filter
from noctule.artifacts.query.shards.wire import MEDIA_TYPE
from noctule.pipeline.errors import SettingsError
from noctule.pipeline.model import SnapshotId
from noctule.pipeline.settings.reading import parse
from noctule.pipeline.settings.search import Search
from noctule.pipeline.settings.serve import RouterSettings, Serve
from noctule.pipeline.settings.settings import Settings
from noctule.server.problems import HttpProblem
from noctule.server.shards.asking import GroupAsker
from noctule.server.shards.backend_metrics import BackendMetrics
from noctule.server.shards.backends import Backend, BackendFailed, BackendState, HeldEdition, read_token
from noctule.server.shards.editions import ReplicaGroup, choose_edition
from noctule.server.shards.held import FIND, PATH, SHOW, search_digest, shard_extensions
from noctule.server.shards.router import RoutedSearcher
from tests.unit.server.conftest import Asked, Start, bearer

NEW, OLD = "b" * 20, "a" * 20
ALL = ("0000", "0001")


def edition(snapshot: str, *shards: str, all_shards: Sequence[str] = ALL) -> HeldEdition:
    given: dict[str, Any] = {"snapshot": snapshot, "shards": shards, "all_shards": tuple(all_shards)}
    counts = {each: {"c": 1} for each in shards}
    return HeldEdition(**given, languages=("en",), addresses={}, collections=counts)


def backend(url: str, *editions: HeldEdition, problem: str = "") -> Backend:
    made = Backend(url, "digest", "", 1.0)
    made.state = BackendState(editions, problem)
    return made


def chosen(*backends: Backend) -> tuple[str, tuple[str, ...], set[str]]:
    """The edition, what is missing, and who is asked."""
    served = choose_edition(backends)
    assert served is not None
    return served.edition.snapshot, served.missing, {b.url for g in served.groups for b in g.replicas}


def test_one_edition_is_chosen_whole() -> None:
    first = backend("first", edition(NEW, "0000"), edition(OLD, "0000"))
    late = backend("late", edition(OLD, "0001"))
    assert chosen(first, late) == (OLD, (), {"first", "late"}), "until all shards of the next are there"
    there = backend("there", edition(NEW, "0001"), edition(OLD, "0001"))
    assert chosen(first, late, there) == (NEW, (), {"first", "there"}), "who holds the old one is left out"
    only_new = backend("restarted", edition(NEW, "0000"))
    assert chosen(only_new, late)[1] in (("0000",), ("0001",)), "no mixture: one of them is missing"
    whole = backend("whole", edition(NEW, *ALL))
    assert chosen(whole, first, late) == (NEW, (), {"whole"}), "the fewest servers"
    down = backend("down", edition(NEW, "0001"), problem="it does not answer in time")
    assert chosen(first, down) == (OLD, ("0001",), {"first"}) or chosen(first, down)[1] == ("0001",)
    assert choose_edition([down]) is None


def test_documents_of_a_shard_that_two_groups_hold_count_once() -> None:
    three = ("0000", "0001", "0002")
    pairs = [three[:2], three[1:]]
    held = [backend(str(pair), edition(NEW, *pair, all_shards=three)) for pair in pairs]
    served = choose_edition(held)
    assert served is not None and len(served.groups) == 2
    assert served.collections == {"c": 3}


Call = Callable[[Backend, float], str]


@pytest.fixture
def ask() -> Iterator[Callable[..., Any]]:
    """Asks one group of servers by a function of theirs; the answer, failures and seconds."""
    registry = CollectorRegistry()
    askers: list[GroupAsker] = []

    def asked(replicas: Sequence[Backend], call: Call, timeout_s: float = 0.5) -> Any:
        settings = RouterSettings(backends=("http://a",), timeout_s=timeout_s)
        askers.append(GroupAsker(settings, BackendMetrics(CollectorRegistry() if askers else registry)))
        start = time.monotonic()
        group = ReplicaGroup(ALL, tuple(replicas))
        reply = askers[-1].ask([group], lambda _, *given: call(*given))["0000,0001"]
        return reply, time.monotonic() - start

    yield asked
    for each in askers:
        each.close()


def test_another_is_asked_when_one_is_late_fails_or_refuses(ask: Callable[..., Any]) -> None:
    over = threading.Event()

    def slow(asked: Backend, _: float) -> str:
        if asked.url == "slow":
            over.wait(20)
        return asked.url

    slow_one, fast = backend("slow", edition(NEW, *ALL)), backend("fast", edition(NEW, *ALL))
    fast.in_flight = 1  # the other has less to do, and is asked first
    reply, seconds = ask([slow_one, fast], slow, 6)
    assert reply.value == "fast" and 1.4 < seconds < 6, "after a quarter of the limit at first"
    for _ in range(25):
        slow_one._seconds.append(0.01)
    reply, seconds = ask([slow_one, fast], slow, 20)
    assert reply.value == "fast" and seconds < 4, "after most of its answers would be there"
    reply, seconds = ask([slow_one], slow, 0.2)
    over.set()
    assert reply.value is None and reply.failures[0].outcome == "timeout" and seconds < 10

    def failing(asked: Backend, _: float) -> str:
        if asked.url == "fast":
            return asked.url
        raise BackendFailed(asked.url, "so it is")

    for outcome, still_up in (("failed", False), ("timeout", False), ("refused", False), ("stale", True),
                              ("overloaded", True), ("rejected", True)):  # fmt: skip
        broken = backend(outcome, edition(NEW, *ALL))
        assert ask([broken, fast], failing)[0].value == "fast"
        reply = ask([broken], failing)[0]
        assert (reply.value, reply.is_stale, broken.state.is_up) == (None, outcome == "stale", still_up)


def test_replicas_share_the_questions_however_many_groups_are_asked() -> None:
    asker = GroupAsker(RouterSettings(backends=("http://a",)), BackendMetrics(CollectorRegistry()))
    groups = [
        ReplicaGroup((name,), tuple(backend(f"{name} {at}", edition(NEW, name)) for at in range(2)))
        for name in ALL
    ]
    asked = Counter[str]()
    for _ in range(40):
        replies = asker.ask(groups, lambda _, each, __: each.url)
        asked.update(each.value for each in replies.values() if each.value)
    asker.close()
    assert len(asked) == 4 and min(asked.values()) >= 5


def test_a_server_that_cannot_be_asked_says_why() -> None:
    nobody = Backend("http://127.0.0.1:9", "digest", "", 1.0)
    nobody.probe()
    assert not nobody.state.is_up and "cannot be asked" in nobody.state.problem
    assert nobody.state.status(NEW) == nobody.state.problem
    assert backend("x", edition(OLD, *ALL)).state.status(NEW) == "holds another edition"


def test_tokens_for_servers(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    (tmp_path / "two").write_text("one two\n")
    (tmp_path / "large").write_text("x" * 100_000)
    os.mkfifo(tmp_path / "pipe")
    assert (read_token(""), read_token(str(tmp_path / "token"))) == ("", "s3cret")
    for wrong in ("none", "two", "large", "pipe"):
        with pytest.raises(SettingsError, match="token") as caught:
            read_token(str(tmp_path / wrong))
        assert str(tmp_path) not in str(caught.value)  # the path may be the token itself


def test_settings_of_routers_and_shards() -> None:
    serve = parse({"serve": {"shards": "3,0-1"}}, where="test").serve
    assert (serve.shards, serve.is_router) == ("0,1,3", False)
    assert parse({"serve": {"router": {"backends": ["http://a:1/"]}}}, where="test").serve.is_router
    for wrong in (
        {"shards": "2/1"},
        {"router": {"backends": ["a:1"]}},
        {"router": {"backends": ["http://a"] * 2}},
    ):
        with pytest.raises(SettingsError, match=r"addresses|part"):
            parse({"serve": wrong}, where="test")
    plain, other = (parse({"search": {"candidates": n}}, where="test") for n in (100, 50))
    shown = parse({"search": {"excerpt_chars": 99}}, where="test")
    assert search_digest(plain) == search_digest(shown) != search_digest(other)


@pytest.fixture(scope="module")
def holder(start_service: Start, token_file: Path) -> Asked:
    return start_service(extensions=(lambda s: shard_extensions(s)[0], lambda s: shard_extensions(s)[1],
                                     lambda s: shard_extensions(s)[2]), tokens=str(token_file))  # fmt: skip


def test_what_servers_tell_routers(holder: Asked) -> None:
    told = holder.get(PATH, headers=bearer("all")).json()
    (held,) = told["editions"]
    assert (held["shards"], told["search"]) == (["whole"], search_digest(holder.service.settings))
    find = {"snapshot": held["snapshot"], "text": "owls", "mode": "hybrid", "limit": 5}
    ask: dict[str, Any] = {"method": "POST", "headers": bearer("all")}
    for status, code, path, body in (
        (410, "snapshot-gone", FIND, find | {"snapshot": NEW}),
        (400, "body-invalid", FIND, find | {"limit": 0}),
        (400, "body-invalid", FIND, find | {"else": 1}),
        (400, "query-invalid", FIND, find | {"filters": [["community", "x" * 9]]}),
        (400, "parameter-invalid", SHOW, {"snapshot": held["snapshot"], "rows": [10**9]}),
        (400, "parameter-invalid", SHOW, {"snapshot": held["snapshot"], "rows": [-1]}),
    ):
        holder.problem(path, status, code, json=body, **ask)
    holder.problem(PATH, 401, "token-missing")
    holder.problem(PATH, 403, "collection-forbidden", headers=bearer("notes"))
    holder.problem(PATH, 405, "method-not-allowed", method="POST", headers=bearer("all"))
    found = holder.client.post(FIND, json=find, headers=bearer("all"))
    assert (found.status_code, found.headers["content-type"]) == (200, MEDIA_TYPE)
    assert HttpProblem("shards-missing", "").status == 503


@pytest.mark.parametrize(("stages", "dated"), [(("recency",), True), (("support",), False)])
def test_a_router_ranks_by_the_day_where_recency_counts(
    monkeypatch: pytest.MonkeyPatch, stages: Any, dated: bool
) -> None:
    asked: list[SearchRequest] = []
    serve = Serve(router=RouterSettings(backends=("http://a",)))
    settings = Settings(search=Search(stages=stages), serve=serve)
    router = RoutedSearcher([], settings, BackendMetrics(CollectorRegistry()))
    monkeypatch.setattr(router, "served", lambda: choose_edition([backend("http://a", edition(NEW, *ALL))]))
    answer = Answer("owls", SnapshotId(NEW), ())

    def told(request: SearchRequest, _: object) -> Answer:
        asked.append(request)
        return answer

    monkeypatch.setattr(router, "_answer", told)
    before = date.today()
    router.ask(SearchRequest("owls", filters=(Filter("tag", "b"), Filter("tag", "a"), Filter("tag", "b"))))
    router.close()
    [request] = asked
    assert request.today in ((before, date.today()) if dated else (None,))
    assert len(request.filters) == 2
