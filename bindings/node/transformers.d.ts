// SPDX-License-Identifier: Apache-2.0

import type {Grammar, Turnstile} from './index';

/** A processor for `generate({logits_processor: [processor]})` of transformers.js: greedy and
 * sampling, one text or a batch. Make one for each call.
 *
 * `grammars`: one for all texts of the batch, or one or null (unconstrained) for each. The logits
 * (float32, rows × width) are changed in place. It throws if the rows are not those that it
 * follows, or if the grammar does not allow a token that was chosen. It also throws what
 * Matcher.mask() throws. A step costs the mask and one pass over the logits. */
export function logitsProcessor(
  turnstile: Turnstile,
  grammars: Grammar | (Grammar | null)[],
): (inputIds: bigint[][], logits: {data: Float32Array; dims: number[]}) => unknown;
