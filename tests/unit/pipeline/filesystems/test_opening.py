"""Addresses that cannot be opened are refused before any library sees them."""

from __future__ import annotations

import pytest

from noctule.pipeline.errors import SettingsError
from noctule.pipeline.filesystems.opening import opened, source_fault


@pytest.mark.parametrize(
    "address",
    [
        "ftp://owl:secret@host/docs",
        "s3://key:secret@bucket/docs",
        "ftp://owl:a@secret@host/docs",
        "ftp://owl:secret/a@host/docs",
        "sftp://owl:secret@host/docs",
        "sftp://owl:secret/a@host/docs",
        "sftp://owl@home:secret@host/docs",
    ],
)
def test_an_address_with_a_password_is_refused_and_the_password_not_repeated(address: str) -> None:
    with pytest.raises(SettingsError, match="a password in an address") as caught:
        opened(address)
    assert "secret" not in str(caught.value)
    assert caught.value.where.startswith(f"{address.partition(':')[0]}://…@")


def test_an_unknown_kind_of_address_is_refused_with_kinds_that_there_are() -> None:
    with pytest.raises(SettingsError, match="no kind of address gopher://") as caught:
        opened("gopher://host/docs")
    assert "s3://" in caught.value.hint


@pytest.mark.parametrize(
    "address",
    ["sftp://host:2222/docs/@scope", "sftp://owl@host:2222/docs/@scope", "s3://bucket/a@b", "file:///a:b@c"],
)
def test_a_port_and_a_name_with_an_at_sign_are_no_password(address: str) -> None:
    assert source_fault(address) == ""


def test_the_query_of_an_unknown_kind_of_address_is_not_repeated() -> None:
    with pytest.raises(SettingsError) as caught:
        opened("gopher://host/docs?sig=secret")
    assert "secret" not in str(caught.value)
