// What a sampler saw of its server, on the time axis of the phase, below what the clients moved.
import { Figure } from './figure.js';
import { colour, layout, plain } from './plot.js';
import { number, seriesUnit, unitOf } from './units.js';

// The rates of a server that are drawn: a column of charts.servers, and how it is called.
const RATES = [
  ['receive_bytes_per_s', 'network, received'], ['send_bytes_per_s', 'network, sent'],
  ['disk_read_bytes_per_s', 'disks, read'], ['disk_write_bytes_per_s', 'disks, written']];

// The shares, in percent: what is drawn below.
function sharesOf(series, nfsd) {
  const percent = (column) => Array.from(column.values, (value) => 100 * value);
  const shares = [['CPU', percent(series.cpu_busy)], ['busiest disk', percent(series.disk_busy)]];
  if (nfsd?.threads > 0) {
    shares.push([`nfsd threads (of ${nfsd.threads})`,
      Array.from(series.nfsd_busy_threads.values, (value) => (100 * value) / nfsd.threads)]);
  }
  return shares.filter(([, values]) => values.some((value) => Number.isFinite(value)));
}

// Bytes have a unit also where the clients' figure is in ops/s.
const bytesUnit = (phase) => {
  const unit = seriesUnit(phase);
  return unit.name === 'ops/s' ? { name: 'MiB/s', factor: 1 / 1024 ** 2 } : unit;
};

// Steps: a value holds from the end of the interval before to the end of its own.
const steps = (series, values) => ({
  x: [series.begin_s, ...series.end_s.values], y: [...values, values.at(-1)], type: 'scatter', mode: 'lines' });

export function serverFigure(phase, index) {
  const report = phase.servers[index], series = phase.columns.charts.servers[index], { charts } = phase.columns;
  const ends = Array.from(series.end_s.values);
  return new Figure({
    id: `server-${index}`, title: `Server ${report.host}`, wide: true, time: true,
    note: 'Above, what the clients moved, and the server\'s network and disks; below, how busy it was. Read by its sampler.',
    chart: () => {
      const unit = bytesUnit(phase);
      const traces = RATES.map(([name, text], i) => ({
        ...steps(series, Array.from(series[name].values, (value) => value * unit.factor)), name: text,
        line: { shape: 'vh', width: 1.5, color: colour(`series-${i + 2}`) },
        hovertemplate: `%{x:.3~f} s, ${text}: <b>%{y:,.4~r} ${unit.name}</b><extra></extra>` }));
      if (unitOf(phase).bytes !== 0) {
        const moved = Array.from(charts.bytes_per_s.values, (value) => value * unit.factor);
        traces.unshift({
          x: [...moved.map((_, i) => i * charts.slice_s), moved.length * charts.slice_s], y: [...moved, moved.at(-1)],
          type: 'scatter', mode: 'lines', fill: 'tozeroy', name: 'clients', fillcolor: colour('series-1-soft'),
          line: { shape: 'hv', width: 1, color: colour('series-1') },
          hovertemplate: `%{x:.3~f} s, clients: <b>%{y:,.4~r} ${unit.name}</b><extra></extra>` });
      }
      const dashes = ['solid', 'dash', 'dot'];
      sharesOf(series, report.nfsd).forEach(([text, values], i) => traces.push({
        ...steps(series, values), name: text, yaxis: 'y2',
        line: { shape: 'vh', width: 1.5, dash: dashes[i], color: colour(`series-${[6, 1, 3][i]}`) },
        hovertemplate: `%{x:.3~f} s, ${plain(text)}: <b>%{y:.3~r} %</b><extra></extra>` }));
      const settings = layout({ height: 440, legend: true, hovermode: 'closest',
        x: { title: 'seconds since the first op', anchor: 'y2' }, y: { title: unit.name, rangemode: 'tozero', domain: [0.46, 1] } });
      settings.yaxis2 = { ...settings.yaxis, domain: [0, 0.38], range: [0, 105], title: { ...settings.yaxis.title, text: '% busy' } };
      return { traces, layout: settings };
    },
    table: () => {
      const unit = bytesUnit(phase);
      const shares = sharesOf(series, report.nfsd);
      return {
        caption: `Server ${report.host} during ${phase.name}`,
        columns: [{ title: 'until (s)', format: number }, ...RATES.map(([, text]) => ({ title: `${text} (${unit.name})`, format: number })),
          ...shares.map(([text]) => ({ title: `${text} (% busy)`, format: number })), { title: 'RPCs/s', format: number }],
        rows: ends.map((end, i) => [end, ...RATES.map(([name]) => series[name].values[i] * unit.factor),
          ...shares.map(([, values]) => values[i]), series.nfsd_rpcs_per_s.values[i]]) };
    } });
}
