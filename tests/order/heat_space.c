/* Every time scheme of the registry: order two in space against exact solutions, in one, two and
 * three dimensions, with faces of every kind. The window is two-sided: a scheme that is better than
 * it says is wrong too. */
#include <stdio.h>

#include "heat_solutions.h"

static comm *world;

static double refine(const heat_texts *is, int factor, heat_texts *fine) {
  *fine = *is;
  for (int d = 0; d < is->dims; d++) {
    const int open = is->kind[2 * d] != P;
    fine->n[d] = (is->n[d] - open) * factor + open;
  }
  return 1.0 / factor;
}

static double space_error(const space_case *c, const heat_scheme *scheme, int factor) {
  heat_try t;
  heat_texts fine;
  refine(&c->is, factor, &fine);
  heat_try_open(&t, &BACKEND_omp, world, 1, &fine, scheme);
  t.run.dt = 0.5 * (isfinite(scheme->limit(0)) ? scheme->limit(0) : 4.0) / t.run.lambda;
  t.run.t_end = c->t_end;
  heat_try_march(&t);
  const double error = heat_try_error(&t);
  heat_try_close(&t);
  return error;
}

static void order_in_space(void **state) {
  (void)state;
  const heat_scheme *scheme;
  for (int s = 0; (scheme = heat_scheme_at(s)) != NULL; s++) {
    for (int i = 0; i < SPACES && scheme->order > 0; i++) {
      const double coarse = space_error(&SPACE[i], scheme, 1);
      const double fine = space_error(&SPACE[i], scheme, 2);
      const double order = log2(coarse / fine);
      if (!(order > 1.8 && order < 2.25)) {
        fail_msg("%s, %s: errors %.3e, %.3e: order %.2f in space, expected 2", scheme->name,
                 SPACE[i].is.name, coarse, fine, order);
      }
    }
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_in_space),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  int rc = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return rc;
}
