// @ts-check
// What was put into which session, why, and how much of it; and what to do about it.
import { call, Failed } from '../api.js';
import { empty, fill, h, short, time } from '../dom.js';
import { memoryItem } from '../memory.js';

const MOMENTS = { session_start: 'at its start', prompt: 'with a prompt' };

/** @param {HTMLElement} root @param {{query: URLSearchParams}} where */
export function mount(root, { query }) {
  const session = query.get('session') || '';
  const list = h('div', {});
  root.append(h('h1', {}, 'Injected'), h('p', { class: 'note' }, session ? `Into session ${session}. ` : 'What memory told new sessions and prompts, newest first. ',
    session && h('a', { href: '#/injected' }, 'All sessions')), list);

  async function load() {
    try {
      const answer = await call('injections', { limit: 30, session_id: session });
      fill(list, answer.injections.map(one), !answer.injections.length && empty('Nothing was injected yet.'));
      list.querySelector('details[open]')?.scrollIntoView({ block: 'center' });
    } catch (failed) {
      if (failed instanceof Failed) fill(list, empty(failed.message));
    }
  }

  /** @param {any} injection */
  function one(injection) {
    const moment = /** @type {Record<string, string>} */ (MOMENTS)[injection.moment] || injection.moment;
    const title = h('summary', {}, time(injection.ts), ` ${short(injection.project)} · ${injection.tokens} tokens ${moment} · ${injection.sources.length} memories · `,
      h('code', {}, (injection.session_id || 'no session id').slice(0, 12)));
    const sources = injection.sources.map((/** @type {any} */ source) => source.forgotten
      ? h('p', { class: 'item gone', tabindex: -1 }, `${source.why}: forgotten since`)
      : memoryItem(source, { after: load, note: [h('span', { class: 'why' }, source.why)] }));
    const into = injection.session_id && h('p', {}, h('a', { href: `#/conversations/${encodeURIComponent(injection.session_id)}` }, 'The session that was told this'));
    return h('details', { class: 'injection', open: injection.ts === query.get('at') }, title, into, sources);
  }
  load();
  return {};
}
