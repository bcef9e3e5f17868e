// Each client alone beside what it has while all work: --per-client.
import { Figure } from './figure.js';
import { colour, layout, plain, shortName } from './plot.js';
import { drawn, tableNamed } from './tables.js';
import { percent, state, UNITS } from './units.js';

const MAX_BARS = 60;  // clients on the screen, the slowest first; the table has all

function unitOfClients(phase) {
  if (phase.in_ops) return { name: 'ops/s', factor: 1 };
  const unit = UNITS[state.unit].bytes === 0 ? UNITS['MiB/s'] : UNITS[state.unit];
  return { name: unit.name, factor: 1 / unit.bytes };
}

// null: not measured.
const scaled = (value, factor) => (value === null ? NaN : value * factor);

export function perClientFigures(report) {
  return (report.per_client ?? []).map((phase, i) => new Figure({
    id: 'per-client', title: `${phase.phase}: each client alone, and together`, wide: phase.clients.length > 8,
    note: `Together they reach ${percent(scaled(phase.scaling, 100))} of the sum of each alone; the slowest client has `
      + `${percent(scaled(phase.fairness, 100))} of the mean. Hatched: alone, under 70 % of the median of the others.`,
    chart: () => {
      const unit = unitOfClients(phase);
      const rows = phase.clients.length <= MAX_BARS ? phase.clients
        : [...phase.clients].sort((a, b) => a.alone - b.alone).slice(0, MAX_BARS);
      const bars = (name, key, series, marker = {}) => ({
        type: 'bar', name, x: rows.map((row, i) => i), y: rows.map((row) => scaled(row[key], unit.factor)),
        customdata: rows.map((row) => plain(row.client)), marker: { color: colour(series), ...marker },
        hovertemplate: `%{customdata}, ${name}: <b>%{y:,.4~r} ${unit.name}</b><extra></extra>` });
      return {
        traces: [
          bars('alone', 'alone', 'series-1', { pattern: { shape: rows.map((row) => (row.outlier ? '/' : '')) } }),
          bars('together', 'together', 'series-2')],
        layout: layout({ legend: true, barmode: 'group',
          x: { tickvals: rows.map((row, i) => i), ticktext: rows.map((row) => shortName(row.client)), showgrid: false },
          y: { title: `${unit.name} (higher is better)`, rangemode: 'tozero' } }) };
    },
    table: () => drawn(tableNamed(report, 'per-client'), tableNamed(report, 'per-client').parts[i]) }));
}
