/* turnstile.cu - masks and draws on a GPU, in CUDA and in HIP, without torch.
 *
 * Problem   A program in C++ has its logits on a GPU, and no Python.
 * Idea      Two kernels. turnstile_apply writes -inf where a mask refuses. turnstile_draw reads
 *           logits and masks and gives a token for each row, and writes no logit. A program that
 *           draws here needs no turnstile_apply. What they do is in turnstile-device.h, with the
 *           layout of rows, masks, tasks and scratch, and with what is exact.
 * Kinds     0 float32, 1 float16, 2 bfloat16. Pointers to logits are aligned to their elements.
 * Apply     turnstile_apply<<<dim3(rows, (width + 2047) / 2048), 256>>>(...): row targets[i] of the
 *           logits gets row sources[i] of the masks. Without one of them (NULL) number i is i. No
 *           target twice. Cost: reads the masks, writes what is refused; up to 4 bytes a token.
 * Draw      turnstile_draw<<<tasks, 256>>>(...): tokens[i] for tasks[i]. `scratch` has
 *           turnstile_scratch(width) words for each task, in no state. Cost: one pass over the
 *           allowed logits and a part of a second one. Two passes without top-k and top-p; up to 12
 *           where a row is flat. A group of threads has a row to itself: for few rows a GPU is
 *           mostly idle.
 * Step      1. tsl_mask_table_row gives the row of each matcher's mask, and what must be copied.
 *           2. Copy these masks, and the tasks (36 bytes each).
 *           3. turnstile_draw. Copy the tokens back: 4 bytes each.
 *           4. Accept them in the matchers.
 * Compile   nvcc -fmad=false -c turnstile.cu, or hipcc -ffp-contract=off -c -x hip turnstile.cu. No
 *           -use_fast_math. The functions with _rn are never contracted, so that CUDA's flag is a
 *           second guard.
 * Tested by tests/hosts/host_device.py: run on the processor and compared with tsl_sampler_draw.
 *           clang compiles the file for NVIDIA's and AMD's instructions. No GPU has run it yet, so
 *           there are no times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if defined(__HIPCC__) && !defined(TSD_BUILTINS)
#include <hip/hip_runtime.h>
#endif

#ifndef TSD_THREADS
#define TSD_THREADS 256u /* of a group; a power of two, 32 to 512 */
#endif
#define TSD_GLOBAL
#define TSD_SHARED
#define TSD_PRIVATE
#define TSD_FN static __device__ inline
#define TSD_BARRIER() __syncthreads()
#define TSD_ATOMIC unsigned
#define TSD_DOUBLES
#define TSD_INFINITY tsd_float(0x7f800000u)

typedef unsigned short tsd_u16;
typedef unsigned tsd_u32;
typedef unsigned long long tsd_u64;

TSD_FN unsigned tsd_add(unsigned *at, unsigned n) { return atomicAdd(at, n); }
TSD_FN unsigned tsd_get(const unsigned *at) { return *at; }
TSD_FN void tsd_put(unsigned *at, unsigned n) { *at = n; }
TSD_FN float tsd_float(unsigned bits) { return __uint_as_float(bits); }
TSD_FN unsigned tsd_bits(float x) { return __float_as_uint(x); }
TSD_FN float tsd_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
TSD_FN float tsd_sum(float a, float b) { return __fadd_rn(a, b); }
TSD_FN float tsd_times(float a, float b) { return __fmul_rn(a, b); }
TSD_FN double tsd_sum64(double a, double b) { return __dadd_rn(a, b); }
TSD_FN double tsd_times64(double a, double b) { return __dmul_rn(a, b); }
TSD_FN double tsd_over64(double a, double b) { return __ddiv_rn(a, b); }
TSD_FN tsd_u64 tsd_bits64(double x) { return (tsd_u64)__double_as_longlong(x); }
TSD_FN double tsd_float64(tsd_u64 bits) { return __longlong_as_double((long long)bits); }
TSD_FN unsigned tsd_high(unsigned a, unsigned b) { return __umulhi(a, b); }

#include "turnstile-device.h"
#include "turnstile-draw.h"

/* Words of scratch for a task, for the host. */
extern "C" inline __host__ unsigned turnstile_scratch(unsigned width) {
  return 3u * TSD_LIST + 4u * ((width + TSD_BLOCK - 1u) / TSD_BLOCK);
}

/* Mask rows in place. `logits` has rows of `logits_stride` elements, `masks` of `masks_stride`
 * words; width <= logits_stride. `sources` and `targets` have gridDim.x numbers, or are NULL. */
extern "C" __global__ void turnstile_apply(void *logits, unsigned kind,
                                           unsigned long long logits_stride, unsigned width,
                                           const unsigned *masks, unsigned long long masks_stride,
                                           const unsigned *sources, const unsigned *targets) {
  unsigned i = blockIdx.x;
  tsd_apply((tsd_u16 *)logits, kind, logits_stride, width, masks, masks_stride,
            sources ? sources[i] : i, targets ? targets[i] : i, blockIdx.y, threadIdx.x);
}

/* Draw a token for each task. `tokens` has gridDim.x numbers; TSD_NO_TOKEN where the logits allow
 * no draw. `logits` is not written. `masks` may be NULL if no task has a mask. */
extern "C" __global__ void turnstile_draw(const void *logits, unsigned kind,
                                          unsigned long long logits_stride, unsigned width,
                                          const unsigned *masks, unsigned long long masks_stride,
                                          const tsd_task *tasks, unsigned *scratch,
                                          unsigned *tokens) {
  __shared__ tsd_room room;
  unsigned i = blockIdx.x;
  unsigned token =
      tsd_draw((const tsd_u16 *)logits, kind, logits_stride, width, masks, masks_stride, tasks + i,
               scratch + (tsd_u64)i * tsd_scratch_words(width), &room, threadIdx.x);
  if (threadIdx.x == 0u) tokens[i] = token;
}
