"""The options of `manage.py train octo`. Importing this module loads no network library."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policies.octo.training import OctoTrainer
    from policies.training.dataset import Demonstrations
    from policies.training.loop import Pace

SAMPLES = 500_000
EXECUTE = 2  # actions of a chunk to play before the next look


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--dim", type=int, default=128, help="width of the tokens")
    parser.add_argument("--layers", type=int, default=4, help="blocks of the transformer")
    parser.add_argument("--draws", type=int, default=4, help="noisy chunks per frame for the diffusion head")
    parser.add_argument("--others", type=float, default=0.25, help="share of frames with another instruction")
    parser.add_argument("--learning-rate", type=float, default=1e-3)


def begin(options: Mapping[str, Any], demos: Demonstrations, pace: Pace) -> OctoTrainer:
    from policies.octo.sizes import OctoMiniSizes
    from policies.octo.training import OctoPlan, OctoTrainer

    sizes = OctoMiniSizes(image_size=demos.image_size, chunk=demos.chunk, dim=options["dim"], layers=options["layers"])
    return OctoTrainer(demos, OctoPlan.from_options(options, sizes=sizes), options["run"], pace)
