/* os_windows.c - the tool on Windows. See os.h.
 *
 * Arguments   come from the command line of the process as UTF-16; those that main gets have lost
 *             what the old encoding lacks.
 * Memory      A stream into memory is a file in the folder for such files. Windows keeps it in its
 *             cache as long as there is room, and removes it when it is closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/os.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
/* after windows.h */
#include <shellapi.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

#define PATH_UNITS 4096

static char *narrow(const wchar_t *text) {
  int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  char *out = n > 0 ? malloc((size_t)n) : NULL;
  if (out) WideCharToMultiByte(CP_UTF8, 0, text, -1, out, n, NULL, NULL);
  return out;
}

static bool widen(const char *text, wchar_t *out) {
  return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, out, PATH_UNITS) > 0;
}

void cli_os_begin(int *argc, char ***argv) {
  int n = 0;
  LPWSTR *given = CommandLineToArgvW(GetCommandLineW(), &n);
  char **texts = given ? calloc((size_t)n + 1, sizeof *texts) : NULL;
  bool fine = texts != NULL;
  for (int i = 0; fine && i < n; i++) fine = (texts[i] = narrow(given[i])) != NULL;
  if (fine) {
    *argc = n;
    *argv = texts;
  }
  LocalFree(given);
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
  _setmode(_fileno(stderr), _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
}

FILE *cli_os_open(const char *path, const char *mode) {
  wchar_t name[PATH_UNITS], how[PATH_UNITS];
  if (widen(path, name) && widen(mode, how)) return _wfopen(name, how);
  errno = EINVAL;
  return NULL;
}

bool cli_os_there(const char *path) { return cli_os_look(path) != CLI_OS_NOTHING; }
bool cli_os_is_terminal(FILE *file) { return _isatty(_fileno(file)); }

double cli_os_now(void) {
  LARGE_INTEGER count, rate;
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&rate);
  return (double)count.QuadPart * 1e6 / (double)rate.QuadPart;
}

double cli_os_worked(void) {
  FILETIME made, ended;
  union {
    FILETIME time;
    ULONGLONG count; /* of 100 nanoseconds */
  } kernel, user;
  if (!GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel.time, &user.time)) return 0;
  return (double)(kernel.count + user.count) / 10;
}

/* Names of devices, such as NUL, have no attributes of files. */
cli_os_kind cli_os_look(const char *path) {
  wchar_t name[PATH_UNITS];
  if (!widen(path, name)) return CLI_OS_NOTHING;
  HANDLE file = CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                            OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (file == INVALID_HANDLE_VALUE) return CLI_OS_NOTHING;
  BY_HANDLE_FILE_INFORMATION info;
  bool regular = GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &info) &&
                 !(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY);
  CloseHandle(file);
  return regular ? CLI_OS_FILE : CLI_OS_OTHER;
}

bool cli_os_is_link(const char *path, char **target) {
  wchar_t name[PATH_UNITS], full[PATH_UNITS];
  *target = NULL;
  DWORD what = widen(path, name) ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
  if (what == INVALID_FILE_ATTRIBUTES || !(what & FILE_ATTRIBUTE_REPARSE_POINT)) return false;
  HANDLE file = CreateFileW(name, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                            OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) return true;
  DWORD n = GetFinalPathNameByHandleW(file, full, PATH_UNITS, 0);
  CloseHandle(file);
  if (n && n < PATH_UNITS) *target = narrow(full);
  return true;
}

bool cli_memory_open(cli_memory *m) {
  wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
  *m = (cli_memory){.at = NULL};
  if (!GetTempPathW(MAX_PATH + 1, folder) || !GetTempFileNameW(folder, L"tsl", 0, name))
    return false;
  HANDLE file =
      CreateFileW(name, GENERIC_READ | GENERIC_WRITE | DELETE, FILE_SHARE_DELETE, NULL,
                  CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
  if (file == INVALID_HANDLE_VALUE) return false;
  int number = _open_osfhandle((intptr_t)file, _O_BINARY);
  if (number < 0) return CloseHandle(file), false;
  m->to = _fdopen(number, "w+b");
  if (!m->to) _close(number);
  return m->to != NULL;
}

bool cli_memory_flush(cli_memory *m) {
  long end = ftell(m->to);
  size_t n = end > 0 ? (size_t)end : 0;
  if (n >= m->held) {
    char *more = realloc(m->at, n + 1);
    if (!more) return false;
    m->at = more;
    m->held = n + 1;
  }
  bool fine = !fflush(m->to) && !fseek(m->to, 0, SEEK_SET) && fread(m->at, 1, n, m->to) == n &&
              !fseek(m->to, end, SEEK_SET);
  m->at[n] = 0;
  m->length = n;
  return fine;
}

bool cli_memory_close(cli_memory *m) {
  if (!m->to) return true;
  bool fine = cli_memory_flush(m);
  fclose(m->to);
  m->to = NULL;
  return fine;
}

void cli_os_own_folder(char *out, size_t size) {
  wchar_t name[PATH_UNITS];
  DWORD n = GetModuleFileNameW(NULL, name, PATH_UNITS);
  char *text = n && n < PATH_UNITS ? narrow(name) : NULL;
  char *slash = text ? strrchr(text, '\\') : NULL;
  size_t length = slash ? (size_t)(slash + 1 - text) : 0;
  if (length >= size) length = 0;
  if (length) memcpy(out, text, length);
  out[length] = 0;
  free(text);
}

void *cli_os_library(const char *name) {
  wchar_t path[PATH_UNITS];
  return widen(name, path) ? (void *)LoadLibraryW(path) : NULL;
}

const char *cli_os_library_error(void) { return NULL; }

bool cli_os_symbol(void *library, const char *name, void *out) {
  FARPROC found = GetProcAddress((HMODULE)library, name);
  if (found) memcpy(out, &found, sizeof found);
  return found != NULL;
}
#endif
