/* SPDX-License-Identifier: MIT */
/* A log through the compiled filter; prints what `bramah replay` writes into these columns: ./main <log.csv >estimates.csv */
#include "four_bar.h"
#include <stdio.h>

enum { N = FOUR_BAR_OUTPUTS, M = FOUR_BAR_SENSORS };

int main(void)
{
  static four_bar_filter f;
  static const unsigned char present[M] = {1, 1, 1, 1, 1};
  double t, u, next = 0.0, y[M], x[N], sigma[N];
  int n = 0, status = FOUR_BAR_OK;
  four_bar_begin(&f);
  four_bar_outputs(&f, x, sigma);
  printf("t[s]");
  for (int i = 0; i < N; i++) {
    const char *name = four_bar_output_names[i], *unit = four_bar_output_units[i];
    printf(sigma[i] < 0.0 ? ",%s[%s]" : ",%s[%s],%s.sigma[%s]", name, unit, name, unit);
  }
  for (int i = 0; i < M; i++)
    printf(",%s.innovation[%s],%s.nis", four_bar_sensor_names[i], four_bar_sensor_units[i],
           four_bar_sensor_names[i]);
  while (getchar() != '\n') continue; /* the log's own names */
  for (; scanf("%lf,%lf,%lf,%lf,%lf,%lf,%lf", &t, &u, y, y + 1, y + 2, y + 3, y + 4) == 2 + M;
       next = u, n++) {
    if (n) status = four_bar_predict(&f, &next);
    if (status >= FOUR_BAR_OK) status = four_bar_correct(&f, y, present);
    if (status < FOUR_BAR_OK) return 1;
    four_bar_outputs(&f, x, sigma);
    printf("\n%.10g", t);
    for (int i = 0; i < N; i++) printf(sigma[i] < 0.0 ? ",%.10g" : ",%.10g,%.6g", x[i], sigma[i]);
    for (int i = 0; i < M; i++) printf(",%.6g,%.6g", f.sensor[i].innovation, f.sensor[i].nis);
  }
  return puts("") < 0;
}
