"""A sentence-transformers model of a few kilobytes: random weights, always the same, the first token's
vector.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from tests.library_builder import NOTES
from tests.shared_folder import made_once

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def small_model() -> str:
    """Return the folder of a model for tests that ask nothing of its meaning; all of a run share it."""
    base = Path(os.environ["NOCTULE_MODELS"]).parent
    return str(made_once(base, "small model", partial(write_sentence_model, pooling="mean")) / "model")


def small_model_table() -> str:
    """Return the table of a settings file that names it."""
    return f'[embed]\nmodel = "{small_model()}"\n'


def in_this_process() -> str:
    """Return the tables of a settings file for such tests, without a process beside their own."""
    return f'[engine]\nname = "inline"\n{small_model_table()}'


def write_sentence_model(folder: Path, pooling: str = "cls", dimension: int = 32) -> Path:
    """A folder as ``SentenceTransformer.save`` writes it; ``pooling`` is ``cls`` or ``mean``."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    network, vocabulary = folder / "network", folder / "vocab.txt"
    network.mkdir(parents=True)
    words = sorted({word for text in NOTES.values() for word in text.lower().split() if word.isalpha()})
    letters = [prefix + letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789:" for prefix in ("", "##")]
    vocabulary.write_text("\n".join(dict.fromkeys([*_SPECIAL, *letters, *words])) + "\n", "utf-8")
    tokenizer = BertTokenizerFast(vocab=str(vocabulary), do_lower_case=True, model_max_length=512)
    tokenizer.save_pretrained(network)
    with torch.random.fork_rng():
        torch.manual_seed(11)
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=dimension,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=dimension,
            max_position_embeddings=512,
            initializer_range=0.5,
        )
        BertModel(config).save_pretrained(network, safe_serialization=True)
    read = Transformer(str(network), max_seq_length=512)
    pooled = Pooling(read.get_embedding_dimension(), pooling_mode=pooling)
    SentenceTransformer(modules=[read, pooled, Normalize()], device="cpu").save(str(folder / "model"))
    return folder / "model"
