"""A trained FiLM network as a policy without torch, in less time and memory (`policies.exported`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from policies.base import PolicyCard, PolicySpec
from policies.exported import open_session, read_weights
from policies.film.decoding import decode
from policies.film.graph import Weights, film_graph
from policies.film.sentence import SentenceEncoder
from policies.film.sizes import GREY, MOVE_DIMS, FilmConfig, read_sizes
from policies.film.stalling import Resting, Stalling
from policies.film.tokenizer import WordTokenizer
from policies.folder import STATISTICS, TOKENIZER, read_json
from policies.transforms import DatasetStatistics, read_statistics
from simulation.contracts import Observation, grippers


class ExportedFilmPolicy:
    """Acts as `film.policy.FilmPolicy` does, up to rounding, and remembers the same between steps."""

    def __init__(
        self,
        spec: PolicySpec,
        config: FilmConfig,
        weights: Weights,
        tokenizer: WordTokenizer,
        statistics: DatasetStatistics,
    ) -> None:
        self.spec, self._config = spec, config
        self._session = open_session(film_graph(config, weights))
        self._outputs = [output.name for output in self._session.get_outputs()]
        self._tokenizer, self._encoder, self._statistics = tokenizer, SentenceEncoder(weights), statistics
        self._camera = spec.cameras[0].array_spec()
        self._picture = np.empty((1, 3 * config.patch**2 * config.pictures, *(config.map_size,) * 2), np.float32)
        self._known = np.eye(max(1, config.stages), dtype=np.float32)
        self.parameters = sum(array.size for array in weights.values())
        self.weights_bytes = sum(array.nbytes for array in weights.values())
        self._instruction: str | None = None
        self._text: NDArray[np.float32] | None = None
        self._is_first, self._stage = True, 0
        self._stalling, self._resting = Stalling(), Resting()

    def reset(self, instruction: str, seed: int) -> None:
        """`seed`: of what is drawn where the hand has stalled, which only a network with bins of moves does."""
        self._encode(instruction)
        self._begin()
        self._stalling.begin(seed)

    def infer(self, observation: Observation) -> NDArray[np.float64]:
        """float64 (chunk, 7), in the robot's action space."""
        image = observation.images[self.spec.cameras[0].name]
        self._camera.check(image)
        text = self._encode(observation.instruction)
        self._begin_anew_if_it_rests(observation)
        fed = {
            "text": text,
            "readings": self._statistics.normalise_proprioception(observation.proprioception)[None],
            "picture": self._seen(image),
        }
        if self._config.stages:
            fed["known"] = self._known[self._stage : self._stage + 1]
        answer = dict(zip(self._outputs, self._session.run(None, fed), strict=True))
        self._notice(answer.get("stage"))
        actions = self._decoded(answer, observation)
        actions[:, -1] = grippers(self.spec.action_space, actions[:, -1])
        return self._statistics.unnormalise_actions(actions)

    def close(self) -> None:
        self._text, self._is_first = None, True

    def _begin(self) -> None:
        """Forget what was seen of another instruction or turn."""
        self._is_first, self._stage = True, 0
        self._resting.begin()

    def _begin_anew_if_it_rests(self, observation: Observation) -> None:
        """Compare with this picture from now on if the hand rests and a network with a memory has noticed no stage."""
        if self._config.stages and not self._stage and self._resting.notices(observation.proprioception):
            self._is_first = True

    def _seen(self, image: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The picture in cells of patches, and behind it that of the turn's beginning if the network compares."""
        size, patch = self._config.map_size, self._config.patch
        cells = image.reshape(size, patch, size, patch * 3).transpose(1, 3, 0, 2)
        now = self._picture[0, : 3 * patch**2]
        np.subtract(cells, np.float32(GREY), out=now.reshape(cells.shape))
        now *= np.float32(1 / GREY)
        if self._is_first and self._config.pictures == 2:
            self._picture[0, 3 * patch**2 :] = now
        self._is_first = False
        return self._picture

    def _notice(self, stage: NDArray[np.float32] | None = None) -> None:
        """Count one more stage as reached if a later one than before is the most likely."""
        if stage is not None and int(stage.argmax()) > self._stage:
            self._stage += 1

    def _encode(self, instruction: str) -> NDArray[np.float32]:
        if self._text is None or instruction != self._instruction:
            self._instruction, self._text = instruction, self._encoder(self._tokenizer.encode(instruction))
            self._begin()
        return self._text

    def _decoded(self, answer: Mapping[str, NDArray[np.float32]], observation: Observation) -> NDArray[np.float64]:
        """The outputs of `film_graph` -> (chunk, 7) in network units, the gripper 0 or 1."""
        action = answer["action"].reshape(self._config.chunk, -1)
        if not self._config.move_bins:
            return decode(action)
        moves = answer["moves"].reshape(self._config.chunk, MOVE_DIMS, -1)
        return decode(action, moves, self._stalling.draw(observation.proprioception))


def open_exported_film(folder: Path, card: PolicyCard) -> ExportedFilmPolicy:
    """Raises whatever a folder that is not as expected makes it raise."""
    tokenizer = WordTokenizer.from_json(read_json(folder, TOKENIZER))
    statistics = read_statistics(read_json(folder, STATISTICS), card.spec.statistics_key)
    config = read_sizes(card.network, tokenizer.size)
    return ExportedFilmPolicy(card.spec, config, read_weights(folder), tokenizer, statistics)
