"""What an Octo folder holds beside its weights. Needs no network library."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from policies.base import BadCard, PolicyCard
from policies.folder import CARD, CONFIG, STATISTICS, TOKENIZER, WEIGHTS, check_listed, read_json
from policies.networks.octo_sizes import OctoConfig
from policies.octo.config import read_config
from policies.octo.scale import StandardScale
from policies.octo.shapes import read_shapes
from policies.octo.text import TextTokenizer
from policies.published import DEFAULT_KEYS, OCTO
from policies.statistics import choose
from policies.text import check_token, read_tokenizer
from simulation.contracts import ACTION_DIM


@dataclass(frozen=True)
class OctoParts:
    """`temperature`: the factor of the head's noise, 0..1."""

    config: OctoConfig
    text: TextTokenizer
    scale: StandardScale
    temperature: float


def read_parts(folder: Path, card: PolicyCard) -> OctoParts:
    """Raises a PolicyError naming the file, field or key at fault."""
    if (folder / CARD).is_file():
        check_listed(folder, required=(CONFIG, STATISTICS, TOKENIZER, WEIGHTS))
    data = read_json(folder, CONFIG)
    config = read_config(data, read_shapes(folder, data))
    if config.head.action_dim != ACTION_DIM:
        raise BadCard(f"{CONFIG}: actions of {config.head.action_dim} numbers; the arena's have {ACTION_DIM}")
    _, action = choose(read_json(folder, STATISTICS), card.spec.statistics_key or None, DEFAULT_KEYS[OCTO])
    scale = StandardScale.from_statistics(action)
    if len(card.spec.cameras) > len(config.cameras):
        raise BadCard(f"policy.json: {len(card.spec.cameras)} cameras; the network has {len(config.cameras)}")
    temperature = card.network.get("temperature", 1.0)
    if not isinstance(temperature, int | float) or not 0 <= temperature <= 1:
        raise BadCard(f"policy.json: network: temperature: expected a number in 0..1, got {temperature!r}")
    tokenizer = read_tokenizer(folder / TOKENIZER, config.text.encoder.vocabulary)
    check_token(folder / TOKENIZER, tokenizer, config.text.encoder.end_id, ["</s>"], "T5")
    return OctoParts(config, TextTokenizer(tokenizer, config.text), scale, temperature)
