// What the page's engine makes of a scene, without a browser: `node check-scene.mjs FOLDER` reads scene.xml, the meshes beside
// it and state.json ({qpos, ctrl, steps, polygons}), and prints {start, end, polygons}: where the geoms are [m]
// before and after so many steps, and the vertices of the polygons of meshes.

import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import loadMujoco from "@mujoco/mujoco";

import { orderPolygons } from "../src/viewer/polygons.js";

const [folder] = process.argv.slice(2);
const mujoco = await loadMujoco();
const files = new mujoco.MjVFS();
for (const name of await readdir(folder)) {
  if (name.endsWith(".stl")) files.addBuffer(name, new Uint8Array(await readFile(path.join(folder, name))));
}
const model = mujoco.MjModel.from_xml_string(await readFile(path.join(folder, "scene.xml"), "utf8"), files);
const { qpos, ctrl, steps, polygons } = JSON.parse(await readFile(path.join(folder, "state.json"), "utf8"));
orderPolygons(model, polygons);
const data = new mujoco.MjData(model);
data.qpos.set(qpos);
data.ctrl.set(ctrl);
mujoco.mj_forward(model, data);
const start = Array.from(data.geom_xpos);
for (let step = 0; step < steps; step += 1) mujoco.mj_step(model, data);
mujoco.mj_kinematics(model, data);
console.log(JSON.stringify({ start, end: Array.from(data.geom_xpos), polygons: Array.from(model.mesh_polyvert) }));
