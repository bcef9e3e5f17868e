// Charts of one phase over time: the whole cluster, each client, latencies.
import { hostOf, lanesOf } from './data.js';
import { Figure, choice } from './figure.js';
import { h } from './dom.js';
import { colour, colourBar, fromZero, latencyAxis, layout, plain, SCALE, shortName } from './plot.js';
import { count, micros, number, seriesUnit, seconds, unitOf } from './units.js';

const MAX_ROWS = 240;   // rows of a heat map on the screen: more would be thinner than its dots
const MAX_COLUMNS = 400;
const MAX_POINTS = 1200;

function line(x, text, style = {}) {
  return {
    shape: { type: 'line', x0: x, x1: x, yref: 'paper', y0: 0, y1: 1, line: { color: colour('muted'), width: 1, dash: 'dot', ...style } },
    annotation: { x, yref: 'paper', y: 1, yanchor: 'bottom', text } };
}

// Start, stonewall and end of a phase, as lines.
function moments(phase) {
  const end = phase.duration_s;
  const marks = [line(0, 'start'), line(end, 'end')], textWidth = 75 / (Math.min(innerWidth, 1280) - 150);
  const wall = phase.stonewall;
  if (wall && wall.kind !== 'none' && wall.at_s > 0) {
    const close = end - wall.at_s < end * textWidth;  // its text would cover that of the end
    const wallLine = line(wall.at_s, 'stonewall', { color: colour('accent'), dash: 'dash', width: 1.5 });
    if (close) {
      marks[1].annotation.text = '';
      Object.assign(wallLine.annotation, { text: 'stonewall, end', xanchor: 'right' });
    }
    marks.push(wallLine);
  }
  return { shapes: marks.map((m) => m.shape), annotations: marks.map((m) => m.annotation) };
}

// Means of neighbouring values, so that there are at most `limit`.
function joined(values, limit) {
  const step = Math.ceil(values.length / limit) || 1;
  if (step === 1) return { values: Array.from(values), step };
  const result = [];
  for (let i = 0; i < values.length; i += step) {
    const piece = values.slice(i, i + step);
    result.push(piece.reduce((sum, value) => sum + value, 0) / piece.length);
  }
  return { values: result, step };
}

// The levels of throughput, each until the next change, in `unit`, and the changes as lines.
function levels(phase, unit) {
  const { changes = [] } = phase, shapes = [], annotations = [];
  if (changes.length === 0) return { shapes, annotations };
  const of = (perS) => (unit.bytes === 0 ? perS : perS / unit.bytes);
  [changes[0].before_per_s, ...changes.map((change) => change.after_per_s)].forEach((perS, i) => {
    shapes.push({ type: 'line', x0: changes[i - 1]?.at_s ?? 0, x1: changes[i]?.at_s ?? phase.duration_s, y0: of(perS), y1: of(perS),
      line: { color: colour('accent'), width: 1.5, dash: 'dot' } });
  });
  for (const change of changes) {
    const falls = change.after_per_s < change.before_per_s;
    const { shape, annotation } = line(change.at_s, plain(`rate ${falls ? 'fell' : 'rose'}: ${change.cause || 'unknown cause'}`), { color: colour('accent') });
    shapes.push(shape);
    annotations.push({ ...annotation, y: 0.98, yanchor: 'top', xanchor: change.at_s < phase.duration_s / 2 ? 'left' : 'right' });
  }
  return { shapes, annotations };
}

export function throughputFigure(phase) {
  const { charts } = phase.columns;
  const series = (unit) => {
    const values = unit.bytes === 0 ? charts.ops_per_s.values : charts.bytes_per_s.values;
    return unit.bytes === 0 ? values : values.map((value) => value / unit.bytes);
  };
  return new Figure({
    id: 'throughput', title: 'Throughput over time', wide: true, time: true,
    note: 'All lanes together. Higher is better. The horizontal dashed line is the headline.'
      + (phase.changes?.length > 0 ? ' Dotted lines show where the rate changed, and its levels.' : ''),
    chart: () => {
      const unit = unitOf(phase);
      const { values, step } = joined(series(unit), MAX_POINTS);
      const slice = charts.slice_s * step;
      const head = unit.bytes === 0 ? phase.headline.ops_per_s : phase.headline.bytes_per_s / unit.bytes;
      const { shapes, annotations } = moments(phase);
      shapes.push({ type: 'line', xref: 'paper', x0: 0, x1: 1, y0: head, y1: head,
        line: { color: colour('series-2'), width: 1.5, dash: 'dash' } });
      const changed = levels(phase, unit);
      shapes.push(...changed.shapes);
      annotations.push(...changed.annotations);
      return {
        traces: [{
          type: 'scatter', mode: 'lines', x: [...values.map((_, i) => i * slice), values.length * slice], y: [...values, values.at(-1)], fill: 'tozeroy',
          line: { shape: 'hv', width: 1.5, color: colour('series-1') }, fillcolor: colour('series-1-soft'),
          hovertemplate: `%{x:.3~f} s: <b>%{y:,.4~r} ${unit.name}</b><extra></extra>` }],
        layout: layout({ height: 280, shapes, annotations, hovermode: 'x',
          x: { title: 'seconds since the first op' },
          y: { title: `${unit.name} (higher is better)`, rangemode: 'tozero' } }) };
    },
    table: () => {
      const unit = unitOf(phase);
      return {
        caption: `Throughput of ${phase.name} over time`,
        columns: [{ title: 'from (s)', format: number }, { title: unit.name, format: number }],
        rows: Array.from(series(unit), (value, i) => [i * charts.slice_s, value]) };
    } });
}

// Rows of the heat map: one per client, slowest first, or groups of neighbours with the min of each, so that a stall of
// one client remains visible.
function clientRows(report, phase, which) {
  const { clients: { slice_count: slices, per_s: { values } } } = phase.columns.charts;
  const clientCount = slices ? values.length / slices : 0;
  const sums = Array.from({ length: clientCount }, (_, client) => {
    let sum = 0;
    for (let i = 0; i < slices; ++i) sum += values[client * slices + i] || 0;
    return sum;
  });
  const order = sums.map((_, client) => client).sort((a, b) => sums[a] - sums[b]);
  const shown = which === 'slowest' ? order.slice(0, 50) : order;
  const group = Math.ceil(shown.length / MAX_ROWS);
  const step = Math.ceil(slices / MAX_COLUMNS) || 1;
  const rows = [];
  for (let first = 0; first < shown.length; first += group) {
    const members = shown.slice(first, first + group);
    const cells = [];
    for (let begin = 0; begin < slices; begin += step) {
      let least = Infinity;
      for (const client of members) {
        let sum = 0;
        const end = Math.min(begin + step, slices);
        for (let i = begin; i < end; ++i) sum += values[client * slices + i];
        least = Math.min(least, sum / (end - begin));
      }
      cells.push(least);
    }
    const name = hostOf(report, phase, members[0]);
    rows.push({ name: members.length > 1 ? `${name} and ${members.length - 1} more` : name, client: members[0], cells });
  }
  return { rows, step, group };
}

export function clientHeatFigure(report, phase, chooseClient) {
  const charts = phase.columns.charts.clients;
  const clientCount = phase.columns.clients.host.values.length;
  let which = clientCount > 100 ? 'slowest' : 'all';
  const controls = clientCount > 50
    ? [choice('Clients', [['slowest', 'the 50 slowest'], ['all', `all ${clientCount}`]], which, (value) => {
      which = value;
      figure.refresh();
    })] : [];
  let drawn;
  const figure = new Figure({
    id: 'clients-time', title: 'Clients over time', wide: true, controls, time: true,
    note: 'One row per client, slowest at the top: a dark row is a straggler, a dark column a stall of the server. '
      + 'Click a row to see its lanes.',
    chart: () => {
      const unit = seriesUnit(phase);
      drawn = clientRows(report, phase, which);
      const { rows, step } = drawn;
      const slice = charts.slice_s * step;
      const { shapes } = moments(phase), z = rows.map((row) => row.cells.map((v) => v * unit.factor));
      return {
        traces: [{
          type: 'heatmap', z, x0: slice / 2, dx: slice,
          y: rows.map((_, i) => i), ...fromZero(z), colorscale: SCALE, colorbar: colourBar(`${unit.name} (brighter is better)`),
          customdata: rows.map((row) => row.cells.map(() => plain(row.name))), hoverongaps: false,
          hovertemplate: `%{customdata}<br>%{x:.3~f} s: <b>%{z:,.4~r} ${unit.name}</b><extra></extra>` }],
        layout: layout({ height: Math.max(200, Math.min(520, 90 + rows.length * 18)),
          shapes: shapes.map((shape) => ({ ...shape, line: { ...shape.line, color: '#fff' } })),
          x: { title: 'seconds since the first op', showgrid: false },
          y: { autorange: 'reversed', showgrid: false, ticks: '', tickmode: 'array',
            ...(rows.length <= 30
              ? { tickvals: rows.map((_, i) => i), ticktext: rows.map((row) => shortName(row.name)) }
              : { tickvals: [0, rows.length - 1], ticktext: ['slowest', 'fastest'] }) } }) };
    },
    table: () => {
      const unit = seriesUnit(phase);
      const { rows, step } = clientRows(report, phase, which);
      const columnsCount = rows[0]?.cells.length ?? 0;
      return {
        caption: `Clients of ${phase.name} over time, ${unit.name}`,
        note: charts.per_s.rounded ? 'Rounded to 0.4 % of the max; result.csv has exact figures of each lane.' : '',
        columns: [{ title: 'client' }, ...Array.from({ length: columnsCount }, (_, i) => ({
          title: `${number(i * charts.slice_s * step, 3)} s`, format: number }))],
        rows: rows.map((row) => [row.name, ...row.cells.map((value) => value * unit.factor)]) };
    },
    onClick: (point) => chooseClient(drawn.rows[point.y].client) });
  return figure;
}

export function lanesFigure(report, phase) {
  const { lanes } = phase.columns;
  const clientCount = phase.columns.clients.host.values.length;
  let client = 0;
  const select = h('select', { onchange: (event) => choose(Number(event.target.value)) },
    Array.from({ length: clientCount }, (_, i) => h('option', { value: i }, hostOf(report, phase, i))));
  const range = () => {
    const [first, end] = lanesOf(phase, client);
    return Array.from({ length: end - first }, (_, i) => first + i);
  };
  const STATES = ['done', 'stopped', 'sat out', 'failed'];
  const figure = new Figure({
    id: 'lanes', title: 'Lanes of one client', note: 'Each lane over its own time. Higher is better.',
    controls: [h('label', { class: 'choice' }, h('span', { class: 'quiet' }, 'Client'), select)],
    chart: () => {
      const unit = seriesUnit(phase);
      return {
        traces: [{
          type: 'bar', x: range().map((i) => `lane ${lanes.lane.values[i]}`),
          y: range().map((i) => lanes.rate.values[i] * unit.factor),
          marker: { color: range().map((i) => colour(lanes.state.values[i] > 1 ? 'series-2' : 'series-1')) },
          hovertemplate: `%{x}: <b>%{y:,.4~r} ${unit.name}</b><extra></extra>` }],
        layout: layout({ bargap: 0.25, x: { type: 'category', showgrid: false },
          y: { title: `${unit.name} (higher is better)`, rangemode: 'tozero' } }) };
    },
    table: () => {
      const unit = seriesUnit(phase);
      return {
        caption: `Lanes of ${hostOf(report, phase, client)} in ${phase.name}`,
        note: lanes.rate.rounded ? 'Rounded to 0.05 %; result.csv has exact figures.' : '',
        columns: [{ title: 'lane' }, { title: 'state' }, { title: unit.name, format: number },
          { title: 'first op (µs)', format: number }, { title: 'end (s)', format: number },
          { title: 'p99 (µs)', format: number }],
        rows: range().map((i) => [String(lanes.lane.values[i]), STATES[lanes.state.values[i]],
          lanes.rate.values[i] * unit.factor, lanes.start_us.values[i], lanes.end_s.values[i], lanes.p99_us.values[i]]) };
    } });
  function choose(value) {
    client = value;
    select.value = String(value);
    figure.refresh();
  }
  figure.choose = (value) => {
    choose(value);
    figure.element.scrollIntoView({ behavior: 'smooth', block: 'nearest' });
  };
  return figure;
}

// Of all ops of the phase.
export function latencyHeatFigure(phase) {
  return heatFigure(phase, phase.columns.charts.latency, { id: 'latency-time', title: 'Latency over time', of: 'ops' });
}

// Of one of its flush calls: {name: "fsync", latency: its map}.
export function callHeatFigure(phase, { name, latency }) {
  return heatFigure(phase, latency, { id: `latency-time-${name}`, title: `Latency of ${name} over time`, of: `${name} calls` });
}

function heatFigure(phase, map, { id, title, of }) {
  const bins = map.bin_upper_us;
  const lower = (bin) => (bin === 0 ? map.lowest_us : bins[bin - 1]);
  const cell = (slice, bin) => map.ops.values[slice * bins.length + bin];
  const slices = Array.from({ length: map.slice_count }, (_, i) => i);
  return new Figure({
    id, title, wide: true, time: true,
    note: `How many ${of} took how long, in each slice of time. Lower is better; a second band above the first means that `
      + 'some of them wait.',
    chart: () => {
      const z = bins.map((_, bin) => slices.map((slice) => {
        const ops = cell(slice, bin);
        return ops > 0 ? Math.log10(ops) : null;
      }));
      const high = Math.ceil(Math.log10(Math.max(1, ...map.ops.values.filter(Number.isFinite))));
      const ticks = Array.from({ length: high + 1 }, (_, i) => i);
      return {
        traces: [{
          type: 'heatmap', z, x0: map.slice_s / 2, dx: map.slice_s,
          y: [Math.max(map.lowest_us, bins[0] / 2), ...bins], zmin: 0, zmax: high || 1, colorscale: SCALE, hoverongaps: false,
          customdata: bins.map((upper, bin) => slices.map((slice) =>
            `${micros(lower(bin))} to ${micros(upper)}: <b>${count(cell(slice, bin))} ${of}</b>`)),
          colorbar: { ...colourBar(of), tickvals: ticks, ticktext: ticks.map((power) => count(10 ** power)) },
          hovertemplate: '%{x:.3~f} s, %{customdata}<extra></extra>' }],
        layout: layout({ height: 320, shapes: moments(phase).shapes,
          x: { title: 'seconds since the first op', showgrid: false },
          y: latencyAxis('latency (lower is better)', { showgrid: false }) }) };
    },
    table: () => ({
      caption: `${of[0].toUpperCase()}${of.slice(1)} of ${phase.name} by latency and time`,
      columns: [{ title: 'latency' }, ...slices.map((i) => ({ title: seconds(i * map.slice_s), format: count }))],
      rows: bins.map((upper, bin) => [`${micros(lower(bin))} to ${micros(upper)}`,
        ...slices.map((slice) => cell(slice, bin))]) }) });
}
