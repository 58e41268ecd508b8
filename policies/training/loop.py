"""The training loop of all families: seeded, and resumable bit for bit on one machine."""

from __future__ import annotations

import csv
import json
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from policies import devices
from policies.base import CheckpointError, DatasetError
from policies.folder import LOG
from policies.training import checkpoint
from policies.training.batches import FrameOrder
from policies.training.dataset import Demonstrations
from policies.transforms import read_statistics, statistics_key


@dataclass(frozen=True)
class TrainingPlan:
    """Everything that decides the weights. The learning rate falls to zero over the `samples` frames of the run."""

    samples: int
    seed: int = 0
    fraction: float = 1.0  # share of the demonstrations
    batch: int = 64
    learning_rate: float = 1.5e-3
    weight_decay: float = 1e-4
    warm_up: int = 200  # steps
    clip: float = 5.0
    ema: float = 0.998
    repeat: tuple[tuple[str, int], ...] = ()  # tasks whose frames are shown several times as often, and how often

    @classmethod
    def from_options(cls, options: Mapping[str, Any], **others: Any) -> Self:
        """A plan with the command's options that have a field's name, and with `others`."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in options.items() if name in known}, **others)

    @property
    def steps(self) -> int:
        return max(1, math.ceil(self.samples / self.batch))


@dataclass(frozen=True)
class Pace:
    """How often to log (steps) and to save (seconds), and what to compute on. Has no influence on the weights."""

    log_steps: int = 50
    save_s: float = 60.0
    device: str = "cpu"
    threads: int = 1


class TrainingRun(ABC):
    """One run. `run()` trains to the end of the plan; `step()` does one update and returns its losses.

    A family names its losses in `terms`, of which "total" is minimised. `sizes` describes its network for the
    checkpoint and the policy's card.
    """

    family: ClassVar[str]
    architecture: ClassVar[str]
    terms: ClassVar[tuple[str, ...]]
    shipped_prefix: ClassVar[str] = ""  # of the names of the weights that a policy folder holds
    shipped_dtype: ClassVar[torch.dtype] = torch.bfloat16  # as computed with in training; loading widens it on a CPU
    sizes: Mapping[str, Any]

    def __init__(self, demos: Demonstrations, plan: TrainingPlan, folder: Path, pace: Pace | None = None) -> None:
        self.demos, self.plan, self.folder, self.pace = demos, plan, folder, pace or Pace()
        torch.set_num_threads(self.pace.threads)
        torch.manual_seed(plan.seed)
        self.device = devices.find(self.pace.device)
        self.dtype = fast_dtype(self.device)
        self.statistics = self.measure()
        self.scales = read_statistics(self.statistics, self.statistics_key)
        self.order = FrameOrder(len(demos), plan.batch, plan.seed, demos.times(dict(plan.repeat)))
        self.network: nn.Module = self.build().to(self.device)
        self.ema = {name: value.detach().clone() for name, value in self.network.named_parameters()}
        self.optimiser = torch.optim.AdamW(
            self.parameter_groups(), lr=plan.learning_rate, weight_decay=plan.weight_decay, foreach=True
        )
        self.done, self.seconds = 0, 0.0
        self.history: list[dict[str, Any]] = []  # samples and seconds of the runs it began with, the first one first
        self.sums: dict[str, float] = dict.fromkeys(self.terms, 0.0)  # since the last line of the log
        self.mixed = 0.0  # share of the weights that it began with in those that are exported

    @abstractmethod
    def build(self) -> nn.Module:
        """Set up what the family needs, and return its network with initial weights. The seed has been set."""

    @property
    def statistics_key(self) -> str:
        return statistics_key(self.demos.robot_id)

    def measure(self) -> Mapping[str, Any]:
        """The content of dataset_statistics.json: what network units are."""
        return self.demos.statistics()

    def exported(self) -> Mapping[str, Tensor]:
        """The weights of the policy folder, which has those of `shipped_prefix`."""
        return self.ema

    def parameter_groups(self) -> list[dict[str, Any]]:
        """What the optimiser works on. `share` scales the learning rate of a group."""
        return [{"params": list(self.network.parameters()), "share": 1.0}]

    @abstractmethod
    def losses(self, step: int) -> dict[str, Tensor]:
        """Every term of the batch of that step: equal steps give equal losses for equal weights."""

    def autocast(self) -> torch.autocast:
        """Compute in `dtype` what may be rounded."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.dtype == torch.bfloat16)

    def step(self) -> dict[str, float]:
        for group in self.optimiser.param_groups:
            group["lr"] = self._learning_rate() * group["share"]
        terms = self.losses(self.done)
        self.optimiser.zero_grad(set_to_none=True)
        terms["total"].backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.plan.clip)
        self.optimiser.step()
        self.done += 1
        self._average()
        found = {name: float(terms[name].detach()) for name in self.terms}
        if not math.isfinite(found["total"]):
            raise DatasetError(f"step {self.done}: the loss is {found['total']}; terms: {found}")
        for name, value in found.items():
            self.sums[name] += value
        return found

    def run(self, report: Callable[[dict[str, Any]], None] = lambda row: None) -> None:
        """Train to the end of the plan and save on the way. `report` gets each line of the log."""
        self.folder.mkdir(parents=True, exist_ok=True)
        begun, saved, before = time.monotonic(), time.monotonic(), self.seconds
        logged_at, logged_step = begun, self.done
        while self.done < self.plan.steps:
            self.step()
            now = time.monotonic()
            self.seconds = before + now - begun
            if self.done % self.pace.log_steps == 0 or self.done == self.plan.steps:
                rate = (self.done - logged_step) * self.plan.batch / max(now - logged_at, 1e-9)
                report(self._log(rate))
                logged_at, logged_step = now, self.done
            if now - saved >= self.pace.save_s:
                self.save()
                saved = now
        self.save()

    def save(self) -> None:
        progress = {
            "step": self.done,
            "samples": self.done * self.plan.batch,
            "seconds": self.seconds,
            "sums": self.sums,
            "plan": asdict(self.plan),
            "network": self.sizes,
            "data": self.demos.fingerprint,
            "torch": torch.__version__,
            "history": self.history,
        }
        checkpoint.save(self.folder, progress, self.network, self.ema, self.optimiser)

    def resume(self) -> None:
        """Go on from the folder's checkpoint. Raises CheckpointError for another plan or other demonstrations."""
        self.load()
        cut_log(self.folder / LOG, self.done)

    def load(self) -> None:
        """Take the state of the folder's checkpoint. Changes no file: another process may still be training there."""
        saved = checkpoint.read_progress(self.folder)
        usual = {field.name: field.default for field in fields(self.plan)}  # of what a plan of an older release lacks
        begun = json.loads(json.dumps({**usual, **saved["plan"]}, default=str))  # tuples are lists once saved
        for name, value in json.loads(json.dumps(asdict(self.plan))).items():
            if begun[name] != value:
                raise CheckpointError(f"{self.folder}: begun with {name} {begun[name]}, not {value}")
        if saved["data"] != self.demos.fingerprint:
            raise CheckpointError(f"{self.folder}: begun on other demonstrations")
        checkpoint.load(self.folder, self.network, self.ema, self.optimiser)
        self.done, self.seconds = int(saved["step"]), float(saved["seconds"])
        self.sums = {name: float(saved["sums"].get(name, 0.0)) for name in self.terms}
        self.history = list(saved.get("history", []))

    def _learning_rate(self) -> float:
        plan = self.plan
        warm = min(1.0, (self.done + 1) / plan.warm_up)
        return plan.learning_rate * warm * 0.5 * (1 + math.cos(math.pi * self.done / plan.steps))

    def _average(self) -> None:
        """Update the exponential average of the weights, which forgets faster in the first steps."""
        keep = min(self.plan.ema, (1 + self.done) / (10 + self.done))
        current = [parameter.detach() for parameter in self.network.parameters()]
        torch._foreach_lerp_(list(self.ema.values()), current, 1 - keep)

    def _log(self, rate: float) -> dict[str, Any]:
        """Append the mean losses since the last line to training_log.csv, and start the next mean."""
        count = self.done % self.pace.log_steps or self.pace.log_steps
        means = {name: round(value / count, 5) for name, value in self.sums.items()}
        row = {"step": self.done, "samples": self.done * self.plan.batch, "seconds": round(self.seconds, 1)}
        row |= {"rate": round(rate, 1), **means}
        path = self.folder / LOG
        new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, row)
            if new:
                writer.writeheader()
            writer.writerow(row)
        self.sums = dict.fromkeys(self.terms, 0.0)
        return row


def fast_dtype(device: torch.device) -> torch.dtype:
    """float32 on a processor without AVX-512, which has no product in bfloat16 and takes ten times as long for it."""
    slow = device.type == "cpu" and "AVX512" not in torch.backends.cpu.get_cpu_capability()
    return torch.float32 if slow else torch.bfloat16


def cut_log(path: Path, step: int) -> None:
    """Drop the lines of a log after `step`, the step of the last checkpoint."""
    if path.exists():
        head, *rows = path.read_text("utf-8").splitlines()
        kept = [row for row in rows if int(row.partition(",")[0]) <= step]
        path.write_text("\n".join([head, *kept]) + "\n", "utf-8")
