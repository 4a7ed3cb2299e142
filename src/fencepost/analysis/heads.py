"""Averages over many sentences: what heads rely on (content or position), the start token, how far they look.

Averages are over all words of all sentences. The start and stop tokens count only as tokens that words attend to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from fencepost.analysis.attention import SentenceAttention

Floats = npt.NDArray[np.float64]
FAR: Final = 10  # distances from -FAR to FAR are counted one by one, longer ones together


@dataclass(frozen=True, eq=False)
class HeadAverages:
    """Averages for every head: [layers, heads], and [layers, heads, 2 * FAR + 3] for distances.

    ``content_share``: how much of the difference between keys is due to content. Only differences between the logits
    of one query matter to a softmax, so the weight of a term is the variance of its logits over the keys that the plan
    allows: content / (content + position), with variances added over all queries. None if the model isn't factored.
    ``distances``: attention to other words by distance j - i, from "more than FAR before" to "more than FAR after";
    together with ``to_start`` and ``to_stop`` they add up to 1.
    """

    to_start: Floats
    to_stop: Floats
    distances: Floats
    content_share: Floats | None
    sentences: int
    words: int
    even_start: float  # what to_start would be if attention were even over the allowed keys

    def look_at_start(self, least: float = 0.5) -> list[tuple[int, int, float]]:
        """Heads that give the start token ``least`` or more, greatest share first: (layer, head, share), from 1."""
        heads = [
            (layer + 1, head + 1, float(self.to_start[layer, head]))
            for layer, head in np.argwhere(self.to_start >= least)
        ]
        return sorted(heads, key=lambda head: -head[2])


def average(sentences: Iterable[SentenceAttention]) -> HeadAverages:
    nothing: Floats = np.zeros(())
    to_start = to_stop = distances = content = position = nothing
    count = words = 0
    even = 0.0
    for sentence in sentences:
        asked = sentence.probabilities[:, :, 1:-1].astype(np.float64)  # [layers, heads, words, tokens]
        keys = sentence.allowed[1:-1]  # [words, tokens]
        to_start = to_start + asked[..., 0].sum(-1)
        to_stop = to_stop + asked[..., -1].sum(-1)
        distances = distances + _by_distance(asked[..., 1:-1])
        if sentence.content is not None and sentence.position is not None:
            content = content + _variance(sentence.content[:, :, 1:-1], keys)
            position = position + _variance(sentence.position[:, :, 1:-1], keys)
        count += 1
        words += asked.shape[2]
        even += float((keys[:, 0] / keys.sum(-1)).sum())
    factored = content.ndim > 0
    return HeadAverages(
        to_start / words,
        to_stop / words,
        distances / words,
        content / np.maximum(content + position, 1e-12) if factored else None,
        count,
        words,
        even / words,
    )


def _variance(logits: npt.NDArray[np.float32], keys: npt.NDArray[np.bool_]) -> Floats:
    """The variance over each word's keys, summed over words: [layers, heads, words, tokens] -> [layers, heads]."""
    return np.asarray(logits.var(-1, dtype=np.float64, where=keys).sum(-1))


def _by_distance(attention: Floats) -> Floats:
    """[layers, heads, words, words] -> [layers, heads, 2 * FAR + 3]."""
    words = attention.shape[-1]
    positions = np.arange(words)
    bucket = np.clip(positions - positions[:, None], -FAR - 1, FAR + 1) + FAR + 1  # [words, words]
    one_hot = np.eye(2 * FAR + 3)[bucket.ravel()]  # [words * words, buckets]
    return np.asarray(attention.reshape(*attention.shape[:2], -1) @ one_hot)


def distance_names() -> list[str]:
    return [f"<−{FAR}", *(str(distance).replace("-", "−") for distance in range(-FAR, FAR + 1)), f">{FAR}"]
