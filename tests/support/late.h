/* `ref` with verdicts that lag behind: its states are remembered per judged step, so that the host
 * runs ahead as it would on a GPU. */
#ifndef LATE_H
#define LATE_H

#include <string.h>

#include "solve_backend.h"
#include "test.h"

enum { REMEMBERED = 64 };

static struct {
  solve_state state[REMEMBERED];
  int64_t judged;
  int64_t ahead; /* most steps issued but not looked at */
  int64_t looked;
} late;

static status late_copy_in(device *d, dptr to, hptr from, int64_t bytes) {
  if (bytes == (int64_t)sizeof(solve_state)) late.judged = late.looked = 0;
  return BACKEND_ref.copy_in(d, to, from, bytes);
}

static status late_judge(device *d, comm *c, judge_kind kind, dptr state, int stop) {
  status rc = BACKEND_ref.solve->judge(d, c, kind, state, stop);
  memcpy(&late.state[late.judged++ % REMEMBERED], state.at, sizeof(solve_state));
  if (late.judged - late.looked > late.ahead) late.ahead = late.judged - late.looked;
  return rc;
}

static status late_look(device *d, dptr state, int64_t step, solve_state *out) {
  (void)d, (void)state;
  assert_true(step <= late.judged && step > late.judged - REMEMBERED);
  *out = late.state[(step - 1) % REMEMBERED];
  late.looked = step;
  return STATUS_OK;
}

static backend late_by(int lag) {
  static solve_backend behind;
  backend b = BACKEND_ref;
  behind = *BACKEND_ref.solve;
  behind.judge = late_judge;
  behind.look = late_look;
  behind.lag = lag;
  b.copy_in = late_copy_in;
  b.solve = &behind;
  memset(&late, 0, sizeof late);
  return b;
}

#endif
