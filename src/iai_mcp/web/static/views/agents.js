// @ts-check
// Agents and their sessions, and live terminals, many at once.
import { asked, tell } from '../acts.js';
import { call, Failed } from '../api.js';
import { button, empty, fill, h, short } from '../dom.js';
import { openTerminal } from '../terminal.js';
import { badge } from './now.js';

const LOOK = 3000;

/** @param {HTMLElement} root @param {{id: string}} where */
export function mount(root, { id }) {
  const list = h('div', { class: 'sessions' });
  const agents = h('div', {});
  const grid = h('div', { class: 'terminals' });
  root.append(h('h1', {}, 'Agents'), h('div', { class: 'split' }, h('section', { 'aria-label': 'Sessions and agents' }, h('h2', {}, 'Sessions'), list, h('h2', {}, 'Agents'), agents), grid));
  /** @type {Map<string, Promise<() => void>>} */
  const open = new Map();
  let gone = false;

  /** @param {any} one */
  function show(one) {
    if (open.has(one.id)) return;
    const box = h('section', { class: 'terminal', 'aria-label': `Terminal of ${one.agent_name || one.command}` });
    grid.append(box);
    const close = () => { end(one.id); box.remove(); };
    open.set(one.id, openTerminal(one, box, close));
  }
  /** @param {string} session */
  function end(session) {
    open.get(session)?.then((stop) => stop());
    open.delete(session);
  }
  /** @param {any} one */
  async function kill(one) {
    const what = one.agent_name || one.command;
    if (!(await asked(`End ${what}?`, [h('p', {}, 'Its program is hung up, and killed if that does not end it.')], 'End it', 'danger'))) return;
    await call('sessions_kill', { session: one.id }).catch((failed) => tell(failed.message));
    look();
  }
  /** @param {any} one */
  function row(one) {
    const live = !['exited', 'lost'].includes(one.status);
    return h('article', { class: 'item row', tabindex: -1 }, h('strong', {}, one.agent_name || `${one.command} ${one.id.slice(0, 6)}`),
      h('p', { class: 'about' }, badge(one), h('span', {}, short(one.project))),
      h('span', { class: 'acts' }, live && button('Terminal', () => show(one)), live && button('End', () => kill(one), { class: 'danger' })));
  }
  async function look() {
    try {
      const { sessions } = await call('sessions_list');
      if (gone) return;
      const key = JSON.stringify(sessions.map((/** @type {any} */ one) => [one.id, one.status]));
      if (list.dataset.shown !== key) fill(list, sessions.map(row), !sessions.length && empty('None. iai-mcp agent launch, or iai-mcp session start, begins one.'));
      list.dataset.shown = key;
      const wanted = sessions.find((/** @type {any} */ one) => one.id === id);
      if (wanted) { show(wanted); id = ''; }
    } catch (failed) {
      if (failed instanceof Failed) fill(list, empty(failed.message));
    }
  }
  async function team() {
    const { projects } = await call('projects_list');
    const known = await Promise.all(projects.map(async (/** @type {any} */ project) => ({ project, found: (await call('agents_list', { project: project.path || project.root || project.id })).agents })));
    fill(agents, known.map(({ project, found }) => h('div', {}, h('h3', {}, project.name || short(project.path)), found.map((/** @type {any} */ agent) => h('p', { class: 'item row', tabindex: -1 }, h('strong', {}, agent.name), h('code', {}, `iai-mcp agent launch ${agent.name}`))))),
      !known.length && empty('No project is registered: iai-mcp project add'));
  }
  look();
  team().catch((failed) => fill(agents, empty(failed.message)));
  const timer = setInterval(() => { if (!document.hidden) look(); }, LOOK);
  return {
    changed: (/** @type {string} */ what) => { if (what === 'agents') look(); },
    leave: () => { gone = true; clearInterval(timer); for (const session of [...open.keys()]) end(session); },
  };
}
