import assert from "node:assert/strict";
import { test } from "node:test";

import { shownOf, told } from "../src/wormarena/live-games.js";

/** @param {string} name @param {string | null} [death] */
const side = (name, death = null) => ({ name, score: 0, move: "LEFT", rationale: "", death, result: null });
/** @param {string} gameId @param {object} [changes] @returns {import("../src/wormarena/live-games.js").LiveGame} */
const game = (gameId, changes = {}) => ({
  gameId, width: 5, height: 5, maxRounds: 10, round: 0, apples: [], ended: false, replay: null,
  snakes: { 0: [[0, 1]], 1: [[3, 3]] }, sides: { 0: side("a"), 1: side("b") }, ...changes,
});
/** @param {import("../src/wormarena/live-games.js").LiveGame[]} games */
const ids = (games) => games.map(({ gameId }) => gameId);

test("a message about a known game replaces it, and a new game comes first", () => {
  const first = told([], { type: "snapshot", games: [game("a")] });
  const second = told(first, { type: "game", game: game("b") });
  const third = told(second, { type: "game", game: game("a", { round: 4 }) });
  assert.deepEqual(ids(third), ["b", "a"]);
  assert.equal(third[1].round, 4);
});

test("games that have ended stand below, and only the last three stay", () => {
  const games = ["a", "b", "c", "d"].map((id) => game(id, { ended: true }));
  const shown = told([], { type: "snapshot", games: [...games, game("e")] });
  assert.deepEqual(ids(shown), ["e", "d", "c", "b"]);
});

test("a snapshot forgets what it does not tell", () => {
  assert.deepEqual(told([game("a")], { type: "snapshot", games: [] }), []);
});

test("a death is marked where the head would be", () => {
  const shown = shownOf(game("a", { sides: { 0: side("a", "wall"), 1: side("b") } }));
  assert.deepEqual(shown.deaths, { 0: [-1, 1] });
});
