// What a drawing needs of a compiled MjModel, as plain objects and fresh typed arrays that can leave the worker.

import { nameOf } from "./names.js";

const TEXTURE_2D = 0;
const TEXTURE_ROLES = 10;
const RGB_ROLE = 1;
const MESH = 7;

export function describeScene(model) {
  return {
    nq: model.nq,
    nv: model.nv,
    home: Float64Array.from(model.nkey > 0 ? model.key_qpos.subarray(0, model.nq) : model.qpos0),
    joints: range(model.njnt).map((i) => ({ type: model.jnt_type[i], qposadr: model.jnt_qposadr[i] })),
    geoms: range(model.ngeom).map((i) => describeGeom(model, i)),
    meshes: range(model.nmesh).map((i) => describeMesh(model, i)),
    materials: range(model.nmat).map((i) => describeMaterial(model, i)),
    textures: range(model.ntex).map((i) => describeTexture(model, i)),
  };
}

function describeGeom(model, i) {
  const type = model.geom_type[i];
  return {
    name: nameOf(model, model.name_geomadr, i),
    body: model.geom_bodyid[i],
    type,
    group: model.geom_group[i],
    size: numbers(model.geom_size, 3 * i, 3),
    rgba: numbers(model.geom_rgba, 4 * i, 4),
    material: model.geom_matid[i],
    mesh: type === MESH ? model.geom_dataid[i] : -1,
  };
}

/** Triangles spelled out (no index): MuJoCo keeps its own normals and texture coordinates per face corner. */
function describeMesh(model, i) {
  const corners = 3 * model.mesh_facenum[i];
  const at = 3 * model.mesh_faceadr[i];
  return {
    positions: gather(model.mesh_vert, model.mesh_vertadr[i], model.mesh_face.subarray(at, at + corners), 3),
    normals: gather(model.mesh_normal, model.mesh_normaladr[i], model.mesh_facenormal.subarray(at, at + corners), 3),
    uvs:
      model.mesh_texcoordadr[i] < 0
        ? null
        : gather(model.mesh_texcoord, model.mesh_texcoordadr[i], model.mesh_facetexcoord.subarray(at, at + corners), 2),
  };
}

function gather(values, address, indices, width) {
  const out = new Float32Array(indices.length * width);
  indices.forEach((index, corner) => {
    const from = width * (address + index);
    out.set(values.subarray(from, from + width), width * corner);
  });
  return out;
}

function describeMaterial(model, i) {
  return {
    rgba: numbers(model.mat_rgba, 4 * i, 4),
    shininess: model.mat_shininess[i],
    specular: model.mat_specular[i],
    texture: model.mat_texid[TEXTURE_ROLES * i + RGB_ROLE],
    repeat: numbers(model.mat_texrepeat, 2 * i, 2),
  };
}

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

function range(count) {
  return Array.from({ length: count }, (_, i) => i);
}

function numbers(values, from, count) {
  return Array.from(values.subarray(from, from + count));
}
