/* The explicit Runge-Kutta methods: their coefficients. A function each, so that compilers that
 * know the method at compile time (NVRTC) see constants. In the order of the struct: stages, order,
 * first_same, c, a, b, e, dense (C++ has no names there before 2020). tests/order/ode_methods.c
 * checks the algebraic order conditions of steps, error estimates and dense output.
 *
 * Sources: euler, rk4: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993),
 * II.1; dopri5: Dormand, Prince, J. Comput. Appl. Math. 6 (1980) 19-26, its dense output by
 * Shampine in Hairer et al., II.6; tsit5: Tsitouras, Comput. Math. Appl. 62 (2011) 770-775. */
#ifndef ODE_TABLEAU_H
#define ODE_TABLEAU_H

#include "ode.h"

typedef enum ode_explicit_variant {
  ODE_EULER,
  ODE_RK4,
  ODE_DOPRI5,
  ODE_TSIT5
} ode_explicit_variant;

PORTABLE ode_tableau ode_euler(void) {
  const ode_tableau t = {1, 1, 0, {0.0}, {{0.0}}, {1.0}, {0.0}, {{0.0}}};
  return t;
}

PORTABLE ode_tableau ode_rk4(void) {
  const ode_tableau t = {4,
                         4,
                         0,
                         {0.0, 0.5, 0.5, 1.0},
                         {{0.0}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}},
                         {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0},
                         {0.0},
                         {{0.0}}};
  return t;
}

PORTABLE ode_tableau ode_dopri5(void) {
  const ode_tableau t = {
      7,
      5,
      1,
      {0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0},
      {{0.0},
       {1.0 / 5.0},
       {3.0 / 40.0, 9.0 / 40.0},
       {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
       {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
       {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
       {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0}},
      {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
      {71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0,
       -1.0 / 40.0},
      {{1.0, -2.8535800653862835, 3.0717434641059005, -1.1270175653862835},
       {0.0},
       {0.0, 4.023133379230305, -6.249321565289, 2.675424484351598},
       {0.0, -3.7324019615885042, 10.068970589843675, -5.685526961588504},
       {0.0, 2.5548038301849423, -6.399112377351017, 3.5219323679207912},
       {0.0, -1.3744241142186024, 3.272657752246729, -1.7672812570757455},
       {0.0, 1.3824689317781436, -3.764937863556287, 2.382468931778144}}};
  return t;
}

PORTABLE ode_tableau ode_tsit5(void) {
  const ode_tableau t = {
      7,
      5,
      1,
      {0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0},
      {{0.0},
       {0.161},
       {-0.008480655492356989, 0.335480655492357},
       {2.8971530571054935, -6.359448489975075, 4.3622954328695815},
       {5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
       {5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
        -0.028269050394068383},
       {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
        2.324710524099774}},
      {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
       2.324710524099774},
      {-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995, -0.1447110071732629,
       0.5823571654525552, -0.45808210592918697, 1.0 / 66.0},
      {{1.0, -2.763706197274826, 2.9132554618219126, -1.0530884977290216},
       {0.0, 0.13169999999999998, -0.2234, 0.1017},
       {0.0, 3.9302962368947516, -5.941033872131505, 2.490627285651253},
       {0.0, -12.411077166933676, 30.33818863028232, -16.548102889244902},
       {0.0, 37.50931341651104, -88.1789048947664, 47.37952196281928},
       {0.0, -27.896526289197286, 65.09189467479366, -34.87065786149661},
       {0.0, 1.5, -4.0, 2.5}}};
  return t;
}

PORTABLE ode_tableau ode_tableau_of(int variant) {
  switch (variant) {
  case ODE_EULER:
    return ode_euler();
  case ODE_RK4:
    return ode_rk4();
  case ODE_DOPRI5:
    return ode_dopri5();
  default:
    return ode_tsit5();
  }
}

/* The method for steps of length h: weights of slopes are those of states. */
PORTABLE ode_tableau ode_tableau_times(const ode_tableau *m, double h) {
  ode_tableau t = *m;
  for (int j = 0; j < ODE_STAGES; j++) {
    for (int i = 0; i < ODE_STAGES; i++) t.a[i][j] = h * m->a[i][j];
    t.b[j] = h * m->b[j];
  }
  return t;
}

#endif
