// The report on paper: every phase with its figures as tables, without controls. It is made when printing begins.
import { h, lines, table } from './dom.js';
import { figuresTables } from './charts_phase.js';
import { tableOf } from './facts.js';
import { otherTables, tablesForPaper } from './tables.js';
import { sweepTables } from './across.js';
import { clientRows } from './clients_table.js';
import { clientRates, severityOf, worstOf } from './data.js';
import { slowCount } from './first_screen.js';
import { intervalText, rateOfRow, rowsOf, unitOfRow } from './folded.js';
import { PERCENTILES_TITLE, details, latencyText, limitsOf } from './overview.js';
import { count, number, rateIn, seconds, unitOf, state, UNITS } from './units.js';

const MAX_CLIENTS = 40;       // rows on paper; the others are in result.csv
const MAX_OUTLIERS = 10;      // of more clients
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

// Of many clients, the slow ones and what all of them are like.
function clientsOf(report, phase) {
  const { columns, rows } = clientRows(report, phase), few = rows.length <= MAX_CLIENTS;
  rows.sort((a, b) => (a.rate || 0) - (b.rate || 0));
  const slow = rows.filter((row) => row.slow), shown = few ? rows : slow.slice(0, MAX_OUTLIERS);
  const cellsOf = ({ cells }) => cells.slice(0, 5).map((value, i) => (i === 0 ? value : columns[i].format(value)));
  const like = few ? [] : [['slowest', rows[0]], ['median', rows[rows.length >> 1]], ['fastest', rows.at(-1)]]
    .map(([word, row]) => [`${word}: ${row.cells[0]}`, ...cellsOf(row).slice(1)]);
  return { caption: few ? `Clients of ${phase.shown_name}, slowest first` : `Clients of ${phase.shown_name}`,
    note: few ? '' : `${slow.length > 0 ? slowCount({ slow, all: rows.length }) : `None of ${count(rows.length)} is slow`}`
      + `${slow.length > shown.length ? `, the ${shown.length} slowest of them here` : ''}. The page has a table of all.`,
    columns: columns.slice(0, 5).map(({ title, format }) => ({ title: title.replace(' (µs)', ''), format: format && ((value) => value) })), rows: [...like, ...shown.map(cellsOf)] };
}

// Each text once, with whom it concerns.
function marksText(phase) {
  const byText = new Map();
  for (const { code, text, subject, severity } of phase.marks ?? []) {
    if (!byText.has(text)) byText.set(text, { code, text, severity, subjects: [] });
    byText.get(text).subjects.push(subject);
  }
  return Array.from(byText.values(), ({ code, text, severity, subjects }) => h('p', {}, h('strong', {}, `${code.replaceAll('_', ' ')} [${severity ?? 'note'}]`),
    ` (${subjects.slice(0, 3).join(', ')}${subjects.length > 3 ? ` and ${subjects.length - 3} more` : ''}): ${text}`));
}

function headlineOf(phase) {
  const unit = unitOf(phase), worst = severityOf(phase), text = `${number(rateIn(unit, phase.headline))} ${unit.name}`;
  return h('strong', {}, worst === 'invalid' ? [h('s', {}, text), ' (invalid)'] : `${text}${worst === 'doubtful' ? ' (doubtful)' : ''}`);
}

function phasePart(report, phase) {
  return h('section', { class: 'print-phase' },
    h('h2', {}, phase.shown_name), h('p', {}, headlineOf(phase), ` · ${details(phase)}`), limitsOf(phase), marksText(phase), curve(phase),
    h('div', { class: 'print-figures' }, figuresTables(phase).slice(0, 2).map((part) => table(part))),
    figuresTables(phase).slice(2).map((part) => table(part)), clientRates(phase).length > 1 ? table(clientsOf(report, phase)) : null);
}

// Repetitions have a row each.
function repeatedPart(report, { name, phases }) {
  const unit = unitOf(phases[0]), shown = phases.slice(0, MAX_CLIENTS);
  const marks = { marks: phases.flatMap((phase) => (phase.marks ?? []).map((entry) => ({ ...entry, subject: `${phase.shown_name}${entry.subject === 'phase' ? '' : `, ${entry.subject}`}` }))) };
  return h('section', { class: 'print-phase' }, h('h2', {}, name), h('p', {}, details(phases[0])), marksText(marks),
    table({ caption: `Each repetition of ${name}`, note: phases.length > shown.length ? `The first ${shown.length} of ${count(phases.length)}.` : '',
      columns: [{ title: 'phase' }, { title: unit.name, format: number }, { title: PERCENTILES_TITLE }, { title: 'limited by' }, { title: 'marks' }],
      rows: shown.map((phase) => [phase.shown_name, rateIn(unit, phase.headline), latencyText(phase), phase.limited_by || '–', codesOf([phase])]) }));
}

const codesOf = (phases) => [...new Set(phases.flatMap((phase) => phase.marks ?? []).map((entry) => entry.code))].join(' ');

function resultsTable(rows) {
  const latency = ({ phases }) => (phases.length === 1 ? latencyText(phases[0]) : `${phases.length} times`);
  return { caption: 'Results', columns: [{ title: 'phase' }, { title: 'headline' }, { title: 'unit' }, { title: 'interval' }, { title: PERCENTILES_TITLE },
    { title: 'limited by' }, { title: 'marks' }],
  rows: rows.map((row) => {
    const value = number(rateOfRow(row).value);
    return [row.name, worstOf(row.phases) === 'invalid' ? h('s', {}, value) : value, unitOfRow(row).name, intervalText(row), latency(row), row.phases[0].limited_by || '–', codesOf(row.phases)];
  }) };
}

export function printed(report) {
  const rows = rowsOf(report), sweep = sweepTables(report), parts = rows.filter(({ phases }) => !sweep.phases.has(phases[0]));
  const errors = tableOf(report, 'errors'), differ = tableOf(report, 'differences'), clients = tableOf(report, 'clients');
  const many = (report.clients?.length ?? 0) > MAX_CLIENTS;
  return h('div', { id: 'printed' },
    table(resultsTable(rows), Infinity),
    sweep.tables.map((part) => table(part)),
    parts.slice(0, MAX_FULL_PHASES).map((row) => (row.phases.length > 1 ? repeatedPart(report, row) : phasePart(report, row.phases[0]))),
    parts.length > MAX_FULL_PHASES
      ? h('p', {}, `Phases after the first ${MAX_FULL_PHASES} appear only in the table above.`) : null,
    [...tablesForPaper(report), ...otherTables(report)].filter(({ columns }) => columns.length > 0).map((part) => table(part, MAX_CLIENTS)),
    otherTables(report).filter(({ columns }) => columns.length === 0).map((part) => h('p', {}, h('strong', {}, part.caption), ' ', part.note)),
    errors ? h('section', {}, table(errors, MAX_CLIENTS)) : null,
    h('section', {}, h('h2', {}, 'Environment'), clients ? table(clients, many ? MAX_OUTLIERS : MAX_CLIENTS) : null,
      differ ? table(differ, MAX_CLIENTS) : null),
    h('section', {}, h('h2', {}, 'How to repeat it'), h('p', {}, h('code', {}, report.run?.command ?? '')),
      h('p', {}, `Seed ${report.run?.plan?.seed ?? '–'}. Unit of the data rates: ${state.unit}.`),
      report.phases.length <= MAX_FULL_PHASES ? lines(report.planYaml) : null));
}
