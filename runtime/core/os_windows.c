/* os_windows.c - locks, threads and files of Windows (from 7 on). See os.h.
 *
 * Problem   windows.h defines some thousand names without a prefix, `near`, `far` and `ERROR` among
 *           them. In the one source of the amalgamation they would stand beside all of ours.
 * Idea      The functions that are called here are declared here. They have the types of the
 *           documentation, spelled in C: DWORD is uint32_t, BOOL is int, HANDLE is void *. A
 *           program that includes windows.h itself is another translation unit, and is not touched.
 * Locks     Slim reader and writer locks, held by one thread alone, and condition variables: a word
 *           each, and nothing to free.
 * Files     A file is a number of the C library, over a handle. The handle lets others read, write,
 *           rename and remove the file meanwhile, as POSIX does. The lock lies on a byte far behind
 *           the end: locks of Windows keep others from reading, and no other process reads there.
 * Paths     UTF-8 to UTF-16. Paths of 248 characters or more get the prefix \\?\, which lifts the
 *           limit of 260; such a path must be absolute, and have backslashes alone.
 * Folders   A folder is made with a list of one entry: this user may do all, whatever the folder
 *           above says. It is trusted if this user, the administrators or the system own it, and
 *           no group that anybody may be in may write there.
 * Cost      One or two calls of the system each; four for tsl__folder_trusted.
 * Tested by tests/core/test_os.c, under Wine (./dev cross windows)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/core/os.h"

#ifdef _WIN32

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

/* ---- what is called of Windows --------------------------------------------------------------- */

#define CALL __declspec(dllimport)

typedef struct time_of_file {
  uint32_t lo, hi; /* 100 ns since 1601 */
} time_of_file;
typedef struct info_of_handle {
  uint32_t attributes;
  time_of_file made, read, written;
  uint32_t volume, size_hi, size_lo, links, index_hi, index_lo;
} info_of_handle;
typedef struct basic_info {
  int64_t made, read, written, changed; /* 100 ns since 1601 */
  uint32_t attributes;
} basic_info;
typedef struct overlapped {
  uintptr_t internal[2];
  uint32_t offset, offset_hi;
  void *event;
} overlapped;
typedef struct security {
  uint32_t length;
  void *descriptor;
  int inherited;
} security;
typedef struct access_entry {
  uint8_t type, flags;
  uint16_t size;
  uint32_t mask;
  uint32_t sid; /* the first bytes of one */
} access_entry;
typedef struct access_list {
  uint8_t revision, zero;
  uint16_t size, count, zero_too;
} access_list;

CALL void __stdcall AcquireSRWLockExclusive(void **);
CALL uint8_t __stdcall TryAcquireSRWLockExclusive(void **);
CALL void __stdcall ReleaseSRWLockExclusive(void **);
CALL int __stdcall SleepConditionVariableSRW(void **, void **, uint32_t, uint32_t);
CALL void __stdcall WakeConditionVariable(void **);
CALL void __stdcall WakeAllConditionVariable(void **);
CALL void *__stdcall CreateThread(void *, size_t, uint32_t(__stdcall *)(void *), void *, uint32_t,
                                  uint32_t *);
CALL uint32_t __stdcall WaitForSingleObject(void *, uint32_t);
CALL int __stdcall CloseHandle(void *);
CALL uint32_t __stdcall GetActiveProcessorCount(uint16_t);
CALL uint32_t __stdcall GetCurrentProcessId(void);
CALL void *__stdcall GetCurrentProcess(void);
CALL int __stdcall QueryPerformanceCounter(int64_t *);
CALL int __stdcall QueryPerformanceFrequency(int64_t *);
CALL void __stdcall Sleep(uint32_t);
CALL uint32_t __stdcall GetLastError(void);
CALL uint32_t __stdcall GetFullPathNameW(const wchar_t *, uint32_t, wchar_t *, wchar_t **);
CALL void *__stdcall CreateFileW(const wchar_t *, uint32_t, uint32_t, void *, uint32_t, uint32_t,
                                 void *);
CALL uint32_t __stdcall GetFileType(void *);
CALL int __stdcall GetFileInformationByHandle(void *, info_of_handle *);
CALL int __stdcall GetFileInformationByHandleEx(void *, int, void *, uint32_t);
CALL void *__stdcall CreateFileMappingW(void *, void *, uint32_t, uint32_t, uint32_t,
                                        const wchar_t *);
CALL void *__stdcall MapViewOfFile(void *, uint32_t, uint32_t, uint32_t, size_t);
CALL int __stdcall UnmapViewOfFile(const void *);
CALL int __stdcall LockFileEx(void *, uint32_t, uint32_t, uint32_t, uint32_t, overlapped *);
CALL int __stdcall UnlockFileEx(void *, uint32_t, uint32_t, uint32_t, overlapped *);
CALL int __stdcall MoveFileExW(const wchar_t *, const wchar_t *, uint32_t);
CALL int __stdcall DeleteFileW(const wchar_t *);
CALL int __stdcall CreateDirectoryW(const wchar_t *, const security *);
CALL uint32_t __stdcall GetFileAttributesW(const wchar_t *);
CALL void *__stdcall LocalFree(void *);
/* advapi32 */
CALL uint8_t __stdcall SystemFunction036(void *, uint32_t); /* RtlGenRandom */
CALL int __stdcall OpenProcessToken(void *, uint32_t, void **);
CALL int __stdcall GetTokenInformation(void *, int, void *, uint32_t, uint32_t *);
CALL int __stdcall EqualSid(const void *, const void *);
CALL int __stdcall IsWellKnownSid(const void *, int);
CALL int __stdcall ConvertSidToStringSidW(const void *, wchar_t **);
CALL int __stdcall ConvertStringSecurityDescriptorToSecurityDescriptorW(const wchar_t *, uint32_t,
                                                                        void **, uint32_t *);
CALL uint32_t __stdcall GetNamedSecurityInfoW(const wchar_t *, int, uint32_t, void **, void **,
                                              access_list **, access_list **, void **);
CALL int __stdcall GetAce(const access_list *, uint32_t, void **);

#undef CALL
#define INFINITE_MS UINT32_MAX /* INFINITE */
#define NO_HANDLE ((void *)(intptr_t) - 1)
#define ON_DISK 1u               /* FILE_TYPE_DISK */
#define IS_FOLDER 0x10u          /* FILE_ATTRIBUTE_DIRECTORY */
#define NO_ATTRIBUTES UINT32_MAX /* INVALID_FILE_ATTRIBUTES */

/* ---- locks and threads ----------------------------------------------------------------------- */

bool tsl__mutex_init(tsl__mutex *m) { return m->word = NULL, true; }
void tsl__mutex_free(tsl__mutex *m) { (void)m; }
void tsl__mutex_lock(tsl__mutex *m) { AcquireSRWLockExclusive(&m->word); }
bool tsl__mutex_try(tsl__mutex *m) { return TryAcquireSRWLockExclusive(&m->word); }
void tsl__mutex_unlock(tsl__mutex *m) { ReleaseSRWLockExclusive(&m->word); }

bool tsl__cond_init(tsl__cond *c) { return c->word = NULL, true; }
void tsl__cond_free(tsl__cond *c) { (void)c; }
void tsl__cond_signal(tsl__cond *c) { WakeConditionVariable(&c->word); }
void tsl__cond_broadcast(tsl__cond *c) { WakeAllConditionVariable(&c->word); }

/* Milliseconds, rounded up: who waits until a point in time must not come before it. */
static uint32_t milliseconds(uint64_t span) {
  uint64_t ms = span / 1000 + (span % 1000 != 0);
  return ms < INFINITE_MS ? (uint32_t)ms : INFINITE_MS - 1;
}

void tsl__cond_wait(tsl__cond *c, tsl__mutex *m, uint64_t until) {
  uint64_t now = until == TSL__FOREVER ? 0 : tsl__now_us();
  SleepConditionVariableSRW(&c->word, &m->word,
                            until == TSL__FOREVER ? INFINITE_MS
                            : until > now         ? milliseconds(until - now)
                                                  : 0,
                            0);
}

static uint32_t __stdcall run_thread(void *arg) {
  tsl__thread *t = arg;
  t->body(t->arg);
  return 0;
}

bool tsl__thread_start(tsl__thread *t, void (*body)(void *arg), void *arg) {
  t->body = body;
  t->arg = arg;
  t->handle = CreateThread(NULL, 0, run_thread, t, 0, NULL);
  return t->handle != NULL;
}

void tsl__thread_join(tsl__thread *t) {
  WaitForSingleObject(t->handle, INFINITE_MS);
  CloseHandle(t->handle);
}

uint32_t tsl__processors(void) {
  uint32_t n = GetActiveProcessorCount(0xFFFF); /* of all groups */
  return n ? n : 1;
}

uint64_t tsl__process_id(void) { return GetCurrentProcessId(); }

/* Seconds and the rest apart: the product of the two would overflow after some days. */
uint64_t tsl__now_us(void) {
  int64_t count = 0, rate = 1;
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&rate);
  return (uint64_t)(count / rate) * 1000000u + (uint64_t)(count % rate * 1000000 / rate);
}

void tsl__sleep_us(uint64_t span) { Sleep(milliseconds(span)); }

bool tsl__secret_draw(uint8_t secret[TSL__SECRET]) {
  return SystemFunction036(secret, TSL__SECRET);
}

/* ---- paths ----------------------------------------------------------------------------------- */

#define PATH_UNITS 4200u /* UTF-16 units, with a prefix and NUL */
#define SHORT_UNITS 248u /* up to here no prefix is needed, for folders neither */

typedef struct utf16 {
  wchar_t at[PATH_UNITS];
} utf16;

/* A long path: made absolute, with the prefix that lifts the limit. \\server\share becomes
 * \\?\UNC\server\share. */
static bool lengthen(const wchar_t *path, utf16 *out) {
  static const wchar_t unc[] = L"\\\\?\\UNC\\", plain[] = L"\\\\?\\";
  utf16 full;
  uint32_t n = GetFullPathNameW(path, PATH_UNITS - 8, full.at, NULL);
  if (!n || n >= PATH_UNITS - 8) return false;
  bool shared = full.at[0] == L'\\' && full.at[1] == L'\\';
  wcscpy(out->at, shared ? unc : plain);
  wcscat(out->at, full.at + (shared ? 2 : 0));
  return true;
}

/* UTF-8 to UTF-16, NUL included; the number of units, 0 if it is not UTF-8 or too long. */
static size_t decode(const char *path, utf16 *out) {
  size_t length = strlen(path), n = 0;
  uint32_t c;
  for (size_t i = 0; i < length; n++) {
    unsigned bytes = tsl__utf8_decode((const uint8_t *)path + i, length - i, &c);
    if (!bytes || n + 2 >= PATH_UNITS - 8) return 0;
    i += bytes;
    if (c >= 0x10000) { /* a pair of surrogates */
      c -= 0x10000;
      out->at[n++] = (wchar_t)(0xD800 | c >> 10);
      c = 0xDC00 | (c & 0x3FF);
    }
    out->at[n] = (wchar_t)c;
  }
  out->at[n] = 0;
  return n + 1;
}

/* The path as Windows wants it; false, with errno, if it is not UTF-8 or too long. */
static bool widen(const char *path, utf16 *out) {
  utf16 as_given;
  size_t n = decode(path, &as_given);
  bool prefixed = n && !wcsncmp(as_given.at, L"\\\\?\\", 4);
  if (!n || (n > SHORT_UNITS && !prefixed && !lengthen(as_given.at, out)))
    return errno = EINVAL, false;
  if (n <= SHORT_UNITS || prefixed) memcpy(out->at, as_given.at, n * sizeof *out->at);
  return true;
}

static void *handle_of(int file) { return (void *)_get_osfhandle(file); }

/* ---- files ----------------------------------------------------------------------------------- */

#define MAY_READ 0x80000000u     /* GENERIC_READ */
#define MAY_WRITE 0x40000000u    /* GENERIC_WRITE */
#define SHARED 7u                /* others may read, write, rename and remove it */
#define AS_FOLDER_TOO 0x2000000u /* FILE_FLAG_BACKUP_SEMANTICS */
#define NO_LINK 0x200000u        /* FILE_FLAG_OPEN_REPARSE_POINT */
#define IS_LINK 0x400u           /* FILE_ATTRIBUTE_REPARSE_POINT */
enum { CREATE_NEW = 1, CREATE_ALWAYS = 2, OPEN_EXISTING = 3, OPEN_ALWAYS = 4 };

/* How a file is opened: what this process may do, what becomes of one that is there or not. */
typedef struct opening {
  uint32_t access, how, flags;
  int of_library; /* flags of the C library's number */
} opening;

int tsl__file_open(const char *path, tsl__open_mode mode) {
  static const opening openings[] = {
      [TSL__OPEN_READ] = {MAY_READ, OPEN_EXISTING, 0, _O_RDONLY},
      [TSL__OPEN_NEW] = {MAY_WRITE, CREATE_NEW, 0, 0},
      [TSL__OPEN_OVER] = {MAY_WRITE, CREATE_ALWAYS, 0, 0},
      [TSL__OPEN_DRAFT] = {MAY_READ | MAY_WRITE, OPEN_ALWAYS, NO_LINK, 0},
  };
  const opening *o = &openings[mode];
  info_of_handle info;
  utf16 name;
  if (!widen(path, &name)) return -1;
  void *handle = CreateFileW(name.at, o->access, SHARED, NULL, o->how, o->flags, NULL);
  if (handle == NO_HANDLE) {
    uint32_t why = GetLastError();
    errno = why == 2 || why == 3 ? ENOENT : EACCES; /* no such file, no such folder */
    return -1;
  }
  bool link =
      o->flags & NO_LINK && GetFileInformationByHandle(handle, &info) && info.attributes & IS_LINK;
  int file =
      link ? -1 : _open_osfhandle((intptr_t)handle, o->of_library | _O_BINARY | _O_NOINHERIT);
  if (file < 0) {
    CloseHandle(handle);
    errno = EACCES;
  }
  return file;
}

bool tsl__file_close(int file) { return !_close(file); }

/* Seconds since 1970 and nanoseconds, of 100 ns since 1601. */
static void split_time(int64_t ticks, int64_t out[2]) {
  out[0] = ticks / 10000000 - 11644473600;
  out[1] = ticks % 10000000 * 100;
}

static bool look(void *handle, tsl__file_info *out) {
  info_of_handle info;
  basic_info times;
  bool regular = GetFileType(handle) == ON_DISK;
  *out = (tsl__file_info){.regular = false};
  if (!regular) return true;
  if (!GetFileInformationByHandle(handle, &info) ||
      !GetFileInformationByHandleEx(handle, 0, &times, sizeof times))
    return false;
  out->regular = !(info.attributes & IS_FOLDER);
  out->size = (uint64_t)info.size_hi << 32 | info.size_lo;
  out->device = info.volume;
  out->inode = (uint64_t)info.index_hi << 32 | info.index_lo;
  split_time(times.written, out->written);
  split_time(times.changed, out->changed);
  return true;
}

bool tsl__file_look(int file, tsl__file_info *out) { return look(handle_of(file), out); }

bool tsl__path_look(const char *path, bool follow, tsl__file_info *out) {
  utf16 name;
  if (!widen(path, &name)) return false;
  void *handle = CreateFileW(name.at, 0, SHARED, NULL, OPEN_EXISTING,
                             AS_FOLDER_TOO | (follow ? 0 : NO_LINK), NULL);
  if (handle == NO_HANDLE) return false;
  bool fine = look(handle, out);
  CloseHandle(handle);
  return fine;
}

/* The C library counts in int. */
static unsigned part_of(size_t size) { return size < 1u << 30 ? (unsigned)size : 1u << 30; }

ptrdiff_t tsl__file_read(int file, void *data, size_t size) {
  return _read(file, data, part_of(size));
}
ptrdiff_t tsl__file_write(int file, const void *data, size_t size) {
  return _write(file, data, part_of(size));
}
bool tsl__file_rewind(int file) { return _lseeki64(file, 0, SEEK_SET) == 0; }
bool tsl__file_cut(int file) { return !_chsize(file, 0); }
bool tsl__file_sync(int file) { return !_commit(file); }

/* The view keeps the mapping, and the mapping the file: both handles may be closed. */
const void *tsl__file_map(int file, size_t size) {
  void *mapping = CreateFileMappingW(handle_of(file), NULL, 2, 0, 0, NULL); /* PAGE_READONLY */
  if (!mapping) return NULL;
  const void *at = MapViewOfFile(mapping, 4, 0, 0, size); /* FILE_MAP_READ */
  CloseHandle(mapping);
  return at;
}

void tsl__file_unmap(const void *at, size_t size) {
  (void)size;
  UnmapViewOfFile(at);
}

/* One byte, far behind the end of any file. */
static overlapped lock_place(void) { return (overlapped){.offset_hi = 0x40000000u}; }

tsl__lock tsl__file_lock(int file) {
  overlapped place = lock_place();
  if (LockFileEx(handle_of(file), 3, 0, 1, 0, &place)) return TSL__LOCKED; /* exclusive, at once */
  uint32_t why = GetLastError();
  return why == 33 || why == 997 ? TSL__LOCK_BUSY : TSL__LOCK_NONE; /* LOCK_VIOLATION, IO_PENDING */
}

void tsl__file_unlock(int file) {
  overlapped place = lock_place();
  UnlockFileEx(handle_of(file), 0, 1, 0, &place);
  _close(file);
}

bool tsl__file_rename(const char *from, const char *to) {
  utf16 old_name, new_name;
  return widen(from, &old_name) && widen(to, &new_name) &&
         MoveFileExW(old_name.at, new_name.at, 1); /* MOVEFILE_REPLACE_EXISTING */
}

void tsl__file_remove(const char *path) {
  utf16 name;
  if (widen(path, &name)) DeleteFileW(name.at);
}

/* ---- folders --------------------------------------------------------------------------------- */

typedef struct user {
  const void *sid;   /* in `room` */
  uint64_t room[16]; /* a TOKEN_USER, and the 68 bytes that a SID has at most */
} user;

static bool this_user(user *out) {
  void *token;
  uint32_t n;
  if (!OpenProcessToken(GetCurrentProcess(), 8, &token)) return false;        /* TOKEN_QUERY */
  bool fine = GetTokenInformation(token, 1, out->room, sizeof out->room, &n); /* TokenUser */
  CloseHandle(token);
  if (fine) memcpy(&out->sid, out->room, sizeof out->sid);
  return fine;
}

/* D:P: these entries alone. FA: everything, and OICI: in what is made inside, too. */
static void *list_for(const user *u) {
  wchar_t *sid = NULL, text[256];
  void *descriptor = NULL;
  if (!ConvertSidToStringSidW(u->sid, &sid)) return NULL;
  if (wcslen(sid) < 200) {
    wcscpy(text, L"D:P(A;OICI;FA;;;");
    wcscat(wcscat(text, sid), L")");
    if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(text, 1, &descriptor, NULL))
      descriptor = NULL;
  }
  LocalFree(sid);
  return descriptor;
}

void tsl__folder_make(const char *path) {
  utf16 name;
  user u;
  void *list = widen(path, &name) && this_user(&u) ? list_for(&u) : NULL;
  if (!list) return; /* without a list of its own it would not be this user's alone */
  CreateDirectoryW(name.at, &(security){sizeof(security), list, 0});
  LocalFree(list);
}

/* Groups that anybody may be in, by their numbers in WELL_KNOWN_SID_TYPE: everybody, anonymous
 * users, who has logged in, users, guests. */
static bool is_open_group(const void *sid) {
  static const int groups[] = {1, 13, 17, 27, 28};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (IsWellKnownSid(sid, groups[i])) return true;
  return false;
}

/* To add, remove and change files, and to change who may: rights of folders, or all of them. */
#define WRITES 0x500C0046u

static bool is_writable_by_all(const access_list *list) {
  void *at;
  if (!list) return true; /* no list: everybody may do all */
  for (uint32_t i = 0; i < list->count; i++) {
    if (!GetAce(list, i, &at)) return true;
    const access_entry *entry = at;
    if (!entry->type && entry->mask & WRITES && is_open_group(&entry->sid)) return true;
  }
  return false;
}

static bool is_owner(const void *sid) {
  user u;
  return IsWellKnownSid(sid, 26) || IsWellKnownSid(sid, 22) || /* administrators, the system */
         (this_user(&u) && EqualSid(sid, u.sid));
}

bool tsl__folder_trusted(const char *directory) {
  utf16 name;
  void *owner = NULL, *descriptor = NULL;
  access_list *list = NULL;
  if (!widen(directory, &name)) return false;
  if (GetFileAttributesW(name.at) == NO_ATTRIBUTES) return true; /* it is not there yet */
  /* of a file (1): its owner (1) and its list (4) */
  if (GetNamedSecurityInfoW(name.at, 1, 5, &owner, NULL, &list, NULL, &descriptor)) return false;
  bool trusted = is_owner(owner) && !is_writable_by_all(list);
  LocalFree(descriptor);
  return trusted;
}

#endif
