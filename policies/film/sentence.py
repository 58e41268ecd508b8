"""The sentence of a FiLM network without torch: its bidirectional GRU, averaged over the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


class SentenceEncoder:
    """`networks.film.TextEncoder` of one sentence, up to rounding."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        """`weights`: of the whole network."""
        self._weights = {name.removeprefix("text."): array for name, array in weights.items() if name[:5] == "text."}

    def __call__(self, tokens: Sequence[int]) -> Array:
        """Ids of the words -> (1, text_dim)."""
        words = self._weights["embedding.weight"][list(tokens)]
        forth, back = self._states(words, ""), self._states(words[::-1], "_reverse")
        mean = np.concatenate([forth.mean(0), back.mean(0)])
        out: Array = np.maximum(self._weights["out.weight"] @ mean + self._weights["out.bias"], 0)[None]
        return out

    def _states(self, words: Array, direction: str) -> Array:
        """(L, text_dim) -> (L, text_hidden): the GRU's state after each word."""
        named = (f"gru.{kind}_l0{direction}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        into, over, into_bias, over_bias = (self._weights[name] for name in named)
        state, states = np.zeros(over.shape[1], np.float32), []
        for heard in words @ into.T + into_bias:
            reset, update, new = np.split(heard, 3)
            kept_reset, kept_update, kept_new = np.split(over @ state + over_bias, 3)
            gate = _sigmoid(update + kept_update)
            proposed = np.tanh(new + _sigmoid(reset + kept_reset) * kept_new)
            state = ((1 - gate) * proposed + gate * state).astype(np.float32, copy=False)
            states.append(state)
        return np.array(states)


def _sigmoid(x: Array) -> Array:
    return (1 / (1 + np.exp(-x))).astype(np.float32, copy=False)
