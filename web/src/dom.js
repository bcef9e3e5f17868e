// Elements and tables. Text is always set as text, never as HTML: a host's name can be anything.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'class') element.className = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : visible(String(child)));
  }
  return element;
}

// Control characters, and those that change the direction of text, are shown as symbols.
export function visible(text) {
  return text.replace(/[\u0000-\u001f\u007f\u0080-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? '\u2421' : '\ufffd';
  });
}

// A text of several lines, as it is.
export function lines(text) {
  const element = h('pre', { tabindex: '0' });
  element.textContent = text.split('\n').map(visible).join('\n');
  return element;
}

// A column of a table: {title, text(row) or key, numeric}. Rows are arrays of numbers and strings, in the order of
// `columns`: [{title, format}]; without `format`, the value is text.
export function table({ caption, columns, rows, note }, limit = 2000) {
  const head = h('tr', {}, columns.map((column) =>
    h('th', { scope: 'col', class: column.format ? 'number' : null }, column.title)));
  const body = rows.slice(0, limit).map((row) =>
    h('tr', { class: row.includes('INVALID') ? 'invalid' : null }, row.map((value, i) => {
      const { format } = columns[i];
      if (i === 0 && !format) return h('th', { scope: 'row', class: /\S{25,}/.test(value) ? 'long' : null }, value instanceof Node ? value : value ?? '–');
      if (value instanceof Node) return h('td', {}, value);
      return h('td', { class: format ? 'number' : /\S{25,}/.test(value) ? 'long' : null }, format ? format(value) : value ?? '–');
    })));
  const left_out = rows.length > limit ? ` The first ${limit} of ${rows.length} rows; the CSV file has all.` : '';
  return h('div', { class: 'table-frame', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', { class: columns.length > 9 ? 'many-columns' : null },
      h('caption', {}, caption, note || left_out ? h('span', { class: 'note' }, ` ${note ?? ''}${left_out}`) : null),
      h('thead', {}, head), h('tbody', {}, body)));
}

function csvCell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  let text = value instanceof Node ? value.textContent : String(value);
  // Names come from other hosts: see coordinator/report/text/csv_text.h.
  if (/^[=+\-@\t\r]./s.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  text = text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return /[",\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The same table for programs: full precision, RFC 4180.
export function csv({ columns, rows }) {
  const lines = [columns.map((column) => csvCell(column.title)), ...rows.map((row) => row.map(csvCell))];
  return lines.map((line) => line.join(',')).join('\r\n') + '\r\n';
}

export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export const fileName = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'chart';
