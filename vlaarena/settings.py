"""Settings of VLA Arena. Everything that differs between a laptop and production is an environment variable.

The embedded default (SQLite, bundled Valkey and MongoDB-compatible server) and production (PostgreSQL, MongoDB,
Redis or RabbitMQ) differ only in URLs: no code depends on the choice.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from vlaarena import data_rules, env, mail, production, ranking_rules, static_headers
from vlaarena.monitoring import logs
from vlaarena.supervisor.folder import DataFolder

env.disable_downloads()
BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("ARENA_DATA", str(BASE_DIR / "var"))).resolve()
if DATA_DIR.is_dir() and not os.access(DATA_DIR, os.X_OK):
    raise ImproperlyConfigured(f"{DATA_DIR} belongs to another user; name another folder with ARENA_DATA")
# A command that runs beside an arena uses the servers which that arena started.
_running = DataFolder(DATA_DIR).running()
_started = _running.urls if _running else {}

# Keeps the names of arenas apart that share a broker or a channel layer.
PREFIX = env.text("ARENA_PREFIX", "")

DEBUG = env.flag("ARENA_DEBUG", False)
# True for a public site behind a proxy that terminates TLS. Without it, cookies and links suit http://127.0.0.1.
HTTPS = env.flag("ARENA_HTTPS", False)
BUILT_IN_SECRET_KEY = "only-for-commands-that-sign-nothing"  # noqa: S105 - asgi.py and wsgi.py refuse to serve with it
_secret_file = DATA_DIR / "secret_key"
SECRET_KEY = env.text("ARENA_SECRET_KEY", "") or (
    _secret_file.read_text().strip() if _secret_file.exists() else BUILT_IN_SECRET_KEY
)
ALLOWED_HOSTS = env.words("ARENA_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("ARENA_ORIGINS", [])

INSTALLED_APPS = [
    *(["daphne"] if "runserver" in sys.argv else []),  # loads a web server, which nothing else needs
    "vlaarena.admin_config.ArenaAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_celery_beat",
    "csp",
    "corsheaders",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "people",  # before allauth, whose templates it replaces
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "vlaarena",
    "simulation",
    "policies",
    "arena",
    "rankings",
    "robots",
    "texts",
    "voice",
    "community",
    "wormarena",
    "exports",
    "studies",
]

MIDDLEWARE = [
    "vlaarena.monitoring.requests.RequestWatch",
    "django.middleware.security.SecurityMiddleware",
    "vlaarena.page_headers.PageHeaders",
    "corsheaders.middleware.CorsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "vlaarena.second_factor.SecondFactor",
    "people.middleware.VisitorOfAccount",
    "people.token_access.TokenAccess",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "vlaarena.outages.TellOutages",
]

ROOT_URLCONF = "vlaarena.urls"
ASGI_APPLICATION = "vlaarena.asgi.application"
WSGI_APPLICATION = "vlaarena.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "vlaarena.preferences.context",
                "people.header.context",
                "vlaarena.about_page.context",
                "wormarena.presence.context",
                "texts.offered.context",
                "voice.offered.context",
            ]
        },
    }
]

# Requests that one web process answers side by side (vlaarena/handler.py).
WEB_THREADS = env.count("ARENA_WEB_THREADS", 6)

# Relations: SQLite in WAL mode by default, PostgreSQL by DATABASE_URL.
DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(env.text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'arena.sqlite3'}"))
}
_database = DATABASES["default"]
if _database["ENGINE"] == "django.db.backends.sqlite3":
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
    }
elif _database["ENGINE"] == "django.db.backends.postgresql":
    # A server that died leaves dead connections in the pool, so each is checked before use. The timeouts bound the wait
    # for a connection and for a host that has vanished.
    _database["CONN_HEALTH_CHECKS"] = True
    _database["OPTIONS"] = {
        "pool": {"min_size": 1, "max_size": env.count("ARENA_DB_POOL", WEB_THREADS + 4), "timeout": 10},
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
    }
else:
    raise ImproperlyConfigured(f"DATABASE_URL names {_database['ENGINE']}; known are sqlite:/// and postgres://")

# Episodes: any server that speaks MongoDB's protocol.
MONGO_URL = env.text("MONGO_URL", _started.get("MONGO_URL", "mongodb://127.0.0.1:27017"))
MONGO_DATABASE = env.text("MONGO_DATABASE", "vla_arena")

# Queue and channel layer.
BROKER_URL = env.text("BROKER_URL", _started.get("BROKER_URL", "redis://127.0.0.1:6379/0"))
CHANNEL_URL = env.text("CHANNEL_URL", _started.get("CHANNEL_URL", "redis://127.0.0.1:6379/1"))
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # redis-py 8 sets a socket timeout of 5 s, which closes idle websockets: channels_redis issue 422. It refuses
        # the 101st connection too, and every websocket that comes or goes needs one for a moment: as many as
        # Redis takes unless told otherwise.
        "CONFIG": {
            "hosts": [{"address": CHANNEL_URL, "socket_timeout": None, "max_connections": 10_000}],
            "capacity": 2000,
            "prefix": f"{PREFIX}asgi",
        },
    }
}

CELERY_BROKER_URL = BROKER_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
if BROKER_URL.startswith("redis"):  # RabbitMQ's client notices a silent server by itself
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 5, "socket_connect_timeout": 5, "socket_keepalive": True}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 120.0  # a worker process loads its policies before it reports that it is alive
CELERY_TASK_DEFAULT_QUEUE = f"{PREFIX}default"
CELERY_CONTROL_EXCHANGE = f"{PREFIX}celery"
CELERY_EVENT_EXCHANGE = f"{PREFIX}celeryev"
# A worker consumes these queues and one queue per policy that it hosts (`arena.queue.hosting`).
QUEUES = [CELERY_TASK_DEFAULT_QUEUE]
# The drawing worker takes from this one alone (vlaarena/drawing.py).
DRAWINGS_QUEUE = f"{PREFIX}drawings"
TASKS_CHECK_S = 5.0  # how often a process looks for tasks that moderators published or withdrew
# Drawings are kept up to this size in all; videos for so many days.
DRAWINGS_MB = env.number("ARENA_DRAWINGS_MB", 1000)
VIDEO_DAYS = env.number("ARENA_VIDEO_DAYS", 30)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULER = "vlaarena.beat:Scheduler"

# `manage.py seed_schedule` creates the missing ones; afterwards they are edited in the admin.
BEAT_TASKS: dict[str, dict[str, Any]] = {
    "Aggregate votes": {
        "task": "rankings.aggregate",
        "crontab": {"minute": "0"},
        "description": "Every hour: fit the ratings to the votes and write the boards.",
    },
    "Check counts and boards": {
        "task": "rankings.check",
        "crontab": {"minute": "30", "hour": "3"},
        "description": "Every night: compare counts and boards with the raw votes; the worker's status has the result.",
    },
    "Expire recordings": {
        "task": "arena.expire",
        "crontab": {"minute": "10", "hour": "4"},
        "description": "Every night: delete recordings of battles without a vote after ARENA_UNVOTED_DAYS.",
    },
    "Expire logins": {
        "task": "people.expire",
        "crontab": {"minute": "20", "hour": "4"},
        "description": "Every night: delete ended logins, and addresses that nobody confirmed within a day.",
    },
    "Write a dump": {
        "task": "exports.dump",
        "crontab": {"minute": "10"},
        "description": "Every hour: write counts and preference pairs as files (docs/data.md), and delete old ones.",
    },
    "Look for games of Snake": {
        "task": "wormarena.look",
        "every_s": 10,
        "description": "Take in the files of games that have appeared in ARENA_WORMARENA_FOLDER.",
    },
    "Go on with studies": {
        "task": "studies.tend",
        "every_s": 5,
        "description": "Send the next part of the study whose turn it is, unless a worker plays it.",
    },
    "Check remote policies": {
        "task": "robots.check_remote_policies",
        "every_s": 15,
        "description": "Ask the servers of all remote policies whether they answer; those that do not are not drawn.",
    },
    "Sweep stale rollouts": {
        "task": "arena.sweep",
        "every_s": 5,
        "description": "Retry the rollouts of dead workers once, and fail those that were already retried.",
    },
}

# Upper limits of a rollout, of which its task may allow less (docs/goals.md): fifths of a second of robot time (control
# steps at 5 Hz), and seconds. A running one without a heartbeat for ROLLOUT_STALE_S is stale.
ROLLOUT_MAX_STEPS = int(env.number("ARENA_ROLLOUT_MAX_STEPS", 200))
ROLLOUT_WALL_S = env.number("ARENA_ROLLOUT_WALL_S", 180.0)
ROLLOUT_STALE_S = env.number("ARENA_ROLLOUT_STALE_S", 15.0)
ROLLOUT_MAX_ATTEMPTS = 2
# The clock of a turn (arena/live/release.py): the delay [s] from the start of both sides to the first step shown, and
# the speed relative to the robots' control rate. Slower policies need a lower speed or a longer buffer.
RELEASE = {
    "buffer_s": env.number("ARENA_RELEASE_BUFFER_S", 1.0, least=0.0),
    "speed": env.number("ARENA_RELEASE_SPEED", 1.0, least=0.001),
}

RANKING = ranking_rules.RANKING
# All publications are kept for this many days, then the last one of each day. 0 keeps all.
SNAPSHOT_DAYS = env.number("ARENA_SNAPSHOT_DAYS", 14.0)

# Thresholds for suspicious votes (rankings/publication/integrity.py), and for disagreement between votes and success
# rates (rankings/analysis/agreement.py).
INTEGRITY = {
    "alpha": env.number("ARENA_OUTLIER_ALPHA", 0.001),  # probability that an honest voter is ever suspected
    "look_back_days": env.number("ARENA_OUTLIER_DAYS", 7.0),  # voters inactive for longer are not tested again
    "new_hours": env.number("ARENA_NEW_VOTER_HOURS", 24.0),
    "new_votes": int(env.number("ARENA_NEW_VOTER_VOTES", 5)),
    "parted_votes": int(env.number("ARENA_PARTED_VOTES", 30)),
    "parted_kappa": env.number("ARENA_PARTED_KAPPA", 0.2),
    "parted_against": env.number("ARENA_PARTED_AGAINST", 0.33),
}

# Rates per visitor (cookie) and per address. People vote and type more slowly than these limits.
RATE_LIMITS = {
    "votes": {
        "visitor": env.rates("ARENA_VOTES_PER_VISITOR", "10/minute,120/hour,400/day"),
        "address": env.rates("ARENA_VOTES_PER_ADDRESS", "60/minute,1000/hour"),
    },
    "feedback": {
        "visitor": env.rates("ARENA_FEEDBACK_PER_VISITOR", "60/minute,600/hour"),
        "address": env.rates("ARENA_FEEDBACK_PER_ADDRESS", "240/minute,4000/hour"),
    },
    "turns": {
        "visitor": env.rates("ARENA_TURNS_PER_VISITOR", "30/minute,400/hour"),
        "address": env.rates("ARENA_TURNS_PER_ADDRESS", "240/minute,4000/hour"),
    },
    "prompts": {
        "visitor": env.rates("ARENA_PROMPTS_PER_VISITOR", "200/day"),
        "address": env.rates("ARENA_PROMPTS_PER_ADDRESS", "2000/day"),
    },
    "videos": {
        "visitor": env.rates("ARENA_VIDEOS_PER_VISITOR", "6/hour,20/day"),
        "address": env.rates("ARENA_VIDEOS_PER_ADDRESS", "30/hour"),
    },
    "sessions": {"address": env.rates("ARENA_SESSIONS_PER_ADDRESS", "300/minute,5000/hour")},
    "cancels": {
        "visitor": env.rates("ARENA_CANCELS_PER_VISITOR", "30/minute,400/hour"),
        "address": env.rates("ARENA_CANCELS_PER_ADDRESS", "240/minute,4000/hour"),
    },
    "reports": {
        "visitor": env.rates("ARENA_REPORTS_PER_VISITOR", "5/minute,30/day"),
        "address": env.rates("ARENA_REPORTS_PER_ADDRESS", "20/minute,200/day"),
    },
    "submissions": {
        "visitor": env.rates("ARENA_SUBMISSIONS_PER_VISITOR", "3/hour,6/day"),
        "address": env.rates("ARENA_SUBMISSIONS_PER_ADDRESS", "6/hour,20/day"),
    },
    "studies": {"address": env.rates("ARENA_STUDIES_PER_ADDRESS", "60/minute,600/hour")},
    # Of studies on the site: both sides of every pair.
    "episodes": {"account": env.rates("ARENA_STUDY_EPISODES_PER_ACCOUNT", "2000/day")},
    "comments": {
        "visitor": env.rates("ARENA_COMMENTS_PER_VISITOR", "3/minute,60/day"),
        "address": env.rates("ARENA_COMMENTS_PER_ADDRESS", "20/minute,300/day"),
    },
    "aggregations": {"address": env.rates("ARENA_AGGREGATIONS_PER_ADDRESS", "12/minute,60/hour")},
    "own_data": {"address": env.rates("ARENA_OWN_DATA_PER_ADDRESS", "10/minute,60/hour")},
    "games": {"address": env.rates("ARENA_GAMES_PER_ADDRESS", "600/minute")},
    # Attempts with a password and a code: from an address, and for an account from any address.
    "logins": {
        "address": env.rates("ARENA_LOGINS_PER_ADDRESS", "10/minute,60/hour"),
        "account": env.rates("ARENA_LOGINS_PER_ACCOUNT", "20/minute,100/hour"),
    },
}
# Admission of turns (arena/queue/admission.py): limits on unfinished turns in all, per visitor and per address; on a
# visitor's turns that workers run at once; and on the expected wait [s] of an admitted turn. 0: no limit.
QUEUE: dict[str, int] = {
    "turns": int(env.number("ARENA_MAX_TURNS", 200)),
    "per_visitor": int(env.number("ARENA_MAX_TURNS_PER_VISITOR", 5)),
    "per_address": int(env.number("ARENA_MAX_TURNS_PER_ADDRESS", 60)),
    "at_once": int(env.number("ARENA_TURNS_AT_ONCE", 1)),
    "wait_s": int(env.number("ARENA_MAX_WAIT_S", 300)),
}
# Studies on the site: pairs of one at most; how many of an account may wait or play, and how many are kept; how many
# are played at once, each by one process of a worker.
STUDIES: dict[str, int] = {
    "pairs": int(env.number("ARENA_STUDY_PAIRS", 500, least=1)),
    "open": int(env.number("ARENA_STUDIES_OPEN", 3, least=1)),
    "kept": int(env.number("ARENA_STUDIES_KEPT", 30, least=1)),
    "at_once": int(env.number("ARENA_STUDIES_AT_ONCE", 1)),
}
# Comments on shared battles, by people who are signed in. A moderator approves each before it shows.
COMMENTS = env.choice("ARENA_COMMENTS", "off", ("off", "on")) == "on"
# WormArena: the folder in which SnakeBench's files of games appear, and whether an arena without games shows a small
# ladder of reference players.
WORMARENA_FOLDER = Path(env.text("ARENA_WORMARENA_FOLDER", "") or DATA_DIR / "snakebench")
WORMARENA_DEMO = env.flag("ARENA_WORMARENA_DEMO", True)
# Whether `manage.py up` also runs `manage.py snake_ladder`: the arena's language models and the reference players play.
WORMARENA_LADDER = env.flag("ARENA_WORMARENA_LADDER", False)
# The share of repeated battles among a voter's battles. They are neither marked nor counted.
REPEAT_SHARE = env.number("ARENA_REPEAT_SHARE", 0.03)
TRUSTED_PROXIES = int(env.number("ARENA_PROXIES", 0))  # number of our proxies, each adding to X-Forwarded-For
# Networks of many people, such as a lab's or a class's. Limits per network do not apply to their votes and turns.
FREE_NETWORKS = env.networks("ARENA_FREE_NETWORKS", "")
# Days after a vote within which its digests could still be traced to an address (arena/visitors/networks.py).
NETWORK_DAYS = env.count("ARENA_NETWORK_DAYS", 90)
if NETWORK_DAYS < 28:
    raise ImproperlyConfigured(f"ARENA_NETWORK_DAYS={NETWORK_DAYS}; at least 28, since a key is in use for that long")
# The challenge for networks with more votes a day than CHALLENGE_AFTER (arena/visitors/challenges.py), and the zero
# bits of its proof of work.
CHALLENGE = env.text("ARENA_CHALLENGE", "")
CHALLENGE_AFTER = int(env.number("ARENA_CHALLENGE_AFTER", 30))
CHALLENGE_BITS = env.count("ARENA_CHALLENGE_BITS", 18)
if CHALLENGE_BITS > 30:
    raise ImproperlyConfigured(f"ARENA_CHALLENGE_BITS={CHALLENGE_BITS}; at most 30, which take a browser an hour")
# Counters of the limits. One web process keeps them in memory; several share a server named by CACHE_URL=redis://...
CACHE_URL = env.text("CACHE_URL", "")
CACHES = {
    "default": {
        "BACKEND": f"django.core.cache.backends.{'redis.RedisCache' if CACHE_URL else 'locmem.LocMemCache'}",
        "LOCATION": CACHE_URL,
        "KEY_PREFIX": PREFIX,
        # Django's default of 300 would drop a visitor's counters as soon as a hundred others come. This takes 30 MB.
        **({} if CACHE_URL else {"OPTIONS": {"MAX_ENTRIES": 100_000}}),
    }
}

# What a worker hosts, and on which device (docs/serving.md). Policies are ids or patterns, excluded by a leading minus.
# Memory is per process, 0 for a share of the device's. A batch size of 0 lets each policy choose.
WORKER_POLICIES = env.words("ARENA_WORKER_POLICIES", ["*"])
WORKER_DEVICE = env.text("ARENA_WORKER_DEVICE", "cpu")
WORKER_MEMORY_GB = env.number("ARENA_WORKER_MEMORY_GB", 0)
WORKER_BATCH = int(env.number("ARENA_WORKER_BATCH", 0))
# On a graphics card, read by policies.devices and policies.networks.replay; here a wrong value ends the start.
OCTO_CUDA_DTYPE = env.choice("ARENA_OCTO_CUDA_DTYPE", "float32", ("float32", "bfloat16"))
CUDA_GRAPHS = env.choice("ARENA_CUDA_GRAPHS", "1", ("0", "1")) == "1"
# The servers at which remote policies may be asked (docs/bring-your-own-policy.md), with a port or with every port.
POLICY_HOSTS = env.words("ARENA_POLICY_HOSTS", ["127.0.0.1", "localhost", "::1"])

# Recordings of battles without a vote expire this many days after the battle's last change; 0: never.
UNVOTED_DAYS = env.number("ARENA_UNVOTED_DAYS", 90)

# In code points, equal for all contestants. A network with a shorter input reads the beginning (decision: blindness).
INSTRUCTION_MAX_LENGTH = 200
# Seconds for which the page holds a vote, so that it can be undone; 0 sends it at once.
VOTE_UNDO_SECONDS = env.number("ARENA_VOTE_UNDO_SECONDS", 5.0, least=0.0)
# The kinds of battles that the site offers. If it names none, text is among them where `manage.py up` runs a model.
_EMBEDDED_TEXT_URL = env.text("ARENA_EMBEDDED_TEXT_URL", _started.get("ARENA_EMBEDDED_TEXT_URL", ""))
CHOSEN_KINDS = env.words("ARENA_KINDS", [])
KINDS = CHOSEN_KINDS or ["robots", *(["text"] if _EMBEDDED_TEXT_URL else [])]
if "robots" not in KINDS or not {*KINDS} <= {"robots", "text", "voice"}:
    known = "known are robots, which all sites have, text and voice"
    raise ImproperlyConfigured(f"ARENA_KINDS={','.join(KINDS)}; {known}")
# Those that this process plays, if it is a worker; empty: all.
WORKER_KINDS = env.words("ARENA_WORKER_KINDS", [])
WAITING_THREADS = env.count("ARENA_WAITING_THREADS", 32)
# Battles of language models (texts/). Limits of a prompt and of an answer [characters] and of an answer [s] are equal
# for all contestants; so is how much of a conversation they read again. `hosts`: the servers to which requests may go.
TEXT: dict[str, Any] = {
    "hosts": env.words("ARENA_TEXT_HOSTS", ["127.0.0.1", "localhost", "::1"]),
    "prompt_characters": env.count("ARENA_TEXT_PROMPT_CHARACTERS", 2000),
    "answer_characters": env.count("ARENA_TEXT_ANSWER_CHARACTERS", 3600),
    "conversation_characters": env.count("ARENA_TEXT_CONVERSATION_CHARACTERS", 8000),
    "turns": env.count("ARENA_TEXT_TURNS", 20),
    "answer_s": env.number("ARENA_TEXT_ANSWER_S", 60.0, least=1.0),
    "cache_hours": env.number("ARENA_TEXT_CACHE_HOURS", 0.0, least=0.0),
    "forbidden_words": env.text("ARENA_TEXT_FORBIDDEN_WORDS", ""),
    "moderation_url": env.text("ARENA_TEXT_MODERATION_URL", ""),
    "moderation_model": env.text("ARENA_TEXT_MODERATION_MODEL", "omni-moderation-latest"),
    "moderation_key_variable": env.text("ARENA_TEXT_MODERATION_KEY_VARIABLE", ""),
    "embedded_url": _EMBEDDED_TEXT_URL,
    "embedded_qwen_url": env.text("ARENA_EMBEDDED_QWEN_URL", _started.get("ARENA_EMBEDDED_QWEN_URL", "")),
}
if "text" in KINDS:
    BEAT_TASKS["Check language servers"] = {
        "task": "texts.check_servers",
        "every_s": 15,
        "description": "Ask the servers of all language models whether they answer; those that do not are not drawn.",
    }
if "voice" in KINDS:
    BEAT_TASKS["Evaluate calls again"] = {
        "task": "voice.evaluate_again",
        "every_s": 600,
        "description": "Ask again for evaluations of voted calls that have not ended after 20 minutes.",
    }
# Voice agents (voice/). The language model of the local cascade: any server that speaks OpenAI's chat completions;
# empty: the one beside the arena, where that runs.
VOICE: dict[str, Any] = {
    "model_url": env.text("ARENA_VOICE_MODEL_URL", "") or TEXT["embedded_url"],
    "model": env.text("ARENA_VOICE_MODEL", "smollm2-135m-instruct"),
    "model_key": env.text("ARENA_VOICE_MODEL_API_KEY", ""),
    # Agents of Vapi: the key, without which they are unavailable, and the address of its API; empty: the public one.
    "vapi_key": env.text("VAPI_API_KEY", ""),
    "vapi_url": env.text("ARENA_VOICE_VAPI_URL", "").rstrip("/"),
    # The same of Retell.
    "retell_key": env.text("RETELL_API_KEY", ""),
    "retell_url": env.text("ARENA_VOICE_RETELL_URL", "").rstrip("/"),
    # The judge of calls after the vote: any server that speaks OpenAI's chat completions with JSON schemas.
    "judge_url": env.text("ARENA_VOICE_JUDGE_URL", ""),
    "judge_model": env.text("ARENA_VOICE_JUDGE_MODEL", ""),
    "judge_key": env.text("ARENA_VOICE_JUDGE_API_KEY", ""),
    "recordings": Path(env.text("ARENA_VOICE_RECORDINGS", "") or DATA_DIR / "voice"),
    # The process that holds calls: its port, how many calls at once, and its address for browsers where that is not the
    # host of the pages with this port, such as wss://voice.example.org behind a proxy that ends TLS.
    "port": int(env.number("ARENA_VOICE_PORT", env.number("ARENA_PORT", 8000) + 1)),
    "calls": env.count("ARENA_VOICE_CALLS", 4),
    "url": env.text("ARENA_VOICE_URL", "").rstrip("/"),
    "recording_days": env.number("ARENA_VOICE_DAYS", 90.0, least=0.0),
}
DEFAULT_KIND = "robots"
DEFAULT_ROBOT = "widowx"
DEFAULT_SCENE = "table"
OFFERED_SCENES = env.words("ARENA_OFFERED_SCENES", []) or None
"""The scenes that visitors may choose; None: those of simulation.catalogue.OFFERED."""

POLICY_WEIGHTS = BASE_DIR / "policies" / "weights"
OPTIONAL_WEIGHTS = BASE_DIR / "policies" / "optional"  # of policies for robots that an arena may lack
SCENE_BUNDLES = Path(env.text("ARENA_SCENES", str(BASE_DIR / "build" / "scenes")))

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "URL_FORMAT_OVERRIDE": None,  # there is one format: no call has a parameter `?format=`
    "EXCEPTION_HANDLER": "arena.api.refusals.handle_exception",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "VLA Arena",
    "DESCRIPTION": "Blind battles between vision-language-action policies. Calls act for the visitor of the cookie, or "
    "with `Authorization: Bearer TOKEN` for the owner of an API token of the scopes `read`, `play` or `staff`.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    # A call needs no token: without one it acts for the visitor of the cookie.
    "APPEND_COMPONENTS": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "SECURITY": [{}, {"token": []}],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # Links inside the buttons that open an operation would be what no screen reader can announce.
    "SWAGGER_UI_SETTINGS": {"docExpansion": "list", "defaultModelsExpandDepth": -1, "deepLinking": False},
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
LANGUAGE_COOKIE_NAME = "language"
TIME_ZONE = "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.text("ARENA_STATIC", str(BASE_DIR / "build" / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "vlaarena.static_storage.StaticStorage"},
}
WHITENOISE_ROOT = BASE_DIR / "static" / "root"  # served from /: what is asked for at a fixed address, /favicon.ico
WHITENOISE_KEEP_ONLY_HASHED_FILES = True  # all addresses come from {% static %}
WHITENOISE_ADD_HEADERS_FUNCTION = static_headers.add_headers

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "worker-src": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'"],
    }
}

SECURE_SSL_REDIRECT = SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^api/health", r"^metrics$"]  # requested within the host or its network, without TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = int(env.number("ARENA_HSTS_S", 365 * 86400)) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
# Django's sessions are for logins to the admin; visitors have a separate cookie (arena.visitors.cookies).
SESSION_COOKIE_AGE = 12 * 3600
CSRF_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

# Mail: a server by EMAIL_URL, or else files in the data folder.
EMAIL_URL = env.text("EMAIL_URL", "")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_URL else 'filebased'}.EmailBackend"
EMAIL_FILE_PATH = None if EMAIL_URL else str(DATA_DIR / "mail")
_mail = mail.server_of(EMAIL_URL) if EMAIL_URL else mail.MailServer()
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD, EMAIL_USE_TLS, EMAIL_USE_SSL = _mail
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("ARENA_EMAIL_FROM", "") or "VLA Arena <arena@localhost>"

# Accounts of visitors (people/), by codes sent to their address and by passkeys; nobody has a password. A public site
# that cannot send mail has none.
ACCOUNTS = env.flag("ARENA_ACCOUNTS", bool(EMAIL_URL) or not HTTPS)
LOGIN_URL, LOGIN_REDIRECT_URL = "account_login", "profile"
ACCOUNT_ADAPTER = "people.adapters.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = ACCOUNT_LOGIN_BY_CODE_ENABLED = True
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_RESEND = ACCOUNT_LOGIN_BY_CODE_SUPPORTS_RESEND = True
ACCOUNT_LOGIN_BY_CODE_TIMEOUT = 15 * 60
ACCOUNT_CHANGE_EMAIL = ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_SESSION_DAYS = 30
ACCOUNT_RATE_LIMITS: dict[str, str] | bool = {
    "signup": "20/m/ip,100/d/ip",
    "login": "30/m/ip",
    "request_login_code": "20/m/ip,3/m/key,30/d/key",
}
MFA_ADAPTER = "people.adapters.PasskeyAdapter"
MFA_SUPPORTED_TYPES = ["webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = MFA_PASSKEY_SIGNUP_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # browsers offer passkeys without TLS on this machine only
MFA_REAUTHENTICATION_REQUIRED = False  # there is no password to ask for, and a lost passkey must be removable

# Bodies are small (at most 64 KiB for an API call, see arena.api.parsers), and file uploads are refused.
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
FILE_UPLOAD_HANDLERS = ["vlaarena.body_limit.NoUploads"]

# A second factor at the login (vlaarena/second_factor.py): "optional" or "required".
ADMIN_TOTP = env.choice("ARENA_ADMIN_TOTP", "optional", ("optional", "required"))
OTP_TOTP_ISSUER = "VLA Arena"

# What the footer of every page, /about/ and /privacy/ tell: where the source is (https://...), and whom to write to.
SOURCE_URL = env.text("ARENA_SOURCE_URL", "")
if SOURCE_URL and not SOURCE_URL.startswith(("https://", "http://")):
    raise ImproperlyConfigured(f"ARENA_SOURCE_URL={SOURCE_URL!r}; expected an address that begins with https://")
CONTACT = env.text("ARENA_CONTACT", "").strip()

# What leaves as data: vlaarena/data_rules.py.
SIGNING_KEY = data_rules.SIGNING_KEY
DATA_LICENSE, DATA_LICENSE_URL = data_rules.DATA_LICENSE, data_rules.DATA_LICENSE_URL
DATA_SINCE = data_rules.DATA_SINCE
DUMPS, DUMP_DAYS, DUMP_HOURS = data_rules.DUMPS, data_rules.DUMP_DAYS, data_rules.DUMP_HOURS
DUMPS_FOLDER = Path(env.text("ARENA_DUMPS_FOLDER", "") or DATA_DIR / "dumps")

# Pages of these sites may read public data. Requests carry no cookies, so they cannot act for a visitor.
CORS_ALLOWED_ORIGINS = env.words("ARENA_CORS_ORIGINS", [])
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_METHODS = ["GET", "HEAD", "OPTIONS"]

if HTTPS:
    production.refuse_unsafe(
        production.AccessSettings(
            secret_key=None if SECRET_KEY == BUILT_IN_SECRET_KEY else SECRET_KEY,
            debug=DEBUG,
            proxies=TRUSTED_PROXIES,
            hosts=ALLOWED_HOSTS,
            origins={"ARENA_ORIGINS": CSRF_TRUSTED_ORIGINS, "ARENA_CORS_ORIGINS": CORS_ALLOWED_ORIGINS},
            servers={
                "DATABASE_URL": env.text("DATABASE_URL", "sqlite://"),
                "MONGO_URL": MONGO_URL,
                "BROKER_URL": BROKER_URL,
                "CHANNEL_URL": CHANNEL_URL,
                **({"CACHE_URL": CACHE_URL} if CACHE_URL else {}),
            },
        )
    )

LOGGING = logs.settings_for(env.choice("ARENA_LOG_FORMAT", "plain", logs.FORMATS), env.text("ARENA_LOG_LEVEL", "INFO"))

# The token that grants access to /metrics. Without one, only this host has access, and nobody if the site is public.
METRICS_TOKEN = env.text("ARENA_METRICS_TOKEN", "")
if METRICS_TOKEN and len(METRICS_TOKEN) < 16:
    raise ImproperlyConfigured("ARENA_METRICS_TOKEN is too short to be a secret: at least 16 characters")
