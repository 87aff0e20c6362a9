/* SPDX-License-Identifier: MIT */
/* A log through the compiled filter; prints what `bramah replay` writes into these columns: ./main <log.csv >estimates.csv */
#include "four_bar.h"
#include <stdio.h>

enum { N = FOUR_BAR_OUTPUTS, M = FOUR_BAR_SENSORS };

int main(void)
{
  static four_bar_filter f;
  static const unsigned char present[M] = {1, 1, 1, 1, 1};
  double t, in[1 + M];
  four_bar_real u = 0, y[M], x[N], sigma[N];
  int n = 0, status = FOUR_BAR_OK;
  four_bar_begin(&f);
  four_bar_outputs(&f, x, sigma);
  printf("t[s]");
  for (int i = 0; i < N; i++) {
    const char *name = four_bar_output_names[i], *unit = four_bar_output_units[i];
    printf(sigma[i] < 0 ? ",%s[%s]" : ",%s[%s],%s.sigma[%s]", name, unit, name, unit);
  }
  for (int i = 0; i < M; i++)
    printf(",%s.innovation[%s],%s.nis", four_bar_sensor_names[i], four_bar_sensor_units[i],
           four_bar_sensor_names[i]);
  while (getchar() != '\n') continue; /* the log's own names */
  for (; scanf("%lf,%lf,%lf,%lf,%lf,%lf,%lf", &t, in, in + 1, in + 2, in + 3, in + 4, in + 5) == 2 + M; n++) {
    for (int i = 0; i < M; i++) y[i] = (four_bar_real)in[1 + i];
    if (n) status = four_bar_predict(&f, &u);
    if (status >= FOUR_BAR_OK) status = four_bar_correct(&f, y, present);
    if (status < FOUR_BAR_OK) return 1;
    u = (four_bar_real)in[0]; /* held from now on */
    four_bar_outputs(&f, x, sigma);
    printf("\n%.10g", t);
    for (int i = 0; i < N; i++)
      printf(sigma[i] < 0 ? ",%.10g" : ",%.10g,%.6g", (double)x[i], (double)sigma[i]);
    for (int i = 0; i < M; i++) printf(",%.6g,%.6g", (double)f.sensor[i].innovation, (double)f.sensor[i].nis);
  }
  return puts("") < 0;
}
