// What the page's engine makes of a scene, without a browser: `node check-scene.mjs FOLDER` reads scene.xml, the meshes beside
// it and state.json ({qpos, ctrl, steps}), and prints {start, end}: where the geoms are [m] before and after so many steps.

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import loadMujoco from "@mujoco/mujoco";

const [folder] = process.argv.slice(2);
const mujoco = await loadMujoco();
const files = new mujoco.MjVFS();
for (const name of await readdir(folder)) {
  if (name.endsWith(".stl")) files.addBuffer(name, new Uint8Array(await readFile(path.join(folder, name))));
}
const model = mujoco.MjModel.from_xml_string(await readFile(path.join(folder, "scene.xml"), "utf8"), files);
const data = new mujoco.MjData(model);
const { qpos, ctrl, steps } = JSON.parse(await readFile(path.join(folder, "state.json"), "utf8"));
data.qpos.set(qpos);
data.ctrl.set(ctrl);
mujoco.mj_forward(model, data);
const start = Array.from(data.geom_xpos);
for (let step = 0; step < steps; step += 1) mujoco.mj_step(model, data);
mujoco.mj_kinematics(model, data);
console.log(JSON.stringify({ start, end: Array.from(data.geom_xpos) }));
