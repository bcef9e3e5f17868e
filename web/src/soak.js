// What a soak found over its rounds: how the rates went, who stood still and for how long, what failed or was lost.
import { h } from './dom.js';
import { Figure } from './figure.js';
import { colour, layout, palette, plain } from './plot.js';
import { count, number, percent, seconds, UNITS, state } from './units.js';

const SPANS = [[172_800, 86_400, 'days'], [10_800, 3600, 'hours'], [600, 60, 'minutes'], [0, 1, 'seconds']];

// The time axis of a soak: rounds are placed where they end.
function timeOf(soak) {
  const last = soak.rounds.at(-1).end_s, [, factor, name] = SPANS.find(([least]) => last >= least);
  return { x: soak.rounds.map((round) => round.end_s / factor), title: `${name} since the first phase` };
}

const changeText = ({ phase, verdict, percent: change, low_percent: low, high_percent: high }) => `${phase}: ${verdict}`
  + (Number.isFinite(change) ? ` (${change >= 0 ? '+' : ''}${percent(change)}${Number.isFinite(low) ? `, ${percent(low)} to ${percent(high)}` : ''})` : '');

const rateUnit = (trend) => (trend.in_ops ? UNITS['ops/s'] : UNITS[state.unit].bytes === 0 ? UNITS['MiB/s'] : UNITS[state.unit]);
const shownRate = (trend, rate) => (rate === null ? NaN : rate / (rateUnit(trend).bytes || 1));

function ratesFigure(soak) {
  const { rounds, trends } = soak;
  return new Figure({
    id: 'soak-rates', title: 'Rates over the rounds', wide: true,
    note: `Each phase relative to its median, so that all have one scale. Higher is better. ${trends.map(changeText).join('; ')}.`,
    chart: () => {
      const { x, title } = timeOf(soak);
      return {
        traces: trends.map((trend, i) => ({ type: 'scatter', mode: rounds.length > 60 ? 'lines' : 'lines+markers', name: plain(trend.phase), x,
          y: rounds.map((round) => (round.rates[i] ?? NaN) / trend.median), line: { color: palette()[i % 6], width: 1.5 }, marker: { size: 6, symbol: i },
          customdata: rounds.map((round) => plain(`${trend.phase}, round ${round.round}: ${number(shownRate(trend, round.rates[i]))} ${rateUnit(trend).name}`)),
          hovertemplate: '%{customdata}<extra></extra>' })),
        layout: layout({ height: 320, legend: trends.length > 1, x: { title }, y: { title: 'rate / median (higher is better)', rangemode: 'tozero' },
          shapes: [{ type: 'line', xref: 'paper', x0: 0, x1: 1, y0: 1, y1: 1, line: { color: colour('muted'), width: 1, dash: 'dot' } }] }) };
    },
    table: () => ({ caption: 'Rates of each round',
      columns: [{ title: 'round', format: count }, { title: 'end', format: seconds }, ...trends.map((trend) => ({ title: `${trend.phase} (${rateUnit(trend).name})`, format: number }))],
      rows: rounds.map((round) => [round.round, round.end_s, ...trends.map((trend, i) => shownRate(trend, round.rates[i] ?? null))]) }) });
}

function pausesFigure(soak) {
  const { rounds } = soak;
  return new Figure({
    id: 'soak-pauses', title: 'Longest pause of each round',
    note: 'The longest time in which no op of some lane ended, on the client that is named. Lower is better.',
    chart: () => {
      const { x, title } = timeOf(soak);
      return {
        traces: [{ type: 'bar', x, y: rounds.map((round) => round.longest_pause_s), marker: { color: colour('series-1'), line: { width: 0 } },
          customdata: rounds.map((round) => plain(`round ${round.round}: ${seconds(round.longest_pause_s)}${round.longest_pause_client ? ` on ${round.longest_pause_client}` : ''}`)),
          hovertemplate: '%{customdata}<extra></extra>' }],
        layout: layout({ x: { title }, y: { title: 'seconds (lower is better)', rangemode: 'tozero' } }) };
    },
    table: () => ({ caption: 'Longest pause of each round',
      columns: [{ title: 'round', format: count }, { title: 'pause', format: seconds }, { title: 'client' }],
      rows: rounds.map((round) => [round.round, round.longest_pause_s, round.longest_pause_client]) }) });
}

const TROUBLES = [['failed_ops', 'failed ops'], ['wrong_sectors', 'wrong sectors'], ['short_reads', 'short reads'], ['lanes_failed', 'lanes failed'], ['workers_lost', 'workers lost']];

function troublesFigure(soak) {
  const { rounds } = soak, seen = TROUBLES.filter(([key]) => rounds.some((round) => round[key] > 0));
  return new Figure({
    id: 'soak-troubles', title: 'What failed or was lost',
    note: seen.length > 0 ? 'Of each round. Lower is better.' : 'No round has failed ops, wrong sectors, short reads, failed lanes or lost workers.',
    chart: () => {
      const { x, title } = timeOf(soak);
      return {
        traces: (seen.length > 0 ? seen : TROUBLES.slice(0, 1)).map(([key, name], i) => ({ type: 'bar', name, x, y: rounds.map((round) => round[key]),
          marker: { color: palette()[(i + 1) % 6] }, customdata: rounds.map((round) => `round ${round.round}: ${count(round[key])} ${name}`), hovertemplate: '%{customdata}<extra></extra>' })),
        layout: layout({ barmode: 'stack', legend: seen.length > 1, x: { title }, y: { title: 'count (lower is better)', rangemode: 'tozero',
          ...(seen.length > 0 ? {} : { range: [0, 1], dtick: 1 }) } }) };
    },
    table: () => ({ caption: 'What failed or was lost in each round',
      columns: [{ title: 'round', format: count }, ...TROUBLES.map(([, title]) => ({ title, format: count }))],
      rows: rounds.map((round) => [round.round, ...TROUBLES.map(([key]) => round[key])]) }) });
}

// What a soak is for, in its words: whether data were lost, ops failed, and where rates went.
export function soakVerdict(report) {
  const { soak } = report;
  if (!soak) return null;
  const loss = soak.loss ?? {}, lost = ['lost', 'stale', 'torn', 'wrong', 'short_reads', 'missing_bytes'].some((key) => loss[key] > 0);
  const failed = soak.failed_ops?.length > 0, falls = (soak.trends ?? []).filter(({ verdict }) => verdict === 'falls');
  const findings = [lost ? 'data were lost' : '', failed ? 'ops failed' : '', falls.length > 0 ? `${falls.map(({ phase }) => phase).join(', ')} got slower` : ''].filter(Boolean);
  const notes = report.tables.filter(({ id }) => id === 'soak').flatMap(({ parts }) => parts.flatMap((part) => part.notes));
  return h('div', { class: `verdict ${lost || failed ? 'bad' : falls.length > 0 ? 'doubtful' : 'good'}`, role: 'status', id: 'soak-verdict' },
    h('strong', {}, `Soak: ${findings.join('; ') || 'no data loss, no failed ops and no phase that got slower was found'}`),
    h('ul', {}, notes.map(([label, text]) => h('li', {}, h('strong', {}, label), `: ${text}`)), (soak.trends ?? []).map((trend) => h('li', {}, h('strong', {}, 'trend'), `: ${changeText(trend)}`))));
}

export function soakFigures({ soak }) {
  return soak?.rounds?.length > 0 ? [ratesFigure(soak), pausesFigure(soak), troublesFigure(soak)] : [];
}
