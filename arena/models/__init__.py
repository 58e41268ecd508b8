"""The tables of the core. `arena.kinds` says what a kind of contestants adds to them."""

from arena.models.battles import (
    Attempt,
    AttemptQuerySet,
    Battle,
    BattleQuerySet,
    Session,
    Turn,
    names_known,
    read_moment,
    row_or_none,
    turns_of,
)
from arena.models.choices import (
    AttemptStatus,
    BattleStatus,
    Judgement,
    ProcessingStatus,
    Purpose,
    Side,
    StartKind,
    VoteChoice,
)
from arena.models.compiled import Compiled
from arena.models.contestants import (
    FOLDER_TROUBLE,
    HOST_SILENT_S,
    MEMORY_TROUBLE,
    Contestant,
    ContestantQuerySet,
    ContestantStatus,
    Hosting,
    PairChance,
    live_between,
)
from arena.models.defaults import _battle_id, _episode_id, _request_id, _secret, _session_id, _turn_id, _vote_id
from arena.models.feedback import WHOLE_WAY, WHY_LENGTH, Feedback
from arena.models.gallery import GalleryEntry
from arena.models.keys import AdmissionLock, NetworkKey
from arena.models.votes import Vote
