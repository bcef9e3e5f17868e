// The page of a run: builds its parts, and reacts to the address and the unit.
import { comparisonSection, section, sweepSection, sweepTables } from './across.js';
import { clientsFigure, distributionFigure, figuresTables, percentilesFigure, regionsFigure, startFigure } from './charts_phase.js';
import { serverFigure } from './charts_server.js';
import { callHeatFigure, clientHeatFigure, lanesFigure, latencyHeatFigure, throughputFigure } from './charts_time.js';
import { contents, controls, footer, printWith } from './choices.js';
import { ClientsTable } from './clients_table.js';
import { severityOf, severityStyle } from './data.js';
import { h, table } from './dom.js';
import { clientsSection, errorsSection, planSection } from './facts.js';
import { refreshFigures, removeFigures } from './figure.js';
import { phasesFigure } from './first_screen.js';
import { rowsOf } from './folded.js';
import { details, header, limitsOf, marksOf, overview, title, verdict } from './overview.js';
import { printed } from './print.js';
import { soakFigures } from './soak.js';
import { steadyFigures } from './steady.js';
import { OtherTables } from './tables.js';
import { number, rateIn, unitOf, UNITS } from './units.js';

export class ReportPage {
  constructor(report, place) {
    this.report = report;
    this.place = place;
    const cells = sweepTables(report).phases;  // if there is nothing else, the table shows them
    this.hidden = cells.size < report.phases.length ? cells : new Set();
    this.opened = new Set();
    this.phaseIndex = this.phaseInAddress() ?? report.phases[0]?.index;
  }

  build() {
    const { report } = this;
    document.title = `${title(report)} – cluster-iobench`;
    this.overviewPlace = h('div', {});
    this.phasePlace = h('div', {});
    this.others = new OtherTables(report, { Soak: soakFigures(report), 'Steady state': steadyFigures(report) });
    this.place.replaceChildren(
      header(report, controls(Object.keys(UNITS), () => this.showUnit())), h('main', {},
        ...verdict(report), this.chart(), this.overviewPlace, sweepSection(report),
        report.phases.length > 0 ? this.phaseSection() : h('p', { class: 'note' }, 'This run has no phases.'),
        comparisonSection(report), ...this.others.elements, errorsSection(report), clientsSection(report), planSection(report)),
      footer());
    for (const missing of this.place.querySelectorAll('main > :empty:not(div)')) missing.remove();
    this.showOverview();
    this.place.querySelector('header').append(contents(this.place));
    this.showPhase();
    addEventListener('hashchange', () => this.choosePhase(this.phaseInAddress(), false, true));
    if (this.phaseInAddress() !== null) this.scrollToPhase();
    printWith(this.place, () => printed(report));
  }

  showUnit() {
    this.showOverview();
    this.showHeadline();
    this.others.refresh();
    refreshFigures();
  }

  phaseInAddress() {
    const found = /^#phase-(\d+)$/.exec(location.hash);
    const index = found ? Number(found[1]) : null;
    return this.report.phases.some((phase) => phase.index === index) ? index : null;
  }

  chart() {
    const figure = phasesFigure(this.report, rowsOf(this.report, this.report.phases.filter((phase) => !this.hidden.has(phase))),
      (index) => this.choosePhase(index, true, true));
    return figure ? h('section', { id: 'glance', 'aria-labelledby': 'glance-title' },
      h('h2', { id: 'glance-title', class: 'hidden' }, 'At a glance'), figure.element) : null;
  }

  scrollToPhase() {
    document.getElementById('phase').scrollIntoView({ block: 'start' });
  }

  showOverview() {
    const frame = this.overviewPlace.querySelector('.table-frame');
    const top = frame?.scrollTop ?? 0;
    this.overviewPlace.replaceChildren(overview(this.report, (index) => this.choosePhase(index), this.hidden, () => {
      this.hidden = new Set();
      this.showOverview();
    }, this.opened, () => this.showOverview()));
    this.overviewPlace.querySelector('.table-frame').scrollTop = top;
    this.markChosen();
  }

  markChosen() {
    for (const row of this.overviewPlace.querySelectorAll('tr[data-phase]')) {
      row.classList.toggle('chosen', Number(row.dataset.phase) === this.phaseIndex);
    }
  }

  phaseSection() {
    this.select = h('select', { id: 'phase-select', onchange: () => this.choosePhase(Number(this.select.value), true) },
      this.report.phases.map((phase) => h('option', { value: phase.index }, `${phase.index}: ${phase.shown_name}`)));
    const step = (by, text) => h('button', { type: 'button', 'aria-label': text, onclick: () => {
      const at = this.report.phases.findIndex((phase) => phase.index === this.phaseIndex);
      const next = this.report.phases[at + by];
      if (next) this.choosePhase(next.index, true);
    } }, by < 0 ? '←' : '→');
    return section('phase', 'Phase', h('div', { class: 'controls' },
      h('label', { class: 'choice' }, h('span', { class: 'quiet' }, 'Show'), this.select), step(-1, 'Previous phase'), step(1, 'Next phase')),
    this.phasePlace);
  }

  choosePhase(index, setAddress = false, scroll = false) {
    if (index === null || index === undefined) return;
    if (setAddress) history.replaceState(null, '', `#phase-${index}`);
    if (index !== this.phaseIndex) {
      this.phaseIndex = index;
      this.showPhase();
      this.markChosen();
    }
    if (scroll) this.scrollToPhase();
  }

  showPhase() {
    const phase = this.report.phases.find((item) => item.index === this.phaseIndex);
    if (!phase) return;
    this.phase = phase;
    this.select.value = String(phase.index);
    removeFigures(this.phasePlace);
    this.headline = h('p', { class: 'big' });
    const charts = phase.columns.charts;
    const figures = [];
    const has = (list) => list.length > 0;
    if (charts.slice_s > 0 && has(charts.bytes_per_s.values)) figures.push(throughputFigure(phase));
    charts.servers.forEach((series, i) => {
      if (has(series.end_s.values)) figures.push(serverFigure(phase, i));
    });
    const clientCount = phase.columns.clients.host.values.length;
    const lanes = clientCount > 0 ? lanesFigure(this.report, phase) : null;
    if (charts.clients.slice_count > 0) figures.push(clientHeatFigure(this.report, phase, (client) => lanes.choose(client)));
    this.clients = clientCount > 1 ? new ClientsTable(this.report, phase, (client) => lanes.choose(client)) : null;
    if (clientCount > 1) figures.push(clientsFigure(this.report, phase, (range) => this.clients.within(range)));
    if (lanes) figures.push(lanes);
    if (this.clients) figures.push(this.clients);
    if (charts.latency.slice_count > 0) figures.push(latencyHeatFigure(phase));
    charts.calls.filter((call) => call.latency.slice_count > 0).forEach((call) => figures.push(callHeatFigure(phase, call)));
    if (has(charts.percentiles) || charts.calls.some((call) => has(call.percentiles))) figures.push(percentilesFigure(phase));
    if (has(charts.distribution)) figures.push(distributionFigure(phase));
    if (phase.regions_s) figures.push(regionsFigure(phase));
    if (phase.columns.lanes.lane.values.length > 1) figures.push(startFigure(phase));
    this.tables = figuresTables(phase).map((_, i) => h('div', { class: i < 2 ? 'card' : 'card wide' }));
    this.phasePlace.replaceChildren(
      h('div', { class: 'phase-head' }, h('h3', {}, phase.shown_name), this.headline,
        h('p', { class: 'note' }, details(phase)),
        limitsOf(phase),
        h('p', { class: 'marks' }, marksOf(phase))),
      h('div', { class: 'grid' }, figures.map((figure) => figure.element), this.tables));
    this.showHeadline();
  }

  showHeadline() {
    if (!this.phase) return;
    const unit = unitOf(this.phase);
    const value = number(rateIn(unit, this.phase.headline)), worst = severityOf(this.phase);
    this.headline.replaceChildren(h('strong', { class: severityStyle(worst) }, worst === 'invalid' ? h('s', {}, value) : value), ` ${unit.name}`);
    this.clients?.draw();
    figuresTables(this.phase).forEach((part, i) => this.tables[i].replaceChildren(table(part)));
  }
}
