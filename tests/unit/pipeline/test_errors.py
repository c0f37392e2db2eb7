"""Which errors may heal by themselves, and what a snapshot calls a model."""

from __future__ import annotations

import errno

import pytest

from noctule.pipeline.errors import RejectedDocument, heals_by_itself, is_transient
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
        (OSError(errno.EDQUOT, "quota"), True),
        (PermissionError(errno.EACCES, "not yours"), False),
        (OSError(errno.ENOSPC, "full"), True),
        (RuntimeError("can't start new thread"), True),
        (ImportError("no handle left to load it"), True),
        (RuntimeError("a parser's own"), False),
        (FileNotFoundError(errno.ENOENT, "gone"), False),
        (RejectedDocument("no"), False),
        (None, False),
    ],
)
def test_only_what_is_the_machines_fault_spares_the_file(error: BaseException | None, may_heal: bool) -> None:
    assert is_transient(error) is may_heal


@pytest.mark.parametrize(("code", "heals"), [(errno.EIO, True), (errno.ENOSPC, False), (errno.EDQUOT, False)])
def test_a_write_to_a_full_disk_is_not_tried_again(code: int, heals: bool) -> None:
    assert heals_by_itself(OSError(code, "x")) is heals


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
