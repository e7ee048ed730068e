/* The package for Node in a browser: node tests/page/package_test.js FOLDER
 *
 * FOLDER is what bindings/node/build.py wrote. A server on this machine hands its files out, as a
 * page from the file system may not load WebAssembly. A page generates under a schema, and so does
 * a worker; what is refused in Node is refused there, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');
const {check, end, launch} = require('./browser.js');

const [folder] = process.argv.slice(2);
const TYPES = {'.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html'};
const PAGE =
  '<!doctype html><title>package</title><link rel="icon" href="data:,"><script src="/dist/browser.js"></script>';

/* Files of the folder, and the page. */
function answer(request, response) {
  const name = path.basename(request.url),
    page = request.url === '/';
  response.setHeader('content-type', TYPES[page ? '.html' : path.extname(name)] || 'text/plain');
  response.end(
    page ? PAGE : request.url === '/worker.js' ? WORKER : fs.readFileSync(path.join(folder, name)),
  );
}

/* Draw at random from what is allowed, up to the end. Stands alone: it runs in the page. */
async function generate() {
  const library = await turnstile.load(),
    vocab = library.embeddedVocab();
  const matcher = library.matcher(
    library.jsonSchema(
      vocab,
      {
        type: 'object',
        properties: {n: {type: 'integer', minimum: 10, maximum: 99}},
        required: ['n'],
        additionalProperties: false,
      },
      {whitespace: 'compact'},
    ),
  );
  const bytes = [];
  for (let i = 0; i < 200 && !matcher.isTerminated; i++) {
    const logits = Float32Array.from({length: vocab.logitsWidth}, () => Math.random());
    matcher.applyMask(logits);
    const token = logits.reduce((best, logit, at) => (logit > logits[best] ? at : best), 0);
    if (!vocab.isEog(token)) bytes.push(...vocab.bytes(token));
    matcher.accept(token);
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

const WORKER = `importScripts('/dist/browser.js');\n${generate}\ngenerate().then(postMessage, (error) => postMessage(String(error)));`;

function valid(text) {
  try {
    const value = JSON.parse(text);
    return (
      Object.keys(value).join() === 'n' &&
      Number.isInteger(value.n) &&
      value.n >= 10 &&
      value.n <= 99
    );
  } catch (error) {
    return false;
  }
}

async function main() {
  const server = http.createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await launch(),
    page = await browser.newPage(),
    errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const text = await page.evaluate(generate);
  check(valid(text), `a page generates: ${text}`);
  const other = await page.evaluate(
    () =>
      new Promise((resolve) => {
        new Worker('/worker.js').onmessage = (event) => resolve(event.data);
      }),
  );
  check(valid(other), `a worker generates: ${other}`);
  const refused = await page.evaluate(async () => {
    const library = await turnstile.load({folder: '/dist'}),
      vocab = library.embeddedVocab(),
      statuses = [];
    for (const call of [
      () => library.jsonSchema(vocab, {type: 'strin'}),
      () => library.regex(vocab, '\ud800'),
    ])
      try {
        call();
      } catch (error) {
        statuses.push(
          error instanceof turnstile.TurnstileError
            ? `${error.status} ${error.pointer}`
            : String(error),
        );
      }
    return statuses;
  });
  check(refused.join() === 'TSL_ERR_SCHEMA /type,TSL_ERR_SYNTAX ', `what is refused: ${refused}`);
  const globals = await page.evaluate(() =>
    ['turnstile', 'createTurnstile', 'Turnstile', 'module', 'load'].filter(
      (name) => name in globalThis,
    ),
  );
  check(globals.join() === 'turnstile', `the script defines one name: ${globals}`);
  check(!errors.length, errors.join('; '));
  await browser.close();
  server.close();
  end();
}

main();
