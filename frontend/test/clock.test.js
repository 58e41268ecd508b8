import assert from "node:assert/strict";
import test from "node:test";

import { Clock } from "../src/viewer/clock.js";

function clockOf(duration, { growing = false } = {}) {
  const clock = new Clock(0.2);
  clock.extend(duration, growing);
  return clock;
}

test("time passes at the chosen speed, and only while playing", () => {
  const clock = clockOf(10);
  clock.advance(1);
  assert.equal(clock.time, 0);
  clock.setSpeed(2);
  clock.play();
  clock.advance(1.5);
  assert.equal(clock.time, 3);
});

test("it stops at the end of a finished recording", () => {
  const clock = clockOf(1);
  clock.play();
  clock.advance(5);
  assert.equal(clock.time, 1);
  assert.equal(clock.playing, false);
});

test("play at the end starts again from the beginning", () => {
  const clock = clockOf(1);
  clock.seek(1);
  clock.play();
  assert.equal(clock.time, 0);
  assert.equal(clock.playing, true);
});

test("a loop goes on from the beginning by what was left over", () => {
  const clock = clockOf(1);
  clock.setLoop(true);
  clock.play();
  clock.advance(1.25);
  assert.equal(clock.time, 0.25);
  assert.equal(clock.playing, true);
});

test("it waits at the end of a growing recording and goes on when more has come", () => {
  const clock = clockOf(1, { growing: true });
  clock.play();
  clock.advance(2);
  assert.equal(clock.time, 1);
  assert.equal(clock.waiting, true);
  clock.extend(3, true);
  assert.equal(clock.waiting, false);
  clock.advance(1);
  assert.equal(clock.time, 2);
});

test("a step pauses on the neighbouring record", () => {
  const clock = clockOf(2);
  clock.seek(0.5);
  clock.play();
  clock.step(1);
  assert.equal(clock.record, 3);
  assert.equal(clock.playing, false);
  clock.seek(0.5);
  clock.step(-1);
  assert.equal(clock.record, 2, "from between two records, back goes to the one just passed");
  clock.step(-1);
  assert.equal(clock.record, 1);
});

test("steps and seeks stay inside the recording", () => {
  const clock = clockOf(0.4);
  clock.step(-1);
  assert.equal(clock.time, 0);
  clock.seek(9);
  assert.equal(clock.time, 0.4);
  clock.step(1);
  assert.equal(clock.record, clock.lastRecord);
});

test("every record's own time is counted as that record", () => {
  const clock = clockOf(10);
  for (let record = 0; record <= 50; record += 1) {
    clock.seek(record * 0.2);
    assert.equal(clock.record, record);
  }
});

test("listeners are told of every change", () => {
  const clock = clockOf(1);
  let told = 0;
  clock.addEventListener("change", () => (told += 1));
  clock.play();
  clock.advance(0.1);
  clock.pause();
  assert.equal(told, 3);
});

test("a speed that stands still or runs backwards is refused", () => {
  assert.throws(() => clockOf(1).setSpeed(0), RangeError);
});

function live() {
  const clock = new Clock(0.2);
  clock.extend(0.2, true);
  clock.follow();
  return clock;
}

/** Plays `seconds` in pictures of a display. */
function pass(clock, seconds) {
  for (let left = Math.round(seconds * 100); left > 0; left -= 1) clock.advance(0.01);
}

const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-6, `${one} is not ${other}`);

test("a live turn is played at its own speed, a moment behind its edge, however unevenly it comes", () => {
  const clock = live();
  pass(clock, 0.07);
  assert.equal(clock.time, 0, "it holds the first step for a moment");
  assert.ok(clock.waiting);
  pass(clock, 0.13);
  for (let step = 2; step < 12; step += 1) {
    clock.extend(0.2 * step, true);
    const before = clock.time;
    const late = step % 2 ? 0.25 : 0.15;
    pass(clock, late);
    near(clock.time, before + late);
  }
});

test("a step that comes in time is on the screen within a tenth of a second", () => {
  const clock = live();
  for (let step = 2; step < 12; step += 1) {
    pass(clock, 0.2);
    clock.extend(0.2 * step, true);
    assert.ok(0.2 * (step - 1) - clock.time < 0.1);
  }
});

test("each interruption lengthens the wait for the next start, and each turn shortens it again", () => {
  const clock = live();
  const waits = () => {
    const before = clock.time;
    clock.extend(clock.duration + 0.2, true);
    let waited = 0;
    for (; clock.time === before; waited += 1) clock.advance(0.01);
    pass(clock, 0.3);
    return (waited - 1) / 100;
  };
  pass(clock, 0.5);
  near(waits(), 0.15);
  near(waits(), 0.31);
  near(waits(), 0.63);
  near(waits(), 0.63);
  clock.follow();
  near(waits(), 0.31);
});

test("a stall holds the picture, which goes on once there is enough again", () => {
  const clock = live();
  clock.extend(0.4, true);
  pass(clock, 3);
  near(clock.time, 0.4);
  assert.ok(clock.waiting);
  clock.extend(0.6, true);
  pass(clock, 0.15);
  near(clock.time, 0.4);
  pass(clock, 0.1);
  near(clock.time, 0.5);
});

test("who comes back to a live turn after a while joins it where it is, not in fast motion", () => {
  const clock = live();
  clock.extend(6, true);
  clock.advance(0.01);
  near(clock.time, 5.93);
  pass(clock, 0.05);
  near(clock.time, 5.98);
});

test("an arena that releases at twice the robots' speed is followed at twice the speed", () => {
  const clock = live();
  clock.pace = 2;
  clock.extend(1, true);
  pass(clock, 0.17);
  near(clock.time, 0.2);
});

test("when a live turn has ended it is played to its end, and not again", () => {
  const clock = live();
  clock.extend(2, true);
  clock.advance(0.01);
  clock.extend(2, false);
  assert.equal(clock.live, false);
  pass(clock, 0.05);
  assert.ok(clock.playing);
  pass(clock, 3);
  assert.equal(clock.time, 2);
  assert.equal(clock.playing, false);
});

test("who looks back during a live turn is not pulled to its edge", () => {
  const clock = live();
  clock.extend(2, true);
  clock.seek(0.4);
  clock.extend(3, true);
  clock.advance(0.1);
  assert.ok(Math.abs(clock.time - 0.5) < 1e-9);
  clock.extend(3, false);
  clock.advance(0.1);
  assert.ok(Math.abs(clock.time - 0.6) < 1e-9);
});

test("a turn that is no longer growing cannot be followed", () => {
  const clock = live();
  clock.extend(1, false);
  clock.follow();
  assert.equal(clock.live, false);
});

test("while it waits for the next step nobody is told, so that nothing is drawn", () => {
  const clock = live();
  pass(clock, 0.3);
  assert.equal(clock.waiting, true);
  let told = 0;
  clock.addEventListener("change", () => (told += 1));
  for (let frame = 0; frame < 10; frame += 1) clock.advance(0.016);
  assert.equal(told, 0);
  clock.extend(0.4, true);
  clock.advance(0.2);
  assert.equal(told, 2);
});

test("a clock that was disposed of stands still and tells nobody", () => {
  const clock = clockOf(1);
  clock.play();
  let told = 0;
  clock.addEventListener("change", () => (told += 1));
  clock.dispose();
  clock.advance(0.1);
  clock.seek(0.5);
  assert.equal(told, 0);
  assert.equal(clock.playing, false);
});
