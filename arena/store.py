"""The store of recorded episodes: one collection of a server that speaks MongoDB's protocol.

A document's `_id` is the public episode id. Writing is idempotent and journaled: once `save` returns, a crash of the
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
"""The bundled server takes some milliseconds for each, so thousands at once would run into the timeout."""
STORE_SECONDS = Histogram(
    "arena_episode_store_seconds",
    "From a request to the episode store to its answer, or to giving up.",
    ["operation"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0),
)
NO_EPISODE = {"_id": "no episode"}
"""Looking it up reads the index. For an empty filter the bundled server goes through all documents."""
INDEXES = ([("battle_id", 1), ("side", 1)], [("turn_id", 1)])


class StoreUnavailable(Exception):
    """The episode store does not answer, or refuses."""


class EpisodeRefused(Exception):
    """The document cannot be stored: another attempt would be refused as well."""


class EpisodeSuperseded(Exception):
    """A later attempt at the same rollout is stored already."""


class EpisodeStore:
    """Episodes by id. Every method raises StoreUnavailable if the server cannot be used."""

    def __init__(self, url: str, database: str) -> None:
        with translated():
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
        self._database = client[database]
        self._episodes: Collection[Document] = self._database.get_collection(COLLECTION, write_concern=journaled)
        self._indexed = False

    def ping(self) -> None:
        """Raise StoreUnavailable unless the server can read. A broken server still answers MongoDB's own ping."""
        with STORE_SECONDS.labels("ping").time(), translated():
            self._episodes.find_one(NO_EPISODE)

    def ensure_indexes(self) -> None:
        """Create the indexes that are missing. `_id` has its own."""
        with translated():
            for keys in INDEXES:
                self._episodes.create_index(keys)
        self._indexed = True

    def save(self, document: Mapping[str, Any]) -> None:
        """Write an episode with `_id` and `attempt`. Writing the same document again changes nothing.

        Raises EpisodeSuperseded if a later attempt is stored, and EpisodeRefused for what cannot be a document.
        """
        if not self._indexed:
            self.ensure_indexes()
        not_later = {"_id": document["_id"], "attempt": {"$lte": document["attempt"]}}
        try:
            with STORE_SECONDS.labels("save").time(), translated():
                self._episodes.replace_one(not_later, document, upsert=True)
        except DuplicateKeyError:
            raise EpisodeSuperseded(f"a later attempt at {document['_id']} is stored") from None
        except (BSONError, DocumentTooLarge) as error:
            raise EpisodeRefused(f"{document['_id']} cannot be stored: {error}") from error

    def get(self, episode_id: str) -> Document | None:
        with STORE_SECONDS.labels("get").time(), translated():
            return self._episodes.find_one({"_id": episode_id})

    def delete(self, episode_ids: Sequence[str]) -> None:
        """Delete episodes. Unknown ids are ignored."""
        for first in range(0, len(episode_ids), DELETED_AT_ONCE):
            with translated():
                self._episodes.delete_many({"_id": {"$in": list(episode_ids[first : first + DELETED_AT_ONCE])}})

    def rename_session(self, battle_ids: Sequence[str], old: str, new: str) -> None:
        """Write a session's new id into the episodes of its battles, where they name it."""
        for first in range(0, len(battle_ids), DELETED_AT_ONCE):
            own = {"battle_id": {"$in": list(battle_ids[first : first + DELETED_AT_ONCE])}, "session_id": old}
            with translated():
                self._episodes.update_many(own, {"$set": {"session_id": new}})

    def remove_words(self, turn_ids: Sequence[str], instead: str) -> None:
        """Replace the instruction in the episodes of these turns, where they name it, and an answer's words, which may
        repeat it."""
        for first in range(0, len(turn_ids), DELETED_AT_ONCE):
            own = {"turn_id": {"$in": list(turn_ids[first : first + DELETED_AT_ONCE])}}
            for words in ("instruction", "text"):
                with translated():
                    self._episodes.update_many({**own, words: {"$exists": True}}, {"$set": {words: instead}})

    def ids(self) -> Iterator[str]:
        """The ids of all episodes, in order, without loading the episodes."""
        with translated():
            for row in self._episodes.find({}, {"_id": 1}, sort=[("_id", 1)]):
                yield row["_id"]

    def count(self) -> int:
        with translated():
            return self._episodes.count_documents({})

    def beside(self, name: str) -> Collection[Document]:
        """Another collection of the same database, for what can be made again."""
        return self._database[name]

    def close(self) -> None:
        self._client.close()


def get_store() -> EpisodeStore:
    """The store that the settings name. One client per process, because clients do not survive a fork."""
    return _store(settings.MONGO_URL, settings.MONGO_DATABASE, os.getpid())


@lru_cache(maxsize=4)
def _store(url: str, database: str, process_id: int) -> EpisodeStore:
    return EpisodeStore(url, database)


@contextmanager
def translated() -> Iterator[None]:
    """Turn the driver's errors into StoreUnavailable, except those about the document."""
    try:
        yield
    except (DuplicateKeyError, DocumentTooLarge):
        raise
    except (PyMongoError, ConfigurationError) as error:
        raise StoreUnavailable(f"the episode store cannot be used: {type(error).__name__}") from error
