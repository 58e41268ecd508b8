// The length of an instruction, counted as `arena/words.py` and the server count it.

import { gettext, ngettext } from "./i18n.js";

/** Scripts written without blanks, of which a character counts as a word: kana, Chinese characters. */
const UNSPACED = "\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const FIRST = `(?![${UNSPACED}])[\\p{L}\\p{N}]`;
const NEXT = `(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}\\u200c\\u200d]`;
/** "don't" is one word, "right-hand" two. */
const WORD = new RegExp(`[${UNSPACED}]|${FIRST}(?:${NEXT})*(?:['\\u2019](?:${NEXT}){1,2}(?!${NEXT}))?`, "gu");

/** From here on the number of characters is told too. */
const FEW_CHARACTERS = 20;
/** From here on the number of words is read out. */
const FEW_WORDS = 3;

/** @typedef {{words: number | null, characters: number}} Limit `words`: null where only characters are bounded */

/** @param {string} text */
export const words = (text) => text.match(WORD)?.length ?? 0;

/** A character outside the basic plane is one, not two. @param {string} text */
export const characters = (text) => [...text].length;

/** What is left; negative for what is too much. @param {string} text without blanks around it @param {Limit} limit */
function leftOf(text, limit) {
  return {
    words: limit.words === null ? Infinity : limit.words - words(text),
    characters: limit.characters - characters(text),
  };
}

/**
 * "12 words left", "2 words too many"; "" where there is nothing to say.
 * @param {string} text without blanks around it @param {Limit} limit
 */
export function sayLeft(text, limit) {
  const left = leftOf(text, limit);
  if (left.words < 0) return ngettext("%(count)s word too many", "%(count)s words too many", -left.words);
  if (left.characters < 0) return ngettext("%(count)s character too many", "%(count)s characters too many", -left.characters);
  if (left.characters < FEW_CHARACTERS) return ngettext("%(count)s character left", "%(count)s characters left", left.characters);
  if (left.words === Infinity) return "";
  return ngettext("%(count)s word left", "%(count)s words left", left.words);
}

/** Whether `sayLeft` is worth reading out while somebody types. @param {string} text @param {Limit} limit */
export function isNearlyFull(text, limit) {
  const left = leftOf(text, limit);
  return left.words <= FEW_WORDS || left.characters < FEW_CHARACTERS;
}

/** Why the server would refuse a text of this length; "" if it would not. @param {string} text @param {Limit} limit */
export function faultOfLength(text, limit) {
  const left = leftOf(text, limit);
  if (left.words < 0) return sayTooLong(Number(limit.words), "words");
  return left.characters < 0 ? sayTooLong(limit.characters, "characters") : "";
}

/** @param {number} longest of an instruction @param {string | null | undefined} unit "words" or "characters" */
export const sayTooLong = (longest, unit) =>
  unit === "words"
    ? gettext("An instruction has at most %(longest)s words. Please shorten it; your text is kept.", { longest })
    : gettext("An instruction has at most %(longest)s characters. Please shorten it; your text is kept.", { longest });
