// The pieces of both answers of a turn, as they come.

/**
 * @typedef {object} Pieces of both answers from number `from` on, "" where a side has none
 * @property {number} from
 * @property {string[]} left
 * @property {string[]} right
 */

export const SIDES = /** @type {const} */ (["left", "right"]);
const MOST = 100_000;

/** Throws a TypeError for what are no pieces. @param {object} message of the type "rollout.frames" @returns {Pieces} */
export function readPieces(message) {
  const { from_chunk: from, left, right } = /** @type {{from_chunk: number, left: string[], right: string[]}} */ (message);
  if (!Number.isInteger(from) || from < 0 || from > MOST) throw new TypeError("no answer has such a piece");
  for (const side of [left, right]) {
    if (!Array.isArray(side) || side.some((piece) => typeof piece !== "string")) throw new TypeError("a piece is a text");
  }
  if (left.length !== right.length || left.length === 0) throw new TypeError("both sides have as many pieces");
  return { from, left, right };
}

/** The number of the last of them. @param {Pieces} pieces */
export const lastOf = ({ from, left }) => from + left.length - 1;

/**
 * What is known of both answers. A socket that was opened again brings pieces a second time.
 * @param {Pieces[]} come in any order @param {number | null} steps how many there are in all, once that is known
 * @returns {{left: string, right: string, whole: boolean}} `whole`: none is missing
 */
export function joined(come, steps) {
  /** @type {Record<"left" | "right", string[]>} */
  const known = { left: [], right: [] };
  for (const pieces of come) {
    for (const side of SIDES) for (const [number, piece] of pieces[side].entries()) known[side][pieces.from + number] = piece;
  }
  const count = steps === null ? Number.POSITIVE_INFINITY : steps + 1;
  const without = known.left.findIndex((piece) => piece === undefined);
  const first = without === -1 ? known.left.length : without; // after a gap nothing is shown: it would read wrongly
  return { left: known.left.slice(0, first).join(""), right: known.right.slice(0, first).join(""), whole: first >= count };
}
