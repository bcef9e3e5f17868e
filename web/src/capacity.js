// The page of capacity measurements: the answers, then scaling with its law, the load curve with the SLO, and fairness as
// clients are added. Several runs are laid over each other.
import { section } from './across.js';
import { controls, footer, printWith } from './choices.js';
import { day, headerOf, tableCard } from './compared.js';
import { h, table, visible } from './dom.js';
import { Figure, refreshFigures } from './figure.js';
import { latencyAxis, latencyTicks, layout, palette, plain } from './plot.js';
import { count, micros, number, percent, plural, seconds, size } from './units.js';

const ops = (value) => `${number(value)} ops/s`;
const marksOf = (item) => item.marks.join(', ');
const withAlpha = (colour, alpha) => `${colour}${Math.round(alpha * 255).toString(16).padStart(2, '0')}`;
const colourOf = (index) => palette()[index % 6];

const times = (low, high) => `${number(low, 3)} to ${number(high, 3)} times`;

// The level of the closed loops that reached the highest rate, with the interval of its mean; absent: the rate of a mix.
const highestLevel = ({ max, scalings }) => scalings.flatMap((scaling) => scaling.levels.map((level) => ({ ...level, over: scaling.over, plateau: scaling.plateau_n })))
  .find((level) => level.median_ops_per_s === max?.ops_per_s);

function maxFinding(report) {
  const { max } = report, level = highestLevel(report);
  if (!max) return { name: 'Highest rate', value: 'unknown', doubts: ['it was not measured'] };
  const doubts = [], repeated = Number.isFinite(level?.mean_high);
  if (level && !repeated) doubts.push('it was measured once, so its error is unknown');
  if (level && level.plateau === 0) doubts.push(`the rate still rose with the most ${level.over}, ${level.n}`);
  return { name: 'Highest rate', value: ops(max.ops_per_s),
    more: [max.bytes_per_s > 0 ? `${size(max.bytes_per_s)}/s` : '', `${plural(max.clients, 'client')}, ${plural(max.lanes, 'lane')} in total`,
      max.times_mix > 0 ? `${number(max.times_mix, 3)} times the mix` : ''].filter(Boolean).join(', '),
    interval: repeated ? `95 %: ${number(Math.max(0, level.mean_low))} to ${number(level.mean_high)} ops/s` : '', doubts,
    because: level?.plateau > 0 ? `from ${level.plateau} ${level.over} on, more brought nothing` : '' };
}

function sloFinding({ slo }) {
  if (!slo) return null;
  const known = slo.max_ops_per_s > 0, above = slo.fails_at_ops_per_s > 0;
  return { name: `Load with ${slo.slo}`, value: known ? ops(slo.max_ops_per_s) : 'none is known',
    more: [slo.max_bytes_per_s > 0 ? `${size(slo.max_bytes_per_s)}/s` : '', slo.max_times_mix > 0 ? `${number(slo.max_times_mix, 3)} times the mix` : ''].filter(Boolean).join(', '),
    interval: known && above ? `${slo.confidence_percent > 0 ? `${number(slo.confidence_percent, 3)} %: ` : ''}${number(slo.max_ops_per_s)} to ${number(slo.fails_at_ops_per_s)} ops/s` : '',
    doubts: slo.sure ? [] : [slo.tests || slo.text], because: slo.tests };
}

// Its limit is the load under the SLO, or without one the highest rate.
function headroomFinding(report) {
  const { load, slo, max } = report, level = highestLevel(report);
  if (!load) return null;
  const [low, high] = slo ? [slo.max_ops_per_s, slo.fails_at_ops_per_s] : [level?.mean_low, level?.mean_high];
  const limit = slo ? sloFinding(report) : maxFinding(report);
  return { name: `Headroom at ${ops(load.ops_per_s)}`, value: load.factor >= 1 ? `${number(load.factor, 3)} times` : 'none',
    more: load.factor >= 1 ? `${load.limit_is} is ${ops(load.limit_per_s)}` : load.limit_per_s > 0 ? `${ops(load.ops_per_s)} is over ${load.limit_is}, ${ops(load.limit_per_s)}`
      : `no load is known to meet ${slo?.slo ?? max?.ops_per_s}`,
    interval: load.limit_per_s > 0 && high > 0 && low > 0 ? times(low / load.ops_per_s, high / load.ops_per_s) : '', doubts: limit.doubts, because: limit.because };
}

// What everybody asks first, with how far it can be relied on: {name, value, more, interval, doubts: none: it is sure, because}.
// Whatever casts doubt on the whole measurement does so on each of them.
function findingsOf(report) {
  const all = report.complete ? [] : ['the measurement is incomplete'];
  if (report.warnings.length > 0) all.push(report.warnings.length > 1 ? `${report.warnings.length} warnings below` : report.warnings[0].split(':')[0]);
  return [maxFinding(report), sloFinding(report), headroomFinding(report)].filter(Boolean).map((finding) => ({ ...finding, doubts: [...finding.doubts, ...all] }));
}

const findingCard = ({ name, value, more, interval, doubts, because }) => h('div', { class: 'finding' },
  h('h3', {}, name), h('p', { class: 'answer' }, value), more ? h('p', { class: 'note' }, more) : null, interval ? h('p', {}, interval) : null,
  doubts.length > 0 ? h('p', {}, h('span', { class: 'badge maybe' }, 'not sure'), ` because ${doubts.join('; ')}`)
    : h('p', {}, h('span', { class: 'badge yes' }, 'sure'), because ? ` because ${because}` : ''));

// [name, text] of everything else.
function answersOf({ max, slo, knee, overall_response: overall, answers }) {
  const found = answers.map(({ question, answer }) => [question, answer]);
  if (slo) found.push(['SLO', slo.text]);
  if (max) {
    found.push(['Limited by', max.limited_by.length > 0 ? max.limited_by.join('; ') : 'unknown']);
    for (const advice of max.advice.filter(Boolean)) found.push(['What to try', advice]);
  }
  if (knee) found.push(['Knee', `${ops(knee.ops_per_s)} at ${micros(knee.mean_us)}${knee.broad ? '; the curve bends gradually, so this is a rough value' : ''}`]);
  if (overall) found.push(['Overall response time', `${micros(overall.trapezoid_us)} (area under the load curve / highest throughput; not a SPEC result)`]);
  return found;
}

// Of clients or lanes there are only whole numbers.
const countAxis = (title, reports, over) => ({ title, rangemode: 'tozero',
  ...(Math.max(...reports.flatMap((report) => scalingOver(report, over)?.levels.map((level) => level.n) ?? [])) <= 6 ? { dtick: 1 } : {}) });

const scalingOver = (report, over) => report.scalings.find((scaling) => scaling.over === over);

// The interval of the law as a band, its line, and the measured levels with the range of their repetitions.
function scalingTraces(report, over, index, several) {
  const scaling = scalingOver(report, over);
  if (!scaling) return [];
  const { levels, usl } = scaling, name = several ? `${report.name}: ` : '';
  const traces = [];
  if (usl) {
    traces.push({ type: 'scatter', mode: 'lines', x: [...usl.curve_n, ...[...usl.curve_n].reverse()],
      y: [...usl.curve_high, ...[...usl.curve_low].reverse()], fill: 'toself', fillcolor: withAlpha(colourOf(index), 0.16),
      line: { width: 0 }, hoverinfo: 'skip', name: plain(`${name}95 %`), showlegend: !several });
    traces.push({ type: 'scatter', mode: 'lines', x: usl.curve_n, y: usl.curve_ops_per_s, name: plain(`${name}fit`), showlegend: !several,
      line: { color: colourOf(index), width: 1.5, dash: 'dot' } });
  }
  traces.push({ type: 'scatter', mode: 'markers', x: levels.map((level) => level.n), y: levels.map((level) => level.median_ops_per_s),
    name: plain(several ? report.name : 'measured'), marker: { color: colourOf(index), size: 9, symbol: index },
    error_y: { type: 'data', symmetric: false, array: levels.map((l) => l.high_ops_per_s - l.median_ops_per_s),
      arrayminus: levels.map((l) => l.median_ops_per_s - l.low_ops_per_s) } });
  return traces;
}

function lawText(scaling, over) {
  if (!scaling.usl) return `No law was fitted: ${scaling.usl_refused}.`;
  const { lambda, sigma, kappa, n_star: peak, x_max: most } = scaling.usl;
  const figure = ({ value, low, high }) => `${number(value, 3)} (${number(low, 3)} ${Number.isFinite(high) ? `to ${number(high, 3)}` : 'or more'})`;
  return `Universal Scalability Law: one ${over.slice(0, -1)} alone gives ${figure(lambda)} ops/s, contention ${figure(sigma)}, crosstalk ${figure(kappa)}; `
    + `${peak ? `peak at ${figure(peak)} ${over}: ${figure(most)} ops/s` : 'no peak up to twice the most measured'}. 95 % intervals. ${scaling.warnings.join(' ')}`;
}

function scalingTable(reports, over) {
  return { caption: `Scaling over ${over}`,
    columns: [{ title: 'run' }, { title: over, format: count }, { title: 'ops/s', format: number }, { title: 'from', format: number },
      { title: 'to', format: number }, { title: 'bytes/s', format: number }, { title: 'mean (µs)', format: number }, { title: 'p99 (µs)', format: number },
      { title: 'per added', format: number }, { title: 'fairness', format: number }, { title: 'marks' }],
    rows: reports.flatMap((report) => (scalingOver(report, over)?.levels ?? []).map((l) => [report.name, l.n, l.median_ops_per_s, l.low_ops_per_s,
      l.high_ops_per_s, l.bytes_per_s, l.mean_us, l.p99_us, l.efficiency, l.fairness, marksOf(l)])) };
}

function scalingFigure(reports, over) {
  const several = reports.length > 1;
  return new Figure({
    id: `scaling-${over}`, title: `Throughput over ${over}`, wide: true,
    note: `Closed loop: each lane starts an op when its previous one has ended. ${several ? 'Bands and dotted lines are the fits.' : lawText(scalingOver(reports[0], over), over)}`,
    chart: () => ({ traces: reports.flatMap((report, i) => scalingTraces(report, over, i, several)),
      layout: layout({ height: 360, legend: true, x: countAxis(over, reports, over), y: { title: 'ops/s', rangemode: 'tozero' } }) }),
    table: () => scalingTable(reports, over) });
}

function fairnessFigure(reports) {
  const levelsOf = (report) => (scalingOver(report, 'clients')?.levels ?? []).filter((level) => Number.isFinite(level.fairness));
  const shown = reports.filter((report) => levelsOf(report).length > 0);
  if (shown.length === 0) return null;
  return new Figure({
    id: 'fairness', title: 'Fairness as clients are added',
    note: "Jain's index of the clients' rates: 1 if all are equal, 1/n if one client has everything.",
    chart: () => ({ traces: shown.map((report, i) => ({ type: 'scatter', mode: 'lines+markers', name: plain(report.name), x: levelsOf(report).map((l) => l.n),
      y: levelsOf(report).map((l) => l.fairness), line: { color: colourOf(i) } })),
    layout: layout({ height: 300, legend: shown.length > 1, x: countAxis('clients', shown, 'clients'), y: { title: 'fairness', range: [0, 1.05] } }) }),
    table: () => scalingTable(shown, 'clients') });
}

function curveTable(reports) {
  return { caption: 'Load curve',
    columns: [{ title: 'run' }, { title: '% of highest', format: number }, { title: 'offered ops/s', format: number }, { title: 'achieved ops/s', format: number },
      { title: 'completed %', format: number }, { title: 'mean (µs)', format: number }, { title: 'from', format: number }, { title: 'to', format: number },
      { title: 'p50 (µs)', format: number }, { title: 'p99 (µs)', format: number }, { title: 'marks' }],
    rows: reports.flatMap((report) => report.curve.map((p) => [report.name, 100 * p.share_of_max, p.offered_per_s, p.achieved_per_s, p.done_percent,
      p.mean_us, p.mean_low_us, p.mean_high_us, p.p50_us, p.p99_us, marksOf(p)])) };
}

function curveTraces(report, index, several) {
  const points = report.curve.filter((point) => point.mean_us > 0), name = several ? `${report.name}: ` : '';
  const rates = points.map((point) => point.achieved_per_s);
  const away = (end) => points.map((p) => (Number.isFinite(p[end]) ? Math.abs(p[end] - p.mean_us) : 0));
  return [{ type: 'scatter', mode: 'lines+markers', name: plain(`${name}mean`), x: rates, y: points.map((p) => p.mean_us), line: { color: colourOf(index) },
    marker: { symbol: index, size: 8 }, error_y: { type: 'data', symmetric: false, array: away('mean_high_us'), arrayminus: away('mean_low_us') } },
  { type: 'scatter', mode: 'lines+markers', name: plain(`${name}p99`), x: rates, y: points.map((p) => p.p99_us),
    line: { color: colourOf(index), dash: 'dash' }, marker: { symbol: index, size: 6 } }];
}

// The SLO as a line, and the highest load that keeps it.
function sloMarks(reports) {
  const shapes = [], annotations = [], limits = new Set();
  for (const [i, { slo }] of reports.entries()) {
    if (!slo) continue;
    if (!limits.has(slo.slo)) {
      limits.add(slo.slo);
      shapes.push({ type: 'line', xref: 'paper', x0: 0, x1: 1, y0: slo.limit_us, y1: slo.limit_us, line: { color: colourOf(1), width: 1.5, dash: 'dot' } });
      annotations.push({ xref: 'paper', x: 0, xanchor: 'left', y: Math.log10(slo.limit_us), yanchor: 'bottom', text: plain(slo.slo) });
    }
    if (slo.max_ops_per_s > 0) {
      shapes.push({ type: 'line', yref: 'paper', y0: 0, y1: 1, x0: slo.max_ops_per_s, x1: slo.max_ops_per_s,
        line: { color: colourOf(reports.length > 1 ? i : 1), width: 1 } });
    }
  }
  return { shapes, annotations };
}

const latenciesOf = ({ curve, slo }) => [...curve.flatMap((point) => [point.mean_us, point.p99_us]), slo?.limit_us].filter((us) => us > 0);

function curveFigure(reports) {
  const several = reports.length > 1;
  return new Figure({
    id: 'load-curve', title: 'Response time over load', wide: true,
    note: 'Open loop: ops start when they are due, so response times include waiting behind late ones. Bars are 95 % intervals of the mean over repetitions.',
    chart: () => ({ traces: reports.flatMap((report, i) => curveTraces(report, i, several)),
      layout: layout({ height: 380, legend: true, x: { title: 'achieved ops/s', rangemode: 'tozero' }, y: latencyAxis('response time', latencyTicks(reports.flatMap(latenciesOf))), ...sloMarks(reports) }) }),
    table: () => curveTable(reports) });
}

const probesTable = (report) => ({ caption: `Search for the highest load with ${report.slo.slo}`,
  columns: [{ title: 'for' }, { title: 'ops/s', format: number }, { title: 'measured (s)', format: number }, { title: 'response (µs)', format: number },
    { title: 'verdict' }, { title: 'why' }],
  rows: report.slo.probes.map((step) => [step.purpose, step.offered_per_s, step.seconds, step.figure_us, step.verdict, step.reason]) });

export class CapacityPage {
  constructor(reports, place) {
    Object.assign(this, { reports, place });
  }

  build() {
    const { reports } = this, title = reports.length === 1 ? reports[0].path : `${reports.length} runs`;
    document.title = visible(`Capacity of ${title} – cluster-iobench`);
    const overs = ['clients', 'lanes'].filter((over) => reports.some((report) => scalingOver(report, over)));
    const figures = overs.map((over) => scalingFigure(reports, over));
    const fair = fairnessFigure(reports), curves = reports.some((report) => report.curve.length > 0);
    this.place.replaceChildren(
      headerOf('cluster-iobench capacity', title, this.facts(), controls()),
      h('main', {}, reports.map((report) => this.summary(report)),
        figures.length > 0 ? section('scaling', 'Scaling', h('div', { class: 'grid' }, figures.map((figure) => figure.element), fair?.element)) : null,
        curves ? section('load', 'Load and response time', h('div', { class: 'grid' }, curveFigure(reports).element)) : null,
        reports.filter((report) => report.slo?.probes.length > 0).map((report, i) =>
          section(`search-${i}`, `Search for the load under the SLO${reports.length > 1 ? `: ${report.name}` : ''}`,
            tableCard(`probes-${i}`, probesTable(report))))),
      footer());
    printWith(this.place, () => this.printed());
    refreshFigures();
  }

  facts() {
    const { reports } = this;
    return reports.flatMap((report) => [
      [reports.length > 1 ? report.name : 'Workload', report.workload, 'wide'],
      ['Clients', `${plural(report.client_count, 'client')}, ${plural(report.worker_count, 'worker')}, up to ${plural(report.lanes_per_worker, 'lane')} each`],
      ['Started at', report.started_at ? `${day(report.started_at)} UTC` : ''],
      ['Duration', seconds(report.duration_s)],
      reports.length === 1 ? ['Command', report.command, 'wide'] : ['', '']]);
  }

  summary(report) {
    const facts = answersOf(report), warned = report.warnings.length > 0;
    const heading = this.reports.length > 1 ? report.name : report.complete ? 'Answers' : 'Answers, incomplete';
    return h('section', { class: 'answers', 'data-answers': report.name, 'aria-label': heading },
      h('h2', {}, heading), h('div', { class: 'findings' }, findingsOf(report).map(findingCard)),
      facts.length > 0 ? h('dl', { class: 'facts card' }, facts.map(([name, text]) => h('div', { class: 'wide' }, h('dt', {}, name), h('dd', {}, text)))) : null,
      warned || !report.complete ? h('div', { class: 'verdict doubtful', role: 'status' },
        h('strong', {}, warned ? plural(report.warnings.length, 'warning') : 'The measurement is incomplete'),
        warned ? h('ul', {}, report.warnings.map((text) => h('li', {}, text))) : null) : null);
  }

  printed() {
    const { reports } = this;
    const overs = ['clients', 'lanes'].filter((over) => reports.some((report) => scalingOver(report, over)));
    const laws = reports.flatMap((report) => overs.map((over) => [report, over])).filter(([report, over]) => scalingOver(report, over));
    return h('div', { id: 'printed' }, reports.map((report) => this.summary(report)), overs.map((over) => table(scalingTable(reports, over), Infinity)),
      laws.map(([report, over]) => h('p', {}, `${reports.length > 1 ? `${report.name}, ` : ''}${over}: ${lawText(scalingOver(report, over), over)}`)),
      reports.some((report) => report.curve.length > 0) ? table(curveTable(reports), Infinity) : null,
      reports.filter((report) => report.slo?.probes.length > 0).map((report) => table(probesTable(report), Infinity)));
  }
}
