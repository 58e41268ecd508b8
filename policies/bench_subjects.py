"""The networks to be timed: policy folders, and the published sizes with random weights.

A subject computes an action in two ways: `act` as the arena plays it, and `plain` with the network as it is written,
module by module, which keeps nothing but the encoded instruction and the key-value cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from torch import Tensor, nn

from policies import checkpoints
from policies.networks.octo import Octo, OctoObservation, OctoTask
from policies.networks.octo_fast import FastOcto
from policies.networks.octo_sizes import CameraConfig, HeadConfig, OctoConfig, StemConfig, TextConfig
from policies.networks.openvla import OpenVLA
from policies.networks.openvla_fast import FastOpenVLA
from policies.octo.config import ENCODERS
from policies.octo.policy import OctoPolicy
from policies.openvla.config import MODEL_TYPE, read_config
from policies.openvla.policy import OpenVLAPolicy
from policies.published import OCTO, OPENVLA
from policies.reference import open_with_torch
from simulation.contracts import ACTION_DIM, Observation

INSTRUCTION = "pick up the red cube"
PROMPT_LENGTH = 24  # of openvla-7b's prompt with a short instruction
ROOM = 1.15  # memory to be free, as a multiple of the weights

OCTO_SIZES = {"octo-base": (768, 12, 3072), "octo-small": (384, 6, 1536)}
PUBLISHED = ("openvla-7b", *OCTO_SIZES)


class NoRoom(Exception):
    """The weights do not fit. The message says how much memory is free."""


@dataclass(frozen=True)
class Subject:
    """`act(n)`: the next actions of n rollouts, on the CPU when it returns. `bytes_read`: of weights, per action."""

    network: nn.Module
    act: Callable[[int], object]
    plain: Callable[[], object]
    bytes_read: int


def folder(path: Path, device: str | None) -> Subject:
    """A policy folder, timed from the camera's picture to actions in metres."""
    policy = open_with_torch(path, device or "cpu")
    if isinstance(policy, OpenVLAPolicy):
        return _openvla_policy(policy)
    if isinstance(policy, OctoPolicy):
        return _octo_policy(policy)
    raise ValueError(f"{path}: family {policy.spec.family!r}; timed are openvla and octo")


def published(name: str, device: str | None) -> Subject:
    """A published size with random weights, because time depends on sizes alone. Raises NoRoom."""
    target, dtype = checkpoints.default_device(device, OCTO if name in OCTO_SIZES else OPENVLA)
    if name in OCTO_SIZES:
        return _octo(_randomised(lambda: Octo(octo_config(*OCTO_SIZES[name])), target, dtype))
    config: dict[str, Any] = {"vision_backbone_id": "dinosiglip-vit-so-224px", "text_config": {"vocab_size": 32064}}
    return _openvla(_randomised(lambda: OpenVLA(read_config({"model_type": MODEL_TYPE} | config)), target, dtype))


def octo_config(dim: int, heads: int, mlp: int) -> OctoConfig:
    """The published sizes, with only that one of Octo's two cameras which the arena has."""
    return OctoConfig(
        cameras=(CameraConfig("primary", 256, 256, StemConfig()),),
        text=TextConfig("language", 16, ENCODERS["t5-base"]),
        head=HeadConfig("readout_action", ACTION_DIM, 4),
        readouts={"action": 1},
        dim=dim, layers=12, heads=heads, mlp=mlp, max_horizon=10, window=2,
        repeat_task_tokens=True, use_correct_attention=True,
    )  # fmt: skip


def _randomised(make: Callable[[], Any], device: torch.device, dtype: torch.dtype) -> Any:
    network: nn.Module = checkpoints.build(make)
    wanted = sum(tensor.numel() for tensor in network.state_dict().values()) * dtype.itemsize
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else psutil.virtual_memory().available
    if free < ROOM * wanted:
        room = f"{ROOM * wanted / 1e9:.1f} GB in {str(dtype).removeprefix('torch.')}"
        raise NoRoom(f"not measured: the weights need {room}; {free / 1e9:.1f} GB are free")
    random = {
        name: torch.empty(tensor.shape, dtype=dtype, device=device).normal_(0, 0.02)
        for name, tensor in network.state_dict().items()
    }
    network.load_state_dict(random, assign=True)
    return network.requires_grad_(False).eval()


def _openvla_policy(policy: OpenVLAPolicy) -> Subject:
    camera, prompt = policy.spec.cameras[0], policy.prompts.encode(INSTRUCTION, ACTION_DIM)
    looks = [_look(policy, index) for index in range(8)]

    def plain() -> object:
        pixels = torch.from_numpy(policy.images(looks[0].images[camera.name]))[None]
        tokens = _plain_tokens(policy.network, prompt, pixels)
        return policy.scale.unnormalise(policy.tokens.decode(tokens.numpy()))

    return Subject(policy.network, _play(policy, looks), plain, openvla_bytes(policy.network))


def _openvla(network: OpenVLA) -> Subject:
    config, fast = network.config, FastOpenVLA(network)
    prompt, side = [config.bos_id, *range(100, 99 + PROMPT_LENGTH)], config.towers[0].image_size
    pixels = torch.randn(8, 3 * len(config.towers), side, side)
    return Subject(
        network,
        lambda count: fast.generate([prompt] * count, pixels[:count], ACTION_DIM).cpu(),
        lambda: _plain_tokens(network, prompt, pixels[:1]),
        openvla_bytes(network),
    )


def _plain_tokens(network: OpenVLA, prompt: list[int], pixels: Tensor) -> Tensor:
    weight = network.language_model.lm_head.weight
    ids, lengths = torch.tensor([prompt], device=weight.device), torch.tensor([len(prompt)], device=weight.device)
    return network.generate(ids, lengths, pixels.to(weight.device, weight.dtype), ACTION_DIM).cpu()


def openvla_bytes(network: OpenVLA) -> int:
    """Bytes of the towers without their last blocks and of the projector, and seven times the language model's."""
    towers = [network.vision_backbone.featurizer, network.vision_backbone.fused_featurizer]
    seen = sum(_size(part) for tower in towers if tower is not None for part in (tower.patch_embed, *tower.blocks[:-1]))
    language = _size(network.language_model) - _size(network.language_model.model.embed_tokens)
    return seen + _size(network.projector) + ACTION_DIM * language


def _octo_policy(policy: OctoPolicy) -> Subject:
    network, camera = policy.network, policy.spec.cameras[0]
    ids, present = map(torch.from_numpy, policy.text.encode(INSTRUCTION))
    looks = [_look(policy, index) for index in range(8)]
    plain = _plain_octo(network, network.encode_text(ids, present))
    picture = looks[0].images[camera.name]
    return Subject(
        network,
        _play(policy, looks),
        lambda: policy.scale.unnormalise(plain(torch.from_numpy(picture)).double().numpy()),
        octo_bytes(network),
    )


def _octo(network: Octo) -> Subject:
    config, fast = network.config, FastOcto(network, [network.config.cameras[0].name])
    camera, head = config.cameras[0], config.head
    ids = torch.zeros(1, config.text.tokens, dtype=torch.long, device=fast.device)
    text = network.encode_text(ids, ids == 0)
    memory, plain = fast.remember(text[0]), _plain_octo(network, text)
    pictures = torch.randint(0, 256, (8, camera.height, camera.width, 3), dtype=torch.uint8)
    frames = fast.look(camera.name, pictures)
    first = torch.randn(8, head.horizon * head.action_dim)
    later = torch.randn(head.steps, 8, head.horizon * head.action_dim)

    def act(count: int) -> object:
        seen = fast.look(camera.name, pictures[:count])
        window = torch.stack([*[frames[:count]] * (config.window - 1), seen], 1)
        missing = torch.zeros(count, dtype=torch.long)
        return fast.sample({camera.name: window}, missing, [memory] * count, first[:count], later[:, :count]).cpu()

    return Subject(network, act, lambda: plain(pictures[0]), octo_bytes(network))


def _plain_octo(network: Octo, text: Tensor) -> Callable[[Tensor], Tensor]:
    config, head = network.config, network.config.head
    size, device = (1, config.window, head.horizon * head.action_dim), text.device
    shown = torch.ones(1, config.window, dtype=torch.bool, device=device)

    def plain(picture: Tensor) -> Tensor:
        images = {config.cameras[0].name: picture.expand(1, config.window, *picture.shape).to(device)}
        noise = torch.randn(size).to(device), torch.randn(head.steps, *size).to(device)
        outputs = network(OctoObservation(images, shown), OctoTask(text))
        return network.sample(outputs, *noise)[0].cpu()

    return plain


def octo_bytes(network: Octo) -> int:
    """Bytes of stem, projections and transformer, and those of the head once per diffusion step; no text encoder."""
    transformer = network.octo_transformer
    text = _size(transformer.get_submodule(f"task_tokenizers_{network.config.text.name}"))
    return _size(transformer) - text + network.config.head.steps * _size(network.heads_action)


def _look(policy: OpenVLAPolicy | OctoPolicy, seed: int) -> Observation:
    camera, random = policy.spec.cameras[0], np.random.default_rng(seed)
    image = random.integers(0, 256, (camera.height, camera.width, 3), dtype=np.uint8)
    return Observation({camera.name: image}, np.zeros(8, np.float32), INSTRUCTION, 0)


def _play(policy: Any, looks: list[Observation]) -> Callable[[int], object]:
    states = [policy.begin(INSTRUCTION, seed) for seed in range(len(looks))]
    return lambda count: policy.infer_batch(looks[:count], states[:count])


def _size(module: nn.Module) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in module.parameters())
