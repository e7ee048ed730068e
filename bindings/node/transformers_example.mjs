/* transformers.js: generate() under a JSON Schema.   node transformers_example.mjs MODEL_FOLDER DIST
 *
 * SPDX-License-Identifier: Apache-2.0
 */
import fs from 'node:fs';
import path from 'node:path';
import {AutoModelForCausalLM, AutoTokenizer, env} from '@huggingface/transformers';
import {load} from 'turnstile-llm';
import {logitsProcessor} from 'turnstile-llm/transformers.js';

const folder = path.resolve(process.argv[2]);
env.allowRemoteModels = false;
env.localModelPath = path.dirname(folder);
const name = path.basename(folder);
const tokenizer = await AutoTokenizer.from_pretrained(name);
const model = await AutoModelForCausalLM.from_pretrained(name, {dtype: 'fp32'});

const turnstile = await load({folder: process.argv[3]});
const vocab = turnstile.loadVocab(fs.readFileSync(path.join(folder, 'tokenizer.json')));
const schema = {
  type: 'object',
  properties: {name: {type: 'string', maxLength: 4}, age: {enum: ['18', '19']}},
  required: ['name', 'age'],
  additionalProperties: false,
};
const grammar = turnstile.jsonSchema(vocab, schema, {whitespace: 'compact'});

const inputs = tokenizer(['A person, as JSON:']);
const processor = logitsProcessor(turnstile, grammar);
const options = {max_new_tokens: 100, do_sample: true, logits_processor: [processor]};
const out = await model.generate({...inputs, ...options});
const written = out.slice(null, [inputs.input_ids.dims[1], null]);
console.log(tokenizer.batch_decode(written, {skip_special_tokens: true})[0]);
