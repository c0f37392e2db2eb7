"""Scripts are parsed within bounds of the stack, of time and of memory."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from noctule.pipeline.navigation.literals import UNREAD, read_value
from noctule.pipeline.navigation.script_syntax import parsed
from tests.processor_time import processor_seconds
from tests.repetitions import sample
from tests.unit.pipeline.navigation.conftest import exported

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


@pytest.mark.parametrize("part", sample(["x!", "=>{", "if(x)", "type A=", "a<"], 3))
def test_a_script_of_many_dear_steps_is_given_up(part: str) -> None:
    began = processor_seconds()
    for size in (250_000, 990_000):
        parsed("x=" + part * (size // len(part)), "a.js")
    assert processor_seconds() - began < 12  # half of it on a quiet machine


def test_expressions_of_a_document_are_read_up_to_100_kilobytes() -> None:
    assert len(read_value("['a', " + "'b'," * 24_000 + "]")) == 24_001
    assert read_value("['a', " + "'b'," * 25_000 + "]") == UNREAD


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("\\ud83d\\ude00.md", "\U0001f600.md"),
        ("\\u{1F600}\\u{d83d}\\uDE00", "\U0001f600\U0001f600"),
        ("\\ud83d.md", "\ufffd.md"),
        ("a\\u0062\\x63\\n", "abc\n"),
    ],
)
def test_two_escapes_may_be_one_character(said: str, text: str) -> None:
    assert exported(f'export default ["{said}", `{said}`]') == [text, text]
