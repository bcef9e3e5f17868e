// All clients of a phase in a table that the reader sorts, searches and filters; rows are made when they are wanted.
import { clientRates, hostOf, medianOf, slowClients } from './data.js';
import { csv, download, fileName, h } from './dom.js';
import { count, micros, number, percent, rateIn, unitOf } from './units.js';

const FIRST_ROWS = 40, MORE_ROWS = 400;

// Of each client: its number, its cells in the order of `columns`, whether it is slow. The same for screen, file and paper.
export function clientRows(report, phase) {
  const { clients } = phase.columns, unit = unitOf(phase), rates = clientRates(phase), median = medianOf(rates);
  const slow = new Set(slowClients(report, phase).map(({ client }) => client));
  const columns = [{ title: 'client' }, { title: unit.name, format: number }, { title: 'of the median (%)', format: (value) => number(value, 3) },
    { title: 'p50 (µs)', format: micros, exact: number }, { title: 'p99 (µs)', format: micros, exact: number }, { title: 'max (µs)', format: micros, exact: number },
    { title: 'CPU (%)', format: (value) => number(value, 3) }, { title: 'lost workers', format: count }];
  const rows = Array.from(rates, (rate, i) => ({ client: i, slow: slow.has(i), rate, cells: [hostOf(report, phase, i),
    rateIn(unit, { bytes_per_s: clients.bytes_per_s.values[i], ops_per_s: clients.ops_per_s.values[i] }), (100 * rate) / median,
    clients.p50_us.values[i], clients.p99_us.values[i], clients.max_us.values[i], clients.cpu_percent.values[i], clients.workers_lost.values[i]] }));
  return { columns, rows };
}

const FILTERS = [['all', 'all', () => true], ['slow', 'slow ones', (row) => row.slow], ['lost', 'with lost workers', (row) => row.cells[7] > 0]];

export class ClientsTable {
  constructor(report, phase, chooseClient) {
    Object.assign(this, { report, phase, chooseClient, words: '', filter: 'all', range: null, sortBy: 1, descending: false, shown: FIRST_ROWS });
    this.search = h('input', { type: 'search', placeholder: 'Search names', 'aria-label': 'Search clients', oninput: () => {
      this.words = this.search.value.toLowerCase();
      this.again();
    } });
    this.select = h('select', { 'aria-label': 'Which clients', onchange: () => {
      this.filter = this.select.value;
      this.range = null;
      this.again();
    } }, FILTERS.map(([name, text]) => h('option', { value: name }, text)));
    this.found = h('span', { class: 'quiet', role: 'status' });
    this.body = h('div', {});
    this.element = h('div', { class: 'card wide', 'data-table': 'phase-clients' },
      h('div', { class: 'figure-head' }, h('h3', {}, 'Clients, one by one'),
        h('div', { class: 'tools' }, this.search, this.select, this.found,
          h('button', { type: 'button', 'aria-label': 'Save the clients as CSV', onclick: () => this.save() }, 'CSV'))),
      this.body);
    this.draw();
  }

  save() {
    const { columns, rows } = clientRows(this.report, this.phase);
    download(`${fileName(`clients ${this.phase.shown_name}`)}.csv`, csv({ columns, rows: rows.map((row) => row.cells) }), 'text/csv');
  }

  // Only clients whose rate is in [low, high), in the unit in which they are counted; from the histogram.
  within(range) {
    this.range = range;
    this.again();
    this.element.scrollIntoView({ behavior: 'smooth', block: 'nearest' });
  }

  again() {
    this.shown = FIRST_ROWS;
    this.draw();
  }

  sort(column) {
    this.descending = this.sortBy === column ? !this.descending : false;
    this.sortBy = column;
    this.again();
  }

  draw() {
    const { columns, rows: all } = clientRows(this.report, this.phase);
    const wanted = FILTERS.find(([name]) => name === this.filter)[2];
    const inRange = ({ rate }) => !this.range || ((rate || 0) >= this.range[0] && (rate || 0) < this.range[1]);
    const rows = all.filter((row) => wanted(row) && inRange(row) && row.cells[0].toLowerCase().includes(this.words));
    const at = this.sortBy, sense = this.descending ? -1 : 1;
    rows.sort(({ cells: { [at]: a } }, { cells: { [at]: b } }) => sense * (typeof a === 'string' ? a.localeCompare(b, 'en', { numeric: true }) : (a || 0) - (b || 0)));
    this.found.textContent = `${count(rows.length)} of ${count(all.length)}${this.range ? ', of one bar' : ''}`;
    const head = columns.map(({ title, format }, i) => h('th', { scope: 'col', class: format ? 'number' : null,
      'aria-sort': i === at ? (this.descending ? 'descending' : 'ascending') : 'none' },
    h('button', { type: 'button', class: 'sort', onclick: () => this.sort(i) }, title.replace(' (µs)', ''), h('span', { 'aria-hidden': 'true' }, i === at ? (this.descending ? ' ▼' : ' ▲') : ''))));
    const body = rows.slice(0, this.shown).map(({ client, slow, cells }) => h('tr', { class: slow ? 'slow' : null }, cells.map((value, i) => (i === 0
      ? h('th', { scope: 'row' }, h('button', { type: 'button', class: 'link', onclick: () => this.chooseClient(client) }, value))
      : h('td', { class: 'number' }, columns[i].format(value))))));
    const rest = rows.length - this.shown;
    this.body.replaceChildren(
      h('div', { class: 'table-frame', tabindex: '0', role: 'region', 'aria-label': 'Clients, one by one' },
        h('table', {}, h('caption', { class: 'hidden' }, `Clients of ${this.phase.shown_name}`), h('thead', {}, h('tr', {}, head)), h('tbody', {}, body))),
      rest > 0 ? h('button', { type: 'button', class: 'more-rows', onclick: () => {
        this.shown += MORE_ROWS;
        this.draw();
      } }, `Show ${count(Math.min(rest, MORE_ROWS))} more`) : '');
  }
}
