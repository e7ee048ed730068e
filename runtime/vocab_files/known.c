/* known.c - what a tokenizer file was found to hold. See known.h.
 *
 * Problem   The cache's entry is named by what the tokenizer file holds. To read and hash 9 MB only
 *           to find that nothing has changed takes a fifth of the time of a start. On a busy
 *           machine, whose caches the file does not stay in, it takes more.
 * Idea      A note of 104 bytes stands beside the entries. It says that a file of this device,
 *           inode and size, last written and last changed at these times, has this hash. Whoever
 *           writes to a file changes at least the last of them, and no program can set it back. The
 *           note is named by device and inode.
 * Racy      Two writes within one tick of the clock leave the same time. So nothing is noted of a
 *           file that was changed less than two seconds before it was read, or while it was read.
 *           It is read again the next time. (What git calls a racy entry.)
 * Blind     to what is written through a mapping that was shared before the file was read, as make
 *           and git are. The times change with the first write to a page alone.
 * Unsound   notes are as good as none. They are written under another name and renamed, and carry a
 *           checksum. One that does not fit the file is written anew. A forged one can but name
 *           another entry of the same folder, where whoever forges it could have changed the entry
 *           as well.
 *
 * Tested by tests/vocab_files/test_vocab_known.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/vocab_files/known.h"

#include <stdio.h>

#define XXH_STATIC_LINKING_ONLY
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/core/os.h"
#include "runtime/kernels/logits.h"
#include "runtime/vocab/build.h"
#include "runtime/vocab_files/cache.h"

#define VERSION 1u
#define MARK 0x01020304u /* differs in notes of machines with another order of bytes */
#define RACY 2           /* seconds */
/* bytes to read at once: as many as stay in the cache till they are hashed (9 MB: 0.6 ms, with a
 * quarter 1.1) */
#define CHUNK ((size_t)1 << 16)
#define ALIGNMENT 64u /* what is copied to an odd place is copied slowly */

typedef struct note {
  char magic[8];
  uint32_t version, mark;
  uint64_t device, inode, size;
  int64_t written[2], changed[2]; /* seconds, nanoseconds */
  uint8_t content[16];
  uint8_t checksum[16]; /* of all before */
} note;

/* All that a note says of a file but its content. */
static note describe(const tsl__file_info *f) {
  note n = {.magic = "TSLKNOWN", .version = VERSION, .mark = MARK};
  n.device = f->device;
  n.inode = f->inode;
  n.size = f->size;
  memcpy(n.written, f->written, sizeof n.written);
  memcpy(n.changed, f->changed, sizeof n.changed);
  return n;
}

static bool same_file(const note *a, const note *b) {
  return !memcmp(a, b, offsetof(note, content));
}

static void seal(const note *n, uint8_t out[16]) { tsl__hash128(n, offsetof(note, checksum), out); }

static bool note_path(char path[TSL__CACHE_PATH], const char *directory, const note *n,
                      const char *end) {
  const uint64_t name[2] = {n->device, n->inode};
  uint8_t key[16];
  tsl__hash128(name, sizeof name, key);
  return tsl__vocab_cache_path(path, directory, key, end);
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* The content that is noted for this file. */
static bool look_up(const char *directory, const note *wanted, uint8_t out[16]) {
  char path[TSL__CACHE_PATH];
  note n;
  uint8_t sum[16];
  int file =
      note_path(path, directory, wanted, ".tslknown") ? tsl__file_open(path, TSL__OPEN_READ) : -1;
  if (file < 0) return false;
  bool whole = tsl__file_read(file, &n, sizeof n) == (ptrdiff_t)sizeof n;
  tsl__file_close(file);
  if (!whole || !same_file(&n, wanted)) return false;
  seal(&n, sum);
  if (memcmp(sum, n.checksum, 16)) return false;
  memcpy(out, n.content, 16);
  return true;
}

/* Note it; that it cannot be is no error. */
static void write_note(const char *directory, const note *n) {
  char path[TSL__CACHE_PATH], draft[TSL__CACHE_PATH], end[64];
  /* as with entries: each thread's own */
  snprintf(end, sizeof end, ".%llu.%llx.draft", (unsigned long long)tsl__process_id(),
           (unsigned long long)(uintptr_t)path);
  if (!note_path(path, directory, n, ".tslknown") || !note_path(draft, directory, n, end)) return;
  tsl__folder_make(directory);
  int file = tsl__file_open(draft, TSL__OPEN_NEW);
  if (file < 0) return;
  bool ok = tsl__file_write(file, n, sizeof *n) == (ptrdiff_t)sizeof *n;
  ok = tsl__file_close(file) && ok;
  if (!ok || !tsl__file_rename(draft, path)) tsl__file_remove(draft);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The content is copied, not mapped: who cuts a mapped file off ends the process. */
static bool hash_file(int file, const tsl_allocator *a, uint8_t out[16]) {
  XXH3_state_t state;
  XXH128_canonical_t canonical;
  ptrdiff_t n;
  uint8_t *block = tsl__alloc(a, CHUNK + ALIGNMENT);
  if (!block) return false;
  uint8_t *chunk = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT);
  XXH3_128bits_reset(&state);
  while ((n = tsl__file_read(file, chunk, CHUNK)) > 0)
    tsl__logits()->hash_more(&state, chunk, (size_t)n);
  tsl__free(a, block, CHUNK + ALIGNMENT);
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
  memcpy(out, canonical.digest, 16);
  return !n && tsl__file_rewind(file);
}

bool tsl__vocab_known_hash(const char *directory, int file, int64_t now, const tsl_allocator *a,
                           uint8_t out[16]) {
  tsl__file_info before, after;
  if (!tsl__file_look(file, &before) || !before.regular) return false;
  note n = describe(&before);
  if (look_up(directory, &n, out)) return true;
  if (!hash_file(file, a, out) || !tsl__file_look(file, &after)) return false;
  note then = describe(&after);
  if (!same_file(&n, &then) || n.written[0] >= now - RACY || n.changed[0] >= now - RACY)
    return true;
  memcpy(n.content, out, 16);
  seal(&n, n.checksum);
  write_note(directory, &n);
  return true;
}
