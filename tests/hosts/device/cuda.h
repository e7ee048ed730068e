/* cuda.h - the words of CUDA that turnstile.cu uses, for a compiler of C++.
 *
 * With TSD_FIBERS they run on the processor (fibers.h). Without it they are clang's own words for a
 * device of NVIDIA's or AMD's, so that clang compiles the kernels without CUDA's or HIP's files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_HOSTS_DEVICE_CUDA_H
#define TESTS_HOSTS_DEVICE_CUDA_H

#define TSD_BUILTINS

struct cuda_place {
  unsigned x, y;
};

#ifdef TSD_FIBERS
#include <math.h>
#include <string.h>
#include "tests/hosts/device/fibers.h"
#define __global__
#define __device__
#define __host__
#define __shared__ static
static cuda_place blockIdx;
#define threadIdx (cuda_place{fibers.current, 0})
static inline void __syncthreads() { fibers_wait(); }
static inline unsigned atomicAdd(unsigned *at, unsigned n) {
  unsigned old = *at;
  *at = old + n;
  return old;
}
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#ifdef __AMDGCN__
#define blockIdx (cuda_place{__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y()})
#define threadIdx (cuda_place{__builtin_amdgcn_workitem_id_x(), 0})
static __device__ inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
}
#else
#define blockIdx \
  (cuda_place{(unsigned)__nvvm_read_ptx_sreg_ctaid_x(), (unsigned)__nvvm_read_ptx_sreg_ctaid_y()})
#define threadIdx (cuda_place{(unsigned)__nvvm_read_ptx_sreg_tid_x(), 0})
#endif
static __device__ inline unsigned atomicAdd(unsigned *at, unsigned n) {
  return __atomic_fetch_add(at, n, __ATOMIC_RELAXED);
}
#endif

#define CUDA_AS(name, to, from)              \
  static __device__ inline to name(from x) { \
    to y;                                    \
    __builtin_memcpy(&y, &x, sizeof y);      \
    return y;                                \
  }
CUDA_AS(__uint_as_float, float, unsigned)
CUDA_AS(__float_as_uint, unsigned, float)
CUDA_AS(__longlong_as_double, double, long long)
CUDA_AS(__double_as_longlong, long long, double)

static __device__ inline float __fmaf_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
static __device__ inline float __fadd_rn(float a, float b) { return a + b; }
static __device__ inline float __fmul_rn(float a, float b) { return a * b; }
static __device__ inline double __dadd_rn(double a, double b) { return a + b; }
static __device__ inline double __dmul_rn(double a, double b) { return a * b; }
static __device__ inline double __ddiv_rn(double a, double b) { return a / b; }
static __device__ inline unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}

#endif
