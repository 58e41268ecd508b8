// Describes a compiled MjModel for drawing, in plain objects and new typed arrays that can leave the worker.

import { nameOf } from "./names.js";

const TEXTURE_2D = 0;
const TEXTURE_ROLES = 10;
const RGB_ROLE = 1;
const MESH = 7;

/**
 * @import { MjModel } from "@mujoco/mujoco"
 * @import { Joint } from "./interpolate.js"
 * @typedef {ReturnType<typeof describeGeom>} GeomDescription
 * @typedef {ReturnType<typeof describeMesh>} MeshDescription
 * @typedef {ReturnType<typeof describeMaterial>} MaterialDescription
 * @typedef {{width: number, height: number, pixels: Uint8Array<ArrayBuffer>}} TextureDescription
 *
 * @typedef {object} ModelDescription
 * @property {number} nq
 * @property {number} nv
 * @property {Joint[]} joints
 * @property {GeomDescription[]} geoms
 * @property {MeshDescription[]} meshes
 * @property {MaterialDescription[]} materials
 * @property {(TextureDescription | null)[]} textures
 */

/** @param {MjModel} model @returns {ModelDescription} */
export function describeScene(model) {
  return {
    nq: model.nq,
    nv: model.nv,
    joints: range(model.njnt).map((i) => ({ type: model.jnt_type[i], qposadr: model.jnt_qposadr[i] })),
    geoms: range(model.ngeom).map((i) => describeGeom(model, i)),
    meshes: range(model.nmesh).map((i) => describeMesh(model, i)),
    materials: range(model.nmat).map((i) => describeMaterial(model, i)),
    textures: range(model.ntex).map((i) => describeTexture(model, i)),
  };
}

/** @param {MjModel} model @param {number} i */
function describeGeom(model, i) {
  const type = model.geom_type[i];
  return {
    name: nameOf(model, model.name_geomadr, i),
    body: model.geom_bodyid[i],
    type,
    group: model.geom_group[i],
    touches: (model.geom_contype[i] | model.geom_conaffinity[i]) !== 0,
    size: numbers(model.geom_size, 3 * i, 3),
    rgba: numbers(model.geom_rgba, 4 * i, 4),
    material: model.geom_matid[i],
    mesh: type === MESH ? model.geom_dataid[i] : -1,
  };
}

/**
 * MuJoCo stores normals and texture coordinates per face corner; a graphics card needs one row per vertex. Corners that
 * agree in all three share a row, which cuts the work of software rendering to a third.
 * @param {MjModel} model @param {number} i
 */
function describeMesh(model, i) {
  const corners = 3 * model.mesh_facenum[i];
  const at = 3 * model.mesh_faceadr[i];
  const textured = model.mesh_texcoordadr[i] >= 0;
  const of = (/** @type {Int32Array} */ values) => values.subarray(at, at + corners);
  const [face, normal] = [of(model.mesh_face), of(model.mesh_facenormal)];
  const uv = textured ? of(model.mesh_facetexcoord) : face;
  const { index, firsts } = shareCorners(corners, (corner) => `${face[corner]},${normal[corner]},${uv[corner]}`);
  /** @param {Float32Array} values @param {number} address @param {Int32Array} indices @param {number} width */
  const rows = (values, address, indices, width) => gather(values, address, firsts.map((corner) => indices[corner]), width);
  return {
    index,
    positions: rows(model.mesh_vert, model.mesh_vertadr[i], face, 3),
    normals: rows(model.mesh_normal, model.mesh_normaladr[i], normal, 3),
    uvs: textured ? rows(model.mesh_texcoord, model.mesh_texcoordadr[i], uv, 2) : null,
  };
}

/**
 * `index`: the row of each corner; `firsts`: for each row the first corner that has it.
 * @param {number} corners @param {(corner: number) => string} keyOf
 */
function shareCorners(corners, keyOf) {
  /** @type {Map<string, number>} */
  const rowOf = new Map();
  /** @type {number[]} */
  const firsts = [];
  const index = new Uint32Array(corners);
  for (let corner = 0; corner < corners; corner += 1) {
    const key = keyOf(corner);
    const row = rowOf.get(key) ?? firsts.push(corner) - 1;
    rowOf.set(key, row);
    index[corner] = row;
  }
  return { index, firsts };
}

/** @param {Float32Array} values @param {number} address @param {number[]} indices @param {number} width */
function gather(values, address, indices, width) {
  const out = new Float32Array(indices.length * width);
  indices.forEach((row, i) => {
    const from = width * (address + row);
    out.set(values.subarray(from, from + width), width * i);
  });
  return out;
}

/** @param {MjModel} model @param {number} i */
function describeMaterial(model, i) {
  return {
    rgba: numbers(model.mat_rgba, 4 * i, 4),
    shininess: model.mat_shininess[i],
    specular: model.mat_specular[i],
    texture: model.mat_texid[TEXTURE_ROLES * i + RGB_ROLE],
    repeat: numbers(model.mat_texrepeat, 2 * i, 2),
  };
}

/** @param {MjModel} model @param {number} i @returns {TextureDescription | null} */
function describeTexture(model, i) {
  if (model.tex_type[i] !== TEXTURE_2D) return null;
  const [width, height, channels] = [model.tex_width[i], model.tex_height[i], model.tex_nchannel[i]];
  const from = Number(model.tex_adr[i]);
  const pixels = new Uint8Array(4 * width * height).fill(255);
  for (let p = 0; p < width * height; p += 1) {
    for (let c = 0; c < channels; c += 1) pixels[4 * p + c] = model.tex_data[from + channels * p + c];
  }
  return { width, height, pixels };
}

/** @param {number} count */
function range(count) {
  return Array.from({ length: count }, (_, i) => i);
}

/** @param {Float32Array | Float64Array} values @param {number} from @param {number} count @returns {number[]} */
function numbers(values, from, count) {
  return Array.from(values.subarray(from, from + count));
}
