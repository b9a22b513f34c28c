// @ts-check
import { empty, h } from '../dom.js';

/** @param {HTMLElement} root */
export function mount(root) {
  root.append(h('h1', {}, 'Time'), empty('…'));
  return {};
}
