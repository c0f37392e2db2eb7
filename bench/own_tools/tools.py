"""The tools, each in a folder of its own in the benchmarks' cache, and what each builds of a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from bench.corpora import cache_folder

MKDOCS = (
    "mkdocs-material",
    "mkdocstrings[python]",
    "mkdocs-redirects",
    "mdx-include",
    "markdown-include-variants",
    "griffe-typingdoc",
    "zensical",  # mkdocs.yml names its extension for macros
    "fastapi",
    "httpx",
)
DOCUSAURUS = "3.10.2"
VITEPRESS = "1.6.4"


@dataclass(frozen=True, slots=True)
class Missing(Exception):
    """A tool that could not be installed, or that did not build: the site is left out and named."""

    what: str


def tools_folder() -> Path:
    """Return the folder that holds the tools and their sites."""
    return cache_folder() / "own-tools"


def run(command: list[str | Path], folder: Path, log: Path) -> None:
    """Run a command, its output in ``log``; raise ``Missing`` if it fails."""
    with log.open("ab") as file:
        repository = str(Path(__file__).resolve().parents[2])
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "CI": "1", "PYTHONPATH": repository}
        done = subprocess.run(
            list(map(str, command)), cwd=folder, stdout=file, stderr=file, env=environment, check=False
        )
    if done.returncode:
        raise Missing(f"{Path(command[0]).name} {command[1]} ended with {done.returncode}: see {log}")


def mkdocs() -> Path:
    """Return the folder of a virtual environment with MkDocs Material and its plugins."""
    home = tools_folder() / "mkdocs"
    if not (home / "bin" / "mkdocs").exists():
        venv.create(home, with_pip=True)
        run([home / "bin" / "pip", "install", "-q", *MKDOCS], home, tools_folder() / "mkdocs.log")
    return home


def npm(name: str, *packages: str) -> Path:
    """Return a folder in which npm has installed the packages."""
    home = tools_folder() / name
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "node_modules").is_dir():
        log = tools_folder() / f"{name}.log"
        run(["npm", "install", "--no-audit", "--no-fund", *packages], home, log)
    return home


def build_mkdocs(project: Path, package: str, out: Path) -> None:
    """Build a project of MkDocs; ``package`` is put where its pages include source from."""
    home = mkdocs()
    source = next(home.glob(f"lib/python*/site-packages/{package}"))
    beside = project.parents[1] / package
    if not beside.exists():
        shutil.copytree(source, beside)
    run([home / "bin" / "mkdocs", "build", "-q", "-d", out], project, tools_folder() / "mkdocs.log")


def build_noctule(folder: Path, project: Path, of_site: str = "") -> Path:
    """Return noctule's site with the settings that it writes for another tool's project.

    ``of_site`` are lines of ``[site]`` besides.

    Search is not compared, so its model is one of a few kilobytes.
    """
    from tests.sentence_model_builder import write_sentence_model

    folder.mkdir(parents=True, exist_ok=True)
    model, file, log = folder / "model", folder / "noctule.toml", folder / "noctule.log"
    if not model.exists():
        write_sentence_model(model)
    program: list[str | Path] = [sys.executable, "-m", "noctule.flows.cli.main"]
    file.unlink(missing_ok=True)
    run([*program, "init", "--from", project], folder, log)
    small = f'\n[embed]\nmodel = "{model / "model"}"\n[static_encoder]\npassages = 64\n'
    written = file.read_text("utf-8").replace("[site]\n", f"[site]\n{of_site}", 1)
    file.write_text(written + small, "utf-8")
    shared: list[str | Path] = ["--config", file, "--store", folder / "store"]
    run([*program, "index", *shared], folder, log)
    run([*program, "site", *shared, "--out", folder / "site"], folder, log)
    return folder / "site"
