/* transformers.js with its own ONNX Runtime: generate() under grammars.
 *
 *     node test.mjs MODEL_FOLDER DIST
 *
 * Prints "text SCHEMA TOKENS HEX" for each text, which host_transformers_js.py has a validator
 * judge, and "ok" or "failed" with what was checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import {AutoModelForCausalLM, AutoTokenizer, LogitsProcessorList, Tensor, env} from '@huggingface/transformers';
import {load} from 'turnstile-llm';
import {logitsProcessor} from 'turnstile-llm/transformers.js';

const folder = path.resolve(process.argv[2]);
env.allowRemoteModels = false;
env.localModelPath = path.dirname(folder);
const tokenizer = await AutoTokenizer.from_pretrained(path.basename(folder));
const model = await AutoModelForCausalLM.from_pretrained(path.basename(folder), {dtype: 'fp32'});
const turnstile = await load({folder: process.argv[3]});
const vocab = turnstile.loadVocab(fs.readFileSync(path.join(folder, 'tokenizer.json')));
const SCHEMAS = JSON.parse(process.argv[4]);
const grammars = SCHEMAS.map((schema) =>
  turnstile.jsonSchema(vocab, schema, {whitespace: 'compact'})
);
const WIDTH = 128512; // of the model: more than the tokenizer has tokens

function check(what, call) {
  try {
    call();
    console.log(`ok ${what}`);
  } catch (error) {
    console.log(`failed ${what}: ${error.message}`);
  }
}

/* Generates a text for each prompt; `kinds` has the index of each one's schema, or null. */
async function generate(prompts, grammar, kinds, options) {
  const inputs = tokenizer(prompts, {padding: true});
  const out = await model.generate({
    ...inputs,
    max_new_tokens: 64,
    logits_processor: [logitsProcessor(turnstile, grammar)],
    ...options,
  });
  const start = inputs.input_ids.dims[1];
  out.tolist().forEach((row, i) => {
    if (kinds[i] === null) return;
    const tokens = row.slice(start).map(Number).filter((token) => !vocab.isEog(token));
    const text = tokenizer.decode(tokens, {skip_special_tokens: true});
    console.log(`text ${kinds[i]} ${tokens.length} ${Buffer.from(text).toString('hex')}`);
  });
}

await generate(['Hello'], grammars[0], [0], {do_sample: false});
await generate(['Hello'], grammars[0], [0], {do_sample: true});
const three = ['Hello', 'A prompt that is longer than the first', 'Hi'];
await generate(three, grammars[0], [0, 0, 0], {do_sample: true});
await generate(three, [grammars[0], null, grammars[1]], [0, null, 1], {do_sample: true});

/* A list of transformers.js with this one processor, and logits that are all 0. */
function listOf(grammar) {
  const list = new LogitsProcessorList();
  list.push(logitsProcessor(turnstile, grammar));
  return list;
}
const zeros = (rows, width) =>
  new Tensor('float32', new Float32Array(rows * width), [rows, width]);
const allowed = (logits) => [...logits.data.keys()].filter((i) => logits.data[i] > -Infinity);
const matcher = turnstile.matcher(grammars[1]);
const masked = (bits, width) =>
  [...Array(width).keys()].filter((i) => i >>> 5 < bits.length && (bits[i >>> 5] >>> (i & 31)) & 1);

check('logits wider and narrower than the vocabulary', () => {
  for (const width of [WIDTH, vocab.size, 1000])
    assert.deepStrictEqual(
      allowed(listOf(grammars[1])([[1n]], zeros(1, width))),
      masked(matcher.mask(), width)
    );
});
check('a text that went back follows the other way', () => {
  const list = listOf(grammars[1]);
  const [open] = vocab.encode('[');
  const [quote] = vocab.encode('"');
  list([[1n]], zeros(1, WIDTH));
  list([[1n, BigInt(open)]], zeros(1, WIDTH));
  list([[1n, BigInt(open), BigInt(quote)]], zeros(1, WIDTH));
  matcher.accept(open);
  assert.deepStrictEqual(
    allowed(list([[1n, BigInt(open)]], zeros(1, WIDTH))),
    masked(matcher.mask(), WIDTH)
  );
});
check('a wrong token, another prompt, other rows', () => {
  const list = listOf(grammars[0]);
  list([[1n, 2n]], zeros(1, WIDTH));
  assert.throws(() => list([[1n, 2n, 1n]], zeros(1, WIDTH)), /does not allow the token 1 at place 0/);
  assert.throws(() => list([[3n, 2n, 1n]], zeros(1, WIDTH)), /another prompt/);
  assert.throws(() => list([[1n, 2n, 3n, 4n]], zeros(1, WIDTH)), /2 tokens after 0/);
  assert.throws(() => list([[1n], [2n]], zeros(2, WIDTH)), /2 rows for 1 texts/);
  assert.throws(() => listOf([grammars[0], null])([[1n]], zeros(1, WIDTH)), /2 grammars for 1 rows/);
});
check('after the end only tokens that end a text', () => {
  const list = listOf(turnstile.regex(vocab, 'a'));
  const [letter] = vocab.encode('a');
  list([[1n]], zeros(1, WIDTH));
  list([[1n, BigInt(letter)]], zeros(1, WIDTH));
  for (const tail of [[128009n], [128009n, 128001n]])
    assert.deepStrictEqual(
      allowed(list([[1n, BigInt(letter), ...tail]], zeros(1, WIDTH))),
      [...vocab.eog]
    );
});
