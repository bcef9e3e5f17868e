// Whether a run in rounds became steady: the verdict, and how the rates of each phase went over the rounds.
import { h } from './dom.js';
import { Figure } from './figure.js';
import { colour, layout, palette, plain } from './plot.js';
import { count, number, UNITS, state } from './units.js';

const unitOfRow = (row) => (row.in_ops ? UNITS['ops/s'] : UNITS[state.unit].bytes === 0 ? UNITS['MiB/s'] : UNITS[state.unit]);
const shownRate = (row, rate) => (rate === null ? NaN : rate / (unitOfRow(row).bytes || 1));

function roundsFigure({ rows, rounds }) {
  const first = rows[0].first_round;
  return new Figure({
    id: 'steady-rounds-chart', title: 'Rates until steady', wide: true,
    note: `Each phase relative to the mean of its window, rounds ${first} to ${rounds}, which is shaded. Higher is better.`,
    chart: () => ({
      traces: rows.map((row, i) => ({ type: 'scatter', mode: 'lines+markers', name: plain(row.name), x: row.rounds.map((_, round) => round + 1),
        y: row.rounds.map((rate) => (rate ?? NaN) / row.mean), line: { color: palette()[i % 6], width: 1.5 }, marker: { size: 6, symbol: i },
        customdata: row.rounds.map((rate, round) => plain(`${row.name}, round ${round + 1}: ${number(shownRate(row, rate))} ${unitOfRow(row).name}`)),
        hovertemplate: '%{customdata}<extra></extra>' })),
      layout: layout({ height: 320, legend: rows.length > 1, x: { title: 'round' }, y: { title: 'rate / mean (higher is better)', rangemode: 'tozero' },
        shapes: [{ type: 'rect', yref: 'paper', x0: first - 0.5, x1: rounds + 0.5, y0: 0, y1: 1, layer: 'below', line: { width: 0 }, fillcolor: colour('series-1-soft') }] }) }),
    table: () => ({ caption: 'Rates of each round',
      columns: [{ title: 'round', format: count }, ...rows.map((row) => ({ title: `${row.name} (${unitOfRow(row).name})`, format: number }))],
      rows: Array.from({ length: rounds }, (_, round) => [round + 1, ...rows.map((row) => shownRate(row, row.rounds[round] ?? null))]) }) });
}

export function steadyVerdict(report) {
  const { steady } = report;
  if (!steady) return null;
  const notes = report.tables.filter(({ id }) => id === 'steady').flatMap(({ parts }) => parts.flatMap((part) => part.notes));
  return h('div', { class: `verdict ${steady.steady ? 'good' : 'bad'}`, role: 'status', id: 'steady-verdict' },
    h('strong', {}, steady.steady ? 'All phases are steady' : 'The phases did not become steady'),
    h('ul', {}, notes.map(([label, text]) => h('li', {}, h('strong', {}, label), ` ${text}`))));
}

export function steadyFigures({ steady }) {
  return steady?.rounds > 1 && steady.rows.every(({ mean }) => Number.isFinite(mean)) ? [roundsFigure(steady)] : [];
}
