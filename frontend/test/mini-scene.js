// A robot of six joints and two pads over a table with one block: small enough to read, real enough to grasp.

import loadMujoco from "@mujoco/mujoco";

import { Sleep } from "../src/viewer/sleep.js";

export const NAMES = { tool_site: "w/tool", pads: ["w/left_pad", "w/right_pad"], robot_prefix: "w/", objects: ["block"] };
export const CONTROL = {
  pieces: 10,
  substeps: 10,
  period: 0.2,
  memory: 14,
  action: 7,
  motors: Array.from({ length: 7 }, (_, column) => ({ column, ramped: column < 6 })),
};

const slides = [
  ["x", "1 0 0"],
  ["y", "0 1 0"],
  ["z", "0 0 1"],
];
const hinges = [
  ["roll", "1 0 0"],
  ["pitch", "0 1 0"],
  ["yaw", "0 0 1"],
];

export const XML = `<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <worldbody>
    <geom name="table" type="box" pos="0 0 -0.02" size="0.5 0.5 0.02" friction="1"/>
    <body name="block" pos="0 0 0.02"><freejoint name="block"/><geom name="block" type="box" size="0.02 0.02 0.02" mass="0.04" friction="1"/></body>
    <body name="w/hand" pos="0 0 0.14" gravcomp="1">
      ${slides.map(([name, axis]) => `<joint name="w/${name}" type="slide" axis="${axis}" armature="0.1" damping="1"/>`).join("")}
      ${hinges.map(([name, axis]) => `<joint name="w/${name}" type="hinge" axis="${axis}" armature="0.01" damping="0.1"/>`).join("")}
      <geom name="w/palm" type="box" size="0.01 0.06 0.01" mass="0.1" contype="0" conaffinity="0"/>
      <site name="w/tool" pos="0 0 -0.1"/>
      <body name="w/left" pos="0 0.035 -0.1" gravcomp="1"><joint name="w/left_finger" type="slide" axis="0 1 0" range="-0.03 0.01" armature="0.1"/>
        <geom name="w/left_pad" type="box" size="0.01 0.004 0.01" mass="0.02" friction="2"/></body>
      <body name="w/right" pos="0 -0.035 -0.1" gravcomp="1"><joint name="w/right_finger" type="slide" axis="0 -1 0" range="-0.03 0.01" armature="0.1"/>
        <geom name="w/right_pad" type="box" size="0.01 0.004 0.01" mass="0.02" friction="2"/></body>
    </body>
  </worldbody>
  <equality><joint joint1="w/right_finger" joint2="w/left_finger" polycoef="0 1 0 0 0"/></equality>
  <actuator>
    ${[...slides, ...hinges].map(([name]) => `<position joint="w/${name}" kp="300" dampratio="1"/>`).join("")}
    <position joint="w/left_finger" kp="300" dampratio="1" forcerange="-5 5"/>
  </actuator>
</mujoco>`;

/** Down to the block, closed around it, up again: joint targets after each control step. */
export const PLAN = [
  ...Array.from({ length: 5 }, (_, i) => [0, 0, -0.004 * (i + 1), 0, 0, 0, 0]),
  ...Array.from({ length: 4 }, () => [0, 0, -0.02, 0, 0, 0, -0.02]),
  ...Array.from({ length: 5 }, (_, i) => [0, 0, -0.02 + 0.01 * (i + 1), 0, 0, 0.05 * i, -0.02]),
];

let engine = null;

export async function loadMini() {
  engine ??= await loadMujoco();
  return { engine, model: engine.MjModel.from_xml_string(XML) };
}

/** Plays the plan from the model's first state and answers it as `replay.bin` would hold it, in which nothing sleeps. */
export function recordPlan(model, plan = PLAN) {
  return Float64Array.from(played(model, plan, () => {}).flat()).buffer;
}

/** Likewise with things that sleep while they rest. */
export function recordSleeping(model, plan = PLAN) {
  const sleep = new Sleep(engine, model);
  const derive = (data) => sleep.derive(data, Int32Array.from(data.tree_asleep));
  const rows = sleep.during(() => played(model, plan, derive));
  sleep.dispose();
  return Float64Array.from([-2, rows[0].length, ...rows.flat()]).buffer;
}

/** `derive`: at the end of each control step; unless it does nothing, rows say what sleeps. */
function played(model, plan, derive) {
  const data = new engine.MjData(model);
  const rows = [];
  derive(data);
  const controlOf = (targets) => [...targets, ...Array(7).fill(0)];
  let before = Array(7).fill(0);
  const asleep = () => (model.opt.enableflags ? data.tree_asleep : []);
  const keep = (control, action) =>
    rows.push([data.time, ...data.qpos, ...data.qvel, ...data.qacc_warmstart, ...control, ...action, ...asleep()]);
  keep(controlOf(before), Array(7).fill(0));
  for (const after of plan) {
    for (let piece = 1; piece <= CONTROL.pieces; piece += 1) {
      const share = piece / CONTROL.pieces;
      data.ctrl.set(after.map((target, i) => (i < 6 ? before[i] + (target - before[i]) * share : target)));
      for (let step = 0; step < CONTROL.substeps; step += 1) engine.mj_step(model, data);
    }
    derive(data);
    keep(controlOf(after), after);
    before = after;
  }
  data.delete();
  return rows;
}
