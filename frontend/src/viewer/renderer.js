// The renderer of one canvas, and whether the browser draws with the processor.

import * as THREE from "three";

const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

export class NoWebGL extends Error {}

/** Throws NoWebGL. @param {HTMLCanvasElement} canvas @param {boolean} lite */
export function makeRenderer(canvas, lite) {
  try {
    const renderer = new THREE.WebGLRenderer({ canvas, antialias: !lite, powerPreference: "high-performance" });
    renderer.shadowMap.enabled = !lite;
    renderer.shadowMap.type = THREE.PCFShadowMap;
    return renderer;
  } catch (error) {
    throw new NoWebGL(error instanceof Error ? error.message : String(error));
  }
}

/** @type {boolean | null} the answer of the first question */
let inSoftware = null;

/** Asks a context of its own, before anything is built: what is built depends on the answer. */
export function rendersInSoftware() {
  inSoftware ??= isSoftware(document.createElement("canvas").getContext("webgl2"));
  return inSoftware;
}

/** @param {WebGL2RenderingContext | null} gl */
function isSoftware(gl) {
  if (!gl) return true;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return SOFTWARE.test(name);
}
