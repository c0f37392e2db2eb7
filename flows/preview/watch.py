"""The preview: watches the sources, shows what was saved at once, and lets the build follow.

Whoever has a page open is told to look again; whether that page changed is the browser's question.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from watchfiles import DefaultFilter, awatch

from ...artifacts.store.store import Store
from ...pipeline.errors import ArtifactError, NoctuleError, SettingsError, SourceError
from ...pipeline.includes.tool_folders import written_and_real
from ...pipeline.settings.settings import Settings
from ..importers.tools import SETTINGS_NAMES
from ..run.request import IndexRequest
from ..run.workers import Workers
from ..sources.tool_settings import ABOVE
from .builder import Builder
from .editing import Edition, Editor
from .problems import PreviewProblem, problem_in

_NOTHING = Edition(None, {}, {})
# Editors write a file in several steps; the settings file is looked at as often as this.
_SETTLED_MS, _LOOK_MS = 30, 1000
# A build waits until nobody has saved for so long.
_QUIET_S = 1.0


@dataclass(slots=True)
class Preview:
    """What the server shows: the site in ``out``, and over it the documents saved since it was built."""

    request: IndexRequest
    out: Path
    edition: Edition = _NOTHING
    building: bool = False
    failures: dict[str, PreviewProblem] = field(default_factory=dict)
    _settings: Settings = field(default_factory=Settings)
    _settings_seen: object = None
    _editor: Editor | None = None
    _open: ExitStack = field(default_factory=ExitStack)
    _workers: Workers = field(default_factory=lambda: Workers(1))
    _listeners: set[asyncio.Event] = field(default_factory=set)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _saved: asyncio.Event = field(default_factory=asyncio.Event)
    _since: set[Path] = field(default_factory=set)

    def problems(self) -> list[PreviewProblem]:
        """Return what is wrong now, the settings and the build first."""
        return [*self.failures.values(), *self.edition.problems.values()]

    async def changes(self) -> AsyncIterator[None]:
        """Yield now, and whenever something may have changed."""
        listener = asyncio.Event()
        self._listeners.add(listener)
        try:
            while True:
                listener.clear()
                yield
                await listener.wait()
        finally:
            self._listeners.discard(listener)

    async def run(self) -> None:
        """Show what is there, build, and do so again after every change, until cancelled."""
        builder = Builder(self.request, self.out)
        self._settings = self.request.settings()
        self._settings_seen = self._settings_stamp()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._watch())
                tasks.create_task(self._build_after_changes(builder))
        finally:
            builder.close()
            self._workers.kill()
            self._open.close()

    async def _watch(self) -> None:
        """Take up changes of files as they come; other sources need another watch."""
        while True:
            settings = self._settings
            async for found in awatch(
                *_roots(settings),
                watch_filter=DefaultFilter(ignore_paths=[self.out, self.request.store]),
                step=_SETTLED_MS,
                rust_timeout=_LOOK_MS,
                yield_on_timeout=True,
            ):
                if found:
                    await self._edit({Path(path) for _, path in found})
                await self._read_settings()
                if self._settings is not settings:
                    break

    async def _edit(self, paths: set[Path]) -> None:
        """Show the files at these paths as they are; the build will say what cannot be shown now."""
        async with self._lock:
            if self._editor is not None:
                paths = set(await asyncio.to_thread(self._editor.shown, sorted(paths)))
            self._since |= paths
            await self._apply(paths)
        self._tell()
        self._saved.set()

    async def _apply(self, paths: Iterable[Path]) -> None:
        self.failures.pop("preview", None)
        if self._editor is None:
            return
        try:
            self.edition = await asyncio.to_thread(self._editor.apply, sorted(paths))
        except NoctuleError as error:
            self.failures["preview"] = problem_in(error)

    async def _read_settings(self) -> None:
        stamp = self._settings_stamp()
        if stamp == self._settings_seen:
            return
        self._settings_seen = stamp
        try:
            self._settings = self.request.settings()
        except (SettingsError, SourceError) as error:
            self.failures["settings"] = problem_in(error)
        else:
            self.failures.pop("settings", None)
            self._saved.set()
        self._tell()

    def _settings_stamp(self) -> object:
        """Return when the settings, and those of other tools that are followed, were changed."""
        own = () if self.request.config is None else (self.request.config,)
        found = {}
        for path in (*own, *_settings_of_tools(self._settings)):
            with suppress(OSError):
                found[path] = path.stat().st_mtime_ns
        return found

    async def _build_after_changes(self, builder: Builder) -> None:
        """Build now, and again when nobody has saved for a while; not from a file that cannot be read."""
        await self._reopen()
        while True:
            self._saved.clear()
            if not (self.edition.problems or "settings" in self.failures):
                await self._build(builder)
            await self._saved.wait()
            while self._saved.is_set():
                self._saved.clear()
                await asyncio.sleep(_QUIET_S)

    async def _build(self, builder: Builder) -> None:
        self.building, self._since = True, set()
        self._tell()
        problem = await builder.build()
        self.building = False
        self.failures.pop("build", None)
        if problem is None:
            await self._reopen()
        else:
            self.failures["build"] = problem
        self._tell()

    async def _reopen(self) -> None:
        """Go on from the store's current snapshot, with what was saved while it was made."""
        async with self._lock:
            opened = ExitStack()
            try:
                snapshot = opened.enter_context(Store(self.request.store).open())
                self._editor = await asyncio.to_thread(Editor, self._settings, snapshot, self._workers)
                await asyncio.to_thread(self._editor.warm)
            except (ArtifactError, SettingsError):
                opened.close()
                return  # there is none yet, or the build says what is wrong
            self._open.close()
            self._open, self.edition = opened, replace(_NOTHING)
            await self._apply(self._since)

    def _tell(self) -> None:
        for listener in self._listeners:
            listener.set()


def _settings_of_tools(settings: Settings) -> Iterator[Path]:
    """Yield the navigation files, and where settings of other tools may stand above the documents."""
    for files in settings.site.navigation.values():
        yield from map(Path, files)
    for each in settings.collections.values():
        for either in written_and_real(each):
            for folder in list(Path(either.root).absolute().parents)[:ABOVE]:
                yield from (folder / name for name in SETTINGS_NAMES)


def _roots(settings: Settings) -> list[str]:
    """Return the folders of the sources, and those that may be included or shown from."""
    named = [
        folder
        for each in settings.collections.values()
        for folder in (each.root, *each.snippet_folders, *each.static_folders)
    ]
    return sorted({os.path.realpath(folder) for folder in named if Path(folder).is_dir()})
