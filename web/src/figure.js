// A figure: a chart with the table behind it, saved as PNG or CSV. It is drawn when it comes near the window.
import { csv, download, fileName, h, table } from './dom.js';
import { draw, erase, savePng } from './plot.js';
import { linkTime, unlinkTime } from './time_axis.js';

const figures = new Map();  // element → figure
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const figure = figures.get(entry.target);
    if (figure && entry.isIntersecting) figure.show();
  }
}, { rootMargin: '300px' });

// {title, note, wide, chart(): {traces, layout}, table(): {caption, columns, rows}, controls: [elements],
//  onClick(point), time: its x axis is the seconds of a phase}.
export class Figure {
  constructor(spec) {
    this.spec = spec;
    this.mode = 'chart';
    this.chart = h('div', { class: 'chart', role: 'img', 'aria-label': `${spec.title}: chart. Its table has the figures.` });
    this.tableButton = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => this.toggle() }, 'Table');
    this.body = h('div', { class: 'figure-body' }, this.chart);
    this.element = h('figure', { class: spec.wide ? 'card wide' : 'card', 'data-figure': spec.id },
      h('figcaption', {},
        h('div', { class: 'figure-head' },
          h('h3', {}, spec.title),
          h('div', { class: 'tools' }, spec.controls ?? [], this.tableButton,
            h('button', { type: 'button', onclick: () => this.png(), 'aria-label': `Save ${spec.title} as PNG` }, 'PNG'),
            h('button', { type: 'button', onclick: () => this.csv(), 'aria-label': `Save ${spec.title} as CSV` }, 'CSV'))),
        spec.note ? h('p', { class: 'note' }, spec.note) : null),
      this.body, spec.below ?? null);
    figures.set(this.element, this);
    near.observe(this.element);
  }

  async show() {
    this.visible = true;
    if (this.mode === 'table') {
      this.body.replaceChildren(table(this.spec.table()));
      return;
    }
    this.body.replaceChildren(this.chart);
    try {
      await draw(this.chart, this.spec.chart());
    } catch (error) {  // such as a browser without WebGL
      this.chart.replaceChildren(h('p', { class: 'note' }, `This chart cannot be drawn here (${error.message}): see its table.`));
      return;
    }
    if (this.spec.onClick && !this.listens) {
      this.listens = true;
      this.chart.on('plotly_click', (event) => this.spec.onClick(event.points[0]));
    }
    if (this.spec.time) linkTime(this.chart);
    this.chart.dataset.drawn = 'yes';
  }

  // Draws again what is on the screen, with other units or colours.
  refresh() {
    if (this.visible) this.show();
  }

  toggle(mode = this.mode === 'chart' ? 'table' : 'chart') {
    this.mode = mode;
    this.tableButton.setAttribute('aria-pressed', String(mode === 'table'));
    this.show();
  }

  async png() {
    if (this.mode === 'table') this.toggle('chart');
    await this.show();
    await savePng(this.chart, fileName(this.spec.title), this.spec.title);
  }

  csv() {
    download(`${fileName(this.spec.title)}.csv`, csv(this.spec.table()), 'text/csv');
  }

  remove() {
    near.unobserve(this.element);
    figures.delete(this.element);
    unlinkTime(this.chart);
    erase(this.chart);
  }
}

export function refreshFigures() {
  for (const figure of figures.values()) figure.refresh();
}

export function removeFigures(parent) {
  for (const [element, figure] of figures) {
    if (parent.contains(element)) figure.remove();
  }
}

export const choice = (label, options, current, onchange) =>
  h('label', { class: 'choice' }, h('span', { class: 'quiet' }, label), h('select', {
    onchange: (event) => onchange(event.target.value) },
  options.map(([value, text]) => h('option', { value, selected: value === current }, text))));
