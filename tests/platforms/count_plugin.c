/* count_plugin.c - instructions that a program runs under qemu-user, between two points of its own.
 *
 *   qemu-aarch64 -plugin PLUGIN.so PROGRAM
 *
 * Problem   Callgrind counts instructions of this machine only. What NEON or a just-in-time
 *           compiler's code costs can be run under qemu, but qemu's time says nothing.
 * Idea      qemu lets a plugin add a number whenever a block of code runs. The plugin adds the
 *           number of instructions in the block, of all threads. At each getppid, which nothing
 *           else calls, it prints the sum so far; scripts/platform_costs.py takes the difference of
 *           two lines. A block ends before a call of the system, so the sum is exact there.
 * Cost      qemu runs at half its speed.
 * Reference "TCG plugins" in qemu's manual. Its header is in no Debian package, so the few
 *           functions of version 1 of the interface that are needed here are declared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct qemu_plugin_tb;
typedef void translated(uint64_t id, struct qemu_plugin_tb *block);
typedef void called(uint64_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h);
typedef struct about {
  const char *target;
} about;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translated *callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *at,
                                              uint64_t value);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, called *callback);

enum { ADD = 0 };
int qemu_plugin_version = 1;
int qemu_plugin_install(uint64_t id, const about *machine, int count, char **arguments);

static uint64_t instructions;
static int64_t getppid_number;

static void on_translated(uint64_t id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &instructions,
                                           qemu_plugin_tb_n_insns(block));
}

static void on_call(uint64_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  (void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  if (number == getppid_number) fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(uint64_t id, const about *machine, int count, char **arguments) {
  (void)count, (void)arguments;
  getppid_number = strcmp(machine->target, "x86_64") ? 173 : 110; /* 173: all newer machines */
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
  qemu_plugin_register_vcpu_syscall_cb(id, on_call);
  return 0;
}
