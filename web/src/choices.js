// What every page has: the reader's choice of unit and colours, which the browser keeps, and printing.
import { h } from './dom.js';
import { refreshFigures } from './figure.js';
import { state, UNITS } from './units.js';

// The browser keeps the reader's choices, if it lets pages of files do so.
const choices = new Map();
const remembered = {
  get: (name) => {
    try {
      return choices.get(name) ?? localStorage.getItem(`cluster-iobench ${name}`);
    } catch {
      return null;
    }
  },
  set: (name, value) => {
    choices.set(name, value);
    try {
      localStorage.setItem(`cluster-iobench ${name}`, value);
    } catch { /* kept until the page is closed */ }
  },
};

const dark = matchMedia('(prefers-color-scheme: dark)');

// The reader's choice, or else the system's.
function setTheme() {
  document.documentElement.dataset.theme = remembered.get('theme') ?? (dark.matches ? 'dark' : 'light');
}

// REQUIRES: before anything is drawn.
export function restoreChoices() {
  const unit = remembered.get('unit');
  if (unit in UNITS) state.unit = unit;
  setTheme();
  dark.addEventListener('change', () => {
    setTheme();
    refreshFigures();
  });
}

function toggleTheme() {
  remembered.set('theme', document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  setTheme();
  refreshFigures();
}

// `onUnit` is called when the reader has chosen another of `units`. A page without rates has none.
export function controls(units = [], onUnit = null) {
  const buttons = [h('button', { type: 'button', id: 'theme', onclick: toggleTheme }, 'Light / dark'),
    h('button', { type: 'button', onclick: () => print() }, 'Print')];
  if (units.length === 0) return h('div', { class: 'controls' }, buttons);
  if (!units.includes(state.unit)) state.unit = units[0];  // chosen on the page of a run, which has more
  const choose = (name) => {
    state.unit = name;
    remembered.set('unit', name);
    onUnit();
  };
  const unit = h('fieldset', { class: 'segmented' }, h('legend', { class: 'hidden' }, 'Unit'),
    units.map((name) => h('label', {}, h('input', { type: 'radio', name: 'unit', value: name,
      checked: name === state.unit, onchange: () => choose(name) }), h('span', {}, name))));
  return h('div', { class: 'controls' }, unit, buttons);
}

// On paper, the page shows `printed()` instead of its controls and charts.
export function printWith(place, printed) {
  const remove = () => document.getElementById('printed')?.remove();
  addEventListener('beforeprint', () => {
    remove();
    place.querySelector('main').append(printed());
  });
  addEventListener('afterprint', remove);
}

// Links to the parts of the page.
export function contents(place) {
  const parts = [...place.querySelectorAll('main section[id] > h2')];
  return h('nav', { class: 'contents', 'aria-label': 'Contents' }, parts.map((heading) =>
    h('a', { href: `#${heading.parentElement.id}` }, heading.textContent)));
}

export const footer = () => h('footer', {},
  'Made by cluster-iobench. Charts: plotly.js, © Plotly, Inc., MIT license; its text, and those of the libraries in it, are at the end of this file.');
