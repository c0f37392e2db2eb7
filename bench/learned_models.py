"""Models that order a query's documents by their features: one weight, a linear model, and LambdaMART."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
SEED, DEPTH = 0, 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A query's candidates: document ids, their features (a row each), and which of them are relevant."""

    query: str
    documents: tuple[str, ...]
    features: Floats
    right: npt.NDArray[np.bool_]


# Takes training queries and returns a function that scores each row of features.
Scorer = Callable[[Floats], Floats]
Learner = Callable[[Sequence[Asked]], Scorer]


def learners() -> dict[str, Learner]:
    """Return every model by name, skipping those whose library is missing with a message."""
    found: dict[str, Learner] = {"convex, weight learned": _convex, "linear": linear}
    try:
        import sklearn.tree  # noqa: F401
    except ImportError:
        print("scikit-learn is not here: no trees")
        return found
    return found | {"LambdaMART": _lambda_mart}


def _convex(asked: Sequence[Asked]) -> Scorer:
    """Fit the weight of the keyword score with the best nDCG@10 on the training queries."""
    weights = np.linspace(0, 1, 21)
    best = max(weights.tolist(), key=lambda weight: _worth(asked, weight))
    return lambda features: best * features[:, 0] + (1 - best) * features[:, 1]


def _worth(asked: Sequence[Asked], weight: float) -> float:
    total = 0.0
    for each in asked:
        score = weight * each.features[:, 0] + (1 - weight) * each.features[:, 1]
        right = each.right[np.argsort(-score, kind="stable")[:DEPTH]]
        total += float((right / np.log2(np.arange(2, 2 + len(right)))).sum())
    return total


def linear(asked: Sequence[Asked], ridge: float = 1.0) -> Scorer:
    """Fit weights that maximize the softmax probability of the relevant documents; the loss is convex."""
    from scipy.optimize import minimize

    scale = np.concatenate([each.features for each in asked]).std(axis=0) + 1e-9
    known = [(each.features / scale, each.right) for each in asked if each.right.any()]

    def loss(w: Floats) -> tuple[float, Floats]:
        total, gradient = ridge / 2 * float(w @ w), ridge * w
        for x, right in known:
            score = x @ w
            share = np.exp(score - score.max())
            total += float(np.log(share.sum()) + score.max() - score[right].mean())
            gradient = gradient + share @ x / share.sum() - x[right].mean(axis=0)
        return total, gradient

    learned = minimize(loss, np.zeros(len(scale)), jac=True, method="L-BFGS-B").x / scale
    return lambda features: features @ learned


def _lambda_mart(asked: Sequence[Asked], trees: int = 60, rate: float = 0.1) -> Scorer:
    """Fit LambdaMART (Burges 2010): each tree fits the nDCG gained if two documents changed places."""
    from sklearn.tree import DecisionTreeRegressor

    known = [each for each in asked if each.right.any()]
    x, ends = (
        np.concatenate([each.features for each in known]),
        np.cumsum([len(each.right) for each in known]),
    )
    score, grown = np.zeros(len(x)), []
    for _ in range(trees):
        parts = np.split(score, ends[:-1])
        found = [_pull(own, each.right) for own, each in zip(parts, known, strict=True)]
        pull, bend = np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])
        tree = DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=20, random_state=SEED)
        leaf = tree.fit(x, pull).apply(x)
        step = np.bincount(leaf, pull) / (np.bincount(leaf, bend) + 1.0)
        score += rate * step[leaf]
        grown.append((tree, step))

    def scored(features: Floats) -> Floats:
        total = np.zeros(len(features))
        for tree, step in grown if len(features) else ():
            total += rate * step[tree.apply(features)]
        return total

    return scored


def _pull(score: Floats, right: npt.NDArray[np.bool_]) -> Floats:
    """Return two rows: how strongly each document is pulled up or down, and the derivative by its score."""
    place = np.empty(len(score), dtype=np.int64)
    place[np.argsort(-score, kind="stable")] = np.arange(len(score))
    discount = 1 / np.log2(place + 2)
    ideal = (1 / np.log2(np.arange(int(right.sum())) + 2)).sum()
    gain = np.abs(discount[right][:, None] - discount[~right][None, :]) / ideal
    wrong_way = 1 / (1 + np.exp(np.clip(score[right][:, None] - score[~right][None, :], -30, 30)))
    pull, bend = gain * wrong_way, gain * wrong_way * (1 - wrong_way)
    found = np.zeros((2, len(score)))
    found[0, right], found[0, ~right] = pull.sum(axis=1), -pull.sum(axis=0)
    found[1, right], found[1, ~right] = bend.sum(axis=1), bend.sum(axis=0)
    return found
