// @ts-check
// Forgetting with a preview, pauses, retention, private projects, and the journal in which every act can be seen.
import { forget, tell } from '../acts.js';
import { call, Failed } from '../api.js';
import { button, cut, empty, fill, h, table, time } from '../dom.js';
import { knob } from '../knobs.js';

const FIELDS = [['query', 'Words', 'text'], ['project', 'Project', 'text'], ['session_id', 'Session', 'text'], ['after', 'From', 'date'], ['before', 'Until', 'date']];

/** @param {HTMLElement} root */
export function mount(root) {
  const fields = FIELDS.map(([name, says, type]) => ({ name, says, input: /** @type {HTMLInputElement} */ (h('input', { type, name })) }));
  const journal = h('div', {});
  const secluded = h('div', {});
  const capture = h('p', {});
  const retention = h('div', {});
  const hidden = /** @type {HTMLInputElement} */ (h('input', { type: 'text', name: 'private', placeholder: 'a path or a name' }));
  const chosen = () => Object.fromEntries(fields.filter(({ input }) => input.value.trim()).map(({ name, input }) => [name, input.value.trim()]));
  root.append(h('h1', {}, 'Care'), h('h2', {}, 'Forget'),
    h('p', { class: 'note' }, 'All that is filled in has to fit. You see what would go before anything does.'),
    h('form', { class: 'filters', onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); act(); } },
      fields.map(({ says, input }) => h('label', {}, says, input)), h('button', { type: 'submit', class: 'danger' }, 'See what would go')),
    h('h2', {}, 'Capture'), capture, h('h2', {}, 'Retention'), retention, h('h2', {}, 'Private projects'), secluded, h('form', { class: 'filters', onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); seclude(hidden.value.trim(), true); } },
      h('label', {}, 'Keep to itself', hidden), h('button', { type: 'submit' }, 'Make private')),
    h('h2', {}, 'Journal'), journal, h('p', {}, button('Look again', load)));

  async function act() {
    if (await forget(chosen())) load();
  }

  /** @param {{paused?: boolean}} change */
  async function consent(change) {
    try {
      const { paused, paused_since: since } = await call('capture_consent', change);
      const says = paused ? [h('strong', {}, 'Capture is paused since '), time(since), '. What is said meanwhile is not remembered, not even later. '] : ['Capture is on. '];
      fill(capture, says, button(paused ? 'Resume capture' : 'Pause capture', () => consent({ paused: !paused })));
    } catch (failed) {
      if (failed instanceof Failed) fill(capture, failed.message);
    }
  }

  async function keeping() {
    const { values, knobs } = await call('profile_get');
    const names = Object.keys(values).filter((name) => name.startsWith('retention'));
    fill(retention, table(['Name', 'Value', 'What it changes'], names.map((name) => [name, knob(name, values[name], knobs[name].takes), knobs[name].says])));
  }

  /** @param {string} project @param {boolean} [change] */
  async function seclude(project, change) {
    try {
      const answer = await call('project_privacy', change === undefined ? {} : { project, private: change });
      fill(secluded, answer.private.map((/** @type {string} */ one) => h('p', { class: 'item row', tabindex: -1 }, h('span', {}, one), ' ', button('Open again', () => seclude(one, false)))),
        !answer.private.length && empty('None: every project is told of the others where that helps.'));
    } catch (failed) {
      if (failed instanceof Failed) tell(failed.message);
    }
  }

  async function load() {
    try {
      const { events } = await call('events_query', { limit: 100 });
      fill(journal, table(['When', 'What', 'About'], events.reverse().map((/** @type {any} */ one) => [time(one.ts), one.kind, cut(JSON.stringify(one.data), 140)])),
        !events.length && empty('Nothing happened yet.'));
    } catch (failed) {
      if (failed instanceof Failed) fill(journal, empty(failed.message));
    }
  }
  load();
  seclude('');
  consent({});
  keeping().catch((failed) => { if (failed instanceof Failed) fill(retention, empty(failed.message)); else throw failed; });
  return { changed: load };
}
