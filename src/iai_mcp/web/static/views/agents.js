// @ts-check
// Agents and their sessions, and live terminals, many at once.
import { asked, tell } from '../acts.js';
import { call, Failed, keyboard } from '../api.js';
import { button, empty, fill, h, short } from '../dom.js';
import { openTerminal } from '../terminal.js';
import { badge } from './now.js';

const LOOK = 3000;

/** @param {HTMLElement} root @param {{id: string}} where */
export function mount(root, { id }) {
  const list = h('div', { class: 'sessions' });
  const agents = h('div', {});
  const grid = h('div', { class: 'terminals' });
  /** @type {Map<string, Promise<() => void>>} */
  const open = new Map();
  let gone = false;
  const words = /** @type {HTMLTextAreaElement} */ (h('textarea', { rows: 2, 'aria-label': 'Message to the agents' }));
  const message = h('form', { onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); tellAll(); } }, h('label', {}, 'Message', words), h('button', { type: 'submit' }, 'Send to every agent that runs'));
  root.append(h('h1', {}, 'Agents'), h('div', { class: 'split' }, h('section', { 'aria-label': 'Sessions and agents' }, h('h2', {}, 'Sessions'), list, message, h('h2', {}, 'Agents'), agents), grid));

  async function tellAll() {
    const { sessions } = await call('sessions_list');
    const running = sessions.filter((/** @type {any} */ one) => one.agent_id && !['exited', 'lost'].includes(one.status));
    const text = words.value.trim();
    if (!text || !running.length) return tell(text ? 'No agent runs.' : 'There is nothing to send yet.');
    const names = h('ul', {}, running.map((/** @type {any} */ one) => h('li', {}, one.agent_name)));
    if (!(await asked(`Send to ${running.length}?`, [h('blockquote', {}, text), names], 'Send'))) return;
    const sent = await Promise.allSettled(running.map((/** @type {any} */ one) => deliver(one.id, text)));
    const failed = sent.flatMap((one, at) => (one.status === 'rejected' ? [`${running[at].agent_name}: ${one.reason.message}`] : []));
    tell(failed.length ? `Not delivered to ${failed.join('; ')}` : `Delivered to ${running.length}.`);
    if (!failed.length) words.value = '';
  }

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
    const live = !['exited', 'lost', 'unreachable'].includes(one.status);
    return h('article', { class: 'item row', tabindex: -1 }, h('strong', {}, one.agent_name || `${one.command} ${one.id.slice(0, 6)}`),
      h('p', { class: 'about' }, badge(one), h('span', {}, short(one.project)), one.machine && h('span', {}, `on ${one.machine.slice(6)}`)),
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
  /** @param {string} session */
  function launched(session) {
    id = session;
    return look();
  }
  async function team() {
    const { projects } = await call('projects_list');
    const known = await Promise.all(projects.map(async (/** @type {any} */ project) => ({ project, found: (await call('agents_list', { project: project.path })).agents })));
    fill(agents, known.map(({ project, found }) => h('div', {}, h('h3', { title: project.path }, project.name),
      found.map((/** @type {any} */ agent) => persona(project.path, agent, { changed: team, launched })), button('New agent', () => create(project.path, team)))),
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

/** Type a message, for which its keyboard is taken. @param {string} session @param {string} text */
async function deliver(session, text) {
  await keyboard(session, true);
  await call('sessions_send', { session, text });
}

/**
 * Start an agent; where its program would ask for trust, the person is asked first.
 * @param {string} project @param {any} agent @param {object} [more] @returns {Promise<string>} its session
 */
async function launch(project, agent, more = {}) {
  try {
    const { session, notes } = await call('agents_launch', { project, agent: agent.id, ...more });
    tell([`${agent.name} runs.`, ...notes].join(' '));
    return session.id;
  } catch (failed) {
    const needed = failed instanceof Failed && failed.code === 'TRUST_NEEDED';
    if (!needed) throw failed;
    if (!(await asked(`Launch ${agent.name}`, [h('p', {}, failed.message)], 'I trust them: launch'))) return '';
    return launch(project, agent, { ...more, trust: true });
  }
}

/** @param {string} project @param {any} agent @param {{changed: () => Promise<void>, launched: (session: string) => Promise<void>}} then */
function persona(project, agent, then) {
  const show = async () => {
    const { agent: whole } = await call('agents_show', { project, agent: agent.id });
    const words = /** @type {HTMLTextAreaElement} */ (h('textarea', { rows: 12, 'aria-label': 'Persona', value: whole.context || '' }));
    if (!(await asked(`Persona of ${agent.name}`, [words], 'Save'))) return;
    await said(call('agents_edit', { project, agent: agent.id, context: words.value }), `Saved: ${agent.name} is this from its next launch on.`);
    then.changed();
  };
  const preview = async () => {
    const plan = await call('agents_launch', { project, agent: agent.id, print_only: true });
    const files = Object.entries(plan.contents).map(([path, text]) => h('details', { open: /\.md$/.test(path) }, h('summary', {}, short(path)), h('pre', { tabindex: 0 }, String(text))));
    await asked(`What ${agent.name} would be told`, [h('p', {}, h('code', {}, [plan.command, ...plan.args].join(' '))), ...files], 'Good');
  };
  const failed = (/** @type {Error} */ error) => tell(error.message);
  return h('div', { class: 'item row', tabindex: -1 }, h('strong', {}, agent.name), h('p', { class: 'about' }, h('code', {}, `iai-mcp agent launch ${agent.slug}`)),
    h('span', { class: 'acts' }, button('Launch', () => launch(project, agent).then(then.launched).catch(failed)), button('Persona', () => show().catch(failed)), button('Preview', () => preview().catch(failed))));
}

/** @param {string} project @param {() => Promise<void>} after */
async function create(project, after) {
  const { profiles } = await call('profiles_list');
  const name = /** @type {HTMLInputElement} */ (h('input', { type: 'text' }));
  const profile = /** @type {HTMLSelectElement} */ (h('select', {}, profiles.map((/** @type {any} */ one) => h('option', { value: one.id }, one.name))));
  const words = /** @type {HTMLTextAreaElement} */ (h('textarea', { rows: 8 }));
  const body = [h('label', {}, 'Name ', name), h('p', {}, h('label', {}, 'Program ', profile)), h('label', {}, 'Persona', words)];
  if (!(await asked('New agent', body, 'Make it'))) return;
  await said(call('agents_create', { project, name: name.value.trim(), profile: profile.value, ...(words.value.trim() && { context: words.value }) }), `Made: ${name.value}.`);
  after();
}

/** @param {Promise<any>} act @param {string} done */
async function said(act, done) {
  await act.then(() => tell(done), (failed) => tell(`That did not work: ${failed.message}`));
}
