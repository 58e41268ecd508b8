import assert from "node:assert/strict";
import test from "node:test";

import { VoteHold } from "../src/core/hold.js";

const wait = (ms) => new Promise((resume) => setTimeout(resume, ms));

/** A hold of so many seconds, with what it has sent. */
function holding(seconds) {
  const sent = [];
  const hold = new VoteHold(seconds, { send: async ({ battleId, vote }) => sent.push([battleId, vote]) > 0, changed() {} });
  return { hold, sent };
}

test("a vote is sent once its time is over, and not before", async () => {
  const { hold, sent } = holding(0.05);
  hold.hold({ battleId: "one", vote: "tie" });
  assert.deepEqual(sent, []);
  assert.equal(hold.left, 1);
  while (sent.length === 0) await wait(5);
  assert.deepEqual(sent, [["one", "tie"]]);
  assert.equal(hold.held, null);
});

test("a vote that is taken back is never sent", async () => {
  const { hold, sent } = holding(0.02);
  hold.hold({ battleId: "one", vote: "tie" });
  assert.equal(hold.take().vote, "tie");
  hold.hold({ battleId: "two", vote: "both_bad" });
  while (sent.length === 0) await wait(5);
  assert.deepEqual(sent, [["two", "both_bad"]]);
  assert.equal(hold.take(), null);
});

test("another vote replaces the one that is held, and its time begins anew", async () => {
  const { hold, sent } = holding(60);
  hold.hold({ battleId: "one", vote: "tie" });
  hold.hold({ battleId: "one", vote: "left_better" });
  assert.equal(await hold.flush(), true);
  assert.equal(await hold.flush(), null);
  assert.deepEqual(sent, [["one", "left_better"]]);
});
