// @ts-check
// One memory as all views show it: who, where, when, the words, and what can be done with it.
import { acts } from './acts.js';
import { call } from './api.js';
import { button, h, short, time } from './dom.js';
import { markdown } from './markdown.js';

const LONG = 6000; // characters that are shown at once

/** @param {any} memory */
export function who(memory) {
  return memory.speaker || (memory.role === 'user' ? 'user' : memory.agent || memory.host || memory.role);
}

/** @param {any} memory @param {Record<string, string>} [params] */
export function conversation(memory, params = {}) {
  const more = new URLSearchParams({ turn: memory.id, ...params });
  return `#/conversations/${encodeURIComponent(memory.session_id)}?${more}`;
}

/**
 * @param {any} memory
 * @param {{after: () => void, note?: (Node | string)[], linked?: boolean}} options
 */
export function memoryItem(memory, { after, note = [], linked = true }) {
  const about = h('p', { class: 'about' },
    h('span', { class: `role ${memory.role === 'user' ? 'user' : 'other'}` }, who(memory)),
    memory.project && h('span', { title: memory.project }, short(memory.project)),
    memory.host && memory.host !== who(memory) && h('span', {}, memory.host),
    memory.member && h('span', { title: `circle ${memory.circle}` }, `${memory.member} on ${memory.machine}`),
    memory.ts && time(memory.ts),
    memory.pinned && h('span', { class: 'tag' }, 'pinned'),
    memory.valid_to && h('span', { class: 'tag' }, 'superseded'),
    memory.kind && h('span', { class: 'tag' }, memory.kind),
    note,
  );
  const link = linked && memory.session_id && h('a', { href: conversation(memory) }, 'In its conversation');
  return h('article', { class: 'item', tabindex: -1, id: `m-${memory.id}`, 'data-ts': memory.ts },
    about, memory.kind ? h('pre', { tabindex: 0 }, memory.text) : words(memory), done(memory), h('p', { class: 'foot' }, link, acts(memory, after)));
}

/** What was done after a turn, folded. @param {any} memory */
function done(memory) {
  const work = memory.work;
  if (!work || !Array.isArray(work.did)) return null;
  const counts = [[work.commands, 'commands'], [work.failed, 'failed'], [work.edits, 'edits'], [work.looked, 'looked at']];
  const says = counts.filter(([count]) => count).map(([count, what]) => `${count} ${what}`).join(', ');
  return h('details', { class: 'work' }, h('summary', {}, `Work: ${says}`), h('ul', {}, work.did.map((/** @type {string} */ one) => h('li', {}, h('code', {}, one)))));
}

/** The words, a very long text cut short until somebody wants all of it. @param {any} memory */
function words(memory) {
  const text = String(memory.text ?? '');
  const whole = text.length <= LONG && !memory.excerpt;
  if (whole) return markdown(text);
  const box = h('div', {}, markdown(text.slice(0, LONG)));
  box.append(button(memory.excerpt ? 'Show all of it' : `Show all ${text.length} characters`, async () => {
    const shown = await call('memory_show', { id: memory.id });
    box.replaceChildren(markdown(shown.record.text));
  }));
  return box;
}
