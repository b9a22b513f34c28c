// @ts-check
// How the page asks: every call carries the login's secret, which only this page knows.

const KEPT = 'iai-secret';

/** An answer that is an error, with its code and its sentence. */
export class Failed extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Take the secret out of the address, where the login put it. */
export function arrive() {
  const found = /^#k=([\w-]+)/.exec(location.hash);
  if (!found) return;
  localStorage.setItem(KEPT, found[1]);
  history.replaceState(null, '', '/#/now');
}

export function secret() {
  return localStorage.getItem(KEPT) || '';
}

/** @param {string} path @param {object} [body] @param {AbortSignal} [signal] */
async function ask(path, body, signal) {
  const headers = { 'X-IAI-CSRF': secret(), 'Content-Type': 'application/json' };
  try {
    return await fetch(path, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body), signal });
  } catch (gone) {
    if (signal && signal.aborted) throw gone;
    throw new Failed(0, 'GONE', 'the page was closed: run iai-mcp page');
  }
}

/**
 * Call a method of the table: same names and answers as everywhere.
 * @param {string} method @param {object} [params] @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function call(method, params = {}, signal = undefined) {
  return answered(await ask(`/api/${method}`, params, signal));
}

/** @param {string} session @param {boolean} take */
export async function keyboard(session, take) {
  return answered(await ask('/keyboard', { session, take }));
}

/** @param {Response} answer */
async function answered(answer) {
  const type = answer.headers.get('Content-Type') || '';
  const said = type.includes('json') ? await answer.json() : { error: { code: 'REFUSED', message: await answer.text() } };
  if (answer.ok) return said;
  const failed = new Failed(answer.status, said.error.code, said.error.message);
  dispatchEvent(new CustomEvent('iai-failed', { detail: failed }));
  throw failed;
}

/**
 * Hear what changes, for as long as the page is open; it comes back by itself.
 * @param {(what: string) => void} changed
 * @param {(failed: Failed | null) => void} state
 */
export async function listen(changed, state) {
  for (;;) {
    try {
      const answer = await ask('/events');
      if (!answer.ok) await answered(answer);
      state(null);
      await read(/** @type {ReadableStream<Uint8Array>} */ (answer.body), changed);
    } catch (failed) {
      if (failed instanceof Failed) state(failed);
      if (failed instanceof Failed && failed.status === 401) return;
    }
    await new Promise((again) => setTimeout(again, 2000));
  }
}

/** @param {ReadableStream<Uint8Array>} body @param {(what: string) => void} changed */
async function read(body, changed) {
  const reader = body.pipeThrough(/** @type {TransformStream<Uint8Array, string>} */ (new TextDecoderStream())).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop() || '';
    for (const one of events) if (one.startsWith('data: ')) changed(JSON.parse(one.slice(6)).changed);
  }
}
