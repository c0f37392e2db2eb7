"""Queries, and what is left of each without its stop words, in English."""

STOP_WORD_QUERIES = (
    ("how do I undo a bad night", "undo bad night"),
    ("What’s the name of this snapshot?", "What’s name snapshot?"),
    ("HOW Does rollback, prune and publish work?", "rollback, prune publish work?"),
    ("for loop", "for loop"),
    ("if else", "if else"),
    ("the who", "the who"),
    ("css :has() selector", "css :has() selector"),
    ("of", "of"),
    ("", ""),
    ("is rust-book a book of rust", "rust-book book rust"),
    ("what is a vault", "vault"),
    ("Is there a way to use it on my phone?", "use phone?"),
    ("why does it fail", "fail"),
    ("Can I fly", "fly"),
    ("what is :is()", ":is()"),
    ("how to", "how to"),
    ("possible values", "possible values"),
    ("do while", "do while"),
)
