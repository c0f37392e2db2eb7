"""The benchmark of a site's memory says what it cannot measure."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.site_memory import _measured, _print_growth


def test_a_site_that_is_there_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOCTULE_BENCH_SITE", str(tmp_path))
    (tmp_path / "store-notes").mkdir()
    with pytest.raises(SystemExit, match="store-notes is there"):
        _measured(tmp_path / "store-notes")


def test_equally_many_documents_tell_no_growth(capsys: pytest.CaptureFixture[str]) -> None:
    report = {"documents": 3, "passages": 9, "all_mb": 1.0, "seconds": {}}
    _print_growth(report, report)
    assert "equally many" in capsys.readouterr().out
