/* The coefficients of rodas4, as ode_rosenbrock.h uses them; a function, so that compilers that
 * know the method see constants; in the order of the struct. tests/order/ode_rodas.c checks the
 * order conditions.
 * Source: Hairer, Wanner, Solving Ordinary Differential Equations II (1996), VI.4, and their code
 * RODAS. */
#ifndef ODE_RODAS_H
#define ODE_RODAS_H

#include "portable.h"

enum { ODE_RODAS_STAGES = 6 };

typedef struct ode_rodas {
  double gamma;
  double a[5][4]; /* of stages 1 to 5; the sixth has those of the fifth, and 1 */
  double g[6][5];
  double c[5], d[4];  /* c of the sixth is 1; d of the fifth and the sixth are 0 */
  double dense[2][5]; /* p, q */
} ode_rodas;

PORTABLE ode_rodas ode_rodas4(void) {
  const ode_rodas m = {
      0.25,
      {{0.0},
       {1.544},
       {0.9466785280815826, 0.2557011698983284},
       {3.314825187068521, 2.896124015972201, 0.9986419139977817},
       {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950}},
      {{0.0},
       {-5.6688},
       {-2.430093356833875, -0.2063599157091915},
       {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
       {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
       {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
        -6.058818238834054}},
      {0.0, 0.386, 0.21, 0.63, 1.0},
      {0.25, -0.1043, 0.1035, -0.0362},
      {{10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823,
        1.025137723295662},
       {-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386,
        -6.594389125716872}}};
  return m;
}

#endif
