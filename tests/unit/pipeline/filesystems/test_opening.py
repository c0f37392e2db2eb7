"""Addresses that cannot be opened are refused before any library sees them."""

from __future__ import annotations

import pytest

from noctule.pipeline.errors import SettingsError
from noctule.pipeline.filesystems.opening import opened


@pytest.mark.parametrize("address", ["ftp://owl:secret@host/docs", "s3://key:secret@bucket/docs"])
def test_an_address_with_a_password_is_refused_and_the_password_not_repeated(address: str) -> None:
    with pytest.raises(SettingsError, match="a password in an address") as caught:
        opened(address)
    assert "secret" not in str(caught.value)
    assert caught.value.where.startswith(f"{address.partition(':')[0]}://…@")


def test_an_unknown_kind_of_address_is_refused_with_kinds_that_there_are() -> None:
    with pytest.raises(SettingsError, match="no kind of address gopher://") as caught:
        opened("gopher://host/docs")
    assert "s3://" in caught.value.hint
