import assert from "node:assert/strict";
import test from "node:test";

import { helpShortcut, pageShortcuts } from "../src/core/keyboard.js";
import { sayQueue } from "../src/core/live.js";
import { findShortcut } from "../src/core/shortcuts.js";
import { fileName } from "../src/robots/capture.js";
import { plotsOf } from "../src/robots/curves.js";
import { length } from "../src/robots/insight.js";
import { viewerShortcuts } from "../src/robots/shortcuts.js";

test("who waits reads how many are ahead and about how long, if that is known", () => {
  assert.equal(sayQueue({ ahead: 0, expected_wait_s: 0 }), "You are next.");
  assert.equal(sayQueue({ ahead: 1, expected_wait_s: null }), "1 turn is ahead of yours.");
  assert.match(sayQueue({ ahead: 4, expected_wait_s: 12 }), /^4 turns are ahead of yours\. .* 12 s\.$/);
  assert.match(sayQueue({ ahead: 40, expected_wait_s: 300 }), / 5 min\.$/);
});

test("lengths are said in units that fit them", () => {
  assert.equal(length(0), "0 mm");
  assert.equal(length(0.0021), "2.1 mm");
  assert.equal(length(2.7e-5), "27 µm");
  assert.equal(length(3.5e-16), "4e-16 m");
  assert.equal(length(Infinity), "∞");
});

test("a picture or clip is named after the instruction", () => {
  assert.equal(fileName("Put the red cube on the left plate!"), "vla-arena-put-the-red-cube-on-the-left-plate");
  assert.equal(fileName("把红色方块"), "vla-arena");
});

test("every key means one thing, whatever its case", () => {
  const ofViewer = viewerShortcuts({});
  const keys = [...pageShortcuts({}), ...ofViewer, helpShortcut()].flatMap((shortcut) => shortcut.keys.map((key) => key.toLowerCase()));
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(findShortcut(ofViewer, "G"), findShortcut(ofViewer, "g"));
  assert.equal(findShortcut(ofViewer, "1"), undefined, "votes are not the viewer's");
});

const trace = { times: [0, 0.2], tool: [0, 0, 0.1, 0, 0, 0.2], opening: [0.05, 0.05] };
const recording = { count: 2, time: (index) => 0.2 * index, action: () => [0.01, 0, 0, 0, 0, Math.PI, 1] };

const WIDOWX = { pads: ["left", "right"], action_space: "eef_delta_bridge7", action: [] };

test("actions of another robot have curves that it names, and without a gripper nothing opens", () => {
  const action = [{ name: "shoulder", unit: "rad/s" }, { name: "elbow", unit: "rad/s" }];
  const robot = { pads: [], action_space: "joint_velocity_2", action };
  const plots = plotsOf({ left: trace, right: null }, { left: recording, right: null }, robot);
  assert.deepEqual(plots.slice(3).map(({ label, unit }) => [label, unit]), [
    ["Action: shoulder", "rad/s"],
    ["Action: elbow", "rad/s"],
  ]);
  assert.deepEqual(plots[3].lines[0].values, [0.01, 0.01]);
});

test("a side that failed has no curves, the other keeps its own", () => {
  const plots = plotsOf({ left: null, right: trace }, { left: null, right: recording }, WIDOWX);
  assert.equal(plots.length, 11);
  assert.ok(plots.every(({ lines }) => lines.length === 1 && lines[0].side === "right"));
  assert.deepEqual(plots[2].lines[0].values, [100, 200]);
  assert.deepEqual(plots[4].lines[0].values, [10, 10]);
  assert.equal(Math.round(plots[9].lines[0].values[1]), 180);
});

test("a turn that failed has no curves at all", () => {
  assert.deepEqual(plotsOf({ left: null, right: null }, null, WIDOWX), []);
});

test("before the vote there are curves of what is seen, and none of actions", () => {
  const plots = plotsOf({ left: trace, right: trace }, null, WIDOWX);
  assert.equal(plots.length, 4);
  assert.ok(plots.every(({ lines }) => lines.length === 2));
});
