"""Which errors may heal by themselves, and what a snapshot calls a model."""

from __future__ import annotations

import errno

import pytest

from noctule.pipeline.errors import RejectedDocument, is_transient
from noctule.pipeline.settings.settings import recorded_model_name


@pytest.mark.parametrize(
    ("error", "may_heal"),
    [
        (OSError(errno.EIO, "I/O error"), True),
        (OSError(errno.ESTALE, "stale"), True),
        (OSError(errno.EMFILE, "too many open files"), True),
        (OSError(errno.ENFILE, "too many open files in system"), True),
        (OSError(errno.ENOMEM, "cannot allocate memory"), True),
        (OSError(errno.ENOBUFS, "no buffer space"), True),
        (OSError(errno.ENOTCONN, "transport endpoint is not connected"), True),
        (TimeoutError(), True),
        (OSError(errno.EDQUOT, "quota"), False),
        (PermissionError(errno.EACCES, "not yours"), False),
        (OSError(errno.ENOSPC, "full"), False),
        (FileNotFoundError(errno.ENOENT, "gone"), False),
        (RejectedDocument("no"), False),
        (None, False),
    ],
)
def test_only_a_disk_that_is_briefly_away_is_asked_again(error: BaseException | None, may_heal: bool) -> None:
    assert is_transient(error) is may_heal


@pytest.mark.parametrize(
    ("model", "recorded"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("BAAI/bge-small-en-v1.5", "BAAI/bge-small-en-v1.5"),
        ("/home/someone/models/mini/", "mini"),
        ("./mini", "mini"),
        ("~/models/mini", "mini"),
    ],
)
def test_where_a_model_lies_is_not_part_of_its_name(model: str, recorded: str) -> None:
    assert recorded_model_name(model) == recorded
