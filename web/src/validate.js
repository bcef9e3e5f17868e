// The page of a validation: whether all is well, then the checks with those that failed first, their figures, and the
// clients with their mounts, the servers on which a sampler was started, and the facts of the file system.
import { section } from './across.js';
import { controls, footer, printWith } from './choices.js';
import { box, day, headerOf, tableCard } from './compared.js';
import { h, table, visible } from './dom.js';
import { count, number, plural, seconds, size } from './units.js';

// In the order in which the reader needs them. `open`: its evidence is shown without being asked for.
const VERDICTS = [
  { name: 'fail', shown: 'FAIL', mark: '✗', tone: 'no', open: true },
  { name: 'warn', shown: 'warn', mark: '⚠', tone: 'maybe', open: true },
  { name: 'known', shown: 'known', mark: '~', tone: 'maybe', open: true },
  { name: 'follows', shown: 'follows', mark: '↳', tone: 'quiet', open: false },
  { name: 'pass', shown: 'pass', mark: '✓', tone: 'yes', open: false },
  { name: 'skipped', shown: 'skipped', mark: '–', tone: 'quiet', open: false },
];
const verdictOf = (name) => VERDICTS.find((verdict) => verdict.name === name)
  ?? { name, shown: name || 'no verdict', mark: '?', tone: 'maybe', open: true };
const badge = ({ mark, shown, tone }) => h('span', { class: `badge ${tone}` }, `${mark} ${shown}`);

function inOrder(checks) {
  const place = (check) => VERDICTS.indexOf(verdictOf(check.verdict));  // one that this page does not know comes first
  return [...checks].sort((a, b) => place(a) - place(b));
}

const anchorOf = (check) => `check-${check.name}`;
const took = (check) => (check.duration_s > 0 ? seconds(check.duration_s) : '');

function waiverText({ verdict, waiver }) {
  if (!waiver) return '';
  return verdict === 'known' ? `Known: ${waiver}`
    : verdict === 'pass' ? `Passes now, although --waive names it: ${waiver}` : `--waive names it: ${waiver}`;
}

// A check that follows from another is no finding of its own: the reader is sent there.
function causeText({ follows_from: from, cause }) {
  if (!from && !cause) return null;
  return h('p', { class: 'note cause' }, from ? ['Follows from ', h('a', { href: `#check-${encodeURIComponent(from)}` }, from)] : 'Cause',
    cause ? `: ${cause}` : '');
}

// `paper`: nothing can be opened there, so that all evidence is shown.
function checkCard(check, paper) {
  const verdict = verdictOf(check.verdict), waiver = waiverText(check);
  const evidence = h('ul', { class: 'evidence' }, check.evidence.map((line) => h('li', {}, line)));
  return h('article', { class: `card check ${verdict.tone}-edge`, id: paper ? null : anchorOf(check), 'data-check': check.name },
    h('header', {}, badge(verdict), h('h3', {}, check.name), h('span', { class: 'note' }, check.title),
      h('span', { class: 'note took' }, took(check))),
    h('p', { class: 'found' }, check.found),
    causeText(check),
    waiver ? h('p', { class: 'waiver' }, waiver) : null,
    check.evidence.length === 0 ? null : paper ? evidence
      : h('details', { open: verdict.open }, h('summary', {}, `Evidence: ${plural(check.evidence.length, 'line')}`), evidence),
    check.advice ? h('p', { class: 'advice' }, h('strong', {}, 'What to do: '), check.advice) : null);
}

// Counts stay whole; four digits would hide how many of 12345 were lost.
const shownValue = (figure) => (!figure.unit && Number.isInteger(figure.value) ? count(figure.value) : number(figure.value));

function figuresTable(report, value) {
  return { caption: 'What the checks measured',
    columns: [{ title: 'check' }, { title: 'figure' }, { title: 'value', format: (text) => text }, { title: 'unit' }],
    rows: inOrder(report.checks).flatMap((check) => check.figures.map((figure) =>
      [check.name, figure.name, value(figure), figure.unit])) };
}

// The address of the client, or of the server as this client sees it: different on every properly configured cluster
// (the same list as in coordinator/analysis/marks/options_differ.cc).
const OWN_OPTIONS = new Set(['addr', 'clientaddr', 'mountaddr', 'port', 'mountport']);
const optionsOf = (client) => client.mount_options.split(',').filter((option) => option && !OWN_OPTIONS.has(option.split('=')[0]));

// What more than half of the clients have. Of two that differ, none does: then both are named.
function majority(clients, valuesOf) {
  const counts = new Map();
  for (const client of clients) for (const value of new Set(valuesOf(client))) counts.set(value, (counts.get(value) ?? 0) + 1);
  return new Set([...counts].filter(([, clientCount]) => clientCount * 2 > clients.length).map(([value]) => value));
}

// Returns for each client how it differs from the majority, '' if it does not.
function differencesOf(clients) {
  const facts = [['kernel', (client) => client.kernel], ['file system', (client) => client.filesystem],
    ['source', (client) => client.mount_source]].map(([name, of]) => ({ name, of, usual: majority(clients, (client) => [of(client)]) }));
  const usual = majority(clients, optionsOf);
  return clients.map((client) => {
    const own = optionsOf(client), lacks = [...usual].filter((option) => !own.includes(option));
    const has = own.filter((option) => !usual.has(option));
    return [
      ...facts.filter(({ of, usual: common }) => !common.has(of(client))).map(({ name, of }) => `${name} ${of(client) || 'unknown'}`),
      has.length > 0 ? `has ${has.join(', ')}` : '', lacks.length > 0 ? `lacks ${lacks.join(', ')}` : '',
    ].filter(Boolean).join('; ');
  });
}

// `shown` makes the text of a difference, `options` that of mount options.
function clientsTable(report, shown, options) {
  const differences = differencesOf(report.clients), compared = (i) => (report.clients.length > 1 ? shown(differences[i]) : '–');
  return { caption: 'Clients',
    note: report.clients.length > 1 && !differences.some(Boolean) ? 'All have the same kernel and the same mount.' : '',
    columns: [{ title: 'host' }, { title: 'compared to most' }, { title: 'workers', format: count }, { title: 'kernel' },
      { title: 'file system' }, { title: 'source' }, { title: 'mount options' }],
    rows: report.clients.map((client, i) => [client.host, compared(i), client.workers, client.kernel, client.filesystem,
      client.mount_source, options(client.mount_options)]) };
}
const markedDifference = (text) => (text ? h('span', {}, h('span', { class: 'no' }, '≠ differs'), `: ${text}`) : '= same');
const plainDifference = (text) => (text ? `differs: ${text}` : 'same');
const spaced = (options) => options.split(',').join(', ');  // so that lines break between options
const shownClients = (report) => clientsTable(report, markedDifference, spaced);
const exactClients = (report) => clientsTable(report, plainDifference, (options) => options);

// A server without an NFS server in its kernel has no setup; an unknown number of it is absent or null.
function serversTable(report) {
  const inSeconds = (value) => (Number.isFinite(value) ? `${count(value)} s` : '');
  const exported = (entry) => `${entry.path} to ${entry.clients} (${spaced(entry.options)})`
    + (entry.filesystem ? ` from ${entry.filesystem}` : '') + (entry.device ? ` on ${entry.device}` : '');
  return { caption: 'NFS servers',
    columns: [{ title: 'host' }, { title: 'kernel' }, { title: 'versions' }, { title: 'threads' }, { title: 'lease' },
      { title: 'grace' }, { title: 'largest block' }, { title: 'exports' }],
    rows: report.servers.map(({ host, kernel, nfs }) => (nfs ? [host, kernel, nfs.versions.join(', '), count(nfs.threads),
      inSeconds(nfs.lease_s), inSeconds(nfs.grace_s) + (nfs.in_grace ? ' (now)' : ''),
      nfs.max_block_bytes ? size(nfs.max_block_bytes) : '', nfs.exports.map(exported).join('; ')]
      : [host, kernel, 'no NFS server in the kernel', '', '', '', '', ''])) };
}

function factsTable(report) {
  return { caption: 'What the file system offers, or does in its own way',
    columns: [{ title: 'fact' }, { title: 'answer' }, { title: 'decided by' }, { title: 'what programs must know' }, { title: 'clients' }],
    rows: report.facts.map((fact) => [fact.title, fact.answer, fact.decided_by, fact.advice, fact.clients.join(', ') || 'all']) };
}

export class ValidationPage {
  constructor(report, place) {
    Object.assign(this, { report, place });
    this.failed = report.checks.filter((check) => check.verdict === 'fail');
  }

  build() {
    const { report } = this;
    document.title = visible(`Validation of ${report.path} – cluster-iobench`);
    this.place.replaceChildren(
      headerOf('cluster-iobench validation', report.path, this.facts(), controls()),
      h('main', {}, this.summary(),
        section('checks', 'Checks', h('div', { class: 'stack' }, inOrder(report.checks).map((check) => checkCard(check, false)))),
        this.hasFigures() ? section('figures', 'Figures',
          tableCard('figures', figuresTable(report, shownValue), figuresTable(report, (figure) => figure.value))) : null,
        report.clients.length > 0 ? section('clients', 'Clients and mounts',
          tableCard('clients', shownClients(report), exactClients(report))) : null,
        report.servers.length > 0 ? section('servers', 'Servers', tableCard('servers', serversTable(report))) : null,
        report.facts.length > 0 ? section('facts', 'Facts of the file system',
          tableCard('facts', factsTable(report))) : null),
      footer());
    printWith(this.place, () => this.printed());
  }

  facts() {
    const { report } = this, workers = report.clients.reduce((sum, client) => sum + client.workers, 0);
    const from = report.mount_source ? ` from ${report.mount_source}` : '';
    return [
      ['File system', `${report.filesystem || 'unknown'}${from}`],
      ['Clients', `${count(report.clients.length)}${workers > report.clients.length ? ` with ${plural(workers, 'worker')}` : ''}`],
      ['Set', report.whole ? 'whole' : 'quick'],
      ['Duration', seconds(report.duration_s)],
      ['Started at', report.started_at ? `${day(report.started_at)} UTC` : ''],
      ['Version', report.program_version],
      ['Command', report.command, 'wide'],
    ];
  }

  // An exit code other than 0 without a failure: the validation itself did not end as it should.
  summary() {
    const { report, failed } = this, counted = (name) => report.counts[name] ?? 0;
    const ran = report.checks.some((check) => check.verdict !== 'skipped' && check.verdict !== 'follows');
    const heading = failed.length > 0 ? plural(failed.length, 'new failure')
      : report.exit_code !== 0 ? `Ended with exit code ${report.exit_code}, without a new failure`
        : !ran ? 'No check ran' : counted('warn') + counted('known') > 0 ? 'No new failure' : 'All well';
    return box(ran && failed.length === 0 && report.exit_code === 0, heading,
      h('p', { class: 'counts' }, VERDICTS.filter(({ name }) => counted(name) > 0).map((verdict) =>
        [h('span', { class: `badge ${verdict.tone}` }, `${verdict.mark} ${count(counted(verdict.name))} ${verdict.shown}`), ' '])),
      failed.length > 0 ? h('ul', {}, failed.map((check) =>
        h('li', {}, h('a', { href: `#${encodeURIComponent(anchorOf(check))}` }, check.name), ` – ${check.found}`))) : null);
  }

  hasFigures() {
    return this.report.checks.some((check) => check.figures.length > 0);
  }

  printed() {
    const { report } = this;
    return h('div', { id: 'printed' }, h('h2', {}, 'Checks'), inOrder(report.checks).map((check) => checkCard(check, true)),
      this.hasFigures() ? table(figuresTable(report, shownValue), Infinity) : null,
      report.clients.length > 0 ? h('div', { class: 'mounts' }, table(shownClients(report), Infinity)) : null,
      report.servers.length > 0 ? table(serversTable(report), Infinity) : null,
      report.facts.length > 0 ? table(factsTable(report), Infinity) : null);
  }
}
