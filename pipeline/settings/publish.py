"""The settings of publishing: folders and addresses elsewhere to which snapshots are copied."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from .search import Table

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s]*(/\S*)?|/.*|~/.*")


class Publish(Table):
    """The targets that every new snapshot is copied to, and how many older ones stay there."""

    targets: tuple[str, ...] = Field(default=(), strict=False, description="folders and addresses")
    sign: str = Field(default="", description="a key of OpenSSH that signs what is published")
    keep: int = Field(default=2, ge=0, description="besides the current and the one before")

    @field_validator("targets")
    @classmethod
    def _are_addresses(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [each for each in given if not _ADDRESS.fullmatch(each)]
        if wrong:
            raise ValueError(
                f"not an absolute folder or an address such as s3://bucket/prefix: {', '.join(wrong)}"
            )
        if len(set(given)) < len(given):
            raise ValueError("a target is named twice")
        return given
