/* SPDX-License-Identifier: MIT */
/* Before the source of a filter that is compiled for a processor of graphics, as CUDA (nvcc, clang) or OpenCL C 3.0 with
 * doubles, generic addresses and variables of the program. */
#ifndef DEVICE_H
#define DEVICE_H

#define BRAMAH_DEVICE 1

#if defined __OPENCL_C_VERSION__
#define half half_of_it /* a type there */
#define fabsf fabs
#define sqrtf sqrt
#define copysignf copysign
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#define KERNEL kernel
#define GLOBAL global
#define THREAD get_global_id(0)

static void device_copy(void *to, const void *from, size_t n)
{
  for (size_t i = 0; i < n; i++) ((uchar *)to)[i] = ((const uchar *)from)[i];
}

static void device_set(void *to, uchar value, size_t n)
{
  for (size_t i = 0; i < n; i++) ((uchar *)to)[i] = value;
}
#define memcpy(to, from, n) device_copy((to), (from), (n))
#define memset(to, value, n) device_set((to), (value), (n))

#else
#ifdef __NVCC__
#include <math.h>
#include <stdint.h>
#include <string.h>
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#else /* clang without the headers of CUDA */
typedef __UINT32_TYPE__ uint32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __SIZE_TYPE__ size_t;
#define NULL 0
#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")
#define fabs __builtin_fabs
#define sqrt __builtin_sqrt
#define copysign __builtin_copysign
#define fabsf __builtin_fabsf
#define sqrtf __builtin_sqrtf
#define copysignf __builtin_copysignf
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define THREAD (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#endif
#define KERNEL extern "C" __global__
#define GLOBAL
#define restrict __restrict
#define static static __device__ /* all functions and tables of a source are static but those for others */
#define FOUR_BAR_FUNCTION __device__
#endif

#endif
