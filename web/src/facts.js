// The clients, how they differ, errors, the plan, and how to repeat the run.
import { csv, download, h, lines, table } from './dom.js';
import { section } from './across.js';
import { count, number, plural, size } from './units.js';

const cache = (bytes) => (bytes > 0 ? size(bytes) : 'not known');

function names(hosts) {
  return hosts.length > 12 ? `${hosts.slice(0, 12).join(', ')} and ${hosts.length - 12} more` : hosts.join(', ');
}

export function differences(report) {
  return { caption: 'Where clients differ from the majority',
    columns: [{ title: 'what' }, { title: 'most clients' }, { title: 'these' }, { title: 'clients' }],
    rows: (report.differences ?? []).map(({ what, usual, usual_clients: most, value, clients }) =>
      [what, `${usual} (${plural(most, 'client')})`, value, names(clients)]) };
}

const settings = (of) => Object.entries(of ?? {}).map(([name, value]) => `${name} ${value}`).join(', ');

const targetText = (target) => `${target.path} (${target.filesystem} from ${target.mount_source}; ${target.mount_options}`
  + `${settings(target.settings) ? `; ${settings(target.settings)}` : ''})`;

export function clientsTable(clients) {
  return { caption: 'Clients',
    columns: [{ title: 'host' }, { title: 'kernel' }, { title: 'processors', format: count }, { title: 'memory', format: size },
      { title: 'L2 cache', format: cache }, { title: 'L3 cache', format: cache },
      { title: 'workers', format: count }, { title: 'clock' }, { title: 'clock error (µs)', format: number }, { title: 'targets' }, { title: 'settings' }],
    rows: clients.map((client) => [client.host, client.kernel, client.processors, client.memory_bytes, client.l2_cache_bytes, client.l3_cache_bytes, client.worker_count,
      client.clock, (client.clock_error_ns ?? NaN) / 1000,
      (client.targets ?? []).map(targetText).join(' | '), settings(client.settings)]) };
}

export function clientsSection(report) {
  const clients = report.clients ?? [];
  if (clients.length === 0) return null;
  const differ = differences(report), all = clientsTable(clients);
  const details = h('details', { class: 'card wide', ontoggle: () => {
    if (details.open && details.children.length === 2) details.append(table(all));  // a thousand rows, made when wanted
  } });
  const save = h('button', { type: 'button', onclick: () => download('clients.csv', csv(all), 'text/csv') }, 'CSV');
  details.append(h('summary', {}, clients.length === 1 ? 'The client' : `All ${clients.length} clients`), h('div', { class: 'controls' }, save));
  return section('hosts', 'Clients and mounts',
    clients.length < 2 ? null
      : differ.rows.length > 0 ? h('div', { class: 'card wide' }, table(differ))
        : h('p', { class: 'note' }, 'All clients have the same kernel, processors, memory, clock, settings and mount options.'),
    details);
}

export function errorsTable(report) {
  const rows = report.phases.flatMap((phase) => (phase.errors ?? []).map((error) => [phase.name, error.client,
    error.lane >= 0 ? `lane ${error.lane}` : error.worker >= 0 ? `worker ${error.worker}` : '', error.operation,
    error.file, error.message]));
  return { caption: 'Errors', rows, columns: ['phase', 'client', 'where', 'operation', 'file', 'message'].map((title) => ({ title })) };
}

export function errorsSection(report) {
  const errors = errorsTable(report);
  return errors.rows.length > 0 ? section('errors', 'Errors', h('div', { class: 'card wide' }, table(errors))) : null;
}

export function planSection(report) {
  const text = report.planYaml;
  if (!text) return null;
  return section('plan', 'Plan',
    h('details', { class: 'card wide' },
      h('summary', {}, 'The plan of this run, ready for --plan'),
      h('div', { class: 'controls' }, h('button', { type: 'button', onclick: () => download('plan.yaml', text, 'text/yaml') }, 'Save as plan.yaml')),
      lines(text)));
}
