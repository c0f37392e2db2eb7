"""The flags that every command takes, and what a command's failure looks like from outside."""

from __future__ import annotations

import functools
import inspect
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, NoReturn, ParamSpec, get_type_hints

import typer

from ...pipeline.errors import NoctuleError, machine_refusals
from ..run.signals import BROKEN_PIPE, INTERRUPTED, Stopped, raising_stop_signals
from . import output

if TYPE_CHECKING:
    from ...artifacts.store.snapshot import Snapshot
    from ...artifacts.store.store import Store

P = ParamSpec("P")
_PANEL = "Common flags"
_OUT_OF_MEMORY = NoctuleError(
    "there is not enough memory",
    hint="The current snapshot is unchanged. Lower embed.workers or embed.batch_tokens, or add memory.",
)


def store_folder(given: str) -> Path:
    """Return the folder of a store; for an address, the folder through which it is read."""
    from ...pipeline.filesystems.opening import is_address

    if not is_address(str(given)):
        return Path(given)
    from ...artifacts.remote.mirror import mirror_folder

    try:
        return mirror_folder(str(given))
    except NoctuleError as error:
        raise typer.BadParameter(str(error)) from None


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of every command."""

    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", rich_help_panel=_PANEL,
                     help="A settings file. By default ./noctule.toml, if it exists."),
    ] = None  # fmt: skip
    store: Annotated[
        Path,
        typer.Option("--store", metavar="DIR", envvar="NOCTULE_STORE", rich_help_panel=_PANEL,
                     parser=store_folder,
                     help="The store: a folder, or an address to read from, such as s3://bucket/docs."),
    ] = Path(".noctule")  # fmt: skip
    as_json: Annotated[
        bool,
        typer.Option("--json", rich_help_panel=_PANEL, help="Print one JSON object, and errors as JSON."),
    ] = False
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", rich_help_panel=_PANEL, help="Show no progress, only results and errors."
        ),
    ] = False
    debug: Annotated[
        bool,
        typer.Option("--debug", rich_help_panel=_PANEL, help="Show the traceback of an unexpected error."),
    ] = False

    def open_store(self) -> Store:
        """Return the store."""
        from ...artifacts.store.store import Store

        return Store(self.store)

    def open_snapshot(self, named: str | None) -> Snapshot:
        """Open the snapshot named, or the current one; raise as ``Store.open`` does."""
        from ...pipeline.model import SnapshotId

        return self.open_store().open(None if named is None else SnapshotId(named))


SnapshotOption = Annotated[
    str | None,
    typer.Option("--snapshot", metavar="ID", help="A snapshot's id. By default the current one."),
]


RequireSigned = Annotated[
    Path | None,
    typer.Option("--require-signed", metavar="FILE",
                 help="Accept only a snapshot signed by a key in this file of allowed signers."),
]  # fmt: skip


def with_flags(command: Callable[Concatenate[Flags, P], None]) -> Callable[..., None]:
    """Return the command with the common flags; its errors are printed in one shape and become exit codes.

    A parameter that is a dataclass stands for its fields, each of which is an option.
    """
    parameters = _keywords(command)[1:]
    own = [option for parameter in parameters for option in _options(parameter)]
    taken = {option.name for option in own}
    # A command may have a common flag of its own kind: several stores, say.
    common = [option for option in _keywords(Flags) if option.name not in taken]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        flags = Flags(**{option.name: given[option.name] for option in common})
        arguments = {parameter.name: _argument(parameter, given) for parameter in parameters}
        _guarded(flags, functools.partial(command, flags, **arguments))

    run.__annotations__ = {option.name: option.annotation for option in (*own, *common)}
    run.__signature__ = inspect.Signature([*own, *common])  # type: ignore[attr-defined]  # Typer reads it
    return run


def _is_group(parameter: inspect.Parameter) -> bool:
    return is_dataclass(parameter.annotation)


def _options(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    return _keywords(parameter.annotation) if _is_group(parameter) else [parameter]


def _argument(parameter: inspect.Parameter, given: Mapping[str, Any]) -> Any:
    """Return what was given for a parameter, or for the fields of its group."""
    values = {option.name: given[option.name] for option in _options(parameter)}
    return parameter.annotation(**values) if _is_group(parameter) else values[parameter.name]


def _keywords(of: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters with their annotations evaluated, by keyword."""
    hints = get_type_hints(of, include_extras=True)
    return [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(of).parameters.items()
    ]


def _guarded(flags: Flags, command: Callable[[], None]) -> None:
    output.configure_logging(quiet=flags.quiet, as_json=flags.as_json, debug=flags.debug)
    try:
        with raising_stop_signals(), machine_refusals():
            command()
        # Here, not when Python ends: a reader that has gone is no error of ours.
        sys.stdout.flush()
    except typer.Exit:
        raise
    except NoctuleError as error:
        output.error(error, flags.as_json)
        raise typer.Exit(error.exit_code) from None
    except BrokenPipeError:
        _leave_quietly()
    except KeyboardInterrupt:
        _stopped("interrupted", INTERRUPTED, flags)
    except Stopped as stop:
        _stopped(f"stopped by {signal.Signals(stop.number).name}", 128 + stop.number, flags)
    except MemoryError:
        output.error(_OUT_OF_MEMORY, flags.as_json, kind="OutOfMemory")
        raise typer.Exit(2) from None
    except Exception as bug:
        _bug(bug, flags)


def _leave_quietly() -> NoReturn:
    # Python flushes standard output once more at its end, and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise typer.Exit(BROKEN_PIPE)


def _stopped(what: str, code: int, flags: Flags) -> NoReturn:
    output.error(
        NoctuleError(
            what, hint="The current snapshot is intact: unchanged, unless a new one had just been published."
        ),
        flags.as_json,
        kind="Stopped",
    )
    raise typer.Exit(code) from None


def _bug(bug: Exception, flags: Flags) -> NoReturn:
    trace = "".join(traceback.format_exception(bug))
    if flags.debug:
        output.complain(trace)
    with tempfile.NamedTemporaryFile("w", prefix="noctule-", suffix=".log", delete=False) as file:
        file.write(trace)
    error = NoctuleError(
        f"{type(bug).__name__}: {bug}",
        where=file.name,
        hint="This is a bug: please report it with that traceback.",
    )
    output.error(error, flags.as_json, kind="Bug")
    raise typer.Exit(1) from None
