// The tables that every format has (coordinator/report/tables), drawn on the page.
import { fileName, h, table } from './dom.js';
import { count, micros, number, percent, rateIn, seconds, size, state, UNITS } from './units.js';

// A number that is not just a number: programs get the number.
class Marked {
  constructor(value, before) { Object.assign(this, { value, before }); }
  toString() { return Number.isFinite(this.value) ? String(this.value) : ''; }
}

const three = (value) => number(value, 3);
const signed = (value) => (Number.isFinite(value) ? `${value >= 0 ? '+' : ''}${percent(value)}` : '–');
const FORMATS = {
  rate: number, bytes_per_s: number, ops_per_s: number, count, bytes: size, seconds, micros, millis: (ms) => seconds(ms / 1000),
  percent, change: signed, share: (value) => percent(100 * value), factor: (value) => `${three(value)}x`, number: three };
const formatOf = (unit) => FORMATS[unit] && ((value) => (value instanceof Marked ? value.before + FORMATS[unit](value.value)
  : value === '' || value === null || Number.isNaN(value) ? '–' : FORMATS[unit](value)));

const bytesUnit = () => (UNITS[state.unit].bytes === 0 ? UNITS['MiB/s'] : UNITS[state.unit]);
const unitOfCell = (cell) => (cell?.ops ? UNITS['ops/s'] : bytesUnit());
const plainOf = (cell) => (cell !== null && typeof cell === 'object' ? cell.value : cell);

// A cell, in the unit that the reader chose.
function shown({ unit }, cell, value = plainOf(cell)) {
  if (typeof value === 'string') return unit === 'rate_unit' && value ? unitOfCell(cell).name : value;
  if (value === null) return NaN;
  const rate = unit === 'bytes_per_s' ? bytesUnit() : unit === 'rate' ? unitOfCell(cell) : null;
  const scaled = rate?.bytes ? rateIn(rate, { bytes_per_s: value }) : value;
  return cell?.unsure ? new Marked(scaled, '~') : scaled;
}

// {caption, columns, rows, note} for dom.js of one part, or of all parts of a table whose parts are joined. `caption`: of
// the part.
export function drawn({ title, intro, columns, joined, parts }, part = null, caption = title) {
  const of = part ? [part] : parts, named = joined && !part;
  const rows = of.flatMap(({ name, rows: all, totals }) => [...all, ...totals].map((cells) => ({ name, cells })));
  const units = new Set(columns.flatMap(({ unit }, i) => (unit !== 'rate' ? []
    : rows.map(({ cells }) => cells[i]).filter((cell) => cell !== '').map((cell) => unitOfCell(cell).name))));
  const places = columns.map((column, i) => ({ ...column, i })).filter(({ unit, machines, i }) =>
    (unit === 'rate_unit' ? units.size > 1 : !machines) && (i === 0 || rows.some(({ cells }) => plainOf(cells[i]) !== '')));
  const suffix = ({ unit }) => (unit === 'rate' && units.size === 1 ? ` (${[...units][0]})` : unit === 'bytes_per_s' ? ` (${bytesUnit().name})` : '');
  const titleOf = (column) => (column.title === 'bytes/s' ? bytesUnit().name : column.title + suffix(column));
  const notes = of.flatMap((each) => each.notes.map(([label, text]) => `${label.charAt(0).toUpperCase()}${label.slice(1)}: ${text}.`));
  const note = [intro.replace(/[*`]/g, ''), ...notes].filter(Boolean).join(' ');
  return {
    caption: note ? `${caption}.` : caption, note,
    columns: [...(named ? [{ title: 'phase' }] : []), ...places.flatMap((column) => {
      const format = formatOf(column.unit), heading = titleOf(column);
      return column.range ? [{ title: `${heading}, low`, format }, { title: `${heading}, high`, format }] : [{ title: heading, format }];
    })],
    rows: rows.map(({ name, cells }) => [...(named ? [name] : []), ...places.flatMap((column) => {
      const cell = cells[column.i], value = shown(column, cell);
      return column.range ? [value, typeof cell === 'object' ? shown(column, cell, cell.to) : value] : [value];
    })]) };
}

export const tableNamed = (report, id) => report.tables.find((each) => each.id === id);

// The tables of a phase.
export const tablesOfPhase = (phase) => phase.tables.map(({ of, part }) => drawn(of, part, `${of.title}: ${phase.name}`));

// Tables of the run that have no chart or place of their own.
const ELSEWHERE = ['clients', 'mounts', 'differences', 'errors', 'per-client', 'repetitions'];
export function otherTables(report) {
  return report.tables.filter(({ id, joined }) => !joined && !ELSEWHERE.includes(id)).flatMap((of) => of.parts.map((part) => ({
    id: of.id, chapter: of.title, ...drawn(of, part, part.name ? `${of.title}: ${part.name}` : of.title) })));
}

// Those that have a place of their own on the screen, and none on paper.
export const tablesForPaper = (report) => ['per-client', 'repetitions', 'mounts'].map((id) => tableNamed(report, id)).filter(Boolean)
  .flatMap((of) => of.parts.map((part) => drawn(of, part, part.name ? `${of.title}: ${part.name}` : of.id === 'mounts' ? 'Mounts' : of.title)));

// A section for each chapter of these tables, with its charts, if it has any.
export class OtherTables {
  // `chartsOf`: by chapter, its figures.
  constructor(report, chartsOf = {}) {
    this.report = report;
    const chapters = [...new Set(otherTables(report).map(({ chapter }) => chapter))];
    this.places = new Map(chapters.map((chapter) => [chapter, h('div', { class: 'grid' })]));
    this.elements = chapters.map((chapter) => {
      const id = fileName(chapter), figures = chartsOf[chapter] ?? [];
      return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, chapter),
        figures.length > 0 ? h('div', { class: 'grid charts' }, figures.map((figure) => figure.element)) : null, this.places.get(chapter));
    });
    this.refresh();
  }

  // Draws them in the unit that the reader chose.
  refresh() {
    for (const [chapter, place] of this.places) {
      place.replaceChildren(...otherTables(this.report).filter((each) => each.chapter === chapter).map((each) =>
        h('div', { class: 'card wide', 'data-table': each.id }, each.columns.length > 0 ? table(each) : [h('h3', {}, each.caption), h('p', {}, each.note)])));
    }
  }
}
