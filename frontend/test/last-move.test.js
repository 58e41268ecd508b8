import assert from "node:assert/strict";
import test from "node:test";

import { lastMove } from "../src/robots/last-move.js";

const track = (...rows) => ({ rate: 25, count: rows.length, qpos: (index) => Float64Array.from(rows[index]) });

test("the last move is the last row that differs visibly from the one before", () => {
  assert.equal(lastMove(track([0, 0], [0.1, 0], [0.2, 0], [0.2, 0], [0.2, 0])), 2 / 25);
});

test("trembling is no move", () => {
  assert.equal(lastMove(track([0, 0], [0, 0.1], [0.004, 0.1], [0, 0.1])), 1 / 25);
});

test("what never moves has its last move at its start", () => {
  assert.equal(lastMove(track([1, 2], [1, 2])), 0);
  assert.equal(lastMove(track([1, 2])), 0);
});
