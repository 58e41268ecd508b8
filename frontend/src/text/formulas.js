// Formulas, fetched with the first answer that has some: an entry of its own.

import katex from "katex";

const LONGEST = 2000;

/**
 * As MathML, which browsers draw with fonts of their own: neither a style sheet nor fonts are fetched.
 * @param {string} tex @param {boolean} display on a line of its own @returns {string | null} null: no formula
 */
export function mathOf(tex, display) {
  if (tex.length > LONGEST) return null;
  try {
    return katex.renderToString(tex, { displayMode: display, output: "mathml", trust: false, maxExpand: 200, maxSize: 10, strict: "ignore" });
  } catch {
    return null; // it is shown as it was written
  }
}
