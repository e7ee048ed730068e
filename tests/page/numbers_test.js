/* The page's arithmetic, without the page: node tests/page/numbers_test.js GOLDENS SAMPLED RECORD...
 *
 *   goldens   published, rounded answers for softmax, top-k, top-p, min-p, the repetition penalty
 *             and greedy choice
 *   sampled   rows with settings, a history and the distribution that `turnstile sample` gives
 *             for them
 *   records   of `turnstile trace --json`: where all tokens that may be drawn were captured, the
 *             page's probability of the token drawn is the C sampler's
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';
const fs = require('fs');
const Numbers = require('../../page/numbers.js');
const {cases} = require('./goldens.js');

let passed = 0,
  failed = 0;
function check(condition, what) {
  if (condition) passed++;
  else {
    failed++;
    console.log(`  FAIL ${what}`);
  }
}

const [goldens, sampled, ...records] = process.argv.slice(2);
for (const c of cases(JSON.parse(fs.readFileSync(goldens, 'utf8')))) {
  const {rows, stages} = Numbers.apply(c.candidates, c.settings, c.seen);
  for (const [field, index, value, tol] of c.expect) {
    const got = field === 'mass' || field === 'bar' ? stages.at(-1)[field] : rows[index][field];
    check(
      Math.abs(got - value) <= tol,
      `${c.name}: ${field} of ${c.candidates[index].text} is ${got}, not ${value}`,
    );
  }
  for (const [index, kept] of c.kept.entries())
    check(
      (rows[index].out === null) === kept,
      `${c.name}: ${c.candidates[index].text} is ${kept ? 'kept' : 'cut'}`,
    );
}
const golden = passed + failed;

const rowsSampled = JSON.parse(fs.readFileSync(sampled, 'utf8'));
for (const {logits, settings, history, tokens} of rowsSampled) {
  const candidates = logits.map((logit, id) => ({id, logit, allowed: true})),
    {rows} = Numbers.apply(candidates, settings, history),
    wanted = new Map(tokens);
  check(
    rows.every((r) => Math.abs(r.p - (wanted.get(r.candidate.id) || 0)) < 1e-5),
    `${JSON.stringify(settings)} behind ${history}: ${rows.map((r) => r.p)}, not ${tokens}`,
  );
}

let compared = 0;
for (const file of records) {
  const record = JSON.parse(fs.readFileSync(file, 'utf8')),
    {temperature, top_k: topK, top_p: topP, min_p: minP} = record.sampling;
  for (const [i, step] of record.steps.entries()) {
    if (
      !step.candidates ||
      step.drawable > step.candidates.filter((c) => c.allowed && !c.odd).length
    )
      continue;
    const {rows} = Numbers.apply(step.candidates, {temperature, topK, topP, minP});
    const row = rows.find((r) => r.candidate.id === step.token.id);
    check(
      Math.abs(row.p - step.probability) < 1e-5,
      `${file}: step ${i + 1}: ${row.p}, the sampler drew with ${step.probability}`,
    );
    compared++;
  }
}
console.log(
  `  ok   numbers (${golden} published answers, ${rowsSampled.length} distributions and ${compared} draws of the C sampler)`,
);
if (!golden || !rowsSampled.length || !compared) failed++;
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
