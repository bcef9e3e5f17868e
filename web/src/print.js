// The report on paper: every phase with its figures as tables, without controls. It is made when printing begins.
import { h, lines, table } from './dom.js';
import { figuresTables } from './charts_phase.js';
import { tableOf } from './facts.js';
import { otherTables } from './tables.js';
import { sweepTables } from './across.js';
import { details, latencyText, limitsOf, phaseName } from './overview.js';
import { number, rateIn, seconds, unitOf, state, UNITS } from './units.js';
import { hostOf } from './data.js';

const MAX_CLIENTS = 40;       // rows on paper; the others are in result.csv
const MAX_FULL_PHASES = 60;   // beyond, phases have their row in the first table only, as the cells of sweeps do

const SVG = 'http://www.w3.org/2000/svg';

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Throughput over time, with the stonewall as a line.
function curve(phase) {
  const { charts } = phase.columns;
  const values = phase.headline_in_ops ? charts.ops_per_s.values : charts.bytes_per_s.values;
  if (values.length < 2) return null;
  const width = 640, height = 90, max = values.reduce((a, b) => Math.max(a, b), 0) || 1;
  const x = (at) => (at / Math.max(phase.duration_s, values.length * charts.slice_s)) * width;
  const points = Array.from(values, (value, i) => `${x(i * charts.slice_s).toFixed(1)},${(height - (value / max) * height).toFixed(1)}`);
  const drawing = svg('svg', { viewBox: `0 -2 ${width} ${height + 4}`, class: 'curve' });
  drawing.append(svg('polyline', { points: points.join(' '), fill: 'none', stroke: '#1f6fb2', 'stroke-width': 1.5 }),
    svg('line', { x1: 0, y1: height, x2: width, y2: height, stroke: '#999' }));
  if (phase.stonewall?.at_s > 0) {
    drawing.append(svg('line', { x1: x(phase.stonewall.at_s), x2: x(phase.stonewall.at_s), y1: 0, y2: height, stroke: '#b5520a', 'stroke-dasharray': '4 3' }));
  }
  const unit = unitOf(phase);
  const top = unit.bytes === 0 && !phase.headline_in_ops ? `${number(max / UNITS['MiB/s'].bytes)} MiB/s`
    : `${number(unit.bytes ? max / unit.bytes : max)} ${unit.name}`;
  return h('figure', {}, drawing, h('figcaption', {}, `Throughput over ${seconds(phase.duration_s)}; max ${top}`
    + (phase.stonewall?.at_s > 0 ? `; dashed: stonewall at ${seconds(phase.stonewall.at_s)}` : '')));
}

function clientsOf(report, phase) {
  const { clients } = phase.columns, unit = unitOf(phase);
  const rate = (i) => rateIn(unit, { bytes_per_s: clients.bytes_per_s.values[i], ops_per_s: clients.ops_per_s.values[i] });
  const order = Array.from(clients.host.values.keys()).sort((a, b) => (rate(a) || 0) - (rate(b) || 0));
  return { caption: `Clients of ${phase.name}, slowest first`,
    note: order.length > MAX_CLIENTS ? `The slowest ${MAX_CLIENTS} of ${order.length}.` : '',
    columns: [{ title: 'client' }, { title: unit.name, format: number }, { title: 'p50 (µs)', format: number }, { title: 'p99 (µs)', format: number }],
    rows: order.slice(0, MAX_CLIENTS).map((i) => [hostOf(report, phase, i), rate(i), clients.p50_us.values[i], clients.p99_us.values[i]]) };
}

function phasePart(report, phase) {
  const unit = unitOf(phase);
  return h('section', { class: 'print-phase' },
    h('h2', {}, phaseName(phase, report)),
    h('p', {}, h('strong', {}, `${number(rateIn(unit, phase.headline))} ${unit.name}`), ` · ${details(phase)}`),
    limitsOf(phase),
    (phase.marks ?? []).map((entry) => h('p', {}, h('strong', {}, entry.code.replaceAll('_', ' ')), ` (${entry.subject}): ${entry.text}`)),
    curve(phase), figuresTables(phase).map((part) => table(part)), table(clientsOf(report, phase)));
}

export function printed(report) {
  const overview = { caption: 'Results', columns: [{ title: 'phase' }, { title: 'headline' }, { title: 'unit' },
    { title: 'p50 / p99' }, { title: 'limited by' }, { title: 'marks' }],
  rows: report.phases.map((phase) => [phaseName(phase, report), number(rateIn(unitOf(phase), phase.headline)), unitOf(phase).name,
    latencyText(phase), phase.limited_by || '–', [...new Set((phase.marks ?? []).map((entry) => entry.code))].join(' ')]) };
  const sweep = sweepTables(report), single = report.phases.filter((phase) => !sweep.phases.has(phase));
  const errors = tableOf(report, 'errors'), differ = tableOf(report, 'differences'), clients = tableOf(report, 'clients');
  return h('div', { id: 'printed' },
    table(overview, Infinity),
    sweep.tables.map((part) => table(part)),
    single.slice(0, MAX_FULL_PHASES).map((phase) => phasePart(report, phase)),
    single.length > MAX_FULL_PHASES
      ? h('p', {}, `Phases after the first ${MAX_FULL_PHASES} appear only in the table above.`) : null,
    otherTables(report).filter(({ columns }) => columns.length > 0).map((part) => table(part)),
    errors ? h('section', {}, table(errors)) : null,
    h('section', {}, h('h2', {}, 'Environment'), clients ? table(clients, MAX_CLIENTS) : null,
      differ ? table(differ) : null),
    h('section', {}, h('h2', {}, 'How to repeat it'), h('p', {}, h('code', {}, report.run?.command ?? '')),
      h('p', {}, `Seed ${report.run?.plan?.seed ?? '–'}. Unit of the data rates: ${state.unit}.`),
      report.phases.length <= MAX_FULL_PHASES ? lines(report.planYaml) : null));
}
