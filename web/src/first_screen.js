// What stands first: where the run was, what is wrong with its figures, and all of them in one chart.
import { severityOf, slowClients, SEVERITIES, SLOW_BELOW, worstOf } from './data.js';
import { h } from './dom.js';
import { Figure } from './figure.js';
import { intervalText, rateOfRow, rowsOf, unitOfRow } from './folded.js';
import { colour, layout, plain } from './plot.js';
import { count, number, plural } from './units.js';

const NOTABLE = /^(vers|nfsvers|proto|nconnect|rsize|wsize|sync|noac|actimeo|soft|nocto|sec)(=|$)/;

// "/mnt/filer on nfs4 from filer-7:/export (vers=4.2, proto=tcp)", once for all clients that see the same.
export function targetsOf(report) {
  const seen = new Map();
  for (const { targets } of report.clients ?? []) {
    for (const { path, filesystem, mount_source: source, mount_options: options } of targets ?? []) {
      const notable = (options ?? '').split(',').filter((option) => NOTABLE.test(option));
      const text = `${path}${filesystem ? `: ${filesystem}` : ''}${source ? ` from ${source}` : ''}`;
      if (!seen.has(text)) seen.set(text, { path, text, options: notable.join(', '), clients: 0 });
      ++seen.get(text).clients;
    }
  }
  return [...seen.values()];
}

const MAX_TARGETS = 4;

// Target, file system, mount and server, below the title, which has the first one if the run has no label.
export function where(report) {
  const targets = targetsOf(report), all = report.clients?.length ?? 0;
  const line = ({ text, options, clients }, i) => h('span', { class: 'target' }, i > 0 || report.run?.label ? h('strong', {}, text) : null,
    options ? ` ${options}` : null, clients < all ? `, of ${plural(clients, 'client')}` : '');
  return h('p', { class: 'where' }, targets.slice(0, MAX_TARGETS).map(line),
    targets.length > MAX_TARGETS ? h('span', { class: 'quiet' }, `and ${targets.length - MAX_TARGETS} more`) : null);
}

const SHOWN = {
  invalid: { badge: 'invalid', box: 'bad', tone: 'no', mark: '✗' }, doubtful: { badge: 'doubtful', box: 'doubtful', tone: 'maybe', mark: '!' },
  note: { badge: 'note', box: 'noted', tone: 'quiet', mark: 'i' }, '': { box: 'good' } };
export const shownSeverity = (severity) => SHOWN[severity];

const few = (names, most) => (names.length > most ? `${names.slice(0, most).join(', ')} and ${count(names.length - most)} more` : names.join(', '));

// The marks of all phases, the worst first: [{code, severity, rows, subjects, text}], each text once.
function marksBySeverity(rows) {
  const found = new Map();
  for (const row of rows) {
    for (const entry of row.phases.flatMap((phase) => phase.marks ?? [])) {
      if (!found.has(entry.code)) found.set(entry.code, { code: entry.code, severity: entry.severity ?? 'note', text: entry.text, rows: new Set(), texts: new Set(), subjects: new Set() });
      const kind = found.get(entry.code);
      kind.rows.add(row);
      kind.texts.add(entry.text);
      if (entry.subject && entry.subject !== 'phase') kind.subjects.add(entry.subject);
    }
  }
  return [...found.values()].sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

const namesOf = (of, rows) => (of.size === rows.length && rows.length > 1 ? 'all phases' : few([...of].map((row) => row.name), 3));

function markLine({ code, severity, text, texts, rows: of, subjects }, rows) {
  const { badge, tone, mark } = SHOWN[severity];
  return h('li', {}, h('span', { class: `badge ${tone}` }, `${mark} ${badge}`), ' ', h('strong', {}, code.replaceAll('_', ' ')),
    ` in ${namesOf(of, rows)}${subjects.size > 0 ? `, ${few([...subjects], 3)}` : ''}: ${text}`,
    texts.size > 1 ? h('span', { class: 'quiet' }, ` (${plural(texts.size, 'text')}: see the phases)`) : null);
}

// Slow clients in words, the phases with the same ones together: [{rows, slow}], each the slowest first.
export function slowByPhases(report, rows) {
  const found = new Map();
  for (const row of rows) {
    const slow = row.phases.map((phase) => slowClients(report, phase)).sort((a, b) => b.length - a.length)[0];
    if (slow.length === 0) continue;
    const key = slow.map(({ client }) => client).sort().join();
    if (!found.has(key)) found.set(key, { rows: new Set(), slow, all: row.phases[0].columns.clients.host.values.length });
    found.get(key).rows.add(row);
  }
  return [...found.values()];
}

export const slowCount = ({ slow, all }) => `${count(slow.length)} of ${plural(all, 'client')} under ${100 * SLOW_BELOW} % of the median`;
export const slowText = (found, most = 5) => `${slowCount(found)}: `
  + few(found.slow.map(({ host, of_median: share }) => `${host} (${Math.round(100 * share)} %)`), most);

const MAX_SLOW = 4;

// What is wrong with the figures, whether or not there are criteria.
export function figuresVerdict(report, rows = rowsOf(report)) {
  if (rows.length === 0) return null;
  const by = (severity) => rows.filter(({ phases }) => worstOf(phases) === severity).length;
  const worst = worstOf(report.phases), slow = slowByPhases(report, rows), of = `of ${plural(rows.length, 'phase')}`, noted = by('note');
  const parts = [['invalid', by('invalid')], ['doubtful', by('doubtful')]].filter(([, n]) => n > 0).map(([word, n], i) => `${n}${i === 0 ? ` ${of}` : ''} ${word}`);
  const heading = parts.length > 0 ? parts.join(', ') : noted > 0 ? `No figure is in doubt; ${noted} ${of} ${noted === 1 ? 'has' : 'have'} notes` : 'No phase has a mark';
  const most = slow.reduce((a, b) => Math.max(a, b.slow.length), 0);
  const box = ['invalid', 'doubtful'].includes(worst) ? SHOWN[worst].box : slow.length > 0 ? 'doubtful' : SHOWN[worst].box;
  return h('div', { class: `verdict ${box}`, role: 'status', id: 'figures-verdict' },
    h('strong', {}, heading + (slow.length > 0 ? `${parts.length > 0 ? '; ' : ', but '}${plural(most, 'client')} ${most === 1 ? 'is' : 'are'} slow` : '')),
    h('ul', {}, marksBySeverity(rows).map((kind) => markLine(kind, rows)),
      slow.slice(0, MAX_SLOW).map((each) => h('li', {}, h('span', { class: 'badge maybe' }, '! slow clients'), ' ',
        h('strong', {}, namesOf(each.rows, rows)), `: ${slowText(each)}`)),
      slow.length > MAX_SLOW ? h('li', {}, `and others in ${slow.length - MAX_SLOW} more groups of phases: see the tables of clients`) : null));
}

const MAX_BARS = 40;
const HATCHES = { invalid: 'x', doubtful: '/', note: '', '': '' };

// All figures as bars: data rates above, ops/s below, each on its own scale.
export function phasesFigure(report, rows, choosePhase) {
  const known = rows.filter((row) => row.phases.length > 0);
  if (known.length === 0) return null;
  const shown = known.slice(0, MAX_BARS);
  const panels = () => [shown.filter((row) => unitOfRow(row).bytes !== 0), shown.filter((row) => unitOfRow(row).bytes === 0)].filter((rowsOfPanel) => rowsOfPanel.length > 0);
  const shortened = (text) => plain(text.length > (innerWidth < 860 ? 18 : 44) ? `${text.slice(0, innerWidth < 860 ? 17 : 43)}…` : text);
  const valueText = (row) => `${number(rateOfRow(row).value)} ${unitOfRow(row).name}`;
  const trace = (of, index) => {
    const rates = of.map(rateOfRow), away = (end) => rates.map((rate) => (Number.isFinite(rate[end]) ? Math.abs(rate[end] - rate.value) : 0));
    const worst = of.map(({ phases }) => worstOf(phases));
    return { type: 'bar', orientation: 'h', x: rates.map(({ value }) => value), y: of.map((_, i) => i), xaxis: index ? 'x2' : 'x', yaxis: index ? 'y2' : 'y',
      text: of.map(valueText), textposition: 'outside', cliponaxis: false, textfont: { size: 11, color: worst.map((severity) => colour(severity === 'invalid' ? 'muted' : 'text')) },
      marker: { color: worst.map((severity) => colour(severity === 'invalid' ? 'muted' : 'series-1')),
        pattern: { shape: worst.map((severity) => HATCHES[severity]), fgcolor: colour('card'), fillmode: 'overlay', solidity: 0.25 } },
      error_x: { type: 'data', symmetric: false, array: away('high'), arrayminus: away('low'), color: colour('text'), thickness: 1.5,
        visible: rates.some(({ low }) => Number.isFinite(low)) },
      customdata: of.map((row) => plain(`${row.name}: ${valueText(row)}${intervalText(row) ? `, ${intervalText(row)}` : ''}${worstOf(row.phases) ? `, ${worstOf(row.phases)}` : ''}`)),
      hovertemplate: '%{customdata}<extra></extra>' };
  };
  return new Figure({
    id: 'phases', title: 'All phases', wide: true,
    note: `Longer is better. Hatched: a mark says that the figure is doubtful; grey and crossed: invalid.${known.some((row) => row.repeated) ? ' Of repetitions, the median with its interval.' : ''}`
      + `${known.length > MAX_BARS ? ` The first ${MAX_BARS} of ${known.length}; the table has all.` : ''}`,
    chart: () => {
      const parts = panels(), gap = parts.length > 1 ? 70 : 0, pixels = 22 * shown.length, height = pixels + gap + 66;
      const whole = pixels + gap, most = (of) => Math.max(0, ...of.map((row) => rateOfRow(row)).flatMap(({ value, high }) => [value, high]).filter(Number.isFinite)) || 1;
      const axisOf = (of) => ({ title: unitOfRow(of[0]).name, range: [0, most(of) * (innerWidth < 860 ? 1.5 : 1.16)] });
      const namesAxis = (of) => ({ tickmode: 'array', tickvals: of.map((_, i) => i), ticktext: of.map((row) => shortened(row.name)),
        range: [of.length - 0.5, -0.5], showgrid: false, zeroline: false, ticks: '' });
      const settings = layout({ height, margin: { l: 56, r: 16, t: 8, b: 44 }, bargap: 0.3, x: axisOf(parts[0]), y: namesAxis(parts[0]) });
      if (parts.length > 1) {
        const split = (22 * parts[1].length) / whole, other = layout({ x: axisOf(parts[1]), y: namesAxis(parts[1]) });
        settings.yaxis.domain = [split + gap / whole, 1];
        settings.yaxis2 = { ...other.yaxis, domain: [0, split], anchor: 'x2' };
        settings.xaxis2 = { ...other.xaxis, anchor: 'y2' };
        settings.xaxis.anchor = 'y';
      }
      return { traces: parts.map(trace), layout: settings };
    },
    table: () => ({ caption: 'All phases',
      columns: [{ title: 'phase' }, { title: 'rate', format: number }, { title: 'unit' }, { title: 'from', format: number }, { title: 'to', format: number },
        { title: 'times', format: count }, { title: 'marks say' }],
      rows: known.map((row) => {
        const { value, low, high } = rateOfRow(row);
        return [row.name, value, unitOfRow(row).name, low, high, row.phases.length, worstOf(row.phases) || 'nothing'];
      }) }),
    onClick: ({ data, pointIndex, pointNumber }) => {
      const of = panels()[data.xaxis === 'x2' ? 1 : 0];
      choosePhase(of[pointIndex ?? pointNumber].phases[0].index);
    } });
}
