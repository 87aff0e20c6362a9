/* SPDX-License-Identifier: MIT */
/* What a cycle of the compiled four-bar filter costs on a Cortex-M processor in qemu: instructions, as many as its clock
 * goes on by (-icount), and the depth of the stack. */
#include "four_bar.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = FOUR_BAR_SENSORS, ROWS = 4000, PAINTED = 16384 };

/* SysTick counts down 24 bits at the clock of the processor. */
static volatile unsigned *const systick = (volatile unsigned *)0xE000E010;
static unsigned now(void) { return 0xFFFFFF & ~systick[2]; }

__attribute__((noinline)) static unsigned cycle(four_bar_filter *f, const four_bar_real *u,
                                                const four_bar_real *y)
{
  static const unsigned char present[M] = {1, 1, 1, 1, 1};
  const unsigned begin = now();
  if (four_bar_predict(f, u) < FOUR_BAR_OK || four_bar_correct(f, y, present) < FOUR_BAR_OK) exit(1);
  return 0xFFFFFF & (now() - begin);
}

/* Paint the stack below here, or find how much of it is no longer painted. */
__attribute__((noinline)) static size_t paint(int look)
{
  volatile unsigned char *area = (volatile unsigned char *)((uintptr_t)__builtin_frame_address(0) - PAINTED);
  size_t n = 0;
  while (n < PAINTED - 128 && (!look || area[n] == 0xA5)) area[n++] = 0xA5;
  return PAINTED - n;
}

static int by_size(const void *a, const void *b)
{
  const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
  return (x > y) - (x < y);
}

int main(void)
{
  static four_bar_filter f;
  static unsigned count[ROWS];
  double t, in[1 + M], sum = 0.0;
  four_bar_real u = 0, y[M];
  size_t deepest = 0;
  int n = 0;
  systick[1] = 0xFFFFFF;
  systick[0] = 5;

  /* A loop of 30,000 instructions: what the clock counts of one. */
  unsigned loops = 10000;
  const unsigned begin = now();
  __asm volatile("1: nop\n\tsubs %0, %0, #1\n\tbne 1b" : "+r"(loops));
  const double of_one = (double)(0xFFFFFF & (now() - begin)) / 30000.0;

  four_bar_begin(&f);
  while (getchar() != '\n') continue;
  while (n < ROWS &&
         scanf("%lf,%lf,%lf,%lf,%lf,%lf,%lf", &t, in, in + 1, in + 2, in + 3, in + 4, in + 5) == 2 + M) {
    for (int i = 0; i < M; i++) y[i] = (four_bar_real)in[1 + i];
    paint(0);
    count[n] = cycle(&f, &u, y);
    sum += count[n++];
    u = (four_bar_real)in[0];
    const size_t depth = paint(1);
    if (depth > deepest) deepest = depth;
  }
  if (n == 0) return 2;
  qsort(count, (size_t)n, sizeof *count, by_size);
  printf("%d cycles: instructions mean %.0f, median %.0f, 99.9 %% %.0f, most %.0f; bytes of the filter %u, "
         "of stack %u\n",
         n, sum / n / of_one, count[n / 2] / of_one, count[n - 1 - n / 1000] / of_one, count[n - 1] / of_one,
         (unsigned)sizeof f, (unsigned)deepest);
  return 0;
}
