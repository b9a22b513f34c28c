// @ts-check
// What goes on: sessions, what was captured, and what needs a person.
import { call, Failed } from '../api.js';
import { cut, empty, fill, h, short, time } from '../dom.js';
import { who } from '../memory.js';

const LOOK = 3000; // milliseconds between two looks at the sessions; it costs the daemon nothing

/** @param {HTMLElement} root */
export function mount(root) {
  const facts = h('p', { class: 'facts' });
  const needs = h('div', {});
  const sessions = h('div', {});
  const captured = h('div', {});
  root.append(h('h1', {}, 'Now'), facts, needs, h('h2', {}, 'Sessions'), sessions, h('h2', {}, 'Captured in the last hour'), captured);
  /** @type {string[]} */
  let troubles = [];

  async function status() {
    const told = await call('status');
    troubles = troublesOf(told);
    const state = told.state === 'WAKE' ? 'awake' : String(told.state).toLowerCase();
    fill(facts, fact(told.records, 'memories'), fact(state, ''), fact(told.vectors_pending, 'vectors to come'),
      h('span', {}, 'All on this machine: no tokens and no network are spent.'));
  }
  async function look() {
    const listed = (await call('sessions_list')).sessions;
    const live = listed.filter((/** @type {any} */ one) => !['exited', 'lost'].includes(one.status));
    fill(sessions, live.map(session), !live.length && empty('No session runs. iai-mcp agent launch starts one.'));
    const waits = listed.filter((/** @type {any} */ one) => one.status === 'waiting' || one.status === 'lost');
    fill(needs, (waits.length > 0 || troubles.length > 0) && h('h2', {}, 'Needs you'), waits.map(session),
      troubles.map((one) => h('p', { class: 'item trouble', tabindex: -1 }, one)));
  }
  async function hour() {
    const since = new Date(Date.now() - 3600000).toISOString();
    const { records } = await call('memory_timeline', { since, limit: 200 });
    fill(captured, records.slice(-12).reverse().map((/** @type {any} */ one) => h('article', { class: 'item row', tabindex: -1 },
      h('a', { href: `#/conversations/${encodeURIComponent(one.session_id || '')}?turn=${one.id}` }, cut(one.text, 110)),
      h('p', { class: 'about' }, h('span', {}, who(one)), h('span', {}, short(one.project)), time(one.ts)))),
    records.length > 12 && h('p', { class: 'note' }, `and ${records.length - 12} more`), !records.length && empty('Nothing.'));
  }
  const quietly = (/** @type {() => Promise<void>} */ work) => work().catch((failed) => { if (!(failed instanceof Failed)) throw failed; });

  quietly(status).then(() => quietly(look));
  quietly(hour);
  const timer = setInterval(() => { if (!document.hidden) quietly(look); }, LOOK);
  return {
    changed: (/** @type {string} */ what) => {
      for (const work of what === 'agents' ? [look] : [status, hour]) quietly(work);
    },
    leave: () => clearInterval(timer),
  };
}

/** What is wrong as far as the daemon knows without looking: the doctor, who looks, is on Machine. @param {any} told */
function troublesOf(told) {
  const tasks = Object.entries(told.tasks || {}).map(([name, one]) => `The task ${name} failed ${one.failures} times, last with ${one.error}.`);
  const aside = told.spool?.set_aside;
  return [
    ...tasks,
    ...(aside ? [`${aside} spool files could not be taken in: iai-mcp doctor says why.`] : []),
    ...(told.model_ready || /loading/.test(told.model) ? [] : [`${told.model}`]),
  ];
}

/** @param {unknown} value @param {string} says */
function fact(value, says) {
  return h('span', { class: 'fact' }, h('strong', {}, String(value)), ` ${says}`);
}

/** @param {any} one */
export function session(one) {
  return h('article', { class: 'item row', tabindex: -1 },
    h('a', { href: `#/agents/${encodeURIComponent(one.id)}` }, one.agent_name || `${one.command} ${one.id.slice(0, 6)}`),
    h('p', { class: 'about' }, badge(one), h('span', {}, short(one.project)), time(one.since), h('span', { class: 'last' }, cut(one.last_line || '', 90))));
}

/** Status as a word and a sign, so that it can be read without colour. @param {any} one */
export function badge(one) {
  const sign = /** @type {Record<string, string>} */ ({ running: '▶', waiting: '!', idle: '‖', exited: '■', lost: '✕', starting: '…' })[one.status] || '';
  return h('span', { class: `badge ${one.status}` }, `${sign} ${one.status}${one.status_source === 'guess' ? '?' : ''}`);
}
