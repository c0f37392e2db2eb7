"""A cross-encoder of a few kilobytes, written as sentence-transformers reads it: random weights, always the
same.
"""

from __future__ import annotations

from pathlib import Path

from tests.library_builder import NOTES

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_cross_encoder(folder: Path) -> Path:
    """A folder with ``config.json``, ``model.safetensors`` and the tokenizer's files."""
    import torch

    # type: ignore[attr-defined]
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    words = sorted({word for text in NOTES.values() for word in text.lower().split() if word.isalpha()})
    letters = [prefix + letter for letter in "abcdefghijklmnopqrstuvwxyz" for prefix in ("", "##")]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(dict.fromkeys([*_SPECIAL, *letters, *words])) + "\n", "utf-8")
    tokenizer = BertTokenizerFast(vocab_file=str(vocabulary), do_lower_case=True, model_max_length=64)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        network = BertForSequenceClassification(
            BertConfig(
                vocab_size=len(tokenizer),
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=16,
                max_position_embeddings=64,
                initializer_range=0.5,
                num_labels=1,  # type: ignore[call-arg]
            )
        )
    network.save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    return folder
