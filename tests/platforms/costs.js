/* costs.js - costs.c for WebAssembly: scripts/platform_costs.py runs it.
 *
 *   node costs.js PACKAGE FOLDER ROUNDS      PACKAGE: bindings/node; FOLDER: what its build.py made
 *
 * It prints a line for each work: its name and nanoseconds of a round. process.ppid is getppid,
 * by which the plugin that counts instructions knows where a work begins and ends. The package draws
 * no tokens, so there is no work for that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const [, , folder, dist, count] = process.argv;
const WIDTH = 131072;
const SCHEMA = {
  type: 'object',
  required: ['name', 'age'],
  properties: {name: {type: 'string', pattern: '^[A-Z][a-z]+$'}, age: {type: 'integer'}},
};
const TEXT = Buffer.from('{"name": "Ada", "age": 36}');

require(`${folder}/index.js`)
  .load({folder: dist})
  .then((library) => {
    const {module} = library;
    const vocab = library.embeddedVocab();
    const row = module._malloc(4 * WIDTH);
    const mask = module._malloc(WIDTH / 8);
    const logits = Float32Array.from({length: WIDTH}, (_, i) => ((i * 2654435761) % 1000) / 100);
    new Uint32Array(module.HEAPU8.buffer, mask, WIDTH / 32).forEach((_, i, words) => {
      words[i] = i % 2 ? 0xffffffff : 0;
    });
    const works = {
      apply() {
        new Float32Array(module.HEAPU8.buffer, row, WIDTH).set(logits);
        module._tsl_mask_apply(mask, row, WIDTH, 0);
      },
      masks() {
        const grammar = library.jsonSchema(vocab, SCHEMA);
        const matcher = library.matcher(grammar);
        for (const byte of TEXT) {
          matcher.mask();
          matcher.acceptBytes(Uint8Array.of(byte));
        }
        matcher.free();
        grammar.free();
      },
    };
    const rounds = Number(count);
    for (const [name, work] of Object.entries(works)) {
      for (let i = 0; i < 3; i++) work();
      process.ppid; // eslint-disable-line no-unused-expressions
      const start = process.hrtime.bigint();
      for (let i = 0; i < rounds; i++) work();
      const end = process.hrtime.bigint();
      process.ppid; // eslint-disable-line no-unused-expressions
      console.log(`${name} ${Number(end - start) / rounds}`);
    }
  });
