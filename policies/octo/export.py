"""From a training run to a policy folder that can be shipped, in the layout that opens published folders."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from policies.base import PolicyCard
from policies.folder import CARD, STATISTICS, TOKENIZER, WEIGHTS, file_hash, write_json, write_sums
from policies.octo.policy import CONFIG
from policies.octo.sizes import config_json
from policies.octo.training import OCTO, OctoTrainer
from policies.training.export import LICENSE, ORGANIZATION, Naming, copy_log, provenance, spec_of, summary

TEMPERATURE = 0.0  # a draw is twice as far from the expert's action as the middle of all draws


def export(trainer: OctoTrainer, naming: Naming, folder: Path) -> PolicyCard:
    """Write (or write anew) the whole folder with the averaged weights as they are now, without the auxiliary heads.

    bfloat16 is what the network computed with in training; it halves the file, and loading makes float32 of it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shipped = {
        name.removeprefix(OCTO): value.to(torch.bfloat16).cpu().contiguous()
        for name, value in trainer.ema.items()
        if name.startswith(OCTO)
    }
    save_file(shipped, folder / WEIGHTS)
    write_json(folder / CONFIG, config_json(trainer.plan.sizes))
    write_json(folder / STATISTICS, trainer.statistics)
    trainer.tokenizer.save(str(folder / TOKENIZER))
    copy_log(trainer, folder)
    sizes = trainer.plan.sizes
    card = PolicyCard(
        spec=spec_of(naming, "octo", sizes.image_size, sizes.chunk),
        description=naming.description,
        organization=ORGANIZATION,
        license=LICENSE,
        provenance=provenance("Octo", trainer),
        revision=file_hash(folder / WEIGHTS),
        network={**asdict(sizes), "temperature": TEMPERATURE},
        training=summary(trainer, shipped),
        measured={},
    )
    write_json(folder / CARD, card.to_json())
    write_sums(folder)
    return card
