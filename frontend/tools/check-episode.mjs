// What the page's engine makes of a stored episode, without a browser: `node check-episode.mjs BUNDLE_FOLDER REPLAY_BIN`
// prints one JSON object: the verdict, the largest error of a step and of the whole [m], first touch and grasp.

import { readFile } from "node:fs/promises";
import path from "node:path";

import loadMujoco from "@mujoco/mujoco";

import { EngineHost } from "../src/viewer/engine-host.js";
import { controlOf, Recording } from "../src/viewer/recording.js";
import { verifyRecording } from "../src/viewer/verification.js";

const [folder, replay] = process.argv.slice(2);
const bytesOf = async (file) => new Uint8Array(await readFile(file));
const manifest = JSON.parse(await readFile(path.join(folder, "manifest.json"), "utf8"));
const control = controlOf(manifest);
const host = new EngineHost(await loadMujoco());
const sizes = host.load({
  xml: await readFile(path.join(folder, manifest.xml), "utf8"),
  assets: await Promise.all(
    manifest.assets.map(async ({ name, file }) => ({ name, bytes: await bytesOf(path.join(folder, file)) })),
  ),
  names: manifest,
  control,
});
const { buffer } = await bytesOf(replay);
const recording = new Recording(buffer, sizes, control);
const rows = Float64Array.from(Array.from({ length: recording.count }, (_, record) => [...recording.qpos(record)]).flat());
const { touch, grasp } = await host.trace({ rows, rate: manifest.control_hz });
const verdict = verifyRecording(await host.resimulateEpisode({ buffer }), await host.resimulateSteps({ buffer }));
console.log(JSON.stringify({ ...verdict, touch, grasp }));
