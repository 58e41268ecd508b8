// The microphone and the loudspeaker of a call, with a browser's parts by script.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Audio, devices } from "../src/voice/audio.js";

const BEFORE = { AudioContext: globalThis.AudioContext, AudioWorkletNode: globalThis.AudioWorkletNode };
/** @type {any} */
let browser;

class Context {
  audioWorklet = { addModule: async () => {} };
  destination = {};
  resume = async () => {};
  close = () => {};
  createMediaStreamSource = () => ({ connect: () => {} });
  setSinkId = async (/** @type {string} */ id) => {
    browser.speaker = id;
  };
}

class Node {
  port = { postMessage: () => {}, onmessage: null };
  /** @param {unknown} _ @param {string} name */
  constructor(_, name) {
    browser.nodes[name] = this;
  }
  connect() {}
}

beforeEach(() => {
  const tracks = [{ stop: () => (browser.stopped += 1) }];
  browser = { nodes: {}, speaker: "", asked: null, refuses: false, stopped: 0, listed: [] };
  const mediaDevices = {
    getUserMedia: async (/** @type {unknown} */ asked) => {
      browser.asked = asked;
      if (browser.refuses) throw new Error("NotAllowedError");
      return { getTracks: () => tracks };
    },
    enumerateDevices: async () => browser.listed,
  };
  Object.defineProperty(globalThis, "navigator", { value: { mediaDevices }, configurable: true });
  Object.assign(globalThis, { AudioContext: Context, AudioWorkletNode: Node });
});

afterEach(() => {
  Object.assign(globalThis, BEFORE);
});

/** @param {{microphone: string, speaker: string}} chosen */
async function opened(chosen = { microphone: "", speaker: "" }) {
  /** @type {Int16Array[]} */
  const heard = [];
  const audio = new Audio();
  await audio.open("worklet.js", (piece) => heard.push(piece), chosen);
  const say = () => browser.nodes.microphone.port.onmessage({ data: Int16Array.of(5, -5, 9) });
  return { audio, heard, say };
}

test("who has muted the microphone sends silence of the same length, and is heard again after", async () => {
  const { audio, heard, say } = await opened();
  say();
  audio.muted = true;
  say();
  audio.muted = false;
  say();
  assert.deepEqual(heard.map((piece) => [...piece]), [[5, -5, 9], [0, 0, 0], [5, -5, 9]]);
});

test("the chosen microphone and loudspeaker are used", async () => {
  await opened({ microphone: "headset", speaker: "monitor" });
  assert.deepEqual(browser.asked.audio.deviceId, { exact: "headset" });
  assert.equal(browser.asked.audio.echoCancellation, true);
  assert.equal(browser.speaker, "monitor");
});

test("without a choice the browser's usual devices are used", async () => {
  await opened();
  assert.equal("deviceId" in browser.asked.audio, false);
  assert.equal(browser.speaker, "");
});

test("a refused microphone is no error: words are typed", async () => {
  browser.refuses = true;
  const { audio } = await opened();
  assert.equal(audio.hasMicrophone, false);
});

test("closing lets go of the microphone", async () => {
  const { audio } = await opened();
  audio.close();
  assert.equal(browser.stopped, 1);
});

test("only devices with names are offered, each in its list", async () => {
  const headset = { deviceId: "1", label: "Headset", kind: "audioinput" };
  const box = { deviceId: "2", label: "Box", kind: "audiooutput" };
  browser.listed = [headset, box, { deviceId: "3", label: "", kind: "audioinput" }, { deviceId: "4", label: "Camera", kind: "videoinput" }];
  assert.deepEqual(await devices(), { microphones: [headset], speakers: [box] });
});
