/* browser.js - what the browser tests share: Debian's Chromium, counting, and what every page must
 * hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';
const fs = require('fs');
const path = require('path');

const MODULES =
  process.env.TURNSTILE_PAGE_MODULES || path.join(__dirname, '../../build/page/node_modules');
const {chromium} = require(path.join(MODULES, 'playwright-core'));
const AXE = fs.readFileSync(path.join(MODULES, 'axe-core/axe.min.js'), 'utf8');

const counts = {passed: 0, failed: 0};
function check(condition, what) {
  if (condition) counts.passed++;
  else {
    counts.failed++;
    console.log(`  FAIL ${what}`);
  }
  return condition;
}

/* Run a test on a page of its own; says how many checks it made. */
async function test(browser, name, options, run) {
  const before = counts.passed + counts.failed,
    failed = counts.failed,
    began = Date.now();
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage(),
    requests = [],
    errors = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  try {
    await run(page, {requests, errors});
  } catch (error) {
    check(false, `${name}: ${error.stack}`);
  }
  check(errors.length === 0, `${name}: ${errors.join('; ')}`);
  const left = requests.filter(
    (url) => !url.startsWith('file:') && !url.startsWith('data:') && !url.startsWith('blob:'),
  );
  check(
    left.length === 0 && requests.filter((url) => url.startsWith('file:')).length <= 1,
    `${name}: requests left the page: ${requests.join(', ')}`,
  );
  await context.close();
  console.log(
    `  ${counts.failed === failed ? 'ok  ' : 'FAIL'} ${name} (${counts.passed + counts.failed - before} checks, ${((Date.now() - began) / 1000).toFixed(1)} s)`,
  );
}

/* No violation that axe finds, best practices included. */
async function accessible(page, name) {
  await page.evaluate(AXE); /* evaluated, as the policy lets no script element be added */
  const found = await page.evaluate(async () =>
    (await axe.run(document, {resultTypes: ['violations']})).violations.map(
      (v) =>
        `${v.id}: ${v.help}: ${v.nodes
          .slice(0, 4)
          .map((n) => `${n.target} ${n.failureSummary}`)
          .join(' | ')}`,
    ),
  );
  check(found.length === 0, `${name}: ${found.join('\n    ')}`);
}

/* The page is no wider than its window. */
async function fits(page, name) {
  const [scroll, width] = await page.evaluate(() => [
    document.documentElement.scrollWidth,
    innerWidth,
  ]);
  check(scroll <= width, `${name}: ${scroll} px wide in a window of ${width}`);
}

/* A sandbox needs rights that root in a container does not have, and /dev/shm may be small there.
 * */
const chromiumWith = (flags) =>
  chromium.launch({
    executablePath: process.env.TURNSTILE_CHROMIUM || '/usr/bin/chromium',
    args: [
      '--disable-dev-shm-usage',
      ...(process.getuid() === 0 ? ['--no-sandbox'] : []),
      ...flags,
    ],
  });
const launch = () => chromiumWith([]);

function end() {
  console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
  process.exit(counts.failed || !counts.passed ? 1 : 0);
}

module.exports = {accessible, check, chromiumWith, counts, end, fits, launch, test};
