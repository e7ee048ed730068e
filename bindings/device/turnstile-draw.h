/* turnstile-draw.h - the stages of a draw on a device. The essay is in turnstile-device.h.
 *
 * Tested by tests/hosts/host_device.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TURNSTILE_DRAW_H
#define TURNSTILE_DRAW_H

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The largest of the threads' values; all threads call this. */
TSD_FN float tsd_largest(TSD_SHARED tsd_room *room, tsd_u32 self, float x) {
  room->value[self] = x;
  TSD_BARRIER();
  for (tsd_u32 half = TSD_THREADS / 2u; half; half /= 2u) {
    if (self < half && room->value[self + half] > room->value[self])
      room->value[self] = room->value[self + half];
    TSD_BARRIER();
  }
  x = room->value[0];
  TSD_BARRIER();
  return x;
}

/* The largest candidate of each block, and of all. Counts the candidates in room->allowed and NaNs
 * in room->nans, which are 0 before. */
TSD_FN void tsd_find_peaks(TSD_PRIVATE tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self) {
  tsd_u32 lane = self % TSD_LANES, allowed = 0, nans = 0;
  float best = -TSD_INFINITY;
  for (tsd_u32 first = 0; first < row->blocks; first += TSD_TEAMS) {
    tsd_u32 b = first + self / TSD_LANES;
    float top = -TSD_INFINITY, x;
    for (tsd_u32 i = b * TSD_BLOCK + lane; b < row->blocks && i < (b + 1u) * TSD_BLOCK;
         i += TSD_LANES)
      if (tsd_is_left(row, i, &x)) {
        allowed++;
        if (x != x) nans++;
        if (x > top) top = x;
      }
    room->value[self] = top;
    TSD_BARRIER();
    if (lane == 0u && b < row->blocks) {
      for (tsd_u32 l = 1; l < TSD_LANES; l++)
        if (room->value[self + l] > top) top = room->value[self + l];
      top = tsd_sum(top, 0.0f); /* of the two zeros the positive one */
      row->peak[b] = tsd_bits(top);
      if (top > best) best = top;
    }
    TSD_BARRIER();
  }
  if (allowed) tsd_add(&room->allowed, allowed);
  if (nans) tsd_add(&room->nans, nans);
  row->anchor = tsd_largest(room, self, best);
}

#ifdef TSD_DOUBLES
/* The base of a block is the largest logit before it, unless its own peak is far above that; or its
 * own peak, if `by_peak`. */
TSD_FN void tsd_find_bases(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self,
                           bool by_peak) {
  tsd_u32 each = (row->blocks + TSD_THREADS - 1u) / TSD_THREADS, from = self * each,
          to = from + each;
  float top = -TSD_INFINITY;
  if (to > row->blocks) to = row->blocks;
  for (tsd_u32 b = from; b < to; b++)
    if (tsd_float(row->peak[b]) > top) top = tsd_float(row->peak[b]);
  room->value[self] = top;
  TSD_BARRIER();
  top = -TSD_INFINITY;
  for (tsd_u32 t = 0; t < self; t++)
    if (room->value[t] > top) top = room->value[t];
  for (tsd_u32 b = from; b < to; b++) {
    float peak = tsd_float(row->peak[b]);
    bool near =
        !by_peak && top > -TSD_INFINITY && tsd_times(tsd_sum(peak, -top), row->rate) <= 8.0f;
    row->base[b] = near ? tsd_bits(top) : row->peak[b];
    if (peak > top) top = peak;
  }
  TSD_BARRIER();
}
#else
TSD_FN void tsd_find_bases(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self,
                           bool by_peak) {
  (void)room, (void)by_peak;
  for (tsd_u32 b = self; b < row->blocks; b += TSD_THREADS) row->base[b] = tsd_bits(row->anchor);
  TSD_BARRIER();
}
#endif

TSD_FN float tsd_weight_at(TSD_PRIVATE const tsd_row *row, tsd_u32 i, float anchor) {
  float x;
  return tsd_is_left(row, i, &x) ? tsd_weight(x, anchor, row->rate) : 0.0f;
}

/* The mass of each block, lifted to the anchor, and of all in room->mass. Sixteen lanes of a block
 * are added as the library's kernels add them. */
TSD_FN void tsd_find_masses(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self,
                            bool by_peak) {
  tsd_u32 lane = self % TSD_LANES;
  tsd_find_bases(row, room, self, by_peak);
  for (tsd_u32 first = 0; first < row->blocks; first += TSD_TEAMS) {
    tsd_u32 b = first + self / TSD_LANES;
    float base = b < row->blocks ? tsd_float(row->base[b]) : -TSD_INFINITY;
    tsd_mass sum = 0;
    for (tsd_u32 q = 0; q < TSD_BLOCK && base >= -TSD_LARGEST; q += 64u) {
      tsd_u32 i = b * TSD_BLOCK + q + lane;
      float low = tsd_sum(tsd_weight_at(row, i, base), tsd_weight_at(row, i + 16u, base)),
            high = tsd_sum(tsd_weight_at(row, i + 32u, base), tsd_weight_at(row, i + 48u, base));
      sum = tsd_added(sum, tsd_mass_of(tsd_sum(low, high)));
    }
    room->lane[self] = sum;
    TSD_BARRIER();
    if (lane == 0u && b < row->blocks) {
      for (tsd_u32 half = TSD_LANES / 2u; half; half /= 2u)
        for (tsd_u32 l = 0; l < half; l++)
          room->lane[self + l] = tsd_added(room->lane[self + l], room->lane[self + l + half]);
      tsd_keep_mass(row->mass + 2u * b,
                    tsd_lifted(room->lane[self], tsd_weight(base, row->anchor, row->rate)));
    }
    TSD_BARRIER();
  }
  if (self == 0u) {
    tsd_mass sum = 0;
    for (tsd_u32 b = 0; b < row->blocks; b++)
      sum = tsd_added(sum, tsd_kept_mass(row->mass + 2u * b));
    room->mass = sum;
  }
  TSD_BARRIER();
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* How many values of room->scan come before this thread's, and in all. */
TSD_FN tsd_u32 tsd_before(TSD_SHARED tsd_room *room, tsd_u32 self, tsd_u32 n,
                          TSD_PRIVATE tsd_u32 *all) {
  tsd_u32 sum = 0, before = 0;
  room->scan[self] = n;
  TSD_BARRIER();
  for (tsd_u32 t = 0; t < TSD_THREADS; t++) {
    if (t == self) before = sum;
    sum += room->scan[t];
  }
  TSD_BARRIER();
  *all = sum;
  return before;
}

/* The candidates of some words with a logit of at least `floor`: how many; with `write` they go to
 * the list from entry `at` on. */
TSD_FN tsd_u32 tsd_gather_words(TSD_PRIVATE const tsd_row *row, float floor, tsd_u32 from,
                                tsd_u32 to, bool write, tsd_u32 at) {
  tsd_u32 n = 0;
  float x;
  for (tsd_u32 w = from; w < to; w++) {
    if (!(tsd_float(row->peak[w / 16u]) >= floor)) continue;
    tsd_u32 bits = tsd_word(row->mask, row->all, row->width, w);
    for (tsd_u32 i = w * 32u; bits; bits >>= 1, i++) {
      if (!(bits & 1u) || !tsd_is_left(row, i, &x) || !(x >= floor)) continue;
      if (write) {
        row->id[at + n] = i;
        row->logit[at + n] = tsd_bits(x);
      }
      n++;
    }
  }
  return n;
}

/* The candidates with a logit of at least `floor` become the list, by id. False, and no list, if
 * they are more than TSD_LIST. */
TSD_FN bool tsd_gather(TSD_PRIVATE tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self,
                       float floor) {
  tsd_u32 words = (row->width + 31u) / 32u, each = (words + TSD_THREADS - 1u) / TSD_THREADS;
  tsd_u32 from = self * each < words ? self * each : words,
          to = from + each < words ? from + each : words, all;
  tsd_u32 before = tsd_before(room, self, tsd_gather_words(row, floor, from, to, false, 0), &all);
  if (all > TSD_LIST) return false;
  tsd_gather_words(row, floor, from, to, true, before);
  row->n = all;
  TSD_BARRIER();
  return true;
}

/* The weights of the list; their sum, in the order of ids, in room->mass. */
TSD_FN void tsd_weigh_list(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room,
                           tsd_u32 self) {
  for (tsd_u32 i = self; i < row->n; i += TSD_THREADS)
    row->weight[i] = tsd_bits(tsd_weight(tsd_float(row->logit[i]), row->anchor, row->rate));
  TSD_BARRIER();
  if (self == 0u) {
    tsd_mass sum = 0;
    for (tsd_u32 i = 0; i < row->n; i++)
      sum = tsd_added(sum, tsd_mass_of(tsd_float(row->weight[i])));
    room->mass = sum;
  }
  TSD_BARRIER();
}

/* Leave of the list what ranks at least `cut`. */
TSD_FN void tsd_cut_list(TSD_PRIVATE tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self,
                         tsd_u64 cut) {
  tsd_u32 id[TSD_LIST / TSD_THREADS], logit[TSD_LIST / TSD_THREADS], n = 0, all;
  tsd_u32 each = (row->n + TSD_THREADS - 1u) / TSD_THREADS;
  for (tsd_u32 i = self * each; i < (self + 1u) * each && i < row->n; i++)
    if (tsd_rank(tsd_float(row->logit[i]), row->id[i]) >= cut) {
      id[n] = row->id[i];
      logit[n++] = row->logit[i];
    }
  tsd_u32 before = tsd_before(room, self, n, &all); /* all have read theirs */
  for (tsd_u32 i = 0; i < n; i++) {
    row->id[before + i] = id[i];
    row->logit[before + i] = logit[i];
  }
  row->n = all;
  TSD_BARRIER();
}

/* ---- the place where a count or a mass is reached -------------------------------------------- */

#define TSD_OF_ROW 0
#define TSD_OF_LIST 1
#define TSD_OF_PEAKS 2

/* Put one entry into its bin, if its upper digits are those of `prefix`. */
TSD_FN void tsd_put_in_bin(TSD_SHARED tsd_room *room, tsd_u64 rank, tsd_u64 prefix, int shift,
                           tsd_u64 weight) {
  if (shift < 56 && rank >> (shift + 8) != prefix >> (shift + 8)) return;
  tsd_u32 d = (tsd_u32)(rank >> shift) & 255u, low = (tsd_u32)weight;
  tsd_add(&room->count[d], 1u);
  tsd_u32 carry = tsd_add(&room->low[d], low) + low < low ? 1u : 0u;
  tsd_add(&room->high[d], (tsd_u32)(weight >> 32) + carry);
}

/* All entries of the row, the list or the peaks. */
TSD_FN void tsd_fill_bins(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self,
                          int of, bool by_mass, tsd_u64 prefix, int shift) {
  tsd_u32 n = of == TSD_OF_ROW ? row->width : of == TSD_OF_LIST ? row->n : row->blocks;
  for (tsd_u32 i = self; i < n; i += TSD_THREADS) {
    tsd_u32 id = of == TSD_OF_LIST ? row->id[i] : i;
    float x;
    if (of == TSD_OF_ROW) {
      if (!tsd_is_left(row, i, &x)) continue;
    } else
      x = tsd_float(of == TSD_OF_LIST ? row->logit[i] : row->peak[i]);
    if (!(x >= -TSD_LARGEST)) continue;
    tsd_put_in_bin(room, tsd_rank(x, id), prefix, shift,
                   by_mass ? tsd_fixed(tsd_weight(x, row->anchor, row->rate)) : 1u);
  }
}

/* Which bin reaches the goal, the largest ranks first; the last one that holds anything if none
 * does. */
TSD_FN void tsd_find_digit(TSD_SHARED tsd_room *room, tsd_u64 goal) {
  tsd_u64 after = room->above, before = after;
  for (tsd_u32 d = 256u; d--;) {
    tsd_u32 count = tsd_get(&room->count[d]);
    if (!count) continue;
    before = after;
    after += (tsd_u64)tsd_get(&room->high[d]) << 32 | tsd_get(&room->low[d]);
    room->digit = d;
    room->single = count == 1u ? 1u : 0u;
    if (after >= goal) break;
  }
  room->above = before;
}

/* The smallest rank that is kept: the entries of at least that rank are the first that reach the
 * goal. Digits of 8 bits, the highest first, down to bit `last`; fewer if one entry is left. */
TSD_FN tsd_u64 tsd_select(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self,
                          int of, bool by_mass, tsd_u64 goal, int last) {
  tsd_u64 prefix = 0;
  if (self == 0u) room->above = 0;
  for (int shift = 56; shift >= last; shift -= 8) {
    for (tsd_u32 d = self; d < 256u; d += TSD_THREADS) {
      tsd_put(&room->count[d], 0u);
      tsd_put(&room->low[d], 0u);
      tsd_put(&room->high[d], 0u);
    }
    TSD_BARRIER();
    tsd_fill_bins(row, room, self, of, by_mass, prefix, shift);
    TSD_BARRIER();
    if (self == 0u) tsd_find_digit(room, goal);
    TSD_BARRIER();
    prefix |= (tsd_u64)room->digit << shift;
    bool single = room->single && last == 0;
    TSD_BARRIER();
    if (single) break;
  }
  return prefix;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* What is left of a row: a list, or blocks whose masses are known or not. */
#define TSD_IS_LIST 0
#define TSD_IS_BLOCKS 1  /* masses are not known */
#define TSD_IS_SUMMED 2  /* masses are known */
#define TSD_IS_BY_PEAK 3 /* not known, and each block is to be summed up against its own peak */

/* Blocks under a new cut: peaks and masses are found again. */
TSD_FN int tsd_cut_blocks(TSD_PRIVATE tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self,
                          tsd_u64 cut) {
  row->cut = cut;
  tsd_find_peaks(row, room, self);
  tsd_find_masses(row, room, self, false);
  return TSD_IS_SUMMED;
}

TSD_FN int tsd_top_k(TSD_PRIVATE tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self, int form,
                     tsd_u32 k, tsd_u32 allowed) {
  if (form == TSD_IS_LIST) {
    if (k < row->n)
      tsd_cut_list(row, room, self, tsd_select(row, room, self, TSD_OF_LIST, false, k, 0));
    return form;
  }
  if (k >= allowed && k > TSD_SHORT) return TSD_IS_BY_PEAK;
  tsd_u32 peaks = 0, all;
  for (tsd_u32 b = self; b < row->blocks; b += TSD_THREADS)
    if (tsd_float(row->peak[b]) >= -TSD_LARGEST) peaks++;
  tsd_before(room, self, peaks, &all);
  if (k <= all && k <= TSD_SHORT) {
    float floor = tsd_ranked(tsd_select(row, room, self, TSD_OF_PEAKS, false, k, 32));
    if (tsd_gather(row, room, self, floor)) {
      if (k < row->n)
        tsd_cut_list(row, room, self, tsd_select(row, room, self, TSD_OF_LIST, false, k, 0));
      return TSD_IS_LIST;
    }
    return tsd_cut_blocks(row, room, self, tsd_select(row, room, self, TSD_OF_ROW, false, k, 0));
  }
  tsd_u64 cut = tsd_select(row, room, self, TSD_OF_ROW, false, k, 0);
  if (k > TSD_SHORT) return tsd_cut_blocks(row, room, self, cut);
  row->cut = cut;
  tsd_gather(row, room, self, -TSD_LARGEST);
  return TSD_IS_LIST;
}

TSD_FN int tsd_top_p(TSD_PRIVATE tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self, int form,
                     float p) {
  if (form == TSD_IS_LIST)
    tsd_weigh_list(row, room, self);
  else if (form != TSD_IS_SUMMED)
    tsd_find_masses(row, room, self, form == TSD_IS_BY_PEAK);
  tsd_mass whole = room->mass;
  tsd_u64 goal = tsd_goal(whole, p);
  TSD_BARRIER();
  if (form != TSD_IS_LIST) {
    /* Depths below the largest, as stages.c has them. */
    for (int i = 0; i < 6; i++) {
      float depth = i < 4 ? 4.0f * (float)(i + 1) : i == 4 ? 24.0f : 1e30f;
      if (!tsd_gather(row, room, self, tsd_level(row, depth)))
        return tsd_cut_blocks(row, room, self,
                              tsd_select(row, room, self, TSD_OF_ROW, true, goal, 0));
      tsd_weigh_list(row, room, self);
      tsd_u64 reached = tsd_goal(room->mass, 1.0f);
      TSD_BARRIER();
      if (reached >= goal) break;
    }
  }
  tsd_cut_list(row, room, self, tsd_select(row, room, self, TSD_OF_LIST, true, goal, 0));
  return TSD_IS_LIST;
}

/* ---- the draw -------------------------------------------------------------------------------- */

/* The first token with the largest logit. */
TSD_FN tsd_u32 tsd_first(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room, tsd_u32 self) {
  tsd_u32 first = TSD_NO_TOKEN;
  float x;
  for (tsd_u32 b = self; b < row->blocks && first == TSD_NO_TOKEN; b += TSD_THREADS)
    if (tsd_float(row->peak[b]) == row->anchor) first = b;
  room->scan[self] = first;
  TSD_BARRIER();
  for (tsd_u32 t = 0; t < TSD_THREADS; t++)
    if (room->scan[t] < first) first = room->scan[t];
  if (self == 0u) room->token = TSD_NO_TOKEN;
  for (tsd_u32 i = first * TSD_BLOCK; self == 0u && room->token == TSD_NO_TOKEN; i++)
    if (tsd_is_left(row, i, &x) && x == row->anchor) room->token = i;
  TSD_BARRIER();
  return room->token;
}

/* The token at which the running sum passes the target; the last one that weighs anything if
 * rounding lets none. */
TSD_FN tsd_u32 tsd_pick_of_list(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room,
                                tsd_u32 self, tsd_u64 random) {
  tsd_weigh_list(row, room, self);
  if (self == 0u) {
    tsd_mass target = tsd_share(room->mass, random), sum = 0;
    room->token = TSD_NO_TOKEN;
    for (tsd_u32 i = 0; i < row->n; i++) {
      float w = tsd_float(row->weight[i]);
      if (w == 0.0f) continue;
      room->token = row->id[i];
      sum = tsd_added(sum, tsd_mass_of(w));
      if (sum > target) break;
    }
  }
  TSD_BARRIER();
  return room->token;
}

/* The same for blocks: first the block, then the token in the block. */
TSD_FN tsd_u32 tsd_pick_of_blocks(TSD_PRIVATE const tsd_row *row, TSD_SHARED tsd_room *room,
                                  tsd_u32 self, tsd_u64 random) {
  if (self == 0u) {
    tsd_mass target = tsd_share(room->mass, random), sum = 0;
    for (tsd_u32 b = 0; b < row->blocks; b++) {
      tsd_mass m = tsd_kept_mass(row->mass + 2u * b);
      if (m == 0) continue;
      room->block = b;
      room->before = sum;
      sum = tsd_added(sum, m);
      if (sum > target) break;
    }
  }
  TSD_BARRIER();
  tsd_u32 first = room->block * TSD_BLOCK;
  float base = tsd_float(row->base[room->block]), lift = tsd_weight(base, row->anchor, row->rate);
  for (tsd_u32 i = self; i < TSD_BLOCK; i += TSD_THREADS)
    room->value[i] = tsd_weight_at(row, first + i, base);
  TSD_BARRIER();
  if (self == 0u) {
    tsd_mass target = tsd_share(room->mass, random), sum = room->before;
    for (tsd_u32 i = 0; i < TSD_BLOCK; i++) {
      if (room->value[i] == 0.0f) continue;
      room->token = first + i;
      sum = tsd_added(sum, tsd_lifted(tsd_mass_of(room->value[i]), lift));
      if (sum > target) break;
    }
  }
  TSD_BARRIER();
  return room->token;
}

/* Draw for one task; every thread of its group calls this, and gets the token. `masks` is not read
 * by tasks without a mask; strides are in elements and words. */
TSD_FN tsd_u32 tsd_draw(const TSD_GLOBAL tsd_u16 *logits, tsd_u32 kind, tsd_u64 logits_stride,
                        tsd_u32 width, const TSD_GLOBAL tsd_u32 *masks, tsd_u64 masks_stride,
                        const TSD_GLOBAL tsd_task *task, TSD_GLOBAL tsd_u32 *scratch,
                        TSD_SHARED tsd_room *room, tsd_u32 self) {
  tsd_row row;
  row.logits = logits + task->target * logits_stride * (kind == TSD_FLOAT32 ? 2u : 1u);
  row.all = task->source == TSD_NO_MASK ? 1u : 0u;
  row.mask = masks + (row.all ? 0u : task->source * masks_stride);
  row.kind = kind;
  row.width = width;
  row.blocks = (width + TSD_BLOCK - 1u) / TSD_BLOCK;
  row.scale = task->scale;
  row.rate = tsd_times(task->scale, tsd_float(0x3fb8aa3bu)); /* log2(e) */
  if (!(row.rate <= TSD_LARGEST)) row.rate = TSD_LARGEST;
  row.cut = 0;
  row.n = 0;
  row.id = scratch;
  row.logit = scratch + TSD_LIST;
  row.weight = scratch + 2u * TSD_LIST;
  row.peak = scratch + 3u * TSD_LIST;
  row.base = row.peak + row.blocks;
  row.mass = row.base + row.blocks;
  if (!width || row.blocks > TSD_BLOCKS) return TSD_NO_TOKEN;
  if (self == 0u) {
    tsd_put(&room->allowed, 0u);
    tsd_put(&room->nans, 0u);
  }
  TSD_BARRIER();
  tsd_find_peaks(&row, room, self);
  tsd_u32 allowed = tsd_get(&room->allowed);
  if (tsd_get(&room->nans) || !(row.anchor >= -TSD_LARGEST && row.anchor <= TSD_LARGEST))
    return TSD_NO_TOKEN;
  if (row.scale < 0.0f) return tsd_first(&row, room, self);
  int form = TSD_IS_BLOCKS;
  if (allowed <= TSD_SPARSE) {
    tsd_gather(&row, room, self, -TSD_LARGEST);
    form = TSD_IS_LIST;
  }
  if (task->top_k && task->top_k < width)
    form = tsd_top_k(&row, room, self, form, task->top_k, allowed);
  if (task->top_p > 0.0f && task->top_p < 1.0f)
    form = tsd_top_p(&row, room, self, form, task->top_p);
  tsd_u64 random = tsd_random(task);
  if (form == TSD_IS_LIST) return tsd_pick_of_list(&row, room, self, random);
  if (form != TSD_IS_SUMMED) tsd_find_masses(&row, room, self, form == TSD_IS_BY_PEAK);
  return tsd_pick_of_blocks(&row, room, self, random);
}

#endif
