/** @typedef {"left" | "right"} Side */
/** @template T @typedef {Record<Side, T>} BySide */

/** @type {readonly ["left", "right"]} */
export const SIDES = ["left", "right"];

/** @param {Side} side @returns {Side} */
export const otherSide = (side) => (side === "left" ? "right" : "left");
