// The page of a validation as a reader has it: opened as a file, without network, in a browser.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertShows, cleanUp, csvRows, downloaded, launch, openPage, resultOf, rowsOf, sampleOf, scratchDirectory } from './browser.mjs';

const GOLDEN = join(dirname(fileURLToPath(import.meta.url)), '..', 'unit', 'golden', 'validate.textproto');
let browser, golden;

before(async () => {
  browser = await launch();
  golden = sampleOf('validation', GOLDEN);
});
after(async () => {
  await browser?.close();
  cleanUp();
});

// The page of a message that is written here.
function validationOf(text) {
  const directory = scratchDirectory(), message = join(directory, 'message.textproto');
  writeFileSync(message, `path: "/mnt/nfs" duration_s: 2 ${text}`);
  return sampleOf('validation', message);
}

async function withPage(directory, body, options = {}) {
  const page = await openPage(browser, directory, options);
  try {
    await body(page, resultOf(directory));
    assert.deepEqual(page.problems, []);
  } finally {
    await page.close();
  }
}
const goldenTest = (name, body, options) => test(name, () => withPage(golden, body, options));

const cardOf = (page, name) => page.locator(`main > section [data-check="${name}"]`);
const textOf = async (element) => (await element.textContent()).replace(/\s+/g, ' ').trim();
const tableOf = (page, id) => page.locator(`[data-table="${id}"] table`);
// As dom.js shows what would move the cursor or change the direction of text.
const shown = (text) => text.replaceAll('\n', '\u240a').replaceAll('\u001b', '\u241b').replaceAll('\u202e', '\ufffd');

goldenTest('checks that failed come first, each verdict has its word and its mark', async (page) => {
  assert.deepEqual(await page.locator('[data-check]').evaluateAll((cards) => cards.map((card) => card.dataset.check)),
    ['mounts', 'visibility', 'locks', 'failover', 'storage', 'close-to-open', 'durability']);
  assert.deepEqual(await page.locator('[data-check] .badge').allTextContents(),
    ['✗ FAIL', '⚠ warn', '~ known', '↳ follows', '✓ pass', '✓ pass', '– skipped']);
});

goldenTest('a check has what was found, its evidence, what to do, its waiver and how long it took', async (page, report) => {
  for (const check of report.checks) {
    const card = cardOf(page, check.name);
    assert.equal(await card.locator('h3').textContent(), check.name);
    assert.equal(await card.locator('header .note').first().textContent(), check.title);
    assert.equal(await card.locator('.found').textContent(), shown(check.found));
    assert.deepEqual(await card.locator('.evidence li').allTextContents(), check.evidence.map(shown));
    assert.deepEqual(await card.locator('.advice').allTextContents(), check.advice ? [`What to do: ${check.advice}`] : []);
  }
  assert.deepEqual(await page.locator('.waiver').allTextContents(),
    ['Known: nolock until June (OPS-<13>)', 'Passes now, although --waive names it: until the new server is there (OPS-12)']);
  assert.deepEqual(await page.locator('.took').allTextContents(), ['12.5 ms', '25.5 s', '250 ms', '250 ms', '500 ms', '4.75 s', '']);
});

goldenTest('evidence is open where something is wrong, and can be opened where nothing is', async (page) => {
  const evidence = (name) => cardOf(page, name).locator('.evidence');
  for (const name of ['mounts', 'visibility', 'locks']) assert.ok(await evidence(name).isVisible(), name);
  assert.ok(!(await evidence('close-to-open').isVisible()));
  await cardOf(page, 'close-to-open').locator('summary').click();
  assert.ok(await evidence('close-to-open').isVisible());
});

goldenTest('the head says what was checked, and the box how it ended', async (page, report) => {
  assert.equal(await page.locator('h1').textContent(), report.path);
  assert.equal(await page.title(), `Validation of ${report.path} – cluster-iobench`);
  const facts = await page.locator('.facts > div').evaluateAll((items) => items.map((item) => [...item.children].map((part) => part.textContent)));
  assert.deepEqual(facts, [['File system', 'nfs4 from server:/export'], ['Clients', '3 with 4 workers'], ['Set', 'quick'],
    ['Duration', '31.3 s'], ['Started at', '2026-03-01 10:15 UTC'], ['Version', '0.1.0'], ['Command', report.command]]);
  const box = page.locator('.verdict');
  assert.equal(await textOf(box), '1 new failure✗ 1 FAIL ⚠ 1 warn ~ 1 known ↳ 1 follows ✓ 2 pass – 1 skipped mounts – 1 problem on 1 client');
  assert.ok((await box.getAttribute('class')).includes('bad'));
  await box.getByRole('link', { name: 'mounts' }).click();
  assert.equal(await page.evaluate(() => document.querySelector(':target').dataset.check), 'mounts');
});

goldenTest('figures are shown with their units, whole counts with all digits, and are saved exactly', async (page, report) => {
  const rows = await rowsOf(tableOf(page, 'figures'));
  assert.deepEqual(rows.map(([check, name, , unit]) => [check, name, unit]), [
    ['visibility', 'new_file_seen_after_max_s', 's'], ['visibility', 'removed_file_seen_after_max_s', 's'],
    ['close-to-open', 'reads', ''], ['close-to-open', 'wrong_reads', '']]);
  assertShows(rows[0][2], 61.5, 'the first figure');
  assert.deepEqual(rows.slice(1).map((row) => row[2]), ['–', '12,345', '0']);
  const button = page.getByRole('button', { name: 'Save What the checks measured as CSV' });
  const [, ...saved] = csvRows(String(await downloaded(page, () => button.click())));
  assert.deepEqual(saved.map((row) => row[2]), ['61.5', '', '12345', '0']);
  assert.equal(report.checks.flatMap((check) => check.figures).length, 4);
});

goldenTest('a client that is unlike most others is pointed out by a word; its own address is not a difference', async (page, report) => {
  const rows = await rowsOf(tableOf(page, 'clients'));
  assert.deepEqual(rows.map((row) => row[1]), ['= same', '= same',
    '≠ differs: kernel 6.5.0; has soft, </script><script>alert(2)</script>; lacks hard']);
  rows.forEach((row, i) => {
    const client = report.clients[i];
    assert.deepEqual([row[0], ...row.slice(2)], [shown(client.host), String(client.workers), client.kernel, client.filesystem,
      client.mount_source, client.mount_options.replaceAll(',', ', ')]);
  });
});

goldenTest('names that are HTML are shown as they are and do nothing', async (page, report) => {
  const host = '<img src=x onerror=alert(1)>\ufffd30c';
  assert.ok((await cardOf(page, 'mounts').locator('.evidence').textContent()).startsWith(`${host}: soft`));
  assert.equal((await rowsOf(tableOf(page, 'clients')))[2][0], host);
  assert.equal(await page.locator('#page script, #page b, #page img').count(), 0);
  assert.ok(report.clients[2].host.includes('\u202e'), 'the message has the character');
  assert.ok(!(await page.evaluate(() => document.documentElement.outerHTML)).includes('\u202e'));
});

goldenTest('facts of the file system have their answer, who decides it, and the clients that they differ on', async (page) => {
  const rows = await rowsOf(tableOf(page, 'facts'));
  assert.deepEqual(rows[0], ['hard links', 'no', 'file system', 'backups of hard links fail', 'all']);
  assert.deepEqual(rows.slice(1).map((row) => [row[1], row[2]]), [['yes', 'file system'], ['no', 'protocol']]);
  assert.equal(rows[1][4], 'c01, c02');
});

test('servers with a sampler have the setup of their NFS server', () => withPage(validationOf(`
  servers { host: "s1" kernel: "6.1.0" nfs { versions: "3" versions: "4.2" threads: 8 lease_s: 90 in_grace: true grace_s: 60
    max_block_bytes: 1048576 exports { path: "/data" clients: "*" options: "rw,sync" filesystem: "xfs" device: "sdb1" } } }
  servers { host: "s2" kernel: "6.1.0" }`), async (page) => {
  const rows = await rowsOf(tableOf(page, 'servers'));
  assert.deepEqual(rows[0], ['s1', '6.1.0', '3, 4.2', '8', '90 s', '60 s (now)', '1 MiB', '/data to * (rw, sync) from xfs on sdb1']);
  assert.deepEqual(rows[1].slice(0, 3), ['s2', '6.1.0', 'no NFS server in the kernel']);
}));

goldenTest('the page of a validation can be used with the keyboard alone', async (page) => {
  const seen = new Set();
  for (let i = 0; i < 20; ++i) {
    await page.keyboard.press('Tab');
    seen.add(await page.evaluate(() => document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()));
  }
  for (const name of ['Light / dark', 'Print', 'mounts', 'Evidence: 2 lines', 'What the checks measured', 'Save Clients as CSV', 'Clients']) {
    assert.ok(seen.has(name), `${name} not in ${[...seen]}`);
  }
});

goldenTest('a narrow window shows a validation without scrolling sideways', async (page) => {
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
}, { viewport: { width: 390, height: 844 } });

// WCAG's contrast between a colour and what is behind it.
const contrasts = (page, selector) => page.locator(selector).evaluateAll((elements) => {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  return elements.filter((element) => element.checkVisibility()).map((element) => {
    const [high, low] = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  });
});

for (const colorScheme of ['light', 'dark']) {
  goldenTest(`verdicts can be read in ${colorScheme} colours, on the screen and on paper`, async (page) => {
    const selector = '.badge, .found, .advice, .waiver, .evidence li, .note, .verdict a, summary';
    const onScreen = await contrasts(page, selector);
    assert.ok(onScreen.length > 20 && Math.min(...onScreen) >= 4.5, String(onScreen));
    await print(page);
    const onPaper = await contrasts(page, selector);
    assert.ok(onPaper.length > 20 && Math.min(...onPaper) >= 4.5, String(onPaper));
  }, { colorScheme });
}

async function print(page) {
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  return page.locator('#printed');
}

goldenTest('on paper, there is all evidence, all tables, and no controls', async (page, report) => {
  const printed = await print(page);
  for (const check of report.checks) {
    const card = printed.locator(`[data-check="${check.name}"]`);
    assert.ok(await card.isVisible());
    for (const [i, line] of check.evidence.entries()) {
      const item = card.locator('.evidence li').nth(i);
      assert.ok(await item.isVisible());
      assert.equal(await item.textContent(), shown(line));
    }
  }
  assert.deepEqual((await printed.locator('caption').allTextContents()).map((text) => text.trim()),
    ['What the checks measured', 'Clients', 'What the file system offers, or does in its own way']);
  assert.equal(await page.locator('button:visible, details:visible').count(), 0);
  assert.equal(await page.locator('.verdict:visible').count(), 1);
  assert.deepEqual(await cutOff(page), []);
  assert.ok((await page.pdf({ format: 'A4' })).length > 10_000);
});

// What would be beyond the right edge of A4.
async function cutOff(page) {
  await page.setViewportSize({ width: 690, height: 900 });
  return page.locator('#printed').evaluate((element) => [...element.querySelectorAll('td, th, li, p')]
    .filter((part) => part.getBoundingClientRect().right > 691).map((part) => part.textContent));
}

const check = (verdict, more = '') => `checks { name: "mounts" verdict: "${verdict}" found: "f" ${more} } counts { key: "${verdict}" value: 1 }`;

for (const [name, text, heading, good] of [
  ['that is all well', check('pass'), 'All well', true],
  ['with a warning', check('warn'), 'No new failure', true],
  ['with a known failure', check('known', 'waiver: "w"'), 'No new failure', true],
  ['of which nothing ran', check('skipped'), 'No check ran', false],
  ['of which all follows', check('follows', 'follows_from: "storage"'), 'No check ran', false],
  ['without checks', '', 'No check ran', false],
  ['with two failures', `${check('fail')} checks { name: "locks" verdict: "fail" found: "f" } counts { key: "fail" value: 2 } exit_code: 4`,
    '2 new failures', false],
  ['that could not be ended', `${check('pass')} exit_code: 5`, 'Ended with exit code 5, without a new failure', false],
]) {
  test(`the box of a validation ${name} says so`, () => withPage(validationOf(text), async (page) => {
    assert.equal(await page.locator('.verdict strong').textContent(), heading);
    assert.equal((await page.locator('.verdict').getAttribute('class')).includes('good'), good);
    assert.equal(await page.locator('#figures, #clients').count(), 0);
  }));
}

const client = (host, options) => `clients { host: "${host}" workers: 1 kernel: "6.1" mount_options: "${options}" }`;

test('clients that are alike are said to be so', () =>
  withPage(validationOf(client('a', 'rw,hard,addr=1') + client('b', 'hard,rw,addr=2')), async (page) => {
    assert.deepEqual((await rowsOf(tableOf(page, 'clients'))).map((row) => row[1]), ['= same', '= same']);
    assert.match(await tableOf(page, 'clients').locator('caption').textContent(), /All have the same kernel and the same mount/);
  }));

test('a single client is compared to nothing', () =>
  withPage(validationOf(client('a', 'rw,hard')), async (page) => {
    assert.deepEqual((await rowsOf(tableOf(page, 'clients'))).map((row) => row[1]), ['–']);
    assert.equal((await tableOf(page, 'clients').locator('caption').textContent()).trim(), 'Clients');
  }));

test('long words of mounts and evidence are on paper to their ends', () => {
  const long = 'x'.repeat(300);
  return withPage(validationOf(`${check('fail', `evidence: "${long}" advice: "${long}"`)} mount_source: "${long}"
    clients { host: "${long}" workers: 1 mount_source: "${long}" mount_options: "${long}" }`), async (page) => {
    await print(page);
    assert.deepEqual(await cutOff(page), []);
  });
});

test('of two clients that differ, neither is taken for the usual one', () =>
  withPage(validationOf(client('a', 'rw,hard') + client('b', 'rw,soft')), async (page) => {
    assert.deepEqual((await rowsOf(tableOf(page, 'clients'))).map((row) => row[1]), ['≠ differs: has hard', '≠ differs: has soft']);
  }));

test('what a real validation of a directory writes is a page with all of its checks', async () => {
  const path = scratchDirectory(), directory = scratchDirectory();
  for (const [format, file] of [['html', 'report.html'], ['json', 'result.json']]) {
    try {
      execFileSync(process.env.CLUSTER_IOBENCH, ['validate', '--path', path, '--format', format, '--output', join(directory, file)], { stdio: 'pipe' });
    } catch (error) {
      assert.equal(error.status, 4, String(error.stderr));  // some directories have what a check finds wrong
    }
  }
  assert.equal(readFileSync(join(directory, 'report.html'), 'utf8').slice(0, 15), '<!doctype html>');
  await withPage(directory, async (page, report) => {
    assert.ok(report.checks.length > 10);
    assert.deepEqual((await page.locator('[data-check] h3').allTextContents()).sort(), report.checks.map(({ name }) => name).sort());
  });
});
