// A three.js scene of a compiled MuJoCo model, built from the worker's description and moved by its poses.

import * as THREE from "three";

import { setPose } from "./overlays.js";
import { quickLight, quickMaterial, setHaze } from "./quick-material.js";

/**
 * @import { GeomDescription, MeshDescription, TextureDescription } from "./describe.js"
 * @import { SceneDescription } from "./engine-host.js"
 * @import { GeomPoses } from "./poses.js"
 * @typedef {{geom: GeomDescription, index: number, geometry: THREE.BufferGeometry, robot: boolean}} VisibleGeom
 */

const PLANE = 0;
const SPHERE = 2;
const CAPSULE = 3;
const ELLIPSOID = 4;
const CYLINDER = 5;
const BOX = 6;
const MESH = 7;

/** Groups from this one on are collision shapes and helpers, which MuJoCo's own viewers hide too. */
const HIDDEN_GROUP = 3;
const ENDLESS = 20;
const UNSET_COLOUR = "0.5,0.5,0.5,1";

/** Cylinders and capsules lie along y in three.js and along z in MuJoCo. @param {THREE.BufferGeometry} geometry */
const upright = (geometry) => geometry.rotateX(Math.PI / 2);

/** @type {Record<number, (size: number[]) => THREE.BufferGeometry>} */
const shapes = {
  [PLANE]: ([x, y]) => new THREE.PlaneGeometry(2 * (x || ENDLESS), 2 * (y || ENDLESS)),
  [SPHERE]: ([radius]) => new THREE.SphereGeometry(radius, 32, 20),
  [CAPSULE]: ([radius, half]) => upright(new THREE.CapsuleGeometry(radius, 2 * half, 8, 24)),
  [ELLIPSOID]: ([x, y, z]) => new THREE.SphereGeometry(1, 32, 20).scale(x, y, z),
  [CYLINDER]: ([radius, half]) => upright(new THREE.CylinderGeometry(radius, radius, 2 * half, 48)),
  [BOX]: ([x, y, z]) => new THREE.BoxGeometry(2 * x, 2 * y, 2 * z),
};

/** The geometries of a model, created once and shared by both viewers. */
export class Shapes {
  /** @param {SceneDescription} description */
  constructor(description) {
    this.description = description;
    this.meshes = description.meshes.map(meshGeometry);
    this.geometries = description.geoms.map((geom) =>
      geom.type === MESH ? this.meshes[geom.mesh] : shapes[geom.type]?.(geom.size),
    );
  }

  /** The visible geoms that `wanted` accepts. @param {(each: VisibleGeom) => boolean} wanted */
  visible(wanted) {
    const { geoms, robot } = this.description;
    return geoms
      .flatMap((geom, index) => {
        const geometry = geom.group < HIDDEN_GROUP && this.geometries[index];
        return geometry ? [{ geom, index, geometry, robot: robot[index] }] : [];
      })
      .filter(wanted);
  }

  dispose() {
    for (const geometry of new Set([...this.geometries, ...this.meshes])) geometry?.dispose();
  }
}

/** @param {MeshDescription} mesh */
function meshGeometry({ index, positions, normals, uvs }) {
  const geometry = new THREE.BufferGeometry();
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  if (uvs) geometry.setAttribute("uv", new THREE.BufferAttribute(uvs, 2));
  return geometry;
}

export class StageScene {
  /** @type {{dispose: () => void}[]} */
  #owned = [];
  /** @type {{object: THREE.Object3D, index: number}[]} */
  #objects = [];
  #quickLight;

  /**
   * @param {Shapes} shapes
   * @param {{lite: boolean, background: string}} look `lite`: quick materials, no shadows
   */
  constructor(shapes, { lite, background }) {
    this.root = new THREE.Scene();
    this.lite = lite;
    this.#quickLight = this.#addLights();
    this.setBackground(background);
    /** @type {Map<string, THREE.Material>} */
    const materials = new Map();
    for (const visible of shapes.visible(() => true)) this.#addGeom(visible, shapes.description, materials);
  }

  /** Places every geom. @param {GeomPoses} pose */
  update(pose) {
    for (const { object, index } of this.#objects) setPose(object, pose, index);
  }

  /** @param {string} colour CSS */
  setBackground(colour) {
    const fog = new THREE.Fog(colour, 1.6, 4.2);
    this.root.background = new THREE.Color(colour);
    this.root.fog = fog;
    setHaze(this.#quickLight, fog);
  }

  dispose() {
    for (const each of this.#owned) each.dispose();
    this.root.clear();
  }

  #addLights() {
    const hemisphere = new THREE.HemisphereLight(0xffffff, 0x9a9184, this.lite ? 2.4 : 1.9);
    const lamp = new THREE.DirectionalLight(0xfff4e6, this.lite ? 1.5 : 2.3);
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
  #addGeom({ geom, index, geometry }, description, materials) {
    const look = lookOf(geom, description);
    if (look.rgba[3] === 0) return;
    const key = JSON.stringify(look);
    const material = materials.get(key) ?? this.#material(look, description);
    materials.set(key, material);
    const object = new THREE.Mesh(geometry, material);
    object.name = geom.name;
    object.matrixAutoUpdate = false;
    object.castShadow = !this.lite && geom.type !== PLANE;
    object.receiveShadow = !this.lite;
    this.#objects.push({ object, index });
    this.root.add(object);
  }

  /** @param {ReturnType<typeof lookOf>} look @param {SceneDescription} description */
  #material({ rgba: [r, g, b, a], shininess, texture, repeat }, description) {
    const options = {
      color: new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace),
      transparent: a < 1,
      opacity: a,
      map: texture >= 0 ? this.#texture(description.textures[texture], repeat) : null,
    };
    const material = this.lite
      ? quickMaterial(options, this.#quickLight)
      : new THREE.MeshStandardMaterial({ ...options, roughness: 0.85 - 0.5 * shininess, metalness: 0 });
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
    texture.minFilter = THREE.LinearMipmapLinearFilter;
    texture.generateMipmaps = true;
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
