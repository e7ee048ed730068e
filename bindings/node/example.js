/* One constrained generation from random logits, which stand in for a model's: node example.js
 * [DIST]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';
const {load} = require('.');

async function main() {
  const turnstile = await load(process.argv[2] ? {folder: process.argv[2]} : {});
  const vocab = turnstile.embeddedVocab();
  const schema = {
    type: 'object',
    properties: {name: {enum: ['Ada', 'Alan']}, age: {type: 'integer', minimum: 0, maximum: 99}},
    required: ['name', 'age'],
    additionalProperties: false,
  };
  const matcher = turnstile.matcher(turnstile.jsonSchema(vocab, schema, {whitespace: 'compact'}));
  const parts = [];
  while (!matcher.isTerminated) {
    const logits = Float32Array.from({length: vocab.logitsWidth}, Math.random); // the model's
    matcher.applyMask(logits);
    const token = logits.reduce((best, logit, i) => (logit > logits[best] ? i : best), 0);
    matcher.accept(token);
    if (!vocab.isEog(token)) parts.push(vocab.bytes(token));
  }
  console.log(Buffer.concat(parts).toString());
}

main();
