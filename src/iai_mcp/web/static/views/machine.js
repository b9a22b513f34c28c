// @ts-check
// How the machine does: the doctor's word, sizes, settings, sleep.
import { tell } from '../acts.js';
import { call, Failed } from '../api.js';
import { button, empty, fill, h } from '../dom.js';
import { plot } from '../plots.js';

/** @param {HTMLElement} root */
export function mount(root) {
  const parts = { doctor: h('div', {}), sizes: h('div', {}), growth: h('div', {}), sleep: h('div', {}), knobs: h('div', {}) };
  root.append(h('h1', {}, 'Machine'), h('h2', {}, 'Doctor'), parts.doctor, h('p', {}, button('Examine', examine)), h('h2', {}, 'Memory'), parts.sizes, parts.growth,
    h('h2', {}, 'Sleep'), parts.sleep, h('h2', {}, 'Settings of the memory'), parts.knobs);

  /** @param {HTMLElement} box @param {Promise<any>} asked @param {(answer: any) => (Node | string)[]} shown */
  async function into(box, asked, shown) {
    try {
      fill(box, shown(await asked));
    } catch (failed) {
      if (!(failed instanceof Failed)) throw failed;
      fill(box, empty(failed.message));
    }
  }
  function examine() {
    fill(parts.doctor, empty('Examining …'));
    into(parts.doctor, call('doctor'), ({ checks }) => [table(['Result', 'Check', 'Finding'], checks.map((/** @type {any} */ one) => [one.status, one.name, [one.detail, one.fix].filter(Boolean).join(' · ')]))]);
  }
  function load() {
    into(parts.sizes, Promise.all([call('status'), call('topology')]), ([status, shape]) => [table(['What', 'Value'], [
      ['version', status.version], ['memories', shape.records], ['projects', shape.projects], ['vectors', shape.vectors], ['vectors to come', shape.vectors_pending],
      ['topics', shape.communities], ['derived in sleep', shape.derived], ['meaning', status.model], ['up for', `${Math.round(status.uptime_sec / 60)} min`], ['store', status.store]])]);
    into(parts.growth, call('memory_calendar', { by: 'role' }), ({ days }) => {
      const box = h('div', { class: 'plot' });
      /** @type {Map<string, number>} */
      const perDay = new Map();
      for (const { day, count } of days) perDay.set(day, (perDay.get(day) || 0) + count);
      let sum = 0;
      const sums = [...perDay.values()].map((count) => { sum += count; return sum; });
      // After it stands on the page: a plot is as wide as its place.
      if (sums.length > 1) setTimeout(() => plot(box, 'Memories by the time they were said', [...perDay.keys()].map((day) => Date.parse(day) / 1000), [{ label: 'memories', values: sums }]));
      return [box];
    });
    into(parts.sleep, call('events_query', { kind: 'lifecycle', limit: 20 }), ({ events }) => [table(['When', 'From', 'To', 'Why'], events.reverse().map((/** @type {any} */ one) => [new Date(one.ts).toLocaleString(), one.data.from, one.data.to, one.data.reason]))]);
    into(parts.knobs, call('profile_get'), ({ values, knobs }) => [table(['Name', 'Value', 'What it changes'], Object.entries(values).map(([name, value]) => [name, knob(name, value, knobs[name]?.takes), knobs[name]?.says || '']))]);
  }
  load();
  return {};
}

/** A setting that can be turned here. @param {string} name @param {unknown} value @param {string} takes */
function knob(name, value, takes) {
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

/** @param {string[]} titles @param {any[][]} rows */
function table(titles, rows) {
  return h('table', {}, h('thead', {}, h('tr', {}, titles.map((title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, rows.map((cells) => h('tr', { class: 'item', tabindex: -1 }, cells.map((cell) => h('td', {}, cell instanceof Node ? cell : String(cell ?? '')))))));
}
