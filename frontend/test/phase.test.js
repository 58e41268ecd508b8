import assert from "node:assert/strict";
import test from "node:test";

import { phaseOf, sayPhase, whyNotSend } from "../src/core/phase.js";
import { useKindWords } from "../src/core/words.js";
import { WORDS } from "../src/robots/words.js";

useKindWords(WORDS);

const turn = (status, left = status, right = status) => ({ status, left: { status: left }, right: { status: right } });
const ongoing = (...turns) => ({ status: "ongoing", turns, can_vote: true, vote_blocked_because: null });

test("the phase follows the battle, then its last turn", () => {
  assert.equal(phaseOf(null), "loading");
  assert.equal(phaseOf(ongoing()), "idle");
  assert.equal(phaseOf(ongoing(turn("completed"), turn("queued"))), "queued");
  assert.equal(phaseOf(ongoing(turn("running"))), "running");
  assert.equal(phaseOf(ongoing(turn("failed"))), "settled");
  assert.equal(phaseOf({ ...ongoing(turn("completed")), status: "voted" }), "voted");
});

test("sending is closed while a turn runs, and says why", () => {
  assert.equal(whyNotSend(ongoing(turn("completed"))), null);
  assert.match(whyNotSend(ongoing(turn("running"))), /are working/);
});

test("after a vote an instruction may be sent: it opens the next battle", () => {
  assert.equal(whyNotSend({ ...ongoing(turn("completed")), status: "voted" }), null);
});

test("a turn that failed is told as a whole, never by a side", () => {
  const said = sayPhase("settled", ongoing(turn("failed")));
  assert.match(said, /^This turn failed\./);
  assert.doesNotMatch(said, /left|right/i);
});
