"""Behaviour cloning of a small OpenVLA: first a run of the towers alone, which learn where things are, then of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from policies.base import CheckpointError
from policies.networks.openvla import OpenVLA
from policies.openvla.actions import QuantileScale
from policies.openvla.batches import OpenVLABatch, OpenVLABatchMaker
from policies.openvla.config import PROMPT, read_config
from policies.openvla.heads import ActionHead, SceneHeads
from policies.openvla.losses import SoftBins, action_losses, scene_losses, total
from policies.openvla.packed import packed_forward, tower_features
from policies.openvla.prompt import PromptEncoder
from policies.openvla.sizes import OpenVLAMiniSizes, config_json
from policies.openvla.tokenizer import train_tokenizer
from policies.training import checkpoint
from policies.training.dataset import Demonstrations
from policies.training.loop import Pace, TrainingPlan, TrainingRun, seed_everything
from policies.transforms import STATISTICS_KEY, read_statistics

VLA = "vla."  # prefix of the weights that are shipped
TOWERS = f"{VLA}vision_backbone."


@dataclass(frozen=True)
class OpenVLAPlan(TrainingPlan):
    """`towers_only`: only the labels of the scene, without language. `tower_rate`: the towers' share of the learning
    rate. `origin`: the run whose averaged weights it began with, when they were not drawn anew."""

    batch: int = 32
    learning_rate: float = 1.5e-3
    weight_decay: float = 0.01
    clip: float = 1.0
    towers_only: bool = False
    tower_rate: float = 1.0
    origin: str = ""
    sizes: OpenVLAMiniSizes = field(default_factory=OpenVLAMiniSizes)


class OpenVLAStudent(nn.Module):
    """The network that is shipped and the heads that are not."""

    def __init__(self, vla: OpenVLA, things: int) -> None:
        super().__init__()
        self.vla = vla
        self.scene = SceneHeads(vla.config.vision_dim, things)
        self.action = ActionHead(vla.config.language.dim)


class OpenVLATrainer(TrainingRun):
    terms: ClassVar[tuple[str, ...]] = (
        "total", "tokens", "look", "action", "ways", "where", "offset", "vector", "turn", "arm", "held",
    )  # fmt: skip
    plan: OpenVLAPlan
    network: OpenVLAStudent

    def __init__(self, demos: Demonstrations, plan: OpenVLAPlan, folder: Path, pace: Pace | None = None) -> None:
        pace = pace or Pace()
        device = seed_everything(plan, pace)
        self.statistics = demos.statistics()
        self.tokenizer = train_tokenizer(demos.texts.values(), PROMPT)
        self.config = read_config(config_json(plan.sizes))
        prompts = PromptEncoder(self.tokenizer, self.config)
        numbers = read_statistics(self.statistics, STATISTICS_KEY)
        scale = QuantileScale.from_statistics(self.statistics[STATISTICS_KEY]["action"])
        self.batches = OpenVLABatchMaker(demos, numbers, scale, prompts, self.config, batch=plan.batch, seed=plan.seed)
        self.bins = SoftBins(self.config)
        vla = OpenVLA(self.config)
        initialise(vla)
        super().__init__(demos, plan, folder, pace, OpenVLAStudent(vla, len(demos.things)).to(device), device)

    def parameter_groups(self) -> list[dict[str, Any]]:
        towers = [value for name, value in self.network.named_parameters() if name.startswith(TOWERS)]
        others = [value for name, value in self.network.named_parameters() if not name.startswith(TOWERS)]
        return [{"params": others, "share": 1.0}, {"params": towers, "share": self.plan.tower_rate}]

    @property
    def network_sizes(self) -> Mapping[str, Any]:
        return asdict(self.plan.sizes)

    def losses(self, step: int) -> dict[str, Tensor]:
        terms = self.measure(self.batches.make(step), language=not self.plan.towers_only)
        return {name: terms.get(name, torch.zeros(())) for name in self.terms}

    def measure(self, batch: OpenVLABatch, *, language: bool) -> dict[str, Tensor]:
        """All terms and their weighted sum; without `language` only those of the towers."""
        student, to = self.network, self.device
        with torch.autocast(to.type, torch.bfloat16):
            pixels = batch.pixels.to(to, torch.bfloat16)
            pixels = pixels.repeat(1, self.plan.sizes.towers, 1, 1)
            features = tower_features(student.vla, pixels)
            seen = student.scene(features)
            if language:
                out = packed_forward(student.vla, features, batch.suffixes, self.watch)
                logits = student.vla.language_model.lm_head(out.hidden)
                guess = student.action(out.hidden[:, :, 0])
        terms = scene_losses(seen, batch.scene)
        if language:
            terms |= action_losses(logits, guess, out.attention, batch.scene, batch.actions, self.bins)
        return terms | {"total": total(terms)}

    @property
    def watch(self) -> int:
        """The layer that learns where to look: two layers remain to make an action of it."""
        return max(0, self.plan.sizes.layers - 3)

    def start_from(self, run: Path) -> None:
        """Begin with the averaged weights that another run of these sizes has reached."""
        found = checkpoint.read_averaged(run)
        past = checkpoint.read_progress(run)
        self.history = [*past.get("history", []), {key: round(past[key]) for key in ("samples", "seconds")}]
        weights = dict(self.network.named_parameters())
        if wrong := [name for name, value in weights.items() if name not in found or found[name].shape != value.shape]:
            raise CheckpointError(f"{run}: begun with other sizes; {wrong[0]} does not fit")
        with torch.no_grad():
            for name, value in weights.items():
                value.copy_(found[name])
                self.ema[name].copy_(found[name])


def initialise(network: OpenVLA) -> None:
    """Small normal weights, zero biases; the towers' pictures start at the scale of their positions."""
    for module in network.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5 * 0.7)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.5)
