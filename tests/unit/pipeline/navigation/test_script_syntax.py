"""Scripts are parsed within bounds of the stack, of time and of memory."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from noctule.pipeline.navigation.script_syntax import parsed

DEEP_ON_SMALL_STACK = """
import threading
from noctule.pipeline.navigation.script_syntax import parsed
threading.stack_size(128 << 10)
for count in (300, 1_300):
    thread = threading.Thread(target=parsed, args=("{a:" * count,))
    thread.start()
    thread.join()
"""


def test_a_deep_script_does_not_end_a_process_whose_threads_have_small_stacks() -> None:
    ended = subprocess.run([sys.executable, "-c", DEEP_ON_SMALL_STACK], capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("error", [RuntimeError, ValueError])
def test_a_script_is_not_read_where_no_stack_may_be_had(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: int = 0) -> int:
        raise error("setting stack size not supported")

    monkeypatch.setattr(threading, "stack_size", refused)
    assert parsed("x;" * 4_000) is None
    assert parsed("x;") is not None
