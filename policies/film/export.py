"""From a training run to a policy folder that can be shipped."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from safetensors.torch import save_file

from policies.base import PolicyCard
from policies.film.training import FilmTrainer
from policies.folder import CARD, STATISTICS, TOKENIZER, WEIGHTS, file_hash, write_json, write_sums
from policies.training.export import LICENSE, ORGANIZATION, Naming, copy_log, provenance, spec_of, summary


def export(trainer: FilmTrainer, naming: Naming, folder: Path) -> PolicyCard:
    """Write (or write anew) the whole folder with the averaged weights as they are now."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: value.cpu().contiguous() for name, value in trainer.ema.items()}, folder / WEIGHTS)
    write_json(folder / STATISTICS, trainer.statistics)
    write_json(folder / TOKENIZER, trainer.tokenizer.to_json())
    copy_log(trainer, folder)
    card = PolicyCard(
        spec=spec_of(naming, "film", trainer.config.image_size, trainer.config.chunk),
        description=naming.description,
        organization=ORGANIZATION,
        license=LICENSE,
        provenance=provenance("FiLM", trainer),
        revision=file_hash(folder / WEIGHTS),
        network={**asdict(trainer.config), "dilations": list(trainer.config.dilations)},
        training=summary(trainer, trainer.ema),
        measured={},
    )
    write_json(folder / CARD, card.to_json())
    write_sums(folder)
    return card
