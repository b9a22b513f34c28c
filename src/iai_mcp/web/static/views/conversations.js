// @ts-check
// Conversations: a list of them, and one as a readable transcript.
import { call, Failed } from '../api.js';
import { button, cut, empty, fill, h, short, time } from '../dom.js';
import { memoryItem } from '../memory.js';

const PAGE = 200; // turns
const LISTED = 100; // conversations

/** Microseconds of an instant, which a Date can not hold. @param {string} iso */
function micros(iso) {
  const fraction = (/\.(\d+)/.exec(iso)?.[1] || '').padEnd(6, '0').slice(0, 6);
  return BigInt(Math.floor(Date.parse(iso) / 1000)) * 1000000n + BigInt(fraction);
}

/**
 * Turns from the newest back, a page at a time.
 * @param {object} about @param {number} size
 */
function pages(about, size) {
  let cursor = '';
  const seen = new Set();
  return async () => {
    const answer = await call('memory_timeline', { ...about, limit: size, ...(cursor && { cursor }) });
    const fresh = answer.records.filter((/** @type {any} */ one) => !seen.has(one.id));
    for (const one of fresh) seen.add(one.id);
    // What was said at the very moment of the oldest comes again, and is known by then.
    const oldest = answer.records[0];
    cursor = answer.more || (oldest ? `${micros(oldest.valid_from || oldest.ts)}.${2n ** 62n}` : '');
    return { turns: fresh, more: fresh.length > 0 && (Boolean(answer.more) || answer.records.length >= size) };
  };
}

/** @param {HTMLElement} root @param {{id: string, query: URLSearchParams}} where */
export function mount(root, { id, query }) {
  return id ? transcript(root, id, query) : listing(root, query);
}

/** @param {HTMLElement} root @param {URLSearchParams} query */
function listing(root, query) {
  const about = Object.fromEntries(['project', 'since', 'until'].filter((name) => query.get(name)).map((name) => [name, query.get(name)]));
  const chosen = Object.entries(about).map(([name, value]) => `${name} ${value}`).join(', ');
  const list = h('div', {});
  const more = button('Older', load);
  let before = '';
  root.append(h('h1', {}, 'Conversations'), h('p', { class: 'note' }, chosen && `${chosen} · `, chosen && h('a', { href: '#/conversations' }, 'All of them')), list, h('p', {}, more));

  async function load() {
    try {
      const answer = await call('memory_conversations', { ...about, limit: LISTED, ...(before && { before }) });
      before = answer.more || '';
      more.hidden = !before;
      list.append(...answer.conversations.map(row));
      if (!list.children.length) fill(list, empty('Nothing was captured: iai-mcp hosts install connects your agents.'));
    } catch (failed) {
      if (failed instanceof Failed) fill(list, empty(failed.message));
    }
  }
  load();
  return {};
}

/** @param {any} one */
function row(one) {
  return h('article', { class: 'item row', tabindex: -1 },
    h('a', { href: `#/conversations/${encodeURIComponent(one.session_id)}` }, cut(one.opening, 110)),
    h('p', { class: 'about' }, time(one.last), h('span', { title: one.project }, short(one.project)), h('span', {}, one.agent || one.host || ''), h('span', {}, `${one.turns} turns`)));
}

/** @param {HTMLElement} root @param {string} session @param {URLSearchParams} query */
function transcript(root, session, query) {
  const wanted = query.get('turn');
  let next = pages({ session_id: session }, PAGE);
  const list = h('div', { class: 'transcript' });
  /** @type {any[] | null} */
  let injections = null;
  const older = button('Older', () => load(false));
  root.append(h('p', {}, h('a', { href: '#/conversations' }, 'All conversations')), h('h1', {}, 'Conversation'),
    h('p', { class: 'about' }, h('span', {}, session), button('Print', whole)), h('p', {}, older), list);

  /** @param {boolean} anew */
  async function load(anew) {
    if (anew) { next = pages({ session_id: session }, PAGE); list.replaceChildren(); }
    try {
      const { turns, more } = await next();
      list.prepend(...turns.map((/** @type {any} */ turn) => memoryItem(turn, { after: () => load(true), linked: false })));
      older.hidden = !more;
      await told();
      if (!list.children.length) fill(list, empty('Nothing of this conversation is stored.'));
      const there = wanted && document.getElementById(`m-${wanted}`);
      if (there) { there.classList.add('wanted'); there.scrollIntoView({ block: 'center' }); there.focus({ preventScroll: true }); }
      else if (wanted && more) await load(false);
    } catch (failed) {
      if (failed instanceof Failed) fill(list, empty(failed.message));
    }
  }

  /** All of it, on paper. */
  async function whole() {
    while (!older.hidden) await load(false);
    print();
  }

  /** What memory put into it, each where it was: before the turn that came after it. */
  async function told() {
    injections ||= (await call('injections', { session_id: session, limit: 50 })).injections;
    for (const old of list.querySelectorAll('.injected')) old.remove();
    const turns = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('.item')]);
    for (const one of injections || []) {
      const at = Date.parse(one.ts);
      const next = turns.find((turn) => Date.parse(turn.dataset.ts || '') >= at);
      const link = h('a', { class: 'injected', href: `#/injected?session=${encodeURIComponent(session)}&at=${encodeURIComponent(one.ts)}` },
        `Memory told it ${one.sources.length} memories here, ${one.tokens} tokens: what, and why`);
      if (next) next.before(link); else list.append(link);
    }
  }
  load(true);
  return {};
}
