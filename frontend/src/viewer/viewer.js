// One canvas: a scene, a camera that can be turned, and a renderer that draws when told to.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

import { lookThrough } from "./cameras.js";
import { StageScene } from "./scene.js";

/** How much is drawn, best first. A slow machine is moved down until it keeps up. */
export const QUALITIES = [
  { name: "full", lite: false, scale: 2 },
  { name: "lite", lite: true, scale: 1 },
  { name: "coarse", lite: true, scale: 0.5 },
];
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;

export class NoWebGL extends Error {}

export class Viewer extends EventTarget {
  #host;
  #shapes;
  #renderer = null;
  #scene = null;
  #controls = null;
  #pose = null;
  #resize;

  /**
   * @param {HTMLElement} host fills with a canvas
   * @param {import("./scene.js").Shapes} shapes
   * @param {{label: string, quality: number | null}} options `label`: what a screen reader says of the canvas;
   *   `quality`: place in QUALITIES, or null to judge by the renderer
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
    this.#build(quality ?? 0);
    if (quality === null && this.software) this.setQuality(1);
    this.#resize = new ResizeObserver(() => this.#fit());
    this.#resize.observe(host);
  }

  /** Drawn by the processor rather than by a graphics card. */
  get software() {
    const gl = this.#renderer.getContext();
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    return SOFTWARE.test(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER));
  }

  setQuality(quality) {
    this.#tearDown();
    this.#build(quality);
    this.#fit();
  }

  setPreset(preset) {
    this.target.copy(lookThrough(this.camera, preset.camera));
    this.#controls.target.copy(this.target);
    this.camera.updateProjectionMatrix();
    this.#fit();
    this.#controls.update();
    this.needsDraw = true;
  }

  /** Takes over another viewer's point of view. */
  follow(other) {
    this.camera.position.copy(other.camera.position);
    this.#controls.target.copy(other.#controls.target);
    this.camera.lookAt(this.#controls.target);
    this.needsDraw = true;
  }

  show(pose) {
    this.#pose = pose;
    this.#scene.update(pose);
    this.needsDraw = true;
  }

  draw() {
    this.#renderer.render(this.#scene.root, this.camera);
    this.needsDraw = false;
  }

  refreshTheme() {
    this.#scene.setBackground(backgroundOf(this.#host));
    this.needsDraw = true;
  }

  dispose() {
    this.#resize.disconnect();
    this.#tearDown();
  }

  #build(quality) {
    this.quality = quality;
    const { lite } = QUALITIES[quality];
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", this.label);
    this.#renderer = makeRenderer(canvas, lite);
    this.#scene = new StageScene(this.#shapes, { lite, background: backgroundOf(this.#host) });
    this.#host.prepend(canvas);
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.dispatchEvent(new Event("lost"));
    });
    this.#controls = makeControls(this.camera, canvas, this.target);
    this.#controls.addEventListener("change", () => {
      this.needsDraw = true;
      this.dispatchEvent(new Event("turned"));
    });
    if (this.#pose) this.show(this.#pose);
  }

  #tearDown() {
    this.target.copy(this.#controls.target);
    this.#controls.dispose();
    this.#scene.dispose();
    this.#renderer.dispose();
    this.#renderer.domElement.remove();
  }

  #fit() {
    const { clientWidth: width, clientHeight: height } = this.#host;
    if (width === 0 || height === 0) return;
    const { lite, scale } = QUALITIES[this.quality];
    this.#renderer.setPixelRatio(lite ? scale : Math.min(window.devicePixelRatio, scale));
    this.#renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.draw();
  }
}

function makeRenderer(canvas, lite) {
  try {
    const renderer = new THREE.WebGLRenderer({ canvas, antialias: !lite, powerPreference: "high-performance" });
    renderer.shadowMap.enabled = !lite;
    renderer.shadowMap.type = THREE.PCFShadowMap;
    return renderer;
  } catch (error) {
    throw new NoWebGL(error.message);
  }
}

/** Turning by one finger or the left button; a vertical swipe still scrolls the page, the wheel zooms after a click only. */
function makeControls(camera, canvas, target) {
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
  canvas.addEventListener("pointerdown", () => (controls.enableZoom = true));
  canvas.addEventListener("pointerleave", () => (controls.enableZoom = false));
  return controls;
}

function backgroundOf(host) {
  return getComputedStyle(host).getPropertyValue("--stage").trim() || "#dfe3e6";
}
