"""The store of drawings: a collection beside that of the episodes.

A document's `_id` is `OWNER/NAME`, where the owner is an episode or a battle. It is `asked` for once, then `drawn` or
`failed`. Losing a drawing loses nothing: it is drawn again when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from pymongo.collection import Collection
from pymongo.errors import DuplicateKeyError

from arena.store import DELETED_AT_ONCE, Document, get_store, translated

COLLECTION = "drawings"
ASKED, DRAWN, FAILED = "asked", "drawn", "failed"
LOST_AFTER = timedelta(minutes=3)
"""What was asked for so long ago and is not drawn is asked for again: its message may be lost."""
FAILED_FOR = timedelta(hours=1)
MEGABYTE = 1_000_000


class DrawingStore:
    """Drawings by owner and name. Every method raises StoreUnavailable if the server cannot be used."""

    def __init__(self, drawings: Collection[Document]) -> None:
        self._drawings = drawings

    def get(self, owner: str, name: str) -> Document | None:
        with translated():
            return self._drawings.find_one({"_id": _key(owner, name)})

    def drawn_of(self, owners: Iterable[str], name: str, look: str) -> set[str]:
        """Those of the owners of which this is drawn."""
        wanted = {"_id": {"$in": [_key(owner, name) for owner in owners]}, "state": DRAWN, "look": look}
        with translated():
            return {str(row["owner"]) for row in self._drawings.find(wanted, {"owner": 1})}

    def claim(self, owner: str, name: str, look: str) -> bool:
        """Whether the caller is to have this drawn: for one caller only, until it is drawn, failed or lost."""
        now, known = timezone.now(), self.get(owner, name)
        wanted = {"_id": _key(owner, name), "owner": owner, "state": ASKED, "look": look, "at": now, "size": 0}
        with translated():
            if known is None:
                return self._insert(wanted)
            if not is_over(known, look, now):
                return False
            same = {"_id": known["_id"], "at": known["at"]}
            return bool(self._drawings.replace_one(same, wanted).modified_count)

    def _insert(self, document: Document) -> bool:
        try:
            self._drawings.insert_one(document)
        except DuplicateKeyError:
            return False
        return True

    def keep(self, owner: str, name: str, look: str, content: bytes) -> None:
        self._put(owner, name, look, {"state": DRAWN, "content": content, "size": len(content)})

    def note_failure(self, owner: str, name: str, look: str) -> None:
        self._put(owner, name, look, {"state": FAILED, "size": 0})

    def release(self, owner: str, name: str) -> None:
        """Take back a claim whose message could not be sent."""
        with translated():
            self._drawings.delete_one({"_id": _key(owner, name), "state": ASKED})

    def delete(self, owners: Iterable[str]) -> None:
        """Delete all drawings of these episodes or battles."""
        gone = list(owners)
        for first in range(0, len(gone), DELETED_AT_ONCE):
            with translated():
                self._drawings.delete_many({"owner": {"$in": gone[first : first + DELETED_AT_ONCE]}})

    def prune(self, megabytes: float, days_of: Mapping[str, float]) -> int:
        """Delete the oldest drawings until `megabytes` are left, and those of a name that are older than its days.
        Returns how many."""
        now, left, gone = timezone.now(), megabytes * MEGABYTE, []
        with translated():
            rows = list(self._drawings.find({}, {"_id": 1, "size": 1, "at": 1}, sort=[("at", -1)]))
            for row in rows:
                left -= row["size"]
                days = days_of.get(row["_id"].rpartition("/")[2])
                if left < 0 or (days is not None and row["at"] < now - timedelta(days=days)):
                    gone.append(row["_id"])
            for first in range(0, len(gone), DELETED_AT_ONCE):
                self._drawings.delete_many({"_id": {"$in": gone[first : first + DELETED_AT_ONCE]}})
        return len(gone)

    def _put(self, owner: str, name: str, look: str, columns: Document) -> None:
        document = {"_id": _key(owner, name), "owner": owner, "look": look, "at": timezone.now(), **columns}
        with translated():
            self._drawings.replace_one({"_id": document["_id"]}, document, upsert=True)


def is_over(known: Document, look: str, now: datetime) -> bool:
    """Whether this is to be drawn again: it is of another look, its message was lost, or it failed some time ago."""
    if known["look"] != look:
        return True
    if known["state"] == ASKED:
        return bool(known["at"] < now - LOST_AFTER)
    return bool(known["state"] == FAILED and known["at"] < now - FAILED_FOR)


def _key(owner: str, name: str) -> str:
    return f"{owner}/{name}"


def get_drawings() -> DrawingStore:
    """The store beside that of the episodes."""
    return DrawingStore(get_store().beside(COLLECTION))


def drawn(known: Any, look: str) -> bytes | None:
    """The content of a document of this look that is drawn."""
    return bytes(known["content"]) if known and known["state"] == DRAWN and known["look"] == look else None
