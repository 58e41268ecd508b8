import assert from "node:assert/strict";
import test from "node:test";

import { Release } from "../src/core/release.js";

const NOON = Date.parse("2026-01-01T12:00:00Z");

/** A release heard of by a browser whose clock is off by `wrong` ms; `at(ms)` moves time to so long after noon. */
function heard({ wrong = 0, ahead = 1000, justNow = true, step_s = 0.2 } = {}) {
  let time = NOON + wrong;
  const turn = { turn_id: "t", release_from: new Date(NOON + ahead).toISOString(), step_s, max_steps: 50 };
  const release = new Release(() => time);
  release.hear(turn, { justNow });
  return { release, turn, at: (ms) => (time = NOON + wrong + ms) };
}

test("before its release a turn has no step, then one for each stretch of time, to the last", () => {
  const { release, turn, at } = heard();
  assert.equal(release.step(turn, false), null);
  at(1000);
  assert.equal(release.step(turn, false), 0);
  at(1000 + 7 * 200);
  assert.equal(release.step(turn, false), 7);
  at(60_000);
  assert.equal(release.step(turn, false), 50);
});

test("a clock that is hours behind waits for seconds only", () => {
  const { release, turn, at } = heard({ wrong: -3 * 3600_000 });
  at(10_000 + 400);
  assert.equal(release.step(turn, false), 2);
});

test("a clock that is hours ahead begins with a turn that has just begun", () => {
  const { release, turn, at } = heard({ wrong: 3 * 3600_000 });
  assert.equal(release.step(turn, false), 0);
  at(400);
  assert.equal(release.step(turn, false), 2);
});

test("a page opened in the middle believes a release of a while ago", () => {
  const { release, turn } = heard({ ahead: -4000, justNow: false });
  assert.equal(release.step(turn, false), 20);
});

test("frames say more than any clock, and set it right", () => {
  const { release, turn, at } = heard({ wrong: -3 * 3600_000 });
  at(1500);
  assert.equal(release.step(turn, true), null, "where frames can come, nothing is released before the first");
  release.came(turn, 3);
  at(4000);
  assert.equal(release.step(turn, true), 3, "a stall stalls the bar as well");
  release.came(turn, 4);
  at(4400);
  assert.equal(release.step(turn, true), 4);
  assert.equal(release.step(turn, false), 6, "without a socket the clock goes on from there");
});

test("a turn in the queue, or there again, has no step", () => {
  const { release, turn, at } = heard();
  at(3000);
  release.hear({ ...turn, release_from: null });
  assert.equal(release.step(turn, true), null);
});
