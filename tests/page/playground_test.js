/* The playground in a browser: node tests/page/playground_test.js PAGE VOCABULARIES [PICTURES]
 *
 * PAGE is what page/build.py wrote, opened from the file system. VOCABULARIES is build/vocabs; a
 * file that is not there is a failure. The times that are promised are measured here and printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';
const path = require('path');
const {pathToFileURL} = require('url');
const {accessible, check, end, fits, launch, test} = require('./browser.js');

const [file, vocabularies, pictures] = process.argv.slice(2);
const FIRST_MASK_MS = 50,
  LOAD_MS = 1000,
  MASK_US = 1000;

const verdict = (page) => page.textContent('#verdict');
const place = (page) => page.textContent('#step-number');
const allowed = async (page) =>
  Number((await page.textContent('.headline')).split(' of ')[0].replaceAll(',', ''));
const listed = (page) =>
  page.$$eval('#allowed button', (buttons) => buttons.map((b) => b.textContent));
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

async function start(page) {
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('html[data-ready]');
}

async function grammar(page, kind, text) {
  await page.selectOption('#kind', kind);
  await page.fill('#editor', text);
}

async function editing(page) {
  await start(page);
  await grammar(
    page,
    'schema',
    '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}',
  );
  check(
    (await verdict(page)).startsWith('Compiled in') &&
      (await page.getAttribute('#editor', 'aria-invalid')) === null,
    await verdict(page),
  );
  check(
    (await allowed(page)) > 0 && (await listed(page)).every((t) => t.startsWith('{')),
    `an object begins with a brace: ${await listed(page)}`,
  );
  /* a schema that is none: its pointer, its line */
  await page.fill(
    '#editor',
    '{\n  "type": "object",\n  "properties": {\n    "n": {"type": ["integer", 7]}\n  }\n}',
  );
  check(
    (await verdict(page)).includes('/properties/n/type') &&
      (await verdict(page)).startsWith('Line 4'),
    `an invalid schema shows its pointer and line: ${await verdict(page)}`,
  );
  check(
    (await page.getAttribute('#editor', 'aria-invalid')) === 'true' &&
      (await page.textContent('#gutter b')).startsWith('4'),
    'the line is marked',
  );
  await page.click('#to-error');
  check(
    await page.evaluate(() => {
      const e = document.activeElement;
      return (
        e.id === 'editor' &&
        e.value.slice(e.selectionStart, e.selectionEnd).includes('["integer", 7]')
      );
    }),
    '"Go to the error" selects the line',
  );
  /* no JSON at all */
  await page.fill('#editor', '{\n  "type": \n}');
  check(/^Line [23]/.test(await verdict(page)), `malformed JSON: ${await verdict(page)}`);
  /* what is not supported is refused with its pointer, deep down and behind escapes */
  await page.fill(
    '#editor',
    '{\n "properties": {\n  "a/b": {"type": "string"},\n  "c": [1],\n  "d": {\n   "pattern": "("}}}',
  );
  check(
    /^Line 4/.test(await verdict(page)),
    `a property that is no schema: ${await verdict(page)}`,
  );
  await grammar(page, 'gbnf', 'root ::= "a"\nb ::= nowhere\n');
  check(/^Line 2, column 7/.test(await verdict(page)), `GBNF: ${await verdict(page)}`);
  await grammar(page, 'regex', 'a(b');
  check(
    /^Line 1, column/.test(await verdict(page)),
    `a regular expression: ${await verdict(page)}`,
  );
  await page.fill('#editor', 'a(b)');
  check((await listed(page)).includes('a') && !(await page.isVisible('#to-error')), 'mended');
  await grammar(page, 'schema', '{"type": "string", "minLength": 3, "maxLength": 2}');
  check((await verdict(page)).includes('no '), `a schema without texts: ${await verdict(page)}`);
}

async function writing(page) {
  await start(page);
  await grammar(
    page,
    'schema',
    '{"type": "object", "properties": {"name": {"enum": ["Ada", "Alan"]}}, "required": ["name"], "additionalProperties": false}',
  );
  const before = await place(page);
  await page.click('#allowed button >> nth=0');
  check(
    before === 'Step 1 of 1' && (await place(page)) === 'Step 2 of 2',
    `a token click advances: ${before}, ${await place(page)}`,
  );
  check((await page.inputValue('#prefix')).startsWith('{'), 'the text has the token');
  await page.fill('#prefix', '{"name":"A');
  check(
    (await page.textContent('#prefix-verdict')) === '' && (await allowed(page)) > 0,
    `a prefix: ${await page.textContent('#prefix-verdict')}`,
  );
  const next = await listed(page);
  check(
    next.every((t) => t === '\\' || 'da".lan"}'.includes(t[0])),
    `after "A: ${next}`,
  );
  check((await page.textContent('.facts')).includes('/name'), 'the place is the member');
  await page.click('.candidates button.take >> nth=0');
  check((await page.inputValue('#prefix')).length > 10, 'a candidate is a button');
  await page.fill('#prefix', '{"name":"Bob');
  check(
    (await page.textContent('#prefix-verdict')).includes('from byte 9 on') &&
      (await page.getAttribute('#prefix', 'aria-invalid')) === 'true',
    `a text that does not match: ${await page.textContent('#prefix-verdict')}`,
  );
  await page.fill('#prefix', '{"name":"Ada"}');
  check(
    (await listed(page)).every((t) => t === 'end'),
    `a whole text: ${await listed(page)}`,
  );
  await page.click('#allowed button');
  check(
    (await page.isDisabled('#one')) && (await page.textContent('#allowed-count')).includes('over'),
    'after the end nothing comes',
  );
  await page.click('#back');
  check(
    (await listed(page)).every((t) => t === 'end') && !(await page.isDisabled('#one')),
    'one rolled back',
  );
  await page.click('#clear');
  check(
    (await page.inputValue('#prefix')) === '' && (await place(page)) === 'Step 1 of 1',
    'cleared',
  );
  /* searching */
  await grammar(page, 'regex', '[a-z]+');
  const all = await allowed(page);
  await page.fill('#search', 'tion');
  const found = await listed(page);
  check(
    found.length > 0 && found.length < all && found.every((t) => t.includes('tion')),
    `search: ${found}`,
  );
  await page.fill('#search', '');
  await page.selectOption('#leading', String('q'.charCodeAt(0)));
  const q = await listed(page);
  check(q.length > 0 && q.every((t) => t.startsWith('q')), `by first byte: ${q}`);
  const [, counted] = (await page.textContent('#leading option:checked')).match(/\((\d+)\)/);
  check(Number(counted) === q.length, `${counted} begin with q, ${q.length} are listed`);
}

async function generating(page) {
  await start(page);
  for (const example of ['0', '1', '3', '4', '7']) {
    await page.selectOption('#example', example);
    await page.click('#all');
    await page.waitForFunction(
      () => document.getElementById('all').textContent === 'Write to the end',
      null,
      {timeout: 60000},
    );
    check(
      (await page.textContent('.facts')).includes('May end hereyes') ||
        (await page.textContent('#allowed-count')).includes('over'),
      `example ${example} was written to an end`,
    );
    if ((await page.inputValue('#kind')) !== 'schema') continue;
    const text = await page.inputValue('#prefix');
    try {
      check(typeof JSON.parse(text) === 'object', `example ${example}: ${text}`);
    } catch (error) {
      check(false, `example ${example}: ${error.message}: ${text}`);
    }
  }
  await page.selectOption('#example', '0');
  await page.fill('#slider-temperature-number', '0');
  await page.press('#slider-temperature-number', 'Tab');
  await page.click('#clear');
  for (let i = 0; i < 3; i++) await page.click('#one');
  const greedy = await page.inputValue('#prefix');
  await page.click('#clear');
  for (let i = 0; i < 3; i++) await page.click('#one');
  check(
    greedy.length > 2 && (await page.inputValue('#prefix')) === greedy,
    `at temperature 0 the same text comes twice: ${greedy}`,
  );
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
  const saved = JSON.parse(require('fs').readFileSync(await download.path(), 'utf8'));
  check(
    saved.format === 'turnstile-trace' && saved.steps.map((s) => s.token.text).join('') === greedy,
    'the record that is saved has the text',
  );
}

async function places(page) {
  await start(page);
  await page.selectOption('#example', '4');
  await page.fill('#prefix', '1 + (2');
  check(
    (await page.textContent('.facts')).includes('root › sum › sum'),
    `the rules: ${await page.textContent('.facts')}`,
  );
  await page.waitForFunction(() => document.querySelectorAll('#states tr.here').length > 0);
  check(
    (await page.$$('.frames li code')).length >= 3 && (await page.$$('#states tr')).length > 3,
    `stack and states are shown: ${(await page.$$('.frames li code')).length} frames, ` +
      `${(await page.$$('#states tr')).length} rows of states`,
  );
  await page.click('#rules-box summary');
  const rails = await page.$$eval('#rules svg', (all) =>
    all.map((svg) => {
      const box = svg.getBoundingClientRect(),
        [, , w, h] = svg.getAttribute('viewBox').split(' ').map(Number);
      const parts = [...svg.querySelectorAll('rect, path, text')].map((p) =>
        p.getBoundingClientRect(),
      );
      return {
        name: svg.getAttribute('aria-label'),
        w,
        h,
        inside: parts.every(
          (p) =>
            p.left >= box.left - 1 &&
            p.right <= box.right + 1 &&
            p.top >= box.top - 1 &&
            p.bottom <= box.bottom + 1,
        ),
      };
    }),
  );
  check(rails.length === 8 && rails.every((r) => r.inside), `railroads: ${JSON.stringify(rails)}`);
  if (pictures)
    await page.screenshot({
      path: path.join(pictures, 'railroad.png'),
      clip: await (await page.$('#rules')).boundingBox(),
    });
  await page.keyboard.press('Home');
}

async function keyboard(page) {
  await start(page);
  const stops = new Set();
  for (let i = 0; i < 70; i++) {
    await page.keyboard.press('Tab');
    const id = await page.evaluate(
      () => document.activeElement.id || document.activeElement.className,
    );
    if (id) stops.add(id);
  }
  for (const wanted of [
    'kind',
    'example',
    'whitespace',
    'order',
    'editor',
    'vocab-file',
    'embedded',
    'prefix',
    'one',
    'all',
    'seed',
    'search',
    'leading',
    'theme',
    'save',
  ])
    check(stops.has(wanted), `Tab does not come to ${wanted}`);
  await page.focus('#allowed button');
  await page.keyboard.press('Enter');
  check((await place(page)) === 'Step 2 of 2', 'Enter on a token writes it');
  await page.focus('#prefix');
  await page.keyboard.press('ArrowLeft');
  check((await place(page)) === 'Step 2 of 2', 'arrows in a text field are the field’s');
}

/* Times of the same work under the same name: the least of each counts, as other programs run
 * beside this one. */
class Least {
  #of = new Map();
  add(name, took) {
    this.#of.set(name, Math.min(took, this.#of.get(name) ?? Infinity));
  }
  get all() {
    return [...this.#of.values()];
  }
  get worst() {
    return Math.max(...this.all);
  }
}

/* Three rounds of some work, and more while the machine is too busy for it. */
async function rounds(work, good) {
  for (let round = 0; round < 3 || (round < 12 && !good()); round++) await work(round);
}

async function speed(page) {
  await start(page);
  const firsts = new Least(),
    shown = new Least();
  await rounds(
    async (round) => {
      for (let i = 0; i < 15; i++) {
        const name = `name${i} ${round}`; /* a schema that was not there before */
        await grammar(
          page,
          'schema',
          JSON.stringify(
            {
              type: 'object',
              properties: {
                [name]: {type: 'string', maxLength: 20 + i},
                n: {type: 'array', items: {type: 'integer', minimum: i}},
                d: {format: 'date'},
              },
              required: [name],
            },
            null,
            2,
          ),
        );
        const times = await page.$eval('#verdict', (v) => ({
          first: Number(v.dataset.first),
          shown: Number(v.dataset.shown),
        }));
        firsts.add(i, times.first);
        shown.add(i, times.shown);
      }
    },
    () => firsts.worst <= FIRST_MASK_MS,
  );
  check(firsts.worst <= FIRST_MASK_MS, `first mask after ${firsts.worst.toFixed(1)} ms at worst`);
  console.log(
    `       4,096 tokens: schema edit to first mask ${median(firsts.all).toFixed(1)} ms (median of 15), ${firsts.worst.toFixed(1)} at worst; to the whole page ${median(shown.all).toFixed(1)} (promised: mask ${FIRST_MASK_MS})`,
  );
}

async function llama(page) {
  await start(page);
  const loads = new Least(),
    masks = new Least();
  const load = async () => {
    await page.click('#embedded');
    await page.setInputFiles('#vocab-file', path.join(vocabularies, 'llama3_1/tokenizer.json'));
    await page.waitForFunction(
      () => document.getElementById('vocab').textContent.includes('128,256'),
      null,
      {timeout: 60000},
    );
    loads.add('load', Number(await page.getAttribute('#vocab', 'data-loaded')));
  };
  await rounds(
    async () => {
      await load();
      for (const example of ['0', '1', '4']) {
        await page.selectOption('#example', example);
        for (let i = 0; i < 15 && !(await page.isDisabled('#one')); i++) {
          await page.click('#one');
          masks.add(`${example} ${i}`, Number(await page.getAttribute('#inspector', 'data-mask')));
        }
      }
    },
    () => loads.worst <= LOAD_MS && masks.worst <= MASK_US,
  );
  check(loads.worst <= LOAD_MS, `Llama-3.1's vocabulary loads in ${loads.worst.toFixed(0)} ms`);
  check(
    masks.all.length > 40 && masks.worst <= MASK_US,
    `masks: ${masks.all.length}, ${masks.worst} µs at worst`,
  );
  console.log(
    `       Llama-3.1, 128,256 tokens: loaded in ${loads.worst.toFixed(0)} ms (promised ${LOAD_MS}); ${masks.all.length} positions, each mask the first there: ${(masks.all.reduce((a, b) => a + b, 0) / masks.all.length).toFixed(0)} µs on average, ${masks.worst.toFixed(0)} at worst, by a clock of 100 µs (promised ${MASK_US})`,
  );
}

async function vocabularyFiles(page) {
  await start(page);
  await page.setInputFiles('#vocab-file', path.join(vocabularies, 'p50k_base.tiktoken'));
  await page.waitForFunction(
    () => document.getElementById('vocab').textContent.includes('p50k_base'),
    null,
    {timeout: 30000},
  );
  check(
    (await allowed(page)) > 0 && (await page.textContent('#about')).includes('p50k_base'),
    'tiktoken ranks',
  );
  await page.setInputFiles('#vocab-file', {
    name: 'notes.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('no vocabulary'),
  });
  await page.waitForFunction(() =>
    document.getElementById('vocab').textContent.startsWith('Cannot be used'),
  );
  check(
    (await page.textContent('#about')).includes('p50k_base') && (await allowed(page)) > 0,
    'a file that is no vocabulary leaves the old one in place',
  );
  await page.click('#embedded');
  check((await page.textContent('#about')).includes('embedded'), 'back to the embedded one');
  /* dropped onto the page */
  const transfer = await page.evaluateHandle(async () => {
    const data = new DataTransfer();
    data.items.add(new File(['aGk= 0\nYQ== 1\nYg== 2\n'], 'p50k_base.tiktoken'));
    return data;
  });
  await grammar(page, 'regex', '[ab]+|hi');
  await page.dispatchEvent('#drop', 'drop', {dataTransfer: transfer});
  await page.waitForFunction(() =>
    document.getElementById('about').textContent.includes('p50k_base.tiktoken'),
  );
  check(
    (await listed(page)).sort().join() === 'a,b,hi',
    `a dropped vocabulary: ${await listed(page)}`,
  );
}

async function looks(page, dark) {
  await start(page);
  await page.fill('#prefix', '{"name":"Ada L');
  await page.waitForFunction(() => document.querySelectorAll('#states tr').length > 0);
  await accessible(page, `playground, ${dark ? 'dark' : 'light'}`);
  if (pictures)
    await page.screenshot({
      path: path.join(pictures, `playground-${dark ? 'dark' : 'light'}.png`),
      clip: {x: 0, y: 0, width: 1280, height: 1240},
      fullPage: true,
    });
  await page.selectOption('#example', '4');
  await page.click('#rules-box summary');
  await page.fill('#editor', 'root ::=');
  await accessible(page, 'playground with an error');
  for (const width of [1280, 800, 380]) {
    await page.setViewportSize({width, height: 800});
    await fits(page, `playground at ${width} px`);
  }
}

(async () => {
  const browser = await launch();
  console.log(`  Chromium ${browser.version()}, headless`);
  await test(browser, 'editing a grammar', {}, editing);
  await test(browser, 'writing', {}, writing);
  await test(browser, 'generating', {}, generating);
  await test(browser, 'places', {}, places);
  await test(browser, 'keyboard', {}, keyboard);
  await test(browser, 'vocabularies', {}, vocabularyFiles);
  await test(browser, 'first mask', {}, speed);
  await test(browser, 'Llama-3.1', {}, llama);
  await test(browser, 'light, and axe', {colorScheme: 'light'}, (page) => looks(page, false));
  await test(browser, 'dark, and axe', {colorScheme: 'dark'}, (page) => looks(page, true));
  await browser.close();
  end();
})();
