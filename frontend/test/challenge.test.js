import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";

import { answering, hasher, leadingZeros, proofOfWork } from "../src/core/challenge.js";
import { ApiError } from "../src/core/api.js";

const hex = (words) => Array.from(words, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
const asked = { kind: "proof-of-work", token: "WyJuZXR3b3JrIiwxMl0:1wABC:c2lnbmF0dXJl", bits: 10, expires_in_s: 300 };

test("texts of every length about a block hash as Node hashes them", () => {
  for (let length = 0; length < 200; length++) {
    const prefix = "abcdefghij".repeat(20).slice(0, length);
    const hash = hasher(prefix);
    for (const rest of ["", "7", "1234567890123456"]) assert.equal(hex(hash(rest)), sha256(prefix + rest), `${length} ${rest}`);
  }
});

test("zero bits are counted across words", () => {
  assert.equal(leadingZeros(Int32Array.of(-1, 0)), 0);
  assert.equal(leadingZeros(Int32Array.of(1, 0)), 31);
  assert.equal(leadingZeros(Int32Array.of(0, 0x00ff0000)), 40);
});

test("a proof of work has as many zero bits as were asked for", async () => {
  const answer = await proofOfWork(asked);
  assert.ok(answer.startsWith(`${asked.token}.`));
  assert.match(BigInt(`0x1${sha256(answer)}`).toString(2), /^10{10}/);
});

test("a call that is refused with a challenge is made again with the answer, once", async () => {
  const sent = [];
  const answer = await answering(async (headers) => {
    sent.push(headers);
    if (sent.length === 1) throw new ApiError(428, { code: "challenge_required", detail: "", challenge: asked });
    return "served";
  });
  assert.equal(answer, "served");
  assert.deepEqual(sent[0], {});
  assert.ok(sent[1]["Challenge-Answer"].startsWith(asked.token));
});

test("other refusals, and challenges that the page has no answer to, are the caller's", async () => {
  for (const body of [{ code: "not_found", detail: "" }, { code: "challenge_required", detail: "", challenge: { kind: "captcha" } }]) {
    let calls = 0;
    const refused = answering(async () => {
      calls += 1;
      throw new ApiError(428, body);
    });
    await assert.rejects(refused, (error) => error.code === body.code);
    assert.equal(calls, 1);
  }
});
