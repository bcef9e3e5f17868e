// The pages of comparisons and histories as a reader has them: opened as files, without network, in a browser.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  assertShows, cleanUp, csvRows, downloaded, drawn, launch, numberIn, openPage, paperOf, resultOf, rowsOf, runProgram, sampleOf, scratchDirectory,
} from './browser.mjs';

const MIB = 1024 ** 2;
const golden = (name) => join(dirname(fileURLToPath(import.meta.url)), '..', 'unit', 'golden', name);
let browser, comparison, history;

before(async () => {
  browser = await launch();
  comparison = sampleOf('comparison', golden('compare.textproto'));
  history = sampleOf('history', golden('history.textproto'));
});
after(async () => {
  await browser?.close();
  cleanUp();
});

// Each test opens its own page, which must end without errors.
function pageTest(name, directory, body, options = {}) {
  test(name, async () => {
    const page = await openPage(browser, directory(), options);
    try {
      await body(page, resultOf(directory()));
      assert.deepEqual(page.problems, []);
    } finally {
      await page.close();
    }
  });
}
const comparisonTest = (name, body, options) => pageTest(name, () => comparison, body, options);
const historyTest = (name, body, options) => pageTest(name, () => history, body, options);

// The comparison or history of results, as page and as JSON, in a directory like those of samples.
function compared(command, ...results) {
  const directory = scratchDirectory();
  const run = (format, file) =>
    execFileSync(process.env.CLUSTER_IOBENCH, [command, ...results, '--format', format, '--output', join(directory, file)], { stdio: 'pipe' });
  run('html', 'report.html');
  run('json', 'result.json');
  return directory;
}

const tableOf = (page, id, index = 0) => page.locator(`[data-table="${id}"] table`).nth(index);
const marksIn = (element) => element.locator('.chart').evaluate((chart) =>
  chart.querySelectorAll('.scatterlayer .point, .barlayer .point, .heatmaplayer image').length);
const ratioText = (value) => (value === null ? '–' : value < 10 ? value.toFixed(3) : value.toFixed(1));

// The table of verdicts against the phases of `report` that are of the same run.
function assertVerdicts(rows, phases) {
  assert.equal(rows.length, phases.length);
  phases.forEach((phase, i) => {
    const row = rows[i], factor = phase.metadata ? 1 : MIB;
    assert.equal(row[1], phase.metadata ? 'ops/s' : 'MiB/s');
    assertShows(row[2], phase.baseline.rate / factor, `A in row ${i}`);
    assertShows(row[3], phase.compared.rate / factor, `the other run in row ${i}`);
    assert.equal(row[4], ratioText(phase.rate.ratio));
    assert.equal(row[5], phase.rate.low === null ? '–' : `${ratioText(phase.rate.low)} to ${ratioText(phase.rate.high)}`);
    assert.ok(row[7].endsWith(phase.rate.verdict), row[7]);
    assert.equal(row[10], ratioText(phase.latency_p99.ratio));
    assert.ok(row[11].endsWith(phase.latency_p99.verdict), row[11]);
    assert.ok(row[12].includes(phase.verdict), row[12]);
  });
}

test('two runs and the page of their comparison have the same figures', async () => {
  const options = ['-t', '2', '-i', '0', '-i', '1', '-+n', '-r', '4k', '-s', '256k', '--time', '0.3', '--repeat', '3'];
  const fast = runProgram(...options, '-+O', '400'), slow = runProgram(...options, '-+O', '200');
  const directory = compared('compare', fast, slow), report = resultOf(directory);
  const page = await openPage(browser, directory);
  assert.equal(report.phases.length, 2);
  const [{ worse }] = report.counts;
  assert.match(await page.locator('.verdict').first().textContent(), new RegExp(`^B against A of 2 phases: ${worse > 0 ? `${worse} worse` : ''}`));
  assertVerdicts(await rowsOf(tableOf(page, 'verdicts')), report.phases);
  const commands = await rowsOf(tableOf(page, 'commands'));
  assert.deepEqual(commands.find(([option]) => option === '-+O'), ['-+O', '400', '200']);
  assert.ok(!commands.some(([option]) => ['-t', '--time', '--out'].includes(option)), commands.join());
  await page.locator('#runs details summary').click();
  const fields = [...await rowsOf(tableOf(page, 'plan')), ...await rowsOf(tableOf(page, 'differences'))];
  assert.deepEqual(fields.map((row) => row.slice(0, 2)), report.differences.map(({ of, field }) => [of, field]));
  for (const id of ['ratios', 'rates', 'p99']) {
    const element = await drawn(page, id);
    assert.ok((await marksIn(element)) >= 2, `${id} is empty`);
  }
  const rates = await drawn(page, 'rates');
  await rates.getByRole('button', { name: 'Table' }).click();
  (await rowsOf(rates.locator('table'))).forEach((row, i) => {
    assertShows(row[1], report.phases[i].baseline.rate / MIB, 'A');
    assertShows(row[2], report.phases[i].compared.rate / MIB, 'B');
  });
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('single measurements show their percentiles on one scale for all phases', async () => {
  const options = ['-t', '2', '-i', '0', '-i', '1', '-+n', '-r', '4k', '-s', '256k', '--time', '0.3', '-+O', '400'];
  const directory = compared('compare', runProgram(...options), runProgram(...options)), report = resultOf(directory);
  const page = await openPage(browser, directory);
  const element = await drawn(page, 'percentiles');
  const range = () => element.locator('.chart').evaluate((chart) => chart._fullLayout.yaxis.range);
  const before = await range();
  const { percentiles } = report.phases[1].compared;
  assert.ok(percentiles.length > 3);
  await element.locator('select').selectOption('1');
  assert.deepEqual(await range(), before);
  await element.getByRole('button', { name: 'Table' }).click();
  const rows = await rowsOf(element.locator('table'));
  for (const { percent, us } of percentiles) assertShows(rows.find(([name]) => name === `${percent} %`)[2], us, `p${percent}`);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the maps of two sweeps have the ratios of the JSON, one scale, and their geometric means', async () => {
  const sweep = () => runProgram('-a', '-n', '64k', '-g', '128k', '-y', '16k', '-q', '64k', '-i', '0', '-i', '1');
  const directory = compared('compare', sweep(), sweep()), report = resultOf(directory);
  const page = await openPage(browser, directory);
  assert.ok(report.maps.length >= 4);
  const limits = new Set();
  for (const [i, map] of report.maps.entries()) {
    const element = await drawn(page, 'map', i);
    assert.equal(await marksIn(element), 1);
    limits.add(await element.locator('.chart').evaluate((chart) => `${chart._fullData[0].zmin} ${chart._fullData[0].zmax}`));
    assert.ok((await element.locator('.note').first().textContent()).startsWith(`geometric mean ${ratioText(map.geometric_mean.ratio)}`));
    await element.getByRole('button', { name: 'Table' }).click();
    const rows = await rowsOf(element.locator('table'));
    assert.deepEqual(rows.map((row) => row.slice(2)), map.cells.map((cell) => [ratioText(cell.ratio), cell.verdict]));
  }
  assert.equal(limits.size, 1);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the repetitions of a single run have their medians and charts', async () => {
  const out = runProgram('-t', '2', '-i', '0', '-+n', '-r', '4k', '-s', '256k', '--time', '0.2', '--repeat', '3');
  const directory = compared('compare', out), { repetitions } = resultOf(directory);
  const page = await openPage(browser, directory);
  const medians = await rowsOf(tableOf(page, 'medians'));
  assert.equal(medians.length, repetitions.length);
  assertShows(medians[0][3], repetitions[0].figures.median / MIB, 'median');
  const element = await drawn(page, 'repetitions');
  assert.ok((await marksIn(element)) >= 3);
  await element.getByRole('button', { name: 'Table' }).click();
  (await rowsOf(element.locator('table'))).forEach((row, i) => assert.equal(row[4], ratioText(repetitions[0].repetitions[i].of_median)));
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('without --output, the page goes to standard output, and the exit code is that of the gate', () => {
  const options = ['-t', '1', '-i', '0', '-+n', '-r', '4k', '-s', '64k', '--time', '0.2', '--repeat', '5'];
  // Twenty times apart: a busy machine makes both vary.
  const fast = runProgram(...options, '-+O', '1000'), slow = runProgram(...options, '-+O', '50');
  const run = spawnSync(process.env.CLUSTER_IOBENCH, ['compare', fast, slow, '--format', 'html', '--fail-under', '90'], { encoding: 'utf8', maxBuffer: 1e8 });
  assert.equal(run.status, 4, run.stderr);
  assert.match(run.stdout, /^<!doctype html>/);
  const directory = scratchDirectory(), file = join(directory, 'report.html');
  const again = (...more) => spawnSync(process.env.CLUSTER_IOBENCH, ['compare', fast, slow, '--format', 'html', '--output', file, ...more], { encoding: 'utf8' });
  assert.equal(again().status, 0);
  assert.match(again().stderr, /exists: name another file/);
  assert.equal(again('--force').status, 0);
  assert.equal(readFileSync(file, 'utf8').slice(0, 15), '<!doctype html>');
});

comparisonTest('what differs stands before the verdicts, and unlike plans before all', async (page, report) => {
  const heads = await page.locator('h2').allTextContents();
  assert.ok(heads.indexOf('Runs and how they differ') < heads.indexOf('Verdicts'));
  const boxes = await page.locator('.verdict').allTextContents();
  assert.ok(boxes.some((text) => /^Unlike plans/.test(text)), boxes.join());
  assert.ok(boxes.some((text) => /Gate failed: 1 phase below 95 %/.test(text)));
  assert.ok(boxes.some((text) => /B: phase 3 is damaged/.test(text)));
  assert.deepEqual(await rowsOf(tableOf(page, 'differences')), report.differences.map(({ of, field, values }) => [of, field, ...values.map((v) => v || '–')]));
});

comparisonTest('the tables of three runs have the figures of the JSON, those that are not known are dashes', async (page, report) => {
  for (const run of [1, 2]) {
    assertVerdicts(await rowsOf(tableOf(page, 'verdicts', run - 1)), report.phases.filter((phase) => phase.run === run));
  }
  const [first] = await rowsOf(tableOf(page, 'verdicts'));
  assert.match(first[13], /both: unflushed; B: cached/);
  assert.match(await page.locator('#verdicts > .note').textContent(), /read: only in A; stat: only in C/);
});

comparisonTest('ratios are saved as CSV with all digits', async (page, report) => {
  const button = page.getByRole('button', { name: 'Save B against A as CSV' });
  const [titles, ...rows] = csvRows(String(await downloaded(page, () => button.click())));
  report.phases.filter((phase) => phase.run === 1).forEach((phase, i) => {
    const cell = (title) => rows[i][titles.indexOf(title)];
    assert.equal(cell('ratio') === '' ? null : Number(cell('ratio')), phase.rate.ratio);
    assert.equal(cell('low') === '' ? null : Number(cell('low')), phase.rate.low);
    assert.equal(Number(cell('baseline_rate')), phase.baseline.rate);
    assert.equal(cell('verdict'), phase.rate.verdict);
  });
});

comparisonTest('every chart has content and a table, and both charts of ratios have one scale', async (page) => {
  const ids = await page.locator('[data-figure]').evaluateAll((figures) => figures.map((figure) => figure.dataset.figure));
  assert.deepEqual(ids, ['ratios', 'ratios-p99', 'bars', 'bars-ops', 'rates', 'rates-ops', 'p99', 'percentiles', 'surface', 'surface', 'surface', 'map']);
  for (const [place, id] of ids.entries()) {
    const element = await drawn(page, id, ids.slice(0, place).filter((before) => before === id).length);
    assert.ok((await marksIn(element)) > 0, `${id} is empty`);
    await element.getByRole('button', { name: 'Table' }).click();
    assert.ok((await element.locator('tbody tr').count()) > 0, `the table of ${id} is empty`);
    await element.getByRole('button', { name: 'Table' }).click();
  }
  const range = (id) => page.locator(`[data-figure=${id}] .chart`).evaluate((chart) => chart._fullLayout.xaxis.range);
  assert.deepEqual(await range('ratios'), await range('ratios-p99'));
  const errors = await page.locator('[data-figure=ratios] .chart').evaluate((chart) => chart.querySelectorAll('.errorbar path.xerror').length);
  assert.ok(errors >= 2, 'intervals are drawn');
});

comparisonTest('names that are HTML are shown as they are and do nothing', async (page, report) => {
  const rows = await rowsOf(tableOf(page, 'runs'));
  assert.equal(rows[1][1], report.runs[1].name);
  assert.equal(rows[1][1], 'out/<b> & "c"|d');
  await drawn(page, 'rates');
  assert.equal(await page.locator('#page script, #page b').count(), 0);
});

comparisonTest('the reader chooses the unit; metadata operations stay in ops/s', async (page, report) => {
  await page.getByRole('radio', { name: 'MB/s', exact: true }).check();
  const rows = await rowsOf(tableOf(page, 'verdicts'));
  assert.equal(rows[0][1], 'MB/s');
  assertShows(rows[0][2], report.phases[0].baseline.rate / 1e6, 'A');
  assert.equal(rows[2][1], 'ops/s');
  assertShows(rows[2][2], report.phases[2].baseline.rate, 'A');
});

comparisonTest('the page can be used with the keyboard alone', async (page) => {
  const seen = new Set();
  for (let i = 0; i < 40; ++i) {
    await page.keyboard.press('Tab');
    seen.add(await page.evaluate(() => document.activeElement.name || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.slice(0, 14)));
  }
  for (const name of ['unit', 'Light / dark', 'Print', 'Save B against A as CSV', 'B against A']) assert.ok(seen.has(name), `${name} not in ${[...seen]}`);
});

comparisonTest('a narrow window shows everything without scrolling sideways', async (page) => {
  await drawn(page, 'ratios');
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
}, { viewport: { width: 390, height: 844 } });

const print = async (page) => {
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  return page.locator('#printed');
};

comparisonTest('on paper, there are all tables and no controls', async (page, report) => {
  const printed = await print(page), captions = await printed.locator('caption').allTextContents();
  assert.deepEqual(captions.slice(0, 4).map((text) => text.trim()), ['Runs', 'How the runs differ', 'B against A', 'C against A']);
  assert.match(captions[4], /write, 4 lanes, B\/A: geometric mean 0.958: not shown/);
  assertVerdicts(await rowsOf(printed.locator('table').nth(2)), report.phases.filter((phase) => phase.run === 1));
  assert.equal(await page.locator('button:visible, select:visible').count(), 0);
  const { text, cut } = await paperOf(page);
  assert.deepEqual(cut, []);
  for (const { rate, phase } of report.phases) {
    assert.ok(text.includes(phase.name), phase.name);
    if (Number.isFinite(rate.ratio)) assert.ok(text.includes(rate.ratio.toFixed(3)), `${phase.name}: ${rate.ratio}`);
  }
  assert.match(text, /Gate failed: 1 phase below 95 %/);
});

historyTest('a history has its trends, changes and points', async (page, report) => {
  const summary = await rowsOf(tableOf(page, 'summary'));
  assert.equal(summary.length, report.phases.length);
  assertShows(summary[0][2], report.phases[0].median / MIB, 'median');
  assert.match(summary[0][3], /falling/);
  assert.match(summary[0][7], /80 MiB\/s instead of 100 MiB\/s, ratio 0.800/);
  assert.match(summary[1][7], /not shown: 2 runs; at least 8 are needed/);
  assert.match(await page.locator('.verdict').allTextContents().then(String), /Gate failed: 1 phase below 90 %/);
  for (const [i, phase] of report.phases.entries()) {
    const element = await drawn(page, 'history', i);
    assert.equal(await marksIn(element), phase.points.filter((point) => point.figure.rate !== null).length);
    await element.getByRole('button', { name: 'Table' }).click();
    const rows = await rowsOf(element.locator('table'));
    phase.points.forEach((point, row) => {
      if (point.figure.rate === null) assert.equal(rows[row][2], '–');
      else assertShows(rows[row][2], point.figure.rate / (phase.metadata ? 1 : MIB), phase.phase.name);
      assert.equal(rows[row][3], ratioText(point.of_median));
    });
  }
  const all = await drawn(page, 'history-all');
  assert.equal(await marksIn(all), 4);
});

historyTest('a change of level is drawn where it happened', async (page) => {
  const element = await drawn(page, 'history');
  const shapes = await element.locator('.chart').evaluate((chart) => chart.layout.shapes.map(({ x0, x1, y0, yref }) => ({ x0, x1, y0, yref })));
  assert.deepEqual(shapes.filter(({ yref }) => yref === 'paper').map(({ x0 }) => x0), ['2026-03-03T10:15:00Z']);
  assert.deepEqual(shapes.filter(({ yref }) => yref !== 'paper').map(({ y0 }) => y0), [100, 80]);
  assert.match(await element.locator('.annotation').allTextContents().then(String), /× 0.800/);
});

historyTest('the history of runs on paper has a table for each phase', async (page, report) => {
  const printed = await print(page), captions = await printed.locator('caption').allTextContents();
  assert.equal(captions.length, 3 + report.phases.length);
  assert.equal(await page.locator('button:visible').count(), 0);
  const { text, cut } = await paperOf(page);
  assert.deepEqual(cut, []);
  for (const { phase } of report.phases) assert.ok(text.includes(phase.name), phase.name);
});

test('the history of real runs has a point for each', async () => {
  const runs = Array.from({ length: 3 }, () => runProgram('-t', '1', '-i', '0', '-+n', '-r', '4k', '-s', '64k'));
  const directory = compared('history', ...runs), report = resultOf(directory);
  const page = await openPage(browser, directory, { colorScheme: 'dark' });
  const element = await drawn(page, 'history');
  assert.equal(await marksIn(element), 3);
  await element.getByRole('button', { name: 'Table' }).click();
  (await rowsOf(element.locator('table'))).forEach((row, i) => assertShows(row[2], report.phases[0].points[i].figure.rate / MIB, `run ${i}`));
  assert.ok(numberIn((await rowsOf(tableOf(page, 'summary')))[0][2]) > 0);
  assert.deepEqual(page.problems, []);
  await page.close();
});
