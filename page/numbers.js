/* numbers.js - what a sampler does with recorded logits: the arithmetic of the page, without the
 * page.
 *
 * The stages are those of turnstile.h, section 6, in its order: mask, penalties, DRY, temperature,
 * top-n-sigma, top-k, top-p, min-p, typical-p, epsilon, eta, XTC. Each is over what the one before
 * has left, and p is the softmax over that. Everything is over the captured tokens only: of the
 * others the logits are not known. XTC is shown as it is where it strikes. Mirostat is not here:
 * its bound depends on all draws before.
 *
 * Tested by tests/page/trace_test.js (against published numbers) and tests/programs/test_trace.py
 * (against the C sampler's own probabilities).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const Numbers = (() => {
  const PLAIN = {
    temperature: 1,
    dynamic: 0,
    topK: 0,
    topP: 1,
    minP: 0,
    typical: 1,
    sigma: 0,
    epsilon: 0,
    eta: 0,
    xtc: 0,
    penalty: 1,
    frequency: 0,
    presence: 0,
    dry: 0,
    maskFirst: true,
  };
  const DRY_BASE = 1.75,
    DRY_ALLOWED = 2;

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

  /* The most tokens at the end of the history that stood before an earlier `id`, too. */
  function repeated(history, id) {
    let most = 0;
    for (let at = 0; at < history.length; at++) {
      if (history[at] !== id) continue;
      let n = 0;
      while (n < at && history[at - 1 - n] === history[history.length - 1 - n]) n++;
      most = Math.max(most, n);
    }
    return most;
  }

  /* Logits with what the generation added to them, and what is subtracted from tokens that came
   * before. The repetition penalty divides positive logits, and multiplies others. */
  function penalised(candidates, history, o) {
    const counts = new Map();
    for (const id of history) counts.set(id, (counts.get(id) || 0) + 1);
    return candidates.map((c) => {
      let z = c.logit + (c.bias || 0);
      const count = counts.get(c.id) || 0;
      if (count) z = (z > 0 ? z / o.penalty : z * o.penalty) - count * o.frequency - o.presence;
      const n = o.dry > 0 && count ? repeated(history, c.id) : 0;
      return n >= DRY_ALLOWED ? z - o.dry * DRY_BASE ** (n - DRY_ALLOWED) : z;
    });
  }

  const entropyOf = (p) => p.reduce((sum, x) => sum - (x > 0 ? x * Math.log(x) : 0), 0);

  /* Between temperature - dynamic and temperature + dynamic, by entropy. */
  function heated(logits, alive, o) {
    const left = alive.filter(Boolean).length,
      low = Math.max(0, o.temperature - o.dynamic),
      most = Math.log(left);
    if (o.dynamic <= 0 || left === 0) return o.temperature;
    const share = most > 0 ? Math.min(1, entropyOf(softmax(logits, alive, 1)) / most) : 0;
    return low + (o.temperature + o.dynamic - low) * share;
  }

  const drawable = (c) => c.allowed && !c.odd;
  const why = (c) => (!c.allowed ? 'mask' : 'odd');

  /* What becomes of the candidates. Gives {rows, stages, left}: a row for each candidate, in the
   * order given, with
   *
   *   logit      after the penalty
   *   before     its probability at the temperature, before mask and cut-offs
   *   out        what took it out: "mask", "odd", "greedy" or the name of a stage; null: nothing
   *   sum        of the probabilities of those at least as likely, where top-p looked (else null)
   *   p          its probability at the end, renormalised over what is left
   *
   * and a line for each stage: {name, kept, mass, bar}; mass: what of the probability before the
   * stage it keeps. `history`: the ids of the tokens before, in their order. */
  function apply(candidates, options, history = []) {
    const o = {...PLAIN, ...options},
      logits = penalised(candidates, [...history], o);
    const alive = candidates.map(() => true),
      stages = [],
      out = candidates.map(() => null),
      sums = candidates.map(() => null);
    let heat = o.temperature;
    const now = () => softmax(logits, alive, heat);
    const before = now();
    const keep = (name, test, extra = {}) => {
      const p = now();
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
    /* The most likely one stays in any case. */
    const keepHeavy = (name, on, barOf) => {
      const p = now(),
        bar = Math.min(barOf(p), Math.max(...p));
      if (on > 0) keep(name, (c, i) => p[i] >= bar, {bar: () => bar});
    };
    /* Those whose surprise is nearest to the entropy, as many as make up the share. */
    const keepTypical = (share) => {
      const p = now(),
        entropy = entropyOf(p),
        distance = (i) => Math.abs(-Math.log(p[i]) - entropy),
        first = new Set();
      let sum = 0;
      const order = ranked(candidates, p, alive).sort((a, b) => distance(a) - distance(b));
      for (const i of order) {
        if (sum < share) first.add(i);
        sum += p[i];
      }
      keep('typical-p', (c, i) => first.has(i));
    };
    if (o.maskFirst) mask();
    heat = heated(logits, alive, o);
    if (heat === 0) {
      const first = ranked(candidates, logits, alive)[0];
      keep('greedy', (c, i) => i === first);
    }
    if (o.sigma > 0) {
      const left = logits.filter((_, i) => alive[i]),
        mean = left.reduce((a, z) => a + z, 0) / left.length,
        spread = Math.sqrt(left.reduce((a, z) => a + (z - mean) ** 2, 0) / left.length);
      keep('top-n-sigma', (c, i) => logits[i] >= Math.max(...left) - o.sigma * spread);
    }
    if (o.topK > 0) {
      const first = new Set(ranked(candidates, logits, alive).slice(0, o.topK));
      keep('top-k', (c, i) => first.has(i));
    }
    if (o.topP < 1) {
      const p = now(),
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
    if (o.typical > 0 && o.typical < 1) keepTypical(o.typical);
    keepHeavy('epsilon', o.epsilon, () => o.epsilon);
    keepHeavy('eta', o.eta, (p) => Math.min(o.eta, Math.sqrt(o.eta) * Math.exp(-entropyOf(p))));
    if (o.xtc > 0) {
      const p = now(),
        likely = ranked(candidates, p, alive).filter((i) => p[i] >= o.xtc),
        gone = new Set(likely.slice(0, -1));
      keep('XTC', (c, i) => !gone.has(i));
    }
    if (!o.maskFirst) mask();
    const p = now();
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
