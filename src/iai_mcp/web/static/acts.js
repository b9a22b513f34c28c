// @ts-check
// What can be done with a memory, the same wherever one is shown: pin, supersede, forget.
import { call } from './api.js';
import { button, cut, h } from './dom.js';

const WORK = [['command', 'command', 'commands'], ['edit', 'edit', 'edits'], ['looked', 'look', 'looks']];

/**
 * A question to the person; what they chose, or null.
 * @param {string} title @param {Node[]} body @param {string} yes @param {string} [kind]
 * @returns {Promise<boolean>}
 */
export function asked(title, body, yes, kind = '') {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('dialog'));
  return new Promise((done) => {
    const close = (/** @type {boolean} */ answer) => () => { dialog.close(); done(answer); };
    dialog.replaceChildren(
      h('h2', { id: 'dialog-title' }, title), ...body,
      h('div', { class: 'acts' }, button('Cancel', close(false)), button(yes, close(true), { class: kind || 'main' })),
    );
    dialog.setAttribute('aria-labelledby', 'dialog-title');
    dialog.oncancel = () => done(false);
    dialog.showModal();
  });
}

/** @param {string} says */
export function tell(says) {
  const banner = document.getElementById('banner');
  if (banner) banner.textContent = says;
}

/** @param {Promise<any>} act @param {string} done */
async function doing(act, done) {
  try {
    await act;
    tell(done);
    return true;
  } catch (failed) {
    tell(`That did not work: ${/** @type {Error} */ (failed).message}`);
    return false;
  }
}

/**
 * Show what would be forgotten, and forget it if the person agrees.
 * @param {object} selection as `memory_forget` takes it
 */
export async function forget(selection) {
  let would;
  try {
    would = await call('memory_forget', { ...selection, dry_run: true, show: 20 });
  } catch (failed) {
    tell(`That did not work: ${/** @type {Error} */ (failed).message}`);
    return false;
  }
  if (!would.matches) {
    tell('Nothing matches: nothing would be forgotten.');
    return false;
  }
  const shown = would.records.map((/** @type {any} */ one) => h('li', {}, cut(one.sample || one.text, 160)));
  const more = would.matches - would.records.length;
  const body = [
    h('p', {}, `${going(would)} ${would.matches === 1 ? 'goes' : 'go'} for good, and from backups:`),
    h('ul', { class: 'preview' }, shown, more > 0 && h('li', {}, `and ${more} more`)),
  ];
  if (!(await asked('Forget?', body, 'Forget for good', 'danger'))) return false;
  return doing(call('memory_forget', selection), `Forgotten: ${would.matches}.`);
}

/**
 * How many memories, and how much of what was done beside them.
 * @param {any} would
 */
function going(would) {
  const work = would.work || 0;
  const said = would.matches - work;
  const parts = [];
  if (said || !work) parts.push(`${said} ${said === 1 ? 'memory' : 'memories'}`);
  for (const [kind, one, several] of WORK) {
    const count = would.kinds?.[kind];
    if (count) parts.push(`${count} ${count === 1 ? one : several}`);
  }
  const last = parts.pop();
  return parts.length ? `${parts.join(', ')} and ${last}` : last;
}

/** @param {any} memory */
async function supersede(memory) {
  const words = h('textarea', { rows: 4, 'aria-label': 'What is true instead' });
  const body = [h('blockquote', {}, cut(memory.text, 300)), h('label', {}, 'What is true instead', words)];
  if (!(await asked('Supersede', body, 'Supersede'))) return false;
  const fact = /** @type {HTMLTextAreaElement} */ (words).value.trim();
  if (!fact) return false;
  return doing(call('memory_contradict', { id: memory.id, new_fact: fact }), 'Superseded: the new words stand in its place.');
}

/**
 * The buttons of one memory.
 * @param {any} memory @param {() => void} after called when something changed
 */
export function acts(memory, after) {
  const pinned = Boolean(memory.pinned);
  const said = !memory.kind; // work can be forgotten, but neither pinned nor superseded
  const then = (/** @type {Promise<boolean>} */ act) => act.then((changed) => { if (changed) after(); });
  return h('span', { class: 'acts' },
    said && button(pinned ? 'Unpin' : 'Pin', () => then(doing(call('memory_pin', { id: memory.id, pinned: !pinned }), pinned ? 'Unpinned.' : 'Pinned: retention does not remove it.'))),
    said && button('Supersede', () => then(supersede(memory))),
    button('Forget', () => then(forget({ ids: [memory.id] })), { class: 'danger' }),
  );
}
