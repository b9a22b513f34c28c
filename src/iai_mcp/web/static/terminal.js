// @ts-check
// A session's terminal in the page: seen at once, typed into only by who took the keyboard.
import { call, keyboard, secret } from './api.js';
import { button, fill, h } from './dom.js';

const PIECE = 32768; // bytes of a paste that go at once
const LIBRARIES = '/static/libraries';
/** @type {Promise<any> | null} */
let loading = null;

/** The libraries that draw terminals, or null where they are not installed. */
function libraries() {
  const style = h('link', { rel: 'stylesheet', href: `${LIBRARIES}/xterm/xterm.css` });
  loading ||= Promise.all([import(`${LIBRARIES}/xterm/xterm.mjs`), import(`${LIBRARIES}/addon-fit/addon-fit.mjs`)])
    .then(([xterm, fit]) => { document.head.append(style); return { Terminal: xterm.Terminal, FitAddon: fit.FitAddon }; })
    .catch(() => null);
  return loading;
}

/**
 * @param {any} session as `sessions_list` shows it
 * @param {HTMLElement} box
 * @param {() => void} closed
 * @returns {Promise<() => void>} what ends it
 */
export async function openTerminal(session, box, closed) {
  const name = session.agent_name || session.command;
  const state = h('span', { class: 'state', role: 'status' });
  const screen = h('div', { class: 'screen' });
  const take = button('Take the keyboard', () => {});
  const head = h('div', { class: 'bar' }, h('strong', {}, name), state, take, button('Close', closed, { 'aria-label': `Close ${name}` }));
  fill(box, head, screen);
  const found = await libraries();
  if (!found) return asText(session, screen, take, state);
  return live(session, found, { screen, take, state });
}

/** @param {any} session @param {HTMLElement} screen @param {HTMLElement} take @param {HTMLElement} state */
async function asText(session, screen, take, state) {
  take.hidden = true;
  state.textContent = 'terminals are not installed here: scripts/page-libraries fetches them';
  const { text } = await call('sessions_logs', { session: session.id, lines: 200 });
  fill(screen, h('pre', { tabindex: 0 }, text));
  return () => {};
}

/** @param {any} session @param {any} found @param {{screen: HTMLElement, take: HTMLElement, state: HTMLElement}} parts */
function live(session, found, { screen, take, state }) {
  const terminal = new found.Terminal({ disableStdin: true, scrollback: 5000, fontSize: 13, screenReaderMode: false });
  const fit = new found.FitAddon();
  terminal.loadAddon(fit);
  terminal.open(screen);
  let held = false; // the keyboard
  let replaying = true; // old output: what a terminal answers to it, nobody asked now
  let ended = false;
  /** @type {WebSocket} */
  let socket;

  /** @param {boolean} has @param {string} [says] */
  function show(has, says) {
    held = has;
    terminal.options.disableStdin = !has;
    take.textContent = has ? 'Give the keyboard back' : 'Take the keyboard';
    screen.classList.toggle('held', has);
    state.textContent = says || (has ? 'you type' : 'watching');
    if (has) { size(); terminal.focus(); }
  }
  function size() {
    fit.fit();
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ resize: [terminal.rows, terminal.cols] }));
  }
  /** @param {Uint8Array} bytes */
  function type(bytes) {
    if (!held || replaying || socket.readyState !== WebSocket.OPEN) return;
    for (let at = 0; at < bytes.length; at += PIECE) socket.send(bytes.slice(at, at + PIECE));
  }
  /** @param {any} told */
  function heard(told) {
    if (told.keyboard === false) show(false, 'watching: the keyboard was given back');
    if (told.cols && !held) terminal.resize(told.cols, told.rows);
    if (told.live) terminal.write('', () => { replaying = false; });
    if (told.exited) { ended = true; show(false, `ended, exit code ${told.exit_code}`); take.hidden = true; }
  }
  function dial() {
    socket = new WebSocket(`ws://${location.host}/terminal/${encodeURIComponent(session.id)}`, ['iai-terminal', secret()]);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => {
      if (typeof data === 'string') return heard(JSON.parse(data));
      const bytes = new Uint8Array(data);
      terminal.write(bytes, () => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ read: bytes.length })); });
    };
    socket.onclose = ({ code, reason }) => {
      if (ended) return;
      if (code === 4404) { state.textContent = reason; return; }
      show(false, 'the connection was lost, trying again');
      setTimeout(() => { if (!ended) { terminal.reset(); replaying = true; dial(); } }, 2000);
    };
  }
  take.addEventListener('click', async () => {
    const wanted = !held;
    await keyboard(session.id, wanted);
    show(wanted);
  });
  terminal.onData((/** @type {string} */ text) => type(new TextEncoder().encode(text)));
  terminal.onBinary((/** @type {string} */ text) => type(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
  const resized = new ResizeObserver(() => { if (held) size(); });
  resized.observe(screen);
  show(false);
  dial();
  return () => {
    ended = true;
    resized.disconnect();
    socket.close();
    if (held) keyboard(session.id, false).catch(() => {});
    terminal.dispose();
  };
}
