// The page of capacity measurements, of runs on simulated storage, as a reader has it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { csvRows, cleanUp, downloaded, drawn, launch, openPage, paperOf, rowsOf, scratch, scratchDirectory } from './browser.mjs';

const STORAGE = 'sim:service=5ms,contention=0.05,crosstalk=0.002';
let browser, run;

const reportOf = (out) => JSON.parse(readFileSync(join(out, 'capacity.json'), 'utf8'));

// Where other programs use the processors, the rates may fit no law, so that there is no curve to draw, or no load may
// meet the SLO, which exit code 4 says. Then it measures again.
function measure(label) {
  for (let attempt = 1; ; ++attempt) {
    try {
      const out = measureOnce(label);
      if (attempt === 4 || reportOf(out).scalings[0].usl) return out;
    } catch (failed) {
      if (attempt === 4 || failed.status !== 4) throw failed;
    }
  }
}

function measureOnce(label) {
  const path = mkdtempSync(join(scratch, 'path-')), out = join(path, 'out');
  execFileSync(process.env.CLUSTER_IOBENCH, ['capacity', '--engine', STORAGE, '-t', '8', '--time', '0.4', '--warmup', '0.1',
    '--repeat', '2', '--points', '4', '--slo', 'mean<=20ms', '--load', '100', '--label', label, '--path', path, '--out', out], { stdio: 'pipe' });
  return out;
}

// The page of these runs; its directory.
function pageOf(...runs) {
  const directory = scratchDirectory();
  execFileSync(process.env.CLUSTER_IOBENCH, ['capacity', ...runs.flatMap((out) => ['--saved', out]), '--format', 'html',
    '--output', join(directory, 'report.html')], { stdio: 'pipe' });
  return directory;
}

before(async () => {
  browser = await launch();
  run = measure('monday <b>');
});
after(async () => {
  await browser?.close();
  cleanUp();
});

async function withPage(runs, body, options = {}) {
  const page = await openPage(browser, pageOf(...runs), options);
  try {
    await body(page, reportOf(runs[0]));
    assert.deepEqual(page.problems, []);
  } finally {
    await page.close();
  }
}

test('the answers come first, and are those of the report', () => withPage([run], async (page, report) => {
  const text = await page.locator('[data-answers]').textContent();
  assert.ok(text.includes(report.slo.text));
  assert.ok(text.includes('Highest rate') && text.includes('Headroom'));
  for (const { question, answer } of report.answers) assert.ok(text.includes(question) && text.includes(answer));
  for (const warning of report.warnings) assert.ok(text.includes(warning));
}));

test('scaling has its points, the fit and its band, and a table with every figure', () => withPage([run], async (page, report) => {
  const figure = await drawn(page, 'scaling-lanes');
  const traces = await figure.locator('.chart').evaluate((chart) => chart.data.map(({ name, x, y }) => ({ name, x: [...x], y: [...y] })));
  assert.deepEqual(traces.map(({ name }) => name), ['95 %', 'fit', 'measured']);
  const { levels, usl } = report.scalings[0];
  assert.deepEqual(traces[2].y, levels.map((level) => level.median_ops_per_s));
  assert.deepEqual(traces[1].y, usl.curve_ops_per_s);
  assert.equal(Math.max(...traces[1].x), 2 * Math.max(...levels.map((level) => level.n)), 'nothing is drawn past twice what was measured');
  await figure.getByRole('button', { name: 'Table' }).click();
  assert.equal((await rowsOf(figure.locator('table'))).length, levels.length);
  const csv = csvRows(String(await downloaded(page, () => figure.getByRole('button', { name: /as CSV/ }).click())));
  assert.deepEqual(csv.slice(1).map((row) => Number(row[2])), levels.map((level) => level.median_ops_per_s));
}));

test('the load curve has mean and p99, and the SLO as a line', () => withPage([run], async (page, report) => {
  const figure = await drawn(page, 'load-curve');
  const { names, lines, rates } = await figure.locator('.chart').evaluate((chart) => ({ names: chart.data.map(({ name }) => name),
    rates: [...chart.data[0].x], lines: chart.layout.shapes.map(({ x0, y0 }) => [x0, y0]) }));
  assert.deepEqual(names, ['mean', 'p99']);
  assert.deepEqual(rates, report.curve.map((point) => point.achieved_per_s));
  assert.deepEqual(lines[0], [0, 20_000]);
  if (report.slo.max_ops_per_s > 0) assert.equal(lines[1][0], report.slo.max_ops_per_s);
}));

test('several runs are laid over each other', () => withPage([run, measure('tuesday')], async (page) => {
  const figure = await drawn(page, 'load-curve');
  assert.deepEqual(await figure.locator('.chart').evaluate((chart) => chart.data.map(({ name }) => name)),
    ['monday &lt;b&gt;: mean', 'monday &lt;b&gt;: p99', 'tuesday: mean', 'tuesday: p99']);
  assert.equal(await page.locator('[data-answers]').count(), 2);
}));

test('a run writes its page, and so does report', async () => {
  const written = readFileSync(join(run, 'report.html'), 'utf8');
  execFileSync(process.env.CLUSTER_IOBENCH, ['report', run, '--format', 'html', '--force'], { stdio: 'pipe' });
  assert.equal(readFileSync(join(run, 'report.html'), 'utf8'), written);
  const page = await openPage(browser, run);
  const findings = await page.locator('.finding').allTextContents();
  assert.deepEqual(findings.map((text) => /^(Highest rate|Load with|Headroom)/.exec(text)?.[1]), ['Highest rate', 'Load with', 'Headroom']);
  for (const text of findings) assert.match(text, /(not sure because .|sure)/);
  assert.ok((await page.locator('.finding').first().boundingBox()).y < 500, 'the answers come first');
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('on paper there is every answer, and tables in place of charts', () => withPage([run], async (page, report) => {
  const { text, cut } = await paperOf(page), plain = (part) => part.replace(/\s+/g, ' ');
  assert.deepEqual(cut, []);
  for (const part of [report.slo.text, ...report.warnings, ...report.answers.flatMap(({ question, answer }) => [question, answer]), 'Highest rate', 'Headroom', 'Load curve']) {
    assert.ok(text.includes(plain(part)), `${part} is not in ${text}`);
  }
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));  // what was printed has gone with the end of printing
  assert.equal(await page.locator('#printed table').last().locator('tbody tr').count(), report.slo.probes.length);
}));

test('in the dark and on a narrow screen', () => withPage([run], async (page) => {
  await drawn(page, 'scaling-lanes');
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the screen');
}, { colorScheme: 'dark', viewport: { width: 400, height: 800 } }));
