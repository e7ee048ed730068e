/* os.h - what the tool needs of the operating system beside the C library.
 *
 * Problem   Windows hands arguments over as UTF-16, opens files by names in an old encoding,
 *           changes line ends, and has neither streams into memory nor dlopen.
 * Idea      os_posix.c and os_windows.c give the same few calls; the one that is not for this
 *           system is empty. Texts are UTF-8 everywhere, and files are read and written as they
 *           are.
 * Tested by tests/cli/test_cli.py; scripts/cross.py runs the tool under Wine
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TSL_CLI_OS_H
#define TSL_CLI_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Before all else: the arguments become UTF-8, and standard streams keep line ends as they are. */
void cli_os_begin(int *argc, char ***argv);
/* As fopen, the path in UTF-8. */
FILE *cli_os_open(const char *path, const char *mode);
bool cli_os_there(const char *path); /* is there such a file? */
bool cli_os_is_terminal(FILE *file);
double cli_os_now(void); /* microseconds of a clock that never goes back */
/* microseconds that a processor worked for this thread. Windows: in steps of 16,000 */
double cli_os_worked(void);

typedef enum cli_os_kind { CLI_OS_NOTHING, CLI_OS_FILE, CLI_OS_OTHER } cli_os_kind;
/* What a path leads to. */
cli_os_kind cli_os_look(const char *path);
/* Is it a link? Then *target is where it leads to, which the caller frees, or NULL for nowhere. */
bool cli_os_is_link(const char *path, char **target);

/* A stream into memory, which must not move while it is open. */
typedef struct cli_memory {
  FILE *to;
  char *at;      /* after a flush: what was written, with a NUL behind it; the caller frees it */
  size_t length; /* after a flush: bytes from the beginning to where the stream stands */
  size_t held;   /* its own */
} cli_memory;
bool cli_memory_open(cli_memory *m);  /* false: out of memory */
bool cli_memory_flush(cli_memory *m); /* false: out of memory. It may be written on */
/* Flush and close; `at` stays. Closed already: nothing. */
bool cli_memory_close(cli_memory *m);

/* The folder of this program, with a slash at its end, into out[size]; "" if it is not known. */
void cli_os_own_folder(char *out, size_t size);
/* A shared library; NULL if it does not open. It stays until the program ends. */
void *cli_os_library(const char *name);
const char *cli_os_library_error(void); /* why the last one did not; NULL: nobody knows */
/* The address of a function, put into *out, a pointer to a function; false: there is none. */
bool cli_os_symbol(void *library, const char *name, void *out);

#endif
