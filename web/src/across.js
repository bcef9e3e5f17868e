// Comparisons of phases: sweeps over file and record size, strides, load, targets, repetitions.
import { Figure, choice } from './figure.js';
import { h } from './dom.js';
import { commandOf } from './command.js';
import { cellTexts, colour, colourBar, fromZero, heights, inkAt, latencyAxis, layout, palette, plain, scene, SCALE } from './plot.js';
import { number, rateIn, size, UNITS, unitOf } from './units.js';
import { perClientFigures } from './per_client.js';
import { drawn, tableNamed } from './tables.js';

const maxOf = (values) => Math.max(0, ...values.filter(Number.isFinite));
const distinct = (values) => [...new Set(values)].sort((a, b) => a - b);

function groupsBy(items, key) {
  const groups = new Map();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return [...groups.values()];
}

// Phases of one client, of the servers or beside a load are otherwise like those of all clients, whose places they would take.
function phasesOfAllClients(report) {
  const planned = report.run?.plan?.phases ?? [];
  return report.phases.filter((phase) => {
    const { alone, interference, on_servers: onServers } = planned[phase.index % planned.length] ?? {};
    return !alone && !interference && !onServers;
  });
}

// Phases that differ in file size and record size only. Their figures are those of report.surfaces: of repetitions, the median.
function sweeps(report) {
  const figures = new Map((report.surfaces ?? []).flatMap((surface) => surface.cells.flatMap((cell) =>
    cell.phases.map((index) => [index, { ...cell, limits: surface.limits,
      readFromMemory: (cell.marks ?? []).some((code) => report.markRows[code]?.read_from_memory) }]))));
  const phases = phasesOfAllClients(report).filter((phase) => !phase.metadata && phase.record_bytes > 0 && !phase.stride_records);
  return groupsBy(phases, (phase) => [phase.operation, phase.target, phase.lane_count].join('\n')).map((members) => ({
    members, operation: members[0].title || members[0].operation, target: members[0].target,
    figures: new Map(members.map((phase) => [phase.index, figures.get(phase.index)])),
    sizes: distinct(members.map((phase) => phase.bytes_per_lane)),
    records: distinct(members.map((phase) => phase.record_bytes)),
  }));
}

const cellOf = (sweep, bytes, record) =>
  sweep.members.findLast((phase) => phase.bytes_per_lane === bytes && phase.record_bytes === record);

// Of repetitions only the median in bytes/s is known.
function unitOfSweep(sweep) {
  const unit = unitOf(sweep.members[0]);
  const isRepeated = !sweep.members[0].headline_in_ops && [...sweep.figures.values()].some((cell) => cell?.count > 1);
  return unit.bytes === 0 && isRepeated ? UNITS['MiB/s'] : unit;
}

function rateOfCell(sweep, unit, phase) {
  const cell = sweep.figures.get(phase.index);
  if (!cell || (unit.bytes === 0 && !phase.headline_in_ops)) return rateIn(unit, phase.headline);
  return unit.bytes === 0 ? cell.rate : cell.rate === null ? NaN : cell.rate / unit.bytes;
}

const positionOf = (sizes, bytes) => {
  const above = sizes.findIndex((value) => value >= bytes);
  if (above <= 0) return above === 0 ? -0.5 : sizes.length - 0.5;
  return above - 1 + Math.log(bytes / sizes[above - 1]) / Math.log(sizes[above] / sizes[above - 1]);
};

// What holds less than the files from some row on: [{level, text}], with `level` between the rows that fit and those that
// do not.
function limitsOf(sweep) {
  const limits = sweep.figures.get(sweep.members[0].index)?.limits ?? [];
  const levels = new Map();
  for (const { name, bytes_per_lane: bytes } of limits) {
    const within = bytes > sweep.sizes[0] * 2 ** -0.5 && bytes < sweep.sizes.at(-1) * 2 ** 0.5;
    if (!within) continue;
    const level = Math.ceil(positionOf(sweep.sizes, bytes)) - 0.5;
    levels.set(level, [...(levels.get(level) ?? []), name]);
  }
  return [...levels].map(([level, names]) => ({ level, text: names.join(', ') }));
}

function cachedShapes(sweep) {
  const shapes = [];
  sweep.sizes.forEach((bytes, y) => sweep.records.forEach((record, x) => {
    const phase = cellOf(sweep, bytes, record);
    if (!phase || !sweep.figures.get(phase.index)?.readFromMemory) return;
    for (const part of [-0.25, 0.25]) {
      shapes.push({ type: 'line', x0: x - 0.5, x1: x + 0.5, y0: y - 0.25 + part, y1: y + 0.25 + part,
        line: { color: 'rgba(255,255,255,0.75)', width: 1 } });
    }
    shapes.push({ type: 'rect', x0: x - 0.5, x1: x + 0.5, y0: y - 0.5, y1: y + 0.5, line: { color: '#fff', width: 1 } });
  }));
  return shapes;
}

// The height of the surface at a place between the cells, or NaN beside a hole.
function heightAt(z, x, y) {
  const clamp = (value, count) => Math.min(Math.max(value, 0), count - 1);
  const column = clamp(x, z[0].length), row = clamp(y, z.length);
  const left = Math.floor(column), low = Math.floor(row), right = Math.ceil(column), high = Math.ceil(row);
  const between = (a, b, share) => (a === null || b === null ? NaN : a + (b - a) * share);
  const lower = between(z[low][left], z[low][right], column - left), upper = between(z[high][left], z[high][right], column - left);
  return between(lower, upper, row - low);
}

// Lines on the surface: each a list of [x, y]. They lie a little above it, so that it does not hide them.
function surfaceLines(z, lift, lines, style) {
  const points = lines.flatMap((line) => [...line.map(([x, y]) => [x, y, heightAt(z, x, y) + lift]), [null, null, null]])
    .map((point) => (Number.isNaN(point[2]) ? [null, null, null] : point));
  const [x, y, height] = [0, 1, 2].map((i) => points.map((point) => point[i]));
  return { type: 'scatter3d', mode: 'lines', x, y, z: height, connectgaps: false, hoverinfo: 'skip', showlegend: false, ...style };
}

// The same as in the map: a line and its name where a cache or the memory is full, and hatching on cached cells.
function surfaceMarks(sweep, z, top) {
  const lift = top * 0.012, last = sweep.records.length - 1, across = sweep.records.map((_, x) => x);
  const limits = limitsOf(sweep).flatMap(({ level, text }) => {
    const y = Math.min(Math.max(level, 0), sweep.sizes.length - 1);
    return [
      surfaceLines(z, lift, [across.map((x) => [x, y])], { name: text, line: { color: colour('accent'), width: 6 } }),
      { type: 'scatter3d', mode: 'text', x: [0], y: [y], z: [(heightAt(z, 0, y) || 0) + 6 * lift], text: [text], hoverinfo: 'skip',
        showlegend: false, textfont: { size: 11, color: colour('accent') } }];
  });
  const hatching = sweep.sizes.flatMap((bytes, y) => sweep.records.flatMap((record, x) => {
    const phase = cellOf(sweep, bytes, record);
    if (!phase || !sweep.figures.get(phase.index)?.readFromMemory) return [];
    const inside = ([px, py]) => px >= 0 && px <= last && py >= 0 && py <= sweep.sizes.length - 1;
    return [-0.25, 0.25].map((part) => [-0.5, -0.25, 0, 0.25, 0.5].map((t) => [x + t, y + t / 2 + part]).filter(inside));
  }));
  if (hatching.length === 0) return limits;
  return [...limits, surfaceLines(z, lift, hatching, { name: 'cached', line: { color: '#fff', width: 3 } })];
}

function sweepChart(sweep, settings) {
  const unit = unitOfSweep(sweep);
  const value = (phase) => (phase ? rateOfCell(sweep, unit, phase) : null);
  const z = sweep.sizes.map((bytes) => sweep.records.map((record) => value(cellOf(sweep, bytes, record))));
  const scale = fromZero(z, settings.common ? settings.max(unit) : 0), high = scale.zmax;
  const x = sweep.records.map((_, i) => i), y = sweep.sizes.map((_, i) => i);
  // In three dimensions there is room for a few.
  const every = (of, most) => (settings.kind === 'surface' ? Math.ceil(of.length / most) : 1);
  const tick = (of) => ({ tickvals: of.map((_, i) => i).filter((i) => i % every(of, 5) === 0), ticktext: of.filter((_, i) => i % every(of, 5) === 0).map(size) });
  const ticks = { x: tick(sweep.records), y: tick(sweep.sizes) };
  const hover = sweep.sizes.map((bytes, i) => sweep.records.map((record, j) =>
    `${size(bytes)} per lane, records of ${size(record)}: <b>${number(z[i][j])} ${unit.name}</b>`));
  if (settings.kind === 'surface') {
    const top = high;
    return { traces: [{ type: 'surface', x, y, z, colorscale: SCALE, cmin: 0, cmax: high, connectgaps: false,
      text: hover, hovertemplate: '%{text}<extra></extra>', showscale: false,
      contours: { x: { show: true, color: 'rgba(0,0,0,.25)' }, y: { show: true, color: 'rgba(0,0,0,.25)' } } },
    ...surfaceMarks(sweep, z, top)],
    layout: layout({ height: 380, margin: { l: 0, r: 0, t: 0, b: 0 }, scene: {
      ...scene({ x: { title: 'record size', ...ticks.x }, y: { title: 'file size per lane', ...ticks.y },
        z: { title: `${unit.name} (higher is better)`, range: [0, top * 1.1], tickvals: heights(top) } }), aspectmode: 'cube' } }) };
  }
  const limits = limitsOf(sweep);
  const few = x.length <= 11 && y.length <= 12 && innerWidth > 860;
  const shown = (v) => (Number.isFinite(v) ? number(v, 3) : '');
  return {
    traces: [{ z, ...scale, colorscale: SCALE, x, y, type: settings.kind === 'contour' ? 'contour' : 'heatmap', customdata: hover, xgap: 1, ygap: 1,
      hovertemplate: '%{customdata}<extra></extra>', hoverongaps: false,
      colorbar: colourBar(`${unit.name} (brighter is better)`) },
    ...(few && settings.kind === 'heatmap' ? [cellTexts(x, y, z.map((row) => row.map(shown)), z.map((row) => row.map((v) => inkAt((v || 0) / high))))] : [])],
    layout: layout({ height: 360,
      shapes: [...cachedShapes(sweep), ...limits.map(({ level }) => ({ type: 'line', xref: 'paper', x0: 0, x1: 1,
        y0: level, y1: level, line: { color: colour('accent'), width: 2, dash: 'dash' } }))],
      annotations: limits.map(({ level, text }) => ({ xref: 'paper', x: 1, y: level, text, xanchor: 'right',
        yanchor: 'bottom', bgcolor: colour('card'), font: { size: 10, color: colour('accent') } })),
      x: { title: 'record size', showgrid: false, ...ticks.x }, y: { title: 'file size per lane', showgrid: false, ...ticks.y } }) };
}

function sweepTable(sweep) {
  const unit = unitOfSweep(sweep);
  return { caption: `${nameOf(sweep)} by file and record size, ${unit.name}`,
    note: 'Rows: file size per lane; columns: record size.',
    columns: [{ title: 'file size' }, ...sweep.records.map((record) => ({ title: size(record), format: number }))],
    rows: sweep.sizes.map((bytes) => [size(bytes), ...sweep.records.map((record) => {
      const phase = cellOf(sweep, bytes, record);
      return phase ? rateOfCell(sweep, unit, phase) : NaN;
    })]) };
}

const nameOf = (sweep) => sweep.operation + (sweep.target ? ` on ${sweep.target}` : '');
// Phases with a size and a record of their own each, such as those of a suite, are no sweep: they would hide in its cells. A
// sweep of IOzone's has no records longer than the file: of 2 by 2 cells at least three.
const crosses = ({ members, sizes, records }) => distinctCells(members) > Math.max(sizes.length, records.length)
  && distinctCells(members) >= 0.5 * sizes.length * records.length;
const distinctCells = (members) => new Set(members.map((phase) => `${phase.bytes_per_lane}/${phase.record_bytes}`)).size;
const surfaces = (report) => sweeps(report).filter((sweep) => sweep.sizes.length > 1 && sweep.records.length > 1 && crosses(sweep));

// For paper: the tables of all sweeps, and the phases that are in them.
export function sweepTables(report) {
  const all = surfaces(report);
  return { tables: all.map(sweepTable), phases: new Set(all.flatMap((sweep) => sweep.members)) };
}

function sweepFigure(sweep, settings, show) {
  return new Figure({
    id: 'sweep', title: nameOf(sweep),
    note: 'Hatched cells came from a cache (mark “cached”); a gap was not measured. Click a cell for its command.',
    chart: () => sweepChart(sweep, settings),
    table: () => sweepTable(sweep),
    onClick: (point) => show(cellOf(sweep, sweep.sizes[Math.round(point.y)], sweep.records[Math.round(point.x)])) });
}

// The command of a chosen cell, which a select offers too, for those who use no mouse.
function cellCommand(report, phases) {
  const output = h('output', { class: 'command', 'aria-live': 'polite' });
  const select = h('select', { onchange: () => show(phases[Number(select.value)]) },
    h('option', { value: '', disabled: true, selected: true }, 'choose a cell'),
    phases.map((phase, i) => h('option', { value: i },
      `${phase.title || phase.operation}, ${size(phase.bytes_per_lane)}, records of ${size(phase.record_bytes)}${phase.target ? `, on ${phase.target}` : ''}`)));
  function show(phase) {
    if (!phase) return;
    select.value = String(phases.indexOf(phase));
    const command = commandOf(report.run?.command ?? '', phase, (report.run?.plan?.targets ?? []).map((target) => target.path));
    output.replaceChildren(command
      ? h('code', {}, command)
      : h('span', {}, 'This run was made from a plan: save the plan below, delete its other phases, and run it with --plan: ',
        h('code', {}, phase.shown_name)), ' ',
    h('a', { href: `#phase-${phase.index}` }, 'its report'));
  }
  return { show, element: h('div', { class: 'cell-command' },
    h('label', { class: 'choice' }, h('span', { class: 'quiet' }, 'Repeat a cell'), select), output) };
}

function limitsNote(report) {
  const knowsCaches = (report.clients ?? []).some((client) => client.l2_cache_bytes > 0 || client.l3_cache_bytes > 0);
  return 'Lines show where the file of a lane fills the level 2 cache of a processor, and where the files of all its lanes fill the '
    + `level 3 cache and the memory of a client, if that lies in the sweep.${knowsCaches ? '' : ' The sizes of the processor caches are not known here.'}`;
}

export function sweepSection(report) {
  const all = surfaces(report), stride = strideFigure(report);
  if (all.length === 0) return stride ? section('sweep', 'Stride', h('div', { class: 'grid' }, stride.element)) : null;
  const settings = {
    kind: 'heatmap', common: true,
    max: (unit) => maxOf(all.flatMap((sweep) => sweep.members.map((phase) => rateOfCell(sweep, unit, phase)))) };
  const command = cellCommand(report, all.flatMap((sweep) => sweep.members));
  const figures = all.map((sweep) => sweepFigure(sweep, settings, command.show));
  const refresh = () => figures.forEach((figure) => figure.refresh());
  return section('sweep', 'File size and record size',
    h('div', { class: 'controls' },
      choice('Show as', [['heatmap', 'heat map'], ['contour', 'contour'], ['surface', '3-D surface']], 'heatmap', (kind) => {
        settings.kind = kind;
        refresh();
      }),
      h('label', { class: 'choice' }, h('input', { type: 'checkbox', checked: true, id: 'common-scale', onchange: (event) => {
        settings.common = event.target.checked;
        refresh();
      } }), h('span', {}, 'same scale for all operations'))),
    h('p', { class: 'note lead' }, limitsNote(report)),
    h('div', { class: 'grid' }, figures.map((figure) => figure.element), stride?.element), command.element);
}

// Lines of throughput over something that grows; one per group.
function linesFigure({ id, heading, note, phases, group, x, xTitle, xText }) {
  const lines = groupsBy(phases, group).map((members) => members.sort((a, b) => x(a) - x(b)));
  const name = (phase) => `${nameOf({ operation: phase.title || phase.operation, target: phase.target })}, ${size(phase.record_bytes)}`;
  return new Figure({
    id, title: heading, note,
    chart: () => {
      const unit = unitOf(phases[0]);
      return {
        traces: lines.map((members, i) => ({
          type: 'scatter', mode: 'lines+markers', name: plain(name(members[0])), x: members.map(x),
          y: members.map((phase) => rateIn(unit, phase.headline)), line: { color: palette()[i % 6], width: 2 },
          marker: { size: 7, symbol: i }, hovertemplate: `%{x}: <b>%{y:,.4~r} ${unit.name}</b><extra></extra>` })),
        layout: layout({ legend: lines.length > 1,
          x: { title: xTitle, type: 'log', tickvals: distinct(phases.map(x)), ticktext: distinct(phases.map(x)).map(xText) },
          y: { title: `${unit.name} (higher is better)`, rangemode: 'tozero' } }) };
    },
    table: () => {
      const unit = unitOf(phases[0]);
      return { caption: heading,
        columns: [{ title: 'operation' }, { title: xTitle, format: number }, { title: unit.name, format: number },
          { title: 'p99 (µs)', format: number }],
        rows: lines.flat().map((phase) => [name(phase), x(phase), rateIn(unit, phase.headline), phase.latency_us?.p99]) };
    } });
}

function strideFigure(report) {
  const phases = phasesOfAllClients(report).filter((phase) => phase.stride_records > 0);
  if (distinct(phases.map((phase) => phase.stride_records)).length < 2) return null;
  return linesFigure({
    id: 'strides', heading: 'Stride and throughput', phases, note: 'Distance from one record to the next; higher is better.',
    group: (phase) => [phase.record_bytes, phase.bytes_per_lane, phase.lane_count, phase.target].join(), x: (phase) => phase.stride_records,
    xTitle: 'stride, records', xText: String });
}

// Phases that differ in the number of lanes only.
function loadFigure(report) {
  const curves = groupsBy(phasesOfAllClients(report).filter((phase) => phase.latency_us?.count > 0),
    (phase) => [phase.operation, phase.record_bytes, phase.target, phase.stride_records, phase.headline_in_ops].join('\n'))
    .map((members) => members.sort((a, b) => a.lane_count - b.lane_count))
    .filter((members) => distinct(members.map((phase) => phase.lane_count)).length >= 3);
  if (curves.length === 0) return null;
  const name = (phase) => `${phase.title || phase.operation}${phase.record_bytes ? `, ${size(phase.record_bytes)}` : ''}`;
  return new Figure({
    id: 'load', title: 'Load: throughput and latency', wide: curves.length > 3,
    note: 'Each point is a number of lanes. Further right is more throughput, lower is less waiting: where the curve turns '
      + 'up, additional lanes only wait. Solid: p99; dotted: p50.',
    chart: () => {
      const unit = unitOf(curves[0][0]);
      const trace = (members, i, key, dash) => ({
        type: 'scatter', mode: key === 'p99' ? 'lines+markers+text' : 'lines+markers', showlegend: key === 'p99',
        name: plain(name(members[0])), x: members.map((phase) => rateIn(unitOf(phase), phase.headline)),
        y: members.map((phase) => phase.latency_us[key]), text: members.map((phase) => String(phase.lane_count)),
        textposition: 'top left', textfont: { size: 10 }, line: { color: palette()[i % 6], width: 2, dash },
        hovertemplate: `%{text} lanes: <b>%{x:,.4~r} ${unit.name}</b>, ${key} <b>%{y:,.4~r} µs</b><extra></extra>` });
      return {
        traces: curves.flatMap((members, i) => [trace(members, i, 'p99', 'solid'), trace(members, i, 'p50', 'dot')]),
        layout: layout({ legend: curves.length > 1, x: { title: `${unit.name} (further right is better)`, rangemode: 'tozero' },
          y: latencyAxis('latency (lower is better)') }) };
    },
    table: () => {
      const unit = unitOf(curves[0][0]);
      return { caption: 'Throughput and latency by number of lanes',
        columns: [{ title: 'operation' }, { title: 'lanes', format: number }, { title: unit.name, format: number },
          { title: 'p50 (µs)', format: number }, { title: 'p99 (µs)', format: number }],
        rows: curves.flat().map((phase) => [name(phase), phase.lane_count, rateIn(unitOf(phase), phase.headline),
          phase.latency_us.p50, phase.latency_us.p99]) };
    } });
}

function targetsFigure(report) {
  const phases = phasesOfAllClients(report).filter((phase) => phase.target);
  const targets = [...new Set(phases.map((phase) => phase.target))];
  if (targets.length < 2) return null;
  const key = (phase) => [phase.title || phase.operation, phase.record_bytes ? size(phase.record_bytes) : '',
    phase.bytes_per_lane && !phase.metadata ? size(phase.bytes_per_lane) : '', `${phase.lane_count} lanes`].filter(Boolean).join(', ');
  const rows = groupsBy(phases, key);
  const cell = (members, target) => members.findLast((phase) => phase.target === target);
  const { paths = [], rows: compared = [] } = report.each_path ?? {};
  // Of repetitions, the median.
  const rate = (phase) => {
    if (!phase) return NaN;
    const unit = unitOf(phase), named = compared.filter((row) => `${row.phase} on ${phase.target}` === phase.name);
    if (named.length !== 1 || (unit.bytes === 0 && !phase.headline_in_ops)) return rateIn(unit, phase.headline);
    return (named[0].cells[paths.indexOf(phase.target)].rate ?? NaN) / (unit.bytes || 1);
  };
  // One axis has one unit: metadata operations are in the chart only if the run has nothing else.
  const ofData = rows.filter(([phase]) => !phase.headline_in_ops);
  const charted = ofData.length > 0 ? ofData : rows;
  const unit = () => unitOf(charted[0][0]).name;
  return new Figure({
    id: 'targets', title: 'Targets', note: 'The same plan on each path. Higher is better.',
    chart: () => ({
      traces: targets.map((target, i) => ({ type: 'bar', name: plain(target), x: charted.map((members) => plain(key(members[0]))),
        y: charted.map((members) => rate(cell(members, target))), marker: { color: palette()[i % 6] },
        hovertemplate: `%{x}: <b>%{y:,.4~r} ${unit()}</b><extra>%{fullData.name}</extra>` })),
      layout: layout({ legend: true, bargap: 0.35, x: { type: 'category', showgrid: false },
        y: { title: `${unit()} (higher is better)`, rangemode: 'tozero' } }) }),
    table: () => ({ caption: 'Targets',
      columns: [{ title: 'operation' }, { title: 'unit' }, ...targets.map((target) => ({ title: target, format: number }))],
      rows: rows.map((members) => [key(members[0]), unitOf(members[0]).name, ...targets.map((target) => rate(cell(members, target)))]) }) });
}

function repetitionsFigure(report) {
  const repeated = report.repetitions ?? [];
  if (repeated.length === 0) return null;
  const unit = (entry) => unitOf({ headline_in_ops: entry.metadata });
  const inUnit = (entry, value) => (unit(entry).bytes === 0 ? value : value / unit(entry).bytes);
  // Their figures are in bytes/s: ops/s are known only of metadata operations.
  const shownUnit = (entry) => (!entry.metadata && unit(entry).bytes === 0 ? { name: 'MiB/s', bytes: 1024 ** 2 } : unit(entry));
  const shown = (entry, value) => (shownUnit(entry).bytes === 0 ? inUnit(entry, value) : value / shownUnit(entry).bytes);
  return new Figure({
    id: 'repetitions', title: 'Repetitions',
    note: 'Median of the repetitions, with its confidence interval. Higher is better.',
    chart: () => ({
      traces: [{ type: 'bar', x: repeated.map((entry) => plain(entry.name)), y: repeated.map((entry) => shown(entry, entry.median)),
        marker: { color: colour('series-1') },
        error_y: { type: 'data', symmetric: false, color: colour('text'), thickness: 1.5,
          array: repeated.map((entry) => shown(entry, entry.high - entry.median)),
          arrayminus: repeated.map((entry) => shown(entry, entry.median - entry.low)) },
        hovertemplate: '%{x}: <b>%{y:,.4~r}</b><extra></extra>' }],
      layout: layout({ bargap: 0.5, x: { type: 'category', showgrid: false },
        y: { title: `${shownUnit(repeated[0]).name} (higher is better)`, rangemode: 'tozero' } }) }),
    table: () => drawn(tableNamed(report, 'repetitions')) });
}

export function comparisonSection(report) {
  const figures = [...perClientFigures(report), repetitionsFigure(report), loadFigure(report), targetsFigure(report)].filter(Boolean);
  const oneWay = sweeps(report).filter((sweep) => sweep.members.length > 1 && (sweep.sizes.length > 1) !== (sweep.records.length > 1));
  if (oneWay.length > 0) {
    const overSizes = oneWay.filter((sweep) => sweep.sizes.length > 1).flatMap((sweep) => sweep.members);
    const overRecords = oneWay.filter((sweep) => sweep.records.length > 1).flatMap((sweep) => sweep.members);
    const common = { note: 'Higher is better.', xText: size };
    if (overSizes.length > 0) {
      figures.push(linesFigure({ ...common, id: 'sizes', heading: 'File size and throughput', phases: overSizes,
        group: (p) => [p.operation, p.lane_count, p.target].join('\n'), x: (p) => p.bytes_per_lane, xTitle: 'file size per lane' }));
    }
    if (overRecords.length > 0) {
      figures.push(linesFigure({ ...common, id: 'records', heading: 'Record size and throughput', phases: overRecords,
        group: (p) => [p.operation, p.lane_count, p.target].join('\n'), x: (p) => p.record_bytes, xTitle: 'record size' }));
    }
  }
  if (figures.length === 0) return null;
  return section('comparison', 'Phases compared', h('div', { class: 'grid' }, figures.map((figure) => figure.element)));
}

export function section(id, heading, ...content) {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, heading), ...content);
}

