// Renderers that have compiled their programs while engine and scene are on their way. Software rendering takes longer to
// compile them than to draw the first picture, and each canvas compiles its own.

import * as THREE from "three";

import { makeRenderer, NoWebGL, rendersInSoftware } from "./renderer.js";
import { StageScene } from "./scene.js";
import { BOX, Shapes, SPHERE, WORLD } from "./shapes.js";
import { SIDES } from "./sides.js";

/**
 * @import { SceneDescription } from "./engine-host.js"
 * @typedef {{renderer: THREE.WebGLRenderer, forget: () => void}} WarmRenderer
 *   `forget`: drops the sample, whose programs are kept only while something uses them: after the first picture
 */

const GEOM = { name: "", group: 0, size: [0.1, 0.1, 0.1], rgba: [1, 1, 1, 1], material: -1, mesh: -1 };
/** Something of each program: a table, which is textured, and a thing above it, which is not, with its shadow. @type {SceneDescription} */
const SAMPLE = {
  geoms: [
    { ...GEOM, type: BOX, body: WORLD },
    { ...GEOM, type: SPHERE, body: WORLD + 1 },
  ],
  robot: [false, false],
  finger: [false, false],
  ...{ meshes: [], materials: [], textures: [], joints: [], nq: 0, nv: 0 },
};
const UPRIGHT = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const POSE = { xpos: Float64Array.of(0, 0, 0, 0, 0, 0.2), xmat: Float64Array.of(...UPRIGHT, ...UPRIGHT) };
const WOOD = { pixels: new Uint8Array(4 * 4 * 4), width: 4, height: 4 };
const PIXELS = 8;

/** @type {WarmRenderer[]} */
const warm = [];

/** One for each side, if the processor draws. A graphics card compiles quickly. */
export async function warmUp() {
  try {
    await pause(); // what the page asks the server for goes first
    if (!rendersInSoftware()) return;
    while (warm.length < SIDES.length) {
      warm.push(drawSample(makeRenderer(document.createElement("canvas"), true)));
      await pause();
    }
  } catch (error) {
    if (!(error instanceof NoWebGL)) throw error; // whoever needs a renderer is told
  }
}

/** Lets people type. */
const pause = () => new Promise((resolve) => setTimeout(resolve));

/** A renderer of the coarser qualities that is still of use, if there is one. @returns {WarmRenderer | undefined} */
export function takeWarm() {
  const next = warm.shift();
  return next?.renderer.getContext().isContextLost() ? takeWarm() : next;
}

/** @param {THREE.WebGLRenderer} renderer @returns {WarmRenderer} */
function drawSample(renderer) {
  const shapes = new Shapes(SAMPLE, WOOD);
  const scene = new StageScene(shapes, { lite: true, background: "white" });
  const camera = new THREE.PerspectiveCamera();
  camera.position.z = 2;
  scene.update(POSE);
  renderer.setSize(PIXELS, PIXELS, false);
  renderer.render(scene.root, camera);
  renderer.getContext().flush();
  const forget = () => {
    scene.dispose();
    shapes.dispose();
  };
  return { renderer, forget };
}
