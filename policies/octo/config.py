"""Reading the sizes of an Octo checkpoint from its config.json.

The published file describes each part as {"module", "name", "args", "kwargs"} of the published code. Unsupported parts
are refused by name. The name of T5 gives its sizes; this project's key `encoder_config` gives others, with the field
names of Hugging Face.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policies.base import BadCard
from policies.config_sizes import check_sizes
from policies.networks.octo_sizes import CameraConfig, HeadConfig, OctoConfig, StemConfig, T5Config, TextConfig
from policies.octo.shapes import InputShapes

_T5_VOCABULARY = 32128
ENCODERS = {
    "t5-small": T5Config(_T5_VOCABULARY, dim=512, head_dim=64, mlp=2048, layers=6, heads=8),
    "t5-base": T5Config(_T5_VOCABULARY, dim=768, head_dim=64, mlp=3072, layers=12, heads=12),
    "t5-large": T5Config(_T5_VOCABULARY, dim=1024, head_dim=64, mlp=4096, layers=24, heads=16),
}
STEMS = {"SmallStem16": 16, "SmallStem32": 32, "SmallStem": 32}  # class -> patch

Spec = Mapping[str, Any]


def read_config(data: Mapping[str, Any], shapes: InputShapes) -> OctoConfig:
    """Raises BadCard naming the part that is missing or unsupported."""
    try:
        config = _read(data, shapes)
    except KeyError as error:
        raise BadCard(f"config.json: {error.args[0]!r} is missing") from None
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise BadCard(f"config.json: {error}") from None
    check_sizes(config, "config.json")
    if not config.heads or config.dim % config.heads:
        raise BadCard(f"config.json: {config.dim} is not a multiple of {config.heads} attention heads")
    if config.head.readout.removeprefix("readout_") not in config.readouts:
        raise BadCard(f"config.json: the action head reads {config.head.readout!r}, which is not a readout")
    if not 1 <= config.window <= config.max_horizon:
        raise BadCard(f"config.json: a window of {config.window} frames; max_horizon is {config.max_horizon}")
    return config


def _read(data: Mapping[str, Any], shapes: InputShapes) -> OctoConfig:
    model = data["model"]
    transformer = model["transformer_kwargs"]
    _fixed("transformer_kwargs", transformer, add_position_embedding=False)
    if set(model["heads"]) != {"action"}:
        raise BadCard(f"config.json: heads {', '.join(model['heads'])}; only one, 'action', is supported")
    found = [_camera(name, spec, shapes) for name, spec in model["observation_tokenizers"].items()]
    cameras = tuple(camera for camera in found if camera is not None)
    if not cameras:
        raise BadCard("config.json: none of its cameras has a picture size")
    return OctoConfig(
        cameras=cameras,
        text=_text(data),
        head=_head(model["heads"]["action"]),
        readouts={name: int(tokens) for name, tokens in model["readouts"].items()},
        dim=int(model["token_embedding_size"]),
        layers=int(transformer["num_layers"]),
        heads=int(transformer["num_attention_heads"]),
        mlp=int(transformer["mlp_dim"]),
        max_horizon=int(model["max_horizon"]),
        window=shapes.window,
        repeat_task_tokens=bool(model.get("repeat_task_tokens", False)),
        use_correct_attention=bool(model.get("use_correct_attention", False)),
    )


def image_key(spec: Spec) -> str:
    """The observation that a camera's tokenizer reads, such as image_primary."""
    keys = spec["kwargs"].get("obs_stack_keys", [])
    if len(keys) != 1 or not str(keys[0]).isidentifier():
        raise BadCard(f"config.json: obs_stack_keys {keys!r}; exactly one name is supported")
    return str(keys[0])


def _camera(name: str, spec: Spec, shapes: InputShapes) -> CameraConfig | None:
    """None for a camera that training never saw, for which the checkpoint has no weights."""
    kwargs = _known(f"observation_tokenizers.{name}", spec, "ImageTokenizer")
    _fixed(name, kwargs, use_token_learner=False, conditioning_type="none", task_film_keys=[], proper_pad_mask=True)
    key = image_key(spec)
    goals = list(kwargs.get("task_stack_keys", []))
    if goals not in ([], [key]):
        raise BadCard(f"config.json: {name}: task_stack_keys {goals!r}; only [{key!r}] or none are supported")
    if key not in shapes.images:
        return None
    height, width = shapes.images[key]
    return CameraConfig(name, height, width, _stem(name, kwargs["encoder"]), goal=bool(goals))


def _stem(camera: str, spec: Spec) -> StemConfig:
    kwargs = _known(f"{camera}.encoder", spec, *STEMS)
    _fixed(f"{camera}.encoder", kwargs, use_film=False, img_norm_type="default")
    usual = StemConfig()
    stem = StemConfig(
        name=spec["name"],
        patch=int(kwargs.get("patch_size", STEMS[spec["name"]])),
        kernels=tuple(kwargs.get("kernel_sizes", usual.kernels)),
        strides=tuple(kwargs.get("strides", usual.strides)),
        features=tuple(kwargs.get("features", usual.features)),
        padding=tuple(kwargs.get("padding", usual.padding)),
        width=int(kwargs.get("num_features", usual.width)),
    )
    for features in stem.features:
        if features % stem.norm_groups:
            raise BadCard(f"config.json: {camera}: stem width {features} is not a multiple of {stem.norm_groups}")
    return stem


def _text(data: Mapping[str, Any]) -> TextConfig:
    tokenizers = data["model"]["task_tokenizers"]
    if len(tokenizers) != 1:
        raise BadCard(f"config.json: {len(tokenizers)} task tokenizers; exactly one, of language, is supported")
    ((name, spec),) = tokenizers.items()
    kwargs = _known(f"task_tokenizers.{name}", spec, "LanguageTokenizer")
    _fixed(name, kwargs, proper_pad_mask=True)
    processor = _known("text_processor", data["text_processor"], "HFTokenizer")
    _fixed("text_processor", processor, encode_with_model=False)
    length = processor.get("tokenizer_kwargs", {}).get("max_length", 64)
    return TextConfig(name, int(length), _encoder(kwargs), frozen=not kwargs.get("finetune_encoder", False))


def _encoder(kwargs: Mapping[str, Any]) -> T5Config:
    own = kwargs.get("encoder_config")
    if own is None:
        if kwargs.get("encoder") not in ENCODERS:
            known = ", ".join(ENCODERS)
            raise BadCard(f"config.json: unknown text encoder {kwargs.get('encoder')!r}; known: {known}")
        return ENCODERS[kwargs["encoder"]]
    _fixed("encoder_config", own, feed_forward_proj="relu")
    return T5Config(
        vocabulary=int(own["vocab_size"]),
        dim=int(own["d_model"]),
        head_dim=int(own["d_kv"]),
        mlp=int(own["d_ff"]),
        layers=int(own["num_layers"]),
        heads=int(own["num_heads"]),
        buckets=int(own.get("relative_attention_num_buckets", 32)),
        max_distance=int(own.get("relative_attention_max_distance", 128)),
        norm_eps=float(own.get("layer_norm_epsilon", 1e-6)),
        pad_id=int(own.get("pad_token_id", 0)),
        end_id=int(own.get("eos_token_id", 1)),
    )


def _head(spec: Spec) -> HeadConfig:
    kwargs = _known("heads.action", spec, "DiffusionActionHead")
    _fixed("heads.action", kwargs, use_map=False)
    usual = HeadConfig("", 0, 0)
    return HeadConfig(
        readout=kwargs["readout_key"],
        action_dim=int(kwargs.get("action_dim", 7)),
        horizon=int(kwargs.get("action_horizon", kwargs.get("pred_horizon", 1))),
        time_dim=int(kwargs.get("time_dim", usual.time_dim)),
        blocks=int(kwargs.get("num_blocks", usual.blocks)),
        hidden=int(kwargs.get("hidden_dim", usual.hidden)),
        layer_norm=bool(kwargs.get("use_layer_norm", usual.layer_norm)),
        steps=int(kwargs.get("diffusion_steps", usual.steps)),
        max_action=float(kwargs.get("max_action", usual.max_action)),
    )


def _known(place: str, spec: Spec, *names: str) -> Mapping[str, Any]:
    """The arguments of a part. Raises BadCard unless it is one of the supported ones."""
    if spec["name"] not in names:
        raise BadCard(f"config.json: {place} is {spec['name']!r}; supported: {', '.join(names)}")
    kwargs: Mapping[str, Any] = spec["kwargs"]
    return kwargs


def _fixed(place: str, kwargs: Mapping[str, Any], **wanted: Any) -> None:
    """Raise BadCard when an argument is there with another value, which would mean another network."""
    for key, value in wanted.items():
        got = kwargs.get(key, value)
        if (list(got) if isinstance(got, tuple) else got) != value:
            raise BadCard(f"config.json: {place}: {key} is {got!r}; only {value!r} is supported")
