#!/usr/bin/env node
// Connects an MCP host (stdin, stdout) to the memory daemon (Unix socket). Never starts a daemon.
import { lstatSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import shared = require("./tools.json");
type Json = { [key: string]: unknown };
type Bytes = Uint8Array;
interface Socket { write(line: Bytes, done: (error?: unknown) => void): boolean; pause(): void; resume(): void; destroy(): void }
interface Pending { message: Json; line?: Bytes; repeated: boolean; timer?: unknown }
const MAX_LINE = 16 * 1024 * 1024;
const HINT = "start it with: iai-mcp up";
const LOST = `the memory daemon stopped during this call, which may or may not be done; ${HINT}`;
const TOO_LONG = "a line may have at most 16 MiB";
const [REPLAY, VERSION_META] = ["iai-mcp/replay", "io.modelcontextprotocol/protocolVersion"];
const { env, stdin, stdout } = process;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const pending = new Map<string, Pending>(); // requests without an answer, by id
const answeredLate = new Set<string>(); // the daemon's answer to these is dropped
let daemon: Socket | undefined;
let drained = (): void => {}; // resumes the writer that waits for the daemon to read
let queue: Promise<void> = Promise.resolve(); // requests go out one after another
let hostEnded = false;
const clientInfo = { name: "iai-mcp bridge", version: "1" };
let hello: Json = { protocolVersion: shared.versions.at(-1), capabilities: {}, clientInfo }; // until the host's own
/** Splits bytes into lines with their newline; null stands for a line that is too long. */
class Lines {
  size = 0;
  private parts: Bytes[] = [];
  *feed(chunk: Bytes): Generator<Bytes | null> {
    for (let start = 0, end; start < chunk.length; start = end) {
      end = chunk.indexOf(10, start) + 1 || chunk.length;
      this.size += end - start;
      this.size > MAX_LINE + 1 ? (this.parts = []) : this.parts.push(chunk.subarray(start, end));
      if (chunk[end - 1] !== 10) return;
      yield this.size > MAX_LINE + 1 ? null : Buffer.concat(this.parts);
      [this.size, this.parts] = [0, []];
    }
  }
}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
const metaOf = (message: Json): Json => objectOf(objectOf(message.params)._meta);
const lineOf = (message: Json): Bytes => Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const fail = (id: unknown, code: number, message: string): void => toHost(lineOf({ id, error: { code, message } }));

const settle = (key: string): void => { clearTimeout(pending.get(key)?.timer); pending.delete(key); };

function toHost(line: Bytes): void {
  if (!stdout.write(line)) daemon?.pause();
  if (hostEnded && pending.size === 0) daemon?.destroy(); // nothing else keeps the process alive
}
function toDaemon(line: Bytes, entry?: Pending): Promise<void> | void {
  const full = daemon && !daemon.write(line, (error) => { if (entry && !error) delete entry.line; });
  if (full) return new Promise((resume) => { drained = resume; });
}

/** The message with the caller's directory and agent, which the daemon reads once per connection. */
function withContext(message: Json): Bytes {
  const located = (path = ""): string => (path.startsWith("/") ? (env.IAI_MCP_MACHINE ?? "") : "") + path;
  const context: Json = { project: located(env.IAI_MCP_PROJECT), session_id: env.IAI_MCP_SESSION_ID };
  Object.assign(context, { agent_id: env.IAI_MCP_AGENT_ID, agent_name: env.IAI_MCP_AGENT_NAME });
  try { context.cwd = located(process.cwd()); } catch { /* the directory was removed */ }
  const _meta = { ...metaOf(message), "iai-mcp/context": context };
  return lineOf({ ...message, params: { ...objectOf(message.params), _meta } });
}

const userData = (): string => (env.IAI_MCP_STORE ? resolve(env.IAI_MCP_STORE) : join(env.HOME || homedir(), ".iai-mcp"));

/** The tools that the setting `mcp_tools` lists: the variable, else the key in config.toml before its first table. */
function listedTools(): unknown[] {
  let setting = env.IAI_MCP_MCP_TOOLS;
  if (setting === undefined) {
    try {
      const [top] = readFileSync(join(userData(), "config.toml"), "utf8").split(/^[ \t]*\[/m, 1);
      setting = /^[ \t]*(["']?)mcp_tools\1[ \t]*=[ \t]*(["'])all\2[ \t]*(?:#.*)?$/m.test(top) ? "all" : undefined;
    } catch { /* no such file: the default */ }
  }
  return setting === "all" ? [...shared.tools, ...shared.other_tools] : shared.tools;
}

/** Answers without the daemon: a result for what a host needs at its start, else an error. */
function answerAlone(message: Json, reason: string): void {
  const { id, method } = message;
  const serverInfo = { name: shared.name, version: shared.version };
  let result: Json = {};
  if (method === "server/discover") return fail(id, -32601, "unknown method 'server/discover'");
  if (method === "initialize") {
    const asked = objectOf(message.params).protocolVersion;
    if (typeof asked !== "string") return fail(id, -32602, "missing required param: 'protocolVersion'");
    const protocolVersion = shared.versions.includes(asked) ? asked : shared.versions.at(-1);
    result = { protocolVersion, capabilities: { tools: {} }, serverInfo, instructions: shared.instructions };
  } else if (method === "tools/list") result = { tools: listedTools() };
  else if (method !== "ping") return fail(id, -32002, reason);
  const envelope = { resultType: "complete", ttlMs: 0, cacheScope: "private", _meta: { "io.modelcontextprotocol/serverInfo": serverInfo } };
  toHost(lineOf({ id, result: { ...result, ...(VERSION_META in metaOf(message) ? envelope : {}) } }));
}

/** Why not to connect to `path`, or "". Node can not ask the kernel who listens: owners and modes decide. */
function distrust(path: string): string {
  try {
    const [me, folder] = [process.geteuid(), statSync(dirname(path))];
    const open = (folder.mode & 0o1002) === 0o002; // writable by all and not sticky
    const other = [lstatSync(path).uid, statSync(path).uid, folder.uid || me, open ? "any" : me].find((uid) => uid !== me);
    return other === undefined ? "" : `another user (uid ${other}) can listen on ${path}, and nothing was sent there: `
      + "set IAI_DAEMON_SOCKET_PATH to a path in a directory of your own";
  } catch { return `the memory daemon is not running; ${HINT}`; }
}

/** Connects to the daemon; returns why that failed and what to do, or "". */
async function dial(): Promise<string> {
  const path = env.IAI_DAEMON_SOCKET_PATH ? resolve(env.IAI_DAEMON_SOCKET_PATH) : join(userData(), ".daemon.sock");
  const [size, limit] = [Buffer.byteLength(path), process.platform === "linux" ? 107 : 103];
  const long = `the socket path is ${size} bytes long and a Unix socket allows ${limit}`;
  if (size > limit) return `${long}: set IAI_DAEMON_SOCKET_PATH to a shorter path (${path})`;
  for (const end = Date.now() + 1000; ; await new Promise<void>((wake) => setTimeout(wake, 10))) {
    let problem = distrust(path);
    if (problem) return problem;
    const socket = connect(path);
    const code = await new Promise<string>((done) => socket.on("connect", () => done(""))
      .on("error", (error: { code: string }) => { done(error.code); gone(socket); }));
    if (code === "EAGAIN" && Date.now() < end) continue; // many connect at once: the listen queue is full
    problem = code ? `the memory daemon does not answer; ${HINT}` : distrust(path); // it may be another file now
    if (problem) { socket.destroy(); return problem; }
    const lines = new Lines();
    socket.on("end", () => gone(socket)).on("close", () => gone(socket)).on("drain", () => drained());
    socket.on("data", (chunk: Bytes) => { for (const line of lines.feed(chunk)) fromDaemon(socket, line); });
    daemon = socket;
    return "";
  }
}

/** The connection ended: every waiting request gets an answer. */
function gone(socket: Socket, reason = LOST): void {
  if (daemon !== socket) return;
  daemon = void socket.destroy();
  answeredLate.clear();
  for (const [key, { message, line, repeated }] of [...pending]) {
    settle(key);
    // A request that did not go out whole was not done: the next daemon gets it, once.
    if (line && !repeated) queue = queue.then(() => fromHost(line, true));
    else answerAlone(message, reason);
  }
  drained();
}
function fromDaemon(socket: Socket, line: Bytes | null): void {
  if (daemon !== socket) return;
  if (line === null) return gone(socket, `the memory daemon's answer was too long: ${TOO_LONG}`);
  let message: Json = {};
  try { message = objectOf(JSON.parse(utf8.decode(line))); } catch { /* the host's to judge */ }
  const key = message.method === undefined ? JSON.stringify(message.id ?? null) : "";
  if (message.id === REPLAY || answeredLate.delete(key)) return;
  settle(key);
  toHost(line);
}
async function request(message: Json, line: Bytes, repeated: boolean): Promise<void> {
  const { id, method, params } = message;
  const opens = method === "initialize";
  const replays = !daemon && !opens && !(VERSION_META in metaOf(message));
  if (opens && typeof objectOf(params).protocolVersion === "string") hello = objectOf(params);
  const out = opens || !(daemon || replays) ? withContext(message) : line;
  const problem = daemon ? "" : await dial();
  if (problem) return answerAlone(message, problem);
  const local = opens || method === "tools/list" || method === "ping";
  const entry: Pending = { message: local ? message : { id, method }, line, repeated };
  const key = JSON.stringify(id);
  pending.set(key, entry);
  if (local) {
    const late = (): void => { settle(key); answeredLate.add(key); answerAlone(message, ""); };
    entry.timer = setTimeout(late, 5000).unref(); // a daemon that hangs must not block the host's start
  }
  if (replays) {
    toDaemon(withContext({ id: REPLAY, method: "initialize", params: hello }));
    toDaemon(lineOf({ method: "notifications/initialized" }));
  }
  await toDaemon(out, entry);
}
function fromHost(line: Bytes | null, repeated = false): Promise<void> | void {
  if (line === null) return fail(null, -32700, TOO_LONG);
  if (line.every((byte) => byte <= 32)) return; // a blank line
  let message: unknown;
  try { message = JSON.parse(utf8.decode(line)); } catch { return fail(null, -32700, "the line is not JSON"); }
  const { jsonrpc, id, method, result, error } = objectOf(message);
  const hasId = typeof id === "string" || typeof id === "number";
  const isCall = typeof method === "string" && (hasId || id === undefined);
  const isAnswer = method === undefined && hasId && (result !== undefined || error !== undefined);
  if (jsonrpc !== "2.0" || !(isCall || isAnswer)) return fail(hasId ? id : null, -32600, "not a JSON-RPC 2.0 message");
  const tooDeep = (): void => fail(id, -32600, "the message is nested too deep");
  if (isCall && hasId) return request(objectOf(message), line, repeated).catch(tooDeep);
  if (method === "notifications/cancelled") settle(JSON.stringify(objectOf(objectOf(message).params).requestId ?? null));
  return toDaemon(line);
}

async function main(): Promise<void> {
  const lines = new Lines();
  const serve = async (chunk: Bytes): Promise<void> => {
    for (const line of lines.feed(chunk)) {
      await (queue = queue.then(() => fromHost(line)));
      if (stdout.writableNeedDrain) await new Promise((resume) => stdout.once("drain", resume));
    }
  };
  try { for await (const chunk of stdin) await serve(chunk); } catch { /* the same as its end */ }
  if (lines.size) await serve(Buffer.from("\n")); // the last line counts without its newline
  hostEnded = true;
  setTimeout(() => process.exit(0), 10_000).unref(); // the last answers had their time
  if (pending.size === 0) daemon?.destroy();
}
stdout.on("error", () => process.exit(0)).on("drain", () => daemon?.resume());
void main();
