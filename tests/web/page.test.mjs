// The web page as a reader has it: opened as a file, without network, in a browser.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  assertShows, cleanUp, csvRows, downloaded, drawn, figure, launch, numberIn, openPage, paperOf, resultOf, rowsOf, runProgram, sample,
  scratchDirectory,
} from './browser.mjs';

const MIB = 1024 ** 2;
let browser, rich;

before(async () => {
  browser = await launch();
  rich = sample('rich').directory;
});
after(async () => {
  await browser?.close();
  cleanUp();
});

// Tests share no page: each opens its own, which must end without errors.
function pageTest(name, directory, options, body) {
  test(name, async () => {
    const page = await openPage(browser, directory(), options);
    try {
      await body(page);
      assert.deepEqual(page.problems, []);
    } finally {
      await page.close();
    }
  });
}
const richTest = (name, body, options = {}) => pageTest(name, () => rich, options, body);

const headlines = (page) => page.locator('#overview tbody tr').evaluateAll((rows) => rows.map((row) => ({
  name: row.querySelector('a').textContent, value: row.querySelector('.value').textContent,
  unit: row.querySelector('.unit').textContent })));

test('a run writes its page, which shows the figures of its result.json', async () => {
  const out = runProgram('-t', '2', '-i', '0', '-i', '1', '-s', '4m', '-r', '64k', '--label', 'first & only <run>');
  const page = await openPage(browser, out);
  const { phases } = resultOf(out);
  const shown = await headlines(page);
  assert.equal(shown.length, phases.length);
  phases.forEach((phase, i) => {
    assert.equal(shown[i].name, phase.name);
    assert.equal(shown[i].unit, 'MiB/s');
    assertShows(shown[i].value, phase.headline.bytes_per_s / MIB, phase.name);
  });
  assert.equal(await page.locator('h1').textContent(), 'first & only <run>');
  const lanes = await drawn(page, 'lanes');
  await lanes.getByRole('button', { name: 'Table' }).click();
  const ofLanes = phases[0].clients[0].workers.flatMap((worker) => worker.lanes);
  (await rowsOf(lanes.locator('table'))).forEach((row, i) => {
    assert.equal(row[0], String(ofLanes[i].lane));
    assertShows(row[2], ofLanes[i].bytes_per_s / MIB, `lane ${i}`);
    assertShows(row[4], ofLanes[i].end_s, `end of lane ${i}`);
  });
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('a file of somebody else is not replaced by a page, and ours is', () => {
  const directory = scratchDirectory(), options = ['-t', '1', '-i', '0', '-s', '64k', '--path', directory, '--out', directory];
  const run = (...more) => spawnSync(process.env.CLUSTER_IOBENCH, [...options, ...more], { encoding: 'utf8' });
  writeFileSync(`${directory}/report.html`, '<!doctype html>my thesis');
  assert.match(run().stderr, /report\.html is not a cluster-iobench report and is left alone/);
  assert.equal(readFileSync(`${directory}/report.html`, 'utf8'), '<!doctype html>my thesis');
  rmSync(`${directory}/report.html`);
  assert.equal(run('--force').status, 0);
  const first = readFileSync(`${directory}/report.html`, 'utf8');
  assert.equal(run('--force').status, 0);
  assert.notEqual(readFileSync(`${directory}/report.html`, 'utf8'), first);
});

test('a run on each of two paths has a table of both, with the unit of each row', async () => {
  const first = scratchDirectory();
  const out = runProgram('-t', '2', '--op', 'write,create', '-s', '4m', '-r', '64k', '--items', '20', '--path', first, '--each-path');
  const page = await openPage(browser, out);
  const { phases } = resultOf(out);
  assert.equal(phases.length, 4);
  assert.equal(phases[0].target, first);
  const overview = await rowsOf(page.locator('#overview table'));
  const inMicros = { ns: 1e-3, us: 1, µs: 1, ms: 1e3, s: 1e6 };
  overview.forEach(([, , latency], i) => assert.deepEqual(
    latency.split(' / ').map((text) => Number((numberIn(text.split(' ')[0]) * inMicros[text.split(' ')[1]]).toPrecision(3))),
    ['p50', 'p95', 'p99'].map((key) => Number((phases[i].latency_us[key] * (1 + 1e-12)).toPrecision(3)))));
  const targets = await drawn(page, 'targets');
  assert.equal(await targets.locator('.point').count(), 2, 'ops/s are not on the axis of MiB/s');
  await targets.getByRole('button', { name: 'Table' }).click();
  const rows = await rowsOf(targets.locator('table'));
  assert.deepEqual(rows.map((row) => row[1]), ['MiB/s', 'ops/s']);
  for (const path of [0, 1]) {
    assertShows(rows[0][2 + path], phases[2 * path].headline.bytes_per_s / MIB, phases[2 * path].name);
    assertShows(rows[1][2 + path], phases[2 * path + 1].headline.ops_per_s, phases[2 * path + 1].name);
  }
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the command of a cell makes a run of just that phase', async () => {
  const out = runProgram('-a', '-n', '64k', '-g', '128k', '-y', '16k', '-q', '64k', '-i', '0', '-i', '1', '-e');
  const page = await openPage(browser, out);
  const select = page.locator('.cell-command select');
  const label = (await select.locator('option').allTextContents()).find((text) => /^random|^read,/.test(text) && /128 KiB, records of 16 KiB/.test(text));
  await select.selectOption({ label });
  const command = await page.locator('.command code').textContent();
  const plan = execFileSync('/bin/sh', ['-c', `${command.replace(/^\S+/, '"$CLUSTER_IOBENCH"')} --print-plan`], { encoding: 'utf8' });
  assert.match(plan, /name: read\b/);
  assert.match(plan, /record_bytes: (16k|16384)\b/i);
  assert.match(plan, /bytes_per_lane: (128k|131072)\b/i);
  assert.equal(plan.match(/assignments:/g).length, 1, plan);
  await page.close();
});

test('a sweep on each of two paths has charts of each, and the command of a cell is for its path', async () => {
  const first = scratchDirectory();
  const out = runProgram('-a', '-n', '64k', '-g', '128k', '-y', '16k', '-q', '64k', '-i', '0', '-i', '1', '--path', first, '--each-path');
  const page = await openPage(browser, out);
  const { phases } = resultOf(out), targets = [...new Set(phases.map((phase) => phase.target))];
  assert.equal(targets.length, 2);
  const titles = await page.locator('[data-figure=sweep] h3').allTextContents();
  for (const target of targets) {
    assert.equal(titles.filter((title) => title.endsWith(` on ${target}`)).length, titles.length / 2, titles.join());
    const index = titles.indexOf(`read on ${target}`);
    const element = await drawn(page, 'sweep', index);
    await element.getByRole('button', { name: 'Table' }).click();
    const cells = phases.filter((phase) => phase.operation === 'read' && phase.target === target);
    const rows = await rowsOf(element.locator('table'));
    assert.equal(rows.flat().length, 2 + cells.length);
    cells.forEach((phase) => {
      const column = 1 + [16, 32, 64].indexOf(phase.record_bytes / 1024), row = [64, 128].indexOf(phase.bytes_per_lane / 1024);
      assertShows(rows[row][column], phase.headline.bytes_per_s / MIB, phase.name);
    });
  }
  const select = page.locator('.cell-command select');
  const label = (await select.locator('option').allTextContents()).find((text) => text.startsWith('read, 128 KiB, records of 16 KiB') && text.endsWith(targets[1]));
  await select.selectOption({ label });
  const command = await page.locator('.command code').textContent();
  const plan = execFileSync('/bin/sh', ['-c', `${command.replace(/^\S+/, '"$CLUSTER_IOBENCH"')} --print-plan`], { encoding: 'utf8' });
  assert.equal(plan.match(/assignments:/g).length, 1, plan);
  assert.ok(plan.includes(`path: ${targets[1]}`) && !plan.includes(targets[0]), plan);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the cells of a repeated sweep are medians, as in every other format', async () => {
  const out = runProgram('-a', '-n', '64k', '-g', '128k', '-y', '16k', '-q', '32k', '-i', '0', '--repeat', '3');
  const page = await openPage(browser, out);
  const [surface] = resultOf(out).surfaces;
  const element = await drawn(page, 'sweep');
  await element.getByRole('button', { name: 'Table' }).click();
  const shown = (await rowsOf(element.locator('table'))).flatMap((row) => row.slice(1));
  assert.deepEqual(surface.cells.map((cell) => cell.count), [3, 3, 3, 3]);
  surface.cells.forEach((cell, i) => assertShows(shown[i], cell.rate / MIB, `cell ${i}`));
  await page.close();
});

test('the phases of a suite with a size and a record each are no sweep, so the table shows them all', async () => {
  const out = runProgram('--suite', 'io500-like', '-s', '2m', '--items', '20');
  const page = await openPage(browser, out);
  const { phases, score } = resultOf(out);
  assert.deepEqual((await headlines(page)).map(({ name }) => name), phases.map(({ name }) => name));
  assert.equal(await page.locator('#sweep').count(), 0);
  assert.ok((await page.locator('body').textContent()).includes(`score ${Number(score.value.toPrecision(4))} [INVALID]`));
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('with a rate, the latencies are response times, and service and lag are named beside them', async () => {
  const out = runProgram('-t', '1', '-i', '1', '-+n', '-r', '4k', '-s', '64k', '--engine', 'sim:service=2ms', '--rate', '1000', '--even-rate', '--time', '1');
  const page = await openPage(browser, out);
  const { latency_us: latency, open_loop: open } = resultOf(out).phases[0];
  assert.equal(latency.p99, open.response_us.p99);
  const rows = Object.fromEntries(await page.locator('#phase table tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent))));
  assert.match(rows['asked for'], /^1,000 ops\/s, evenly spaced$/);
  assert.match(rows['of what was due'], /% done, .* ops not begun$/);
  const times = [['latency (response), p50', latency.p50], ['service, p50', open.service_us.p50], ['lag, p50', open.lag_us.p50]];
  for (const [name, us] of times) assert.ok(rows[name], `${name}: ${us}, in ${Object.keys(rows).join()}`);
  assert.notEqual(rows['latency (response), p50'], rows['service, p50']);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the phases of one worker alone are no cells of the sweep of all', async () => {
  const out = runProgram('-a', '-n', '64k', '-g', '128k', '-y', '16k', '-q', '32k', '-i', '0', '-+n', '--spawn', '2', '--per-client');
  const { phases } = resultOf(out), ofAll = phases.filter((phase) => phase.lane_count === 2);
  assert.equal(phases.length, 3 * ofAll.length, 'two workers alone, then both');
  const page = await openPage(browser, out);
  assert.equal(await page.locator('[data-figure=sweep]').count(), 1);
  const element = await drawn(page, 'sweep');
  await element.getByRole('button', { name: 'Table' }).click();
  const rows = await rowsOf(element.locator('table'));
  ofAll.forEach((phase) => {
    const column = 1 + [16, 32].indexOf(phase.record_bytes / 1024), row = [64, 128].indexOf(phase.bytes_per_lane / 1024);
    assertShows(rows[row][column], phase.headline.bytes_per_s / MIB, phase.name);
  });
  assert.equal(await page.locator('.cell-command select option').count(), 1 + ofAll.length);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the curve of percentiles has one line for each kind of ops of a mix', async () => {
  const page = await openPage(browser, runProgram('--op', 'random-mix', '-s', '1m', '-r', '4k', '-t', '1'));
  const element = await drawn(page, 'percentiles');
  const names = await element.locator('.chart').evaluate((chart) => chart._fullData.map(({ name }) => name));
  assert.deepEqual(names, ['all ops', 'read', 'write']);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('the plan on the page is one that --plan reads, and repeats the run', async () => {
  const out = runProgram('-t', '2', '--op', 'write', '--op', 'random-mix', '--op', 'create', '-s', '64k', '-r', '16k', '-w', '--items', '8');
  const page = await openPage(browser, out);
  await page.locator('#plan summary').click();
  const text = String(await downloaded(page, () => page.getByRole('button', { name: 'Save as plan.yaml' }).click()));
  assert.equal(await page.locator('#plan pre').textContent(), text);
  writeFileSync(`${out}/plan.yaml`, text);
  const print = (...options) => execFileSync(process.env.CLUSTER_IOBENCH, ['--plan', `${out}/plan.yaml`, ...options, '--print-plan'], { encoding: 'utf8' });
  const again = print();
  assert.equal(again.match(/assignments:/g).length, resultOf(out).phases.length);
  assert.match(again, new RegExp(`seed: ${resultOf(out).run.plan.seed}`));
  await page.close();
});

const ON_PHASE = ['throughput', 'clients-time', 'clients', 'lanes', 'latency-time', 'latency-time-fsync', 'percentiles', 'distribution', 'regions', 'start'];

richTest('every chart of a phase has content, and a table behind it', async (page) => {
  for (const id of ON_PHASE) {
    const element = await drawn(page, id);
    const marks = await element.locator('.chart').evaluate((chart) =>
      chart.querySelectorAll('.scatterlayer path.js-line, .barlayer .point path, .heatmaplayer image').length);
    assert.ok(marks > 0, `${id} is empty`);
    await element.getByRole('button', { name: 'Table' }).click();
    assert.ok((await element.locator('tbody tr').count()) > 1, `the table of ${id} is empty`);
    assert.ok((await element.locator('caption').textContent()).length > 5);
    assert.ok((await element.locator('th[scope=col]').count()) > 1);
  }
});

richTest('a flush call has a chart of its latency over time of its own', async (page) => {
  const ops = await drawn(page, 'latency-time'), calls = await drawn(page, 'latency-time-fsync');
  const shown = (element) => element.locator('.chart').evaluate((chart) => {
    const [map] = chart._fullData;
    return { lowest: map.y[0], text: map.customdata.flat().find((cell) => !cell.endsWith('<b>0 ops</b>')), bar: map.colorbar.title.text };
  });
  const [ofOps, ofCalls] = [await shown(ops), await shown(calls)];
  assert.ok(Math.abs(ofCalls.lowest / ofOps.lowest - 64) < 1e-6, 'its own latencies');
  assert.match(ofOps.text, /ops<\/b>$/);
  assert.match(ofCalls.text, /fsync calls<\/b>$/);
  assert.equal(ofCalls.bar, 'fsync calls');
  await calls.getByRole('button', { name: 'Table' }).click();
  assert.match(await calls.locator('caption').textContent(), /^Fsync calls of write/);
});

richTest('the curve of percentiles has one line for the ops and one for each flush call', async (page) => {
  const element = await drawn(page, 'percentiles');
  const [ops, fsync] = await element.locator('.chart').evaluate((chart) => chart._fullData.map(({ name, y }) => ({ name, y })));
  assert.deepEqual([ops.name, fsync.name], ['ops', 'fsync']);
  assert.equal(fsync.y.length, 3, '50, 75 and the max of four calls');
  assert.ok(Math.abs(fsync.y[0] / 2097.152 - 1) < 0.008 && Math.abs(fsync.y[2] - 4194.304) < 1e-6, fsync.y);
  await element.getByRole('button', { name: 'Table' }).click();
  const rows = await rowsOf(element.locator('table'));
  assert.deepEqual(rows.map(([of]) => of), [...ops.y.map(() => 'ops'), ...fsync.y.map(() => 'fsync')]);
  assert.equal(rows.at(-1)[1], '100 %');
});

richTest('the table of the clients has their figures, the slowest first', async (page) => {
  const { clients } = resultOf(rich).phases[0];
  const element = await drawn(page, 'clients');
  await element.getByRole('button', { name: 'Table' }).click();
  const rows = await rowsOf(element.locator('table'));
  assert.equal(rows.length, clients.length);
  assert.equal(rows[0][0], 'node07');
  for (const row of rows) {
    const client = clients.find(({ host }) => host === row[0]);
    assertShows(row[1], client.bytes_per_s / MIB, row[0]);
    assertShows(row[4], client.latency_us.p99, `p99 of ${row[0]}`);
  }
});

richTest('the reader chooses the unit; metadata operations stay in ops/s', async (page) => {
  const { phases } = resultOf(rich);
  const expected = { 'MB/s': (h) => h.bytes_per_s / 1e6, 'ops/s': (h) => h.ops_per_s, 'MiB/s': (h) => h.bytes_per_s / MIB };
  for (const [unit, value] of Object.entries(expected)) {
    await page.getByRole('radio', { name: unit, exact: true }).check();
    const shown = await headlines(page);
    assertShows(shown[0].value, value(phases[0].headline), unit);
    assert.equal(shown[0].unit, unit);
    assert.equal(shown[3].unit, 'ops/s');
    assertShows(shown[3].value, phases[3].headline.ops_per_s, 'create');
    assertShows(await page.locator('.big strong').textContent(), value(phases[0].headline), unit);
    await drawn(page, 'throughput');
    await page.waitForFunction((name) => document.querySelector('[data-figure=throughput] .ytitle')?.textContent.startsWith(name), unit);
  }
});

richTest('names that are HTML are shown as they are and do nothing', async (page) => {
  await drawn(page, 'clients-time');
  await drawn(page, 'lanes');
  const names = await page.locator('[data-figure=lanes] option').allTextContents();
  assert.ok(names.includes('<script>alert(1)</script>'), names.join());
  assert.ok(names.includes('node,"five" </script><b>&amp;'));
  const labels = await page.locator('[data-figure=clients-time] .ytick').allTextContents();
  assert.ok(labels.includes('<script>alert(1…'), labels.join());
  const [, fifth] = await page.locator('[data-figure=clients-time]').evaluate((figure) => {
    const names = figure.querySelector('.chart').data[0].customdata.map((row) => row[0]);
    return names.filter((name) => /^(&lt;script|node,)/.test(name)).sort();
  });
  assert.equal(fifth, 'node,"five" &lt;/script&gt;&lt;b&gt;&amp;amp;');  // what plotly.js shows as text
  assert.equal(await page.locator('h1').textContent(), 'Acceptance of filer-7 <b>bold</b>');
  assert.equal(await page.locator('#page script, #page b').count(), 0);
});

richTest('a click on a client in the heat map shows its lanes', async (page) => {
  const element = await drawn(page, 'clients-time');
  const plot = await element.locator('.nsewdrag').first().boundingBox();
  await page.mouse.click(plot.x + plot.width / 2, plot.y + plot.height * (1.5 / 12));  // the second row
  const chosen = page.locator('[data-figure=lanes] select');
  await page.waitForFunction(() => document.querySelector('[data-figure=lanes] select').selectedOptions[0].textContent === 'node03');
  assert.equal(await chosen.evaluate((select) => select.selectedOptions[0].textContent), 'node03');
});

richTest('the page can be used with the keyboard alone', async (page) => {
  const seen = new Set();
  for (let i = 0; i < 30; ++i) {
    await page.keyboard.press('Tab');
    seen.add(await page.evaluate(() => {
      const active = document.activeElement;
      return active.name || active.textContent.slice(0, 14) || active.getAttribute('aria-label');
    }));
  }
  for (const name of ['unit', 'Light / dark', 'write', 'straggler']) assert.ok(seen.has(name), `${name} not in ${[...seen]}`);
  const mark = page.locator('#overview .mark').first();
  assert.equal(await mark.locator('.tip').isVisible(), false);
  await mark.locator('button').focus();
  assert.equal(await mark.locator('.tip').isVisible(), true);
  assert.match(await mark.locator('.tip').textContent(), /compare its mount options/);
  // Of a mark that the table has, where its rule is.
  const known = page.locator('#overview .mark', { hasText: 'cached' }).first();
  assert.match(await known.locator('.tip').textContent(), /\(client memory: docs\/marks\.md#cached\)$/);
  await page.locator('#phase-select').focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => document.querySelector('.phase-head h3').textContent === 'read');
  assert.match(page.url(), /#phase-1$/);
});

richTest('the address names the phase', async (page) => {
  assert.equal(await page.locator('.phase-head h3').textContent(), 'random read');
}, { hash: '#phase-2' });

richTest('a phase shows what set its pace, strongest first, with what to try', async (page) => {
  const limits = page.locator('.phase-head .limits');
  assert.deepEqual(await limits.locator('dt').allTextContents(), ['Limited by network of node01: 97 % of eth0',
    'Also by one client: node07 at 45 % of the others\' rate per lane']);
  assert.deepEqual(await limits.locator('dd').allTextContents(), ['Try: more clients or faster links (docs/marks.md#network_bound)',
    'Try: compare its mount (docs/marks.md#network_bound)']);
}, { hash: '#phase-0' });

richTest('a phase of which the limit is unknown shows none', async (page) => {
  assert.equal(await page.locator('.phase-head .limits').count(), 0);
}, { hash: '#phase-1' });

test('a run without phases, and a phase without figures, have a page', async () => {
  const page = await openPage(browser, sample('empty').directory);
  assert.match(await page.locator('main').textContent(), /did not finish.*no worker joined within 30 s.*This run has no phases/s);
  assert.deepEqual(page.problems, []);
  await page.close();
  const { phases } = resultOf(rich);
  const other = await openPage(browser, rich, { hash: `#phase-${phases.at(-1).index}` });
  assert.equal(await other.locator('.phase-head h3').textContent(), 'interrupted');
  assert.match(await other.locator('.big').textContent(), /^–/);
  assert.deepEqual(other.problems, []);
  await other.close();
});

richTest('criteria, marks and limits stand first', async (page) => {
  assert.match(await page.locator('.verdict').first().textContent(), /2 of 6 criteria not met, 1 of 6 criteria could not be decided/);
  const measured = await page.locator('.verdict').first().locator('li').allTextContents();
  assert.deepEqual(measured.map((text) => text.replace(/^.* measured /, '')), ['1,125 MiB/s in write', '3.69 ms in read',
    '48,200 ops/s in create', '0.9810 in read', '2 marks in write', '? undecided read:p99.9<=9ms it is marked cached']);
  assert.equal((await headlines(page)).length, resultOf(rich).phases.filter(({ name }) => !/sweep$/.test(name)).length);
  await page.getByRole('button', { name: 'Show the 125 cells' }).click();
  assert.equal((await headlines(page)).length, resultOf(rich).phases.length);
  const first = page.locator('#overview tbody tr').first();
  assert.match(await first.textContent(), /network of node01: 97 % of eth0/);
  const bars = await (await drawn(page, 'phases')).locator('.chart').boundingBox();
  assert.ok(bars.y + 80 < 900, 'the first headline is below the fold');
});

richTest('the first screen says where, how bad the marks are, and has all figures in one chart', async (page) => {
  assert.equal(await page.locator('.where').textContent(), '/mnt/filer 7: nfs4 from filer-7:/export vers=4.2, rsize=1048576, wsize=1048576, proto=tcp, nconnect=4');
  const verdict = page.locator('#figures-verdict');
  assert.ok((await verdict.getAttribute('class')).includes('bad'));
  const said = await verdict.locator('li').allTextContents();
  assert.match(said[0], /^✗ invalid partial in create, node02: 2 lanes failed/);
  assert.match(said[1], /^! doubtful cached in random read/);
  assert.equal(said.filter((text) => /^i note straggler in write, node07/.test(text)).length, 1, said.join('\n'));
  assert.ok(said.some((text) => /slow clients .*1 of 12 clients under 80 % of the median: node07 \(5\d %\)/.test(text)), said.join('\n'));
  assert.equal(await page.locator('#overview s').allTextContents().then(String), '48,200', 'what is invalid is struck out');
  const colourOf = (name) => page.locator('#overview tbody tr').filter({ has: page.getByRole('link', { name, exact: true }) }).first()
    .locator('strong.value').evaluate((strong) => getComputedStyle(strong).color);
  const text = await page.locator('body').evaluate((body) => getComputedStyle(body).color);
  assert.equal(await colourOf('write'), text, 'a figure with a note stands as any other');
  assert.notEqual(await colourOf('random read'), text, 'a doubtful figure is grey');
  const element = await drawn(page, 'phases');
  const traces = await element.locator('.chart').evaluate((chart) => chart.data.map(({ x, marker, text }) => ({ x: [...x], shapes: marker.pattern.shape, text })));
  const listed = resultOf(rich).phases.filter(({ name }) => !/sweep$/.test(name));
  assert.equal(traces.reduce((sum, { x }) => sum + x.length, 0), listed.length);
  assert.deepEqual([traces[0].text[0], traces[1].text[0], traces[1].shapes[0]], ['1,125 MiB/s', '48,200 ops/s', 'x']);
  assert.equal(traces[0].shapes[2], '/', 'random read is doubtful');
  const png = await downloaded(page, () => element.getByRole('button', { name: /as PNG/ }).click());
  assert.equal(String(png.subarray(1, 4)), 'PNG');
});

richTest('links go to the phase, and charts over time share their seconds', async (page) => {
  await page.locator('#overview tbody a', { hasText: 'random read' }).first().click();
  await page.waitForFunction(() => Math.abs(document.getElementById('phase').getBoundingClientRect().top) < 60);
  assert.equal(await page.locator('.phase-head h3').textContent(), 'random read');
  for (const id of ['throughput', 'clients-time', 'latency-time', 'server-0']) await drawn(page, id);
  await figure(page, 'throughput').locator('.chart').evaluate((chart) => chart.emit('plotly_relayout', { 'xaxis.range[0]': 10, 'xaxis.range[1]': 20 }));
  for (const id of ['clients-time', 'latency-time', 'server-0']) {
    await page.waitForFunction((name) => document.querySelector(`[data-figure=${name}] .chart`)._fullLayout.xaxis.range.join() === '10,20', id);
  }
  await figure(page, 'throughput').locator('.chart').evaluate((chart) => chart.emit('plotly_hover', { points: [{ x: 15 }] }));
  assert.equal(await page.locator('.cursor:not([hidden])').count(), 4);
});

// The contrast of two colours, as WCAG defines it.
function contrast(one, other) {
  const light = (rgb) => rgb.map((value) => value / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}
const rgbOf = (text) => (text[0] === '#' ? text.slice(1).match(/../g).map((part) => parseInt(part, 16)) : text.match(/\d+/g).map(Number));

richTest('cells are coloured from 0, and their texts can be read on them', async (page) => {
  await page.locator('#common-scale').uncheck();
  const element = await drawn(page, 'sweep');
  const { z, low, high, scale, inks } = await element.locator('.chart').evaluate((chart) => {
    const [map, texts] = chart._fullData;
    return { z: map.z.flatMap((row) => [...row]), low: map.zmin, high: map.zmax, scale: map.colorscale, inks: [...texts.textfont.color] };
  });
  assert.equal(low, 0);
  assert.equal(high, Math.max(...z.filter(Number.isFinite)));
  z.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    const upper = Math.max(1, scale.findIndex(([at]) => at >= value / high)), [[from, a], [to, b]] = [scale[upper - 1], scale[upper]];
    const share = (value / high - from) / (to - from), cell = rgbOf(a).map((channel, c) => channel + (rgbOf(b)[c] - channel) * share);
    assert.ok(contrast(cell, rgbOf(inks[i])) >= 4.4, `cell ${i}: ${inks[i]} on ${cell}`);
  });
  for (const id of ['clients-time', 'latency-time']) {
    assert.equal(await (await drawn(page, id)).locator('.chart').evaluate((chart) => chart._fullData[0].zmin), 0, id);
  }
});

richTest('charts are saved as PNG and as CSV with full precision', async (page) => {
  const element = await drawn(page, 'throughput');
  const png = await downloaded(page, () => element.getByRole('button', { name: /as PNG/ }).click());
  assert.deepEqual([...png.subarray(1, 4)].map((code) => String.fromCharCode(code)).join(''), 'PNG');
  assert.ok(png.length > 5000);
  const clients = await drawn(page, 'clients');
  const rows = csvRows(String(await downloaded(page, () => clients.getByRole('button', { name: /as CSV/ }).click())));
  const of = resultOf(rich).phases[0].clients;
  assert.equal(rows.length, of.length + 1);
  for (const row of rows.slice(1)) {
    const client = of.find(({ host }) => host === row[0]);
    assert.equal(Number(row[1]), client.bytes_per_s / MIB, row[0]);
  }
});

// Headless Chromium draws WebGL in software, and says that this is slow.
const OF_WEBGL = /GPU stall|GL Driver|WebGL|willReadFrequently/i;

// Clicks on a surface as a hand does: plotly.js looks in each frame what is below the pointer and whether a button is down.
async function clickSurface(page, element) {
  await element.scrollIntoViewIfNeeded();
  const box = await element.locator('canvas').first().boundingBox();
  for (let i = 0; i < 20 && await page.locator('.command code').count() === 0; ++i) {
    const x = box.x + box.width * (0.45 + 0.01 * i), y = box.y + box.height * 0.6;
    await page.mouse.move(x, y);
    await page.waitForTimeout(400);
    await page.mouse.down();
    await page.waitForTimeout(400);
    await page.mouse.up();
    await page.waitForTimeout(200);
  }
}

richTest('a sweep shows holes, cached cells and memory, has one scale, and turns into a surface', async (page) => {
  const element = await drawn(page, 'sweep');
  await element.getByRole('button', { name: 'Table' }).click();
  const cells = (await rowsOf(element.locator('table'))).flat();
  assert.equal(cells.filter((cell) => cell === '–').length, 1);
  await element.getByRole('button', { name: 'Table' }).click();
  const read = await drawn(page, 'sweep', 1);
  assert.match(await read.locator('.annotation').allTextContents().then(String), /clients' memory/);
  assert.match(await read.locator('.annotation').allTextContents().then(String), /L3 cache/);
  // 27 cached cells, each with an outline and two lines, and the lines of the level 3 cache and the memory
  assert.equal(await read.locator('.shapelayer path').count(), 27 * 3 + 2);
  const tops = () => page.locator('[data-figure=sweep] .chart').evaluateAll((charts) =>
    charts.map((chart) => chart._fullData[0].zmax ?? chart._fullData[0].cmax));
  const [one, other] = await tops();
  assert.ok(one > 0, 'a cell without a figure has no part in the scale');
  assert.equal(one, other);
  await page.locator('#common-scale').uncheck();
  await page.waitForFunction(() => {
    const [a, b] = [...document.querySelectorAll('[data-figure=sweep] .chart')].map((chart) => chart._fullData[0].zmax);
    return a !== b;
  });
  await page.locator('#sweep select').first().selectOption('surface');
  await read.locator('canvas').first().waitFor({ timeout: 60_000 });
  const traces = await read.locator('.chart').evaluate((chart) => chart._fullData.map(({ type, name, x }) => ({
    type, name, points: [...x].filter(Number.isFinite).length })));
  for (const name of ['L3 cache', "clients' memory", 'cached']) {
    assert.ok(traces.some((trace) => trace.type === 'scatter3d' && trace.name === name && trace.points > 8), `${name}: ${JSON.stringify(traces)}`);
  }
  const written = await element.locator('.chart').evaluate((chart) => chart._fullData.map(({ name }) => name));
  assert.ok(written.includes('L3 cache') && !written.includes('cached'), 'no cell of write is cached');
  assert.equal(await page.locator('.command code').count(), 0);
  await clickSurface(page, read);
  assert.match(await page.locator('.command code').textContent(), /--op read -r \d+[kmg] -s \d+[mg]$/);
  page.problems = page.problems.filter((text) => !OF_WEBGL.test(text));
});

richTest('strides, load, targets and repetitions are compared', async (page) => {
  for (const id of ['strides', 'load', 'targets', 'repetitions']) {
    const element = await drawn(page, id);
    assert.ok((await element.locator('.point').count()) > 0, id);
  }
});

richTest('each client alone stands beside what it has while all work', async (page) => {
  const element = await drawn(page, 'per-client');
  const traces = await element.locator('.chart').evaluate((chart) => chart._fullData.map(({ name, y, marker }) => (
    { name, y: [...y], hatched: [].concat(marker.pattern?.shape ?? []).filter(Boolean).length })));
  assert.deepEqual(traces.map(({ name }) => name), ['alone', 'together']);
  assert.deepEqual(traces[0].y.filter((value) => value < 100), [40]);
  assert.equal(traces[0].hatched, 1);
  assert.match(await element.locator('.note').textContent(), /52\.6 % of the sum/);
  await element.getByRole('button', { name: 'Table' }).click();
  const rows = await rowsOf(element.locator('table'));
  assert.deepEqual(rows.at(-1), ['all', '1,140', '–', '600.0']);
  await element.getByRole('button', { name: 'Table' }).click();
});

richTest('what has no chart has its table: layers in the unit that the reader chose, the score with its problems', async (page) => {
  const layers = page.locator('#layers [data-table=layers] table');
  assert.deepEqual((await rowsOf(layers)).map((row) => row.slice(0, 2)), [['disk', '1,907'], ['network', '1,144'], ['clients', '1,049']]);
  assert.match(await layers.locator('caption').textContent(), /Layers: random read <8k>.*Narrowest: the network: 97 % of its link/);
  assert.match(await page.locator('#score [data-table=score]').textContent(), /12\.3.*INVALID/);
  await page.getByRole('radio', { name: 'MB/s', exact: true }).check();
  assert.deepEqual((await rowsOf(layers)).map((row) => row[1]), ['2,000', '1,200', '1,100']);
});

richTest('what is not known is no figure: a clock error, a variation of lanes', async (page) => {
  const details = page.locator('#hosts details');
  await details.locator('summary').click();
  await details.locator('table').waitFor();
  const errorIn = (rows, host) => rows.find(([name]) => name === host)[8];
  const rows = await rowsOf(details.locator('table'));
  assert.equal(errorIn(rows, 'node02'), '4,000');
  assert.equal(errorIn(rows, 'node03'), '–');
  const saved = csvRows(String(await downloaded(page, () => details.getByRole('button', { name: 'CSV' }).click())));
  assert.equal(errorIn(saved, 'node02'), '4000');
  assert.equal(errorIn(saved, 'node03'), '');
  assert.match(await figure(page, 'clients').locator('.note').textContent(), /Jain 0\.981 .*CoV –/);
}, { hash: '#phase-1' });

richTest('clients that differ are named with what differs', async (page) => {
  const rows = await rowsOf(page.locator('#hosts table').first());
  assert.deepEqual(rows.find(([what]) => what === 'kernel'), ['kernel', '6.1.0-21-amd64 (11 clients)', '6.1.0-18-amd64', 'node07']);
  assert.ok(rows.some(([what, , value]) => /wsize/.test(what) && value === '65536'));
  assert.ok(rows.some(([what, usual, value]) => /read_ahead_kb/.test(what) && /^15360/.test(usual) && value === '128'));
  assert.ok(!rows.some(([what]) => /clientaddr/.test(what)));
});

richTest('a phase on NFS has a table of its requests, and where its bytes came from', async (page) => {
  const index = await page.locator('#phase-select option').evaluateAll((options) => options.find((option) => option.textContent.includes('random read')).value);
  await page.locator('#phase-select').selectOption(index);
  const requests = page.locator('table', { has: page.locator('caption', { hasText: 'NFS requests: random read' }) });
  const rows = await rowsOf(requests.first());
  assert.deepEqual(rows.map((row) => row.slice(0, 3)), [['READ', '1,200', '1.00'], ['GETATTR', '24', '0.0200']]);
  const others = await rowsOf(page.locator('table', { has: page.locator('caption', { hasText: 'Latency and surroundings' }) }).first());
  const value = (name) => others.find(([figure]) => figure === name)?.[1];
  assert.equal(value('read from the server'), '880 MiB (88.0 %)');
  assert.match(value("read from the clients' own memory"), /^120 MiB/);
  assert.equal(value('NFS, bytes per READ'), '512 KiB (rsize 1 MiB)');
  assert.equal(value('NFS, what went wrong'), '3 delays');
});

richTest('the parts of a mix have a table of what they were asked for and did', async (page) => {
  const index = await page.locator('#phase-select option').evaluateAll((options) => options.find((option) => option.textContent.includes('random read')).value);
  await page.locator('#phase-select').selectOption(index);
  const parts = page.locator('table', { has: page.locator('caption', { hasText: 'Parts: random read' }) });
  assert.deepEqual(await rowsOf(parts.first()), [['random-read <8 KiB>', '9', '800.0', '812.5', '6.500', '250 µs', '~9 ms'],
    ['stat', '3', '100.0', '98.00', '–', '250 µs', '~9 ms']]);
});

richTest('a server that had a sampler is drawn below what the clients moved', async (page) => {
  const index = await page.locator('#phase-select option').evaluateAll((options) => options.find((option) => option.textContent.includes('random read')).value);
  await page.locator('#phase-select').selectOption(index);
  const element = await drawn(page, 'server-0');
  assert.equal(await element.locator('h3').textContent(), 'Server filer-7 <i>&</i>');
  const traces = await element.locator('.chart').evaluate((chart) => chart._fullData.map(({ name, y, yaxis }) => ({ name, last: y.at(-1), yaxis })));
  const last = (name) => traces.find((trace) => trace.name === name)?.last;
  assert.ok(Math.abs(last('network, sent') - (2.1e8 * 1.03) / 2 ** 20) < 0.01, JSON.stringify(traces));
  assert.ok(Math.abs(last('CPU') - 34) < 0.01 && Math.abs(last('busiest disk') - 97) < 0.01);
  assert.equal(last('nfsd threads (of 8)'), 75);
  assert.ok(traces.some((trace) => trace.name === 'clients' && trace.yaxis === 'y'));
  await element.getByRole('button', { name: 'Table' }).click();
  const rows = await rowsOf(element.locator('table'));
  assert.equal(rows.length, 40);
  assert.equal(rows[0].at(-1), '1,200');
  await element.getByRole('button', { name: 'Table' }).click();
});

const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const lightness = (colour) => colour.match(/\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b) / 3;

richTest('the page follows the dark scheme, and the button changes it', async (page) => {
  assert.ok(lightness(await background(page)) < 60);
  await page.locator('#theme').click();
  assert.ok(lightness(await background(page)) > 200);
}, { colorScheme: 'dark' });

richTest('a narrow window shows everything without scrolling sideways', async (page) => {
  await drawn(page, 'throughput');
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
}, { viewport: { width: 390, height: 844 } });

richTest('on paper, every phase has its tables and there are no controls', async (page) => {
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const { phases } = resultOf(rich);
  const printed = page.locator('#printed');
  assert.equal(await printed.locator('> .table-frame').first().locator('tbody tr').count(), phases.length);
  // All but the cells of the sweep, which are two tables.
  assert.equal(await printed.locator('.print-phase').count(), phases.filter(({ name }) => !/sweep$/.test(name)).length);
  assert.match(await printed.locator('caption').allTextContents().then(String), /read by file and record size/);
  assert.equal(await page.locator('button:visible, select:visible').count(), 0);
  const { text, cut } = await paperOf(page);
  assert.deepEqual(cut, []);
  for (const part of [/1 of \d+ phases invalid/, /2 of 6 criteria not met/, /48,200 ops\/s \(invalid\)/, /network of node01: 97 % of eth0/, /Narrowest: the network/,
    /INVALID/, /read by file and record size/, /53 % of the sum of each alone/, /NFS requests/]) assert.match(text, part);
  for (const { name } of phases) assert.ok(text.includes(name), name);
});

test('the rounds of a soak are one row, and what it found stands first', async () => {
  const page = await openPage(browser, sample('soak').directory);
  assert.match(await page.locator('#soak-verdict').textContent(), /data were lost; write got slower/);
  assert.ok((await page.locator('#soak-verdict').getAttribute('class')).includes('bad'));
  assert.deepEqual((await headlines(page)).map(({ name }) => name), ['write', 'read']);
  await page.getByRole('button', { name: 'show the 60 rounds' }).first().click();
  const names = (await headlines(page)).map(({ name }) => name);
  assert.equal(names.length, 62);
  assert.equal(names[60], 'write, round 60');
  const rates = await (await drawn(page, 'soak-rates')).locator('.chart').evaluate((chart) => chart.data.map(({ name, y }) => [name, y.length]));
  assert.deepEqual(rates, [['write', 60], ['read', 60]]);
  const pauses = await (await drawn(page, 'soak-pauses')).locator('.chart').evaluate((chart) => Math.max(...chart.data[0].y));
  assert.equal(pauses, 42);
  assert.match(await figure(page, 'soak-troubles').locator('h3').textContent(), /failed or was lost/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('rounds until steady are one row with the mean of their window, and a change of the rate is marked in its chart', async () => {
  const { directory } = sample('steady'), { steady } = resultOf(directory);
  const page = await openPage(browser, directory);
  assert.match(await page.locator('#steady-verdict').textContent(), /All phases are steady.*in rounds 3 to 7: within 20 % of the mean/);
  assert.ok((await page.locator('#steady-verdict').getAttribute('class')).includes('good'));
  const shown = await headlines(page);
  assert.deepEqual(shown.map(({ name }) => name), ['write', 'read']);
  assertShows(shown[0].value, steady.rows[0].mean / MIB, 'mean of the window');
  const rounds = await (await drawn(page, 'steady-rounds-chart')).locator('.chart').evaluate((chart) => chart.data.map(({ name, y }) => [name, y.length]));
  assert.deepEqual(rounds, [['write', 7], ['read', 7]]);
  await page.evaluate(() => { location.hash = '#phase-0'; });
  const { texts, lines } = await (await drawn(page, 'throughput')).locator('.chart').evaluate((chart) => ({
    texts: chart.layout.annotations.map(({ text }) => text), lines: chart.layout.shapes.map(({ x0, x1 }) => [x0, x1]) }));
  assert.ok(texts.includes('rate fell: burst credits used up'), texts.join('; '));
  assert.ok(lines.some(([from, to]) => from === 20 && to === 20) && lines.some(([from, to]) => from === 0 && to === 20));
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('of 1,000 clients, the slow ones are named, found and sorted', async (t) => {
  const { directory } = sample('many');
  const bytes = statSync(`${directory}/report.html`).size;
  assert.ok(bytes <= 4e6, `${bytes} bytes`);
  const page = await openPage(browser, directory);
  t.diagnostic(`${bytes} bytes, interactive after ${await page.evaluate(() => performance.getEntriesByName('interactive')[0].startTime.toFixed())} ms; the goal is 1 s`);
  assert.match(await page.locator('#figures-verdict').textContent(), /No phase has a mark, but 20 clients are slow.*all phases: 20 of 1,000 clients under 80 % of the median/);
  const place = page.locator('[data-table=phase-clients]'), shown = async () => (await rowsOf(place.locator('table'))).map(([name]) => name);
  assert.equal((await shown()).length, 40);
  await place.locator('select').selectOption('slow');
  assert.equal((await shown()).length, 20);
  await place.locator('select').selectOption('all');
  await place.getByRole('searchbox').fill('node99');
  assert.deepEqual((await shown()).sort(), ['node99', ...Array.from({ length: 10 }, (_, i) => `node99${i}`)]);
  await place.getByRole('searchbox').fill('');
  await place.getByRole('button', { name: /^client/ }).click();
  assert.equal(await place.locator('th[aria-sort=ascending]').textContent(), 'client ▲');
  assert.deepEqual((await shown()).filter((name) => /^node\d+$/.test(name)).slice(0, 3), ['node01', 'node02', 'node03']);
  const element = await drawn(page, 'clients');
  assert.equal(await element.locator('.annotation').count() > 0, true, 'outliers are named');
  const { text, pages, cut } = await paperOf(page);
  assert.ok(pages <= 12, `${pages} pages`);
  assert.deepEqual(cut, []);
  assert.match(text, /20 of 1,000 clients under 80 % of the median/);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test('1,000 clients × 8 lanes × 20 phases fit into 6 MB and do not freeze', async (t) => {
  const { directory, write_ms } = sample('large');
  const bytes = statSync(`${directory}/report.html`).size;
  assert.ok(bytes < 6e6, `${bytes} bytes`);
  const page = await openPage(browser, directory);
  const interactive_ms = await page.evaluate(() => performance.getEntriesByName('interactive')[0].startTime);
  const element = await drawn(page, 'clients-time');
  await element.locator('select').selectOption('all');
  const begin = Date.now();
  await page.locator('#phase-select').selectOption('19');
  await drawn(page, 'clients-time');
  await drawn(page, 'clients');
  const change_ms = Date.now() - begin;
  t.diagnostic(`written in ${write_ms} ms, ${bytes} bytes, interactive after ${interactive_ms.toFixed()} ms, phase changed in ${change_ms} ms`);
  // The goals are 5 s and 3 s; machines that run tests are busy.
  assert.ok(Math.max(write_ms, interactive_ms, change_ms) < 60_000);
  const lanes = await drawn(page, 'lanes');
  await lanes.locator('select').selectOption('999');
  await lanes.getByRole('button', { name: 'Table' }).click();
  const rows = await rowsOf(lanes.locator('table'));
  assert.equal(rows.length, 8);
  assert.equal(rows[7][0], '7999');
  assert.ok(numberIn(rows[7][2]) > 0);
  assert.equal(await figure(page, 'lanes').count(), 1);
  assert.deepEqual(page.problems, []);
  await page.close();
});
