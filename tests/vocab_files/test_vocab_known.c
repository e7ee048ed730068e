/* test_vocab_known.c - the note of what a tokenizer file holds: when it is used, when the file is
 * read again.
 *
 *   changed   another content of the same size, written in place or renamed there, its time of
 *             writing set back or not, is seen
 *   racy      nothing is noted of a file that was just written
 *   unsound   a note cut off, changed or of another file is not used, and written anew
 *   machine   no folder, no permission, no room, no memory: the file is read
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/vocab/build.h"
#include "runtime/vocab_files/known.h"
#include "tests/support/check.h"
#include "tests/support/failing.h"
#include "tests/support/folder.h"

enum { LATER = 100, NOTE = 104, CONTENT = 72, CHECKSUM = 88 };

static char place[] = "turnstile-known-XXXXXX";
static const char folder[] = "notes";
static char note_path[FOLDER_PATH];

static void write_file(const char *path, const void *data, size_t n) {
  FILE *f = fopen(path, "wb");
  CHECK(f && fwrite(data, 1, n, f) == n);
  if (f) CHECK(!fclose(f));
}

static size_t read_note(uint8_t note[NOTE + 1]) {
  FILE *f = fopen(note_path, "rb");
  size_t n = f ? fread(note, 1, NOTE + 1, f) : 0;
  if (f) fclose(f);
  return n;
}

static int files(const char *end) { return folder_files(folder, end, note_path); }

static void clear(void) {
  while (files(".tslknown") || files(".draft") || files(".tslvocab")) unlink(note_path);
}

/* Is the file's hash, as it is noted or read at this time, that of `text`? */
static bool is(const char *directory, int64_t now, const char *text) {
  uint8_t found[16], right[16];
  char first;
  int file = open("file", O_RDONLY);
  bool known = tsl__vocab_known_hash(directory, file, now, &tsl__malloc, found) &&
               read(file, &first, 1) == 1 && first == text[0];
  close(file);
  tsl__hash128(text, strlen(text), right);
  return known && !memcmp(found, right, 16);
}

static int64_t later(void) { return (int64_t)time(NULL) + LATER; }

static void start(const char *text) {
  clear();
  write_file("file", text, strlen(text));
}

static void seal(uint8_t note[NOTE]) { tsl__hash128(note, CHECKSUM, note + CHECKSUM); }

/* ---- used, or not ---------------------------------------------------------------------------- */

static void used(void) {
  uint8_t note[NOTE + 1];
  start("lid");
  CHECK(is(folder, later(), "lid") && files(".draft") == 0 && files(".tslknown") == 1 &&
        read_note(note) == NOTE);
  tsl__hash128("lie", 3, note + CONTENT);
  seal(note);
  write_file(note_path, note, NOTE);
  CHECK(is(folder, 0, "lie")); /* so it was the note that was used, whenever that is */
}

static void changed(void) {
  struct stat old;
  start("one");
  CHECK(is(folder, later(), "one") && !stat("file", &old));
  for (int i = 0; i < 20; i++) {
    const char *text = i % 2 ? "one" : "two";
    struct timespec tick = {0, 20000000}, back[2] = {old.st_atim, old.st_mtim};
    nanosleep(&tick, NULL); /* a clock that ticks every 10 ms distinguishes two writes */
    if (i % 4 < 2) {
      write_file("file", text, 3);
    } else {
      write_file("other", text, 3);
      CHECK(!rename("other", "file"));
    }
    if (i % 3 == 0) CHECK(!utimensat(AT_FDCWD, "file", back, 0));
    CHECKF(is(folder, later(), text) && is(folder, later(), text), "change %d", i);
  }
}

static void racy(void) {
  struct stat info;
  start("one");
  CHECK(!stat("file", &info));
  for (int i = -2; i <= 2; i++)
    CHECK(is(folder, info.st_ctim.tv_sec + i, "one") && files(".tslknown") == 0);
  CHECK(is(folder, info.st_ctim.tv_sec + 3, "one") && files(".tslknown") == 1);
  /* Only its time of writing is new, or lies ahead. */
  for (int i = 0; i < 2; i++) {
    struct timespec ahead[2] = {{.tv_sec = info.st_ctim.tv_sec + 50 + 50 * i},
                                {.tv_sec = info.st_ctim.tv_sec + 50 + 50 * i}};
    clear();
    CHECK(!utimensat(AT_FDCWD, "file", ahead, 0));
    CHECK(is(folder, info.st_ctim.tv_sec + 52, "one") && files(".tslknown") == 0);
  }
}

/* ---- notes that are not sound ---------------------------------------------------------------- */

static void unsound(void) {
  uint8_t good[NOTE + 1], bad[NOTE + 1];
  start("one");
  CHECK(is(folder, later(), "one") && files(".tslknown") == 1 && read_note(good) == NOTE);
  for (int i = 0; i < NOTE; i++) {
    write_file(note_path, good, (size_t)i);
    CHECKF(is(folder, later(), "one") && read_note(bad) == NOTE && !memcmp(bad, good, NOTE),
           "cut off at %d", i);
    memcpy(bad, good, NOTE);
    bad[i] ^= (uint8_t)(1 << i % 8);
    if (i < CONTENT) tsl__hash128("two", 3, bad + CONTENT);
    if (i < CONTENT) seal(bad); /* a note of another file, whole and sound */
    write_file(note_path, bad, NOTE);
    CHECKF(is(folder, later(), "one") && read_note(bad) == NOTE && !memcmp(bad, good, NOTE),
           "changed at %d", i);
  }
  unlink(note_path);
  CHECK(!mkdir(note_path, 0700)); /* its name is that of a folder */
  CHECK(is(folder, later(), "one") && files(".draft") == 0 && files(".tslknown") == 1 &&
        !rmdir(note_path));
}

/* ---- the machine ----------------------------------------------------------------------------- */

static void no_folder(void) {
  char name[5000];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = 0;
  start("one");
  CHECK(is("/dev/null", later(), "one") && is("", later(), "one") &&
        is("no/such/folder", later(), "one") && is(name, later(), "one"));
  CHECK(is("made", later(), "one") && is("made", 0, "one"));
  CHECK(!system("rm -r made"));
}

static void no_room(void) {
  for (rlim_t room = 0; room < NOTE; room += 13) {
    start("one");
    pid_t child = fork();
    if (child == 0) {
      struct rlimit limit = {room, room};
      signal(SIGXFSZ, SIG_IGN);
      setrlimit(RLIMIT_FSIZE, &limit);
      _exit(is(folder, later(), "one") ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECKF(files(".tslknown") == 0 && files(".draft") == 0, "room for %d bytes", (int)room);
  }
}

static void no_memory(void) {
  uint8_t hash[16];
  start("one");
  int file = open("file", O_RDONLY), where = open(".", O_RDONLY);
  failing f = {0, 0};
  tsl_allocator a = failing_allocator(&f);
  CHECK(!tsl__vocab_known_hash(folder, file, later(), &a, hash) && f.held == 0 &&
        files(".tslknown") == 0);
  CHECK(!tsl__vocab_known_hash(folder, where, later(), &tsl__malloc, hash)); /* a folder */
  CHECK(!tsl__vocab_known_hash(folder, -1, later(), &tsl__malloc, hash));
  f.left = 1;
  CHECK(tsl__vocab_known_hash(folder, file, later(), &a, hash) && f.held == 0 &&
        files(".tslknown") == 1);
  f.left = 0;
  CHECK(tsl__vocab_known_hash(folder, file, later(), &a, hash)); /* what is noted needs none */
  close(file);
  close(where);
}

/* ---- vocabularies ---------------------------------------------------------------------------- */

static bool loads(const char *text) {
  const tsl_vocab_options options = {.pattern = "\\s+|\\w+", .cache_dir = folder};
  tsl_vocab *v, *right;
  uint8_t a[16], b[16];
  if (tsl_vocab_load_memory(text, strlen(text), NULL, &(tsl_vocab_options){.pattern = "\\s+|\\w+"},
                            NULL, &right, NULL))
    return false;
  tsl_vocab_identity(right, a);
  tsl_vocab_release(right);
  if (tsl_vocab_load_file("file", &options, NULL, &v, NULL)) return false;
  tsl_vocab_identity(v, b);
  tsl_vocab_release(v);
  return !memcmp(a, b, 16);
}

/* Loads by path, the file just written or noted long ago; the entry that a note leads to may be
 * gone. */
static void vocabularies(void) {
  static const char *const text[2] = {"YQ== 0\nYg== 1\nYWI= 2\n", "YQ== 0\nYw== 1\nYWI= 2\n"};
  for (int i = 0; i < 6; i++) {
    start(text[i % 2]);
    CHECK(loads(text[i % 2]));
    write_file("file", text[!(i % 2)], strlen(text[0]));
    CHECK(loads(text[!(i % 2)]) && files(".tslvocab") == 2 && files(".tslknown") == 0);
  }
  start(text[0]);
  CHECK(is(folder, later(), text[0]) && files(".tslknown") == 1);
  CHECK(loads(text[0]) && loads(text[0]) && files(".tslvocab") == 1);
  unlink(note_path);
  CHECK(files(".tslknown") == 1 && loads(text[0]) && files(".tslvocab") == 1);
}

/* A pipe that nobody writes to, in place of the tokenizer file, of the entry and of the note:
 * nothing waits for it. */
static void pipes(void) {
  static const char text[] = "YQ== 0\nYg== 1\nYWI= 2\n";
  const tsl_vocab_options options = {.pattern = "\\w+", .cache_dir = folder};
  tsl_vocab *v;
  alarm(20);
  start(text);
  CHECK(is(folder, later(), text) && files(".tslknown") == 1 && !unlink(note_path) &&
        !mkfifo(note_path, 0600) && is(folder, later(), text));
  CHECK(loads(text) && files(".tslvocab") == 1 && !unlink(note_path) && !mkfifo(note_path, 0600) &&
        loads(text));
  unlink("file");
  CHECK(!mkfifo("file", 0600) &&
        tsl_vocab_load_file("file", &options, NULL, &v, NULL) == TSL_ERR_IO && !v);
  CHECK(tsl_vocab_load_file("file", NULL, NULL, &v, NULL) == TSL_ERR_IO && !v);
  unlink("file");
  alarm(0);
}

int main(void) {
  const char *build = getenv("TSL_BUILD");
  CHECK(!chdir(build ? build : ".") && mkdtemp(place) && !chdir(place));
  RUN(used, "what is noted is used");
  RUN(changed, "a changed file is read again");
  RUN(racy, "a file that was just written is not noted");
  RUN(unsound, "a note cut off, changed or of another file is written anew");
  RUN(no_folder, "no folder: the file is read");
  RUN(no_room, "no room: no note and no draft");
  RUN(no_memory, "no memory, no file");
  RUN(vocabularies, "the right vocabulary");
  RUN(pipes, "a pipe is no file");
  clear();
  unlink("file");
  rmdir(folder);
  CHECK(!chdir("..") && !rmdir(place));
  return tsl_test_end();
}
