"""OpenVLA: a picture through two vision towers, a projector, and a Llama that answers with action tokens.

The layout is the published one, so modules carry the names of its checkpoint and `state_dict()` is its tensor list.
Architecture: Kim et al. 2024 (OpenVLA); towers: DINOv2 with registers and SigLIP (Vision Transformers); language model:
Llama 2. Stages can be called one by one:

    patch_features  pixels -> what the towers see           project      -> in the language model's width
    embed_prompt    BOS, patches, rest of the text          hidden_states -> after the language model's last norm
    logits          -> over the padded vocabulary           generate     -> greedy action tokens, with a KV cache
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from policies.networks.initial import drawn
from policies.networks.openvla_sizes import LanguageConfig, OpenVLAConfig, TowerConfig

# ---- vision towers -------------------------------------------------------------------------------------------------


class PatchEmbed(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.proj = nn.Conv2d(3, config.dim, config.patch, stride=config.patch)

    def forward(self, image: Tensor) -> Tensor:
        """(B, 3, H, W) -> (B, patches, dim), row by row."""
        grid: Tensor = self.proj(image)
        return grid.flatten(2).transpose(1, 2)


class TowerAttention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)  # (B, heads, N, hd)
        mixed: Tensor = self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))
        return mixed


class Mlp(nn.Module):
    """Exact (erf) GELU: the tanh approximation gives other features."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc2(F.gelu(self.fc1(x)))
        return out


class LayerScale(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scale_factor = nn.Parameter(torch.full((dim,), 1e-5))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale_factor


class TowerBlock(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.dim, eps=config.norm_eps)
        self.attn = TowerAttention(config.dim, config.heads)
        self.ls1 = LayerScale(config.dim) if config.layer_scale else nn.Identity()
        self.norm2 = nn.LayerNorm(config.dim, eps=config.norm_eps)
        self.mlp = Mlp(config.dim, config.mlp)
        self.ls2 = LayerScale(config.dim) if config.layer_scale else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.ls1(self.attn(self.norm1(x)))
        out: Tensor = x + self.ls2(self.mlp(self.norm2(x)))
        return out


class AttentionPool(nn.Module):
    """SigLIP's pooling head. OpenVLA reads patches, so it only holds the tensors that the checkpoint has."""

    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        dim = config.dim
        self.latent = nn.Parameter(torch.zeros(1, 1, dim))
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * dim)
        self.proj = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim, eps=config.norm_eps)
        self.mlp = Mlp(dim, config.mlp)


class VisionTower(nn.Module):
    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.config = config
        self.cls_token = nn.Parameter(torch.zeros(1, 1, config.dim)) if config.class_token else None
        self.reg_token = nn.Parameter(torch.zeros(1, config.registers, config.dim)) if config.registers else None
        self.pos_embed = nn.Parameter(drawn(1, config.patches, config.dim, deviation=0.02))  # patches only
        self.patch_embed = PatchEmbed(config)
        self.blocks = nn.ModuleList(TowerBlock(config) for _ in range(config.depth))
        self.norm = nn.LayerNorm(config.dim, eps=config.norm_eps)
        if config.attention_pool:
            self.attn_pool = AttentionPool(config)

    def forward(self, image: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> (B, patches, dim): the last block but one, without prefix and without `norm`."""
        x: Tensor = self.patch_embed(image)
        x = x + self.pos_embed
        prefix = [token.expand(len(x), -1, -1) for token in (self.cls_token, self.reg_token) if token is not None]
        x = torch.cat([*prefix, x], 1)
        for block in self.blocks[:-1]:
            x = block(x)
        return x[:, self.config.prefix :]


class VisionBackbone(nn.Module):
    """`featurizer` is DINOv2, `fused_featurizer` SigLIP; a backbone of one tower has only the first."""

    def __init__(self, towers: tuple[TowerConfig, ...]) -> None:
        super().__init__()
        self.featurizer = VisionTower(towers[0])
        self.fused_featurizer = VisionTower(towers[1]) if len(towers) > 1 else None

    def forward(self, pixels: Tensor) -> Tensor:
        """(B, 3 per tower, H, W), each tower with its own normalisation -> (B, patches, sum of dims)."""
        first: Tensor = self.featurizer(pixels[:, :3])
        if self.fused_featurizer is None:
            return first
        return torch.cat([first, self.fused_featurizer(pixels[:, 3:])], 2)


class Projector(nn.Module):
    """Three layers for two towers, two for one, exact GELU between them."""

    def __init__(self, config: OpenVLAConfig) -> None:
        super().__init__()
        fused = len(config.towers) > 1
        wide = config.projector_widening * config.vision_dim if fused else config.language.dim
        self.fc1 = nn.Linear(config.vision_dim, wide)
        self.fc2 = nn.Linear(wide, config.language.dim)
        self.fc3 = nn.Linear(config.language.dim, config.language.dim) if fused else None

    def forward(self, features: Tensor) -> Tensor:
        x: Tensor = self.fc2(F.gelu(self.fc1(features)))
        return x if self.fc3 is None else self.fc3(F.gelu(x))


# ---- language model ------------------------------------------------------------------------------------------------


class KeyValueCache:
    """Room for `length` positions, allocated once: a decode step has the same shapes every time."""

    def __init__(self, config: LanguageConfig, batch: int, length: int, like: Tensor) -> None:
        shape = (config.layers, batch, config.kv_heads, length, config.head_dim)
        self.keys, self.values = like.new_zeros(shape), like.new_zeros(shape)
        self.slots = torch.arange(length, device=like.device)
        self.rows = torch.arange(batch, device=like.device)[:, None]

    def write(self, layer: int, positions: Tensor, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Put (B, kv_heads, L, head_dim) at `positions` (B, L); answers all slots of the layer."""
        all_keys, all_values = self.keys[layer], self.values[layer]
        all_keys[self.rows, :, positions] = keys.transpose(1, 2)
        all_values[self.rows, :, positions] = values.transpose(1, 2)
        return all_keys, all_values


class RmsNorm(nn.Module):
    def __init__(self, dim: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """The mean square is taken in float32, whatever the weights are."""
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)


def rotary_tables(positions: Tensor, config: LanguageConfig, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosines and sines (B, 1, L, head_dim) of rotary positions, for the two-halves form of the rotation."""
    steps = torch.arange(0, config.head_dim, 2, device=positions.device).float() / config.head_dim
    angles = positions[..., None].float() * (1.0 / config.rope_theta**steps)  # (B, L, head_dim / 2)
    angles = torch.cat([angles, angles], -1)[:, None]
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x: Tensor, tables: tuple[Tensor, Tensor]) -> Tensor:
    cosines, sines = tables
    first, second = x.chunk(2, -1)
    return x * cosines + torch.cat([-second, first], -1) * sines


class LlamaAttention(nn.Module):
    def __init__(self, config: LanguageConfig) -> None:
        super().__init__()
        self.config = config
        kv_dim = config.kv_heads * config.head_dim
        self.q_proj = nn.Linear(config.dim, config.dim, bias=False)
        self.k_proj = nn.Linear(config.dim, kv_dim, bias=False)
        self.v_proj = nn.Linear(config.dim, kv_dim, bias=False)
        self.o_proj = nn.Linear(config.dim, config.dim, bias=False)

    def forward(self, x: Tensor, step: DecoderStep, layer: int) -> Tensor:
        b, length, d = x.shape
        split = (b, length, -1, self.config.head_dim)
        q = rotate(self.q_proj(x).view(split).transpose(1, 2), step.tables)  # (B, heads, L, hd)
        k = rotate(self.k_proj(x).view(split).transpose(1, 2), step.tables)
        v = self.v_proj(x).view(split).transpose(1, 2)
        if step.cache is not None:
            cached = step.cache.write(layer, step.positions, k, v)
            if step.visible is not None:
                k, v = cached
        mixed = F.scaled_dot_product_attention(
            q, k, v, step.visible, is_causal=step.visible is None, enable_gqa=self.config.heads != self.config.kv_heads
        )
        out: Tensor = self.o_proj(mixed.transpose(1, 2).reshape(b, length, d))
        return out


class LlamaMlp(nn.Module):
    def __init__(self, config: LanguageConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.dim, config.mlp, bias=False)
        self.up_proj = nn.Linear(config.dim, config.mlp, bias=False)
        self.down_proj = nn.Linear(config.mlp, config.dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


@dataclass(frozen=True)
class DecoderStep:
    """What every layer of one pass shares. `visible` (B, 1, 1, slots): set when one new token looks into the cache."""

    positions: Tensor  # (B, L)
    tables: tuple[Tensor, Tensor]
    cache: KeyValueCache | None
    visible: Tensor | None


class LlamaLayer(nn.Module):
    def __init__(self, config: LanguageConfig) -> None:
        super().__init__()
        self.self_attn = LlamaAttention(config)
        self.mlp = LlamaMlp(config)
        self.input_layernorm = RmsNorm(config.dim, config.rms_eps)
        self.post_attention_layernorm = RmsNorm(config.dim, config.rms_eps)

    def forward(self, x: Tensor, step: DecoderStep, layer: int) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), step, layer)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class LlamaModel(nn.Module):
    def __init__(self, config: LanguageConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocabulary, config.dim)
        self.layers = nn.ModuleList(LlamaLayer(config) for _ in range(config.layers))
        self.norm = RmsNorm(config.dim, config.rms_eps)

    def forward(self, x: Tensor, positions: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """Embeddings (B, L, dim) at `positions` (B, L) -> hidden states after the last norm.

        One token with a cache continues what the cache holds; anything longer starts a sequence and sees only itself.
        """
        continues = cache is not None and x.shape[1] == 1
        visible = (cache.slots <= positions)[:, None, None] if cache is not None and continues else None
        step = DecoderStep(positions, rotary_tables(positions, self.config, x.dtype), cache, visible)
        for index, layer in enumerate(self.layers):
            x = layer(x, step, index)
        out: Tensor = self.norm(x)
        return out


class LanguageModel(nn.Module):
    def __init__(self, config: LanguageConfig) -> None:
        super().__init__()
        self.model = LlamaModel(config)
        self.lm_head = nn.Linear(config.dim, config.vocabulary, bias=False)


# ---- the whole -----------------------------------------------------------------------------------------------------


class OpenVLA(nn.Module):
    def __init__(self, config: OpenVLAConfig) -> None:
        super().__init__()
        self.config = config
        self.vision_backbone = VisionBackbone(config.towers)
        self.projector = Projector(config)
        self.language_model = LanguageModel(config.language)

    def patch_features(self, pixels: Tensor) -> Tensor:
        """Tower features: (B, 3 per tower, H, W) -> (B, patches, vision_dim), DINOv2's channels first."""
        features: Tensor = self.vision_backbone(pixels)
        return features

    def project(self, features: Tensor) -> Tensor:
        """Projector: (B, patches, vision_dim) -> (B, patches, dim)."""
        patches: Tensor = self.projector(features)
        return patches

    def embed_prompt(self, ids: Tensor, patches: Tensor) -> Tensor:
        """The sequence: BOS, all patches, the rest of the text. (B, L) and (B, P, dim) -> (B, L+P, dim)."""
        text: Tensor = self.language_model.model.embed_tokens(ids)
        return torch.cat([text[:, :1], patches.to(text.dtype), text[:, 1:]], 1)

    def hidden_states(self, embeddings: Tensor, cache: KeyValueCache | None = None) -> Tensor:
        """A whole sequence through the language model: (B, L, dim) -> (B, L, dim), after the last norm."""
        positions = torch.arange(embeddings.shape[1], device=embeddings.device).expand(len(embeddings), -1)
        hidden: Tensor = self.language_model.model(embeddings, positions, cache)
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., dim) -> float32 (..., padded vocabulary)."""
        scores: Tensor = self.language_model.lm_head(hidden)
        return scores.float()

    def forward(self, ids: Tensor, pixels: Tensor) -> Tensor:
        """Logits at every position of BOS, patches, text, for training. Text is padded on the right, if at all."""
        return self.logits(self.hidden_states(self.embed_prompt(ids, self.project(self.patch_features(pixels)))))

    def decode_step(self, token: Tensor, positions: Tensor, cache: KeyValueCache) -> Tensor:
        """One token (B,) at `positions` (B,), after what the cache holds -> logits (B, vocabulary)."""
        embedding = self.language_model.model.embed_tokens(token[:, None])
        return self.logits(self.language_model.model(embedding, positions[:, None], cache)[:, 0])

    @torch.inference_mode()
    def generate(self, ids: Tensor, lengths: Tensor, pixels: Tensor, count: int) -> Tensor:
        """Greedy: exactly `count` tokens (B, count) over the whole padded vocabulary, no early stop.

        `ids` (B, L) may be padded on the right with anything; `lengths` (B,) are the true ones. A row never sees its
        padding: causal order hides it from the text, and decoding writes over it. Tokens stay on the device.
        """
        embeddings = self.embed_prompt(ids, self.project(self.patch_features(pixels)))
        cache = KeyValueCache(self.config.language, len(ids), embeddings.shape[1] + count, embeddings)
        hidden = self.hidden_states(embeddings, cache)
        last = lengths + self.config.patches - 1  # (B,) index of each row's last true position
        token = self.logits(hidden[cache.rows[:, 0], last]).argmax(-1)
        tokens = [token]
        for step in range(1, count):
            token = self.decode_step(token, last + step, cache).argmax(-1)
            tokens.append(token)
        return torch.stack(tokens, 1)
