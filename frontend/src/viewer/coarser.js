// Coarser meshes for software rendering, where each triangle costs half a microsecond. Pure.

/** Corners of one cell of this size [m] become one point: about one and a half pixels of a picture 480 wide. */
const CELL = 0.0025;
const CELLS = 4096;

/**
 * A mesh without the triangles whose corners are closer than a pixel or two. Neighbours still meet without gaps.
 * @param {{index: Uint32Array, positions: Float32Array}} mesh
 * @returns {{index: Uint32Array<ArrayBuffer>, positions: Float32Array<ArrayBuffer>}} with the vertices of the mesh, of which some are unused
 */
export function coarser({ index, positions }) {
  const cells = cellsOf(positions);
  const snapped = new Float32Array(positions.length);
  for (let vertex = 0; vertex < cells.length; vertex += 1) {
    for (let axis = 0; axis < 3; axis += 1) snapped[3 * vertex + axis] = positions[3 * cells[vertex] + axis];
  }
  const kept = new Uint32Array(index.length);
  let count = 0;
  for (let at = 0; at < index.length; at += 3) {
    const a = cells[index[at]];
    const b = cells[index[at + 1]];
    const c = cells[index[at + 2]];
    if (a === b || b === c || a === c) continue;
    for (let corner = 0; corner < 3; corner += 1) kept[count + corner] = index[at + corner];
    count += 3;
  }
  return { index: kept.slice(0, count), positions: snapped };
}

/** For each vertex the first one of its cell. @param {Float32Array} positions */
function cellsOf(positions) {
  /** @type {Map<number, number>} */
  const first = new Map();
  const cells = new Uint32Array(positions.length / 3);
  /** @param {number} at */
  const cellAt = (at) => Math.round(positions[at] / CELL) + CELLS / 2;
  for (let vertex = 0, at = 0; vertex < cells.length; vertex += 1, at += 3) {
    const key = (cellAt(at) * CELLS + cellAt(at + 1)) * CELLS + cellAt(at + 2);
    const known = first.get(key) ?? vertex;
    if (known === vertex) first.set(key, vertex);
    cells[vertex] = known;
  }
  return cells;
}
