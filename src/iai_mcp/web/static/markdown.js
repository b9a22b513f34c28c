// @ts-check
// Markdown as nodes, by hand: there is no way from a text to HTML here.
import { h } from './dom.js';

const INLINE = /(`+)([\s\S]+?)\1|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>"')\]]+)/;

/** @param {string} text @returns {(Node | string)[]} */
function inline(text) {
  const parts = [];
  let rest = text;
  for (let found = INLINE.exec(rest); found; found = INLINE.exec(rest)) {
    if (found.index) parts.push(rest.slice(0, found.index));
    const [whole, , code, bold, italic, label, address, bare] = found;
    if (code !== undefined) parts.push(h('code', {}, code));
    else if (bold !== undefined) parts.push(h('strong', {}, bold));
    else if (italic !== undefined) parts.push(h('em', {}, italic));
    else parts.push(link(label || bare, address || bare));
    rest = rest.slice(found.index + whole.length);
  }
  if (rest) parts.push(rest);
  return parts;
}

/** @param {string} says @param {string} address */
function link(says, address) {
  return h('a', { href: address, title: address, target: '_blank', rel: 'noopener noreferrer' }, says);
}

/** @param {string} text @returns {HTMLElement} */
export function markdown(text) {
  const body = h('div', { class: 'said' });
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; ) at = block(lines, at, body);
  return body;
}

/** Add the block that begins at a line; the line after it. @param {string[]} lines @param {number} at @param {HTMLElement} body */
function block(lines, at, body) {
  const line = lines[at];
  const fence = /^\s*(```+|~~~+)/.exec(line);
  if (fence) return code(lines, at, body, fence[1]);
  const heading = /^(#{1,6})\s+(.*)/.exec(line);
  if (heading) {
    // The page has headings of its own: these stand below them.
    body.append(h('p', { class: 'heading' }, inline(heading[2])));
    return at + 1;
  }
  if (!line.trim()) return at + 1;
  if (/^\s*([-*+]|\d+[.)])\s+/.test(line)) return list(lines, at, body);
  if (/^\s*>/.test(line)) return gathered(lines, at, body, 'blockquote', /^\s*>\s?/);
  return gathered(lines, at, body, 'p', null);
}

/** @param {string[]} lines @param {number} at @param {HTMLElement} body @param {string} fence */
function code(lines, at, body, fence) {
  let end = at + 1;
  while (end < lines.length && !lines[end].trim().startsWith(fence)) end += 1;
  body.append(h('pre', { tabindex: 0 }, h('code', {}, lines.slice(at + 1, end).join('\n'))));
  return end + 1;
}

/** @param {string[]} lines @param {number} at @param {HTMLElement} body */
function list(lines, at, body) {
  const marker = /^\s*([-*+]|\d+[.)])\s+/;
  const numbered = /^\s*\d/.test(lines[at]);
  const items = h(numbered ? 'ol' : 'ul');
  let end = at;
  while (end < lines.length && marker.test(lines[end])) {
    items.append(h('li', {}, inline(lines[end].replace(marker, ''))));
    end += 1;
  }
  body.append(items);
  return end;
}

/** @param {string[]} lines @param {number} at @param {HTMLElement} body @param {string} tag @param {RegExp | null} mark */
function gathered(lines, at, body, tag, mark) {
  const made = h(tag);
  let end = at;
  while (end < lines.length && lines[end].trim() && (mark ? mark.test(lines[end]) : end === at || !special(lines[end]))) {
    if (end > at) made.append(h('br'));
    for (const part of inline(mark ? lines[end].replace(mark, '') : lines[end])) made.append(part);
    end += 1;
  }
  body.append(made);
  return end;
}

/** @param {string} line */
function special(line) {
  return /^\s*(```+|~~~+|>|([-*+]|\d+[.)])\s)|^#{1,6}\s/.test(line);
}
