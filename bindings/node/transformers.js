/* transformers.js: a logits processor for generate(). transformers.js itself is not imported here.
 *
 *     const {logitsProcessor} = require('turnstile-llm/transformers');
 *     await model.generate({...inputs, logits_processor: [logitsProcessor(turnstile, grammar)]});
 *
 * The processors of transformers.js are functions of all tokens and the logits. Each row is
 * compared with what it was one step before: the matcher goes back to where the two part, and
 * accepts what is new.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
'use strict';

/* One row: the prompt's tokens, those after it, and how many of these the matcher has. */
function follower(turnstile, grammar) {
  const matcher = turnstile.matcher(grammar);
  let prompt = null,
    text = [],
    accepted = 0;

  /* How many of the leading tokens of a text are those of the step before. */
  function shared(next) {
    let count = 0;
    while (count < next.length && count < text.length && next[count] === text[count]) count++;
    return count;
  }

  return {
    matcher,
    follow(tokens) {
      if (prompt === null) {
        prompt = tokens;
        return;
      }
      if (tokens.length < prompt.length || prompt.some((token, i) => token !== tokens[i]))
        throw new Error(
          'the tokens begin with another prompt than at the first step: make one processor for ' +
            'each call of generate()',
        );
      const next = tokens.slice(prompt.length);
      if (next.length > text.length + 1)
        throw new Error(
          `${next.length} tokens after ${text.length}: make one processor for each call of ` +
            'generate()',
        );
      const same = shared(next);
      if (accepted > same) {
        matcher.rollback(accepted - same);
        accepted = same;
      }
      for (let i = same; i < next.length && !matcher.isTerminated; i++, accepted++)
        if (!matcher.accept(next[i]))
          throw new Error(
            `the grammar does not allow the token ${next[i]} at place ${i} of the text: ` +
              'something else chose it',
          );
      text = next;
    },
  };
}

/* Set what is not allowed to -Infinity in one row of logits, of any width. */
function apply(matcher, vocab, row) {
  if (matcher.isTerminated) {
    const kept = vocab.eog
      .filter((token) => token < row.length)
      .map((token) => [token, row[token]]);
    row.fill(-Infinity);
    for (const [token, logit] of kept) row[token] = logit;
    return;
  }
  const mask = matcher.mask();
  for (let i = 0; i < row.length; i++)
    if (i >>> 5 >= mask.length || !((mask[i >>> 5] >>> (i & 31)) & 1)) row[i] = -Infinity;
}

function logitsProcessor(turnstile, grammars) {
  const one = !Array.isArray(grammars);
  let rows = null;
  return (inputIds, logits) => {
    const width = logits.dims[logits.dims.length - 1];
    if (rows === null) {
      const each = one ? inputIds.map(() => grammars) : grammars;
      if (each.length !== inputIds.length)
        throw new Error(`${each.length} grammars for ${inputIds.length} rows: give one for each`);
      rows = each.map((grammar) => grammar && {grammar, ...follower(turnstile, grammar)});
    }
    if (rows.length !== inputIds.length || logits.data.length !== rows.length * width)
      throw new Error(
        `logits of ${logits.data.length / width} rows for ${rows.length} texts: make one ` +
          'processor for each call of generate()',
      );
    rows.forEach((row, i) => {
      if (!row) return;
      row.follow(inputIds[i].map(Number));
      apply(row.matcher, row.grammar.vocab, logits.data.subarray(i * width, (i + 1) * width));
    });
    return logits;
  };
}

module.exports = {logitsProcessor};
