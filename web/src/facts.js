// The clients, how they differ, errors, the plan, and how to repeat the run.
import { csv, download, h, lines, table } from './dom.js';
import { section } from './across.js';
import { drawn, tableNamed } from './tables.js';

// The table with this id, or null.
export const tableOf = (report, id) => (tableNamed(report, id) ? drawn(tableNamed(report, id)) : null);

export function clientsSection(report) {
  const clients = report.clients ?? [];
  if (clients.length === 0) return null;
  const differ = tableOf(report, 'differences'), mounts = tableOf(report, 'mounts'), all = tableOf(report, 'clients');
  const details = h('details', { class: 'card wide', ontoggle: () => {
    if (details.open && details.children.length === 2) details.append(table(all));  // a thousand rows, made when wanted
  } });
  const save = h('button', { type: 'button', onclick: () => download('clients.csv', csv(all), 'text/csv') }, 'CSV');
  details.append(h('summary', {}, clients.length === 1 ? 'The client' : `All ${clients.length} clients`), h('div', { class: 'controls' }, save));
  return section('hosts', 'Clients and mounts',
    clients.length < 2 ? null
      : differ ? h('div', { class: 'card wide' }, table(differ))
        : h('p', { class: 'note' }, 'All clients have the same kernel, processors, memory, clock, settings and mount options.'),
    mounts ? h('div', { class: 'card wide' }, table({ ...mounts, caption: 'Mounts' })) : null,
    details);
}

export function errorsSection(report) {
  const errors = tableOf(report, 'errors');
  return errors ? section('errors', 'Errors', h('div', { class: 'card wide' }, table(errors))) : null;
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
