/* turnstile.wgsl - masks and draws on a GPU through WebGPU.
 *
 * Problem   A page has its logits in a buffer of WebGPU. To read half a megabyte back for each
 *           token costs more than the step.
 * Idea      Two kernels, as turnstile.cu and turnstile.metal have them: the same steps in the same
 *           order, which turnstile-device.h explains. A row of logits stays on the GPU, and 4 bytes
 *           a row come back.
 * Layout    Logits are float32; row r begins at element r * logits_stride. What lies between width
 *           and stride is not touched. Token i is bit i % 32 of word i / 32 of a mask; row r of the
 *           masks begins at word r * masks_stride: a table that the device keeps, or this step's
 *           masks. Bits at or after `width` are ignored.
 * Apply     Entry point `apply`, groups (rows, ceil(width / 2048)). Bindings of group 0: 0 shape, 1
 *           logits, 2 masks, 3 tasks. Task i says `target` and `source`; the rest is not read. No
 *           target twice. Cost: reads the masks, writes what is refused.
 * Draw      Entry point `draw`, groups (tasks). Bindings: 0 shape, 1 logits, 2 masks, 3 tasks, 4
 *           scratch, 5 tokens. A task is nine words: target, source (0xffffffff: no mask), top_k
 *           (0: off), scale and top_p (bits of float32), seed and draw (two words each, the lower
 *           half first). `scale` is 1 / temperature, negative for the likeliest token. Scratch:
 *           12,288 + 4 * ceil(width / 512) words for each task. Cost: one pass over the allowed
 *           logits and a part of a second one; two passes without top-k and top-p; up to 12 for a
 *           flat row.
 * Sums      WGSL has neither 64 bits nor double. A sum is a pair of words, in steps of 2^-40. So
 *           the order of sums does not matter.
 * Exact     The random number, the ranking, greedy draws and the sets that top-k keeps are those of
 *           tsl_sampler_draw. A weight may differ in its last bit, as WGSL lets a device round
 *           fma() twice, and so may a sum. The token then differs where the random number falls
 *           that near to the place between two tokens: once in some million draws. Rows of
 *           subnormal logits may differ more: a device may take these for 0.
 * Errors    0xffffffff where a logit that is allowed is NaN or +inf, or none is finite. A NaN is
 *           known by its bits.
 * Left out  16-bit logits, which need the feature shader-f16. Rows of more than 8,192 blocks.
 * Needs     256 threads a group and 8 KB of group memory: the limits that every device has.
 * Tested by tests/page/device_test.js: in Chromium, on its adapter in software
 *
 * SPDX-License-Identifier: Apache-2.0
 */

struct Shape {
  width: u32,
  logits_stride: u32,
  masks_stride: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read_write> logits: array<u32>; /* bits of float32 */
@group(0) @binding(2) var<storage, read> masks: array<u32>;
@group(0) @binding(3) var<storage, read> tasks: array<u32>;
@group(0) @binding(4) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(5) var<storage, read_write> tokens: array<u32>;

const THREADS = 256u;
const BLOCK = 512u; /* tokens of a block */
const LANES = 16u;
const TEAMS = 16u; /* blocks at a time */
const SPARSE = 1024u; /* so few allowed tokens are a list at once */
const LIST = 4096u; /* entries of a list at most */
const SHORT = 2048u; /* up to this k a list is tried first */
const BLOCKS = 8192u;
const NONE = 0xffffffffu;
const LARGEST = 3.402823466e+38f;
const MINUS_INFINITY = 0xff800000u;

/* What is left of a row. */
const IS_LIST = 0u;
const IS_BLOCKS = 1u; /* masses are not known */
const IS_SUMMED = 2u;

/* Where a search looks. */
const OF_ROW = 0u;
const OF_LIST = 1u;
const OF_PEAKS = 2u;

/* A group's row. */
var<private> me: u32; /* the thread's number */
var<private> logits_at: u32;
var<private> mask_at: u32;
var<private> no_mask: bool;
var<private> scale: f32;
var<private> rate: f32;
var<private> anchor: f32;
var<private> cut: vec2u; /* the smallest rank that is left: high word, low word */
var<private> n: u32; /* entries of the list */
var<private> id_at: u32; /* places in the scratch */
var<private> logit_at: u32;
var<private> weight_at: u32;
var<private> peak_at: u32;
var<private> mass_at: u32;

var<workgroup> count: array<atomic<u32>, 256>; /* bins of a digit: how many, and their mass */
var<workgroup> low: array<atomic<u32>, 256>;
var<workgroup> high: array<atomic<u32>, 256>;
var<workgroup> value: array<f32, 256>;
var<workgroup> scan: array<u32, 256>;
var<workgroup> lane: array<vec2u, 256>;
var<workgroup> allowed: atomic<u32>;
var<workgroup> wrong: atomic<u32>;
var<workgroup> mass: vec2u;
var<workgroup> above: vec2u;
var<workgroup> digit: u32;
var<workgroup> single: u32;
var<workgroup> shared_word: u32;
var<workgroup> before_block: vec2u;

/* ---- 64 bits: high word in x, low word in y -------------------------------------------------- */

fn plus(a: vec2u, b: vec2u) -> vec2u {
  let y = a.y + b.y;
  return vec2u(a.x + b.x + select(0u, 1u, y < a.y), y);
}
fn less(a: vec2u, b: vec2u) -> bool { return a.x < b.x || (a.x == b.x && a.y < b.y); }

/* The upper word of a product, by halves. */
fn high_of(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low_low = al * bl;
  let low_high = al * bh + (low_low >> 16u);
  let high_low = ah * bl + (low_high & 0xffffu);
  return ah * bh + (low_high >> 16u) + (high_low >> 16u);
}
fn product(a: u32, b: u32) -> vec2u { return vec2u(high_of(a, b), a * b); }

/* The upper 64 bits of a product of 128, and whether the lower ones are not 0. */
fn high64(a: vec2u, b: vec2u) -> vec3u {
  let lowest = product(a.y, b.y);
  let one = product(a.x, b.y);
  let other = product(a.y, b.x);
  let middle = plus(plus(vec2u(0u, lowest.x), vec2u(0u, one.y)), vec2u(0u, other.y));
  let upper = plus(plus(product(a.x, b.x), vec2u(0u, one.x)),
                   plus(vec2u(0u, other.x), vec2u(0u, middle.x)));
  return vec3u(upper, select(0u, 1u, (middle.y | lowest.y) != 0u));
}

/* A weight of at most 8 in steps of 2^-40. */
fn fixed(w: f32) -> vec2u {
  let bits = bitcast<u32>(w);
  let fraction = (bits & 0x7fffffu) | 0x800000u;
  let shift = i32(bits >> 23u) - 110;
  if (bits == 0u || shift <= -24) { return vec2u(0u); }
  if (shift < 0) { return vec2u(0u, fraction >> u32(-shift)); }
  if (shift == 0) { return vec2u(0u, fraction); }
  if (shift < 32) { return vec2u(fraction >> u32(32 - shift), fraction << u32(shift)); }
  return vec2u(fraction << u32(shift - 32), 0u);
}

fn block_count() -> u32 { return (shape.width + BLOCK - 1u) / BLOCK; }

/* ---- one element ----------------------------------------------------------------------------- */

/* The bits decide: a device may take a NaN or an infinity for anything in arithmetic. */
fn is_nan(bits: u32) -> bool { return (bits & 0x7fffffffu) > 0x7f800000u; }
fn is_finite(bits: u32) -> bool { return (bits & 0x7f800000u) != 0x7f800000u; }

/* Floats in their order as integers. Both zeros are one. */
fn ordered(bits: u32) -> u32 {
  let b = select(bits, 0u, bits == 0x80000000u);
  return select(b | 0x80000000u, ~b, (b >> 31u) != 0u);
}
fn bits_of(order: u32) -> u32 { return select(~order, order & 0x7fffffffu, (order >> 31u) != 0u); }
fn rank(bits: u32, id: u32) -> vec2u { return vec2u(ordered(bits), ~id); }

/* exp((x - anchor) * scale) by the library's polynomial. */
fn weight(bits: u32) -> f32 {
  if (!is_finite(bits)) { return 0.0; }
  let d = (bitcast<f32>(bits) - anchor) * rate;
  if (!(d >= -126.0)) { return 0.0; }
  let whole = round(d);
  let r = d - whole;
  var p = fma(bitcast<f32>(0x3aaddd09u), r, bitcast<f32>(0x3c1e7544u));
  p = fma(p, r, bitcast<f32>(0x3d635ba9u));
  p = fma(p, r, bitcast<f32>(0x3e75fcdeu));
  p = fma(p, r, bitcast<f32>(0x3f317215u));
  p = fma(p, r, 1.0);
  return bitcast<f32>(bitcast<u32>(p) + (u32(i32(whole)) << 23u));
}

fn word(w: u32) -> u32 {
  var bits = 0xffffffffu;
  if (!no_mask) { bits = masks[mask_at + w]; }
  let left = shape.width - w * 32u;
  if (left >= 32u) { return bits; }
  return bits & ((1u << left) - 1u);
}

/* Is the element a candidate? Its logit is read only where the mask allows it. */
fn is_left(i: u32) -> bool {
  if (i >= shape.width) { return false; }
  if (!no_mask && ((masks[mask_at + (i >> 5u)] >> (i & 31u)) & 1u) == 0u) { return false; }
  if (all(cut == vec2u(0u))) { return true; }
  return !less(rank(logits[logits_at + i], i), cut);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The largest candidate of each block, and of all. In order as integers; 0 is none. */
fn find_peaks() {
  var total = 0u;
  var bad = 0u;
  var best = 0u;
  for (var first = 0u; first < block_count(); first += TEAMS) {
    let b = first + me / LANES;
    var top = 0u;
    for (var i = 0u; i < BLOCK / LANES && b < block_count(); i++) {
      let at = b * BLOCK + i * LANES + me % LANES;
      if (!is_left(at)) { continue; }
      let bits = logits[logits_at + at];
      total++;
      if (is_nan(bits)) { bad++; } else { top = max(top, ordered(bits)); }
    }
    scan[me] = top;
    workgroupBarrier();
    if (me % LANES == 0u && b < block_count()) {
      for (var l = 1u; l < LANES; l++) { top = max(top, scan[me + l]); }
      scratch[peak_at + b] = top;
      best = max(best, top);
    }
    workgroupBarrier();
  }
  if (total != 0u) { atomicAdd(&allowed, total); }
  if (bad != 0u) { atomicAdd(&wrong, bad); }
  scan[me] = best;
  storageBarrier();
  workgroupBarrier();
  for (var t = 0u; t < THREADS; t++) { best = max(best, scan[t]); }
  anchor = bitcast<f32>(select(bits_of(best), MINUS_INFINITY, best == 0u));
  workgroupBarrier();
}

/* The mass of each block, and of all in `mass`. */
fn find_masses() {
  for (var first = 0u; first < block_count(); first += TEAMS) {
    let b = first + me / LANES;
    var sum = vec2u(0u);
    for (var q = 0u; q < BLOCK && b < block_count(); q += 64u) {
      var w = vec4f(0.0);
      for (var j = 0u; j < 4u; j++) {
        let i = b * BLOCK + q + j * LANES + me % LANES;
        if (is_left(i)) { w[j] = weight(logits[logits_at + i]); }
      }
      sum = plus(sum, fixed((w.x + w.y) + (w.z + w.w)));
    }
    lane[me] = sum;
    workgroupBarrier();
    if (me % LANES == 0u && b < block_count()) {
      for (var l = 1u; l < LANES; l++) { sum = plus(sum, lane[me + l]); }
      scratch[mass_at + 2u * b] = sum.x;
      scratch[mass_at + 2u * b + 1u] = sum.y;
    }
    workgroupBarrier();
  }
  storageBarrier();
  workgroupBarrier();
  if (me == 0u) {
    var sum = vec2u(0u);
    for (var b = 0u; b < block_count(); b++) {
      sum = plus(sum, vec2u(scratch[mass_at + 2u * b], scratch[mass_at + 2u * b + 1u]));
    }
    mass = sum;
  }
  workgroupBarrier();
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* How many counts of threads come before this one's, and in all. */
fn before_me(mine: u32) -> vec2u {
  scan[me] = mine;
  workgroupBarrier();
  var sum = 0u;
  var before = 0u;
  for (var t = 0u; t < THREADS; t++) {
    if (t == me) { before = sum; }
    sum += scan[t];
  }
  workgroupBarrier();
  return vec2u(before, sum);
}

/* A thread's word for all, in uniform control flow. */
fn agreed(mine: u32) -> u32 {
  if (me == 0u) { shared_word = mine; }
  return workgroupUniformLoad(&shared_word);
}

fn gather_words(floor: u32, start: u32, to: u32, write: bool, at: u32) -> u32 {
  var found = 0u;
  for (var w = start; w < to; w++) {
    if (scratch[peak_at + w / 16u] < floor) { continue; }
    var bits = word(w);
    while (bits != 0u) {
      let i = w * 32u + countTrailingZeros(bits);
      bits &= bits - 1u;
      if (!is_left(i)) { continue; }
      let x = logits[logits_at + i];
      if (ordered(x) < floor || !is_finite(x)) { continue; }
      if (write) {
        scratch[id_at + at + found] = i;
        scratch[logit_at + at + found] = x;
      }
      found++;
    }
  }
  return found;
}

/* The finite candidates of at least `floor` (in order as an integer) become the list, by id. False,
 * and no list, if they are more than LIST. */
fn gather(floor: u32) -> bool {
  let words = (shape.width + 31u) / 32u;
  let each = (words + THREADS - 1u) / THREADS;
  let start = min(me * each, words);
  let to = min(start + each, words);
  let places = before_me(gather_words(floor, start, to, false, 0u));
  if (agreed(places.y) > LIST) { return false; }
  gather_words(floor, start, to, true, places.x);
  n = places.y;
  storageBarrier();
  workgroupBarrier();
  return true;
}

fn weigh_list() {
  for (var i = me; i < n; i += THREADS) {
    scratch[weight_at + i] = bitcast<u32>(weight(scratch[logit_at + i]));
  }
  storageBarrier();
  workgroupBarrier();
  if (me == 0u) {
    var sum = vec2u(0u);
    for (var i = 0u; i < n; i++) {
      sum = plus(sum, fixed(bitcast<f32>(scratch[weight_at + i])));
    }
    mass = sum;
  }
  workgroupBarrier();
}

/* Leave of the list what ranks at least `least`. */
fn cut_list(least: vec2u) {
  var ids: array<u32, 16>;
  var values: array<u32, 16>;
  var kept = 0u;
  let each = (n + THREADS - 1u) / THREADS;
  for (var i = me * each; i < min((me + 1u) * each, n); i++) {
    let id = scratch[id_at + i];
    let x = scratch[logit_at + i];
    if (less(rank(x, id), least)) { continue; }
    ids[kept] = id;
    values[kept] = x;
    kept++;
  }
  storageBarrier();
  let places = before_me(kept); /* all have read theirs */
  for (var i = 0u; i < kept; i++) {
    scratch[id_at + places.x + i] = ids[i];
    scratch[logit_at + places.x + i] = values[i];
  }
  n = places.y;
  storageBarrier();
  workgroupBarrier();
}

/* ---- the place where a count or a mass is reached -------------------------------------------- */

fn fill_bins(kind: u32, by_mass: bool, prefix: vec2u, nth: u32) {
  var entries = shape.width;
  if (kind == OF_LIST) { entries = n; }
  if (kind == OF_PEAKS) { entries = block_count(); }
  for (var i = me; i < entries; i += THREADS) {
    var id = i;
    var x = 0u;
    if (kind == OF_ROW) {
      if (!is_left(i)) { continue; }
      x = logits[logits_at + i];
    } else if (kind == OF_LIST) {
      id = scratch[id_at + i];
      x = scratch[logit_at + i];
    } else {
      let peak = scratch[peak_at + i];
      x = select(bits_of(peak), MINUS_INFINITY, peak == 0u);
    }
    if (!is_finite(x)) { continue; }
    let r = rank(x, id);
    let shift = 24u - 8u * (nth % 4u);
    let upper = nth < 4u;
    let part = select(r.y, r.x, upper);
    let wanted = select(prefix.y, prefix.x, upper);
    if (!upper && r.x != prefix.x) { continue; }
    if (nth % 4u != 0u && (part >> (shift + 8u)) != (wanted >> (shift + 8u))) { continue; }
    let d = (part >> shift) & 255u;
    var w = vec2u(0u, 1u);
    if (by_mass) { w = fixed(weight(x)); }
    atomicAdd(&count[d], 1u);
    let sum = atomicAdd(&low[d], w.y) + w.y;
    atomicAdd(&high[d], w.x + select(0u, 1u, sum < w.y));
  }
}

/* The smallest rank that is kept, by digits of 8 bits; `digits` of them, fewer if one entry is
 * left. */
fn find_rank(kind: u32, by_mass: bool, goal: vec2u, digits: u32) -> vec2u {
  var prefix = vec2u(0u);
  if (me == 0u) { above = vec2u(0u); }
  for (var k = 0u; k < digits; k++) {
    atomicStore(&count[me], 0u);
    atomicStore(&low[me], 0u);
    atomicStore(&high[me], 0u);
    workgroupBarrier();
    fill_bins(kind, by_mass, prefix, k);
    workgroupBarrier();
    if (me == 0u) {
      var after = above;
      var before = after;
      for (var j = 0u; j < 256u; j++) {
        let d = 255u - j;
        let entries = atomicLoad(&count[d]);
        if (entries == 0u) { continue; }
        before = after;
        after = plus(after, vec2u(atomicLoad(&high[d]), atomicLoad(&low[d])));
        digit = d;
        single = select(0u, 1u, entries == 1u);
        if (!less(after, goal)) { break; }
      }
      above = before;
    }
    let d = workgroupUniformLoad(&digit);
    let alone = workgroupUniformLoad(&single);
    let shift = 24u - 8u * (k % 4u);
    if (k < 4u) { prefix.x |= d << shift; } else { prefix.y |= d << shift; }
    if (alone == 1u && digits == 8u) { break; }
  }
  return prefix;
}

/* ---- stages ---------------------------------------------------------------------------------- */

fn cut_blocks(least: vec2u) -> u32 {
  cut = least;
  find_peaks();
  find_masses();
  return IS_SUMMED;
}

fn top_k(form: u32, k: u32, all_allowed: u32) -> u32 {
  if (form == IS_LIST) {
    if (k < agreed(n)) { cut_list(find_rank(OF_LIST, false, vec2u(0u, k), 8u)); }
    return IS_LIST;
  }
  if (k >= all_allowed && k > SHORT) { return IS_BLOCKS; }
  var peaks = 0u;
  for (var b = me; b < block_count(); b += THREADS) {
    if (scratch[peak_at + b] > ordered(MINUS_INFINITY)) { peaks++; }
  }
  let known = agreed(before_me(peaks).y);
  if (k <= known && k <= SHORT) {
    let floor = find_rank(OF_PEAKS, false, vec2u(0u, k), 4u).x;
    if (gather(floor)) {
      if (k < agreed(n)) { cut_list(find_rank(OF_LIST, false, vec2u(0u, k), 8u)); }
      return IS_LIST;
    }
    return cut_blocks(find_rank(OF_ROW, false, vec2u(0u, k), 8u));
  }
  let least = find_rank(OF_ROW, false, vec2u(0u, k), 8u);
  if (k > SHORT) { return cut_blocks(least); }
  cut = least;
  gather(0u);
  return IS_LIST;
}

/* The share p of the mass, rounded upwards. */
fn goal_of(p: f32) -> vec2u {
  let bits = bitcast<u32>(p); /* p < 1: its fraction, moved to the upper end of 64 bits */
  let shift = i32(bits >> 23u) - 86;
  let fraction = (bits & 0x7fffffu) | 0x800000u;
  var share = vec2u(0u);
  if (shift >= 32) {
    share.x = fraction << u32(shift - 32);
  } else if (shift > 0) {
    share = vec2u(fraction >> u32(32 - shift), fraction << u32(shift));
  } else if (shift > -24) {
    share.y = fraction >> u32(-shift);
  }
  let h = high64(workgroupUniformLoad(&mass), share);
  return plus(h.xy, vec2u(0u, h.z));
}

fn top_p(form: u32, p: f32) -> u32 {
  if (form == IS_LIST) { weigh_list(); } else if (form != IS_SUMMED) { find_masses(); }
  let goal = goal_of(p);
  if (form != IS_LIST) {
    for (var i = 0u; i < 6u; i++) {
      var depth = 4.0 * f32(i + 1u);
      if (i == 4u) { depth = 24.0; }
      var floor = 0u;
      if (i < 5u && scale > 0.0) {
        floor = ordered(bitcast<u32>(max(anchor - depth / scale, -LARGEST)));
      }
      if (!gather(floor)) { return cut_blocks(find_rank(OF_ROW, true, goal, 8u)); }
      weigh_list();
      if (!less(workgroupUniformLoad(&mass), goal)) { break; }
    }
  }
  cut_list(find_rank(OF_LIST, true, goal, 8u));
  return IS_LIST;
}

/* ---- the draw -------------------------------------------------------------------------------- */

/* Philox4x32-10: 53 random bits at the upper end of 64. */
fn random(at: u32) -> vec2u {
  var c = vec4u(tasks[at + 7u], tasks[at + 8u], 0u, 0u);
  var k = vec2u(tasks[at + 5u], tasks[at + 6u]);
  for (var i = 0; i < 10; i++) {
    c = vec4u(high_of(0xCD9E8D57u, c.z) ^ c.y ^ k.x, 0xCD9E8D57u * c.z,
              high_of(0xD2511F53u, c.x) ^ c.w ^ k.y, 0xD2511F53u * c.x);
    k += vec2u(0x9E3779B9u, 0xBB67AE85u);
  }
  return vec2u(c.x, c.y & 0xfffff800u);
}

/* The first token with the largest logit. */
fn first_token() -> u32 {
  let top = ordered(bitcast<u32>(anchor));
  var first = NONE;
  for (var b = me; b < block_count(); b += THREADS) {
    if (first == NONE && scratch[peak_at + b] == top) { first = b; }
  }
  scan[me] = first;
  workgroupBarrier();
  for (var t = 0u; t < THREADS; t++) { first = min(first, scan[t]); }
  for (var i = first * BLOCK; i < shape.width; i++) {
    if (is_left(i) && ordered(logits[logits_at + i]) == top) { return i; }
  }
  return NONE;
}

fn pick_of_list(share: vec2u) -> u32 {
  weigh_list();
  var token = NONE;
  let target_mass = high64(mass, share).xy;
  var sum = vec2u(0u);
  for (var i = 0u; i < n; i++) {
    let w = fixed(bitcast<f32>(scratch[weight_at + i]));
    if (all(w == vec2u(0u))) { continue; }
    token = scratch[id_at + i];
    sum = plus(sum, w);
    if (less(target_mass, sum)) { break; }
  }
  return token;
}

/* A block's weights are added one by one, its lanes four by four: the last token that weighs
 * anything is taken if these sums differ by a step. */
fn pick_of_blocks(share: vec2u) -> u32 {
  let target_mass = high64(mass, share).xy;
  var token = NONE;
  var sum = vec2u(0u);
  var block = 0u;
  for (var b = 0u; b < block_count(); b++) {
    let m = vec2u(scratch[mass_at + 2u * b], scratch[mass_at + 2u * b + 1u]);
    let next = plus(sum, m);
    block = b;
    if (less(target_mass, next)) { break; }
    sum = next;
  }
  for (var i = block * BLOCK; i < (block + 1u) * BLOCK; i++) {
    if (!is_left(i)) { continue; }
    let w = fixed(weight(logits[logits_at + i]));
    if (all(w == vec2u(0u))) { continue; }
    token = i;
    sum = plus(sum, w);
    if (less(target_mass, sum)) { break; }
  }
  return token;
}

/* The token of one task; NONE if its logits allow no draw. */
fn draw_one(group: u32) -> u32 {
  let at = group * 9u;
  logits_at = tasks[at] * shape.logits_stride;
  no_mask = tasks[at + 1u] == NONE;
  mask_at = select(tasks[at + 1u] * shape.masks_stride, 0u, no_mask);
  scale = bitcast<f32>(tasks[at + 3u]);
  rate = scale * bitcast<f32>(0x3fb8aa3bu);
  if (!is_finite(bitcast<u32>(rate))) { rate = LARGEST; }
  cut = vec2u(0u);
  n = 0u;
  id_at = group * (3u * LIST + 4u * block_count());
  logit_at = id_at + LIST;
  weight_at = id_at + 2u * LIST;
  peak_at = id_at + 3u * LIST;
  mass_at = peak_at + 2u * block_count();
  if (shape.width == 0u || block_count() > BLOCKS) { return NONE; }
  find_peaks();
  let known = agreed(atomicLoad(&allowed));
  let bad = agreed(select(atomicLoad(&wrong), 1u, !is_finite(bitcast<u32>(anchor))));
  if (bad != 0u) { return NONE; }
  if (bitcast<f32>(tasks[at + 3u]) < 0.0) { return first_token(); }
  var form = IS_BLOCKS;
  if (known <= SPARSE) {
    gather(0u);
    form = IS_LIST;
  }
  let k = tasks[at + 2u];
  if (k != 0u && k < shape.width) { form = top_k(form, k, known); }
  form = agreed(form);
  let p = bitcast<f32>(tasks[at + 4u]);
  if (p > 0.0 && p < 1.0) { form = top_p(form, p); }
  form = agreed(form);
  if (form == IS_LIST) { return pick_of_list(random(at)); }
  if (form != IS_SUMMED) { find_masses(); }
  return pick_of_blocks(random(at));
}

@compute @workgroup_size(256)
fn draw(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  me = local.x;
  let token = draw_one(group.x);
  if (me == 0u) { tokens[group.x] = token; }
}

/* ---- a mask on a row ------------------------------------------------------------------------- */

@compute @workgroup_size(256)
fn apply(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = tasks[group.x * 9u] * shape.logits_stride;
  let mask = tasks[group.x * 9u + 1u] * shape.masks_stride;
  let first = group.y * 2048u;
  for (var i = first + local.x; i < min(first + 2048u, shape.width); i += 256u) {
    if (((masks[mask + (i >> 5u)] >> (i & 31u)) & 1u) == 0u) { logits[row + i] = MINUS_INFINITY; }
  }
}
