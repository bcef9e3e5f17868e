// Reads the data that coordinator/report/page/page_data.cc packed.

const BYTES = { f64: 8, f32: 4, u32: 4, log16: 2, shade8: 1 };

function typedArray(type, buffer, at, count) {
  switch (type) {
    case 'f64': return new Float64Array(buffer, at, count);
    case 'f32': return new Float32Array(buffer, at, count);
    case 'u32': return new Uint32Array(buffer, at, count);
    case 'log16': return new Uint16Array(buffer, at, count);
    case 'shade8': return new Uint8Array(buffer, at, count);
    default: throw new Error(`a column of unknown type ${type}`);
  }
}

// A column of numbers; unknown ones are NaN. `rounded`: the values are not those of result.json to the last digit.
function column(description, buffer, begin) {
  const { at, count, type, low, high, max } = description;
  const stored = typedArray(type, buffer, begin + at, count);
  let values = stored;
  if (type === 'log16') {
    const step = Math.log(high / low) / 65533;
    values = Float64Array.from(stored, (code) =>
      code === 0 ? 0 : code === 65535 ? NaN : low * Math.exp(step * (code - 1)));
  } else if (type === 'shade8') {
    values = Float64Array.from(stored, (code) => (code === 255 ? NaN : max ? (code / 254) * max : 0));
  }
  return { values, rounded: type === 'log16' || type === 'shade8' };
}

// Replaces every description of a column in `tree` by the column, which is decoded when it is first used.
function withColumns(tree, buffer, begin) {
  if (Array.isArray(tree)) return tree.map((item) => withColumns(item, buffer, begin));
  if (tree === null || typeof tree !== 'object') return tree;
  const result = {};
  for (const [name, value] of Object.entries(tree)) {
    if (value !== null && typeof value === 'object' && value.type in BYTES && 'at' in value) {
      let decoded;
      Object.defineProperty(result, name, {
        enumerable: true,
        get: () => (decoded ??= column(value, buffer, begin)),
      });
    } else {
      result[name] = withColumns(value, buffer, begin);
    }
  }
  return result;
}

async function unpacked(base64) {
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

// The data of any page: {text: the JSON, buffer, begin: of the columns in it}.
export async function readData(base64) {
  const buffer = await unpacked(base64);
  const length = new DataView(buffer).getUint32(0, true);
  const text = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { text, buffer, begin: Math.ceil((4 + length) / 8) * 8 };
}

// The report: {run, clients, criteria, repetitions, notes, phases, tables (tables.js), markRows}, each phase with the fields of
// result.json, its `tables` and `columns`: {clients, lanes, charts}; `hosts` are the names that columns.clients.host counts,
// `planYaml` is the plan for --plan. `markRows` has, by code, what the table of marks says: `means`, `severity`, `doc` and
// `read_from_memory`; each mark of a phase has it too, an unknown one nothing. `shown_name` is what all
// formats call a phase, with its number if others are called the same. `records` are the record sizes and their shares, if ops
// have several.
export function reportOf({ text: { result, hosts, plan, phases, marks, names, tables }, buffer, begin }) {
  result.hosts = hosts;
  result.planYaml = plan;
  result.tables = tables;
  result.markRows = marks;
  const counts = new Map(), planned = result.run?.plan?.phases ?? [];
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  result.phases.forEach((phase, i) => {
    phase.headline ??= { name: '', region: '', bytes_per_s: NaN, ops_per_s: NaN };  // nothing was measured
    phase.shown_name = counts.get(names[i]) > 1 ? `${names[i]} #${phase.index}` : names[i];
    phase.records = planned[phase.index % planned.length]?.assignments?.[0]?.operation?.records ?? [];
    phase.columns = withColumns(phases[i], buffer, begin);
    for (const mark of phase.marks ?? []) Object.assign(mark, marks[mark.code]);
    phase.tables = tables.filter(({ joined, id }) => joined && id !== 'errors')
      .flatMap((of) => of.parts.filter((part) => part.phase === i).map((part) => ({ of, part })));
  });
  return result;
}

// The lanes of client number `client` of a phase: first and one after the last index in the columns of lanes.
export function lanesOf(phase, client) {
  const counts = phase.columns.clients.lane_count.values;
  let first = 0;
  for (let i = 0; i < client; ++i) first += counts[i];
  return [first, first + counts[client]];
}

export function hostOf(report, phase, client) {
  return report.hosts[phase.columns.clients.host.values[client]];
}

// From the worst on: what marks mean for a figure (SeverityOf in coordinator/analysis/marks/mark_table.h).
export const SEVERITIES = ['invalid', 'doubtful', 'note'];

// The worst of a phase's marks; '': it has none.
export const severityOf = (phase) => (phase.not_whole ? 'invalid'
  : SEVERITIES.find((severity) => (phase.marks ?? []).some((mark) => mark.severity === severity))
    ?? (phase.marks?.length > 0 ? 'note' : ''));

// The style of what has this severity; "note" alone is the style of a paragraph.
export const severityStyle = (severity) => (severity ? `is-${severity}` : '');
export const worstOf = (phases) => SEVERITIES.find((severity) => phases.some((phase) => severityOf(phase) === severity)) ?? '';

export const clientRates = (phase) => (phase.headline_in_ops ? phase.columns.clients.ops_per_s : phase.columns.clients.bytes_per_s).values;

export function medianOf(values) {
  const sorted = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b), half = sorted.length >> 1;
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// Clients whose rate is this share below the median of all: the limit for lanes that are stragglers.
export const SLOW_BELOW = 0.8;
const slowOf = new WeakMap();

// The slow clients of a phase, the slowest first: [{client, host, of_median}]. Where clients do different things, none is slow.
export function slowClients(report, phase) {
  if (slowOf.has(phase)) return slowOf.get(phase);
  const rates = clientRates(phase), median = medianOf(rates), slow = [];
  if (rates.length > 2 && median > 0 && !(phase.parts?.length > 1)) {
    rates.forEach((rate, client) => {
      const share = (rate || 0) / median;
      if (share < SLOW_BELOW) slow.push({ client, host: hostOf(report, phase, client), of_median: share });
    });
    slow.sort((a, b) => a.of_median - b.of_median);
  }
  slowOf.set(phase, slow);
  return slow;
}
