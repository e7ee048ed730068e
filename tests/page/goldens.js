/* goldens.js - the published answers as steps of a record: what is set, and what must come out.
 * Used with and without a browser.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

const candidatesOf = (tokens, logits) =>
  tokens.map((text, id) => ({id, text, logit: logits[id], allowed: true}));

/* The settings of a case of "cat", by its operation. */
function settingsOf(c) {
  switch (c.op) {
    case 'softmax':
      return {temperature: c.T};
    case 'top_k':
      return {topK: c.k};
    case 'top_p':
      return {topP: c.p};
    case 'min_p':
      return {minP: c.p};
    case 'repetition_penalty':
      return {penalty: c.theta};
    case 'greedy':
      return {temperature: 0};
    default:
      return null; /* a formula without numbers */
  }
}

/* What must come out of it: [field of a row or stage, index of the candidate, value, tolerance]. */
function expectedOf(c, tokens, tol) {
  const out = [],
    index = (name) => tokens.indexOf(name);
  (c.expect_first || (Array.isArray(c.expect) ? c.expect : [])).forEach((p, i) =>
    out.push(['p', i, p, tol]),
  );
  (c.renormalised || []).forEach((p, i) => out.push(['p', i, p, tol]));
  (c.cumulative || []).forEach((sum, i) => out.push(['sum', i, sum, tol]));
  if (c.mass !== undefined) out.push(['mass', 0, c.mass, tol]);
  if (c.bar !== undefined) out.push(['bar', 0, c.bar, tol]);
  if (c.op === 'repetition_penalty')
    out.push(
      ['logit', index('mat'), c.logit_of_mat, tol],
      ['p', index('mat'), c.expect_mat, tol],
      ['p', index('sofa'), c.expect_sofa, tol],
    );
  if (c.op === 'greedy') out.push(['p', index(c.expect), 1, 0]);
  return out;
}

function tableCases(table, name) {
  return table.cases
    .filter(settingsOf)
    .map((c) => ({
      name: `${name}: ${c.op}`,
      candidates: candidatesOf(table.tokens, table.logits),
      settings: settingsOf(c),
      seen: (c.seen || []).map((t) => table.tokens.indexOf(t)),
      expect: expectedOf(c, table.tokens, c.tol),
      kept: c.kept ? table.tokens.map((t) => c.kept.includes(t)) : [],
    }));
}

/* All cases: {name, candidates, settings, seen, expect, kept}. */
function cases(goldens) {
  const out = [
    ...tableCases(goldens.cat, 'cat'),
    ...tableCases(goldens.weather, 'weather').filter((c) => c.expect.length),
  ];
  goldens.softmax_pairs.forEach((pair, i) =>
    out.push({
      name: `pair ${i + 1}`,
      candidates: candidatesOf(['a', 'b', 'c'], pair.logits),
      settings: {},
      seen: [],
      kept: [],
      expect: pair.expect.map((p, k) => ['p', k, p, pair.tol]),
    }),
  );
  const n = goldens.nucleus10;
  out.push({
    name: 'nucleus',
    candidates: candidatesOf(n.tokens, n.p.map(Math.log)),
    settings: {topP: n.top_p},
    seen: [],
    kept: n.tokens.map((_, i) => i < n.kept),
    expect: [...n.renormalised.map((p, i) => ['p', i, p, n.tol]), ['mass', 0, n.mass, n.tol]],
  });
  return out;
}

module.exports = {cases};
