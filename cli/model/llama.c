/* llama.c - a language model through llama.cpp's shared library. See llama.h.
 *
 * Problem: llama.cpp passes its parameters as structs by value, and their fields change from one
 * version to the next. A tool that is built once must not depend on the fields of one version.
 *
 * Idea: the calling conventions of x86-64 (System V) and AArch64 return and hand over in memory
 * what is larger than two registers. A callee reads as many bytes as its own struct has. So the
 * structs are declared here as blocks that are larger than any version's, and go from
 * llama_…_default_params to the call that wants them. Three fields are set: the context's first
 * three numbers, which have stood there since 2024. Whether they do is checked: the defaults of a
 * version that this file knows are 512, 2048 and 512. All else has functions of its own.
 *
 * Example: llama_context_default_params() writes 136 bytes at the begin of a block of 1,024.
 * llama_init_from_model(model, block) copies the block, and the library reads 136 of its bytes.
 *
 * The library is looked for in this order: --library, the variable TURNSTILE_LLAMA, the folders
 * llama-lib and ../llama-lib beside this program, then the system's libraries. `./dev fetch model`
 * fills build/llama-lib.
 *
 * Cost: a model's file is mapped, not read. A pass takes what the model takes.
 *
 * Tested by tests/models/test_models.py and tests/cli/test_cli_models.py
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/model/llama.h"
#include "cli/os.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 512u /* tokens of one pass at most */
#define FETCH "./dev fetch model"

/* ---- the library's calls --------------------------------------------------------------------- */

/* A struct of the library, whatever its fields. */
typedef struct block {
  union {
    uint32_t numbers[256];
    void *align;
  } u;
} block;

typedef struct turn {
  const char *role, *content;
} turn;

/* The calls that are needed: result, name, parameters. */
#define CALLS(X)                                                           \
  X(const char *, llama_version, (void))                                   \
  X(void, llama_backend_init, (void))                                      \
  X(void, llama_log_set, (void (*)(int, const char *, void *), void *))    \
  X(block, llama_model_default_params, (void))                             \
  X(block, llama_context_default_params, (void))                           \
  X(void *, llama_model_load_from_file, (const char *, block))             \
  X(void, llama_model_free, (void *))                                      \
  X(void *, llama_init_from_model, (void *, block))                        \
  X(void, llama_free, (void *))                                            \
  X(void, llama_set_n_threads, (void *, int32_t, int32_t))                 \
  X(uint32_t, llama_n_ctx, (const void *))                                 \
  X(const void *, llama_model_get_vocab, (const void *))                   \
  X(int32_t, llama_vocab_n_tokens, (const void *))                         \
  X(const char *, llama_model_chat_template, (const void *, const char *)) \
  X(int32_t, llama_chat_apply_template,                                    \
    (const char *, const turn *, size_t, bool, char *, int32_t))           \
  X(int32_t, llama_tokenize,                                               \
    (const void *, const char *, int32_t, int32_t *, int32_t, bool, bool)) \
  X(block, llama_batch_get_one, (int32_t *, int32_t))                      \
  X(int32_t, llama_decode, (void *, block))                                \
  X(float *, llama_get_logits_ith, (void *, int32_t))                      \
  X(void *, llama_get_memory, (const void *))                              \
  X(bool, llama_memory_seq_rm, (void *, int32_t, int32_t, int32_t))        \
  X(void, llama_memory_clear, (void *, bool))                              \
  X(void, ggml_backend_load_all_from_path, (const char *))                 \
  X(size_t, ggml_backend_reg_count, (void))

typedef struct calls {
#define FIELD(type, name, parameters) type(*name) parameters;
  CALLS(FIELD)
#undef FIELD
} calls;

struct llama {
  void *library;
  calls call;
  char *name;
  char *error;
  void *model, *context;
  uint32_t width, room; /* room: tokens of the context */
  /* tokens of prompt and text; the first `done` went through the model */
  int32_t *tokens;
  size_t count, done, prompt;
  bool fresh; /* the logits belong to the last token */
  llama_sums sums;
};

/* ---- opening the library --------------------------------------------------------------------- */

static char *joined(const char *a, const char *b) {
  cli_text text = {0};
  cli_text_add(&text, a, strlen(a));
  cli_text_add(&text, b, strlen(b));
  return text.at;
}

/* The first library of these names that opens. *folder: where it lies, where that is known. */
static void *find_library(const char *named, char **folder) {
  char own[4096];
  cli_os_own_folder(own, sizeof own);
  char *names[] = {named ? joined(named, "") : joined(own, "llama-lib/libllama.so"),
                   named ? NULL : joined(own, "../llama-lib/libllama.so"),
                   named ? NULL : joined("libllama.so", ""),
                   named ? NULL : joined("libllama.so.0", ""),
                   named ? NULL : joined("libllama.dylib", ""),
                   named ? NULL : joined(own, "llama-lib/llama.dll"),
                   named ? NULL : joined("llama.dll", "")};
  void *library = NULL;
  *folder = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *slash = names[i] ? strrchr(names[i], '/') : NULL;
    if (names[i] && !library && (library = cli_os_library(names[i])) && slash) {
      *slash = 0;
      *folder = joined(names[i], "");
    }
    free(names[i]);
  }
  return library;
}

static bool open_library(llama *m, const char *named, char **folder) {
  const char *variable = getenv("TURNSTILE_LLAMA");
  if (!named && variable && *variable) named = variable;
  m->library = find_library(named, folder);
  if (!m->library) {
    const char *why = named ? cli_os_library_error() : NULL;
    cli_complain("%s%s%s; `" FETCH "` brings llama.cpp's library for Linux on x86-64, --library F "
                 "takes another",
                 named ? named : "llama.cpp's library (libllama.so) is not there", why ? ": " : "",
                 why ? why : "");
    return false;
  }
  const char *missing = NULL;
#define LOOK(type, name, parameters)                                                      \
  if (!cli_os_symbol(m->library, #name, &m->call.name) && strcmp(#name, "llama_version")) \
    missing = #name;
  CALLS(LOOK)
#undef LOOK
  if (missing)
    cli_complain("this llama.cpp has no %s: it is older than version 0.5.0; `" FETCH
                 "` brings one that fits",
                 missing);
  return !missing;
}

/* The last error that the library logs is the reason of a failure. */
static void keep_errors(int level, const char *text, void *ctx) {
  llama *m = ctx;
  if (level != 4 || !text) return;
  size_t n = strcspn(text, "\n");
  if (!n) return;
  free(m->error);
  m->error = cli_allocate(n + 1, 1);
  memcpy(m->error, text, n);
}

static void set_error(llama *m, const char *text) {
  free(m->error);
  m->error = joined(text, "");
}

/* The parameters of a context, or why this library's are not known. */
static bool context_parameters(llama *m, const llama_settings *s, block *p) {
  *p = m->call.llama_context_default_params();
  uint32_t *n = p->u.numbers;
  if (n[0] != 512 || n[1] != 2048 || n[2] != 512)
    return cli_complain("this llama.cpp (%s) has other parameters than the versions that are "
                        "known; `" FETCH "` brings one that fits",
                        m->name),
           false;
  n[0] = (uint32_t)(s->context ? s->context : LLAMA_CONTEXT);
  n[1] = n[2] = BATCH;
  return true;
}

static bool open_model(llama *m, const llama_settings *s, uint32_t width) {
  block context;
  if (!context_parameters(m, s, &context)) return false;
  m->model = m->call.llama_model_load_from_file(s->model, m->call.llama_model_default_params());
  if (!m->model)
    return cli_complain("%s: llama.cpp cannot load it: %s", s->model, llama_error(m)), false;
  m->width = (uint32_t)m->call.llama_vocab_n_tokens(m->call.llama_model_get_vocab(m->model));
  if (m->width != width)
    return cli_complain("%s: the model has %u logits, and its vocabulary %u", s->model, m->width,
                        width),
           false;
  m->context = m->call.llama_init_from_model(m->model, context);
  if (!m->context)
    return cli_complain("%s: no room for %llu tokens: %s; try a smaller --context", s->model,
                        (unsigned long long)context.u.numbers[0], llama_error(m)),
           false;
  int32_t threads = (int32_t)(s->threads ? s->threads : LLAMA_THREADS);
  m->call.llama_set_n_threads(m->context, threads, threads);
  m->room = m->call.llama_n_ctx(m->context);
  m->tokens = cli_allocate(m->room, sizeof *m->tokens);
  return true;
}

llama *llama_open(const llama_settings *settings, uint32_t width) {
  llama *m = cli_allocate(1, sizeof *m);
  char *folder = NULL;
  bool ok = open_library(m, settings->library, &folder);
  if (ok) {
    m->name = joined("llama.cpp ", m->call.llama_version ? m->call.llama_version() : "?");
    m->call.llama_log_set(keep_errors, m);
    if (folder && !m->call.ggml_backend_reg_count())
      m->call.ggml_backend_load_all_from_path(folder);
    m->call.llama_backend_init();
    ok = open_model(m, settings, width);
  }
  free(folder);
  if (ok) return m;
  llama_close(m);
  return NULL;
}

void llama_close(llama *m) {
  if (!m) return;
  if (m->context) m->call.llama_free(m->context);
  if (m->model) m->call.llama_model_free(m->model);
  /* The library stays: it has threads and tables of its own until the program ends. */
  if (m->call.llama_log_set) m->call.llama_log_set(NULL, NULL);
  free(m->tokens);
  free(m->name);
  free(m->error);
  free(m);
}

/* ---- prompts --------------------------------------------------------------------------------- */

bool llama_encode(const llama *m, const char *text, size_t length, bool special, bool first,
                  tsl_token **out, size_t *count) {
  *out = NULL;
  *count = 0;
  if (length > INT32_MAX / 2) return false;
  const void *vocab = m->call.llama_model_get_vocab(m->model);
  int32_t room = (int32_t)length + 8; /* a token has a byte at least */
  int32_t *ids = cli_allocate((size_t)room, sizeof *ids);
  int32_t n = m->call.llama_tokenize(vocab, text, (int32_t)length, ids, room, first, special);
  if (n < 0) {
    free(ids);
    return false;
  }
  *out = cli_allocate((size_t)n + 1, sizeof **out);
  for (int32_t i = 0; i < n; i++) (*out)[i] = (tsl_token)ids[i];
  *count = (size_t)n;
  free(ids);
  return true;
}

bool llama_chat(const llama *m, const llama_turn *turns, size_t count, cli_text *out) {
  const char *template = m->call.llama_model_chat_template(m->model, NULL);
  if (!template) return false;
  size_t size = 1024;
  turn *list = cli_allocate(count + 1, sizeof *list);
  for (size_t i = 0; i < count; i++) {
    list[i] = (turn){turns[i].role, turns[i].content};
    size += 2 * (strlen(turns[i].role) + strlen(turns[i].content) + 64);
  }
  int32_t n = -1;
  for (int tries = 0; tries < 2 && size < INT32_MAX; tries++) {
    char *room = cli_allocate(size, 1);
    n = m->call.llama_chat_apply_template(template, list, count, true, room, (int32_t)size);
    if (n >= 0 && (size_t)n <= size) cli_text_add(out, room, (size_t)n);
    free(room);
    if (n < 0 || (size_t)n <= size) break;
    size = (size_t)n + 1;
    n = -1;
  }
  free(list);
  return n >= 0;
}

bool llama_prompt(llama *m, const tsl_token *tokens, size_t count, uint64_t room) {
  if (count >= m->room || room > m->room - count) {
    char text[200];
    snprintf(text, sizeof text,
             "the prompt has %zu tokens and the answer up to %llu, and the context %u; "
             "use --context or fewer tokens",
             count, (unsigned long long)room, m->room);
    set_error(m, text);
    return false;
  }
  size_t same = 0, known = m->done;
  while (same < known && same < count && (uint32_t)m->tokens[same] == tokens[same]) same++;
  /* the last token of the prompt goes through the model anew: its logits are needed */
  if (same == count && same) same--;
  if (same < known &&
      !m->call.llama_memory_seq_rm(m->call.llama_get_memory(m->context), 0, (int32_t)same, -1)) {
    m->call.llama_memory_clear(m->call.llama_get_memory(m->context), true);
    same = 0;
  }
  for (size_t i = 0; i < count; i++) m->tokens[i] = (int32_t)tokens[i];
  m->sums.kept += same;
  m->done = same;
  m->count = m->prompt = count;
  m->fresh = false;
  return true;
}

void llama_restart(llama *m) {
  if (m->count == m->prompt) return;
  size_t keep = m->prompt ? m->prompt - 1 : 0;
  if (m->done > keep) {
    if (m->call.llama_memory_seq_rm(m->call.llama_get_memory(m->context), 0, (int32_t)keep, -1)) {
      m->done = keep;
    } else {
      m->call.llama_memory_clear(m->call.llama_get_memory(m->context), true);
      m->done = 0;
    }
  }
  m->count = m->prompt;
  m->fresh = false;
}

/* ---- steps ----------------------------------------------------------------------------------- */

bool llama_read(llama *m, tsl_token token) {
  if (m->count >= m->room) {
    set_error(m, "the context is full; use --context or fewer tokens");
    return false;
  }
  m->tokens[m->count++] = (int32_t)token;
  m->fresh = false;
  return true;
}

const float *llama_logits(llama *m) {
  double start = cli_now(), worked = cli_worked();
  if (!m->count) return set_error(m, "the prompt is empty"), NULL;
  while (!m->fresh && m->done < m->count) {
    size_t n = m->count - m->done < BATCH ? m->count - m->done : BATCH;
    block batch = m->call.llama_batch_get_one(m->tokens + m->done, (int32_t)n);
    if (m->call.llama_decode(m->context, batch)) {
      if (!m->error) set_error(m, "llama_decode failed");
      return NULL;
    }
    m->done += n;
    m->sums.passes++;
    m->sums.tokens += n;
  }
  m->fresh = true;
  const float *row = m->call.llama_get_logits_ith(m->context, -1);
  m->sums.us += cli_now() - start;
  m->sums.worked += cli_worked() - worked;
  if (!row) set_error(m, "the model gave no logits");
  return row;
}

const char *llama_error(const llama *m) { return m->error ? m->error : ""; }
const llama_sums *llama_get_sums(const llama *m) { return &m->sums; }
const char *llama_name(const llama *m) { return m->name; }

/* ---- options --------------------------------------------------------------------------------- */

static bool set_threads(void *to, const char *value) {
  return cli_number(value, 1, 1024, &((llama_settings *)to)->threads);
}
static bool set_context(void *to, const char *value) {
  return cli_number(value, 64, 1u << 24, &((llama_settings *)to)->context);
}
static bool set_library(void *to, const char *value) {
  return ((llama_settings *)to)->library = value, *value != 0;
}
static bool set_model(void *to, const char *value) {
  return ((llama_settings *)to)->model = value, *value != 0;
}

static const cli_option table[] = {
    {"--model", "F", "the model: a GGUF file that llama.cpp can load", set_model},
    {"--threads", "N", "of the model, 1 to 1024 (default 1)", set_threads},
    {"--context", "N", "tokens of prompt and answer together, 64 to 16777216 (default 4096)",
     set_context},
    {"--library", "F",
     "llama.cpp's shared library (default: $TURNSTILE_LLAMA, then llama-lib beside this program, "
     "then the system's libllama.so)",
     set_library},
};

cli_options llama_options(llama_settings *settings) {
  return (cli_options){table, sizeof table / sizeof *table, settings};
}
