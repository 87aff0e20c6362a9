/* SPDX-License-Identifier: MIT */
/* The start of a program on a Cortex-M processor without an operating system, in qemu: vectors, memory, the host's files by
 * semihosting (newlib's rdimon). Standard input is the file log.csv. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char data_from[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[]; /* cortex_m.ld */
extern void initialise_monitor_handles(void);
int main(void);

void reset(void);
void reset(void)
{
  *(volatile unsigned *)0xE000ED88 |= 0xFu << 20; /* the floating-point unit may be used */
  __asm volatile("dsb\n\tisb");
  memcpy(data_begin, data_from, (size_t)(data_end - data_begin));
  memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
  initialise_monitor_handles();
  exit(freopen("log.csv", "r", stdin) ? main() : 98);
}

static void fault(void) { exit(99); }

/* What newlib runs before and after main. */
void _init(void);
void _init(void) {}
void _fini(void);
void _fini(void) {}

__attribute__((section(".vectors"), used)) static void *const vectors[] = {
    stack_top, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault};
