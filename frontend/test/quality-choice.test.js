import assert from "node:assert/strict";
import test from "node:test";

import { chosenQuality, keepQuality, nextChoice } from "../src/robots/quality-choice.js";

const store = () => {
  const kept = new Map();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
};

test("the first choice is automatic, and a choice is kept", () => {
  globalThis.localStorage = store();
  assert.equal(chosenQuality(""), "auto");
  keepQuality("coarse");
  assert.equal(chosenQuality(""), "coarse");
  keepQuality("auto");
  assert.equal(chosenQuality(""), "auto");
});

test("the address wins over what was kept, if it names a quality", () => {
  globalThis.localStorage = store();
  keepQuality("coarse");
  assert.equal(chosenQuality("?quality=full"), "full");
  assert.equal(chosenQuality("?quality=lite"), "lite");
  assert.equal(chosenQuality("?quality=best"), "coarse");
});

test("what another release has kept does not matter", () => {
  globalThis.localStorage = store();
  localStorage.setItem("arena.quality", "ultra");
  assert.equal(chosenQuality(""), "auto");
});

test("a browser that keeps nothing still has the choice", () => {
  const refuse = () => {
    throw new DOMException("off", "SecurityError");
  };
  globalThis.localStorage = { getItem: refuse, setItem: refuse, removeItem: refuse };
  keepQuality("full");
  assert.equal(chosenQuality(""), "auto");
});

test("the key goes through all choices, and from any other quality to the first", () => {
  assert.deepEqual(["auto", "full", "coarse", "lite"].map(nextChoice), ["full", "coarse", "auto", "auto"]);
});
