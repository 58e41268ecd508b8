import assert from "node:assert/strict";
import test from "node:test";

import { ApiError } from "../src/battle/api.js";
import { explainError } from "../src/battle/words.js";

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
    assert.match(explainError(refusal(code, 45)), /what you typed is kept\. Try again in 45 s\.$/);
  }
});

test("what does not pass by waiting says nothing of it", () => {
  assert.doesNotMatch(explainError(refusal("already_voted", 5)), /Try again in/);
});
