"""What an OpenVLA folder holds beside its weights. Needs no network library."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from policies.base import BadCard, PolicyCard
from policies.folder import CARD, CONFIG, PREPROCESSOR, TOKENIZER, check_listed, read_json
from policies.networks.openvla_sizes import OpenVLAConfig
from policies.openvla.actions import QuantileScale
from policies.openvla.config import read_config
from policies.openvla.images import ImageTransform, read_transform
from policies.openvla.prompt import PromptEncoder
from policies.published import openvla_action, openvla_statistics
from policies.text import check_token, read_tokenizer
from simulation.contracts import ACTION_DIM


@dataclass(frozen=True)
class OpenVLAParts:
    config: OpenVLAConfig
    prompts: PromptEncoder
    images: ImageTransform
    scale: QuantileScale


def read_parts(folder: Path, card: PolicyCard) -> OpenVLAParts:
    """Raises a PolicyError naming the file, field or key at fault."""
    if (folder / CARD).is_file():
        weights = sorted(path.name for path in folder.glob("*.safetensors"))
        check_listed(folder, required=(CONFIG, PREPROCESSOR, TOKENIZER, *weights))
    data = read_json(folder, CONFIG)
    config = read_config(data)
    images = read_transform(read_json(folder, PREPROCESSOR), card.network.get("centre_crop"))
    wanted = [(tower.image_size, tower.image_size) for tower in config.towers]
    if (found := [view.crop for view in images.views]) != wanted:
        raise BadCard(f"{PREPROCESSOR}: pictures of {found}; the vision towers take {wanted}")
    _, action = openvla_action(openvla_statistics(folder, data), card.spec.statistics_key or None)
    tokenizer = read_tokenizer(folder / TOKENIZER, config.language.vocabulary)
    check_token(folder / TOKENIZER, tokenizer, config.bos_id, ["<s>"], "Llama 2")
    if config.trailing_id is not None:
        check_token(folder / TOKENIZER, tokenizer, config.trailing_id, ["▁", "Ġ", " "], "Llama 2")
    prompts = PromptEncoder(tokenizer, config)
    prompts.encode("", ACTION_DIM)  # raises BadCard where the model has no room for a question
    return OpenVLAParts(config, prompts, images, QuantileScale.from_statistics(action))
