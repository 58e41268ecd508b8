"""Behaviour cloning of a small OpenVLA: first of the towers, which learn where things are, then of all parts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from policies.base import CheckpointError, PolicyCard
from policies.folder import CONFIG, PREPROCESSOR, TOKENIZER
from policies.networks.openvla import OpenVLA
from policies.openvla.actions import QuantileScale
from policies.openvla.batches import OpenVLABatchMaker
from policies.openvla.config import PROMPT, read_config
from policies.openvla.heads import ActionHead, SceneHeads
from policies.openvla.losses import WEIGHTS, SoftBins, action_losses, scene_losses
from policies.openvla.packed import packed_forward, tower_features
from policies.openvla.prompt import PromptEncoder
from policies.openvla.sizes import OpenVLAMiniSizes, config_json, preprocessor_json
from policies.openvla.tokenizer import train_tokenizer
from policies.reference import write_reference
from policies.training import checkpoint
from policies.training.batches import weighted_sum
from policies.training.export import Naming, write_folder
from policies.training.loop import TrainingPlan, TrainingRun

VLA = "vla."  # prefix of the weights that are shipped
TOWERS = f"{VLA}vision_backbone."


@dataclass(frozen=True)
class OpenVLAPlan(TrainingPlan):
    """`towers_only`: trains on the labels of the scene, without language. `tower_rate`: factor of the towers' learning
    rate. `origin`: the run with whose averaged weights this one began, if any."""

    batch: int = 32
    weight_decay: float = 0.01
    clip: float = 1.0
    towers_only: bool = False
    tower_rate: float = 1.0
    origin: str = ""
    sizes: OpenVLAMiniSizes = field(default_factory=OpenVLAMiniSizes)


class OpenVLAStudent(nn.Module):
    """The shipped network and the auxiliary heads."""

    def __init__(self, vla: OpenVLA, things: int) -> None:
        super().__init__()
        self.vla = vla
        self.scene = SceneHeads(vla.config.vision_dim, things)
        self.action = ActionHead(vla.config.language.dim)


class OpenVLATrainer(TrainingRun):
    family = "openvla"
    architecture = "OpenVLA"
    terms: ClassVar[tuple[str, ...]] = ("total", *WEIGHTS)
    shipped_prefix = VLA
    plan: OpenVLAPlan
    network: OpenVLAStudent

    def build(self) -> nn.Module:
        demos, plan, self.sizes = self.demos, self.plan, asdict(self.plan.sizes)
        self.tokenizer = train_tokenizer(demos.texts.values(), PROMPT)
        config = read_config(config_json(plan.sizes))
        prompts = PromptEncoder(self.tokenizer, config)
        scale = QuantileScale.from_statistics(self.statistics[self.statistics_key]["action"])
        self.batches = OpenVLABatchMaker(demos, self.scales, scale, prompts, config, self.order)
        self.bins = SoftBins(config)
        # The layer whose attention is supervised. Two layers after it turn what it sees into an action.
        self.watched_layer = max(0, plan.sizes.layers - 3)
        vla = OpenVLA(config)
        initialise(vla)
        return OpenVLAStudent(vla, len(demos.things))

    def parameter_groups(self) -> list[dict[str, Any]]:
        towers = [value for name, value in self.network.named_parameters() if name.startswith(TOWERS)]
        others = [value for name, value in self.network.named_parameters() if not name.startswith(TOWERS)]
        return [{"params": others, "share": 1.0}, {"params": towers, "share": self.plan.tower_rate}]

    def losses(self, step: int) -> dict[str, Tensor]:
        """The terms of language are zero when only the towers are trained."""
        batch, language = self.batches.make(step), not self.plan.towers_only
        student, to = self.network, self.device
        with self.autocast():
            pixels = batch.pixels.to(to, self.dtype)
            pixels = pixels.repeat(1, self.plan.sizes.towers, 1, 1)
            features = tower_features(student.vla, pixels)
            seen = student.scene(features)
            if language:
                out = packed_forward(student.vla, features, batch.suffixes, self.watched_layer)
                logits = student.vla.language_model.lm_head(out.hidden)
                guess = student.action(out.hidden[:, :, 0])
        terms = scene_losses(seen, batch.scene)
        if language:
            terms |= action_losses(logits, guess, out.attention, batch.scene, batch.actions, self.bins)
        absent = {name: torch.zeros(()) for name in WEIGHTS if name not in terms}
        return terms | absent | {"total": weighted_sum(terms, WEIGHTS)}

    def start_from(self, run: Path) -> None:
        """Begin with the averaged weights of another run of the same sizes."""
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

    def export(self, naming: Naming, folder: Path) -> PolicyCard:
        """Write the folder in OpenVLA's published layout, without the auxiliary heads."""
        sizes, tokenizer = self.plan.sizes, self.tokenizer.to_str(pretty=True)
        files = {CONFIG: config_json(sizes), PREPROCESSOR: preprocessor_json(sizes), TOKENIZER: tokenizer}
        card = write_folder(self, naming, folder, files, chunk=1, network={"sizes": self.sizes})
        write_reference(folder)
        return card


def initialise(network: OpenVLA) -> None:
    """Draw small normal weights and set biases to zero."""
    for module in network.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5 * 0.7)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.5)
