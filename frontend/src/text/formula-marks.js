// Where an answer has a formula: $a$, $$a$$, \(a\) or \[a\].

/** @typedef {InstanceType<typeof import("markdown-it").default>} MarkdownIt */

/** @type {[open: string, close: string, display: boolean][]} */
const MARKS = [
  ["$$", "$$", true],
  ["\\[", "\\]", true],
  ["\\(", "\\)", false],
  ["$", "$", false],
];

/** The formula at this place, if there is one. @param {string} text @param {number} at */
function formulaAt(text, at) {
  for (const [open, close, display] of MARKS) {
    if (!text.startsWith(open, at)) continue;
    const first = at + open.length;
    const last = text.indexOf(close, first);
    if (last <= first) continue;
    const end = last + close.length;
    if (open !== "$" || isNoMoney(text.slice(first, last), text[end] ?? "")) return { tex: text.slice(first, last).trim(), display, end };
  }
  return null;
}

/** "$5 and $6" has no formula: none has blanks at its ends, or is followed by a digit. @param {string} inside @param {string} next */
const isNoMoney = (inside, next) => inside.trim() === inside && !/\d/.test(next);

/** Until it is drawn a formula is shown as it was written. @param {MarkdownIt} markdown */
export function markFormulas(markdown) {
  markdown.inline.ruler.before("escape", "formula", (state, silent) => {
    const found = formulaAt(state.src.slice(0, state.posMax), state.pos);
    if (!found) return false;
    if (!silent) {
      const token = state.push("formula", "", 0);
      token.content = found.tex;
      token.info = state.src.slice(state.pos, found.end);
      token.markup = found.display ? "$$" : "$";
    }
    state.pos = found.end;
    return true;
  });
  markdown.renderer.rules.formula = (tokens, index) => {
    const { content, info, markup } = tokens[index];
    const { escapeHtml } = markdown.utils;
    return `<span class="formula${markup === "$$" ? " formula-display" : ""}" data-tex="${escapeHtml(content)}">${escapeHtml(info)}</span>`;
  };
}
