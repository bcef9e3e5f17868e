// The page of a comparison: what differs between the runs, then the verdicts, then the charts on common scales.
import { section } from './across.js';
import { controls, footer, printWith } from './choices.js';
import {
  barsFigure, forestFigure, mapFigure, mapGrid, mapReach, mediansTable, p99Figure, percentilesOfRuns, ratesFigure, ratioRange, repetitionsFigure,
} from './compare_charts.js';
import {
  box, header, interval, inUnit, printedRuns, probability, ratio, runsSection, tableCard, unitFor, verdictMark, warnings,
} from './compared.js';
import { surfacesAndMaps, surfaceTables } from './compare_surfaces.js';
import { h, table } from './dom.js';
import { refreshFigures } from './figure.js';
import { micros, number } from './units.js';

// The verdicts of one run against the baseline, as they are shown, and with all digits.
function verdictsTable(report, words, run) {
  const letter = words.letters[run];
  const phases = report.phases.map((phase, i) => ({ phase, label: words.labels[i], marks: words.marks[i], verdict: words.phase_verdicts[i] })).filter(({ phase }) => phase.run === run);
  const notes = ({ phase, marks }) => [marks, phase.rate.why].filter(Boolean).join('; ');
  return {
    caption: `${letter} against A`,
    columns: [{ title: 'phase' }, { title: 'unit' }, { title: 'A', format: number }, { title: letter, format: number },
      { title: `${letter}/A`, format: ratio }, { title: 'interval' }, { title: 'p' }, { title: 'of the rate' },
      { title: 'p99 of A' }, { title: `p99 of ${letter}` }, { title: 'p99 ratio', format: ratio }, { title: 'of p99' }, { title: 'verdict' }, { title: 'marks and reasons' }],
    rows: phases.map((row) => {
      const { metadata, baseline, compared, rate, latency_p99: p99 } = row.phase, unit = unitFor(metadata);
      return [row.label, unit.name, inUnit(unit, baseline.rate), inUnit(unit, compared.rate), rate.ratio, interval(rate.low, rate.high),
        probability(rate.adjusted_p), verdictMark(rate.verdict), micros(baseline.p99_us), micros(compared.p99_us), p99.ratio, verdictMark(p99.verdict), verdictMark(row.phase.verdict, row.verdict), notes(row)];
    }) };
}

function exactVerdicts(report, words, run) {
  const columns = ['phase', 'metadata', 'baseline_rate', 'compared_rate', 'ratio', 'low', 'high', 'p', 'adjusted_p', 'verdict', 'baseline_p99_us',
    'compared_p99_us', 'p99_ratio', 'p99_low', 'p99_high', 'p99_verdict', 'phase_verdict'].map((title) => ({ title }));
  return { columns, rows: report.phases.map((phase, i) => ({ phase, label: words.labels[i] })).filter(({ phase }) => phase.run === run)
    .map(({ label, phase: { metadata, baseline, compared, rate, latency_p99: p99, verdict } }) => [label, metadata, baseline.rate, compared.rate, rate.ratio, rate.low,
      rate.high, rate.p, rate.adjusted_p, rate.verdict, baseline.p99_us, compared.p99_us, p99.ratio, p99.low, p99.high, p99.verdict, verdict]) };
}

export class ComparisonPage {
  constructor(report, words, place) {
    Object.assign(this, { report, words, place });
    this.others = report.runs.map((_, run) => run).slice(1);
  }

  title() {
    if (this.others.length === 0) return `Repetitions of ${this.report.runs[0].label || this.report.runs[0].name}`;
    return this.others.length === 1 ? 'B against A' : `${this.others.length} runs against A`;
  }

  build() {
    const { report, words } = this;
    document.title = `${this.title()} – cluster-iobench`;
    this.verdictPlace = h('div', { class: 'stack' });
    this.place.replaceChildren(
      header('cluster-iobench comparison', this.title(), report, controls(['MiB/s', 'MB/s'], () => this.showUnit())),
      h('main', {}, ...this.verdicts(), ...warnings(report, words).filter(Boolean), runsSection(report, words),
        section('verdicts', this.others.length > 0 ? 'Verdicts' : 'Medians', this.verdictPlace, this.unmatched()),
        this.charts(), this.maps(), this.notes()),
      footer());
    for (const missing of this.place.querySelectorAll('main > :empty:not(div)')) missing.remove();
    this.showVerdicts();
    printWith(this.place, () => this.printed());
  }

  verdicts() {
    return this.others.map((run) => box(this.report.counts[run - 1].worse === 0, `${this.words.letters[run]} against A`, ` ${this.words.verdicts[run - 1]}`));
  }

  unmatched() {
    return this.words.unmatched.length === 0 ? null
      : h('p', { class: 'note' }, 'Not in both runs: ', this.words.unmatched.join('; '), '.');
  }

  showUnit() {
    this.showVerdicts();
    refreshFigures();
  }

  showVerdicts() {
    const { report, words } = this;
    const cards = this.others.map((run) => tableCard('verdicts', verdictsTable(report, words, run), exactVerdicts(report, words, run)));
    if (report.repetitions.length > 0) cards.push(tableCard('medians', mediansTable(report, words)));
    this.verdictPlace.replaceChildren(...cards);
  }

  charts() {
    const { report, words } = this, range = ratioRange(report);
    const figures = [
      forestFigure(report, words, range, { id: 'ratios', title: 'Ratio of the rates', estimateOf: (c) => c.rate, better: 'above 1 is better',
        note: `With the interval at ${report.level_percent} % for each phase by itself. Both charts of ratios have the same scale.` }),
      forestFigure(report, words, range, { id: 'ratios-p99', title: 'Ratio of the latencies, p99', estimateOf: (c) => c.latency_p99, better: 'below 1 is better',
        note: 'The same of p99.' }),
      barsFigure(report, words, false), barsFigure(report, words, true), ratesFigure(report, words, false), ratesFigure(report, words, true), p99Figure(report, words), percentilesOfRuns(report, words),
      repetitionsFigure(report, words)].filter(Boolean);
    return figures.length === 0 ? null
      : section('charts', 'Runs on common scales', h('div', { class: 'grid' }, figures.map((figure) => figure.element)));
  }

  maps() {
    const { report, words } = this, reach = mapReach(report);
    if (report.maps.length === 0) return null;
    const { kind, elements } = surfacesAndMaps(report, words, (i) => mapFigure(report.maps[i], words.maps[i], reach));
    return section('maps', 'Rates and ratios by file size and record size', h('div', { class: 'controls' }, kind),
      h('p', { class: 'note lead' }, 'All maps of ratios have the same colours. ▲ better, ▼ worse, = equal within ', String(report.margin_percent), ' %, ? not shown.'),
      h('div', { class: 'grid' }, elements));
  }

  notes() {
    return this.words.notes.length === 0 ? null
      : section('notes', 'How to read this', h('ul', {}, this.words.notes.map((text) => h('li', {}, text))));
  }

  printed() {
    const { report, words } = this;
    return h('div', { id: 'printed' },
      printedRuns(report, words), this.others.map((run) => table(verdictsTable(report, words, run), Infinity)),
      words.unmatched.length > 0 ? h('p', {}, `Not in both runs: ${words.unmatched.join('; ')}.`) : null,
      report.repetitions.length > 0 ? table(mediansTable(report, words), Infinity) : null,
      report.maps.map((map, i) => table(mapGrid(map, words.maps[i]), Infinity)), surfaceTables(report, words).map((part) => table(part, Infinity)),
      words.notes.map((text) => h('p', {}, text)));
  }
}
