"""Token buckets: a burst, a rate after it, and whose bucket an address takes from."""

from __future__ import annotations

import pytest

from noctule.server.guard.rate import TokenBuckets, bucket_of
from tests.unit.server.conftest import Asked, Start


def test_a_bucket_holds_a_burst_and_fills_up_again() -> None:
    now = [100.0]
    buckets = TokenBuckets(2.0, 3, lambda: now[0])
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.take("b") == 0
    now[0] += 0.5
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0
    now[0] += 1_000
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_more_than_a_bucket_holds_is_let_through_when_it_is_full() -> None:
    now = [0.0]
    buckets = TokenBuckets(1.0, 3, lambda: now[0])
    assert buckets.take("a", 9) == 0
    assert buckets.take("a", 9) == 3


def test_without_a_rate_there_is_no_limit() -> None:
    assert not any(TokenBuckets(0.0, 1).take("a") for _ in range(1_000))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("testclient", "", False),
    ],
)
def test_a_network_has_one_bucket(one: str, other: str, *, same: bool) -> None:
    assert (bucket_of(one) == bucket_of(other)) is same


def test_who_asks_too_often_is_told_when_to_ask_again(start_service: Start) -> None:
    asked = start_service(requests_per_second=0.5, burst=5)
    codes = [asked.get("/v1/search?q=boat").status_code for _ in range(6)]
    assert codes[-1] == 429
    answer = asked.get("/v1/search?q=boat")
    assert 1 <= int(answer.headers["Retry-After"]) <= 2
    assert answer.json()["code"] == "rate-exceeded"
    assert asked.get("/livez").status_code == 200


def test_each_of_several_searches_counts(start_service: Start) -> None:
    asked = start_service(requests_per_second=0.1, burst=6)
    searches = {"searches": [{"q": "boat"}] * 5}
    assert asked.client.post("/v1/multi-search", json=searches).status_code == 200
    asked.problem("/v1/multi-search", 429, "rate-exceeded", method="POST", json=searches)


def _forwarding(start: Start, **serve: object) -> Asked:
    return start(client=("10.0.0.1", 1), requests_per_second=0.01, burst=1, **serve)


def test_a_proxys_word_counts_only_if_it_is_named(start_service: Start) -> None:
    headers = [{"X-Forwarded-For": f"192.0.2.{at}"} for at in range(3)]
    named = _forwarding(start_service, proxies=["10.0.0.0/8"])
    assert [named.get("/v1/search?q=a", headers=each).status_code for each in headers] == [200] * 3
    other = _forwarding(start_service, proxies=["10.1.0.0/16"])
    assert [other.get("/v1/search?q=a", headers=each).status_code for each in headers] == [200, 429, 429]
    # What a client writes before the proxy's word is not believed.
    forged = [{"X-Forwarded-For": f"198.51.100.{at}, 192.0.2.9"} for at in range(2)]
    assert [named.get("/v1/search?q=a", headers=each).status_code for each in forged] == [200, 429]
