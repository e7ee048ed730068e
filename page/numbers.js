/* numbers.js - what a sampler does with recorded logits: the arithmetic of the page, without the
 * page.
 *
 * The stages are those of turnstile.h, section 6: mask, penalty, temperature, top-k, top-p, min-p,
 * each over what the one before has left, and p is the softmax over that. Everything is over the
 * captured tokens only: of the others the logits are not known.
 *
 * Tested by tests/page/trace_test.js (against published numbers) and tests/programs/test_trace.py
 * (against the C sampler's own probabilities).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const Numbers = (() => {
  const PLAIN = {temperature: 1, topK: 0, topP: 1, minP: 0, penalty: 1, maskFirst: true};

  /* Probabilities of some logits; 0 where `alive` says no. Temperature 0: all to the largest, ties
   * to the first. */
  function softmax(logits, alive, temperature) {
    let best = -1;
    logits.forEach((z, i) => {
      if (alive[i] && (best < 0 || z > logits[best])) best = i;
    });
    if (best < 0) return logits.map(() => 0);
    if (temperature === 0) return logits.map((_, i) => (i === best ? 1 : 0));
    const weights = logits.map((z, i) =>
      alive[i] ? Math.exp((z - logits[best]) / temperature) : 0,
    );
    const sum = weights.reduce((a, b) => a + b, 0);
    return weights.map((w) => w / sum);
  }

  /* Indices of those alive, the most likely first; ties to the lower id. */
  function ranked(candidates, p, alive) {
    const order = [];
    alive.forEach((yes, i) => {
      if (yes) order.push(i);
    });
    return order.sort((a, b) => p[b] - p[a] || candidates[a].id - candidates[b].id);
  }

  /* Logits with what the generation added to them; of tokens that came before, with the repetition
   * penalty: divided if positive, multiplied else. */
  function penalised(candidates, seen, penalty) {
    return candidates.map((c) => {
      const z = c.logit + (c.bias || 0);
      return seen.has(c.id) ? (z > 0 ? z / penalty : z * penalty) : z;
    });
  }

  const drawable = (c) => c.allowed && !c.odd;
  const why = (c) => (!c.allowed ? 'mask' : 'odd');

  /* What becomes of the candidates. Gives {rows, stages, left}: a row for each candidate, in the
   * order given, with
   *
   *   logit      after the penalty
   *   before     its probability at the temperature, before mask and cut-offs
   *   out        what took it out: "mask", "odd", "greedy", "top-k", "top-p", "min-p", or null
   *   sum        of the probabilities of those at least as likely, where top-p looked (else null)
   *   p          its probability at the end, renormalised over what is left
   *
   * and a line for each stage: {name, kept, mass, bar}; mass: what of the probability before the
   * stage it keeps. */
  function apply(candidates, options, seen = new Set()) {
    const o = {...PLAIN, ...options},
      logits = penalised(candidates, seen, o.penalty);
    const alive = candidates.map(() => true),
      stages = [],
      out = candidates.map(() => null),
      sums = candidates.map(() => null);
    const before = softmax(logits, alive, o.temperature);
    const keep = (name, test, extra = {}) => {
      const p = softmax(logits, alive, o.temperature);
      let mass = 0,
        kept = 0;
      candidates.forEach((c, i) => {
        if (!alive[i]) return;
        if (test(c, i, p)) {
          mass += p[i];
          kept++;
        } else {
          alive[i] = false;
          out[i] = typeof extra.out === 'function' ? extra.out(c) : name;
        }
      });
      stages.push({name, kept, mass, bar: extra.bar ? extra.bar(p) : null});
    };
    const mask = () => keep('mask', drawable, {out: why});
    if (o.maskFirst) mask();
    if (o.temperature === 0) {
      const first = ranked(candidates, logits, alive)[0];
      keep('greedy', (c, i) => i === first);
    }
    if (o.topK > 0) {
      const first = new Set(ranked(candidates, logits, alive).slice(0, o.topK));
      keep('top-k', (c, i) => first.has(i));
    }
    if (o.topP < 1) {
      const p = softmax(logits, alive, o.temperature),
        first = new Set();
      let sum = 0;
      for (const i of ranked(candidates, p, alive)) {
        if (sum < o.topP) first.add(i); /* the smallest set that reaches it, one at least */
        sum += p[i];
        sums[i] = sum;
      }
      if (first.size === 0) first.add(ranked(candidates, p, alive)[0]);
      keep('top-p', (c, i) => first.has(i));
    }
    if (o.minP > 0)
      keep('min-p', (c, i, p) => p[i] >= o.minP * Math.max(...p), {
        bar: (p) => o.minP * Math.max(...p),
      });
    if (!o.maskFirst) mask();
    const p = softmax(logits, alive, o.temperature);
    const rows = candidates.map((c, i) => ({
      candidate: c,
      logit: logits[i],
      before: before[i],
      out: out[i],
      sum: sums[i],
      p: p[i],
    }));
    return {rows, stages, left: alive.filter(Boolean).length};
  }

  return {PLAIN, softmax, apply};
})();

if (typeof module !== 'undefined') module.exports = Numbers;
