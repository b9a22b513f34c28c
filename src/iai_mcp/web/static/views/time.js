// @ts-check
// When what was said: a calendar, how it went by project, topics, and the nights.
import { call, Failed } from '../api.js';
import { empty, fill, h, short, time, when } from '../dom.js';
import { plot } from '../plots.js';

const DAY = 86400000;
const WEEKS = 53;
const LINES = 5; // projects that are drawn each for itself
const BY = [['project', 'project'], ['host', 'program'], ['agent', 'agent'], ['role', 'role']];

/** @param {HTMLElement} root @param {{query: URLSearchParams}} where */
export function mount(root, { query }) {
  const by = BY.some(([name]) => name === query.get('by')) ? String(query.get('by')) : 'project';
  const choose = h('select', { onchange: (/** @type {Event} */ event) => { location.hash = `#/time?by=${/** @type {HTMLSelectElement} */ (event.target).value}`; } },
    BY.map(([name, says]) => h('option', { value: name, selected: name === by }, says)));
  const heat = h('div', { class: 'heat', tabindex: 0, role: 'group', 'aria-label': 'Calendar of the last year' });
  const lines = h('div', { class: 'plot' });
  const totals = h('div', {});
  const nights = h('div', {});
  const topics = h('div', {});
  root.append(h('h1', {}, 'Time'), h('p', {}, h('label', {}, 'By ', choose)), heat, lines, totals, h('h2', {}, 'Topics'), topics, h('h2', {}, 'Nights'), nights);

  async function days() {
    const since = new Date(Date.now() - WEEKS * 7 * DAY).toISOString();
    const answer = await call('memory_calendar', { since, by, utc_offset: -new Date().getTimezoneOffset() });
    if (!answer.days.length) return fill(heat, empty('Nothing was said in the last year.'));
    const perDay = new Map();
    const perName = new Map();
    for (const one of answer.days) {
      perDay.set(one.day, (perDay.get(one.day) || 0) + one.count);
      perName.set(one[by] || '', (perName.get(one[by] || '') || 0) + one.count);
    }
    fill(heat, calendar(perDay));
    heat.scrollLeft = heat.scrollWidth;
    const names = [...perName.entries()].sort((a, b) => b[1] - a[1]);
    fill(totals, h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Where'), h('th', { scope: 'col' }, 'Turns'))),
      h('tbody', {}, names.slice(0, 20).map(([name, count]) => h('tr', {}, h('td', { title: name }, short(name) || 'none'), h('td', {}, count))))));
    const every = unbroken([...perDay.keys()].sort());
    const counts = new Map(answer.days.map((/** @type {any} */ one) => [`${one.day} ${one[by] || ''}`, one.count]));
    const times = every.map((day) => Date.parse(`${day}T12:00:00`) / 1000);
    await plot(lines, 'Turns a day', times, names.slice(0, LINES).map(([name]) => ({
      label: short(name) || 'none',
      values: every.map((day) => counts.get(`${day} ${name}`) || 0),
    })));
  }

  async function slept() {
    const { events } = await call('events_query', { kind: 'sleep_finished', limit: 100 });
    if (!events.length) return fill(nights, empty('Memory has not slept yet: iai-mcp sleep --now'));
    const kinds = Object.keys(events[0].data).filter((name) => events.some((/** @type {any} */ one) => Number(one.data[name]) > 0));
    fill(nights, h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Night'), kinds.map((name) => h('th', { scope: 'col' }, name.replaceAll('_', ' '))))),
      h('tbody', {}, events.slice(-10).reverse().map((/** @type {any} */ one) => h('tr', { class: 'item', tabindex: -1 }, h('td', {}, time(one.ts)), kinds.map((name) => h('td', {}, String(one.data[name]))))))));
    if (events.length > 1) {
      const box = h('div', { class: 'plot' });
      nights.prepend(box);
      await plot(box, 'What each night did', events.map((/** @type {any} */ one) => Date.parse(one.ts) / 1000), kinds.slice(0, LINES).map((name) => ({ label: name, values: events.map((/** @type {any} */ one) => Number(one.data[name])) })));
    }
  }
  async function about() {
    const { topics: found } = await call('memory_topics', { limit: 80 });
    fill(topics, !found.length && empty('None yet: sleep finds them.'), map(found));
  }
  about().catch((failed) => { if (failed instanceof Failed) fill(topics, empty(failed.message)); else throw failed; });
  days().catch((failed) => { if (failed instanceof Failed) fill(heat, empty(failed.message)); else throw failed; });
  slept().catch((failed) => { if (failed instanceof Failed) fill(nights, empty(failed.message)); else throw failed; });
  return {};
}

/** Topics as places of a map: those of a project together, each as large as what was said about it. @param {any[]} found */
function map(found) {
  /** @type {Map<string, any[]>} */
  const places = new Map();
  for (const one of found) places.set(one.project || '', [...(places.get(one.project || '') || []), one]);
  return [...places.entries()].map(([project, topics]) => h('section', { class: 'land', 'aria-label': `Topics of ${short(project) || 'no project'}` }, h('h3', { title: project }, short(project) || 'no project'),
    h('div', { class: 'map' }, topics.map((one) => h('a', {
      class: 'topic', href: `#/ask?${new URLSearchParams({ q: one.label, ...(project && { project }) })}`, title: `${one.memories} memories, ${when(one.first)} to ${when(one.last)}`,
      style: `flex-grow: ${one.memories}; font-size: ${Math.min(1.6, 0.8 + Math.log10(one.memories) / 3)}rem`,
    }, one.label, h('small', {}, ` ${one.memories}`))))));
}

/** Weeks as columns, a square a day; how much as shade and as words. @param {Map<string, number>} perDay */
function calendar(perDay) {
  const most = Math.max(...perDay.values());
  const today = new Date();
  const begin = new Date(today.getFullYear(), today.getMonth(), today.getDate() - today.getDay() - (WEEKS - 1) * 7);
  const cells = [];
  for (let at = 0; at < WEEKS * 7; at += 1) {
    const date = new Date(begin.getFullYear(), begin.getMonth(), begin.getDate() + at);
    if (date > today) break;
    const next = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1);
    const day = text(date);
    const count = perDay.get(day) || 0;
    const level = count && Math.ceil((4 * Math.log1p(count)) / Math.log1p(most));
    const said = `${day}: ${count} turns`;
    cells.push(count ? h('a', { class: `day l${level}`, href: `#/conversations?since=${day}&until=${text(next)}`, title: said, 'aria-label': said }) : h('span', { class: 'day', title: said }));
  }
  return h('div', { class: 'days' }, cells);
}

/** The day as people here write it down: not UTC's. @param {Date} date */
function text(date) {
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
}

/** Every day from the first to the last, also those on which nothing was said. @param {string[]} days */
function unbroken(days) {
  const every = [];
  const [year, month, day] = days[0].split('-').map(Number);
  for (let at = 0; !every.length || every[every.length - 1] < days[days.length - 1]; at += 1) every.push(text(new Date(year, month - 1, day + at)));
  return every;
}
