#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"

static const double LINE_SECONDS = 5.0; /* docs/handbook.md */
static const double BAR_SECONDS = 0.1;

void progress_start(progress *p, const char *choice, int quiet, int speaks, const char *what,
                    const char *measure) {
  memset(p, 0, sizeof *p);
  p->what = what;
  p->measure = measure;
  p->last = -1;
  p->began = comm_clock();
  if (!speaks || strcmp(choice, "off") == 0) return;
  if (quiet && strcmp(choice, "on") != 0) return;
  p->mode = isatty(STDERR_FILENO) ? PROGRESS_BAR : PROGRESS_LINES;
}

static void print(progress *p, int64_t k, int64_t total, double value, double clock) {
  char text[160], count[32] = "", measured[64] = "";
  if (total > 0) snprintf(count, sizeof count, " of %lld", (long long)total);
  if (!isnan(value)) snprintf(measured, sizeof measured, ", %.30s %.3e", p->measure, value);
  snprintf(text, sizeof text, "%s %lld%s%s, %.1f s", p->what, (long long)k, count, measured,
           clock - p->began);
  if (p->mode == PROGRESS_BAR) {
    fprintf(stderr, "\r%-78s", text);
    fflush(stderr);
    p->open_line = 1;
  } else {
    fprintf(stderr, "%s\n", text);
  }
  p->printed++;
  p->last = k;
}

void progress_step(progress *p, int64_t k, int64_t total, double value) {
  if (p == NULL || p->mode == PROGRESS_OFF) return;
  const double clock = comm_clock();
  if (p->printed > 0 && clock < p->next) return;
  print(p, k, total, value, clock);
  p->next = clock + (p->mode == PROGRESS_BAR ? BAR_SECONDS : LINE_SECONDS);
}

void progress_end(progress *p, int64_t k, double value) {
  if (p == NULL || p->mode == PROGRESS_OFF) return;
  if (p->last != k) print(p, k, 0, value, comm_clock());
  if (p->open_line) fputc('\n', stderr);
  p->mode = PROGRESS_OFF;
}
