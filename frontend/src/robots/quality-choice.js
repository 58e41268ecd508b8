// The visitor's choice of how much is drawn, kept in this browser.

import { QUALITIES } from "../viewer/quality.js";

const KEY = "arena.quality";
/** Chooses by the machine's speed. */
export const AUTOMATIC = "auto";
/** In the order of the switch. */
export const CHOICES = [AUTOMATIC, "full", "coarse"];

/** What the address asks for, or else what was chosen before. @param {string} search of the page's address @returns {string} */
export function chosenQuality(search) {
  const asked = new URLSearchParams(search).get("quality") ?? "";
  if (QUALITIES.some(({ name }) => name === asked)) return asked;
  const kept = read();
  return CHOICES.includes(kept) ? kept : AUTOMATIC;
}

/** @param {string} choice */
export function keepQuality(choice) {
  try {
    if (choice === AUTOMATIC) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // storage is off or full: the choice applies to this page only
  }
}

/** @param {string} choice any */
export const nextChoice = (choice) => CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];

function read() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch (error) {
    if (error instanceof DOMException) return "";
    throw error;
  }
}
