"""Battles that are known before they are played: each that this arena opens has the same pair, start and chance.

Written into the arena's database beside it, so that nothing of the arena knows of it.
"""

from __future__ import annotations

import sqlite3

import psycopg

from tests.stack import Arena

PAIR = ("film-base", "film-small")
SEED = 7
"""Both policies do "put the red cube on the left plate" and "pick up the red cube" from here, in 15 to 25 steps, and
move apart on the way: there is an object that moves, a touch, a grasp and a parting to look at."""
SECRET = "7" * 32
ON_SQLITE = """
CREATE TRIGGER seeded AFTER INSERT ON battles WHEN NEW.status = 'ongoing' BEGIN
  UPDATE battles SET seed = {seed}, secret = '{secret}', left_model_id = '{left}', right_model_id = '{right}'
  WHERE id = NEW.id;
END
"""
ON_POSTGRESQL = """
CREATE OR REPLACE FUNCTION seeded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.status = 'ongoing' THEN
    NEW.seed := {seed}; NEW.secret := '{secret}'; NEW.left_model_id := '{left}'; NEW.right_model_id := '{right}';
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER seeded BEFORE INSERT ON battles FOR EACH ROW EXECUTE FUNCTION seeded();
"""


def seed_battles(arena: Arena, pair: tuple[str, str] = PAIR) -> None:
    """From now on every battle that a visitor opens in `arena` is the known one, played by `pair`."""
    known = {"seed": SEED, "secret": SECRET, "left": pair[0], "right": pair[1]}
    if url := arena.environment.get("DATABASE_URL"):
        with psycopg.connect(url, autocommit=True) as database:
            database.execute(ON_POSTGRESQL.format(**known).encode())
        return
    database_file = sqlite3.connect(arena.folder / "arena.sqlite3", timeout=60, isolation_level=None)
    try:
        database_file.execute("BEGIN IMMEDIATE")
        database_file.execute("DROP TRIGGER IF EXISTS seeded")
        database_file.execute(ON_SQLITE.format(**known))
        database_file.execute("COMMIT")
    finally:
        database_file.close()
