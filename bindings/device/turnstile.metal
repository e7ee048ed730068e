/* turnstile.metal - masks and draws on Apple's GPUs.
 *
 * Problem   MLX and llama.cpp have their logits on Apple's GPU, where masks are applied by calls of
 *           the framework, one pass each.
 * Idea      Two kernels, as in turnstile.cu. What they do is in turnstile-device.h, with the layout
 *           of rows, masks, tasks and scratch. Metal has no double, so that sums are integers, and
 *           a token may differ from the library's once in some million draws.
 * Kinds     0 float32, 1 float16 (half), 2 bfloat16.
 * Apply     Buffers 0 logits, 1 masks, 2 sources, 3 targets (both with a number for each row), 4 a
 *           tsd_shape. Groups: (rows, ceil(width / 2048)) of 256 threads. No target twice. Cost:
 *           reads the masks, writes what is refused.
 * Draw      Buffers 0 logits, 1 masks (any buffer if no task has a mask), 2 tasks, 3 scratch, 4 a
 *           tsd_shape, 5 tokens. Groups: (tasks) of 256 threads; 9 KB of threadgroup memory. Cost
 *           as in turnstile.cu: one to two passes over the allowed logits, up to 12 for a flat row.
 * Compile   xcrun metal -fno-fast-math -ffp-contract=off -c turnstile.metal, Metal 2.4 or later. At
 *           run time: MTLCompileOptions with mathMode safe, and the headers' texts in place of the
 *           lines that include them.
 * Tested by tests/hosts/host_device.py: run on the processor, where the words of Metal are defined
 *           for C++. No compiler of Apple's has seen the file yet, and no Mac has run it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <metal_stdlib>
using namespace metal;

#ifndef TSD_THREADS
#define TSD_THREADS 256u /* of a group; a power of two, 32 to 512 */
#endif
#ifndef TSD_ROOM
#define TSD_ROOM threadgroup /* what threads of a group share; a test has another word */
#endif
#define TSD_GLOBAL device
#define TSD_SHARED threadgroup
#define TSD_PRIVATE thread
#define TSD_FN static inline
#define TSD_BARRIER() threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device)
#define TSD_ATOMIC atomic_uint
#define TSD_INFINITY INFINITY

typedef ushort tsd_u16;
typedef uint tsd_u32;
typedef ulong tsd_u64;

#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)

TSD_FN uint tsd_add(threadgroup atomic_uint *at, uint n) {
  return atomic_fetch_add_explicit(at, n, memory_order_relaxed);
}
TSD_FN uint tsd_get(threadgroup atomic_uint *at) {
  return atomic_load_explicit(at, memory_order_relaxed);
}
TSD_FN void tsd_put(threadgroup atomic_uint *at, uint n) {
  atomic_store_explicit(at, n, memory_order_relaxed);
}
TSD_FN float tsd_float(uint bits) { return as_type<float>(bits); }
TSD_FN uint tsd_bits(float x) { return as_type<uint>(x); }
TSD_FN float tsd_fma(float a, float b, float c) { return fma(a, b, c); }
TSD_FN float tsd_sum(float a, float b) { return a + b; }
TSD_FN float tsd_times(float a, float b) { return a * b; }
TSD_FN uint tsd_high(uint a, uint b) { return mulhi(a, b); }
TSD_FN ulong tsd_high64(ulong a, ulong b) { return mulhi(a, b); }

#include "turnstile-device.h"
#include "turnstile-draw.h"

/* Lengths that the host gives: strides in elements and words. */
struct tsd_shape {
  uint kind, width;
  ulong logits_stride, masks_stride;
};

kernel void turnstile_apply(device ushort *logits [[buffer(0)]],
                            const device uint *masks [[buffer(1)]],
                            const device uint *sources [[buffer(2)]],
                            const device uint *targets [[buffer(3)]],
                            constant tsd_shape &shape [[buffer(4)]],
                            uint2 group [[threadgroup_position_in_grid]],
                            uint2 self [[thread_position_in_threadgroup]]) {
  tsd_apply(logits, shape.kind, shape.logits_stride, shape.width, masks, shape.masks_stride,
            sources[group.x], targets[group.x], group.y, self.x);
}

kernel void turnstile_draw(const device ushort *logits [[buffer(0)]],
                           const device uint *masks [[buffer(1)]],
                           const device tsd_task *tasks [[buffer(2)]],
                           device uint *scratch [[buffer(3)]],
                           constant tsd_shape &shape [[buffer(4)]],
                           device uint *tokens [[buffer(5)]],
                           uint group [[threadgroup_position_in_grid]],
                           uint self [[thread_position_in_threadgroup]]) {
  TSD_ROOM tsd_room room;
  uint token = tsd_draw(logits, shape.kind, shape.logits_stride, shape.width, masks,
                        shape.masks_stride, tasks + group,
                        scratch + (ulong)group * tsd_scratch_words(shape.width), &room, self);
  if (self == 0u) tokens[group] = token;
}
