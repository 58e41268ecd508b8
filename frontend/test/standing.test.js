import assert from "node:assert/strict";
import test from "node:test";

import { groundOf, nameOfGround, Starts } from "../src/robots/standing.js";
import { ApiError } from "../src/core/api.js";

const turn = (seq, status, more) => ({ turn_id: `turn_${seq}`, seq, status, start: "continue", exploration: null, ...more });
const battle = (...turns) => ({ battle_id: "battle_1", turns });

test("before the first turn both sides stand where the battle begins", () => {
  assert.equal(groundOf(battle(), undefined), null);
  const first = turn(1, "queued");
  assert.equal(groundOf(battle(first), first), null);
});

test("a follow-up turn begins where the last turn that both completed ended", () => {
  const turns = [turn(1, "completed"), turn(2, "failed"), turn(3, "queued")];
  assert.equal(groundOf(battle(...turns), turns[2]).turn, turns[0]);
  assert.equal(nameOfGround(battle(), { turn: turns[0], record: null }), "turn_1 end");
});

test("a turn from the first state begins where the battle began", () => {
  const turns = [turn(1, "completed"), turn(2, "running", { start: "reset" })];
  assert.equal(groundOf(battle(...turns), turns[1]), null);
});

test("a fork begins at the record from which it goes on", () => {
  const turns = [turn(1, "completed"), turn(2, "queued", { exploration: { turn_id: "turn_1", record: 4, seed: 1 } })];
  assert.deepEqual(groundOf(battle(...turns), turns[1]), { turn: turns[0], record: 4 });
});

const made = { battle_id: "battle_1", start: "row", left_out: ["carrot"] };
const notYet = { battle_id: "battle_1", start: null, left_out: null };

test("a start is asked for until it is made, once for each battle", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const answers = [notYet, new ApiError(0, { code: "unreachable", detail: "" }), notYet, made];
  let asked = 0;
  const start = async () => {
    const answer = answers[asked++];
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const starts = new Starts({ start });
  const [one, same] = [starts.want("battle_1"), starts.want("battle_1")];
  for (let i = 0; i < 30; i += 1) {
    await new Promise(setImmediate);
    context.mock.timers.tick(1_000);
  }
  assert.deepEqual(await Promise.all([one, same]), [made, made]);
  assert.equal(asked, 4);
});

test("a battle that nobody wants any more is asked about no longer", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const asked = [];
  const start = async (id) => {
    asked.push(id);
    return id === "battle_2" ? made : notYet;
  };
  const starts = new Starts({ start });
  const old = starts.want("battle_1");
  await new Promise(setImmediate);
  assert.equal(await starts.want("battle_2"), made);
  context.mock.timers.tick(1_000);
  assert.equal(await old, null);
  assert.deepEqual(asked, ["battle_1", "battle_2"]);
});

test("who may not be told a start stops asking", async () => {
  const refused = new ApiError(404, { code: "not_found", detail: "" });
  const starts = new Starts({ start: () => Promise.reject(refused) });
  assert.equal(await starts.want("battle_1"), null);
});
