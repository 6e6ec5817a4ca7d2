/* A file of samples: a place and a value a line, separated by blanks or a comma; # begins a
 * comment. Places ascend strictly, or descend strictly (that changes the sign). Rank 0 reads and
 * sums; the others get the result. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "data.h"
#include "quad_job.h"

enum { LINE_ROOM = 1024 };

typedef struct samples {
  const char *path;
  double *x, *y;
  int64_t count, room;
  long line;
} samples;

static status add(samples *s, double x, double y) {
  status rc = STATUS_OK;
  double *more[2] = {NULL, NULL};
  if (s->count == s->room) {
    const int64_t room = 2 * s->room + 1024;
    TRY(alloc_array(&more[0], room, sizeof **more, "samples"));
    TRY(alloc_array(&more[1], room, sizeof **more, "samples"));
    if (s->count > 0) {
      memcpy(more[0], s->x, (size_t)s->count * sizeof *s->x);
      memcpy(more[1], s->y, (size_t)s->count * sizeof *s->y);
    }
    alloc_free(&s->x);
    alloc_free(&s->y);
    s->x = more[0];
    s->y = more[1];
    more[0] = more[1] = NULL;
    s->room = room;
  }
  s->x[s->count] = x;
  s->y[s->count++] = y;
done:
  alloc_free(&more[0]);
  alloc_free(&more[1]);
  return rc;
}

/* The next number of a line: past it, or NULL. */
static const char *take_number(const char *at, double *out) {
  char *end;
  at += strspn(at, " \t");
  if (strchr("+-.0123456789nNiI", *at) == NULL || *at == '\0') return NULL;
  *out = strtod(at, &end);
  return end == at ? NULL : end;
}

static status check_order(const samples *s, double x) {
  const int64_t n = s->count;
  if (n == 0) return STATUS_OK;
  const int rises = n > 1 ? s->x[1] > s->x[0] : x > s->x[0];
  if (x != s->x[n - 1] && (x > s->x[n - 1]) == rises) return STATUS_OK;
  return fail(STATUS_INPUT, "%s:%ld: x = %.17g after %.17g; expected strictly %s places", s->path,
              s->line, x, s->x[n - 1],
              x == s->x[n - 1] && n == 1 ? "ascending or descending"
              : rises                    ? "ascending"
                                         : "descending");
}

static status take_line(samples *s, char *text) {
  double number[2];
  text[strcspn(text, "#\r\n")] = '\0';
  const char *at = text + strspn(text, " \t");
  if (*at == '\0') return STATUS_OK;
  const char *found = at;
  for (int i = 0; i < 2; i++) {
    found = at;
    at = take_number(at, &number[i]);
    if (at == NULL) break;
    at += strspn(at, " \t");
    if (i == 0 && *at == ',') at++;
  }
  if (at == NULL || *at != '\0') {
    found = at == NULL ? found : at;
    return fail(STATUS_INPUT, "%s:%ld: found %s%.40s%s; expected two numbers, a place and a value",
                s->path, s->line, *found == '\0' ? "the end of the line" : "'", found,
                *found == '\0' ? "" : "'");
  }
  for (int i = 0; i < 2; i++) {
    if (!isfinite(number[i])) {
      return fail(STATUS_INPUT, "%s:%ld: found %g; expected a finite %s", s->path, s->line,
                  number[i], i == 0 ? "place" : "value");
    }
  }
  status rc = check_order(s, number[0]);
  return rc == STATUS_OK ? add(s, number[0], number[1]) : rc;
}

static status read_samples(samples *s) {
  status rc = STATUS_OK;
  char text[LINE_ROOM];
  FILE *in = fopen(s->path, "r");
  if (in == NULL) return fail(STATUS_INPUT, "%s: %s", s->path, strerror(errno));
  while (fgets(text, sizeof text, in) != NULL) {
    s->line++;
    if (s->line == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0) memset(text, ' ', 3);
    if (strlen(text) + 1 == sizeof text && text[sizeof text - 2] != '\n') {
      rc = fail(STATUS_INPUT, "%s:%ld: a line of more than %d characters; expected two numbers",
                s->path, s->line, LINE_ROOM - 2);
      goto done;
    }
    TRY(take_line(s, text));
  }
  if (ferror(in)) rc = fail(STATUS_INPUT, "%s: %s", s->path, strerror(errno));
  if (rc == STATUS_OK && s->count < 2) {
    rc = fail(STATUS_INPUT, "%s: %lld sample%s; expected at least 2", s->path, (long long)s->count,
              s->count == 1 ? "" : "s");
  }
done:
  fclose(in);
  return rc;
}

status quad_sum_data(quad_job *j) {
  status rc = STATUS_OK;
  quad_run *q = &j->quad;
  comm *c = j->run->c;
  samples s = {.path = options_text(j->run->o, "quad.data")};
  double result[3] = {0.0, 0.0, 0.0};
  j->rule = quad_rule_choose(options_text(j->run->o, "quad.rule"), 1, 1, &j->why);
  if (j->why != NULL) j->why = "data brings its own points";
  timers_switch(&j->timers, PHASE_READ);
  rc = comm_rank(c) == 0 ? read_samples(&s) : STATUS_OK;
  TRY(comm_agree(c, rc));
  timers_switch(&j->timers, PHASE_COMPUTE);
  if (comm_rank(c) == 0) {
    rc =
        quad_data(s.count, s.x, s.y, strcmp(j->rule->name, "simpson") == 0, &result[0], &result[1]);
    result[2] = (double)s.count;
  }
  TRY(comm_agree(c, rc));
  TRY(comm_broadcast(c, result, sizeof result, 0));
  timers_switch(&j->timers, PHASE_SETUP);
  q->integral.dims = 1;
  q->value = result[0];
  q->error = result[1];
  q->evaluations = q->points[0] = (int64_t)result[2];
  q->reason = isfinite(q->value) ? QUAD_FIXED_COUNT : QUAD_NOT_FINITE;
  q->limits.rtol = options_real(j->run->o, "quad.rtol");
  q->limits.atol = options_real(j->run->o, "quad.atol");
  if ((options_given(j->run->o, "quad.rtol") || options_given(j->run->o, "quad.atol")) &&
      q->reason == QUAD_FIXED_COUNT && !quad_tolerated(q)) {
    q->reason = QUAD_MISSED;
  }
done:
  alloc_free(&s.x);
  alloc_free(&s.y);
  return rc;
}
