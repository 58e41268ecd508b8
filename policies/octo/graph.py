"""A small Octo as two ONNX graphs: the numbers of `networks.octo_fast`, up to rounding.

`text_graph` takes an instruction's `ids` (L,) and `hidden` (L,), what is added to the scores of padding, and gives
`memory` (2 * layers, heads, L, head size): the text's keys and values in every layer, keys first.
`action_graph` takes this memory, a `picture` (1, 3, H, W) in -1..1 and the head's noise, `first` (1, A) and `later`
(steps, A), and gives normalised `actions` (1, A), A = horizon * action_dim.

Of networks that see one frame of one camera, without a goal picture, and read one token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policies.networks.octo_sizes import HeadConfig, OctoConfig, Schedule, T5Config
from policies.onnx_layers import Affine, Array, Layers, NotExported, all_read

EPS = 1e-6  # of flax's norms
LOWEST = float(np.finfo(np.float32).min)
BLOCKS = "octo_transformer.BlockTransformer_0.Transformer_0"
HEAD = "heads_action.diffusion_model"


def octo_graphs(config: OctoConfig, weights: Mapping[str, Array]) -> tuple[bytes, bytes]:
    """The ONNX models of the text and of the action. Raises KeyError for a missing weight, NotExported for what is
    not written here."""
    one_frame = config.window == 1 and len(config.cameras) == 1 and not config.cameras[0].goal
    if not one_frame or list(config.readouts.values()) != [1] or config.repeat_task_tokens:
        raise NotExported("more than one frame, camera or readout token, a goal picture or repeated text")
    if not config.use_correct_attention:
        raise NotExported("the attention of the first release")
    text, action = _TextGraph(config, weights), _ActionGraph(config, weights)
    models = text.build(), action.build()
    all_read(weights, text.layers.read | action.layers.read)
    return models


@dataclass(frozen=True)
class _Block:
    """A layer of the transformer, by the names of its values."""

    norm1: Affine
    qkv: Affine
    out: Affine
    norm2: Affine
    wide: Affine
    narrow: Affine


class _Transformer:
    """What text and picture share."""

    def __init__(self, name: str, config: OctoConfig, weights: Mapping[str, Array]) -> None:
        self.config, self.size = config, config.dim // config.heads
        self.layers = Layers(name, weights)
        self.blocks = [self._block(f"{BLOCKS}.encoderblock_{number}") for number in range(config.layers)]

    def heads(self, block: _Block, x: str) -> list[str]:
        """(n, dim) -> scaled queries, keys, values: (heads, n, size) each."""
        joint = self.layers.dense(self.layers.normed(x, block.norm1, EPS), block.qkv)
        parts = self.layers.heads(joint, 3 * self.config.heads, self.size)
        queries, keys, values = self.layers.split(parts, [self.config.heads] * 3)
        return [self.layers.add("Mul", queries, self.layers.number(self.size**-0.5)), keys, values]

    def finished(self, block: _Block, x: str, mixed: str) -> str:
        """What follows attention."""
        layers = self.layers
        x = layers.add("Add", x, layers.dense(mixed, block.out))
        hidden = layers.tanh_gelu(layers.dense(layers.normed(x, block.norm2, EPS), block.wide))
        return layers.add("Add", x, layers.dense(hidden, block.narrow))

    def projected(self, group: str, x: str, positions: Array) -> str:
        """A group's tokens in the transformer's width and at their positions (n, dim)."""
        found = self.layers.dense(x, self.kernel(f"octo_transformer.{group}_projection"))
        return self.layers.add("Add", found, self.layers.constant(positions))

    def kernel(self, name: str) -> Affine:
        return self.layers.pair(f"{name}.kernel", f"{name}.bias")

    def norm(self, name: str) -> Affine:
        return self.layers.pair(f"{name}.scale", f"{name}.bias")

    def _block(self, name: str) -> _Block:
        attention, mlp = f"{name}.MultiHeadDotProductAttention_0", f"{name}.MlpBlock_0"
        return _Block(
            norm1=self.norm(f"{name}.LayerNorm_0"),
            qkv=self._fused([f"{attention}.{part}" for part in ("query", "key", "value")]),
            out=self._out(f"{attention}.out"),
            norm2=self.norm(f"{name}.LayerNorm_1"),
            wide=self.kernel(f"{mlp}.Dense_0"),
            narrow=self.kernel(f"{mlp}.Dense_1"),
        )

    def _fused(self, names: Sequence[str]) -> Affine:
        array, dim = self.layers.array, self.config.dim
        kernel = np.concatenate([array(f"{name}.kernel").reshape(dim, dim) for name in names], 1)
        bias = np.concatenate([array(f"{name}.bias").reshape(dim) for name in names])
        return self.layers.constant(kernel), self.layers.constant(bias)

    def _out(self, name: str) -> Affine:
        kernel = self.layers.array(f"{name}.kernel").reshape(self.config.dim, self.config.dim)
        return self.layers.constant(kernel), self.layers.constant(self.layers.array(f"{name}.bias"))


class _TextGraph(_Transformer):
    def __init__(self, config: OctoConfig, weights: Mapping[str, Array]) -> None:
        super().__init__("text", config, weights)
        self.encoder, self.length = config.text.encoder, config.text.tokens
        self.t5 = f"octo_transformer.task_tokenizers_{config.text.name}.hf_model"

    def build(self) -> bytes:
        layers, group = self.layers, f"task_{self.config.text.name}"
        x = self._encoded()
        x = self.projected(group, x, layers.array(f"octo_transformer.{group}_pos_embedding")[0])
        memory = []
        for block in self.blocks:
            q, k, v = self.heads(block, x)
            memory.append((k, v))
            x = self.finished(block, x, layers.attend(q, k, v, self.config.dim))
        keys, values = zip(*memory, strict=True)
        stacked = [layers.add("Unsqueeze", each, layers.shape(0)) for each in (*keys, *values)]
        shape = (len(stacked), self.config.heads, self.length, self.size)
        layers.graph.output(layers.joined(*stacked), "memory", shape)
        return layers.graph.model()

    def _encoded(self) -> str:
        """T5's hidden states (L, t5 dim)."""
        layers = self.layers
        ids = layers.graph.input("ids", (self.length,), np.int64)
        hidden = layers.graph.input("hidden", (self.length,))
        x = layers.add("Gather", layers.constant(layers.array(f"{self.t5}.shared.embedding")), ids)
        bias = layers.add("Add", layers.constant(self._distances()), hidden)
        for number in range(self.encoder.layers):
            x = self._t5_block(f"{self.t5}.encoder.block.{number}.layer", x, bias)
        return self._rms_normed(f"{self.t5}.encoder.final_layer_norm", x)

    def _t5_block(self, name: str, x: str, bias: str) -> str:
        layers, encoder, part = self.layers, self.encoder, f"{name}.0.SelfAttention"
        qkv = np.concatenate([layers.array(f"{part}.{each}.kernel") for each in "qkv"], 1)
        joint = layers.add("MatMul", self._rms_normed(f"{name}.0.layer_norm", x), layers.constant(qkv))
        q, k, v = layers.split(layers.heads(joint, 3 * encoder.heads, encoder.head_dim), [encoder.heads] * 3)
        mixed = layers.attend(q, k, v, encoder.heads * encoder.head_dim, bias)
        x = layers.add("Add", x, self._product(f"{part}.o", mixed))
        normed = self._rms_normed(f"{name}.1.layer_norm", x)
        wide = layers.add("Relu", self._product(f"{name}.1.DenseReluDense.wi", normed))
        return layers.add("Add", x, self._product(f"{name}.1.DenseReluDense.wo", wide))

    def _product(self, name: str, x: str) -> str:
        return self.layers.add("MatMul", x, self.layers.constant(self.layers.array(f"{name}.kernel")))

    def _rms_normed(self, name: str, x: str) -> str:
        weight = self.layers.constant(self.layers.array(f"{name}.weight"))
        return self.layers.rms_normed(x, weight, self.encoder.norm_eps)

    def _distances(self) -> Array:
        """What every pair of positions adds to the scores, (heads, L, L)."""
        table = self.layers.array(f"{self.t5}.encoder.block.0.layer.0.SelfAttention.relative_attention_bias.embedding")
        places = np.arange(self.length)
        return table[relative_buckets(places[None] - places[:, None], self.encoder)].transpose(2, 0, 1)


class _ActionGraph(_Transformer):
    def __init__(self, config: OctoConfig, weights: Mapping[str, Array]) -> None:
        super().__init__("action", config, weights)
        (self.camera,), ((self.readout, _),) = config.cameras, config.readouts.items()
        self.actions = config.head.horizon * config.head.action_dim

    def build(self) -> bytes:
        layers, config, count = self.layers, self.config, self.config.layers
        memory = layers.graph.input("memory", (2 * count, config.heads, config.text.tokens, self.size))
        pieces = [
            layers.add("Reshape", each, layers.shape(config.heads, -1, self.size))
            for each in layers.split(memory, [1] * (2 * count))
        ]
        x, bias = self._tokens(), layers.constant(self._bias())
        for number, block in enumerate(self.blocks):
            q, k, v = self.heads(block, x)
            if number == count - 1:  # the readout alone goes on
                q, x, bias = layers.part(q, -1, axis=1), layers.part(x, -1), layers.constant(self._bias()[-1:])
            k, v = layers.joined(pieces[number], k, axis=1), layers.joined(pieces[count + number], v, axis=1)
            x = self.finished(block, x, layers.attend(q, k, v, config.dim, bias))
        head = _Head(layers, config.head, config.dim)
        actions = head.sampled(layers.normed(x, self.norm(f"{BLOCKS}.encoder_norm"), EPS))
        layers.graph.output(actions, "actions", (1, self.actions))
        return layers.graph.model()

    def _bias(self) -> Array:
        """What picture and readout add to their scores on text, picture and readout, which the picture does not see."""
        tokens = self.camera.tokens
        bias = np.zeros((tokens + 1, self.config.text.tokens + tokens + 1), np.float32)
        bias[:-1, -1] = LOWEST
        return bias

    def _tokens(self) -> str:
        """The picture's tokens, then the readout: (tokens + 1, dim)."""
        layers, group, readout = self.layers, f"obs_{self.camera.name}", f"readout_{self.readout}"
        positions = layers.array(f"octo_transformer.{group}_pos_embedding")[0, 0]
        asked = layers.array(f"octo_transformer.{readout}_pos_embedding")[0, 0]
        return layers.joined(self.projected(group, self._stem(), positions), layers.constant(asked))

    def _stem(self) -> str:
        """(cells, width)."""
        layers, camera, stem = self.layers, self.camera, self.camera.stem
        name = f"octo_transformer.observation_tokenizers_{camera.name}.{stem.name}_0"
        x = layers.graph.input("picture", (1, 3, camera.height, camera.width))
        for number, (stride, padding) in enumerate(zip(stem.strides, stem.padding, strict=True)):
            x = self._convolved(f"{name}.StdConv_{number}", x, stride, padding, standardised=True)
            x = layers.add("Relu", self._group_normed(f"{name}.GroupNorm_{number}", x))
        cells = self._convolved(f"{name}.embedding", x, stem.last_kernel)
        return layers.add("Transpose", layers.add("Reshape", cells, layers.shape(stem.width, -1)), perm=(1, 0))

    def _convolved(self, name: str, x: str, stride: int, padding: int = 0, *, standardised: bool = False) -> str:
        kernel = self.layers.array(f"{name}.kernel")
        if standardised:
            kernel = kernel - kernel.mean((0, 1, 2))
            kernel = kernel / (kernel.std((0, 1, 2)) + np.float32(1e-5))
        turned, bias = kernel.transpose(3, 2, 0, 1), self.layers.array(f"{name}.bias")
        terms = self.layers.constant(turned), self.layers.constant(bias)
        return self.layers.add("Conv", x, *terms, strides=(stride,) * 2, pads=(padding,) * 4)

    def _group_normed(self, name: str, x: str) -> str:
        layers, groups = self.layers, self.camera.stem.norm_groups
        one, zero = layers.constant(np.ones(groups, np.float32)), layers.constant(np.zeros(groups, np.float32))
        grouped = layers.add("Reshape", x, layers.shape(1, groups, -1))
        normed = layers.add("InstanceNormalization", grouped, one, zero, epsilon=EPS)
        scale, bias = (layers.array(f"{name}.{part}")[:, None, None] for part in ("scale", "bias"))
        back = layers.add("Reshape", normed, layers.add("Shape", x))
        return layers.add("Add", layers.add("Mul", back, layers.constant(scale)), layers.constant(bias))


class _Head:
    """The diffusion head: the numbers of `networks.diffusion_fast`, which splits its first layer by inputs, too."""

    def __init__(self, layers: Layers, config: HeadConfig, dim: int) -> None:
        self.layers, self.config, network = layers, config, f"{HEAD}.reverse_network"
        self.actions = config.horizon * config.action_dim
        kernel = layers.array(f"{network}.Dense_0.kernel")
        time, embedding, actions = np.split(kernel, [config.time_dim, config.time_dim + dim])
        self.from_time = self._times() @ time + layers.array(f"{network}.Dense_0.bias")
        self.from_embedding, self.from_actions = layers.constant(embedding), layers.constant(actions)
        self.blocks = [self._block(f"{network}.MLPResNetBlock_{number}") for number in range(config.blocks)]
        self.out = layers.pair(f"{network}.Dense_1.kernel", f"{network}.Dense_1.bias")

    def sampled(self, embedding: str) -> str:
        """(1, dim) -> normalised actions (1, A)."""
        layers, config, schedule = self.layers, self.config, Schedule.cosine(self.config.steps)
        x = layers.graph.input("first", (1, self.actions))
        later = layers.split(layers.graph.input("later", (config.steps, self.actions)), [1] * config.steps)
        told = layers.add("MatMul", embedding, self.from_embedding)
        known = layers.split(layers.add("Add", layers.constant(self.from_time), told), [1] * config.steps)
        most, least = layers.number(config.max_action), layers.number(-config.max_action)
        for step, t in enumerate(range(config.steps - 1, -1, -1)):
            scale = 1 / math.sqrt(schedule.alphas[t])
            share = scale * float(1 - schedule.alphas[t]) / math.sqrt(1 - schedule.remaining[t])
            noise = layers.add("Mul", self._noise(known[step], x), layers.number(share))
            x = layers.add("Sub", layers.add("Mul", x, layers.number(scale)), noise)
            if t > 0:
                x = layers.add("Add", x, layers.add("Mul", later[step], layers.number(math.sqrt(schedule.betas[t]))))
            x = layers.add("Max", layers.add("Min", x, most), least)
        return x

    def _noise(self, known: str, actions: str) -> str:
        """What the network takes for noise in the actions, (1, A)."""
        layers = self.layers
        x = layers.add("Gemm", actions, self.from_actions, known)
        for norm, wide, narrow in self.blocks:
            normed = x if norm is None else layers.normed(x, norm, EPS)
            x = layers.add("Add", x, layers.dense(layers.silu(layers.dense(normed, wide)), narrow))
        return layers.dense(layers.silu(x), self.out)

    def _block(self, name: str) -> tuple[Affine | None, Affine, Affine]:
        pair = self.layers.pair
        norm = pair(f"{name}.LayerNorm_0.scale", f"{name}.LayerNorm_0.bias") if self.config.layer_norm else None
        wide, narrow = (pair(f"{name}.{part}.kernel", f"{name}.{part}.bias") for part in ("Dense_0", "Dense_1"))
        return norm, wide, narrow

    def _times(self) -> Array:
        """What the network knows of every step, the noisiest first: (steps, time_dim)."""
        array = self.layers.array
        steps = np.arange(self.config.steps - 1, -1, -1, dtype=np.float32)[:, None]
        angles = np.float32(2 * np.pi) * steps @ array(f"{HEAD}.time_preprocess.kernel").T
        x = np.concatenate([np.cos(angles), np.sin(angles)], 1)
        first, second = (f"{HEAD}.cond_encoder.Dense_{number}" for number in (0, 1))
        x = x @ array(f"{first}.kernel") + array(f"{first}.bias")
        found: Array = x / (1 + np.exp(-x)) @ array(f"{second}.kernel") + array(f"{second}.bias")
        return found


def relative_buckets(distance: NDArray[np.int64], config: T5Config) -> NDArray[np.int64]:
    """`networks.t5.relative_buckets`: key minus query position -> bucket."""
    half = config.buckets // 2
    exact = half // 2
    far = np.abs(distance)
    spread = np.log(np.maximum(far, 1).astype(np.float32) / np.float32(exact))
    spread = spread / np.float32(math.log(config.max_distance / exact)) * np.float32(half - exact)
    logarithmic = np.minimum(exact + spread.astype(np.int64), half - 1)
    found: NDArray[np.int64] = np.where(far < exact, far, logarithmic) + half * (distance > 0)
    return found
