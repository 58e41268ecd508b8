"""A small OpenVLA as an ONNX graph: the tokens of `OpenVLA.generate` for one picture and prompt, in one call.

Takes `pixels` (1, 3 per tower, S, S), the prompt's `ids` (L,), for the n = patches + L places of the prompt and those
of all answers but the last `cosines` and `sines` (n + answers - 1, head size) and for the prompt's n places `causal`
(n, n), what is added to the scores. Gives `tokens` (answers,). Every answer is a copy of the decoder's operations: it
reads keys and values of the prompt and of the answers before, as a cache would give them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.networks.openvla_sizes import LanguageConfig, OpenVLAConfig, TowerConfig
from policies.onnx_layers import Affine, Array, Layers, NotExported, all_read

TOWERS = ("featurizer", "fused_featurizer")


def openvla_graph(config: OpenVLAConfig, weights: Mapping[str, Array], answers: int) -> bytes:
    """An ONNX model. Raises KeyError for a missing weight, NotExported for what is not written here."""
    if config.language.kv_heads != config.language.heads:
        raise NotExported("heads that share keys and values")
    graph = _OpenVLAGraph(config, weights)
    model = graph.build(answers)
    all_read(weights, graph.layers.read, graph.unread())
    return model


@dataclass(frozen=True)
class _Decoder:
    """A layer of the language model, by the names of its values. Kernels are (in, out)."""

    norm1: str
    qkv: str
    out: str
    norm2: str
    gate_up: str
    down: str


class _OpenVLAGraph:
    def __init__(self, config: OpenVLAConfig, weights: Mapping[str, Array]) -> None:
        self.config, self.sizes = config, config.language
        self.layers = Layers("openvla", weights)
        self.decoders = [self._decoder(f"language_model.model.layers.{number}") for number in range(self.sizes.layers)]
        self.norm = self._weight("language_model.model.norm.weight")
        self.head = self._turned("language_model.lm_head.weight")
        self.embedding = self._weight("language_model.model.embed_tokens.weight")
        self.cache: list[tuple[str, str]] = []

    def unread(self) -> list[str]:
        """How the names of those weights begin that a checkpoint holds and nobody reads."""
        towers = list(zip(TOWERS, self.config.towers, strict=False))
        last = [f"vision_backbone.{name}.blocks.{tower.depth - 1}." for name, tower in towers]
        return [*last, *(f"vision_backbone.{name}.{part}" for name, _ in towers for part in ("norm.", "attn_pool."))]

    def build(self, answers: int) -> bytes:
        layers, graph, size = self.layers, self.layers.graph, self.config.towers[0].image_size
        pixels = graph.input("pixels", (1, 3 * len(self.config.towers), size, size))
        ids = graph.input("ids", (None,), np.int64)
        tables = [graph.input(name, (None, self.sizes.head_dim)) for name in ("cosines", "sines")]
        causal = graph.input("causal", (None, None))
        text = layers.add("Gather", self.embedding, ids)
        prompt = layers.joined(layers.part(text, 0, 1), self._projected(self._seen(pixels)), layers.part(text, 1))
        tokens = [self._chosen(self._read(prompt, [self._places(table, 1 - answers) for table in tables], causal))]
        for later in range(1 - answers, 0):
            x = layers.add("Gather", self.embedding, tokens[-1])
            place = [self._place(table, later) for table in tables]
            tokens.append(self._chosen(self._step(x, place)))
        graph.output(layers.joined(*tokens), "tokens", (answers,), np.int64)
        return graph.model()

    # ---- picture ---------------------------------------------------------------------------------------------------

    def _seen(self, pixels: str) -> str:
        """(patches, vision_dim)."""
        towers, layers = self.config.towers, self.layers
        pictures = layers.split(pixels, [3] * len(towers), axis=1)
        seen = [self._tower(*each) for each in zip(TOWERS, towers, pictures, strict=False)]
        return layers.joined(*seen, axis=1)

    def _tower(self, name: str, tower: TowerConfig, picture: str) -> str:
        """(1, 3, S, S) -> (patches, dim): the last block but one, without prefix and last norm."""
        name, layers = f"vision_backbone.{name}", self.layers
        grid = layers.add("Conv", picture, *self._pair(f"{name}.patch_embed.proj"), strides=(tower.patch,) * 2)
        cells = layers.add("Transpose", layers.add("Reshape", grid, layers.shape(tower.dim, -1)), perm=(1, 0))
        x = layers.add("Add", cells, layers.constant(layers.array(f"{name}.pos_embed")[0]))
        before = ["cls_token"] * tower.class_token + ["reg_token"] * bool(tower.registers)
        x = layers.joined(*(layers.constant(layers.array(f"{name}.{each}")[0]) for each in before), x)
        for number in range(tower.depth - 1):
            x = self._tower_block(f"{name}.blocks.{number}", tower, x)
        return layers.part(x, tower.prefix)

    def _tower_block(self, name: str, tower: TowerConfig, x: str) -> str:
        layers, size = self.layers, tower.dim // tower.heads
        normed = layers.normed(x, self._pair(f"{name}.norm1"), tower.norm_eps)
        joint = layers.dense(normed, self._linear(f"{name}.attn.qkv"))
        q, k, v = layers.split(layers.heads(joint, 3 * tower.heads, size), [tower.heads] * 3)
        mixed = layers.attend(layers.add("Mul", q, layers.number(size**-0.5)), k, v, tower.dim)
        x = self._added(f"{name}.ls1", tower, x, layers.dense(mixed, self._linear(f"{name}.attn.proj")))
        normed = layers.normed(x, self._pair(f"{name}.norm2"), tower.norm_eps)
        hidden = layers.gelu(layers.dense(normed, self._linear(f"{name}.mlp.fc1")))
        return self._added(f"{name}.ls2", tower, x, layers.dense(hidden, self._linear(f"{name}.mlp.fc2")))

    def _added(self, scale: str, tower: TowerConfig, x: str, change: str) -> str:
        if tower.layer_scale:
            change = self.layers.add("Mul", change, self._weight(f"{scale}.scale_factor"))
        return self.layers.add("Add", x, change)

    def _projected(self, x: str) -> str:
        """(patches, vision_dim) -> (patches, dim)."""
        layers = self.layers
        x = layers.dense(layers.gelu(layers.dense(x, self._linear("projector.fc1"))), self._linear("projector.fc2"))
        if len(self.config.towers) == 1:
            return x
        return layers.dense(layers.gelu(x), self._linear("projector.fc3"))

    # ---- language model --------------------------------------------------------------------------------------------

    def _read(self, x: str, tables: list[str], causal: str) -> str:
        """The whole prompt (n, dim) -> the hidden state at its end (1, dim); fills the cache."""
        layers = self.layers
        for number, decoder in enumerate(self.decoders):
            q, k, v = self._heads(decoder, x, tables)
            self.cache.append((k, v))
            if number == len(self.decoders) - 1:  # of which only the end is read
                x, q, causal = layers.part(x, -1), layers.part(q, -1, axis=1), layers.part(causal, -1)
            x = self._finished(decoder, x, layers.attend(q, k, v, self.sizes.dim, causal))
        return x

    def _step(self, x: str, tables: list[str]) -> str:
        """One token (1, dim) after what the cache holds -> its hidden state (1, dim)."""
        for number, decoder in enumerate(self.decoders):
            q, *new = self._heads(decoder, x, tables)
            k, v = (self.layers.joined(*each, axis=1) for each in zip(self.cache[number], new, strict=True))
            self.cache[number] = k, v
            x = self._finished(decoder, x, self.layers.attend(q, k, v, self.sizes.dim))
        return x

    def _heads(self, decoder: _Decoder, x: str, tables: list[str]) -> list[str]:
        """(n, dim) -> queries, rotated and scaled, rotated keys, and values: (heads, n, size) each."""
        layers, count = self.layers, self.sizes.heads
        joint = layers.add("MatMul", layers.rms_normed(x, decoder.norm1, self.sizes.rms_eps), decoder.qkv)
        both, values = layers.split(layers.heads(joint, 3 * count, self.sizes.head_dim), [2 * count, count])
        queries, keys = layers.split(self._rotated(both, tables), [count] * 2)
        return [layers.add("Mul", queries, layers.number(self.sizes.head_dim**-0.5)), keys, values]

    def _rotated(self, x: str, tables: list[str]) -> str:
        layers, (cosines, sines) = self.layers, tables
        first, second = layers.split(x, [self.sizes.head_dim // 2] * 2, axis=2)
        swapped = layers.joined(second, first, axis=2)
        return layers.add("Add", layers.add("Mul", x, cosines), layers.add("Mul", swapped, sines))

    def _finished(self, decoder: _Decoder, x: str, mixed: str) -> str:
        """What follows attention."""
        layers = self.layers
        x = layers.add("Add", x, layers.add("MatMul", mixed, decoder.out))
        joint = layers.add("MatMul", layers.rms_normed(x, decoder.norm2, self.sizes.rms_eps), decoder.gate_up)
        gate, up = layers.split(joint, [self.sizes.mlp] * 2, axis=1)
        return layers.add("Add", x, layers.add("MatMul", layers.add("Mul", layers.silu(gate), up), decoder.down))

    def _chosen(self, hidden: str) -> str:
        """(1, dim) -> the likeliest token (1,), over the padded vocabulary."""
        normed = self.layers.rms_normed(hidden, self.norm, self.sizes.rms_eps)
        return self.layers.add("ArgMax", self.layers.add("MatMul", normed, self.head), axis=1, keepdims=0)

    def _places(self, table: str, end: int) -> str:
        return self.layers.part(table, 0, end) if end else table

    def _place(self, table: str, place: int) -> str:
        """One row, counted from the end."""
        return self.layers.part(table, place, place + 1) if place < -1 else self.layers.part(table, -1)

    # ---- weights ---------------------------------------------------------------------------------------------------

    def _decoder(self, name: str) -> _Decoder:
        qkv = [f"{name}.self_attn.{part}_proj.weight" for part in "qkv"]
        gate_up = [f"{name}.mlp.{part}_proj.weight" for part in ("gate", "up")]
        return _Decoder(
            norm1=self._weight(f"{name}.input_layernorm.weight"),
            qkv=self._turned(*qkv),
            out=self._turned(f"{name}.self_attn.o_proj.weight"),
            norm2=self._weight(f"{name}.post_attention_layernorm.weight"),
            gate_up=self._turned(*gate_up),
            down=self._turned(f"{name}.mlp.down_proj.weight"),
        )

    def _weight(self, name: str) -> str:
        return self.layers.constant(self.layers.array(name))

    def _turned(self, *names: str) -> str:
        """Kernels (out, in) as one (in, all out)."""
        return self.layers.constant(np.concatenate([self.layers.array(name) for name in names]).T)

    def _pair(self, name: str) -> Affine:
        return self.layers.pair(f"{name}.weight", f"{name}.bias")

    def _linear(self, name: str) -> Affine:
        return self._turned(f"{name}.weight"), self._weight(f"{name}.bias")


def rotary_tables(places: int, config: LanguageConfig) -> tuple[Array, Array]:
    """Cosines and sines (places, head size), the sines with the sign of the half that they meet."""
    rates = 1 / np.float32(config.rope_theta) ** (np.arange(0, config.head_dim, 2, dtype=np.float32) / config.head_dim)
    angles = np.arange(places, dtype=np.float32)[:, None] * rates.astype(np.float32)
    cosines, sines = np.cos(angles), np.sin(angles)
    return np.concatenate([cosines, cosines], 1), np.concatenate([-sines, sines], 1)


def causal_bias(places: int) -> NDArray[np.float32]:
    """(places, places): 0 for what a place sees, itself and those before it, and -inf."""
    return np.triu(np.full((places, places), -np.inf, np.float32), 1)
