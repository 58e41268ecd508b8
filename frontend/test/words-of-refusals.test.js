import assert from "node:assert/strict";
import test from "node:test";

import { ApiError } from "../src/core/api.js";
import { sayTooLong } from "../src/core/sentence.js";
import { explainError, useKindWords } from "../src/core/words.js";
import { WORDS } from "../src/robots/words.js";

useKindWords(WORDS);

const refusal = (code, retryAfter) => new ApiError(429, { code, detail: "As the server says it." }, retryAfter);

test("a refusal that the page has no words for is told in the server's", () => {
  assert.equal(explainError(refusal("something_new", 20)), "As the server says it.");
});

test("who was too quick reads when to try again", () => {
  assert.match(explainError(refusal("throttled", 20)), /^That was a lot .* Try again in 20 s\.$/);
  assert.match(explainError(refusal("throttled", 3000)), / Try again in 50 min\.$/);
  assert.match(explainError(refusal("throttled", null)), / Wait a moment, then try again\.$/);
});

test("a full line says how long it is best to wait, as nothing was started", () => {
  for (const code of ["queue_full", "too_many_turns"]) {
    assert.match(explainError(refusal(code, 45)), /Your text is kept\. Try again in 45 s\.$/);
  }
});

test("what does not pass by waiting says nothing of it", () => {
  assert.doesNotMatch(explainError(refusal("already_voted", 5)), /Try again in/);
});

test("an instruction that is too long is told the limit, by the page as by the server", () => {
  const told = new ApiError(422, { code: "instruction_too_long", detail: "As the server says it.", longest: 200 });
  assert.match(explainError(told), /^An instruction has at most 200 characters\./);
  assert.equal(explainError(told), sayTooLong(200, "characters"));
  const words = new ApiError(422, { code: "instruction_too_long", detail: "As the server says it.", longest: 16, unit: "words" });
  assert.match(explainError(words), /^An instruction has at most 16 words\. .* your text is kept\.$/);
});

test("who asks for what is not there reads what is", () => {
  const told = new ApiError(422, { code: "not_there", detail: "", missing: ["carrot", "spoon"], there: ["red cube", "bowl"] });
  assert.equal(explainError(told), "This is not here: carrot, spoon. There are: red cube, bowl.");
});
