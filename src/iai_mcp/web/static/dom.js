// @ts-check
// Elements from values. Text is only ever set as text: what people said never becomes HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] `on…` are listeners, `class` and the rest attributes
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked') /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  add(element, children);
  return element;
}

/** @param {Node} parent @param {(Child | Child[])[]} children */
export function add(parent, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** @param {Element} element @param {...(Child | Child[])} children */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
}

/** @param {string} iso */
export function when(iso) {
  const then = new Date(iso);
  if (Number.isNaN(then.getTime())) return iso;
  const today = new Date().toDateString() === then.toDateString();
  const clock = then.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return today ? `today ${clock}` : `${then.toLocaleDateString()} ${clock}`;
}

/** @param {string} iso */
export function time(iso) {
  return h('time', { datetime: iso, title: iso }, when(iso));
}

/** @param {string | null | undefined} path the last part of it, which people know */
export function short(path) {
  return (path || '').replace(/\/+$/, '').split('/').pop() || '';
}

/** @param {string} text @param {number} most */
export function cut(text, most) {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** @param {string} says @param {(event: Event) => void} does @param {Record<string, any>} [more] */
export function button(says, does, more = {}) {
  return h('button', { type: 'button', onclick: does, ...more }, says);
}

/** @param {string} says */
export function empty(says) {
  return h('p', { class: 'empty' }, says);
}

/** @param {string[]} titles @param {any[][]} rows */
export function table(titles, rows) {
  return h('table', {}, h('thead', {}, h('tr', {}, titles.map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, rows.map((cells) => h('tr', { class: 'item', tabindex: -1 }, cells.map((cell) => h('td', {}, cell instanceof Node ? cell : String(cell ?? '')))))));
}
