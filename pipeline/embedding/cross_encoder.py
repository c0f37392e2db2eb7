"""A cross-encoder, which scores how well a passage answers a query by reading both together."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelUnavailable


class CrossEncoder:
    """A sentence-transformers cross-encoder, by name or folder; loaded at first use, never downloaded."""

    def __init__(self, model: str) -> None:
        self._folder = find_cross_encoder(model)
        self._model: Any = None

    def relevance(self, query: str, passages: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each passage answers the query, from 0 to 1 (the sigmoid of the model's logit)."""
        if self._model is None:
            self._model = _loaded(self._folder)
        import torch

        logits = self._model.predict(
            [(query, passage) for passage in passages],
            activation_fn=torch.nn.Identity(),
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        found: npt.NDArray[np.float64] = 1 / (1 + np.exp(-np.asarray(logits, dtype=np.float64).reshape(-1)))
        return found


def find_cross_encoder(model: str) -> Path:
    """Return the folder of a cross-encoder on this machine; raises ``ModelUnavailable``."""
    folder = Path(model).expanduser()
    if (folder / "config.json").is_file():
        return _checked(folder)
    try:
        from huggingface_hub import snapshot_download

        found = Path(snapshot_download(model, local_files_only=True))
    except Exception:  # the hub client raises many kinds of exception, all of which mean the same here
        raise ModelUnavailable(
            f"the cross-encoder {model!r} is not on this machine",
            where="a local folder, the hub cache",
            hint="Set search.rerank.model to a folder, or remove rerank from search.stages.",
        ) from None
    return _checked(found)


def _checked(folder: Path) -> Path:
    """Return the folder if, judging by its files alone, it holds a complete model."""
    from safetensors import SafetensorError, safe_open

    try:
        json.loads((folder / "config.json").read_bytes())
        with safe_open(folder / "model.safetensors", "np"):
            pass
    except (OSError, ValueError, SafetensorError) as error:
        raise _unsound(folder, error) from None
    return folder


def is_folder_name(model: str) -> bool:
    """Return whether a model is given by its folder rather than by its name on the hub."""
    return model.startswith(("/", ".", "~")) or Path(model).is_dir()


def _loaded(folder: Path) -> Any:
    from sentence_transformers import CrossEncoder as Loaded
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Never unpickle: weights come from safetensors, or the model is refused.
            return Loaded(
                str(folder), device="cpu", local_files_only=True, model_kwargs={"use_safetensors": True}
            )
    except Exception as error:  # transformers raises many kinds of exception for a broken folder
        raise _unsound(folder, error) from error


def _unsound(folder: Path, error: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        f"the cross-encoder cannot be loaded: {type(error).__name__}: {str(error)[:200]}",
        where=str(folder),
        hint="Is the folder complete (config.json, model.safetensors, tokenizer.json)?",
    )
