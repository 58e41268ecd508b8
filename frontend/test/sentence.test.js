import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { characters, faultOfLength, isNearlyFull, sayLeft, words } from "../src/core/sentence.js";

const COUNTED = JSON.parse(readFileSync(new URL("../../tests/data/words.json", import.meta.url), "utf8"));
const LIMIT = { words: 4, characters: 60 };

test("words are counted as the server counts them", () => {
  for (const [text, count] of Object.entries(COUNTED)) assert.equal(words(text), count, text);
});

test("characters are counted as the server counts them", () => {
  assert.equal(characters("red"), 3);
  assert.equal(characters("🤖🤖"), 2);
});

test("what is left is told in words, with the singular", () => {
  assert.equal(sayLeft("", LIMIT), "4 words left");
  assert.equal(sayLeft("lift it up", LIMIT), "1 word left");
  assert.equal(sayLeft("lift it up now", LIMIT), "0 words left");
});

test("what is too much is told, and would be refused", () => {
  assert.equal(sayLeft("lift it up right now", LIMIT), "1 word too many");
  assert.match(faultOfLength("lift it up right now", LIMIT), /^An instruction has at most 4 words\./);
  assert.equal(sayLeft("a".repeat(62), LIMIT), "2 characters too many");
  assert.match(faultOfLength("a".repeat(62), LIMIT), /^An instruction has at most 60 characters\./);
  assert.equal(faultOfLength("lift it up now", LIMIT), "");
});

test("characters are told once few of them are left", () => {
  assert.equal(sayLeft("a".repeat(59), LIMIT), "1 character left");
});

test("a kind without a limit of words tells nothing until characters run out", () => {
  assert.equal(sayLeft("lift it ".repeat(3), { words: null, characters: 60 }), "");
  assert.equal(isNearlyFull("lift it ".repeat(3), { words: null, characters: 60 }), false);
  assert.equal(sayLeft("a".repeat(50), { words: null, characters: 60 }), "10 characters left");
});

test("what is left is read out only once it is little", () => {
  assert.equal(isNearlyFull("", { words: 16, characters: 200 }), false);
  assert.equal(isNearlyFull("one two three four five six seven eight nine ten eleven twelve thirteen", { words: 16, characters: 200 }), true);
});
