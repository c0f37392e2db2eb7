"""A router over real processes: answers of one process, through a late one, dead ones and another edition."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from noctule.artifacts.disk.layout import MANIFEST
from noctule.artifacts.query import Searcher
from noctule.artifacts.store.store import Store
from noctule.pipeline.settings.settings import Settings
from tests.command_line import CommandLine, Started, wait_until
from tests.shared_folder import copied_store
from tests.unit.flows.shards.test_shards import QUERIES, Built, built  # noqa: F401  # a fixture

SETTINGS = """
[serve]
requests_per_second = 0
poll_s = 0.1
deadline_s = 40
[serve.router]
timeout_s = 20
"""


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def publish_again(store: Store) -> str:
    """Another edition of the same shards."""
    with store.open() as opened, store.lock("test"):
        staging = store.stage()
        for path in opened.path.iterdir():
            if path.name != MANIFEST:
                shutil.copyfile(path, staging.path / path.name)
        manifest = replace(opened.manifest, tools={**opened.manifest.tools, "edition": "another"})
        return str(store.publish(staging, manifest).snapshot_id)


@dataclass
class Cluster:
    """Two machines, which are folders here: one serves shards once, the other twice; a router asks them."""

    router: int
    stores: tuple[Store, Store]
    processes: dict[str, Started] = field(default_factory=dict)

    def get(self, path: str) -> tuple[int, dict[str, str], Any]:
        """The status, headers and content of the router's answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.router}{path}", timeout=60) as answer:
                status, headers, text = answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, headers, text = error.code, error.headers, error.read().decode()
        named = {name.lower(): value for name, value in headers.items()}
        return status, named, json.loads(text) if text.startswith("{") else text

    def search(self, query: str, more: str = "") -> tuple[int, dict[str, str], Any]:
        return self.get(f"/v1/search?q={urllib.parse.quote(query)}{more}")

    def search_whole(self, query: str) -> None:
        """Search, and see that no shard is missing in the answer."""
        status, headers, told = self.search(query)
        said = self.processes["router"].said()
        assert (status, "missing-shards" in headers) == (200, False) and told["hits"], said

    def is_ready(self) -> bool:
        try:
            status, _, told = self.get("/readyz")
        except OSError:
            return False
        return status == 200 and not told["missing"] and set(told["backends"].values()) == {"answers"}

    def metric(self, name: str) -> float:
        lines = str(self.get("/metrics")[2]).splitlines()
        return sum(float(each.rpartition(" ")[2]) for each in lines if each.startswith(name))

    @contextmanager
    def stopped(self, name: str) -> Iterator[None]:
        """The process does nothing for a while, with its connections open."""
        process = self.processes[name].process
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)


@pytest.fixture(scope="module")
def cluster(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:  # noqa: F811
    base = tmp_path_factory.mktemp("cluster")
    stores = tuple(Store(copied_store(built.sharded.root, base / f"machine{n}")) for n in (1, 2))
    (base / "noctule.toml").write_text(SETTINGS)
    line, ports = CommandLine(base, stores[0].root), free_ports(4)
    urls = ",".join(f"http://127.0.0.1:{port}" for port in ports[1:])
    found = Cluster(ports[0], stores)
    with ExitStack() as stack:
        for name, store, part, port in (
            ("first", stores[0], "1/2", ports[1]),
            ("second", stores[1], "2/2", ports[2]),
            ("replica", stores[1], "2/2", ports[3]),
        ):
            given = ("--store", str(store.root), "--shards", part, "--port", str(port), "--no-site")
            found.processes[name] = line.start("serve", *given)
            stack.callback(found.processes[name].end)
        found.processes["router"] = line.start("serve", "--router", urls, "--port", str(ports[0]))
        stack.callback(found.processes["router"].end)
        wait_until(found.is_ready, 120, "the router is not ready")
        yield found


def test_a_router_answers_as_one_process(cluster: Cluster, built: Built) -> None:  # noqa: F811
    with Searcher(built.sharded.open(), Settings()) as whole:
        for query in (*QUERIES, '"very same text"', "owls -dusk"):
            status, headers, told = cluster.search(query, "&explain=true&top_n=20")
            expected = whole.search(query, 20).as_dict()
            for each in (told, expected):
                for volatile in ("timings", "counts"):
                    each.pop(volatile, None)
            assert (status, told) == (200, json.loads(json.dumps(expected)))
            assert "missing-shards" not in headers and headers["etag"]
    status, _, told = cluster.get("/v1/documents/library:shelf2/book02.md")
    assert (status, told["title"]) == (200, "Book 2 of owls")
    assert cluster.get("/v1/documents/library:none.md")[2]["code"] == "document-unknown"
    assert cluster.get("/v1/collections")[2]["collections"] == [{"collection": "library", "documents": 39}]
    assert cluster.search("owls", "&filter=tag:")[0] == 400
    assert cluster.search("owls", "&collection=none")[2]["code"] == "collection-unknown"
    assert cluster.get("/v1/similar?doc_id=library:hub.md")[2]["code"] == "route-unknown"


def test_editions_change_whole(cluster: Cluster) -> None:
    before = str(cluster.search("owls")[2]["snapshot"])
    after = publish_again(cluster.stores[0])
    wait_until(lambda: cluster.metric("noctule_backend_up") == 3, 20, "not up")
    seen = set[str]()
    for number in range(20):
        status, headers, told = cluster.search(f"owls {number}")
        assert (status, "missing-shards" in headers) == (200, False), told
        seen.add(told["snapshot"])
    assert seen == {before}, "not before all shards have the next edition"
    assert publish_again(cluster.stores[1]) == after

    def has_changed() -> bool:
        status, headers, told = cluster.search(f"owls {len(seen)}")
        assert (status, "missing-shards" in headers) == (200, False), told
        seen.add(f"{told['snapshot']} {len(seen)}")
        return bool(told["snapshot"] == after)

    wait_until(has_changed, 30, "the new edition is not served")
    gone = cluster.search("owls", f"&snapshot={before}")
    assert (gone[0], gone[2]["code"]) == (410, "snapshot-gone")


def test_late_and_dead_servers(cluster: Cluster) -> None:
    wait_until(cluster.is_ready, 30, "not every server has the edition")
    expected = cluster.search("owls at dusk")[2]["hits"]
    for late in ("second", "replica"):
        with cluster.stopped(late):
            for number in range(6):
                cluster.search_whole(f"owls at dusk zz{late}{number}")

    def has_hedged() -> bool:
        # The other may be asked first: by lot, or as this one has yet to say what it holds.
        with cluster.stopped("second"):
            cluster.search_whole(f"owls at dusk {time.monotonic()}")
        return cluster.metric("noctule_hedges_total") >= 1

    wait_until(has_hedged, 60, "no late server was hedged")

    cluster.processes["second"].process.kill()
    status, headers, told = cluster.search("owls at dusk ")
    assert (status, told["hits"], "missing-shards" in headers) == (200, expected, False)

    cluster.processes["replica"].process.kill()
    cluster.processes["replica"].process.wait(10)
    status, headers, told = cluster.search("owls at dusk  ")
    assert (status, told["missing"], headers["missing-shards"]) == (200, ["0001"], "0001")
    assert any("0001" in each for each in told["warnings"]) and headers["cache-control"] == "no-store"
    assert told["hits"] and {hit["passage_id"] for hit in told["hits"]} != {h["passage_id"] for h in expected}
    status, headers, told = cluster.search("owls at dusk  ", "&partial=false")
    assert (status, told["code"], "0001" in told["detail"]) == (503, "shards-missing", True)
    assert cluster.metric("noctule_partial_answers_total") >= 1

    def names_what_is_missing() -> bool:
        status, _, told = cluster.get("/readyz")
        return status == 200 and told["missing"] == ["0001"] and "answers" in told["backends"].values()

    wait_until(names_what_is_missing, 20, "the router does not say what is missing")
    cluster.processes["first"].process.kill()
    wait_until(lambda: cluster.get("/readyz")[0] == 503, 20, "ready without any server")
    assert cluster.search("owls")[0] == 503
