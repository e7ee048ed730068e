/* device.cpp - what host_device.py runs: bindings/device on the processor, against the library.
 *
 *   device apply
 *       masks on rows of all kinds, by turnstile_apply and by tsl_mask_apply
 *   device draw SEED
 *       tokens of turnstile_draw and of tsl_sampler_draw
 *   device text SCHEMA COUNT
 *       texts of a JSON Schema, of which turnstile_draw draws every token; for each text a line
 *       "text TOKENS HEX"
 *   device write FILE
 *       the cases of `draw` in float32, and what the library draws, for the test of turnstile.wgsl
 *       (their layout is in tests/page/device_test.js)
 *
 * Compiled with -DDEVICE_METAL it has turnstile.metal, otherwise turnstile.cu. TSD_THREADS is the
 * number of threads of a group.
 *
 * The last line is "N passed, N failed, N skipped". A case that may differ by rounding counts as
 * passed; how many differ is printed, and more than MOST_DIFFER of them is a failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define TSD_FIBERS
#ifdef DEVICE_METAL
#include "bindings/device/turnstile.metal"
#else
#include "tests/hosts/device/cuda.h"
#include "bindings/device/turnstile.cu"
#endif
#undef thread
#undef kernel
#undef device
#undef constant

#include <vector>

#include "turnstile.h"

#define MOST_DIFFER 0.02 /* of the cases that may differ */

static unsigned passed, failed;
static bool check(bool good, const char *what, unsigned long long a, unsigned long long b) {
  passed += good;
  failed += !good;
  if (!good && failed < 20) printf("  FAIL %s: %llu, %llu\n", what, a, b);
  return good;
}

/* ---- random numbers -------------------------------------------------------------------------- */

static unsigned long long state = 1;
static unsigned next() {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33);
}
static unsigned below(unsigned n) { return next() % n; }
static float uniform() { return (float)(next() >> 7) / 16777216.0f; }
static float bell() { return (uniform() + uniform() + uniform() + uniform() - 2.0f) * 2.0f; }

/* ---- a batch --------------------------------------------------------------------------------- */

struct batch {
  unsigned rows, width, stride, masks_stride, kind;
  std::vector<float> logits;          /* rows * stride */
  std::vector<unsigned short> halves; /* the same in 16 bits */
  std::vector<unsigned> masks;        /* a table of 2 * rows rows */
  std::vector<tsd_task> tasks;
  std::vector<float> temperature;
  std::vector<unsigned> expected, same; /* same: rounding may not decide */
};

/* A float cut off to 16 bits; what is lost does not matter, as both sides read the result. */
static unsigned short halved(unsigned kind, float x) {
  unsigned u;
  memcpy(&u, &x, sizeof u);
  if (kind == TSD_BFLOAT16) return (unsigned short)(u >> 16);
  unsigned sign = u >> 16 & 0x8000u;
  int exponent = (int)(u >> 23 & 255) - 112;
  if (exponent >= 31) return (unsigned short)(sign | 0x7c00u);
  if (exponent > 0) return (unsigned short)(sign | (unsigned)exponent << 10 | (u >> 13 & 0x3ffu));
  if (exponent < -10) return (unsigned short)sign;
  return (unsigned short)(sign | ((u & 0x7fffffu) | 0x800000u) >> (14 - exponent));
}

/* What 16 bits mean, by the C library. */
static float widened(unsigned kind, unsigned short h) {
  unsigned u = (unsigned)h << 16;
  float x;
  memcpy(&x, &u, sizeof x);
  if (kind == TSD_BFLOAT16) return x;
  float sign = h & 0x8000 ? -1.0f : 1.0f;
  int exponent = h >> 10 & 31, fraction = h & 0x3ff;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return sign *
         ldexpf((float)(exponent ? fraction + 1024 : fraction), (exponent ? exponent : 1) - 25);
}

enum shape { BELL, PEAKED, FLAT, TIES, HOLES, SHAPES };

static void fill_row(float *row, unsigned width, shape s) {
  for (unsigned i = 0; i < width; i++) {
    float x = bell();
    if (s == PEAKED && below(400) == 0) x += 8 + uniform() * 6;
    if (s == FLAT) x = uniform();
    if (s == TIES) x = (float)(int)(x * 4) / 2 + 0.0f * (below(2) ? -1.0f : 1.0f);
    if (s == HOLES && below(3) == 0) x = -INFINITY;
    row[i] = x;
  }
}

/* About `allowed` tokens of a mask, at random places; at least one. */
static void fill_mask(unsigned *mask, unsigned width, unsigned allowed) {
  for (unsigned i = 0; i < width; i++)
    if (allowed >= width || below(width) < allowed) mask[i / 32] |= 1u << (i % 32);
  unsigned one = below(width);
  mask[one / 32] |= 1u << (one % 32);
}

static batch make(unsigned rows, unsigned width, unsigned stride, unsigned kind) {
  static const float temperatures[] = {0, 0.3f, 0.7f, 1, 2, INFINITY},
                     shares[] = {0, 0.3f, 0.9f, 0.95f, 0.999f};
  static const unsigned counts[] = {0, 1, 5, 40, 300, 1500, 2500};
  batch b;
  b.rows = rows, b.width = width, b.stride = stride, b.kind = kind;
  b.masks_stride = (width + 31) / 32 + 3;
  b.logits.resize((size_t)rows * stride, -12345.0f);
  b.halves.resize(kind ? b.logits.size() : 0, 0x1234);
  b.masks.resize((size_t)2 * rows * b.masks_stride);
  for (unsigned r = 0; r < rows; r++) {
    float *row = &b.logits[(size_t)r * stride];
    shape s = (shape)below(SHAPES);
    fill_row(row, width, s);
    for (unsigned i = 0; kind && i < width; i++) {
      unsigned short h = halved(kind, row[i]);
      b.halves[(size_t)r * stride + i] = h;
      row[i] = widened(kind, h);
    }
    tsd_task t;
    memset(&t, 0, sizeof t);
    t.target = r;
    t.source = below(8) ? 2 * r + 1 : TSD_NO_MASK;
    static const unsigned densities[] = {1, 14, 600, 3000, 1u << 30};
    fill_mask(&b.masks[(size_t)(2 * r + 1) * b.masks_stride], width, densities[below(5)]);
    t.top_k = counts[below(7)];
    t.top_p = shares[below(5)];
    t.seed[0] = next(), t.seed[1] = next();
    t.draw[0] = below(3);
    float temperature = temperatures[below(6)];
    double cool = 1.0 / (double)temperature;
    t.scale = temperature == 0 ? -1.0f : (float)cool;
    b.tasks.push_back(t);
    b.temperature.push_back(temperature);
  }
  return b;
}

/* What the library draws; after so many draws as the task says. */
static void expect(batch *b) {
  for (unsigned r = 0; r < b->rows; r++) {
    const tsd_task *t = &b->tasks[r];
    tsl_sampler_options options;
    memset(&options, 0, sizeof options);
    options.seed = (unsigned long long)t->seed[1] << 32 | t->seed[0];
    options.temperature = b->temperature[r];
    options.top_k = t->top_k;
    options.top_p = t->top_p;
    tsl_sampler *sampler = NULL;
    const unsigned *mask =
        t->source == TSD_NO_MASK ? NULL : &b->masks[(size_t)t->source * b->masks_stride];
    tsl_draw drawn;
    memset(&drawn, 0, sizeof drawn);
    tsl_status status = tsl_sampler_new(&options, NULL, &sampler);
    for (unsigned i = 0; status == TSL_OK && i <= t->draw[0]; i++)
      status = tsl_sampler_draw(sampler, &b->logits[(size_t)t->target * b->stride], b->width, mask,
                                &drawn);
    tsl_sampler_free(sampler);
    b->expected.push_back(status == TSL_OK ? drawn.token : TSD_NO_TOKEN);
    /* Where more than a list is left behind top-p, or k is between blocks and TSD_SHORT. */
    bool flat = t->top_p > 0 && drawn.kept > TSD_LIST,
         between = t->top_k > (b->width + 511) / 512 && t->top_k <= TSD_SHORT;
    b->same.push_back(t->scale < 0 || !(flat || between));
  }
}

/* ---- the device ------------------------------------------------------------------------------ */

struct call {
  batch *b;
  unsigned group, part;
  unsigned *scratch, *tokens;
  void *logits;
  const unsigned *sources, *targets;
  bool draw;
};

static void work(void *context) {
  call *c = (call *)context;
  batch *b = c->b;
#ifdef DEVICE_METAL
  tsd_shape shape = {b->kind, b->width, b->stride, b->masks_stride};
  if (c->draw)
    turnstile_draw((const ushort *)c->logits, b->masks.data(), b->tasks.data(), c->scratch, shape,
                   c->tokens, c->group, fibers.current);
  else
    turnstile_apply((ushort *)c->logits, b->masks.data(), c->sources, c->targets, shape,
                    uint2{c->group, c->part}, uint2{fibers.current, 0});
#else
  blockIdx.x = c->group, blockIdx.y = c->part;
  if (c->draw)
    turnstile_draw(c->logits, b->kind, b->stride, b->width, b->masks.data(), b->masks_stride,
                   b->tasks.data(), c->scratch, c->tokens);
  else
    turnstile_apply(c->logits, b->kind, b->stride, b->width, b->masks.data(), b->masks_stride,
                    c->sources, c->targets);
#endif
}

static void *logits_of(batch *b) {
  return b->kind ? (void *)b->halves.data() : (void *)b->logits.data();
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_apply() {
  static const unsigned widths[] = {1, 31, 32, 33, 511, 2048, 2049, 5000};
  for (unsigned kind = 0; kind < 3; kind++)
    for (unsigned width : widths) {
      batch b = make(4, width, width + below(40), kind), wanted = b;
      const unsigned sources[] = {7, 1, 3, 5}, targets[] = {0, 3, 1, 2};
      for (unsigned i = 0; i < 4; i++) {
        const unsigned *mask = &b.masks[(size_t)sources[i] * b.masks_stride];
        size_t at = (size_t)targets[i] * b.stride;
        tsl_status status = kind ? tsl_mask_apply(mask, &wanted.halves[at], width,
                                                  kind == TSD_FLOAT16 ? TSL_F16 : TSL_BF16)
                                 : tsl_mask_apply(mask, &wanted.logits[at], width, TSL_F32);
        check(status == TSL_OK, "tsl_mask_apply", status, 0);
      }
      for (unsigned i = 0; i < 4; i++)
        for (unsigned part = 0; part * 2048 < width; part++) {
          call c = {&b, i, part, NULL, NULL, logits_of(&b), sources, targets, false};
          fibers_run(TSD_THREADS, work, &c);
        }
      bool same =
          kind ? b.halves == wanted.halves
               : !memcmp(b.logits.data(), wanted.logits.data(), b.logits.size() * sizeof(float));
      check(same, "a masked batch of kind, width", kind, width);
    }
}

static void test_draw(batch b, unsigned *may, unsigned *differ) {
  expect(&b);
  std::vector<unsigned> scratch(tsd_scratch_words(b.width) * (size_t)b.rows, 0xdeadbeefu),
      tokens(b.rows, 12345);
  std::vector<float> before = b.logits;
  for (unsigned r = 0; r < b.rows; r++) {
    call c = {&b, r, 0, scratch.data(), tokens.data(), logits_of(&b), NULL, NULL, true};
    fibers_run(TSD_THREADS, work, &c);
    bool same = tokens[r] == b.expected[r];
#ifdef DEVICE_METAL
    bool strict = b.tasks[r].scale < 0;
#else
    bool strict = b.same[r] != 0;
#endif
    if (strict) {
      if (!check(same, "token of the device, of the library", tokens[r], b.expected[r]))
        printf("       row %u width %u k %u p %g scale %g source %u\n", r, b.width,
               b.tasks[r].top_k, (double)b.tasks[r].top_p, (double)b.tasks[r].scale,
               b.tasks[r].source);
    } else {
      ++*may;
      *differ += !same;
      passed++;
    }
  }
  check(!memcmp(before.data(), b.logits.data(), before.size() * sizeof(float)), "logits written", 0,
        0);
}

/* Rows that allow no draw, and the smallest ones. */
static void test_refused() {
  unsigned may = 0, differ = 0;
  for (float bad : {NAN, INFINITY, -INFINITY}) {
    batch b = make(2, 700, 700, 0);
    for (unsigned i = 0; i < 700; i++) b.logits[i] = bad == -INFINITY || i == 33 ? bad : 0.0f;
    fill_mask(&b.masks[b.masks_stride], 700, 1u << 30);
    b.tasks[0].source = 1;
    test_draw(b, &may, &differ);
    b.masks[b.masks_stride + 1] &= ~2u; /* what is refused may be anything */
    test_draw(b, &may, &differ);
  }
  for (unsigned width : {1u, 2u, 32u, 33u, 512u, 513u})
    test_draw(make(20, width, width, 0), &may, &differ);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* A token that the device draws: a row of its own of random logits, under `mask`. */
static unsigned draw_one(const unsigned *mask, unsigned width, unsigned seed, unsigned step) {
  batch b = make(1, width, width, 0);
  fill_row(b.logits.data(), width, BELL);
  memcpy(b.masks.data(), mask, (width + 31) / 32 * sizeof *mask);
  tsd_task *t = &b.tasks[0];
  t->source = 0, t->top_k = 0, t->top_p = 0, t->scale = 1;
  t->seed[0] = seed, t->draw[0] = step;
  std::vector<unsigned> scratch(tsd_scratch_words(width));
  unsigned token = TSD_NO_TOKEN;
  call c = {&b, 0, 0, scratch.data(), &token, logits_of(&b), NULL, NULL, true};
  fibers_run(TSD_THREADS, work, &c);
  return token;
}

static void write_text(tsl_vocab *vocab, tsl_grammar *grammar, unsigned seed) {
  tsl_matcher *matcher = NULL;
  bool good = !tsl_matcher_new(grammar, NULL, &matcher);
  std::vector<unsigned> mask(tsl_vocab_mask_words(vocab));
  std::vector<unsigned char> text;
  unsigned tokens = 0;
  while (good && tokens < 2000 && !tsl_matcher_is_terminated(matcher)) {
    good = !tsl_matcher_mask(matcher, mask.data());
    unsigned token = draw_one(mask.data(), (unsigned)tsl_vocab_logits_width(vocab), seed, tokens++);
    good = good && token != TSD_NO_TOKEN && !tsl_matcher_accept(matcher, token);
    if (!good || tsl_vocab_is_eog(vocab, token)) continue;
    size_t n;
    const unsigned char *bytes = tsl_vocab_bytes(vocab, token, &n);
    text.insert(text.end(), bytes, bytes + n);
  }
  if (check(good && tsl_matcher_is_terminated(matcher), "a text, its tokens", seed, tokens)) {
    printf("text %u ", tokens);
    for (unsigned char byte : text) printf("%02x", byte);
    printf("\n");
  }
  tsl_matcher_free(matcher);
}

static void write_texts(const char *schema, unsigned count) {
  tsl_vocab *vocab = NULL;
  tsl_grammar *grammar = NULL;
  tsl_schema_options options;
  memset(&options, 0, sizeof options);
  options.whitespace = TSL_WS_COMPACT;
  tsl_error error;
  bool good =
      !tsl_vocab_embedded(NULL, &vocab, &error) &&
      !tsl_grammar_json_schema(vocab, schema, strlen(schema), &options, NULL, &grammar, &error);
  if (check(good, "a grammar of the schema", 0, 0))
    for (unsigned i = 0; i < count; i++) write_text(vocab, grammar, i);
  tsl_grammar_release(grammar);
  tsl_vocab_release(vocab);
}

static void write_batch(FILE *f, batch b) {
  expect(&b);
  const unsigned head[] = {b.rows, b.width, b.stride, b.masks_stride};
  fwrite(head, sizeof head, 1, f);
  fwrite(b.logits.data(), sizeof(float), b.logits.size(), f);
  fwrite(b.masks.data(), sizeof(unsigned), b.masks.size(), f);
  fwrite(b.tasks.data(), sizeof(tsd_task), b.tasks.size(), f);
  fwrite(b.expected.data(), sizeof(unsigned), b.rows, f);
  fwrite(b.same.data(), sizeof(unsigned), b.rows, f);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  unsigned may = 0, differ = 0;
  if (!strcmp(what, "apply")) {
    test_apply();
  } else if (!strcmp(what, "draw") && argc == 3) {
    state = strtoull(argv[2], NULL, 10);
    test_refused();
    for (unsigned i = 0; i < 12; i++) test_draw(make(60, 3000, 3000 + i, i % 3), &may, &differ);
    for (unsigned i = 0; i < 6; i++) test_draw(make(40, 20000, 20011, i % 3), &may, &differ);
    test_draw(make(40, 128256, 128256, 0), &may, &differ);
    printf("  tokens that rounding may decide: %u, of which %u differ\n", may, differ);
    check(differ <= MOST_DIFFER * may, "too many differ", differ, may);
  } else if (!strcmp(what, "text") && argc == 4) {
    write_texts(argv[2], (unsigned)atoi(argv[3]));
  } else if (!strcmp(what, "write") && argc == 3) {
    FILE *f = fopen(argv[2], "wb");
    if (!f) return 2;
    write_batch(f, make(60, 700, 700, 0));
    write_batch(f, make(150, 3000, 3003, 0));
    write_batch(f, make(40, 20000, 20011, 0));
    fclose(f);
    passed++;
  } else {
    fprintf(stderr, "device: apply, draw SEED, text SCHEMA COUNT or write FILE; got %s\n", what);
    return 2;
  }
  printf("%u passed, %u failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
