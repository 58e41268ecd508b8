// The order of the flat faces of meshes that touch things. The engine finds the same faces on every platform, but in other
// orders, and contacts follow the order: with that of the engine that recorded, they are the same.

import { nameOf } from "./names.js";

/**
 * @import { MjModel } from "@mujoco/mujoco"
 * @import { Manifest } from "./manifest.d.ts"
 *
 * @typedef {{vertices: number[], normal: Float64Array}} Polygon `vertices` of its mesh
 */

/**
 * Puts the polygons of some meshes into the order of another compiler, which `simulation/polygons.py` has written. A mesh that
 * has other polygons is left as it is.
 * @param {MjModel} model
 * @param {Manifest["polygons"]} orders mesh -> the rank of each polygon among all of the mesh, sorted by their vertices
 */
export function orderPolygons(model, orders = {}) {
  for (let mesh = 0; mesh < model.nmesh; mesh += 1) {
    const order = orders[nameOf(model, model.name_meshadr, mesh)];
    if (order?.length !== model.mesh_polynum[mesh]) continue;
    const sorted = polygonsOf(model, mesh).sort(byVertices);
    write(model, mesh, order.map((rank) => sorted[rank]));
  }
}

/** @param {MjModel} model @param {number} mesh @returns {Polygon[]} */
function polygonsOf(model, mesh) {
  const [first, vertex] = [model.mesh_polyadr[mesh], model.mesh_polyvert];
  const [from, count, normal] = [model.mesh_polyvertadr, model.mesh_polyvertnum, model.mesh_polynormal];
  return Array.from({ length: model.mesh_polynum[mesh] }, (_, index) => {
    const polygon = first + index;
    return {
      vertices: Array.from(vertex.subarray(from[polygon], from[polygon] + count[polygon])),
      normal: normal.slice(3 * polygon, 3 * polygon + 3),
    };
  });
}

/** @param {Polygon} one @param {Polygon} other */
function byVertices({ vertices: one }, { vertices: other }) {
  const place = one.findIndex((vertex, i) => vertex !== other[i]);
  return place < 0 ? one.length - other.length : one[place] - (other[place] ?? -1);
}

/** Each vertex lists its polygons in their order. @param {MjModel} model @param {number} mesh @param {Polygon[]} polygons */
function write(model, mesh, polygons) {
  const [first, firstVertex] = [model.mesh_polyadr[mesh], model.mesh_vertadr[mesh]];
  const [from, count, vertex, normal] = [model.mesh_polyvertadr, model.mesh_polyvertnum, model.mesh_polyvert, model.mesh_polynormal];
  const [map, mapFrom] = [model.mesh_polymap, model.mesh_polymapadr];
  const taken = new Int32Array(model.mesh_vertnum[mesh]);
  let next = from[first];
  polygons.forEach((polygon, index) => {
    from[first + index] = next;
    count[first + index] = polygon.vertices.length;
    vertex.set(polygon.vertices, next);
    normal.set(polygon.normal, 3 * (first + index));
    next += polygon.vertices.length;
    for (const each of polygon.vertices) {
      map[mapFrom[firstVertex + each] + taken[each]] = index;
      taken[each] += 1;
    }
  });
}
