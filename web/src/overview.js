// What stands first: the verdict, the headline of each phase with its marks, and what limited it.
import { severityOf, severityStyle, worstOf } from './data.js';
import { h } from './dom.js';
import { figuresVerdict, targetsOf, where } from './first_screen.js';
import { intervalText, rateOfRow, rowsOf, unitOfRow } from './folded.js';
import { soakVerdict } from './soak.js';
import { steadyVerdict } from './steady.js';
import { micros, number, plural, size } from './units.js';

// The label, or else where the run was.
export function title(report) {
  const targets = targetsOf(report);
  return report.run?.label || (targets.length > 0 ? `${targets[0].text}${targets.length > 1 ? ` and ${targets.length - 1} more` : ''}`
    : `Run ${report.run?.id ?? ''}`);
}

function fact(name, ...value) {
  return h('div', {}, h('dt', {}, name), h('dd', {}, ...value));
}

export function header(report, controls) {
  const run = report.run ?? {};
  return h('header', { class: 'top' },
    h('div', { class: 'top-row' },
      h('div', {}, h('p', { class: 'eyebrow' }, 'cluster-iobench report'), h('h1', {}, title(report)), where(report)), controls),
    h('dl', { class: 'facts' },
      fact('Started', h('time', {}, run.started_at ?? '')),
      fact('Where', `${plural(report.clients?.length ?? 0, 'client')}, ${plural(run.worker_count, 'worker')}, ${plural(run.lane_count, 'lane')}; `
        + `${run.transport}, coordinator on ${run.coordinator_host}`),
      fact('Version', run.program_version ?? ''),
      fact('Run', run.id ?? ''),
      h('div', { class: 'wide' }, h('dt', {}, 'Command'), h('dd', {}, h('code', {}, run.command ?? '')))));
}

const PREFIXES = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 };

// What was measured. Data rates have the prefix with which the criterion was stated.
function measured({ criterion, unit, measured: value }) {
  if (!Number.isFinite(value)) return '–';
  switch (unit) {
    case 'B/s': {
      const prefix = /\d\s*([kMGT]i?|Ki|)B\/s\s*$/.exec(criterion)?.[1] ?? 'Mi';
      return `${number(value / PREFIXES[prefix])} ${prefix}B/s`;
    }
    case 'ops/s': return `${number(value)} ops/s`;
    case 'us': return micros(value);
    case 'marks': return value === 0 ? 'none' : plural(value, 'mark');
    default: return number(value);
  }
}

// Counts as not met, but no figure shows that it is missed.
const isUndecided = (criterion) => !criterion.met && Boolean(criterion.problem);

export function verdict(report) {
  const parts = [];
  const criteria = report.criteria ?? [];
  if (criteria.length > 0) {
    const undecided = criteria.filter(isUndecided).length, met = criteria.filter((criterion) => criterion.met).length;
    const missed = criteria.length - met - undecided, of = `of ${criteria.length} criteria`;
    parts.push(h('div', { class: `verdict ${met === criteria.length ? 'good' : missed > 0 ? 'bad' : 'doubtful'}`, role: 'status' },
      h('strong', {}, [missed ? `${missed} ${of} not met` : '', undecided ? `${undecided} ${of} could not be decided` : '']
        .filter(Boolean).join(', ') || `All ${criteria.length} criteria met`),
      h('ul', {}, criteria.map((criterion) => h('li', {},
        h('span', { class: criterion.met ? 'yes' : isUndecided(criterion) ? 'maybe' : 'no' },
          criterion.met ? '✓ met' : isUndecided(criterion) ? '? undecided' : '✗ not met'), ' ',
        h('code', {}, criterion.criterion), criterion.problem
          ? ` ${criterion.problem}` : ` measured ${measured(criterion)} in ${criterion.phase}`)))));
  }
  const problems = report.run?.problems ?? [];
  const unfinished = report.run && !report.run.finished;
  if (problems.length > 0 || unfinished) {
    parts.push(h('div', { class: 'verdict bad', role: 'status' },
      h('strong', {}, unfinished ? 'The run did not finish' : 'The run had problems'),
      h('ul', {}, problems.map((problem) => h('li', {}, problem.client ? `${problem.client}: ` : '', problem.message)))));
  }
  parts.push(soakVerdict(report), steadyVerdict(report), figuresVerdict(report));
  for (const note of report.notes ?? []) parts.push(h('p', { class: 'note' }, note));
  return parts.filter(Boolean);
}

// A mark's text shows on hover, on focus and after a click, until Escape. It is placed in the window, since the table
// that the mark is in would cut it off.
function tipOf(button, tip) {
  const place = () => {
    const { left, bottom, top } = button.getBoundingClientRect();
    const above = bottom + 6 + tip.offsetHeight > innerHeight;
    tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${above ? top - 6 - tip.offsetHeight : bottom + 6}px`;
  };
  const open = () => {
    tip.classList.add('open');
    place();
    addEventListener('scroll', place, { capture: true, passive: true });  // of the window or of the table
  };
  const close = () => {
    tip.classList.remove('open');
    removeEventListener('scroll', place, { capture: true });
  };
  for (const event of ['mouseenter', 'focus', 'click']) button.addEventListener(event, open);
  for (const event of ['mouseleave', 'blur']) button.addEventListener(event, close);
  button.addEventListener('keydown', ({ key }) => key === 'Escape' && close());
}

export function mark(entry) {
  const of = entry.subject && entry.subject !== 'phase' ? ` on ${entry.subject}` : '';
  const code = entry.code.replaceAll('_', ' ');
  const button = h('button', { type: 'button', class: severityStyle(entry.severity ?? 'note'), 'aria-label': `Mark ${code}${of}: ${entry.text}` }, code);
  const tip = h('span', { class: 'tip', role: 'tooltip' }, h('strong', {}, `${code}${of}:`), ' ', entry.text,
    entry.doc ? ` (${entry.means}: ${entry.doc})` : '');
  tipOf(button, tip);
  return h('span', { class: 'mark' }, button, tip);
}

// One button per code, however many clients it concerns.
export function marksOf(...phases) {
  const byCode = new Map();
  for (const entry of phases.flatMap((phase) => phase.marks ?? [])) {
    byCode.set(entry.code, [...(byCode.get(entry.code) ?? []), entry]);
  }
  return Array.from(byCode.values(), (entries) => {
    if (entries.length === 1) return mark(entries[0]);
    const names = entries.map((entry) => entry.subject).filter((name) => name !== 'phase');
    const others = phases.length > 1 && names.length === 0 ? `${entries.length} of ${phases.length} repetitions` : names.length > 1 ? `${names[0]} and ${names.length - 1} more` : names[0] ?? 'phase';
    return mark({ ...entries[0], subject: others });
  });
}

// What set the pace, strongest first, with what to try; null if it is not known.
export function limitsOf(phase) {
  const limits = phase.why ?? [];
  if (limits.length === 0) return null;
  return h('dl', { class: 'limits', 'aria-label': 'What set the pace' }, limits.flatMap((limit, i) => [
    h('dt', {}, i === 0 ? 'Limited by ' : 'Also by ', h('strong', {}, limit.evidence)),
    h('dd', {}, `Try: ${limit.advice} `, h('span', { class: 'quiet' }, `(${limit.source})`))]));
}

// As on the console.
const PERCENTILES = ['p50', 'p95', 'p99'];
export const PERCENTILES_TITLE = PERCENTILES.join(' / ');

export function latencyText(phase) {
  return phase.latency_us?.count ? PERCENTILES.map((key) => micros(phase.latency_us[key])).join(' / ') : '–';
}

// Of repetitions, from the least to the most.
function latencyOfRow({ phases }) {
  if (phases.length === 1) return latencyText(phases[0]);
  const range = (key) => {
    const values = phases.filter((phase) => phase.latency_us?.count).map((phase) => phase.latency_us[key]);
    return values.length === 0 ? '–' : `${micros(Math.min(...values))} to ${micros(Math.max(...values))}`;
  };
  const [first, ...others] = PERCENTILES.map(range);
  return [first, others.map((text) => h('span', { class: 'sub' }, `/ ${text}`))];
}

// A figure that the marks call invalid is struck out.
function rateText(row) {
  const worst = worstOf(row.phases), value = number(rateOfRow(row).value);
  return h('strong', { class: `value ${severityStyle(worst)}` }, worst === 'invalid' ? h('s', {}, value) : value);
}

function rowElement(report, row, max, choosePhase, more = null) {
  const { phases: [phase, ...others] } = row, unit = unitOfRow(row), { value } = rateOfRow(row);
  const share = max > 0 && Number.isFinite(value) ? value / max : 0;
  const meter = h('span', { class: `meter ${severityStyle(worstOf(row.phases))}`, 'aria-hidden': 'true' }, h('span', {}));
  meter.firstChild.style.width = `${(share * 100).toFixed(1)}%`;
  const limits = [...new Set(row.phases.map((each) => each.limited_by).filter(Boolean))];
  return h('tr', { 'data-phase': phase.index, class: more === false ? 'one-of' : null },
    h('th', { scope: 'row' }, h('a', { href: `#phase-${phase.index}`, onclick: () => choosePhase(phase.index, false, true) }, row.name),
      h('span', { class: 'sub' }, details(phase)), more || null),
    h('td', { class: 'number headline' }, rateText(row), ' ', h('span', { class: 'unit' }, unit.name),
      intervalText(row) ? h('span', { class: 'sub' }, intervalText(row)) : null, meter),
    h('td', { class: 'number' }, latencyOfRow(row)),
    h('td', {}, limits.length > 0 ? limits.slice(0, 2).join('; ') : h('span', { class: 'quiet' }, 'not known')),
    h('td', { class: 'marks' }, marksOf(phase, ...others)));
}

const MAX_REPETITIONS = 100;  // rows of one phase; its others are in the select of phases

// `hidden`: phases that the table leaves out until the reader wants them, such as the cells of sweeps. `opened`: rows, by
// the index of their first phase, of which each repetition is shown; `redraw` shows the table again.
export function overview(report, choosePhase, hidden, showAll, opened, redraw) {
  const rows = rowsOf(report, report.phases.filter((phase) => !hidden.has(phase)));
  const maxima = new Map();
  for (const row of rows) {
    const unit = unitOfRow(row), { value } = rateOfRow(row);
    if (Number.isFinite(value)) maxima.set(unit, Math.max(maxima.get(unit) ?? 0, value));
  }
  const toggle = (row) => {
    const index = row.phases[0].index, open = opened.has(index);
    return h('button', { type: 'button', class: 'fold', 'aria-expanded': String(open), onclick: () => {
      if (open) opened.delete(index);
      else opened.add(index);
      redraw();
    } }, `${open ? 'hide' : 'show'} the ${plural(row.phases.length, report.soak || report.steady ? 'round' : 'repetition')}`);
  };
  const elements = rows.flatMap((row) => {
    const max = maxima.get(unitOfRow(row)), folded = row.phases.length > 1;
    const each = folded && opened.has(row.phases[0].index) ? row.phases.slice(0, MAX_REPETITIONS) : [];
    return [rowElement(report, row, max, choosePhase, folded ? toggle(row) : null),
      ...each.map((phase) => rowElement(report, { phases: [phase], name: phase.shown_name, repeated: null }, max, choosePhase, false))];
  });
  const marked = report.phases.some((phase) => severityOf(phase));
  return h('section', { id: 'overview', 'aria-labelledby': 'overview-title' },
    h('h2', { id: 'overview-title' }, 'Results'),
    marked ? h('p', { class: 'note lead' }, 'Point at a mark or select it to see what to do. A figure that is struck out is invalid, a grey one doubtful.') : null,
    h('div', { class: `table-frame overview${elements.length > 14 ? ' tall' : ''}`, tabindex: '0', role: 'region', 'aria-label': 'Table of results' },
      h('table', {}, h('caption', { class: 'hidden' }, 'Headline, latency, limit and marks of each phase'),
        h('thead', {}, h('tr', {}, ['Phase', 'Headline', `Latency ${PERCENTILES_TITLE}`, 'Limited by', 'Marks'].map((text, i) =>
          h('th', { scope: 'col', class: i === 1 || i === 2 ? 'number' : null }, text)))),
        h('tbody', {}, elements))),
    hidden.size > 0 ? h('p', { class: 'more' }, h('button', { type: 'button', onclick: showAll },
      `Show the ${hidden.size} cells of sweeps here too`)) : null);
}

const recordSizes = ({ records, record_bytes: bytes }) => (records.length === 0 ? size(bytes)
  : records.map((share) => `${size(share.record_bytes)} ${share.percent} %`).join(', '));

export function details(phase) {
  const parts = [phase.title !== phase.name ? phase.title : ''];
  if (phase.record_bytes > 0 && !phase.metadata) parts.push(`records of ${recordSizes(phase)}`);
  if (phase.bytes_per_lane > 0 && !phase.metadata) parts.push(`${size(phase.bytes_per_lane)} per lane`);
  if (phase.headline.name) parts.push(`${phase.headline.name}, ${phase.headline.region}`);
  if (phase.target && !phase.name.includes(phase.target)) parts.push(phase.target);
  if (phase.interrupted) parts.push('interrupted');
  return parts.filter(Boolean).join(' · ');
}
