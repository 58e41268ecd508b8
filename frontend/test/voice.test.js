// What the page of voice battles says of both calls, and the worklet that carries their audio.

import assert from "node:assert/strict";
import { test } from "node:test";

import { reduce } from "../src/core/store.js";
import { sayAll } from "../src/voice/outcome.js";

const agent = { provider: "local", architecture: "cascade", stt: "Whisper", llm: "", tts: "hibari" };
const outcome = { evaluation: "partial", p50_latency_ms: 1624, p95_latency_ms: 2880, ttfb_avg_ms: 1320, task_success: true, total_turns: 3, slots_right: 2, slots_required: 4 };

test("figures say that they are being computed until they are there", () => {
  for (const evaluation of ["none", "computing"]) {
    const said = sayAll(agent, { ...outcome, evaluation });
    assert.equal(said.latency, "being computed ...");
    assert.equal(said.success, "being computed ...");
    assert.equal(said.stack, "Whisper · hibari");
    assert.equal(said.turns, "3");
  }
  assert.equal(sayAll(agent, { ...outcome, evaluation: "failed" }).latency, "could not be computed");
});

test("waits are told in seconds, and slots with how many there are", () => {
  const said = sayAll(agent, outcome);
  assert.equal(said.latency, "1.6 s, at worst 2.9 s");
  assert.equal(said.first, "1.3 s");
  assert.equal(said.slots, "2 of 4");
  assert.equal(said.success, "yes");
  assert.equal(sayAll(agent, { ...outcome, p50_latency_ms: null }).latency, "no answer to measure");
});

test("an evaluation after the vote replaces the turns", () => {
  const battle = { battle_id: "battle_1", seq: 4, turns: [{ turn_id: "turn_1", old: true }], status: "voted" };
  const state = { battle, chunks: {}, needsSnapshot: false };
  const next = reduce(state, { type: "battle.evaluated", seq: 5, turns: [{ turn_id: "turn_1" }] }, { chunkType: "rollout.frames" });
  assert.deepEqual(next.battle.turns, [{ turn_id: "turn_1" }]);
  assert.equal(next.needsSnapshot, false);
});

let loaded = 0;

/** The worklet's processors, as a browser at this rate would run them. @param {number} rate [Hz] */
async function processors(rate) {
  const found = {};
  globalThis.sampleRate = rate;
  globalThis.AudioWorkletProcessor = class {
    port = { sent: [], postMessage: (message) => this.port.sent.push(message), onmessage: null };
  };
  globalThis.registerProcessor = (name, processor) => {
    found[name] = processor;
  };
  loaded += 1;
  await import(`../src/voice/worklet.js?${loaded}`);
  return found;
}

for (const rate of [16000, 44100, 48000]) {
  test(`at ${rate} Hz a second of the microphone gives a second of audio, and a tone stays what it is`, async () => {
    const { microphone: Microphone } = await processors(rate);
    const microphone = new Microphone();
    for (let at = 0; at < rate; at += 128) {
      const block = Float32Array.from({ length: 128 }, (_, index) => 0.5 * Math.sin((2 * Math.PI * 200 * (at + index)) / rate));
      microphone.process([[block]]);
    }
    const heard = microphone.port.sent.flatMap((piece) => [...piece]);
    assert.ok(Math.abs(heard.length - 16000) <= 640 + 2, `${heard.length} samples`);
    const crossings = heard.filter((sample, index) => index > 0 && sample >= 0 !== heard[index - 1] >= 0).length;
    assert.ok(Math.abs(crossings - 400) <= 20, `${crossings} crossings of a tone of 200 Hz`);
    assert.ok(Math.max(...heard) > 14000);
  });

  test(`at ${rate} Hz a steady stream is played without a gap, and "clear" drops what is left`, async () => {
    const { loudspeaker: Loudspeaker } = await processors(rate);
    const loudspeaker = new Loudspeaker();
    const output = () => new Float32Array(128);
    let owed = 0;
    for (let piece = 0; piece < 30; piece += 1) {
      loudspeaker.take(new Int16Array(1600).fill(8000));
      for (owed += rate / 10; owed >= 128; owed -= 128) {
        const block = output();
        loudspeaker.process([], [[block]]);
        if (piece > 3) assert.ok(Math.abs(block[127] - 8000 / 32768) < 0.01);
      }
    }
    assert.equal(loudspeaker.gaps, 0);
    loudspeaker.clear();
    const silent = output();
    loudspeaker.process([], [[silent]]);
    assert.ok(silent.every((sample) => sample === 0));
  });
}

test("what has piled up while a tab was asleep is not heard late", async () => {
  const { loudspeaker: Loudspeaker } = await processors(48000);
  const loudspeaker = new Loudspeaker();
  for (let piece = 0; piece < 50; piece += 1) loudspeaker.take(new Int16Array(1600).fill(piece === 49 ? 16000 : 8000));
  let waited = 0;
  for (const block = new Float32Array(128); block[127] < 0.4 && waited < 48000; waited += 128) loudspeaker.process([], [[block]]);
  assert.ok(waited <= 0.8 * 48000, `the newest piece is heard after ${waited / 48000} s`);
});
