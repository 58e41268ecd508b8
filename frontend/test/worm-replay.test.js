import assert from "node:assert/strict";
import { test } from "node:test";

import { deathsAt, decisiveOf, placeAsked, positionsOf } from "../src/wormarena/replay.js";

/** @param {Record<string, number>} scores @param {number} [round] after which @param {Record<string, boolean>} [alive] */
const state = (scores, round = -1, alive = { 0: true, 1: true }) => ({
  snakes: { 0: [[1, 2 + round]], 1: [[0, 3]] },
  apples: [],
  alive,
  scores,
});
/** @param {string} a @param {string} b */
const moves = (a, b) => ({ 0: { move: a }, 1: { move: b } });
/** @param {string} result */
const player = (result) => ({ result, final_score: 0 });
const players = { 0: player("won"), 1: player("lost") };
const died = {
  initial_state: state({ 0: 0, 1: 0 }),
  frames: [
    { round: 0, state: state({ 0: 1, 1: 0 }, 0), moves: moves("UP", "UP") },
    { round: 1, state: state({ 0: 1, 1: 0 }, 1, { 0: true, 1: false }), moves: moves("UP", "LEFT") },
  ],
  players,
};

test("a replay begins before the first round and has a place for each", () => {
  assert.deepEqual(positionsOf(died).map(({ round }) => round), [null, 0, 1]);
});

test("a death is marked where the head would have been", () => {
  const shown = positionsOf(died);
  assert.deepEqual(shown[2].deaths, { 1: [-1, 3] });
  assert.deepEqual(deathsAt(shown), [2]);
  assert.equal(decisiveOf(died, shown), 2);
});

test("without a death the move that took the lead for good decides", () => {
  const scores = [{ 0: 1, 1: 0 }, { 0: 1, 1: 1 }, { 0: 2, 1: 1 }, { 0: 3, 1: 1 }];
  const frames = scores.map((each, round) => ({ round, state: state(each, round), moves: moves("UP", "UP") }));
  const replay = { initial_state: state({ 0: 0, 1: 0 }), frames, players };
  assert.equal(decisiveOf(replay, positionsOf(replay)), 3);
});

test("a tie without a death is decided by its last round", () => {
  const tied = { ...died, frames: died.frames.slice(0, 1), players: { 0: player("tied"), 1: player("tied") } };
  assert.equal(decisiveOf(tied, positionsOf(tied)), 1);
});

test("an address asks for a round; what it cannot have shows the start or the end", () => {
  const shown = positionsOf(died);
  assert.equal(placeAsked("?round=1", shown), 2);
  assert.equal(placeAsked("?round=77", shown), 2);
  assert.equal(placeAsked("?round=x", shown), 0);
  assert.equal(placeAsked("", shown), 0);
});

test("a file without states shows empty boards", () => {
  const shown = positionsOf({ frames: [{ round: 0 }], players });
  assert.deepEqual(shown[1].state.snakes, {});
});

test("a file with the states before the rounds shows those after them", () => {
  const [start, last] = [state({ 0: 0, 1: 0 }), state({ 0: 0, 1: 0 }, 0, { 0: true, 1: false })];
  const frames = [
    { round: 0, state: start, moves: moves("UP", "LEFT") },
    { round: 1, state: last, moves: moves("UP", "LEFT") },
  ];
  const shown = positionsOf({ initial_state: start, frames, players });
  assert.deepEqual(shown.map(({ round }) => round), [null, 0]);
  assert.deepEqual(shown[1].deaths, { 1: [-1, 3] });
});
