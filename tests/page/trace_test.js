/* The inspector in a browser: node tests/page/trace_test.js PAGE [PICTURES]
 *
 * PAGE is what `turnstile trace` wrote. With PICTURES, a folder, screenshots go there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';
const fs = require('fs');
const path = require('path');
const {pathToFileURL} = require('url');
const {accessible, check, end, fits, launch, test} = require('./browser.js');
const {cases} = require('./goldens.js');

const [file, pictures] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const GOLDENS = cases(
  JSON.parse(fs.readFileSync(path.join(__dirname, '../cases/sampling.json'), 'utf8')),
);

/* The published cases as a record: a step each, before it the tokens that it has seen. */
function goldenRecord() {
  const steps = [],
    at = [];
  for (const c of GOLDENS) {
    for (const id of c.seen)
      steps.push({at: 0, token: c.candidates[id], allowed: 1, candidates: []});
    at.push(steps.length);
    steps.push({
      at: 0,
      token: {id: 1000 + steps.length, text: '?'},
      allowed: c.candidates.length,
      legal_mass: 1,
      candidates: c.candidates,
    });
  }
  return {
    at,
    record: {
      format: 'turnstile-trace',
      version: 1,
      grammar: {kind: 'regex', name: 'goldens'},
      vocabulary: {name: 'none', size: 10},
      captured: 16,
      sampling: {},
      steps,
    },
  };
}

/* Open a record; done when the page has read it, and has forgotten the file's name. */
async function open(page, name, content) {
  await page.setInputFiles('#open', {
    name,
    mimeType: 'application/json',
    buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
  });
  await page.waitForFunction(() => document.getElementById('open').files.length === 0);
}
const number = (text) => (text.trim() === '–' ? NaN : parseFloat(text) / 100);
const headline = (page) => page.textContent('.headline');
const place = (page) => page.textContent('#step-number');

/* Rows as the page shows them: numbers from the text of the cells, and the lengths of the bars. */
const shownRows = (page) =>
  page.$$eval('.candidates tbody tr', (rows) =>
    rows.map((row) => {
      const cell = (kind) => row.querySelector(`.${kind}`),
        length = (kind) => Number(cell(kind).style.getPropertyValue('--share'));
      return {
        id: Number(row.dataset.id),
        name: row.querySelector('.name').textContent,
        logit: cell('logit').textContent,
        p: cell('final').textContent,
        length: length('final'),
        state: cell('state').textContent,
        painted: getComputedStyle(cell('final')).backgroundImage,
      };
    }),
  );

async function setNumber(page, key, value) {
  await page.fill(`#slider-${key}-number`, String(value));
  await page.press(`#slider-${key}-number`, 'Tab');
}

async function goTo(page, index) {
  await page.evaluate((i) => {
    const range = document.getElementById('step-range');
    range.value = i + 1;
    range.dispatchEvent(new Event('input', {bubbles: true}));
  }, index);
}

async function goldens(page) {
  const {at, record} = goldenRecord();
  await page.goto(url);
  await open(page, 'goldens.json', record);
  for (const [i, c] of GOLDENS.entries()) {
    await goTo(page, at[i]);
    await page.click('#as-recorded');
    for (const [key, value] of Object.entries(c.settings)) await setNumber(page, key, value);
    const rows = await shownRows(page),
      stage = await page.textContent('.stages li:last-child');
    for (const [field, index, value, tol] of c.expect) {
      const row = rows.find((r) => r.id === index),
        slack = tol + 0.00005; /* the page shows two decimals of a percent */
      const got =
        field === 'p'
          ? number(row.p)
          : field === 'logit'
            ? Number(row.logit)
            : field === 'sum'
              ? number(/sum ([^ ]+)/.exec(row.state)?.[1] ?? '–')
              : number(new RegExp(`${field} ([^ ]+)`).exec(stage)[1]);
      check(
        Math.abs(got - value) <= slack,
        `${c.name}: the page shows ${got} as ${field} of ${row.name}, not ${value}`,
      );
      if (field === 'p')
        check(
          Math.abs(row.length - value) <= slack &&
            row.painted.includes(`${Number((row.length * 100).toFixed(4))}%`),
          `${c.name}: the bar of ${row.name} is ${row.length} long (${row.painted})`,
        );
    }
    for (const [index, kept] of c.kept.entries()) {
      const row = rows.find((r) => r.id === index);
      check(row.state.startsWith('kept') === kept, `${c.name}: ${row.name} is "${row.state}"`);
    }
  }
  const caption = await page.textContent('.candidates caption');
  check(
    /renormalised over the \d+ captured tokens/.test(caption),
    `the bars do not say over what they are renormalised: ${caption}`,
  );
}

async function sliders(page) {
  await page.goto(url);
  await page.focus('#slider-temperature');
  for (let i = 0; i < 40; i++) await page.keyboard.press('ArrowLeft'); /* down to 0: greedy */
  let rows = await shownRows(page);
  check(
    (await page.inputValue('#slider-temperature-number')) === '0' &&
      rows.filter((r) => number(r.p) === 1).length === 1,
    'at temperature 0 one token has it all',
  );
  await page.click('#as-recorded');
  check(
    (await page.inputValue('#slider-temperature-number')) === '1',
    '"As drawn" sets the sliders back',
  );
  await page.focus('#slider-topK');
  await page.keyboard.press('ArrowRight');
  rows = await shownRows(page);
  check(
    rows.filter((r) => r.state.startsWith('kept')).length === 1 &&
      (await page.textContent('.stages')).includes('top-k'),
    'top-k 1 keeps one',
  );
  await setNumber(page, 'topK', 99);
  check(
    (await page.inputValue('#slider-topK-number')) === '32',
    'a number past the slider is brought back',
  );
  await page.click('#as-recorded');
  await page.keyboard.press('l'); /* where least was allowed */
  await setNumber(page, 'topK', 1);
  await page.check('input[value="cut"]');
  check(
    (await page.textContent('.candidates caption')).includes('Nothing is left'),
    'a cut-off before the mask can leave nothing, and the page says so',
  );
  check(
    (await page.textContent('.stages li:last-child')).includes('keeps 0'),
    'the mask keeps none of them',
  );
}

async function keyboard(page) {
  await page.goto(url);
  const total = Number((await place(page)).match(/of (\d+)/)[1]);
  check(total > 20, `a record of ${total} steps`);
  const at = async (step, how) =>
    check(
      (await place(page)) === `Step ${step} of ${total}`,
      `${how}: ${await place(page)}, not step ${step}`,
    );
  await page.keyboard.press('ArrowRight');
  await at(2, 'right');
  await page.keyboard.press('End');
  await at(total, 'end');
  await page.keyboard.press('ArrowRight');
  await at(total, 'right at the end');
  await page.keyboard.press('ArrowLeft');
  await at(total - 1, 'left');
  await page.keyboard.press('Home');
  await at(1, 'home');
  await page.keyboard.press('l');
  const least = await page.evaluate(() => {
    const masses = JSON.parse(document.getElementById('trace').textContent).steps.map(
      (s) => s.legal_mass ?? 2,
    );
    return masses.indexOf(Math.min(...masses)) + 1;
  });
  await at(least, 'L');
  /* the text is one stop of the Tab key; arrows move in it, and the focus with them */
  await page.focus('.token[aria-selected="true"]');
  await page.keyboard.press('ArrowRight');
  check(
    await page.evaluate(() => document.activeElement.matches('.token[aria-selected="true"]')),
    'the focus goes with the step',
  );
  await at(least + 1, 'right in the text');
  const stops = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() =>
      document.activeElement === document.body
        ? null
        : document.activeElement.id ||
          document.activeElement.className ||
          document.activeElement.tagName,
    );
    if (stop === null) break;
    stops.push(stop);
  }
  for (const wanted of [
    'step-range',
    'slider-temperature',
    'slider-topK',
    'slider-topP',
    'slider-minP',
    'slider-penalty',
    'as-recorded',
  ])
    check(stops.includes(wanted), `Tab does not come to ${wanted}: ${stops.join(' ')}`);
  check(
    stops.filter((s) => String(s).startsWith('token')).length === 0,
    'tokens are more than one stop',
  );
}

async function pointer(page) {
  await page.goto(url);
  await page.click('.token[data-step="7"]');
  check((await place(page)).startsWith('Step 8 of'), `a click on a token: ${await place(page)}`);
  check(
    (await page.getAttribute('.token[data-step="7"]', 'aria-selected')) === 'true',
    'the token is not selected',
  );
  const box = await (await page.$('.strip')).boundingBox();
  await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2);
  const [, step, total] = (await place(page)).match(/(\d+) of (\d+)/);
  check(step === total, `a click at the end of the heat strip: ${step} of ${total}`);
  await page.click('text=← Back');
  check((await place(page)).startsWith(`Step ${total - 1} `), 'the button goes back');
}

async function position(page) {
  await page.goto(url);
  const record = JSON.parse(await page.textContent('#trace'));
  for (const [i, step] of record.steps.entries()) {
    await goTo(page, i);
    const facts = await page.textContent('.facts'),
      line = await headline(page);
    check(
      line.startsWith(`${step.allowed.toLocaleString('en-US')} of 4,096 tokens were allowed`),
      `step ${i + 1}: ${line}`,
    );
    if (step.pointer)
      check(
        facts.includes(step.pointer),
        `step ${i + 1}: the pointer ${step.pointer} is not in ${facts}`,
      );
    if (step.forced)
      check(
        facts.includes('Must come next') && !facts.includes('it is a choice'),
        `step ${i + 1}: ${facts}`,
      );
    check(facts.includes('Mask took') && facts.includes('Legal mass'), `step ${i + 1}: ${facts}`);
    check(
      (await page.$$('.frames li code')).length === step.frames.length,
      `step ${i + 1}: the frames`,
    );
  }
  check((await page.$$('.token.forced')).length > 0, 'no forced token is marked');
  const heats = await page.$$eval('.strip i', (cells) =>
    cells.map((c) => Number(c.style.getPropertyValue('--heat'))),
  );
  const masses = record.steps.map((s) => s.legal_mass);
  check(
    heats.length === masses.length &&
      heats.every((h, i) => heats.every((g, k) => masses[i] >= masses[k] || h >= g)),
    'the less is allowed, the warmer',
  );
}

async function records(page, {errors}) {
  await page.goto(url);
  await open(page, 'bad.json', '{"format": "something else"}');
  check(
    (await page.getAttribute('#about', 'role')) === 'alert' &&
      (await page.textContent('#about')).includes('no record'),
    'a file that is no record is refused aloud',
  );
  await open(page, 'bad.json', '{');
  check((await page.textContent('#about')).startsWith('Cannot be shown'), 'a file that is no JSON');
  await open(page, 'empty.json', {...goldenRecord().record, steps: []});
  check((await place(page)) === 'Step 0 of 0', 'a record without steps');
  const evil = {
    ...goldenRecord().record,
    steps: [
      {
        at: 0,
        token: {id: 0, text: '<img src=x onerror=alert(1)>'},
        allowed: 1,
        candidates: [{id: 0, text: '<b>', logit: 0, allowed: true}],
        frames: [],
        frames_total: 0,
      },
    ],
  };
  await open(page, 'evil.json', evil);
  check(
    (await page.$$('.text img, .candidates b')).length === 0 &&
      (await page.textContent('.text')).includes('<img'),
    'text of a record is never markup',
  );
  check(errors.length === 0, 'no error');
}

async function looks(page, dark) {
  await page.goto(url);
  check(
    (await page.evaluate(() => document.documentElement.dataset.theme)) ===
      (dark ? 'dark' : 'light'),
    'the theme is the system’s',
  );
  await page.keyboard.press('l');
  await accessible(page, `inspector, ${dark ? 'dark' : 'light'}`);
  if (pictures)
    await page.screenshot({
      path: path.join(pictures, `inspector-${dark ? 'dark' : 'light'}.png`),
      clip: {x: 0, y: 0, width: 1280, height: 1180},
      fullPage: true,
    });
  await page.click('#theme');
  check(
    (await page.evaluate(() => document.documentElement.dataset.theme)) ===
      (dark ? 'light' : 'dark'),
    'the button changes the theme',
  );
  for (const width of [1280, 800, 380]) {
    await page.setViewportSize({width, height: 800});
    await fits(page, `inspector at ${width} px`);
  }
  await accessible(page, 'inspector, narrow');
}

(async () => {
  const browser = await launch();
  console.log(`  Chromium ${browser.version()}, headless`);
  await test(browser, 'sliders give the published numbers', {}, goldens);
  await test(browser, 'sliders', {}, sliders);
  await test(browser, 'keyboard', {}, keyboard);
  await test(browser, 'pointer', {}, pointer);
  await test(browser, 'position', {}, position);
  await test(browser, 'records', {}, records);
  await test(browser, 'light, and axe', {colorScheme: 'light'}, (page) => looks(page, false));
  await test(browser, 'dark, and axe', {colorScheme: 'dark'}, (page) => looks(page, true));
  await browser.close();
  end();
})();
