// @ts-check
// How the machine does: the doctor's word, connected programs, sizes and speed, sharing, settings, sleep.
import { call, Failed } from '../api.js';
import { button, empty, fill, h, table, time } from '../dom.js';
import { knob } from '../knobs.js';
import { plot } from '../plots.js';

/** @param {HTMLElement} root */
export function mount(root) {
  const part = (/** @type {string} */ name, /** @type {string} */ title) => {
    const box = h('div', {});
    root.append(h('section', { class: name }, h('h2', {}, title), box));
    return box;
  };
  root.append(h('h1', {}, 'Machine'));
  const doctor = part('doctor', 'Doctor');
  doctor.after(h('p', {}, button('Examine', examine)));
  const hosts = part('hosts', 'Agent programs');
  const sizes = part('sizes', 'Memory');
  const pace = part('pace', 'Speed and size of the last hours');
  const growth = part('growth', 'Growth');
  const circles = part('circles', 'Sharing');
  const sleep = part('sleep', 'Sleep');
  const knobs = part('knobs', 'Settings of the memory');

  /** @param {HTMLElement} box @param {Promise<any>} asked @param {(answer: any) => (Node | string)[]} shown */
  async function into(box, asked, shown) {
    try {
      fill(box, shown(await asked));
    } catch (failed) {
      if (!(failed instanceof Failed)) throw failed;
      fill(box, empty(failed.message));
    }
  }
  const checked = (/** @type {{checks: any[]}} */ { checks }) => [table(['Result', 'Check', 'Finding'], checks.map((one) => [one.status, one.name, [one.detail, one.fix].filter(Boolean).join(' · ')]))];
  function examine() {
    fill(doctor, empty('Examining …'));
    into(doctor, call('doctor'), checked);
  }
  function load() {
    into(hosts, call('doctor', { hosts_only: true }), checked);
    into(pace, call('pace'), ({ minutes }) => speed(minutes));
    into(circles, call('share_status'), ({ circles: known }) => known.length ? known.map(circle) : [empty('No circle: what is said here stays on this machine. iai-mcp share create makes one.')]);
    into(sizes, Promise.all([call('status'), call('topology')]), ([status, shape]) => [table(['What', 'Value'], [
      ['version', status.version], ['memories', shape.records], ['projects', shape.projects], ['vectors', shape.vectors], ['vectors to come', shape.vectors_pending],
      ['topics', shape.communities], ['meaning', status.model], ['up for', `${Math.round(status.uptime_sec / 60)} min`], ['store', status.store]])]);
    into(growth, call('memory_calendar', { by: 'role' }), ({ days }) => {
      const box = h('div', { class: 'plot' });
      /** @type {Map<string, number>} */
      const perDay = new Map();
      for (const { day, count } of days) perDay.set(day, (perDay.get(day) || 0) + count);
      let sum = 0;
      const sums = [...perDay.values()].map((count) => { sum += count; return sum; });
      // After it stands on the page: a plot is as wide as its place.
      if (sums.length > 1) setTimeout(() => plot(box, 'Memories by the time they were said', [...perDay.keys()].map((day) => Date.parse(day) / 1000), [{ label: 'memories', values: sums }]));
      return [box];
    });
    into(sleep, call('events_query', { kind: 'lifecycle', limit: 20 }), ({ events }) => [table(['When', 'From', 'To', 'Why'], events.reverse().map((/** @type {any} */ one) => [new Date(one.ts).toLocaleString(), one.data.from, one.data.to, one.data.reason]))]);
    into(knobs, call('profile_get'), ({ values, knobs }) => [table(['Name', 'Value', 'What it changes'], Object.entries(values).map(([name, value]) => [name, knob(name, value, knobs[name]?.takes), knobs[name]?.says || '']))]);
  }
  load();
  return {};
}

/** How fast recall was and how large memory, as plots and in words. @param {any[]} minutes */
function speed(minutes) {
  const asked = minutes.filter((one) => one.recalls);
  const recalls = asked.reduce((sum, one) => sum + one.recalls, 0);
  const slowest = asked.reduce((most, one) => Math.max(most, one.p95_ms), 0);
  const megabytes = (/** @type {number} */ bytes) => Math.round(bytes / 104857.6) / 10;
  const now = minutes[minutes.length - 1];
  const says = `${recalls} recalls${recalls ? `, 95 of 100 of each minute within ${slowest} ms` : ''}; the store has ${megabytes(now.store_bytes)} MB, the daemon ${megabytes(now.resident_bytes)} MB in memory.`;
  if (minutes.length < 2) return [h('p', {}, says)];
  const boxes = [h('div', { class: 'plot' }), h('div', { class: 'plot' })];
  const times = minutes.map((one) => Date.parse(one.ts) / 1000);
  const line = (/** @type {string} */ label, /** @type {(one: any) => number | null} */ value) => ({ label, values: minutes.map(value) });
  // After they stand on the page: a plot is as wide as its place.
  setTimeout(() => {
    plot(boxes[0], 'Recall, milliseconds', times, [line('half of them', (one) => (one.recalls ? one.p50_ms : null)), line('95 of 100', (one) => (one.recalls ? one.p95_ms : null))]);
    plot(boxes[1], 'Megabytes', times, [line('store', (one) => megabytes(one.store_bytes)), line('daemon in memory', (one) => megabytes(one.resident_bytes))]);
  });
  return [h('p', {}, says), ...boxes];
}

/** How one circle stands. @param {any} one */
function circle(one) {
  return h('div', {}, h('h3', {}, one.name), h('p', { class: 'about' }, h('span', {}, one.place),
    h('span', {}, `${one.pending_out} waits to be sent`), h('span', {}, `${one.behind} behind`), one.last_contact ? h('span', {}, 'last contact ', time(one.last_contact)) : h('span', {}, 'no contact yet')),
  one.trouble && h('p', { class: 'trouble' }, h('strong', {}, one.trouble)),
  one.doubted_invitations > 0 && h('p', { class: 'trouble' }, `${one.doubted_invitations} invitations are in doubt: iai-mcp share members shows who came.`),
  table(['Member', 'Machine', 'Device', 'Heard up to'], one.devices.map((/** @type {any} */ device) => [device.member, device.machine, device.id.slice(0, 12), device.number])),
  one.set_aside.length > 0 && h('div', {}, h('h4', {}, 'Set aside, and tried again at every contact'), table(['Device', 'Record', 'Why'], one.set_aside.map((/** @type {any} */ bad) => [bad.device.slice(0, 12), bad.number, bad.why]))));
}
