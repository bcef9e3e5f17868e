// The page of a history: what differs between the runs, then trends and changes, then each phase over time.
import { section } from './across.js';
import { controls, footer, printWith } from './choices.js';
import { box, day, header, inUnit, printedRuns, probability, ratio, runsSection, sign, tableCard, unitFor, verdictMark, warnings } from './compared.js';
import { h, table } from './dom.js';
import { Figure, refreshFigures } from './figure.js';
import { colour, layout, palette, plain } from './plot.js';
import { number } from './units.js';

const MAX_LINES = 24;  // phases in one chart

const change = (low, high) => (Number.isFinite(low) ? `${low.toPrecision(2)} % to ${high.toPrecision(2)} %` : '–');
const runOf = (report, point) => report.runs[point.run];
const known = (phase) => phase.points.filter((point) => Number.isFinite(point.figure.rate));

function summaryTable(report, words) {
  return { caption: 'Trends and changes',
    columns: [{ title: 'phase' }, { title: 'unit' }, { title: 'median', format: number }, { title: 'trend' }, { title: '% over the time', format: number },
      { title: 'interval' }, { title: 'p' }, { title: 'changes' }],
    rows: report.phases.map((phase, i) => {
      const unit = unitFor(phase.metadata), changes = words.changes[i];
      return [words.labels[i], unit.name, inUnit(unit, phase.median), verdictMark(phase.trend.verdict), phase.trend.percent,
        change(phase.trend.low, phase.trend.high), probability(phase.trend.adjusted_p), changes.length > 0 ? changes.join('; ') : phase.changes_why ? `not shown: ${phase.changes_why}` : 'none shown'];
    }) };
}

const exactSummary = (report, words) => ({
  columns: ['phase', 'metadata', 'median', 'trend', 'percent', 'low', 'high', 'observed_days', 'p', 'adjusted_p', 'changes'].map((title) => ({ title })),
  rows: report.phases.map((phase, i) => [words.labels[i], phase.metadata, phase.median, phase.trend.verdict, phase.trend.percent, phase.trend.low, phase.trend.high,
    phase.trend.observed_days, phase.trend.p,
    phase.trend.adjusted_p, phase.changes.length]) });

// All phases relative to their medians, on one scale.
function overviewFigure(report, words) {
  const phases = report.phases.map((phase, i) => ({ phase, label: words.labels[i] }));
  const spread = ({ phase }) => Math.max(...known(phase).map((point) => Math.abs(Math.log(point.of_median || 1))), 0);
  const shown = [...phases].sort((a, b) => spread(b) - spread(a)).slice(0, MAX_LINES);
  return new Figure({
    id: 'history-all', title: 'All phases on one scale', wide: true,
    note: `Each run relative to the median of the phase. Higher is better.${phases.length > MAX_LINES ? ` The ${MAX_LINES} phases that vary most; the table has all.` : ''}`,
    chart: () => ({
      traces: shown.map(({ phase, label }, i) => ({ type: 'scatter', mode: 'lines+markers', name: plain(label),
        x: known(phase).map((point) => runOf(report, point).started_at), y: known(phase).map((point) => point.of_median),
        line: { color: palette()[i % 6], width: 1.5 }, marker: { size: 6, symbol: i },
        customdata: known(phase).map((point) => plain(`${label}, ${words.letters[point.run]}: ${ratio(point.of_median)}`)),
        hovertemplate: '%{customdata}<extra></extra>' })),
      layout: layout({ height: 340, legend: shown.length > 1, x: { title: 'start of the run', type: 'date' },
        y: { title: 'rate / median (higher is better)', rangemode: 'tozero' } }) }),
    table: () => ({ caption: 'All phases relative to their medians',
      columns: [{ title: 'run' }, { title: 'started at' }, ...phases.map(({ label }) => ({ title: label, format: ratio }))],
      rows: report.runs.map((run, i) => [words.letters[i], day(run.started_at),
        ...phases.map(({ phase }) => phase.points.find((point) => point.run === i)?.of_median ?? NaN)]) }) });
}

// The levels between the changes of a phase: [{from, to, level}], in the order of time.
function levels(phase) {
  const points = known(phase);
  if (points.length === 0) return [];
  const bounds = [points[0].run, ...phase.changes.map((change) => change.run), Infinity];
  return bounds.slice(0, -1).map((from, i) => ({
    members: points.filter((point) => point.run >= from && point.run < bounds[i + 1]),
    level: i > 0 ? phase.changes[i - 1].median_after : phase.changes[0]?.median_before ?? phase.median,
  })).filter(({ members }) => members.length > 0);
}

function phaseFigure(report, words, phase, i) {
  const unit = () => unitFor(phase.metadata), label = words.labels[i];
  const at = (run) => report.runs[run].started_at;
  const changed = new Set(phase.changes.map((change) => change.run));
  return new Figure({
    id: 'history', title: label,
    note: `Trend: ${words.trends[i]}. ${words.changes[i].length > 0 ? `Changes: ${words.changes[i].join('; ')}. ` : ''}`
      + 'Dashed: the level between changes. Higher is better.',
    chart: () => {
      const points = known(phase), lastRun = Math.max(...points.map((point) => point.run));
      return {
        traces: [{ type: 'scatter', mode: 'lines+markers', x: points.map((point) => at(point.run)), y: points.map((point) => inUnit(unit(), point.figure.rate)),
          line: { color: colour('series-1'), width: 1.5 },
          marker: { size: 8, color: points.map((point) => colour(changed.has(point.run) ? 'series-2' : 'series-1')),
            symbol: points.map((point) => (changed.has(point.run) ? 'diamond' : 'circle')) },
          customdata: points.map((point) => plain(`${words.letters[point.run]} (${runOf(report, point).name}), ${day(at(point.run))}: ${number(inUnit(unit(), point.figure.rate))} ${unit().name}`)),
          hovertemplate: '%{customdata}<extra></extra>' }],
        layout: layout({ x: { title: 'start of the run', type: 'date' }, y: { title: `${unit().name} (higher is better)`, rangemode: 'tozero' },
          shapes: [
            ...levels(phase).map(({ members, level }, n, all) => ({ type: 'line', x0: at(members[0].run), x1: at(all[n + 1]?.members[0].run ?? lastRun),
              y0: inUnit(unit(), level), y1: inUnit(unit(), level), line: { color: colour('accent'), width: 1.5, dash: 'dash' } })),
            ...phase.changes.map(({ run }) => ({ type: 'line', x0: at(run), x1: at(run), yref: 'paper', y0: 0, y1: 1,
              line: { color: colour('series-2'), width: 1, dash: 'dot' } }))],
          annotations: phase.changes.map((change) => ({ x: at(change.run), yref: 'paper', y: 1, yanchor: 'bottom', text: `× ${ratio(change.ratio)}` })) }) };
    },
    table: () => ({ caption: `${label} over time`,
      columns: [{ title: 'run' }, { title: 'started at' }, { title: unit().name, format: number }, { title: 'of median', format: ratio }, { title: 'p99 (µs)', format: number },
        { title: '' }, { title: 'marks' }, { title: 'directory' }],
      rows: phase.points.map((point) => [words.letters[point.run], day(at(point.run)), inUnit(unit(), point.figure.rate), point.of_median, point.figure.p99_us,
        changed.has(point.run) ? 'changed' : point.figure.count === 0 ? 'left out' : '', point.figure.marks.join(' '), runOf(report, point).name]) }) });
}

export class HistoryPage {
  constructor(report, words, place) {
    Object.assign(this, { report, words, place });
  }

  build() {
    const { report, words } = this, title = `History of ${report.runs.length} runs`;
    document.title = `${title} – cluster-iobench`;
    this.summaryPlace = h('div', { class: 'stack' });
    this.figures = report.phases.map((phase, i) => phaseFigure(report, words, phase, i));
    this.place.replaceChildren(
      header('cluster-iobench history', title, report, controls(['MiB/s', 'MB/s'], () => this.showUnit())),
      h('main', {}, ...warnings(report, words).filter(Boolean), this.headline(), runsSection(report, words),
        section('trends', 'Trends and changes', this.summaryPlace),
        report.phases.length === 0 ? h('p', { class: 'note' }, 'No phase is in two of these runs.') : section('phases', 'Phases over time',
          h('div', { class: 'grid' }, overviewFigure(report, words).element, this.figures.map((figure) => figure.element)))),
      footer());
    this.showSummary();
    printWith(this.place, () => this.printed());
  }

  headline() {
    const falling = this.report.phases.filter((phase) => phase.trend.verdict === 'falling').length;
    const rising = this.report.phases.filter((phase) => phase.trend.verdict === 'rising').length;
    const changed = this.report.phases.filter((phase) => phase.changes.length > 0).length;
    return box(falling === 0, '', `${sign('falling')} ${falling} falling, ${sign('rising')} ${rising} rising, ${changed} changed in level, of ${this.report.phases.length} phases`);
  }

  showUnit() {
    this.showSummary();
    refreshFigures();
  }

  showSummary() {
    this.summaryPlace.replaceChildren(tableCard('summary', summaryTable(this.report, this.words), exactSummary(this.report, this.words)));
  }

  printed() {
    const { report, words } = this;
    return h('div', { id: 'printed' }, printedRuns(report, words), table(summaryTable(report, words), Infinity),
      this.figures.map((figure) => table(figure.spec.table(), Infinity)));
  }
}
