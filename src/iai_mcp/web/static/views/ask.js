// @ts-check
// Recall as one types: each hit with who, where, when and why it was found.
import { call, Failed } from '../api.js';
import { empty, fill, h } from '../dom.js';
import { memoryItem } from '../memory.js';

const PAUSE = 120; // milliseconds after the last key
const FILTERS = [
  ['project', 'Project', 'text'], ['host', 'Program', 'text'], ['agent', 'Agent', 'text'], ['role', 'Role', 'text'], ['from', 'From', 'text', 'a member of a circle, or me'], ['machine', 'Machine', 'text', 'its name, or here'],
  ['since', 'Since', 'date'], ['until', 'Until', 'date'], ['as_of', 'As of', 'date'],
];

/** @param {HTMLElement} root @param {{query: URLSearchParams}} where */
export function mount(root, { query }) {
  const cue = /** @type {HTMLInputElement} */ (h('input', {
    id: 'cue', type: 'search', placeholder: 'What was said about …', 'aria-label': 'Ask the memory', autocomplete: 'off', value: query.get('q') || '',
  }));
  const numbers = /** @type {HTMLInputElement} */ (h('input', { type: 'checkbox', id: 'numbers' }));
  const fields = FILTERS.map(([name, says, type, hint]) => ({
    name, input: /** @type {HTMLInputElement} */ (h('input', { type, name, placeholder: hint, value: query.get(name) || '' })), says,
  }));
  const found = h('div', { id: 'found', 'aria-live': 'polite' });
  const note = h('p', { class: 'note' });
  const filters = h('details', { open: fields.some(({ input }) => input.value) }, h('summary', {}, 'Filters'),
    h('div', { class: 'filters' }, fields.map(({ says, input }) => h('label', {}, says, input)), h('label', { class: 'check' }, numbers, 'Numbers')));
  root.append(h('h1', {}, 'Ask'), cue, filters, note, found);

  let timer = 0;
  let running = new AbortController();

  async function ask() {
    running.abort();
    running = new AbortController();
    const words = cue.value.trim();
    const given = fields.filter(({ input }) => input.value).map(({ name, input }) => [name, input.value]);
    const kept = new URLSearchParams([...(words ? [['q', words]] : []), ...given]);
    history.replaceState(null, '', `#/ask${kept.size ? `?${kept}` : ''}`);
    if (!words) return fill(found, empty('Type a question: words or a whole sentence.'));
    const began = performance.now();
    try {
      const answer = await call('memory_recall', {
        cue: words, k: 20, budget_tokens: 8000, explain: numbers.checked, ...Object.fromEntries(given),
      }, running.signal);
      show(answer, performance.now() - began);
    } catch (failed) {
      if (failed instanceof Failed) fill(found, empty(failed.message));
    }
  }

  /** @param {any} answer @param {number} took */
  function show(answer, took) {
    const degraded = answer.degraded.length ? ` ${answer.degraded.join('; ')}` : '';
    note.textContent = `${answer.hits.length} found by ${answer.cue_mode} in ${Math.round(took)} ms, on this machine, for no tokens.${degraded}`;
    fill(found,
      answer.hits.map((/** @type {any} */ hit) => memoryItem(hit, { after: ask, note: why(hit) })),
      answer.anti_hits.length > 0 && h('h2', {}, 'Was true before'),
      answer.anti_hits.map((/** @type {any} */ hit) => memoryItem(hit, { after: ask, note: why(hit) })),
      !answer.hits.length && !answer.anti_hits.length && empty('Nothing was said about that.'));
  }

  const soon = () => { clearTimeout(timer); timer = setTimeout(ask, PAUSE); };
  cue.addEventListener('input', soon);
  for (const { input } of fields) input.addEventListener('input', soon);
  numbers.addEventListener('change', ask);
  cue.focus();
  ask();
  return { leave: () => { clearTimeout(timer); running.abort(); } };
}

/** @param {any} hit */
function why(hit) {
  const parts = hit.parts && Object.entries(hit.parts).map(([name, value]) => `${name} ${value}`).join(', ');
  return [h('span', { class: 'why' }, `found by ${hit.reason}`), ...(parts ? [h('span', { class: 'why' }, `score ${hit.score} (${parts})`)] : [])];
}
