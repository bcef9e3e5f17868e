// Charts of a comparison: ratios with their intervals, rates and latencies of all runs, percentiles, maps, repetitions.
import { Figure, choice } from './figure.js';
import { inUnit, interval, legendOf, ratio, sign, unitFor } from './compared.js';
import { cellTexts, colour, colourBar, inkAt, latencyAxis, latencyTicks, layout, palette, plain, shortName } from './plot.js';
import { micros, number, size } from './units.js';

const MAX_ROWS = 40;  // phases in a chart; the tables have all
const SYMBOLS = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'x'];
const symbolOf = (run, open = false) => SYMBOLS[run % SYMBOLS.length] + (open ? '-open' : '');

// The phases of a comparison, each with its figures in all runs: {label, metadata, baseline, comparisons}.
export function rowsOf(report, words) {
  const rows = new Map();
  report.phases.forEach((phase, i) => {
    const key = JSON.stringify(phase.phase);
    if (!rows.has(key)) {
      rows.set(key, { label: words.labels[i], metadata: phase.metadata, baseline: phase.baseline, comparisons: [] });
    }
    rows.get(key).comparisons.push(phase);
  });
  return [...rows.values()];
}

const distanceOf = (row, estimateOf) => Math.max(0, ...row.comparisons.map((c) => Math.abs(Math.log(estimateOf(c).ratio || 1))));

// Of many rows, those that differ most from the baseline, in the order of the plan.
function shownRows(rows, estimateOf) {
  if (rows.length <= MAX_ROWS) return rows;
  const chosen = new Set([...rows].sort((a, b) => distanceOf(b, estimateOf) - distanceOf(a, estimateOf)).slice(0, MAX_ROWS));
  return rows.filter((row) => chosen.has(row));
}
const leftOut = (rows) => (rows.length > MAX_ROWS ? ` The ${MAX_ROWS} of ${rows.length} phases that differ most; the table has all.` : '');

// Rows of names from top to bottom.
function rowLayout(rows, { x, shapes = [], legend = false, extra = 0 }) {
  return layout({ height: Math.max(240, 96 + extra + 30 * rows.length), legend, shapes, x,
    y: { tickmode: 'array', tickvals: rows.map((_, i) => i), ticktext: rows.map((row) => shortLabel(row.label)),
      range: [rows.length - 0.5, -0.5], showgrid: false, zeroline: false, ticks: '' } });
}
const shortLabel = (text) => (innerWidth < 860 ? shortName(text) : plain(text.length > 44 ? `${text.slice(0, 43)}…` : text));

// Where the mark of one of several runs lies within its row.
const offset = (index, count) => (count < 2 ? 0 : (index / (count - 1) - 0.5) * 0.5);

const VERDICTS = ['better', 'worse', 'equal', 'not shown'];
const verdictColour = (verdict) => colour({ better: 'series-1', worse: 'series-2' }[verdict] ?? 'muted');

// The limits of an axis of ratios that all charts share: in decades, with 1 within.
export function ratioRange(report) {
  const values = report.phases.flatMap(({ rate, latency_p99 }) => [rate, latency_p99].flatMap((e) => [e.ratio, e.low, e.high]))
    .filter((value) => Number.isFinite(value) && value > 0);
  const reach = Math.max(Math.log10(1.1), ...values.map((value) => Math.abs(Math.log10(value))));
  return [-reach * 1.08, reach * 1.08];
}

// A forest: one row per phase, the ratio of each run to the baseline with its interval.
export function forestFigure(report, words, range, { id, title, note, estimateOf, better }) {
  const rows = rowsOf(report, words).filter((row) => row.comparisons.some((c) => Number.isFinite(estimateOf(c).ratio)));
  if (rows.length === 0) return null;
  const shown = shownRows(rows, estimateOf), others = report.runs.length - 1;
  const traces = () => Array.from({ length: others }, (_, i) => i + 1).flatMap((run) => VERDICTS.map((verdict) => {
    const points = shown.flatMap((row, y) => row.comparisons
      .filter((c) => c.run === run && estimateOf(c).verdict === verdict && Number.isFinite(estimateOf(c).ratio))
      .map((c) => ({ y: y + offset(run - 1, others), label: row.label, ...estimateOf(c) })));
    const known = (point, end) => (Number.isFinite(point[end]) ? Math.abs(point[end] - point.ratio) : 0);
    return { type: 'scatter', mode: 'markers', x: points.map((p) => p.ratio), y: points.map((p) => p.y),
      name: plain(`${sign(verdict)} ${others > 1 ? `${legendOf(report, words, run)} ` : ''}${verdict}`), showlegend: points.length > 0,
      marker: { size: 9, symbol: symbolOf(run - 1, verdict === 'not shown'), color: verdictColour(verdict) },
      error_x: { type: 'data', symmetric: false, color: verdictColour(verdict), thickness: 2, width: 4,
        array: points.map((p) => known(p, 'high')), arrayminus: points.map((p) => known(p, 'low')) },
      customdata: points.map((p) => plain(`${p.label}, ${words.letters[run]}/A: ${ratio(p.ratio)}, ${interval(p.low, p.high)}: ${p.verdict}`)),
      hovertemplate: '%{customdata}<extra></extra>' };
  }));
  return new Figure({
    id, title, wide: true, note: note + leftOut(rows),
    chart: () => ({
      traces: traces(),
      layout: rowLayout(shown, { legend: true, extra: 24,
        x: { title: `ratio to A (${better})`, type: 'log', range, tickformat: '.3~r', nticks: innerWidth > 860 ? 9 : 4,
          ...(innerWidth <= 860 && range[1] > 0.35 ? { dtick: 'D2' } : {}) },
        shapes: [{ type: 'line', x0: 1, x1: 1, yref: 'paper', y0: 0, y1: 1, line: { color: colour('text'), width: 1.5 } }] }) }),
    table: () => ({ caption: title,
      columns: [{ title: 'phase' }, { title: 'run' }, { title: 'ratio', format: ratio }, { title: 'from', format: ratio },
        { title: 'to', format: ratio }, { title: 'verdict' }],
      rows: rows.flatMap((row) => row.comparisons.map((c) => {
        const { ratio: value, low, high, verdict } = estimateOf(c);
        return [row.label, words.letters[c.run], value, low, high, verdict];
      })) }) });
}

// All runs on one scale: a dot per run in the row of each phase. `valueOf(sample)` in the unit of the axis.
function dotsFigure(report, words, rows, { id, title, note, valueOf, axis, unitName, format = number }) {
  if (rows.length === 0) return null;
  const shown = shownRows(rows, (c) => c.rate);
  const samples = (row) => report.runs.map((_, run) =>
    (run === 0 ? row.baseline : row.comparisons.find((c) => c.run === run)?.compared));
  return new Figure({
    id, title, wide: rows.length > 8, note: note + leftOut(rows),
    chart: () => ({
      traces: report.runs.map((run, i) => {
        const points = shown.map((row, y) => ({ y: y + 0.6 * offset(i, report.runs.length), label: row.label, value: valueOf(samples(row)[i]) })).filter((p) => Number.isFinite(p.value));
        return { type: 'scatter', mode: 'markers', name: plain(legendOf(report, words, i)), x: points.map((p) => p.value), y: points.map((p) => p.y),
          marker: { size: 10, symbol: symbolOf(i), color: palette()[i % 6], line: { width: 1, color: colour('card') } },
          customdata: points.map((p) => plain(`${p.label}, ${words.letters[i]} (${run.name}): ${format(p.value)} ${unitName()}`)),
          hovertemplate: '%{customdata}<extra></extra>' };
      }),
      layout: rowLayout(shown, { legend: true, extra: 24, x: axis() }) }),
    table: () => ({ caption: title,
      columns: [{ title: 'phase' }, ...words.letters.map((letter) => ({ title: `${letter} (${unitName() || 'µs'})`, format: number }))],
      rows: rows.map((row) => [row.label, ...samples(row).map((sample) => valueOf(sample))]) }) });
}

export function ratesFigure(report, words, metadata) {
  const unit = () => unitFor(metadata);
  return dotsFigure(report, words, rowsOf(report, words).filter((row) => row.metadata === metadata), {
    id: metadata ? 'rates-ops' : 'rates', title: metadata ? 'Rates of metadata operations' : 'Rates',
    note: 'The headline of each phase, all runs on one scale. Further right is better.',
    valueOf: (sample) => inUnit(unit(), sample?.rate), unitName: () => unit().name,
    axis: () => ({ title: `${unit().name} (further right is better)`, rangemode: 'tozero' }) });
}

export function p99Figure(report, words) {
  const known = (sample) => Number.isFinite(sample?.p99_us);
  const values = report.phases.flatMap(({ baseline, compared }) => [baseline.p99_us, compared.p99_us]).filter((us) => us > 0);
  return dotsFigure(report, words, rowsOf(report, words).filter((row) => known(row.baseline) || row.comparisons.some((c) => known(c.compared))), {
    id: 'p99', title: 'Latency, p99', note: 'All runs on one scale, which is logarithmic. Further left is better.',
    valueOf: (sample) => sample?.p99_us ?? NaN, unitName: () => '', format: micros,
    axis: () => latencyAxis('p99 (further left is better)', latencyTicks(values)) });
}

// The percentiles of one phase in all runs.
export function percentilesOfRuns(report, words) {
  const rows = rowsOf(report, words).map((row) => ({ label: row.label, lines: report.runs.map((_, run) =>
    (run === 0 ? row.baseline : row.comparisons.find((c) => c.run === run)?.compared)?.percentiles ?? []) }))
    .filter((row) => row.lines.some((points) => points.length > 1));
  if (rows.length === 0) return null;
  let chosen = 0;
  const NAMED = [50, 90, 99, 99.9, 99.99, 99.999];
  const place = (percent) => 1 / (1 - Math.min(percent, 99.9999) / 100);
  // Common scales: the same limits whichever phase is shown.
  const all = rows.flatMap((row) => row.lines.flat().map((point) => point.us)).filter((us) => us > 0);
  const limits = [Math.log10(Math.min(...all)) - 0.05, Math.log10(Math.max(...all)) + 0.05];
  const figure = new Figure({
    id: 'percentiles', title: 'Latency by percentile', wide: true,
    note: 'The runs on the same logarithmic axes, which are those of all phases. Lower is better; hollow points rest on fewer than 100 ops.',
    controls: [choice('Phase', rows.map((row, i) => [String(i), row.label]), '0', (value) => {
      chosen = Number(value);
      figure.refresh();
    })],
    chart: () => ({
      traces: rows[chosen].lines.map((points, i) => ({
        type: 'scatter', mode: 'lines+markers', name: plain(legendOf(report, words, i)), x: points.map((p) => place(p.percent)), y: points.map((p) => p.us),
        line: { color: palette()[i % 6], width: 2 },
        marker: { size: 8, symbol: symbolOf(i), color: points.map((p) => (p.unsure ? colour('card') : palette()[i % 6])),
          line: { width: 1.5, color: palette()[i % 6] } },
        customdata: points.map((p) => `${words.letters[i]}, p${p.percent}: <b>${micros(p.us)}</b>`), hovertemplate: '%{customdata}<extra></extra>' })),
      layout: layout({ height: 320, legend: true,
        x: { title: 'percentile', type: 'log', tickvals: NAMED.map(place), ticktext: NAMED.map((p) => `${p} %`) },
        y: latencyAxis('latency (lower is better)', { range: limits }) }) }),
    table: () => {
      const { label, lines } = rows[chosen];
      const percents = [...new Set(lines.flat().map((p) => p.percent))].sort((a, b) => a - b);
      return { caption: `Latency of ${label} by percentile`,
        columns: [{ title: 'percentile' }, ...words.letters.map((letter) => ({ title: `${letter} (µs)`, format: number }))],
        rows: percents.map((percent) => [`${percent} %`, ...lines.map((points) => points.find((p) => p.percent === percent)?.us ?? NaN)]) };
    } });
  return figure;
}

const MAX_BARS = 14;

// A bar per run for each phase. B's interval is that of its ratio to A, at A's rate.
export function barsFigure(report, words, metadata) {
  const unit = () => unitFor(metadata), rows = rowsOf(report, words).filter((row) => row.metadata === metadata);
  if (rows.length === 0 || report.runs.length < 2) return null;
  const shown = rows.length <= MAX_BARS ? rows : [...rows].sort((a, b) => distanceOf(b, (c) => c.rate) - distanceOf(a, (c) => c.rate)).slice(0, MAX_BARS);
  const of = (row, run) => row.comparisons.find((c) => c.run === run);
  const at = (row, run, end) => {
    const value = run === 0 ? row.baseline.rate : of(row, run)?.compared.rate, bound = run === 0 ? NaN : of(row, run)?.rate[end];
    return { value: inUnit(unit(), value), bound: Number.isFinite(bound) ? inUnit(unit(), row.baseline.rate * bound) : NaN };
  };
  const away = (run, end) => shown.map((row) => {
    const { value, bound } = at(row, run, end);
    return Number.isFinite(bound) ? Math.abs(bound - value) : 0;
  });
  return new Figure({
    id: metadata ? 'bars-ops' : 'bars', title: metadata ? 'Each run, metadata operations' : 'Each run', wide: true,
    note: `Higher is better. The line on a bar is the interval of its ratio to A.${rows.length > MAX_BARS ? ` The ${MAX_BARS} of ${rows.length} phases that differ most; the table has all.` : ''}`,
    chart: () => ({
      traces: report.runs.map((_, run) => ({ type: 'bar', name: plain(legendOf(report, words, run)), x: shown.map((_, i) => i), y: shown.map((row) => at(row, run).value),
        marker: { color: palette()[run % 6] }, error_y: { type: 'data', symmetric: false, visible: run > 0, color: colour('text'), thickness: 1.5, width: 4, array: away(run, 'high'), arrayminus: away(run, 'low') },
        customdata: shown.map((row) => plain(`${row.label}, ${legendOf(report, words, run)}: ${number(at(row, run).value)} ${unit().name}`)), hovertemplate: '%{customdata}<extra></extra>' })),
      layout: layout({ height: 340, legend: true, bargap: 0.3, x: { tickmode: 'array', tickvals: shown.map((_, i) => i), ticktext: shown.map((row) => shortName(row.label)), showgrid: false },
        y: { title: `${unit().name} (higher is better)`, rangemode: 'tozero' } }) }),
    table: () => ({ caption: 'Each run', columns: [{ title: 'phase' }, ...report.runs.flatMap((_, run) => [{ title: `${words.letters[run]} (${unit().name})`, format: number },
      ...(run > 0 ? [{ title: 'from', format: number }, { title: 'to', format: number }] : [])])],
    rows: rows.map((row) => [row.label, ...report.runs.flatMap((_, run) => [at(row, run).value, ...(run > 0 ? [at(row, run, 'low').bound, at(row, run, 'high').bound] : [])])]) }) });
}

// Worse is orange, better is blue; equal is the colour of the grid.
const diverging = () => [[0, '#d55e00'], [0.5, colour('grid')], [1, '#2b7bba']];

// The furthest of all ratios of all maps, in doublings.
export const mapReach = (report) => Math.max(Math.log2(1.1),
  ...report.maps.flatMap((map) => map.cells.map((cell) => (cell.ratio > 0 ? Math.abs(Math.log2(cell.ratio)) : 0))));

export function mapMean(map) {
  const mean = map.geometric_mean;
  return `geometric mean ${ratio(mean.ratio)}${Number.isFinite(mean.low) ? `, ${interval(mean.low, mean.high)}` : ''}: ${mean.verdict}`;
}

const cellOf = (map, bytes, record) => map.cells.find((cell) => cell.size_bytes === bytes && cell.record_bytes === record);
const cellText = (cell) => (cell ? `${ratio(cell.ratio)} ${sign(cell.verdict)}` : '');

// Rows are file sizes, columns are records, as text.
export const mapGrid = (map, title) => ({ caption: `${title}: ${mapMean(map)}`,
  columns: [{ title: 'file size \\ record' }, ...map.records_bytes.map((record) => ({ title: size(record) }))],
  rows: map.sizes_bytes.map((bytes) => [size(bytes), ...map.records_bytes.map((record) => cellText(cellOf(map, bytes, record)))]) });

export function mapFigure(map, title, reach) {
  const grid = (value) => map.sizes_bytes.map((bytes) => map.records_bytes.map((record) => value(cellOf(map, bytes, record), bytes, record)));
  const x = map.records_bytes.map((_, i) => i), y = map.sizes_bytes.map((_, i) => i);
  const ticks = [-1, -0.5, 0, 0.5, 1].map((part) => part * reach);
  return new Figure({
    id: 'map', title, note: `${mapMean(map)}. Over ${map.cell_count} ${map.cell_count === 1 ? 'cell' : 'cells'}; a gap was not measured in both runs.`,
    chart: () => {
      const few = x.length <= 11 && innerWidth > 860;
      const inks = grid((cell) => inkAt(0.5 + (cell?.ratio > 0 ? Math.log2(cell.ratio) : 0) / (2 * reach), diverging().map(([, stop]) => stop)));
      return {
        traces: [{ type: 'heatmap', x, y, z: grid((cell) => (cell?.ratio > 0 ? Math.log2(cell.ratio) : null)), zmin: -reach, zmax: reach,
          colorscale: diverging(), xgap: 1, ygap: 1, hoverongaps: false,
          customdata: grid((cell, bytes, record) => `${size(bytes)} per lane, records of ${size(record)}: <b>${ratio(cell?.ratio)}</b> ${cell?.verdict ?? ''}`),
          hovertemplate: '%{customdata}<extra></extra>',
          colorbar: { ...colourBar('ratio (blue is better)'), tickvals: ticks, ticktext: ticks.map((v) => ratio(2 ** v)) } },
        ...(few ? [cellTexts(x, y, grid((cell) => cellText(cell)), inks)] : [])],
        layout: layout({ height: Math.max(220, 110 + 34 * y.length),
          x: { title: 'record size', showgrid: false, tickvals: x, ticktext: map.records_bytes.map(size) },
          y: { title: 'file size per lane', showgrid: false, tickvals: y, ticktext: map.sizes_bytes.map(size) } }) };
    },
    table: () => ({ caption: title, note: mapMean(map),
      columns: [{ title: 'file size' }, { title: 'record size' }, { title: 'ratio', format: ratio }, { title: 'verdict' }],
      rows: map.cells.map((cell) => [size(cell.size_bytes), size(cell.record_bytes), cell.ratio, cell.verdict]) }) });
}

const stateOf = (repetition) => (repetition.left_out ? 'left out' : repetition.outlier ? 'outlier' : '');

// The repetitions of a single run, relative to the median of each phase.
export function repetitionsFigure(report, words) {
  const rows = report.repetitions.map((series, i) => ({ label: words.repetitions[i], series }));
  if (rows.length === 0) return null;
  const states = [['', 'repetition', 'series-1', 'circle'], ['outlier', 'outlier', 'series-2', 'diamond'], ['left out', 'left out', 'muted', 'circle-open']];
  return new Figure({
    id: 'repetitions', title: 'Repetitions', wide: true,
    note: 'Each repetition relative to the median of its phase, with the interval of the median as a line. An outlier is marked, and counts.',
    chart: () => ({
      traces: [{ type: 'scatter', mode: 'markers', showlegend: false, x: rows.map(() => 1), y: rows.map((_, y) => y), marker: { size: 1, color: colour('muted') },
        error_x: { type: 'data', symmetric: false, thickness: 2, width: 5, color: colour('muted'),
          array: rows.map(({ series: { figures } }) => (figures.high - figures.median) / figures.median || 0),
          arrayminus: rows.map(({ series: { figures } }) => (figures.median - figures.low) / figures.median || 0) }, hoverinfo: 'skip' },
      ...states.map(([state, name, tint, symbol]) => {
        const points = rows.flatMap(({ label, series }, y) => series.repetitions.filter((r) => stateOf(r) === state && Number.isFinite(r.of_median))
          .map((r) => ({ y, x: r.of_median, text: `${label}, repetition ${r.repetition + 1}: ${ratio(r.of_median)}` })));
        return { type: 'scatter', mode: 'markers', name, showlegend: points.length > 0, x: points.map((p) => p.x), y: points.map((p) => p.y),
          marker: { size: 9, symbol, color: colour(tint) }, customdata: points.map((p) => plain(p.text)), hovertemplate: '%{customdata}<extra></extra>' };
      })],
      layout: rowLayout(rows, { legend: true, extra: 24, x: { title: 'rate / median of the phase', tickformat: '.3~r' } }) }),
    table: () => ({ caption: 'Repetitions',
      columns: [{ title: 'phase' }, { title: 'repetition', format: number }, { title: 'unit' }, { title: 'rate', format: number }, { title: 'of median', format: ratio }, { title: '' }],
      rows: rows.flatMap(({ label, series }) => series.repetitions.map((r) => [label, r.repetition + 1, unitFor(series.metadata).name,
        inUnit(unitFor(series.metadata), r.rate), r.of_median, stateOf(r)])) }) });
}

export function mediansTable(report, words) {
  return { caption: 'Medians of the repetitions',
    columns: [{ title: 'phase' }, { title: 'unit' }, { title: 'count', format: number }, { title: 'median', format: number }, { title: 'from', format: number },
      { title: 'to', format: number }, { title: 'level (%)', format: number }, { title: 'mean', format: number }, { title: 'standard deviation', format: number },
      { title: 'left out', format: number }],
    rows: report.repetitions.map(({ metadata, figures }, i) => {
      const unit = unitFor(metadata), of = (value) => inUnit(unit, value);
      return [words.repetitions[i], unit.name, figures.count, of(figures.median), of(figures.low), of(figures.high), figures.level_percent, of(figures.mean),
        of(figures.stddev), figures.partial_count];
    }) };
}
