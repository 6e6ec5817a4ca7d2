#include "coupled_run.h"
status coupled_attempt_implicit(coupled_run *run) {
  (void)run;
  return fail(STATUS_BUG, "not yet");
}
status coupled_newton_open(coupled_run *run) {
  (void)run;
  return fail(STATUS_BUG, "not yet");
}
void coupled_newton_close(coupled_run *run) { (void)run; }
