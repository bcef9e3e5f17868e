// Headless Chromium for the tests of the page. A missing browser is an error, not a reason to skip.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.env.NODE_MODULES, 'playwright-core', 'package.json'))('playwright-core');

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'] });

export const scratch = mkdtempSync(join(tmpdir(), 'iobench-page-'));
export const cleanUp = () => rmSync(scratch, { recursive: true, force: true });

export const scratchDirectory = () => mkdtempSync(join(scratch, 'directory-'));

// A run of the program with these options; its result directory.
export function runProgram(...options) {
  const path = mkdtempSync(join(scratch, 'path-')), out = join(path, 'out');
  execFileSync(process.env.CLUSTER_IOBENCH, [...options, '--path', path, '--out', out], { stdio: 'pipe' });
  return out;
}

// A report that was made up, "rich" or "large"; its directory, and how long its page took to write in ms.
export function sample(kind) {
  const directory = mkdtempSync(join(scratch, 'sample-'));
  const write_ms = Number(execFileSync(process.env.SAMPLE_PAGE, [kind, directory], { encoding: 'utf8' }));
  return { directory, write_ms };
}

// The page and the JSON of a comparison or history: of a fixed message in tests/unit/golden.
export function sampleOf(kind, message) {
  const directory = mkdtempSync(join(scratch, 'sample-'));
  execFileSync(process.env.SAMPLE_PAGE, [kind, directory, message]);
  return directory;
}

export const resultOf = (directory) => JSON.parse(readFileSync(join(directory, 'result.json'), 'utf8'));

// Opens the page of a directory. `page.problems` collects what a reader must never get: errors, dialogs, and requests
// that leave the file.
export async function openPage(browser, directory, { hash = '', file = 'report.html', ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  page.problems = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.problems.push(message.text());
  });
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('dialog', (dialog) => {
    page.problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) page.problems.push(`request: ${request.url()}`);
  });
  await page.goto(`file://${directory}/${file}${hash}`);
  await page.waitForFunction(() => performance.getEntriesByName('interactive').length > 0, null, { timeout: 60_000 });
  return page;
}

export const figure = (page, id) => page.locator(`[data-figure="${id}"]`).first();

// Scrolls to a figure and waits until its chart is drawn.
export async function drawn(page, id, index = 0) {
  const element = page.locator(`[data-figure="${id}"]`).nth(index);
  await element.scrollIntoViewIfNeeded();
  await element.locator('.chart[data-drawn]').waitFor({ timeout: 60_000 });
  return element;
}

// The rows of a table as texts.
export const rowsOf = (table) => table.locator('tbody tr').evaluateAll((rows) =>
  rows.map((row) => [...row.children].map((cell) => cell.textContent)));

export const numberIn = (text) => Number(text.replaceAll(',', '').replace('−', '-'));

// `text` is `value`, rounded to the four digits that are shown.
export function assertShows(text, value, what) {
  const halvesUp = value * (1 + 1e-12);  // 7.7775 is less than that in binary
  assert.equal(numberIn(text), Number(halvesUp.toPrecision(4)), `${what}: ${text} is not ${value}`);
}

export function csvRows(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
  }
  return rows.filter((row) => row.length > 1);
}

// The text of the page on paper, each run of spaces and line breaks as one space; how many pages it takes; and what is wider
// than the paper, which would be cut off: {text, pages, cut}.
export async function paperOf(page) {
  await page.setViewportSize({ width: 688, height: 1000 });  // A4 without its margins
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const cut = await page.locator('#printed').evaluate((printed) => {
    const right = printed.getBoundingClientRect().right + 1;
    return [...printed.querySelectorAll('table, p, pre, svg, .finding')].filter((element) => element.getBoundingClientRect().right > right)
      .map((element) => element.textContent.slice(0, 60));
  });
  const file = join(mkdtempSync(join(scratch, 'paper-')), 'page.pdf');
  await page.pdf({ path: file, format: 'A4' });
  const text = execFileSync('pdftotext', ['-raw', file, '-'], { encoding: 'utf8' });
  return { text: text.replace(/\s+/g, ' '), pages: text.split('\f').length - 1, cut };
}

export async function downloaded(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return readFileSync(await download.path());
}
