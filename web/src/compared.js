// What the pages of comparisons and histories share: their head, the runs, and how these differ. `words` are sentences and
// names that coordinator/report/compare has in all its formats. Head, boxes and tables are those of validations too.
import { section } from './across.js';
import { shellWords } from './command.js';
import { csv, download, fileName, h, table } from './dom.js';
import { state, UNITS } from './units.js';

// Metadata operations are counted; all others move bytes.
export const unitFor = (metadata) => (metadata ? UNITS['ops/s'] : UNITS[state.unit]);
export const inUnit = (unit, rate) => (!Number.isFinite(rate) ? NaN : unit.bytes === 0 ? rate : rate / unit.bytes);

// "0.906"; of unknown ones "–".
export function ratio(value) {
  if (!Number.isFinite(value)) return '–';
  return value < 10 ? value.toFixed(3) : value.toFixed(1);
}
export const interval = (low, high) => (Number.isFinite(low) ? `${ratio(low)} to ${ratio(high)}` : '–');
export const probability = (p) => (!Number.isFinite(p) ? '–' : p < 0.001 ? '< 0.001' : p.toFixed(3));
export const day = (text) => text.slice(0, 16).replace('T', ' ');

const SIGNS = { better: '▲', worse: '▼', equal: '=', 'not shown': '?', rising: '▲', falling: '▼', steady: '=' };
const CLASSES = { better: 'yes', worse: 'no', rising: 'yes', falling: 'no' };
export const sign = (verdict) => SIGNS[verdict] ?? '';
// `text`: where more than the verdict itself is shown.
export const verdictMark = (verdict, text = verdict) => h('span', { class: CLASSES[verdict] ?? null }, `${sign(verdict)} ${text}`);

// `facts`: [name, text, class] each; one without text is left out.
export function headerOf(eyebrow, title, facts, controls) {
  return h('header', { class: 'top' },
    h('div', { class: 'top-row' }, h('div', {}, h('p', { class: 'eyebrow' }, eyebrow), h('h1', {}, title)), controls),
    h('dl', { class: 'facts' }, facts.filter(([, value]) => value).map(([name, value, wide]) =>
      h('div', { class: wide }, h('dt', {}, name), h('dd', {}, value)))));
}

export const header = (eyebrow, title, report, controls) => headerOf(eyebrow, title,
  [['Runs', String(report.runs.length)], ['Level', `${report.level_percent} %`], ['Version', report.program_version]], controls);

export const box = (good, heading, ...content) =>
  h('div', { class: `verdict ${good ? 'good' : 'bad'}`, role: 'status' }, h('strong', {}, heading), ...content);

// Unlike plans, problems of runs, and the gate.
export function warnings(report, words) {
  const problems = report.runs.flatMap((run, i) => run.problems.map((text) => `${words.letters[i]}: ${text}`));
  return [
    words.unlike ? box(false, 'Unlike plans', ` – ${words.unlike}`) : null,
    problems.length > 0 ? box(false, 'Problems of the runs', h('ul', {}, problems.map((text) => h('li', {}, text)))) : null,
    words.gate ? box(report.gate.below + report.gate.inconclusive === 0, 'Gate', ` ${words.gate}`) : null];
}

export const runsTable = (report, words) => ({ caption: 'Runs',
  columns: [{ title: 'run' }, { title: 'directory' }, { title: 'started at' }, { title: 'label' }, { title: 'command' }],
  rows: report.runs.map((run, i) => [words.letters[i], run.name, day(run.started_at), run.label, run.command]) });

// What a run is called in legends: its letter, with its label or directory.
export function legendOf(report, words, run) {
  const { label, name } = report.runs[run], text = label || name.replace(/\/+$/, '').split('/').slice(-2).join('/');
  return `${words.letters[run]}: ${text.length > 28 ? `${text.slice(0, 27)}…` : text}`;
}

// The options of a command line: name → its values. Words before the first option stand under ''.
function optionsIn(command) {
  const options = new Map();
  let name = '';
  for (const { value } of shellWords(command).slice(1)) {
    const [, option, joined] = /^(--[^=]+)=(.*)$/s.exec(value) ?? [];
    const isOption = /^-\+?[^\d.]/.test(value);
    if (isOption) name = option ?? value;
    if (!options.has(name)) options.set(name, []);
    if (!isOption || joined !== undefined) options.get(name).push(joined ?? value);
  }
  return options;
}

const OWN = ['--out', '--label', '--force', '--live-csv', '--metrics-port'];  // of each run, whatever it measures

// Where the command lines differ: one row per option.
export function commandsTable(report, words) {
  const all = report.runs.map(({ command }) => optionsIn(command));
  const names = [...new Set(all.flatMap((options) => [...options.keys()]))].filter((name) => !OWN.includes(name));
  const shown = (options, name) => (!options.has(name) ? '–' : options.get(name).join(' ') || 'given');
  const rows = names.map((name) => [name || 'words', ...all.map((options) => shown(options, name))]).filter(([, first, ...others]) => all.every(({ size }) => size > 0) && others.some((value) => value !== first));
  if (report.runs.length <= MAX_COLUMNS) return { caption: 'How the command lines differ', columns: [{ title: 'option' }, ...words.letters.map((title) => ({ title }))], rows };
  return { caption: 'How the command lines differ', columns: [{ title: 'option' }, { title: 'value' }, { title: 'runs' }],
    rows: rows.flatMap(([name, ...values]) => [...new Set(values)].map((value) => [name, value, words.letters.filter((_, i) => values[i] === value).join(' ')])) };
}

const MAX_COLUMNS = 6;

// One column per run, or, of many runs, the runs that have each value.
export function differencesTable(report, words) {
  const shown = (value) => value || '–';
  const head = [{ title: 'of' }, { title: 'what' }];
  if (report.runs.length <= MAX_COLUMNS) {
    return { caption: 'How the runs differ', columns: [...head, ...words.letters.map((title) => ({ title }))],
      rows: report.differences.map(({ of, field, values }) => [of, field, ...values.map(shown)]) };
  }
  return { caption: 'How the runs differ', columns: [...head, { title: 'value' }, { title: 'runs' }],
    rows: report.differences.flatMap(({ of, field, values }) => [...new Set(values)].map((value) =>
      [of, field, shown(value), words.letters.filter((_, i) => values[i] === value).join(' ')])) };
}

// A table that is saved as CSV; `exact` makes what is saved, if that has more than what is shown.
export function tableCard(id, spec, exact = spec) {
  return h('div', { class: 'card wide', 'data-table': id },
    h('div', { class: 'controls' }, h('button', { type: 'button', 'aria-label': `Save ${spec.caption} as CSV`,
      onclick: () => download(`${fileName(spec.caption)}.csv`, csv(exact), 'text/csv') }, 'CSV')),
    table(spec, 2000));
}

// Where the command lines say how runs differ, the fields of their plans are there for those who want them.
export function runsSection(report, words) {
  const commands = commandsTable(report, words), told = commands.rows.length > 0;
  const of = (kept) => differencesTable({ ...report, differences: report.differences.filter(kept) }, words);
  const outside = of((difference) => !told || difference.of !== 'plan'), plan = of((difference) => told && difference.of === 'plan');
  return section('runs', 'Runs and how they differ', h('div', { class: 'stack' },
    tableCard('runs', runsTable(report, words)),
    told ? tableCard('commands', commands) : null,
    outside.rows.length > 0 ? tableCard('differences', outside) : null,
    plan.rows.length > 0 ? h('details', { class: 'card wide' }, h('summary', {}, `The fields of the plans that differ: ${plan.rows.length}`), tableCard('plan', { ...plan, caption: 'How the plans differ' })) : null,
    report.differences.length === 0 && !told ? h('p', { class: 'note' }, 'The plans, clients and programs of all runs are alike.') : null));
}

// For paper.
export function printedRuns(report, words) {
  const commands = commandsTable(report, words), differences = differencesTable(report, words);
  return [table(runsTable(report, words), Infinity), commands.rows.length > 0 ? table(commands, Infinity) : null,
    differences.rows.length > 0 ? table(differences, Infinity) : null];
}
