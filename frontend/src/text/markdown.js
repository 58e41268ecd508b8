// Markdown of answers as HTML that does nothing: whatever a model writes, no markup of its own, no request to anybody.

import MarkdownIt from "markdown-it";

import { markFormulas } from "./formula-marks.js";

const FOLLOWED = /^(https?:|mailto:)/i;

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: true }).disable("image"); // an image would tell its server who looks

markdown.validateLink = (url) => FOLLOWED.test(url.trim());

/** A link leaves the page, tells the other site nothing of it, and shows where it goes. */
markdown.renderer.rules.link_open = (tokens, index, options, _env, self) => {
  const link = tokens[index];
  link.attrSet("class", "outgoing");
  link.attrSet("rel", "noopener noreferrer nofollow");
  link.attrSet("target", "_blank");
  link.attrSet("title", link.attrGet("href") ?? "");
  return self.renderToken(tokens, index, options);
};

/** Headings of an answer are none of the page. */
markdown.core.ruler.push("headings", ({ tokens }) => {
  for (const token of tokens) {
    if (token.type !== "heading_open" && token.type !== "heading_close") continue;
    if (token.nesting === 1) token.attrSet("class", `heading heading-${token.tag.slice(1)}`);
    token.tag = "p";
  }
});

markFormulas(markdown);

/** Code may be wider than the page, and is then scrolled, also by keys. @param {string} code @param {string} said after the fence */
function block(code, said) {
  const [language] = said.trim().toLowerCase().split(/\s/);
  const marked = language ? ` data-language="${markdown.utils.escapeHtml(language)}"` : "";
  return `<pre tabindex="0"><code${marked}>${markdown.utils.escapeHtml(code)}</code></pre>\n`;
}
markdown.renderer.rules.fence = (tokens, index) => block(tokens[index].content, tokens[index].info);
markdown.renderer.rules.code_block = (tokens, index) => block(tokens[index].content, "");

/** @param {string} text of an answer, also of one that is not finished @returns safe HTML */
export const toHtml = (text) => markdown.render(text);

/** @param {HTMLElement} element @param {string} text of an answer */
export function showMarkdown(element, text) {
  const template = document.createElement("template");
  template.innerHTML = toHtml(text);
  element.replaceChildren(template.content);
}
