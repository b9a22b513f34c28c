// @ts-check
// A setting of the memory that can be turned where it is shown.
import { tell } from './acts.js';
import { call } from './api.js';
import { h } from './dom.js';

/** @param {string} name @param {unknown} value @param {string} takes */
export function knob(name, value, takes) {
  const input = /** @type {HTMLInputElement} */ (h('input', { type: 'text', value: String(value), size: 8, 'aria-label': name, title: takes }));
  const turn = async () => {
    try {
      const done = await call('profile_set', { knob: name, value: input.value.trim() });
      input.value = String(done.value);
      tell(`${name} was ${done.before} and is ${done.value}.`);
    } catch (failed) {
      tell(/** @type {Error} */ (failed).message);
    }
  };
  return h('form', { class: 'knob', onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); turn(); } }, input, h('button', { type: 'submit', 'aria-label': `Set ${name}` }, 'Set'));
}
