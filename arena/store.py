"""Where recorded episodes live: one collection of a server that speaks MongoDB's protocol, by plain pymongo.

A document's `_id` is the public episode id. Writing is idempotent and journaled: when `save` returns, a crash of the
server loses nothing. A later attempt replaces an earlier one, never the other way round.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from bson.errors import BSONError
from django.conf import settings
from prometheus_client import Histogram
from pymongo import MongoClient, WriteConcern
from pymongo.collection import Collection
from pymongo.errors import ConfigurationError, DocumentTooLarge, DuplicateKeyError, PyMongoError

Document = dict[str, Any]
COLLECTION = "episodes"
SELECTION_TIMEOUT_MS = 1500
SOCKET_TIMEOUT_MS = 10_000
DELETED_AT_ONCE = 100
"""The bundled server takes some milliseconds for each, and thousands would be more than it is waited for."""
ASKED = Histogram(
    "arena_episode_store_seconds",
    "From asking the episode store to its answer, or to giving up.",
    ["operation"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0),
)
NOTHING = {"_id": "no episode"}
"""Looking it up reads the index. Asked for any document, the bundled server goes through all of them."""
INDEXES = ([("battle_id", 1), ("side", 1)], [("turn_id", 1)])


class StoreError(Exception):
    """What went wrong with the episode store; `code` names it."""

    code = "store_error"


class StoreUnavailable(StoreError):
    """The episode store does not answer, or refuses."""

    code = "episodes_unavailable"


class EpisodeRefused(StoreError):
    """The document itself cannot be stored: it would be refused again."""

    code = "episode_refused"


class EpisodeSuperseded(StoreError):
    """A later attempt at the same rollout has been stored already."""

    code = "episode_superseded"


class EpisodeStore:
    """Episodes by id. Every method raises StoreUnavailable when the server cannot be used."""

    def __init__(self, url: str, database: str) -> None:
        with _translated():
            client: MongoClient[Document] = MongoClient(
                url,
                serverSelectionTimeoutMS=SELECTION_TIMEOUT_MS,
                connectTimeoutMS=SELECTION_TIMEOUT_MS,
                socketTimeoutMS=SOCKET_TIMEOUT_MS,
                appname="vla-arena",
                tz_aware=True,
            )
        self._client = client
        journaled = WriteConcern(w="majority", j=True, wtimeout=SOCKET_TIMEOUT_MS)
        self._episodes: Collection[Document] = client[database].get_collection(COLLECTION, write_concern=journaled)
        self._indexed = False

    def ping(self) -> None:
        """Return if the server can read, raise StoreUnavailable if not; a mere ping is answered by a broken one too."""
        with ASKED.labels("ping").time(), _translated():
            self._episodes.find_one(NOTHING)

    def ensure_indexes(self) -> None:
        """Make the indexes if they are missing: (battle_id, side) and turn_id; `_id` has its own."""
        with _translated():
            for keys in INDEXES:
                self._episodes.create_index(keys)
        self._indexed = True

    def save(self, document: Mapping[str, Any]) -> None:
        """Write an episode; the same document again changes nothing. Needs `_id` and `attempt`.

        Raises EpisodeSuperseded when a later attempt is stored, and EpisodeRefused for what cannot be a document.
        """
        if not self._indexed:
            self.ensure_indexes()
        not_later = {"_id": document["_id"], "attempt": {"$lte": document["attempt"]}}
        try:
            with ASKED.labels("save").time(), _translated():
                self._episodes.replace_one(not_later, document, upsert=True)
        except DuplicateKeyError:
            raise EpisodeSuperseded(f"a later attempt at {document['_id']} is stored") from None
        except (BSONError, DocumentTooLarge) as error:
            raise EpisodeRefused(f"{document['_id']} cannot be stored: {error}") from error

    def get(self, episode_id: str) -> Document | None:
        with ASKED.labels("get").time(), _translated():
            return self._episodes.find_one({"_id": episode_id})

    def delete(self, episode_ids: Sequence[str]) -> None:
        """Delete episodes; those that are not there make no difference."""
        for first in range(0, len(episode_ids), DELETED_AT_ONCE):
            with _translated():
                self._episodes.delete_many({"_id": {"$in": list(episode_ids[first : first + DELETED_AT_ONCE])}})

    def ids(self) -> Iterator[str]:
        """The ids of all episodes, in order, without loading the episodes."""
        with _translated():
            for row in self._episodes.find({}, {"_id": 1}, sort=[("_id", 1)]):
                yield row["_id"]

    def count(self) -> int:
        with _translated():
            return self._episodes.count_documents({})

    def index_keys(self) -> list[list[tuple[str, int]]]:
        """The keys of every index that the collection has."""
        with _translated():
            return [list(index["key"]) for index in self._episodes.index_information().values()]

    def close(self) -> None:
        self._client.close()


def get_store() -> EpisodeStore:
    """The store that the settings name; one client per process, for clients do not survive a fork."""
    return _store(settings.MONGO_URL, settings.MONGO_DATABASE, os.getpid())


@lru_cache(maxsize=4)
def _store(url: str, database: str, process_id: int) -> EpisodeStore:
    return EpisodeStore(url, database)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the driver's errors into ours. What is about the document is an answer, not a failure of the server."""
    try:
        yield
    except (DuplicateKeyError, DocumentTooLarge):
        raise
    except (PyMongoError, ConfigurationError) as error:
        raise StoreUnavailable(f"the episode store cannot be used: {type(error).__name__}") from error
