// Bundles the pages' scripts and the MuJoCo worker into static/dist, with the engine's WebAssembly beside them.

import { copyFile, mkdir, rm, writeFile, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

import * as esbuild from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(here, "../static/dist");
const resolve = createRequire(import.meta.url).resolve;
const watch = process.argv.includes("--watch");

const NOTICE = `Third-party software in these files:

@mujoco/mujoco (mujoco-worker.js, mujoco.wasm), Copyright DeepMind Technologies Limited, Apache License 2.0:
https://www.apache.org/licenses/LICENSE-2.0

markdown-it, with argparse, entities, linkify-it, mdurl, punycode.js and uc.micro (text.js), MIT, Python-2.0 and BSD-2-Clause
licences, the first of which follows, and then those of highlight.js (text-code.js), KaTeX (text-formulas.js) and three.js
(battle.js):

`;

const options = {
  entryPoints: {
    battle: path.join(here, "src/robots/main.js"),
    text: path.join(here, "src/text/main.js"),
    "text-code": path.join(here, "src/text/code.js"),
    "text-formulas": path.join(here, "src/text/formulas.js"),
    voice: path.join(here, "src/voice/main.js"),
    "voice-worklet": path.join(here, "src/voice/worklet.js"),
    home: path.join(here, "src/site/home.js"),
    site: path.join(here, "src/site/main.js"),
    passkeys: path.join(here, "src/site/passkeys.js"),
    "api-docs": path.join(here, "src/site/api-docs.js"),
    leaderboard: path.join(here, "src/leaderboard/main.js"),
    wormarena: path.join(here, "src/wormarena/main.js"),
    "worm-hand-in": path.join(here, "src/wormarena/hand-in.js"),
    trials: path.join(here, "src/robots/trials.js"),
    "mujoco-worker": path.join(here, "src/viewer/mujoco-worker.js"),
  },
  outdir: out,
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: !watch,
  sourcemap: watch ? "linked" : false,
  legalComments: "none",
  external: ["module", "fs", "path", "url", "crypto", "worker_threads"],
  logLevel: "warning",
};

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await copyFile(resolve("@mujoco/mujoco/mujoco.wasm"), path.join(out, "mujoco.wasm"));
const licences = ["markdown-it", "highlight.js", "katex", "three"].map((name) => readFile(path.join(here, "node_modules", name, "LICENSE"), "utf8"));
await writeFile(path.join(out, "THIRD-PARTY.txt"), NOTICE + (await Promise.all(licences)).join("\n"));

if (watch) {
  const context = await esbuild.context({ ...options, logLevel: "info" });
  await context.watch();
} else {
  const { metafile } = await esbuild.build({ ...options, metafile: true });
  for (const [file, { bytes }] of Object.entries(metafile.outputs)) {
    console.log(`${path.basename(file).padEnd(24)} ${(bytes / 1024).toFixed(0)} KiB`);
  }
}
