// What stands first: the verdict, the headline of each phase with its marks, and what limited it.
import { h } from './dom.js';
import { micros, number, plural, rateIn, size, unitOf } from './units.js';

export function title(report) {
  return report.run?.label || `Run ${report.run?.id ?? ''}`;
}

function fact(name, ...value) {
  return h('div', {}, h('dt', {}, name), h('dd', {}, ...value));
}

export function header(report, controls) {
  const run = report.run ?? {};
  return h('header', { class: 'top' },
    h('div', { class: 'top-row' },
      h('div', {}, h('p', { class: 'eyebrow' }, 'cluster-iobench report'), h('h1', {}, title(report))), controls),
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
    parts.push(h('div', { class: `verdict ${met === criteria.length ? 'good' : 'bad'}`, role: 'status' },
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
  for (const note of report.notes ?? []) parts.push(h('p', { class: 'note' }, note));
  return parts;
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
  const where = entry.subject && entry.subject !== 'phase' ? ` on ${entry.subject}` : '';
  const code = entry.code.replaceAll('_', ' ');
  const button = h('button', { type: 'button', 'aria-label': `Mark ${code}${where}: ${entry.text}` }, code);
  const tip = h('span', { class: 'tip', role: 'tooltip' }, h('strong', {}, `${code}${where}:`), ' ', entry.text,
    entry.doc ? ` (${entry.means}: ${entry.doc})` : '');
  tipOf(button, tip);
  return h('span', { class: 'mark' }, button, tip);
}

// One button per code, however many clients it concerns.
export function marksOf(phase) {
  const byCode = new Map();
  for (const entry of phase.marks ?? []) {
    byCode.set(entry.code, [...(byCode.get(entry.code) ?? []), entry]);
  }
  return Array.from(byCode.values(), (entries) => {
    if (entries.length === 1) return mark(entries[0]);
    const names = entries.map((entry) => entry.subject).filter((name) => name !== 'phase');
    const others = names.length > 1 ? `${names[0]} and ${names.length - 1} more` : names[0] ?? 'phase';
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

export function phaseName(phase, report) {
  const again = report.phases.some((other) => other !== phase && other.name === phase.name);
  return again ? `${phase.name} #${phase.index}` : phase.name;
}

export function latencyText(phase) {
  return phase.latency_us?.count ? `${micros(phase.latency_us.p50)} / ${micros(phase.latency_us.p99)}` : '–';
}

// `hidden`: phases that the table leaves out until the reader wants them, such as the cells of sweeps.
export function overview(report, choosePhase, hidden, showAll) {
  const phases = report.phases, marked = phases.filter((phase) => phase.marks?.length > 0).length;
  const listed = phases.filter((phase) => !hidden.has(phase));
  const max = (unit) => Math.max(...listed.filter((phase) => unitOf(phase) === unit)
    .map((phase) => rateIn(unit, phase.headline)).filter(Number.isFinite), 0);
  const maxima = new Map();
  const rows = listed.map((phase) => {
    const unit = unitOf(phase), value = rateIn(unit, phase.headline);
    if (!maxima.has(unit)) maxima.set(unit, max(unit));
    const share = maxima.get(unit) > 0 && Number.isFinite(value) ? value / maxima.get(unit) : 0;
    const meter = h('span', { class: 'meter', 'aria-hidden': 'true' }, h('span', {}));
    meter.firstChild.style.width = `${(share * 100).toFixed(1)}%`;
    return h('tr', { 'data-phase': phase.index },
      h('th', { scope: 'row' }, h('a', { href: `#phase-${phase.index}`, onclick: () => choosePhase(phase.index) },
        phaseName(phase, report)), h('span', { class: 'sub' }, details(phase))),
      h('td', { class: 'number headline' }, h('strong', { class: 'value' }, number(value)), ' ',
        h('span', { class: 'unit' }, unit.name), meter),
      h('td', { class: 'number' }, latencyText(phase)),
      h('td', {}, phase.limited_by || h('span', { class: 'quiet' }, 'not known')),
      h('td', { class: 'marks' }, marksOf(phase)));
  });
  return h('section', { id: 'overview', 'aria-labelledby': 'overview-title' },
    h('h2', { id: 'overview-title' }, 'Results'),
    h('p', { class: 'note lead' }, marked === 0 ? 'No phase has a mark.'
      : `${marked} of ${plural(phases.length, 'phase')} ${marked === 1 ? 'has' : 'have'} marks: point at one or select it to see what to do.`),
    h('div', { class: `table-frame overview${listed.length > 14 ? ' tall' : ''}`, tabindex: '0', role: 'region', 'aria-label': 'Results' },
      h('table', {}, h('caption', { class: 'hidden' }, 'Headline, latency, limit and marks of each phase'),
        h('thead', {}, h('tr', {}, ['Phase', 'Headline', 'Latency p50 / p99', 'Limited by', 'Marks'].map((text, i) =>
          h('th', { scope: 'col', class: i === 1 || i === 2 ? 'number' : null }, text)))),
        h('tbody', {}, rows))),
    hidden.size > 0 ? h('p', { class: 'more' }, h('button', { type: 'button', onclick: showAll },
      `Show the ${hidden.size} cells of sweeps here too`)) : null);
}

export function details(phase) {
  const parts = [phase.title !== phase.name ? phase.title : ''];
  if (phase.record_bytes > 0 && !phase.metadata) parts.push(`records of ${size(phase.record_bytes)}`);
  if (phase.bytes_per_lane > 0 && !phase.metadata) parts.push(`${size(phase.bytes_per_lane)} per lane`);
  if (phase.headline.name) parts.push(`${phase.headline.name}, ${phase.headline.region}`);
  if (phase.target && !phase.name.includes(phase.target)) parts.push(phase.target);
  if (phase.interrupted) parts.push('interrupted');
  return parts.filter(Boolean).join(' · ');
}
