"""Behaviour cloning of the FiLM network: seeded, resumable to the bit on one machine, on a CPU or a GPU."""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from policies.base import CheckpointError, DatasetError
from policies.film import checkpoint
from policies.film.batches import Batch, BatchMaker
from policies.film.dataset import Demonstrations
from policies.film.losses import Labels, losses
from policies.film.tokenizer import WordTokenizer
from policies.folder import LOG
from policies.networks.film import GREY, FilmConfig, FilmNetwork
from policies.transforms import STATISTICS_KEY, read_statistics

TERMS = ("total", "linear", "yaw", "gripper", "map", "point", "place", "held", "turn")
COLUMNS = ("step", "samples", "seconds", "rate", *TERMS)


@dataclass(frozen=True)
class TrainingPlan:
    """What decides the weights. `samples`: frames to see in all; the learning rate falls to zero over them."""

    samples: int
    seed: int = 0
    fraction: float = 1.0  # share of the demonstrations
    language: bool = True  # False: the network never reads the instruction
    channels: int = 32
    batch: int = 64
    learning_rate: float = 1.5e-3
    weight_decay: float = 1e-4
    warm_up: int = 200  # steps
    clip: float = 5.0
    ema: float = 0.998

    @property
    def steps(self) -> int:
        return max(1, math.ceil(self.samples / self.batch))


@dataclass(frozen=True)
class Pace:
    """How often to log (steps) and to save (seconds). No influence on the weights."""

    log_steps: int = 50
    save_s: float = 60.0
    device: str = "cpu"
    threads: int = 1


class Trainer:
    """Holds one run. `run()` trains to the end of the plan; `step()` does one update and answers its losses."""

    def __init__(self, demos: Demonstrations, plan: TrainingPlan, folder: Path, pace: Pace | None = None) -> None:
        pace = pace or Pace()
        torch.set_num_threads(pace.threads)
        torch.manual_seed(plan.seed)
        self.demos, self.plan, self.folder, self.pace = demos, plan, folder, pace
        self.device = torch.device(pace.device)
        self.statistics = demos.statistics()
        self.tokenizer = WordTokenizer.from_texts(demos.texts.values()) if plan.language else WordTokenizer([])
        self.config = FilmConfig(
            self.tokenizer.size, image_size=demos.image_size, channels=plan.channels, chunk=demos.chunk
        )
        numbers = read_statistics(self.statistics, STATISTICS_KEY)
        self.batches = BatchMaker(
            demos, numbers, self.tokenizer, batch=plan.batch, seed=plan.seed, patch=self.config.patch
        )
        self.network = FilmNetwork(self.config).to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.ema = {name: value.detach().clone() for name, value in self.network.named_parameters()}
        self.optimiser = torch.optim.AdamW(
            self.network.parameters(), lr=plan.learning_rate, weight_decay=plan.weight_decay, foreach=True
        )
        self.done, self.seconds = 0, 0.0
        self.sums: dict[str, float] = dict.fromkeys(TERMS, 0.0)  # since the last line of the log

    def step(self) -> dict[str, float]:
        batch = self.batches.make(self.done)
        for group in self.optimiser.param_groups:
            group["lr"] = self._learning_rate()
        terms = self._losses(batch)
        self.optimiser.zero_grad(set_to_none=True)
        terms["total"].backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.plan.clip)
        self.optimiser.step()
        self.done += 1
        self._average()
        found = {name: float(terms[name].detach()) for name in TERMS}
        if not math.isfinite(found["total"]):
            raise DatasetError(f"step {self.done}: the loss is {found['total']}; terms: {found}")
        for name, value in found.items():
            self.sums[name] += value
        return found

    def run(self, report: Callable[[dict[str, Any]], None] = lambda row: None) -> None:
        """To the end of the plan, saving as it goes; `report` gets each line of the log."""
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
            "network": asdict(self.config),
            "data": self.demos.fingerprint,
            "torch": torch.__version__,
        }
        checkpoint.save(self.folder, progress, self.network, self.ema, self.optimiser)

    def resume(self) -> None:
        """Go on where the folder's checkpoint stopped; refuses another plan or other demonstrations."""
        saved = checkpoint.read_progress(self.folder)
        for name, value in asdict(self.plan).items():
            if saved["plan"].get(name) != value:
                raise CheckpointError(f"{self.folder}: begun with {name} {saved['plan'].get(name)}, not {value}")
        if saved["data"] != self.demos.fingerprint:
            raise CheckpointError(f"{self.folder}: begun on other demonstrations")
        checkpoint.load(self.folder, self.network, self.ema, self.optimiser)
        self.done, self.seconds = int(saved["step"]), float(saved["seconds"])
        self.sums = {name: float(saved["sums"][name]) for name in TERMS}
        _cut_log(self.folder / LOG, self.done)

    def _losses(self, batch: Batch) -> dict[str, Tensor]:
        to = self.device
        with torch.autocast(to.type, torch.bfloat16):
            pixels = batch.images.to(to).bfloat16() - GREY  # whole numbers up to 256 are exact in bfloat16
            picture = pixels * batch.gain.to(to).bfloat16() + batch.offset.to(to).bfloat16()
            with torch.autocast(to.type, enabled=False):
                text = self.network.text(batch.tokens.to(to))
            output = self.network(picture, text, batch.proprioception.to(to))
        return losses(output, Labels(*(label.to(to) for label in batch.labels)))

    def _learning_rate(self) -> float:
        plan = self.plan
        warm = min(1.0, (self.done + 1) / plan.warm_up)
        return plan.learning_rate * warm * 0.5 * (1 + math.cos(math.pi * self.done / plan.steps))

    def _average(self) -> None:
        """Exponential average of the weights, quick to forget at first."""
        keep = min(self.plan.ema, (1 + self.done) / (10 + self.done))
        current = [parameter.detach() for parameter in self.network.parameters()]
        torch._foreach_lerp_(list(self.ema.values()), current, 1 - keep)

    def _log(self, rate: float) -> dict[str, Any]:
        """Append the mean losses since the last line to training_log.csv and start the next mean."""
        count = self.done % self.pace.log_steps or self.pace.log_steps
        means = {name: round(value / count, 5) for name, value in self.sums.items()}
        row = {"step": self.done, "samples": self.done * self.plan.batch, "seconds": round(self.seconds, 1)}
        row |= {"rate": round(rate, 1), **means}
        path = self.folder / LOG
        new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            if new:
                writer.writeheader()
            writer.writerow(row)
        self.sums = dict.fromkeys(TERMS, 0.0)
        return row


def _cut_log(path: Path, step: int) -> None:
    """Drop the lines that a crashed run wrote after its last checkpoint."""
    if path.exists():
        head, *rows = path.read_text("utf-8").splitlines()
        kept = [row for row in rows if int(row.partition(",")[0]) <= step]
        path.write_text("\n".join([head, *kept]) + "\n", "utf-8")
