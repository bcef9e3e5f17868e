// Reads the data of the page and builds the page that it is for: of a run, a comparison, a history, a validation,
// or capacity measurements.
import { CapacityPage } from './capacity.js';
import { restoreChoices } from './choices.js';
import { ComparisonPage } from './compare.js';
import { readData, reportOf } from './data.js';
import { h } from './dom.js';
import { HistoryPage } from './history.js';
import { ReportPage } from './report.js';
import { ValidationPage } from './validate.js';

function pageOf(data, place) {
  const { text } = data;
  if (text.comparison) return new ComparisonPage(text.comparison, text.words, place);
  if (text.history) return new HistoryPage(text.history, text.words, place);
  if (text.validation) return new ValidationPage(text.validation, place);
  if (text.capacity) return new CapacityPage(text.capacity, place);
  return new ReportPage(reportOf(data), place);
}

async function start() {
  const place = document.getElementById('page');
  restoreChoices();
  try {
    const element = document.getElementById('data');
    const data = await readData(element.textContent);
    element.remove();
    pageOf(data, place).build();
  } catch (error) {
    place.replaceChildren(h('p', { class: 'loading', role: 'alert' },
      `This page cannot be shown (${error.message}). The figures are in the results beside it; a newer browser may help.`));
    throw error;
  }
  place.removeAttribute('aria-busy');
  performance.mark('interactive');
}

start();
