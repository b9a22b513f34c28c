// @ts-check
// Plots, by uPlot where it is installed; what they show is there as a table, too.
import { h } from './dom.js';

const LIBRARY = '/static/libraries/uplot';
/** @type {Promise<any> | null} */
let loading = null;

/** uPlot, or null where it is not installed. */
function library() {
  const style = h('link', { rel: 'stylesheet', href: `${LIBRARY}/uPlot.min.css` });
  loading ||= import(`${LIBRARY}/uPlot.esm.js`).then((module) => { document.head.append(style); return module.default; }).catch(() => null);
  return loading;
}

/**
 * @param {HTMLElement} box @param {string} title
 * @param {number[]} times seconds @param {{label: string, values: (number | null)[]}[]} lines
 */
export async function plot(box, title, times, lines) {
  const uPlot = await library();
  if (!uPlot) {
    box.append(h('p', { class: 'note' }, 'Plots are not installed here: scripts/page-libraries fetches them.'));
    return;
  }
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--soft');
  const colours = [style.getPropertyValue('--main'), style.getPropertyValue('--danger'), style.getPropertyValue('--good'), style.getPropertyValue('--warn'), ink];
  const dashes = [[], [8, 4], [2, 3], [12, 4, 2, 4], [4, 4]];
  const axis = { stroke: ink, grid: { stroke: style.getPropertyValue('--line') } };
  const drawn = new uPlot({
    title, width: Math.max(280, box.clientWidth), height: 240, axes: [axis, axis],
    series: [{}, ...lines.map(({ label }, at) => ({ label, stroke: colours[at % 5], dash: dashes[at % 5], width: 2, points: { show: times.length < 40 } }))],
  }, [times, ...lines.map(({ values }) => values)], box);
  new ResizeObserver(() => { if (box.isConnected) drawn.setSize({ width: Math.max(280, box.clientWidth), height: 240 }); }).observe(box);
}
