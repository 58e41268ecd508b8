import assert from "node:assert/strict";
import test from "node:test";

import { contactForces } from "../src/viewer/contacts.js";
import { partsOf } from "../src/viewer/model-parts.js";
import { Player } from "../src/viewer/physics.js";
import { controlOf, Recording, rampTargets } from "../src/viewer/recording.js";
import { resimulateEpisode, resimulateSteps } from "../src/viewer/resimulation.js";
import { WIDE_AWAKE } from "../src/viewer/sleep.js";
import { divergence, trace } from "../src/viewer/trace.js";
import { verifyRecording } from "../src/viewer/verification.js";
import { loadMini, NAMES, PLAN, CONTROL, recordPlan, recordSleeping } from "./mini-scene.js";

const LAST = PLAN.length;
const { engine, model } = await loadMini();
const parts = partsOf(model, NAMES);

function playerOf(context, buffer) {
  const player = new Player(engine, model, CONTROL);
  context.after(() => player.dispose());
  player.load(new Recording(buffer, model, CONTROL));
  return player;
}

function finish(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

const row = () => 1 + model.nq + 2 * model.nv + 14 + 7;

/** The same bytes with one number changed. */
function tampered(buffer, record, column, by) {
  const values = new Float64Array(buffer.slice(0));
  values[record * row() + column] += by;
  return values.buffer;
}

test("a recording is read row by row", () => {
  const recording = new Recording(recordPlan(model), model, CONTROL);
  assert.equal(recording.count, LAST + 1);
  assert.ok(Math.abs(recording.time(LAST) - LAST * CONTROL.period) < 1e-9);
  assert.equal(recording.qpos(3).length, model.nq);
  assert.deepEqual([...recording.control(LAST).subarray(0, 7)], PLAN.at(-1));
  assert.deepEqual([...recording.action(0)], Array(7).fill(0));
  assert.throws(() => new Recording(new ArrayBuffer(24), model, CONTROL), /rows of \d+ float64 .* got 24 bytes/);
});

test("joint targets walk in equal pieces, the finger's holds at once", () => {
  const from = Float64Array.of(0, 1, 0, 0, 0, 0, 5);
  const to = Float64Array.of(1, 0, 0, 0, 0, 2, 9);
  assert.deepEqual([...rampTargets(from, to, 5, CONTROL, new Float64Array(7))], [0.5, 0.5, 0, 0, 0, 1, 9]);
});

test("where a motor's command is in the memory, and whether it is ramped, is the manifest's to tell", () => {
  const ramp = { pieces: 2, substeps: 5 };
  const motors = [{ column: 3, ramped: true }, { column: 0, ramped: false }];
  const control = controlOf({ ramp, control_hz: 20, control_size: 4, action_size: 2, motors });
  assert.deepEqual([control.period, control.memory, control.action], [0.05, 4, 2]);
  const [from, to] = [Float64Array.of(1, 2, 3, 4), Float64Array.of(5, 6, 7, 8)];
  assert.deepEqual([...rampTargets(from, to, 1, control, new Float64Array(2))], [6, 5]);
  assert.deepEqual([...rampTargets(from, to, 2, control, new Float64Array(2))], [8, 5]);
});

test("a recording of a robot with other sizes is read by them", () => {
  const row = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const recording = new Recording(Float64Array.from(row).buffer, { nq: 2, nv: 1 }, { memory: 3, action: 1 });
  assert.equal(recording.count, 1);
  assert.deepEqual([...recording.control(0)], [5, 6, 7]);
  assert.deepEqual([...recording.action(0)], [8]);
});

test("a robot without a gripper has parts and a trace, without opening and grasp", (context) => {
  const data = new engine.MjData(model);
  context.after(() => data.delete());
  const bare = partsOf(model, { ...NAMES, pads: [] });
  assert.deepEqual([bare.pads, bare.padThickness, bare.isFinger.some(Boolean)], [[], 0, false]);
  const found = finish(trace(engine, model, data, seen(context), bare));
  assert.deepEqual([Math.max(...found.opening), found.grasp, found.touch.object], [0, null, "block"]);
});

test("physics goes on between records, and is set to each exactly", (context) => {
  const player = playerOf(context, recordPlan(model));
  for (let frame = 0; frame <= LAST * 12; frame += 1) player.seek((frame * CONTROL.period) / 12);
  assert.deepEqual([...player.data.qpos], [...player.recording.qpos(LAST)]);
});

test("going back, jumping and looking at forces give the same pictures as playing through", (context) => {
  const buffer = recordPlan(model);
  const [through, around] = [playerOf(context, buffer), playerOf(context, buffer)];
  for (let time = 0; time < 2.05; time += 0.01) through.seek(time);
  around.seek(2.7);
  around.touching();
  around.seek(0.5);
  around.seek(2.04);
  through.seek(2.04);
  for (let i = 0; i < model.nq; i += 1) assert.ok(Math.abs(through.data.qpos[i] - around.data.qpos[i]) < 1e-12);
});

/** What is seen of the recording: its state every 40 ms, rounded to 0.2 mm and 0.1 degree. */
function seen(context) {
  const player = playerOf(context, recordPlan(model));
  const scale = Array.from({ length: model.nq }, (_, i) => (i < 3 || i > 12 ? 0.0002 : i < 7 ? 0.001 : i < 10 ? 0.0002 : Math.PI / 1800));
  const rows = [];
  for (let row = 0; row <= 5 * LAST; row += 1) {
    player.seek(0.04 * row);
    rows.push(...Array.from(player.data.qpos, (value, i) => Math.round(value / scale[i]) * scale[i]));
  }
  return { rows: Float64Array.from(rows), rate: 25 };
}

test("a trace of what is seen notes tool, opening, objects, the first touch and the grasp", (context) => {
  const data = new engine.MjData(model);
  context.after(() => data.delete());
  const found = finish(trace(engine, model, data, seen(context), parts));
  assert.equal(found.times.length, 5 * LAST + 1);
  assert.ok(Math.abs(found.times.at(-1) - LAST * CONTROL.period) < 1e-9);
  assert.ok(Math.abs(found.opening[0] - (0.07 - 0.008)) < 1e-3);
  assert.ok(found.tool.at(-1) > found.tool[2], "lifted above where it began");
  assert.ok(found.objects.block.at(-1) > 0.03, "the block came along");
  assert.equal(found.touch.object, "block");
  assert.equal(found.grasp.object, "block");
  assert.ok(found.touch.time <= found.grasp.time && found.grasp.time < 2);
});

test("a recording that physics made has no drift", (context) => {
  const { drift } = finish(resimulateSteps(playerOf(context, recordPlan(model))));
  assert.equal(drift.length, LAST);
  assert.ok(Math.max(...drift) < 1e-12);
});

test("forces on a resting block hold its weight", (context) => {
  const player = playerOf(context, recordPlan(model, Array(10).fill(Array(7).fill(0))));
  player.seek(2);
  const rows = contactForces(engine, model, player.touching());
  const up = rows.reduce((sum, value, i) => (i % 6 === 5 ? sum + Math.abs(value) : sum), 0);
  assert.ok(Math.abs(up - 0.04 * 9.81) < 1e-3, `${up} N`);
});

/** The block rests for three steps, asleep, before the hand grasps and lifts it. */
const REST_FIRST = [...Array(3).fill(Array(7).fill(0)), ...PLAN];

test("a block sleeps while it rests, and a recording says when it does", () => {
  const recording = new Recording(recordSleeping(model, REST_FIRST), model, CONTROL);
  const [block, hand] = [0, 1];
  assert.equal(recording.count, REST_FIRST.length + 1);
  assert.ok(recording.sleeps);
  assert.deepEqual([recording.asleep(2)[block], recording.asleep(2)[hand]], [block, WIDE_AWAKE]);
  assert.ok(recording.asleep(REST_FIRST.length)[block] < 0, "lifted");
  assert.deepEqual([new Recording(recordPlan(model), model, CONTROL)].map((other) => [other.sleeps, other.asleep(0).length]), [[false, 0]]);
});

test("physics goes on from any record of a sleeping block, bit for bit, and from the first through all of them", (context) => {
  const player = playerOf(context, recordSleeping(model, REST_FIRST));
  const { drift } = finish(resimulateSteps(player));
  assert.equal(Math.max(...drift), 0);
  assert.equal(Math.max(...finish(resimulateEpisode(model, player))), 0);
  for (const record of [1, 4, 9]) {
    player.set(record);
    player.finishStep();
    player.goOn();
    player.finishStep();
    assert.deepEqual([...player.data.qpos], [...player.recording.qpos(record + 2)]);
    assert.deepEqual([...player.data.qvel], [...player.recording.qvel(record + 2)]);
    assert.deepEqual([...player.data.qacc_warmstart], [...player.recording.warmstart(record + 2)]);
    assert.deepEqual([...player.data.tree_asleep], [...player.recording.asleep(record + 2)]);
  }
});

test("forces on a sleeping block hold its weight, and looking at them does not wake it", (context) => {
  const player = playerOf(context, recordSleeping(model, Array(10).fill(Array(7).fill(0))));
  for (const time of [1, 1.07]) {
    player.seek(time);
    const rows = contactForces(engine, model, player.touching());
    const up = rows.reduce((sum, value, i) => (i % 6 === 5 ? sum + Math.abs(value) : sum), 0);
    assert.ok(Math.abs(up - 0.04 * 9.81) < 0.01, `${up} N`);
    assert.equal(player.data.tree_asleep[0], 0);
  }
});

test("recordings with sleep and without it play side by side", (context) => {
  const [one, other] = [playerOf(context, recordSleeping(model, REST_FIRST)), playerOf(context, recordPlan(model, REST_FIRST))];
  for (let frame = 0; frame <= REST_FIRST.length * 10; frame += 1) {
    for (const player of [one, other]) player.seek((frame * CONTROL.period) / 10);
  }
  for (const player of [one, other]) assert.deepEqual([...player.data.qpos], [...player.recording.qpos(REST_FIRST.length)]);
});

test("a sleeping block that was moved by a millimetre in one record is found out", (context) => {
  const values = new Float64Array(recordSleeping(model, REST_FIRST));
  values[2 + 2 * values[1] + 1] += 0.001;
  const player = playerOf(context, values.buffer);
  assert.equal(verifyRecording(finish(resimulateEpisode(model, player)), finish(resimulateSteps(player))).verdict, "different");
});

test("a replay whose rows are too short for the scene is refused", () => {
  assert.throws(() => new Recording(Float64Array.of(-2, 5, 0, 0).buffer, model, CONTROL), /at least \d+ numbers; the replay says 5/);
});

test("a record that physics made is confirmed", (context) => {
  const player = playerOf(context, recordPlan(model));
  const whole = finish(resimulateEpisode(model, player));
  const steps = finish(resimulateSteps(player));
  assert.equal(verifyRecording(whole, steps).verdict, "same");
});

for (const [what, column] of [
  ["a millimetre added to the block's place", () => 1],
  ["a block turned by a few degrees", () => 1 + 4],
  ["a target that was never commanded", () => 1 + model.nq + 2 * model.nv],
]) {
  test(`a tampered record fails: ${what}`, (context) => {
    const player = playerOf(context, tampered(recordPlan(model), 6, column(), column() === 5 ? 0.05 : 0.001));
    const whole = finish(resimulateEpisode(model, player));
    const steps = finish(resimulateSteps(player));
    const { verdict, record } = verifyRecording(whole, steps);
    assert.equal(verdict, "different");
    assert.ok(record === 6 || record === 7, `record ${record}`);
  });
}

const steps = (drift, spread = drift.map(() => 0)) => ({ drift, spread });

test("rounding that grows over a whole episode is told apart from a step that does not follow", () => {
  assert.equal(verifyRecording([1e-9, 5e-4], steps([1e-9, 2e-6])).verdict, "follows");
  assert.deepEqual(verifyRecording([0, NaN], steps([0, NaN])).record, 2);
});

test("a delicate step may be off as far as rounding can take it, and no further", () => {
  assert.equal(verifyRecording([0, 6e-4], steps([0, 6e-4], [0, 4e-4])).verdict, "follows");
  const { verdict, record, step } = verifyRecording([0, 6e-4], steps([0, 6e-4], [0, 1e-7]));
  assert.deepEqual([verdict, record, step], ["different", 2, 6e-4]);
});

test("a smooth step ends as close together as it starts", (context) => {
  assert.ok(playerOf(context, recordPlan(model)).spread(2, [1e-8, 1e-7, 1e-6]) < 2e-5);
});

test("two sides part when tools or an object are apart", () => {
  const side = (tool, block) => ({ times: [0, 0.02, 0.04], tool, objects: { block } });
  const still = Array(9).fill(0);
  assert.equal(divergence(side(still, still), side(still, still)), null);
  assert.equal(divergence(side(still, still), side([0, 0, 0, 0, 0, 0.01, 0, 0, 0.03], still)), 0.04);
  assert.equal(divergence(side(still, still), side(still, [0, 0, 0, 0.05, 0, 0, 0.05, 0, 0])), 0.02);
});

test("a scene without the parts that the manifest names is refused", () => {
  assert.throws(() => partsOf(model, { ...NAMES, tool_site: "w/nose" }), /has no w\/nose; it has w\/tool/);
});
