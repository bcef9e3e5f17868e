// The surfaces of sweeps of several runs side by side, on one scale for each operation, before the maps of their ratios.
import { legendOf, unitFor, inUnit } from './compared.js';
import { choice, Figure } from './figure.js';
import { cellTexts, colourBar, fromZero, heights, inkAt, layout, scene, SCALE } from './plot.js';
import { number, size } from './units.js';

const sameSweep = (map, { operation, lane_count: lanes, engine, stride_records: stride, target }) => map.operation === operation
  && map.lane_count === lanes && map.engine === engine && map.stride_records === stride && map.target === target;

// Of each operation: {map: one of its maps, maps: indices of all, rates[run]: by size and record}.
function operationsOf(report) {
  const found = [];
  report.maps.forEach((map, i) => {
    const known = found.find((each) => sameSweep(each.map, map));
    if (known) known.maps.push(i);
    else found.push({ map, maps: [i] });
  });
  for (const each of found) {
    const { map } = each, members = report.phases.filter(({ phase }) => sameSweep(map, phase));
    const at = (run, bytes, record) => members.find(({ phase, run: of }) => (run === 0 || of === run) && phase.bytes_per_lane === bytes && phase.record_bytes === record);
    each.metadata = members[0]?.metadata ?? false;
    each.rates = report.runs.map((_, run) => map.sizes_bytes.map((bytes) => map.records_bytes.map((record) => {
      const phase = at(run, bytes, record);
      return (run === 0 ? phase?.baseline : phase?.compared)?.rate ?? NaN;
    })));
  }
  return found;
}

// The runs that have cells of the sweep.
const runsIn = (report, { rates }) => [...report.runs.keys()].filter((run) => rates[run].flat().some(Number.isFinite));

function surfaceFigure(report, words, { map, rates, metadata }, run, settings) {
  const unit = () => unitFor(metadata), shown = (of) => rates[of].map((row) => row.map((rate) => inUnit(unit(), rate)));
  const title = `${map.operation}, ${legendOf(report, words, run)}`;
  const x = map.records_bytes.map((_, i) => i), y = map.sizes_bytes.map((_, i) => i);
  const few = (of) => of.filter((_, i) => i % Math.ceil(of.length / 5) === 0);
  return new Figure({
    id: 'surface', title, note: 'Brighter is better; all runs have the same scale.',
    chart: () => {
      const z = shown(run), { zmin, zmax } = fromZero(report.runs.flatMap((_, of) => shown(of)));
      const text = map.sizes_bytes.map((bytes, i) => map.records_bytes.map((record, j) => `${size(bytes)} per lane, records of ${size(record)}: <b>${number(z[i][j])} ${unit().name}</b>`));
      if (settings.kind === 'surface') {
        return { traces: [{ type: 'surface', x, y, z, colorscale: SCALE, cmin: 0, cmax: zmax, connectgaps: false, showscale: false, text, hovertemplate: '%{text}<extra></extra>' }],
          layout: layout({ height: 360, margin: { l: 0, r: 0, t: 0, b: 0 }, scene: { ...scene({
            x: { title: 'record size', tickvals: few(x), ticktext: few(map.records_bytes).map(size) }, y: { title: 'file size per lane', tickvals: few(y), ticktext: few(map.sizes_bytes).map(size) },
            z: { title: unit().name, range: [0, zmax * 1.1], tickvals: heights(zmax) } }), aspectmode: 'cube' } }) };
      }
      const readable = x.length <= 11 && y.length <= 12 && innerWidth > 860;
      return { traces: [{ type: 'heatmap', x, y, z, zmin, zmax, colorscale: SCALE, xgap: 1, ygap: 1, hoverongaps: false, customdata: text,
        hovertemplate: '%{customdata}<extra></extra>', colorbar: colourBar(`${unit().name} (brighter is better)`) },
      ...(readable ? [cellTexts(x, y, z.map((row) => row.map((v) => (Number.isFinite(v) ? number(v, 3) : ''))), z.map((row) => row.map((v) => inkAt((v || 0) / zmax))))] : [])],
      layout: layout({ height: Math.max(220, 110 + 34 * y.length), x: { title: 'record size', showgrid: false, tickvals: x, ticktext: map.records_bytes.map(size) },
        y: { title: 'file size per lane', showgrid: false, tickvals: y, ticktext: map.sizes_bytes.map(size) } }) };
    },
    table: () => surfaceTable(report, words, { map, rates, metadata }, run) });
}

function surfaceTable(report, words, { map, rates, metadata }, run) {
  const unit = unitFor(metadata);
  return { caption: `${map.operation}, ${legendOf(report, words, run)}, ${unit.name}`, note: 'Rows: file size per lane; columns: record size.',
    columns: [{ title: 'file size' }, ...map.records_bytes.map((record) => ({ title: size(record), format: number }))],
    rows: map.sizes_bytes.map((bytes, i) => [size(bytes), ...rates[run][i].map((rate) => inUnit(unit, rate))]) };
}

// `ratioFigure(i)`: the map number i of ratios.
export function surfacesAndMaps(report, words, ratioFigure) {
  const settings = { kind: 'heatmap' }, surfaces = [];
  const elements = operationsOf(report).flatMap((each) => [
    ...runsIn(report, each).map((run) => surfaceFigure(report, words, each, run, settings)).map((figure) => {
      surfaces.push(figure);
      return figure.element;
    }), ...each.maps.map((i) => ratioFigure(i).element)]);
  const kind = choice('Show rates as', [['heatmap', 'heat map'], ['surface', '3-D surface']], 'heatmap', (value) => {
    settings.kind = value;
    surfaces.forEach((figure) => figure.refresh());
  });
  return { kind, elements };
}

export const surfaceTables = (report, words) => operationsOf(report).flatMap((each) => runsIn(report, each).map((run) => surfaceTable(report, words, each, run)));
