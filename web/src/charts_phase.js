// Charts of one phase as a whole: clients, parts of the time, latencies, start.
import { clientRates, hostOf, slowClients } from './data.js';
import { Figure } from './figure.js';
import { slowText } from './first_screen.js';
import { colour, latencyAxis, layout, palette, plain, shortName } from './plot.js';
import { tablesOfPhase } from './tables.js';
import { count, micros, number, percent, plural, rateIn, seconds, seriesUnit, size, unitOf } from './units.js';

const hasStraggler = (phase, host) => (phase.stragglers ?? []).some((text) => text.startsWith(`${host} worker `));

const MAX_BARS = 60;  // clients with a bar each; more are a histogram
const BINS = 40;

// Bars of how many clients have which rate, and the names of slow ones above theirs. `bins`: [low, high, clients].
function histogramOf(rates) {
  const high = rates.reduce((a, b) => Math.max(a, b || 0), 0) || 1, width = high / BINS;
  const bins = Array.from({ length: BINS }, (_, i) => [i * width, i === BINS - 1 ? Infinity : (i + 1) * width, []]);
  rates.forEach((rate, client) => bins[Math.min(BINS - 1, Math.floor((rate || 0) / width))][2].push(client));
  return { bins, width };
}

function histogramChart(report, phase) {
  const unit = seriesUnit(phase), rates = clientRates(phase), { bins, width } = histogramOf(rates);
  const slow = new Set(slowClients(report, phase).map(({ client }) => client));
  const outliers = bins.map(([,, clients]) => clients.filter((client) => slow.has(client)));
  const named = outliers.map((clients, i) => ({ i, clients })).filter(({ clients }) => clients.length > 0);
  const name = (clients) => `${shortName(hostOf(report, phase, clients[0]))}${clients.length > 1 ? ` and ${count(clients.length - 1)} more` : ''}`;
  return {
    traces: [{
      type: 'bar', x: bins.map(([low]) => (low + width / 2) * unit.factor), y: bins.map(([,, clients]) => clients.length), width: width * unit.factor * 0.94,
      marker: { color: bins.map((_, i) => colour(outliers[i].length > 0 ? 'series-2' : 'series-1')) },
      customdata: bins.map(([low,, clients]) => plain(`${number(low * unit.factor)} to ${number((low + width) * unit.factor)} ${unit.name}: ${plural(clients.length, 'client')}`)),
      hovertemplate: '%{customdata}<extra></extra>' }],
    layout: layout({ bargap: 0,
      annotations: named.slice(0, 8).map(({ i, clients }, n) => ({ x: (bins[i][0] + width / 2) * unit.factor, y: bins[i][2].length, text: name(clients), showarrow: true,
        arrowhead: 0, arrowcolor: colour('muted'), ax: 0, ay: -16 - 22 * (n % 4), font: { size: 11, color: colour('text') } })),
      x: { title: `${unit.name} of a client (higher is better)`, rangemode: 'tozero', showgrid: false }, y: { title: 'clients', rangemode: 'tozero' } }) };
}

export function clientsFigure(report, phase, chosen) {
  const { clients } = phase.columns, rates = clientRates(phase), many = rates.length > MAX_BARS;
  const order = () => Array.from(rates.keys()).sort((a, b) => (rates[a] || 0) - (rates[b] || 0));
  const rate = (unit, i) =>
    rateIn(unit, { bytes_per_s: clients.bytes_per_s.values[i], ops_per_s: clients.ops_per_s.values[i] });
  const fair = phase.headline_in_ops ? phase.lanes_ops_per_s : phase.lanes_bytes_per_s;
  const names = phase.stragglers ?? [], slow = slowClients(report, phase);
  const stragglers = names.length === 0 ? 'No lane is a straggler.'
    : `Stragglers: ${names.slice(0, 8).join('; ')}${names.length > 8 ? ` and ${names.length - 8} more` : ''}.`;
  const isSlow = new Set(slow.map(({ client }) => client));
  return new Figure({
    id: 'clients', title: 'Clients',
    note: `${many ? 'How many clients have which rate; click a bar to see them below.' : 'Slowest first; higher is better.'} ${slow.length > 0 ? `${slowText({ slow, all: rates.length }, 3)}. ` : ''}`
      + `Fairness of the lanes: Jain ${number(fair?.jain, 3)} (1 is equal), CoV ${percent((fair?.cov ?? NaN) * 100)}. ${stragglers}`,
    chart: () => {
      if (many) return histogramChart(report, phase);
      const unit = unitOf(phase);
      const sorted = order();
      const hosts = sorted.map((i) => plain(hostOf(report, phase, i)));
      return {
        traces: [{
          type: 'bar', x: sorted.map((_, i) => i), y: sorted.map((i) => rate(unit, i)),
          marker: { line: { width: 0 },
            color: sorted.map((i) => colour(isSlow.has(i) || hasStraggler(phase, hostOf(report, phase, i)) ? 'series-2' : 'series-1')) },
          customdata: hosts, hovertemplate: `%{customdata}: <b>%{y:,.4~r} ${unit.name}</b><extra></extra>` }],
        layout: layout({ bargap: 0.2,
          x: { showgrid: false, tickmode: 'array', ...(sorted.length <= 24
            ? { tickvals: sorted.map((_, i) => i), ticktext: sorted.map((i) => shortName(hostOf(report, phase, i))) }
            : { tickvals: [0, sorted.length - 1], ticktext: ['slowest', 'fastest'] }) },
          y: { title: `${unit.name} (higher is better)`, rangemode: 'tozero' } }) };
    },
    onClick: many ? ({ pointIndex, pointNumber }) => chosen(histogramOf(rates).bins[pointIndex ?? pointNumber].slice(0, 2)) : null,
    table: () => {
      const unit = unitOf(phase);
      return {
        caption: `Clients of ${phase.name}`,
        columns: [{ title: 'client' }, { title: unit.name, format: number }, { title: 'share of the mean (%)', format: number },
          { title: 'p50 (µs)', format: number }, { title: 'p99 (µs)', format: number }, { title: 'max (µs)', format: number },
          { title: 'CPU (%)', format: number }, { title: 'lost workers', format: count }],
        rows: order().map((i) => [hostOf(report, phase, i), rate(unit, i), clients.share_of_mean.values[i] * 100,
          clients.p50_us.values[i], clients.p99_us.values[i], clients.max_us.values[i], clients.cpu_percent.values[i],
          clients.workers_lost.values[i]]) };
    } });
}

const PARTS = ['open', 'ops', 'fsync', 'close', 'settle'];

export function regionsFigure(phase) {
  const mean = phase.regions_s, slowest = phase.regions_max_s;
  return new Figure({
    id: 'regions', title: 'Where the time went',
    note: `Time of a lane in each part; shorter is better. The headline covers ${phase.headline.region}.`,
    chart: () => ({
      traces: PARTS.map((part, i) => ({
        type: 'bar', orientation: 'h', name: part, y: ['mean lane', 'slowest'], x: [mean[part], slowest?.[part]],
        marker: { color: palette()[i] }, hovertemplate: `${part}, %{y}: <b>%{x:.4~r} s</b><extra></extra>` })),
      layout: layout({ barmode: 'stack', bargap: 0.45, legend: true,
        x: { title: 'seconds (shorter is better)' }, y: { showgrid: false, autorange: 'reversed' } }) }),
    table: () => ({
      caption: `Parts of the time in ${phase.name}`,
      columns: [{ title: 'part' }, { title: 'mean over lanes (s)', format: number }, { title: 'slowest lane (s)', format: number }],
      rows: PARTS.map((part) => [part, mean[part], slowest?.[part]]) }) });
}

// Of all ops, of each kind if there are several, and of each flush call.
export function percentilesFigure(phase) {
  const { percentiles, kinds, calls } = phase.columns.charts;
  const curves = [{ name: kinds.length > 0 ? 'all ops' : 'ops', percentiles }, ...kinds, ...calls]
    .filter((curve) => curve.percentiles.length > 0);
  const several = kinds.length + calls.length > 0;
  const NAMED = [50, 90, 99, 99.9, 99.99, 99.999];
  const place = (value) => 1 / (1 - Math.min(value, 99.9999) / 100);
  return new Figure({
    id: 'percentiles', title: 'Latency by percentile',
    note: `How long all but the slowest ops${calls.length > 0 ? ' and flush calls' : ''} took, on logarithmic axes. Lower is better; `
      + `hollow points rest on fewer than 100 ops${calls.length > 0 ? ' or calls' : ''}.`,
    chart: () => ({
      traces: curves.map(({ name, percentiles: points }, i) => ({
        type: 'scatter', mode: 'lines+markers', name, x: points.map(([p]) => place(p)), y: points.map(([, us]) => us),
        line: { color: palette()[i % 6], width: 2 },
        marker: { size: 7, color: points.map(([,, unsure]) => (unsure ? colour('card') : palette()[i % 6])),
          line: { width: 1.5, color: palette()[i % 6] } },
        customdata: points.map(([p, us]) => `${several ? `${name}, ` : ''}p${p}: <b>${micros(us)}</b>`),
        hovertemplate: '%{customdata}<extra></extra>' })),
      layout: layout({ legend: several,
        x: { title: 'percentile', type: 'log', tickvals: NAMED.map(place), ticktext: NAMED.map((p) => `${p} %`) },
        y: latencyAxis('latency (lower is better)') }) }),
    table: () => ({
      caption: `Latency of ${phase.name} by percentile`,
      columns: [...(several ? [{ title: 'of' }] : []), { title: 'percentile' }, { title: 'µs', format: number },
        { title: several ? 'enough?' : 'enough ops?' }],
      rows: curves.flatMap(({ name, percentiles: points }) => points.map(([p, us, unsure]) =>
        [...(several ? [name] : []), `${p} %`, us, unsure ? 'fewer than 100 beyond it' : 'yes'])) }) });
}

export function distributionFigure(phase) {
  const bins = phase.columns.charts.distribution;
  return new Figure({
    id: 'distribution', title: 'Distribution of latency',
    note: 'Ops by their latency, both on logarithmic axes. Further left is better.',
    chart: () => {
      const x = [], y = [];
      bins.forEach(([lower, upper, ops], i) => {
        if (i > 0 && bins[i - 1][1] < lower) {
          x.push(bins[i - 1][1], lower);
          y.push(0.8, 0.8);
        }
        x.push(Math.max(lower, upper / 4), upper);
        y.push(ops, ops);
      });
      return {
        traces: [{
          type: 'scatter', mode: 'lines', x, y, fill: 'tozeroy', line: { shape: 'linear', width: 1.5, color: colour('series-1') },
          fillcolor: colour('series-1-soft'), hovertemplate: '%{x:,.4~r} µs: <b>%{y:,.0f} ops</b><extra></extra>' }],
        layout: layout({ x: latencyAxis('latency (lower is better)'),
          y: { title: 'ops', type: 'log', range: [-0.1, Math.log10(Math.max(...bins.map((bin) => bin[2]))) + 0.3] } }) };
    },
    table: () => ({
      caption: `Distribution of the latency of ${phase.name}`,
      columns: [{ title: 'from (µs)', format: number }, { title: 'to (µs)', format: number }, { title: 'ops', format: count }],
      rows: bins }) });
}

export function startFigure(phase) {
  const starts = Array.from(phase.columns.lanes.start_us.values).filter(Number.isFinite).sort((a, b) => a - b);
  const step = Math.ceil(starts.length / 500);
  const shown = starts.map((us, i) => [us, ((i + 1) / starts.length) * 100])
    .filter((_, i) => i % step === 0 || i === starts.length - 1);
  const { skew_us: skew, skew_low_us: low, skew_high_us: high } = phase.start ?? {};
  return new Figure({
    id: 'start', title: 'Start of the lanes',
    note: `When each lane began its first op. Steeper is better. Skew ${micros(skew)}, at least ${micros(low)} and at most `
      + `${micros(high)}${phase.start?.skew_percent ? `; ${number(phase.start.skew_percent, 2)} % of the phase` : ''}.`,
    chart: () => ({
      traces: [{
        type: 'scatter', mode: shown.length > 40 ? 'lines' : 'lines+markers', x: shown.map(([us]) => us),
        y: shown.map(([, share]) => share),
        line: { shape: 'hv', color: colour('series-1'), width: 2 },
        hovertemplate: '%{x:,.4~r} µs: %{y:.3~r} % of the lanes<extra></extra>' }],
      layout: layout({ x: { title: 'µs after the first lane (less is better)', rangemode: 'tozero' },
        y: { title: 'lanes that had begun, %', range: [0, 103] } }) }),
    table: () => ({
      caption: `First ops of the lanes of ${phase.name}`,
      columns: [{ title: 'after the first lane (µs)', format: number }, { title: 'lanes that had begun (%)', format: number }],
      rows: shown }) });
}

// The phase's other figures, as tables.
export function figuresTables(phase) {
  const columns = [{ title: 'figure' }, { title: 'value' }];
  return [{ caption: `Throughput of ${phase.name}`, columns, rows: throughputRows(phase) },
    { caption: `Latency and surroundings of ${phase.name}`, columns, rows: otherRows(phase) },
    ...tablesOfPhase(phase)];
}

function throughputRows(phase) {
  const rows = [], unit = unitOf(phase);
  const rates = (name, key) => {
    const bytes = phase.throughput_bytes_per_s?.[key], ops = phase.throughput_ops_per_s?.[key];
    const value = rateIn(unit, { bytes_per_s: bytes ?? null, ops_per_s: ops });
    if (Number.isFinite(value)) rows.push([name, `${number(value)} ${unit.name}`]);
  };
  rates('stonewalled: until the first lane ended', 'stonewalled');
  rates('full: until the last lane ended', 'full');
  rates('while all lanes were active', 'all_active');
  rates('sum of the lanes (children)', 'children');
  rates('as the coordinator saw it (parent)', 'parent');
  rates('until the deadline', 'deadline');
  const pass = phase.first_pass;
  if (pass) {
    const value = rateIn(unit, pass);
    rows.push(['first pass, over new files', Number.isFinite(value)
      ? `${number(value)} ${unit.name}, ${pass.kind === 'flushed' ? 'flushed, ' : ''}in ${seconds(pass.seconds)}` : 'within the warm-up']);
    rows.push(['overwriting', `${percent(pass.overwritten_percent)} of the headline's bytes`]);
  }
  const wall = phase.stonewall;
  if (wall?.at_s) rows.push(['stonewall', `${wall.kind}, at ${seconds(wall.at_s)} by ${wall.first_lane}`]);
  if (Number.isFinite(phase.straggler_cost)) rows.push(['cost of stragglers', percent(phase.straggler_cost * 100)]);
  const kinds = Object.entries(phase.by_kind ?? {}).filter(([kind]) => !FLUSH_CALLS.includes(kind));
  for (const [kind, part] of kinds.length > 1 ? kinds : []) {
    rows.push([kind, `${number(rateIn(unit, part))} ${unit.name}, p99 ${micros(part.latency_us?.p99)}`]);
  }
  rows.push(['moved', phase.metadata ? `${count(phase.ops)} ops` : `${size(phase.bytes)}, ${count(phase.ops)} ops`]);
  rows.push(['duration', seconds(phase.duration_s)]);
  return rows;
}

// They are listed with the kinds of ops, but are none.
const FLUSH_CALLS = ['fsync', 'fdatasync', 'sync-file-range', 'commit', 'close'];

const LATENCIES = [['mean', 'mean'], ['p50', 'p50'], ['p90', 'p90'], ['p95', 'p95'], ['p99', 'p99'], ['p99.9', 'p99_9'], ['max', 'max']];

const timeText = (times, key) => micros(times[key]) + (times.unsure?.includes(key) ? ' (few ops)' : '');

// With a rate, latencies are response times: from when an op was due. The service and the lag are their parts.
function otherRows(phase) {
  const rows = [], latency = phase.latency_us, open = phase.open_loop, rpc = phase.nfs_rpc;
  for (const [name, key] of latency?.count ? LATENCIES : []) {
    rows.push([`latency${open ? ' (response)' : ''}, ${name}`, timeText(latency, key)]);
  }
  for (const call of FLUSH_CALLS.filter((name) => phase.by_kind?.[name])) {
    const times = phase.by_kind[call].latency_us;
    const figures = LATENCIES.map(([name, key]) => `${name} ${timeText(times, key)}`).join(', ');
    rows.push([call, `${count(times.count)} calls: ${figures}`]);
  }
  const commits = rpc?.kinds?.COMMIT;
  if (commits && FLUSH_CALLS.some((name) => phase.by_kind?.[name])) {
    rows.push(['COMMIT by the kernel', `${count(commits.rpcs)} requests: mean ${micros(commits.execute_ms * 1e3)}, `
      + `of it queue ${micros(commits.queue_ms * 1e3)}, round trip ${micros(commits.round_trip_ms * 1e3)}`]);
  }
  if (open) {
    const end = open.asked_end_ops_per_s > 0 ? ` to ${number(open.asked_end_ops_per_s)}` : '';
    rows.push(['asked for', `${number(open.asked_ops_per_s)}${end} ops/s, ${open.even ? 'evenly spaced' : 'at random instants'}`],
      ['of what was due', `${percent(open.done_percent)} done, ${count(open.missed_ops)} of ${count(open.due_ops)} ops not begun`]);
  }
  for (const [part, times] of open ? [['service', open.service_us], ['lag', open.lag_us]] : []) {
    for (const [name, key] of times?.count ? LATENCIES : []) rows.push([`${part}, ${name}`, timeText(times, key)]);
  }
  if (rpc) {
    rows.push(['NFS requests', `${count(rpc.rpcs)}, ${number(rpc.round_trip_ms, 3)} ms to the server and back, `
      + `${number(rpc.queue_ms, 3)} ms waiting in the client, ${count(rpc.retransmissions)} sent again`]);
  }
  rows.push(...sourceRows(phase), ...connectionRows(phase));
  if (phase.tool) rows.push(['this tool', `${percent(phase.tool.share_percent)} of the lanes' time`]);
  for (const step of phase.steps ?? []) {
    rows.push([`before: ${step.name}`, `${seconds(step.seconds)} ${step.outcome ? `(${step.outcome})` : ''}`]);
  }
  return rows;
}

// Where data came from and went to.
function sourceRows(phase) {
  const rows = [], from = phase.read_sources;
  const share = (bytes) => `${size(bytes)} (${percent((100 * bytes) / from.asked_bytes)})`;
  if (from) {
    if (Number.isFinite(from.server_memory_bytes)) {
      rows.push(["read from the servers' memory, at least", share(from.server_memory_bytes)],
        ["read from the servers' disks, at most", share(from.server_disk_bytes)]);
    } else if (from.server_bytes) rows.push(['read from the server', share(from.server_bytes)]);
    if (from.disk_bytes) rows.push(['read from disks', share(from.disk_bytes)]);
    rows.push(["read from the clients' own memory", share(from.cache_bytes)]);
    if (from.hole_bytes) rows.push(['read from holes, which nobody has written', share(from.hole_bytes)]);
    if (from.unknown_bytes) rows.push(['read, and no counter shows from where', share(from.unknown_bytes)]);
    if (Number.isFinite(from.files_to_memory)) rows.push(["files, relative to a client's memory", percent(100 * from.files_to_memory)]);
  }
  if (Number.isFinite(phase.reached_bytes)) {
    rows.push(['written and arrived at the server or device', `${size(phase.reached_bytes)} of ${size(phase.written_bytes)}`]);
  }
  for (const target of phase.fullness ?? []) {
    const others = target.filesystem_count > 1 ? `; fullest of ${count(target.filesystem_count)} file systems, the emptiest ${percent(target.least_percent)}` : '';
    rows.push([`in use at the start: ${target.path}`, `${percent(target.percent)} of ${size(target.total_bytes)}${others}`]);
  }
  if (phase.cold) {
    rows.push(["--cold: the clients' caches", phase.cold.clients]);
    if (phase.cold.server) rows.push(["--cold: the server's cache", phase.cold.server]);
  }
  return rows;
}

function connectionRows(phase) {
  const rows = [], rpc = phase.nfs_rpc;
  if (!rpc) return rows;
  const limit = (bytes, option, name) => (Number.isFinite(bytes) ? `${size(bytes)}${option ? ` (${name} ${size(option)})` : ''}` : null);
  const add = (name, value) => { if (value !== null && value !== undefined) rows.push([name, value]); };
  add('NFS, bytes per READ', limit(rpc.read_bytes_per_rpc, rpc.rsize_bytes, 'rsize'));
  add('NFS, bytes per WRITE', limit(rpc.write_bytes_per_rpc, rpc.wsize_bytes, 'wsize'));
  if (Number.isFinite(rpc.commits_per_write)) add('NFS, COMMIT per WRITE', number(rpc.commits_per_write, 3));
  if (rpc.connections > 0) {
    add('NFS connections', `${count(rpc.connections)}, ${number(rpc.in_flight, 3)} requests in flight, ${number(rpc.backlog, 3)} waiting for a slot`
      + `${rpc.max_slots ? `, at most ${count(rpc.max_slots)} slots in use` : ''}`);
    if (Number.isFinite(rpc.connection_cov)) add('NFS, variation between connections', percent(100 * rpc.connection_cov));
  }
  const troubles = [['errors', rpc.errors], ['delays', rpc.delays], ['short READs', rpc.short_reads], ['short WRITEs', rpc.short_writes],
    ['reconnects', rpc.reconnects], ['unexpected replies', rpc.bad_xids]].filter(([, value]) => value > 0);
  if (troubles.length > 0) add('NFS, what went wrong', troubles.map(([name, value]) => `${count(value)} ${name}`).join(', '));
  return rows;
}
