// Charts of one phase over time share their axis: whoever zooms in one sees the same seconds in all, and the pointer's
// instant is a line in each.
import { relayout } from './plot.js';

const linked = new Set();
let range = null, follows = false;

const cursorOf = (chart) => chart.querySelector('.cursor') ?? chart.appendChild(Object.assign(document.createElement('div'), { className: 'cursor' }));

function showCursors(seconds) {
  for (const chart of linked) {
    const axis = chart._fullLayout?.xaxis, plot = chart._fullLayout?._size;
    if (!axis || !plot) continue;
    const at = seconds === null ? -1 : axis.l2p(seconds), cursor = cursorOf(chart);
    cursor.hidden = at < 0 || at > axis._length;
    cursor.style.cssText = `left:${plot.l + at}px;top:${plot.t}px;height:${plot.h}px`;
  }
}

async function follow(chart, wanted) {
  await relayout(chart, wanted ? { 'xaxis.range': wanted } : { 'xaxis.autorange': true });
}

async function changed(from, change) {
  if (follows) return;
  const low = change['xaxis.range[0]'] ?? change['xaxis.range']?.[0], high = change['xaxis.range[1]'] ?? change['xaxis.range']?.[1];
  const back = change['xaxis.autorange'];
  if (low === undefined && !back) return;
  range = back ? null : [low, high];
  follows = true;
  try {
    for (const chart of linked) if (chart !== from) await follow(chart, range);
  } finally {
    follows = false;
  }
}

// REQUIRES: it is drawn. A second call for the same chart brings it to the others' range.
export function linkTime(chart) {
  if (range) follow(chart, range);
  if (linked.has(chart)) return;
  linked.add(chart);
  chart.on('plotly_relayout', (change) => changed(chart, change));
  chart.on('plotly_hover', ({ points }) => showCursors(Number(points[0].x)));
  chart.on('plotly_unhover', () => showCursors(null));
}

export function unlinkTime(chart) {
  linked.delete(chart);
  if (linked.size === 0) range = null;  // of the phase that was shown
}
