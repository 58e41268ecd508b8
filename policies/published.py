"""Recognising a checkpoint as its authors publish it, and making the policy.json that it lacks. Needs no torch."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from policies.base import MAX_SIDE, BadCard, MissingFile, PolicyCard, PolicySpec
from policies.folder import CARD, CONFIG, PREPROCESSOR, STATISTICS, read_json
from policies.octo.shapes import read_shapes
from policies.statistics import choose
from simulation.contracts import LIBERO_ACTIONS, MAX_CHUNK, POLICY_CAMERA, CameraSpec, Chunking

OPENVLA, OCTO = "openvla", "octo"
# Files of OpenVLA-OFT are named PART--STEP_checkpoint.pt.
OFT_PARTS = ("action_head", "noisy_action_projector", "proprio_projector", "vision_backbone")
OFT_CODE, OFT_WORD = "modeling_prismatic.py", b"NUM_ACTIONS_CHUNK"  # of its models, with a head or without
DEFAULT_KEYS = {OPENVLA: "bridge_orig", OCTO: "bridge_dataset"}
LIBERO, NO_NOOPS, LIBERO_CROP = "libero_", "_no_noops", 0.9
"""OpenVLA's fine-tunes for LIBERO: how their statistics keys begin and may end, and their centre crop."""


def published_card(folder: Path, statistics_key: str | None = None, centre_crop: float | None = None) -> PolicyCard:
    """A card from the checkpoint's own files, with the folder's name.

    `centre_crop`: the area of pictures that OpenVLA sees; None: the usual one of the data set.
    Raises MissingFile when the folder has no config.json either, BadCard for an unknown architecture.
    """
    if not folder.is_dir():
        raise MissingFile(f"{folder}: no such directory")
    if not (folder / CONFIG).is_file():
        raise MissingFile(f"{folder}: {CARD} is missing, and there is no {CONFIG} of a published checkpoint")
    config = read_json(folder, CONFIG)
    if config.get("model_type") == OPENVLA:
        return _openvla(folder, config, statistics_key, centre_crop)
    if centre_crop is not None:
        raise BadCard(f"{folder}: a centre crop is of OpenVLA's folders alone")
    model = config.get("model")
    if isinstance(model, Mapping) and "observation_tokenizers" in model:
        return _octo(folder, config, statistics_key)
    raise BadCard(f"{folder / CONFIG}: unknown architecture {config.get('model_type')!r}; known: {OPENVLA}, {OCTO}")


def _openvla(
    folder: Path, config: Mapping[str, Any], statistics_key: str | None, centre_crop: float | None
) -> PolicyCard:
    """One action per inference, and a picture of the size that the vision towers take."""
    _refuse_oft(folder)
    try:
        _, height, width = (int(length) for length in read_json(folder, PREPROCESSOR)["input_sizes"][0])
    except (LookupError, TypeError, ValueError, OverflowError):
        raise BadCard(f"{folder / PREPROCESSOR}: input_sizes is missing") from None
    key, _ = openvla_action(openvla_statistics(folder, config), statistics_key)
    card = _card(folder, OPENVLA, (height, width), key, 1, Chunking(execute=1))
    return _cropped(_for_libero(card) if key.startswith(LIBERO) else card, centre_crop)


def openvla_action(statistics: Mapping[str, Any], asked: str | None) -> tuple[str, Mapping[str, Any]]:
    """The key and the `action` numbers, as `choose` finds them. LIBERO's suites may be asked for without the ending
    of their filtered data, and a fine-tune's own suite goes before Bridge."""
    suites = [key for key in statistics if key.startswith(LIBERO)]
    if asked and asked not in statistics and asked + NO_NOOPS in statistics:
        asked += NO_NOOPS
    return choose(statistics, asked, suites[0] if len(suites) == 1 else DEFAULT_KEYS[OPENVLA])


def _for_libero(card: PolicyCard) -> PolicyCard:
    """The card of a fine-tune for LIBERO, which plays the Panda and sees the scene's camera alone."""
    view = tuple(replace(camera, name="agentview") for camera in card.spec.cameras)
    spec = replace(card.spec, cameras=view, action_space=LIBERO_ACTIONS, rate_hz=20, proprioception="")
    return _cropped(replace(card, spec=spec), LIBERO_CROP)


def _cropped(card: PolicyCard, area: float | None) -> PolicyCard:
    """The card with a centre crop, which is part of its revision. Raises BadCard."""
    if area is None:
        return card
    if not 0 < area <= 1:
        raise BadCard(f"centre_crop: expected an area in (0, 1], got {area}")
    revision = hashlib.sha256(f"{card.revision} {area}".encode()).hexdigest()
    return replace(card, network={**card.network, "centre_crop": area}, revision=revision)


def _refuse_oft(folder: Path) -> None:
    """Raise BadCard for a fine-tune by OpenVLA-OFT, whose own parts lie beside the language model's weights.

    One without a head writes all tokens of several actions at once: its code alone tells it from OpenVLA's.
    """
    own = sorted(path.name for part in OFT_PARTS for path in folder.glob(f"{part}--*"))
    code = folder / OFT_CODE
    if not own and code.is_file() and OFT_WORD in code.read_bytes():
        own = [OFT_CODE]
    if own:
        raise BadCard(
            f"{folder / own[0]}: a part of OpenVLA-OFT, whose actions come from a head of its own or several at once; "
            "OpenVLA writes one action in tokens. Serve it from OpenVLA-OFT's code instead "
            "(docs/bring-your-own-policy.md)"
        )


def openvla_statistics(folder: Path, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Those of config.json, or of the dataset_statistics.json of a fine-tune, which replaces them."""
    return read_json(folder, STATISTICS) if (folder / STATISTICS).is_file() else config.get("norm_stats") or {}


def _octo(folder: Path, config: Mapping[str, Any], statistics_key: str | None) -> PolicyCard:
    """Infers at every step and averages chunks with equal weights. Uses the first camera, the only one of Bridge."""
    try:
        first = next(iter(config["model"]["observation_tokenizers"].values()))["kwargs"]["obs_stack_keys"][0]
        head = config["model"]["heads"]["action"]["kwargs"]
        chunk = int(head.get("action_horizon", head.get("pred_horizon", 1)))
        size = read_shapes(folder, config).images[first]
    except (AttributeError, LookupError, StopIteration, TypeError, ValueError, OverflowError) as error:
        raise BadCard(f"{folder / CONFIG}: first camera or action head not as expected: {error!r}") from None
    key, _ = choose(read_json(folder, STATISTICS), statistics_key, DEFAULT_KEYS[OCTO])
    return _card(folder, OCTO, size, key, chunk, Chunking(ensemble=1.0))


def _card(folder: Path, family: str, size: tuple[int, int], key: str, chunk: int, chunking: Chunking) -> PolicyCard:
    name = published_name(folder)
    if not all(1 <= side <= MAX_SIDE for side in size) or not 1 <= chunk <= MAX_CHUNK:
        raise BadCard(
            f"{folder}: pictures of {size[0]} x {size[1]} and {chunk} actions; expected up to "
            f"{MAX_SIDE} x {MAX_SIDE} and {MAX_CHUNK}"
        )
    spec = PolicySpec(
        id=name,
        name=name,
        family=family,
        cameras=(CameraSpec(POLICY_CAMERA.name, *size),),
        chunk=chunk,
        chunking=chunking,
        statistics_key=key,
    )
    return PolicyCard(
        spec,
        description=f"Opened from a checkpoint in the layout that {family}'s authors publish.",
        provenance=f"Weights as found in the folder {name}; not trained by VLA Arena",
        revision=_revision(folder),
    )


def published_name(folder: Path) -> str:
    """The folder's name; of a snapshot in a Hugging Face cache, models--ORGANIZATION--NAME/snapshots/HASH, its NAME."""
    whole = folder.resolve()
    repository = whole.parent.parent.name
    if whole.parent.name == "snapshots" and repository.startswith("models--"):
        return repository.rpartition("--")[2]
    return whole.name


def _revision(folder: Path) -> str:
    """A hash of the configuration and of every file's size: hashing 15 GB of weights for a card takes too long."""
    digest = hashlib.sha256((folder / CONFIG).read_bytes())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
    return digest.hexdigest()
