import assert from "node:assert/strict";
import { test } from "node:test";

import { coloured } from "../src/text/code.js";
import { mathOf } from "../src/text/formulas.js";
import { toHtml } from "../src/text/markdown.js";
import { sayLength } from "../src/text/outcome.js";
import { joined, lastOf, readPieces } from "../src/text/pieces.js";

test("markup that a model writes is shown as text", () => {
  const html = toHtml('<script>alert(1)</script> <img src="http://evil/x.png" onerror="alert(1)"> <b>bold</b>');
  assert.ok(!/<(script|img|b)\b/.test(html), html);
  assert.ok(html.includes("&lt;script&gt;"));
});

test("no image is loaded, whatever its address", () => {
  for (const image of ["![x](http://evil/x.png)", "![x](data:image/png;base64,AA)", "![x][1]\n\n[1]: http://evil/x.png"]) {
    assert.ok(!toHtml(image).includes("<img"), image);
  }
});

test("links leave the page without telling of it, and only to the web", () => {
  const html = toHtml("[here](https://example.org/a?b=c)");
  for (const part of ['href="https://example.org/a?b=c"', 'rel="noopener noreferrer nofollow"', 'target="_blank"', 'class="outgoing"']) {
    assert.ok(html.includes(part), html);
  }
  for (const wrong of ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "/admin/", "//evil", " javascript:x"]) {
    assert.ok(!toHtml(`[x](${wrong})`).includes("<a "), wrong);
  }
});

test("an attribute cannot be left", () => {
  const html = toHtml('[x](https://a/"onclick="alert(1)) [y](https://a "t\\"onclick=\\"x")');
  assert.ok(!/"\s*onclick/.test(html), html);
});

test("headings of an answer are none of the page, and code is escaped", () => {
  const html = toHtml("# Title\n\n```html\n<b>x</b>\n```\n\n    <i>y</i>");
  assert.ok(!/<h[1-6]/.test(html));
  assert.ok(html.includes('<p class="heading heading-1">Title</p>'));
  assert.ok(html.includes("&lt;b&gt;x&lt;/b&gt;"));
  assert.ok(html.includes("&lt;i&gt;y&lt;/i&gt;"));
});

test("an answer that is not finished is drawn as far as it is known", () => {
  for (const half of ["**bol", "```py\nprint(", "| a | b |\n| -", "[x](http", "- "]) assert.ok(toHtml(half).length > 0);
});

test("pieces are joined by their numbers, once each, and not beyond a gap", () => {
  const first = readPieces({ type: "rollout.frames", from_chunk: 0, left: ["", "Hello "], right: ["", "Hi"] });
  const second = readPieces({ type: "rollout.frames", from_chunk: 2, left: ["world"], right: [""] });
  assert.equal(lastOf(second), 2);
  assert.deepEqual(joined([second, first, first], 2), { left: "Hello world", right: "Hi", whole: true });
  assert.deepEqual(joined([second], 2), { left: "", right: "", whole: false });
  assert.deepEqual(joined([first], 2), { left: "Hello ", right: "Hi", whole: false });
});

test("what are no pieces is refused", () => {
  for (const wrong of [{}, { from_chunk: -1, left: ["a"], right: ["a"] }, { from_chunk: 0, left: ["a"], right: [] }]) {
    assert.throws(() => readPieces(wrong), TypeError);
  }
  assert.throws(() => readPieces({ from_chunk: 0, left: [7], right: ["a"] }), TypeError);
});

test("formulas are marked with what was written, and money is none", () => {
  for (const written of ["$a < b$", "$$x^2$$", "\\(x\\)", "\\[\nx\n\\]"]) {
    const html = toHtml(`see ${written} here`);
    assert.ok(html.includes('<span class="formula'), written);
    assert.ok(html.includes("here"), written);
    assert.ok(!html.includes("a < b"), html);
  }
  assert.match(toHtml("$$x$$"), /class="formula formula-display" data-tex="x">\$\$x\$\$</);
  for (const money of ["$5 and $6", "$ 5$", "it costs $5", "`$x$`", "\\$x$ y"]) assert.ok(!toHtml(money).includes("formula"), money);
});

test("a formula cannot leave its attribute, and loads nothing", () => {
  const html = toHtml('$x"onclick="alert(1)"<img src=x>$');
  assert.ok(!/"\s*onclick|<img/.test(html), html);
  for (const tex of ["\\includegraphics{https://evil/x.png}", "\\href{javascript:alert(1)}{x}", "\\htmlStyle{color:red}{x}"]) {
    assert.ok(!/<img|\shref=|\sstyle=/.test(mathOf(tex, false) ?? ""), tex);
  }
});

test("a formula becomes MathML, and what is none stays as it was written", () => {
  assert.match(mathOf("\\frac{a}{b}", true) ?? "", /<math[^>]*display="block".*<mfrac>/s);
  for (const wrong of ["\\frac{a}", "\\def\\x{\\x\\x}\\x", "x".repeat(3000)]) assert.equal(mathOf(wrong, false), null);
});

test("code is coloured by the language of its fence, and escaped", () => {
  assert.ok(toHtml("```Py title\nx\n```").includes('<code data-language="py">'));
  assert.ok(toHtml('```"><img src=x>\nx\n```').includes("&quot;&gt;"));
  assert.match(coloured("def f(): return '<b>'", "py") ?? "", /hljs-keyword.*&lt;b&gt;/);
  assert.equal(coloured("x", "no-such-language"), null);
});

test("an answer that reached its limit says so", () => {
  assert.equal(sayLength({ answer_tokens: 150, termination_reason: "length_limit" }), "150 tokens, cut at the limit");
  assert.equal(sayLength({ answer_tokens: 1, termination_reason: "answered" }), "1 token");
});
