"""A trained FiLM network as a policy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policies import checkpoints, devices
from policies.base import BadCard, PolicyCard, PolicySpec
from policies.film.decoding import decode
from policies.film.sizes import GREY, read_sizes
from policies.film.stalling import Resting, Stalling
from policies.film.tokenizer import WordTokenizer
from policies.folder import STATISTICS, TOKENIZER, WEIGHTS, check_sums, read_json
from policies.networks.film import FilmNetwork, FilmOutput, patches, stacked
from policies.transforms import DatasetStatistics, read_statistics
from simulation.contracts import Observation, grippers


class FilmPolicy:
    """Reads one camera, the instruction and proprioception. Between steps it keeps the encoded sentence; if its network
    compares with that, the first picture that it saw since the instruction was given; and if its network has a memory,
    how many stages of the goal it has noticed since, which never falls.
    """

    def __init__(
        self,
        spec: PolicySpec,
        network: FilmNetwork,
        tokenizer: WordTokenizer,
        statistics: DatasetStatistics,
        device: str | None = None,
    ) -> None:
        self.spec = spec
        self._device = devices.find(device)
        self._network = network.to(self._device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._tokenizer, self._statistics = tokenizer, statistics
        self._camera = spec.cameras[0].array_spec()
        self._instruction: str | None = None
        self._text: Tensor | None = None
        self._first: Tensor | None = None
        self._stage = 0
        self._stalling, self._resting = Stalling(), Resting()

    def reset(self, instruction: str, seed: int) -> None:
        """`seed`: of what is drawn where the hand has stalled, which only a network with bins of moves does."""
        self._encode(instruction)
        self._begin()
        self._stalling.begin(seed)

    @torch.inference_mode()
    def infer(self, observation: Observation) -> NDArray[np.float64]:
        """float64 (chunk, 7), in the robot's action space."""
        image = observation.images[self.spec.cameras[0].name]
        self._camera.check(image)
        text = self._encode(observation.instruction)
        self._begin_anew_if_it_rests(observation)
        pixels = patches(torch.from_numpy(np.ascontiguousarray(image))[None], self._network.config.patch)
        picture = self._seen((pixels.to(self._device).float() - GREY) / GREY)
        proprioception = self._statistics.normalise_proprioception(observation.proprioception)
        stage = torch.tensor([self._stage], device=self._device)
        output = self._network(picture, text, torch.from_numpy(proprioception)[None].to(self._device), stage)
        self._notice(output.stage)
        actions = self._decoded(output, observation)
        actions[:, -1] = grippers(self.spec.action_space, actions[:, -1])
        return self._statistics.unnormalise_actions(actions)

    def close(self) -> None:
        self._text = self._first = None

    def _decoded(self, output: FilmOutput, observation: Observation) -> NDArray[np.float64]:
        """(chunk, 7) in network units, the gripper 0 or 1."""
        action = torch.cat([output.linear, output.yaw, output.gripper[..., None]], -1)[0].cpu().numpy()
        if output.moves is None:
            return decode(action)
        return decode(action, output.moves[0].cpu().numpy(), self._stalling.draw(observation.proprioception))

    def _begin(self) -> None:
        """Forget what was seen of another instruction or turn."""
        self._first, self._stage = None, 0
        self._resting.begin()

    def _begin_anew_if_it_rests(self, observation: Observation) -> None:
        """Compare with this picture from now on if the hand rests and a network with a memory has noticed no stage."""
        if self._network.config.stages and not self._stage and self._resting.notices(observation.proprioception):
            self._first = None

    def _seen(self, picture: Tensor) -> Tensor:
        if self._network.config.pictures == 1:
            return picture
        self._first = picture if self._first is None else self._first
        return stacked(picture, self._first)

    def _notice(self, stage: Tensor | None) -> None:
        """Count one more stage as reached if a later one than before is the most likely."""
        if stage is not None and int(stage.argmax()) > self._stage:
            self._stage += 1

    @torch.inference_mode()
    def _encode(self, instruction: str) -> Tensor:
        if self._text is None or instruction != self._instruction:
            tokens = torch.tensor([self._tokenizer.encode(instruction)], device=self._device)
            self._instruction, self._text = instruction, self._network.text(tokens)
            self._begin()
        return self._text


def open_film(folder: Path, card: PolicyCard, device: str | None) -> FilmPolicy:
    """Open a folder whose card has been read; every needed file must be listed in SHA256SUMS."""
    check_sums(folder, required=(WEIGHTS, STATISTICS, TOKENIZER))
    tokenizer = WordTokenizer.from_json(read_json(folder, TOKENIZER))
    statistics = read_statistics(read_json(folder, STATISTICS), card.spec.statistics_key)
    config = read_sizes(card.network, tokenizer.size)
    stored = checkpoints.read_safetensors_header(folder / WEIGHTS)
    try:  # the sizes are compared with the weights before any memory is taken for them
        checkpoints.compare(checkpoints.build(lambda: FilmNetwork(config)), stored)
    except (ArithmeticError, ValueError, RuntimeError) as error:
        raise BadCard(f"policy.json: network: {error}") from None
    network = FilmNetwork(config)
    checkpoints.load(network, stored, torch.device("cpu"), torch.float32)
    return FilmPolicy(card.spec, network, tokenizer, statistics, device)
