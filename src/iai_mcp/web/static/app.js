// @ts-check
// The frame around the views: where one is, the keys, the theme, and what has to be said.
import { tell } from './acts.js';
import { arrive, call, listen } from './api.js';
import { h } from './dom.js';

/** @typedef {{changed?: (what: string) => void, leave?: () => void}} Mounted */

/** Name, key after g, and where the view is. */
const VIEWS = /** @type {const} */ ([
  ['now', 'n', 'Now'], ['ask', 'a', 'Ask'], ['conversations', 'c', 'Conversations'], ['injected', 'i', 'Injected'],
  ['care', 'f', 'Care'], ['time', 't', 'Time'], ['agents', 'e', 'Agents'], ['machine', 'm', 'Machine'],
]);
const KEYS = [
  ['/', 'ask'], ['j  k', 'next, previous'], ['Enter', 'open what is marked'], ['g then n a c i f t e m', 'go to a view'],
  ['t', 'dark or light'], ['?', 'these keys'], ['Esc', 'leave a field or a question'],
];

const view = /** @type {HTMLElement} */ (document.getElementById('view'));
/** @type {Mounted} */
let mounted = {};
let prefix = false;
let turn = 0;

async function go() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/');
  const known = VIEWS.find(([one]) => one === name) || VIEWS[0];
  const mine = ++turn;
  mounted.leave?.();
  mounted = {};
  document.title = `${known[2]} · iai-mcp`;
  for (const link of document.querySelectorAll('#views a')) {
    if (link.getAttribute('href') === `#/${known[0]}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const module = await import(`./views/${known[0]}.js`);
  if (mine !== turn) return;
  view.replaceChildren();
  mounted = module.mount(view, { id: decoded(rest.join('/')), query: new URLSearchParams(query) }) || {};
}

/** @param {string} part of an address, which somebody may have cut short */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} theme */
function paint(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function otherTheme() {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const now = document.documentElement.dataset.theme || (dark ? 'dark' : 'light');
  const next = now === 'dark' ? 'light' : 'dark';
  localStorage.setItem('iai-theme', next);
  paint(next);
}

function help() {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('dialog'));
  dialog.replaceChildren(h('h2', {}, 'Keys'), h('dl', {}, KEYS.flatMap(([key, does]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, does)])),
    h('div', { class: 'acts' }, h('button', { type: 'button', class: 'main', onclick: () => dialog.close() }, 'Close')));
  dialog.showModal();
}

/** @param {number} step */
function move(step) {
  const items = /** @type {HTMLElement[]} */ ([...view.querySelectorAll('.item')]);
  const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement?.closest('.item')));
  const next = items[Math.min(Math.max(at + step, 0), items.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

/** @param {KeyboardEvent} event */
function key(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest('.xterm')) return;
  if (target.closest('input, textarea, select')) {
    if (event.key === 'Escape') target.blur();
    return;
  }
  if (document.querySelector('dialog[open]')) return;
  if (prefix) {
    prefix = false;
    const known = VIEWS.find(([, letter]) => letter === event.key);
    if (known) location.hash = `#/${known[0]}`;
    return;
  }
  const does = {
    '/': () => { location.hash = '#/ask'; setTimeout(() => document.getElementById('cue')?.focus(), 50); },
    j: () => move(1), k: () => move(-1), t: otherTheme, '?': help, g: () => { prefix = true; },
    Enter: () => /** @type {HTMLElement | null} */ (target.closest('.item')?.querySelector('a'))?.click(),
  }[event.key];
  if (!does || (event.key === 'Enter' && !target.matches('.item'))) return;
  event.preventDefault();
  does();
}

/** Say that memory is off while it is, and look whether it is back, as long as somebody looks at us. */
let waiting = false;
async function off() {
  if (waiting) return;
  waiting = true;
  tell('Memory is off. Start it with: iai-mcp up. This page comes back by itself.');
  for (;;) {
    await new Promise((again) => setTimeout(again, 1500));
    if (document.hidden) continue;
    try {
      await call('status');
      break;
    } catch { /* still off */ }
  }
  waiting = false;
  tell('Memory is back.');
  go();
}

// Asking the daemon keeps it from sleeping, and wakes it: that is for who sits before this page, not for a
// page that was left open. What changed meanwhile is shown when somebody is back.
const THERE = 120000; // milliseconds after the last sign of a person
let touched = Date.now();
/** @type {Set<string>} */
const missed = new Set();

/** @param {string} what */
function changed(what) {
  if (document.hidden || Date.now() - touched > THERE) missed.add(what);
  else mounted.changed?.(what);
}

function watch() {
  const back = () => {
    if (document.hidden) return;
    touched = Date.now();
    for (const what of missed) mounted.changed?.(what);
    missed.clear();
  };
  for (const sign of ['pointermove', 'pointerdown', 'keydown', 'visibilitychange']) document.addEventListener(sign, back);
}

function start() {
  arrive();
  paint(localStorage.getItem('iai-theme') || '');
  document.getElementById('views')?.append(...VIEWS.map(([name, , says]) => h('a', { href: `#/${name}` }, says)));
  document.getElementById('theme')?.addEventListener('click', otherTheme);
  document.getElementById('help')?.addEventListener('click', help);
  addEventListener('hashchange', go);
  addEventListener('keydown', key);
  addEventListener('iai-failed', (event) => {
    const failed = /** @type {CustomEvent} */ (event).detail;
    if (failed.status === 503 && !waiting) off();
  });
  watch();
  let lost = false;
  listen(changed, (failed) => {
    if (failed) tell(failed.status === 401 ? 'This login has ended: run iai-mcp page.' : 'The page was closed. To open it again: iai-mcp page');
    else if (lost) tell('');
    lost = Boolean(failed);
  });
  go();
}

start();
