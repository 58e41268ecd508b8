// A three.js scene of a compiled MuJoCo model, built from the worker's description and moved by its poses.

import * as THREE from "three";

import { setPose } from "./overlays.js";
import { quickLight, quickMaterial } from "./quick-material.js";
import { rimLit } from "./rim-light.js";
import { Room } from "./room.js";
import { isFlat, isFurniture, WORLD } from "./shapes.js";
import { SoftShadows, widestOfEach } from "./soft-shadows.js";

/**
 * @import { GeomDescription, TextureDescription } from "./describe.js"
 * @import { SceneDescription } from "./engine-host.js"
 * @import { GeomPoses } from "./poses.js"
 * @import { Shapes, VisibleGeom } from "./shapes.js"
 * @import { ShadowLook } from "./soft-shadows.js"
 */

const UNSET_COLOUR = "0.5,0.5,0.5,1";

/** The length of the sheet of wood that is repeated over a table [m]. */
const SHEET = 0.66;
/**
 * Of an arm that is all of one colour: lighter than the real one's black plastic, and the fingers darker, so that both are
 * told apart from what is around them. An arm of several colours keeps them.
 */
const SHELL = "#bdc3cb";
const FINGERS = "#4a4f57";
/** What a table's colour is mixed with: wood that is paler than the scene says sets off what stands on it. */
const PALE = "#fff3e2";
const RIM = "#dfe8f5";
/** In the order of drawing. Shadows are drawn over what they fall on, and without a test of depth before all the rest. */
const ORDER = { ground: -4, flatShadows: -3, flat: -2, shadows: -1, room: 1 };

/** Of what the robot's many parts cast together, of objects, and of what lies flat. */
const DARKNESS = { robot: 0.36, object: 0.74, flat: 0.42 };
/** Full quality casts real shadows; soft ones add where things touch. @type {Record<"lite" | "full", Omit<ShadowLook, "darkness">>} */
const SOFT_SHADOWS = {
  lite: { highest: 0.5, slant: [0.1, 0.32] },
  full: { highest: 0.05, slant: [0, 0] },
};

export class StageScene {
  /** @type {{dispose: () => void}[]} */
  #owned = [];
  /** @type {{object: THREE.Object3D, index: number}[]} */
  #objects = [];
  #shapes;
  #quickLight;
  #room;
  #shadows;
  #rim = new THREE.Color(RIM);
  /** Whether the robot is drawn in colours of ours. */
  #repainted = false;

  /**
   * @param {Shapes} shapes
   * @param {{lite: boolean, background: string}} look `lite`: quick materials, soft shadows only
   */
  constructor(shapes, { lite, background }) {
    this.root = new THREE.Scene();
    this.lite = lite;
    this.#shapes = shapes;
    this.#quickLight = this.#addLights();
    this.#room = new Room(this.#quickLight, shapes.description.geoms.some(isFurniture));
    /** @type {Map<string, THREE.Material>} */
    const materials = new Map();
    const visible = shapes.visible(() => true, { lite });
    this.#repainted = coloursOf(visible, shapes.description).size === 1;
    for (const each of visible) this.#addGeom(each, shapes.description, materials);
    this.#shadows = this.#addShadows(visible.filter(({ geom }) => geom.body !== WORLD));
    for (const wall of this.#room.meshes) wall.renderOrder = ORDER.room;
    this.root.add(...this.#room.meshes);
    this.#owned.push(...this.#shadows, this.#room);
    this.setBackground(background);
  }

  /** Places every geom. @param {GeomPoses} pose */
  update(pose) {
    for (const { object, index } of this.#objects) setPose(object, pose, index);
    for (const shadows of this.#shadows) shadows.update(pose);
  }

  /** @param {string} colour CSS: of the walls, and of what is behind them */
  setBackground(colour) {
    this.root.background = new THREE.Color(colour);
    this.#room.setColour(colour);
  }

  dispose() {
    for (const each of this.#owned) each.dispose();
    this.root.clear();
  }

  /** Those of flat things, which they are drawn over, and those of all others. @param {VisibleGeom[]} moving */
  #addShadows(moving) {
    const look = SOFT_SHADOWS[this.lite ? "lite" : "full"];
    return [
      { of: widestOfEach(moving.filter(({ geom }) => isFlat(geom))), darkness: DARKNESS.flat, order: ORDER.flatShadows },
      { of: widestOfEach(moving.filter(({ geom, robot }) => !isFlat(geom) && !robot)), darkness: DARKNESS.object, order: ORDER.shadows },
      { of: moving.filter(({ robot }) => robot), darkness: DARKNESS.robot, order: ORDER.shadows },
    ].map(({ of, darkness, order }) => {
      const shadows = new SoftShadows(of, { ...look, darkness });
      shadows.mesh.renderOrder = order;
      this.root.add(shadows.mesh);
      return shadows;
    });
  }

  #addLights() {
    const hemisphere = new THREE.HemisphereLight(0xf4f8ff, 0x8f8678, this.lite ? 2 : 1.9);
    hemisphere.position.set(0, 0, 1);
    const lamp = new THREE.DirectionalLight(0xfff1e0, this.lite ? 1.65 : 2.2);
    lamp.position.set(0.1, -0.75, 1.6);
    lamp.target.position.set(0.27, 0, 0);
    lamp.castShadow = !this.lite;
    lamp.shadow.mapSize.set(2048, 2048);
    Object.assign(lamp.shadow.camera, { left: -0.6, right: 0.6, top: 0.6, bottom: -0.6, near: 0.5, far: 3 });
    lamp.shadow.bias = -0.0004;
    lamp.shadow.normalBias = 0.002;
    lamp.shadow.radius = 3;
    this.root.add(hemisphere, lamp, lamp.target);
    this.#owned.push(lamp);
    return quickLight(hemisphere, lamp);
  }

  /**
   * @param {VisibleGeom} visible @param {SceneDescription} description
   * @param {Map<string, THREE.Material>} materials by their look
   */
  #addGeom({ geom, index, geometry, robot, finger }, description, materials) {
    const look = { ...lookOf(geom, description), robot, finger, wooden: isFurniture(geom) };
    if (look.rgba[3] === 0) return;
    const key = JSON.stringify(look);
    const material = materials.get(key) ?? this.#material(look, description);
    materials.set(key, material);
    const object = new THREE.Mesh(geometry, material);
    object.name = geom.name;
    object.matrixAutoUpdate = false;
    object.castShadow = !this.lite && geom.body !== WORLD;
    if (geom.body === WORLD) object.renderOrder = ORDER.ground;
    else if (isFlat(geom)) object.renderOrder = ORDER.flat;
    object.receiveShadow = !this.lite;
    this.#objects.push({ object, index });
    this.root.add(object);
  }

  /**
   * @param {ReturnType<typeof lookOf> & {robot: boolean, finger: boolean, wooden: boolean}} look
   * @param {SceneDescription} description
   */
  #material({ rgba: [r, g, b, a], shininess, texture, repeat, robot, finger, wooden }, description) {
    const color = new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);
    if (robot && this.#repainted) color.set(finger ? FINGERS : SHELL);
    else if (wooden) color.lerp(new THREE.Color(PALE), 0.35);
    const described = wooden ? this.#shapes.wood : (description.textures[texture] ?? null);
    const options = {
      color,
      transparent: a < 1,
      opacity: a,
      map: this.#texture(described, wooden ? [1 / SHEET, 1 / SHEET] : repeat),
    };
    const material = this.lite
      ? quickMaterial(options, this.#quickLight, robot ? this.#rim : null)
      : new THREE.MeshStandardMaterial({ ...options, roughness: 0.85 - 0.5 * shininess, metalness: 0 });
    if (robot && material instanceof THREE.MeshStandardMaterial) rimLit(material, this.#rim);
    this.#owned.push(material);
    return material;
  }

  /** @param {TextureDescription | null} described @param {number[]} repeat */
  #texture(described, repeat) {
    if (!described) return null;
    const { pixels, width, height } = described;
    const texture = new THREE.DataTexture(pixels, width, height);
    texture.colorSpace = this.lite ? THREE.NoColorSpace : THREE.SRGBColorSpace;
    texture.wrapS = THREE.RepeatWrapping;
    texture.wrapT = THREE.RepeatWrapping;
    texture.repeat.set(repeat[0], repeat[1]);
    texture.magFilter = THREE.LinearFilter;
    texture.minFilter = this.lite ? THREE.LinearMipmapNearestFilter : THREE.LinearMipmapLinearFilter;
    texture.generateMipmaps = true;
    texture.anisotropy = this.lite ? 1 : 8;
    texture.needsUpdate = true;
    this.#owned.push(texture);
    return texture;
  }
}

/**
 * A geom's own colour wins over its material's, as in MuJoCo.
 * @param {GeomDescription} geom @param {SceneDescription} description
 */
function lookOf(geom, description) {
  const material = description.materials[geom.material];
  const own = geom.rgba.join() !== UNSET_COLOUR;
  return {
    rgba: own || !material ? geom.rgba : material.rgba,
    shininess: material?.shininess ?? 0.2,
    texture: material?.texture ?? -1,
    repeat: material?.repeat ?? [1, 1],
  };
}

/**
 * Those of the robot's parts.
 * @param {VisibleGeom[]} visible @param {SceneDescription} description
 */
export function coloursOf(visible, description) {
  return new Set(visible.filter(({ robot }) => robot).map(({ geom }) => lookOf(geom, description).rgba.join()));
}
