// One canvas: a scene, its overlays, a camera that can be turned, and a renderer that draws on request.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import { fieldOfView, lookThrough, rideOn } from "./cameras.js";
import { colourOf } from "./colour.js";
import { Overlays } from "./overlays.js";
import { pixelRatio, QUALITIES } from "./quality.js";
import { StageScene } from "./scene.js";

/**
 * @import { Preset } from "./cameras.js"
 * @import { Picture } from "./engine-host.js"
 * @import { Shapes } from "./shapes.js"
 */

const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

export class NoWebGL extends Error {}

/** Events: "turned" (by hand, which ends the preset), "rebuilt" (overlays must be added again), "lost". */
export class Viewer extends EventTarget {
  #host;
  #shapes;
  #parts;
  /** @type {Picture | null} */
  #pose = null;
  /** @type {Preset | null} */
  #preset = null;
  /** The preset whose field of view it has, also after turning by hand. @type {Preset | null} */
  #framed = null;
  #placing = false;
  #resize;

  /**
   * @param {HTMLElement} host fills with a canvas
   * @param {Shapes} shapes
   * @param {{label: string, quality: number | null}} options `label`: the canvas' text for screen readers;
   *   `quality`: index into QUALITIES, or null to choose by the renderer
   */
  constructor(host, shapes, { label, quality }) {
    super();
    this.#host = host;
    this.#shapes = shapes;
    this.label = label;
    this.camera = new THREE.PerspectiveCamera(45, 1, 0.02, 30);
    this.camera.up.set(0, 0, 1); // before the controls, which turn around it
    this.target = new THREE.Vector3();
    this.needsDraw = false;
    this.lost = false;
    /** Whether rendering runs on the processor instead of a graphics card. */
    this.software = rendersInSoftware();
    this.quality = quality ?? this.ownQuality;
    this.#parts = this.#build();
    this.#resize = new ResizeObserver(() => this.#fit());
    this.#resize.observe(host);
  }

  get canvas() {
    return this.#parts.renderer.domElement;
  }

  /** The quality to start with on this machine: place in QUALITIES. */
  get ownQuality() {
    return this.software ? 1 : 0;
  }

  /** The name of the current preset, or null after turning by hand. */
  get preset() {
    return this.#preset?.id ?? null;
  }

  /** Numbers of objects on the graphics card for this canvas, which must not grow. */
  get held() {
    const { memory, programs } = this.#parts.renderer.info;
    return { geometries: memory.geometries, textures: memory.textures, programs: programs?.length ?? 0 };
  }

  /** The overlays of the scene. */
  get overlays() {
    return this.#parts.overlays;
  }

  /** @param {number} quality place in QUALITIES */
  setQuality(quality) {
    this.#tearDown();
    this.quality = quality;
    this.lost = false;
    this.#parts = this.#build();
    this.#fit();
    this.dispatchEvent(new Event("rebuilt"));
  }

  /** Creates a new canvas after the browser has lost the context of the old one. */
  revive() {
    this.setQuality(this.quality);
  }

  /** @param {Preset} preset */
  setPreset(preset) {
    this.#preset = preset;
    this.#parts.controls.enabled = !preset.riding;
    this.#framed = preset;
    if (preset.riding) {
      if (this.#pose) rideOn(this.camera, this.#pose.tool);
    } else {
      this.target.copy(lookThrough(this.camera, preset.camera));
      this.#parts.controls.target.copy(this.target);
      this.#placing = true;
      this.#parts.controls.update();
      this.#placing = false;
    }
    this.#frame();
    this.needsDraw = true;
  }

  /** Copies another viewer's camera. @param {Viewer} other */
  follow(other) {
    this.#preset = null;
    this.#parts.controls.enabled = true;
    this.#framed = other.#framed;
    this.camera.up.copy(other.camera.up);
    this.camera.position.copy(other.camera.position);
    this.#parts.controls.target.copy(other.#parts.controls.target);
    this.camera.lookAt(this.#parts.controls.target);
    this.#frame();
    this.needsDraw = true;
  }

  /** @param {Picture} pose */
  show(pose) {
    this.#pose = pose;
    this.#place(this.#parts.scene, pose);
  }

  /** Before the first pose there is nothing to see: every part would be in the same place. */
  draw() {
    if (this.lost || !this.#pose) return;
    this.#parts.renderer.render(this.#parts.scene.root, this.camera);
    this.needsDraw = false;
  }

  refreshTheme() {
    this.#parts.scene.setBackground(colourOf("--wall"));
    this.overlays.colours = overlayColours();
    this.needsDraw = true;
  }

  dispose() {
    this.#resize.disconnect();
    this.#tearDown();
  }

  #build() {
    const { lite } = QUALITIES[this.quality];
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", this.label);
    const renderer = makeRenderer(canvas, lite);
    const scene = new StageScene(this.#shapes, { lite, background: colourOf("--wall") });
    const overlays = new Overlays(scene.root, overlayColours());
    this.#host.prepend(canvas);
    const listening = new AbortController();
    const { signal } = listening;
    this.camera.up.set(0, 0, 1); // the tool's camera has changed it
    canvas.addEventListener("webglcontextlost", (event) => this.#lose(event), { signal });
    const controls = makeControls(this.camera, canvas, this.target, signal);
    controls.enabled = !this.#preset?.riding;
    controls.addEventListener("change", () => this.#turned());
    if (this.#pose) this.#place(scene, this.#pose);
    return { renderer, scene, overlays, listening, controls };
  }

  /** @param {StageScene} scene @param {Picture} pose */
  #place(scene, pose) {
    scene.update(pose);
    if (this.#preset?.riding) rideOn(this.camera, pose.tool);
    this.needsDraw = true;
  }

  /** @param {Event} event */
  #lose(event) {
    event.preventDefault();
    this.lost = true;
    this.dispatchEvent(new Event("lost"));
  }

  #turned() {
    this.needsDraw = true;
    if (this.#placing) return;
    this.#preset = null;
    this.dispatchEvent(new Event("turned"));
  }

  #tearDown() {
    const { renderer, scene, overlays, listening, controls } = this.#parts;
    listening.abort();
    this.target.copy(controls.target);
    controls.dispose();
    overlays.dispose();
    scene.dispose();
    renderer.dispose();
    renderer.forceContextLoss(); // a tab has few contexts, which the garbage collector frees late
    renderer.domElement.remove();
  }

  #fit() {
    const { clientWidth: width, clientHeight: height } = this.#host;
    if (width === 0 || height === 0) return;
    this.#parts.renderer.setPixelRatio(pixelRatio(QUALITIES[this.quality], width, window.devicePixelRatio));
    this.#parts.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.#frame();
    this.draw();
  }

  #frame() {
    if (this.#framed) this.camera.fov = fieldOfView(this.#framed, this.camera.aspect);
    this.camera.updateProjectionMatrix();
  }
}

/** @type {boolean | null} the answer of the first question */
let inSoftware = null;

/** Asks a context of its own, before the first viewer is built: what it builds depends on the answer. */
function rendersInSoftware() {
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

function overlayColours() {
  return { contact: colourOf("--contact"), joint: colourOf("--joint") };
}

/** @param {HTMLCanvasElement} canvas @param {boolean} lite */
function makeRenderer(canvas, lite) {
  try {
    const renderer = new THREE.WebGLRenderer({ canvas, antialias: !lite, powerPreference: "high-performance" });
    renderer.shadowMap.enabled = !lite;
    renderer.shadowMap.type = THREE.PCFShadowMap;
    return renderer;
  } catch (error) {
    throw new NoWebGL(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Turns by one finger or the left button. A vertical swipe still scrolls the page, and the wheel zooms only after a click.
 * @param {THREE.PerspectiveCamera} camera @param {HTMLCanvasElement} canvas
 * @param {THREE.Vector3} target @param {AbortSignal} signal
 */
function makeControls(camera, canvas, target, signal) {
  const controls = new OrbitControls(camera, canvas);
  controls.target.copy(target);
  controls.update(); // the constructor has turned the camera towards the origin
  controls.enableDamping = false;
  controls.enablePan = false;
  controls.enableZoom = false;
  controls.minDistance = 0.15;
  controls.maxDistance = 2.2;
  controls.maxPolarAngle = 0.49 * Math.PI;
  canvas.style.touchAction = "pan-y";
  canvas.addEventListener("pointerdown", () => (controls.enableZoom = true), { signal });
  canvas.addEventListener("pointerleave", () => (controls.enableZoom = false), { signal });
  return controls;
}
