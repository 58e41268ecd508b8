// One canvas: a scene, its overlays, a camera that can be turned, and a renderer that draws on request.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import { farthestFrom, fieldOfView, lookThrough, rideOn } from "./cameras.js";
import { colourOf } from "./colour.js";
import { Overlays } from "./overlays.js";
import { pixelRatio, QUALITIES } from "./quality.js";
import { makeRenderer, rendersInSoftware } from "./renderer.js";
import { StageScene } from "./scene.js";

/**
 * @import { Preset } from "./cameras.js"
 * @import { Picture } from "./engine-host.js"
 * @import { Shapes } from "./shapes.js"
 */

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
      this.#parts.controls.maxDistance = farthestFrom(this.camera, this.target);
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
    this.#parts.controls.maxDistance = other.#parts.controls.maxDistance;
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
    const { renderer, scene } = this.#parts;
    renderer.render(scene.root, this.camera);
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
    const renderer = makeRenderer(document.createElement("canvas"), lite);
    const canvas = renderer.domElement;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", this.label);
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

function overlayColours() {
  return { contact: colourOf("--contact"), joint: colourOf("--joint") };
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
  controls.maxPolarAngle = 0.49 * Math.PI;
  canvas.style.touchAction = "pan-y";
  canvas.addEventListener("pointerdown", () => (controls.enableZoom = true), { signal });
  canvas.addEventListener("pointerleave", () => (controls.enableZoom = false), { signal });
  return controls;
}
