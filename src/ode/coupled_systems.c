/* The registry of coupled systems (coupled_systems.h). Adding one: an entry here, a line in
 * coupled.def; tests/order/coupled.c checks what it keeps or knows exactly. */
#include "coupled_systems.h"

#include <stddef.h>

#include "registry.h"

static const coupled_system SYSTEM_lorenz96 = {
    .name = "lorenz96",
    .help = "a ring of n weather sites: chaotic for forcing 8",
    .source = "Lorenz, Predictability: a problem partly solved, ECMWF (1996)",
    .dims = 1,
    .edge = COUPLED_PERIODIC,
    .n = 40,
    .derivative = {{"x", "(x[1] - x[-2])*x[-1] - x[0] + forcing"}},
    .initial = {{"x", "forcing + 0.01*cos(1.7*i)"}},
    .parameter = {{"forcing", 8.0}}};

/* The mean phase moves by omega t: the sines of a pair cancel. */
static const coupled_system SYSTEM_kuramoto_ring = {
    .name = "kuramoto-ring",
    .help = "n equal oscillators on a ring, each coupled to its two neighbours: twisted states",
    .source = "Wiley, Strogatz, Girvan, Chaos 16 (2006) 015103",
    .dims = 1,
    .edge = COUPLED_PERIODIC,
    .n = 1000,
    .derivative = {{"theta",
                    "omega + coupling*(sin(theta[1] - theta[0]) + sin(theta[-1] - theta[0]))"}},
    .initial = {{"theta", "twist*i + 0.5*sin(2*twist*i)"}},
    .constant = {{"twist", "2*pi*turns/n"}},
    .parameter = {{"omega", 1.0}, {"coupling", 1.0}, {"turns", 1.0}}};

/* All voltages go to the source's. */
static const coupled_system SYSTEM_rc_ladder = {
    .name = "rc-ladder",
    .help = "n resistors in series, each with a capacitor to ground; a voltage is switched on at "
            "one end",
    .source = "elementary; e.g. Hairer, Wanner (1996)",
    .dims = 1,
    .edge = COUPLED_COPY,
    .n = 100,
    .derivative = {{"v", "rate*((i == 0 ? voltage : v[-1]) - 2*v[0] + v[1])"}},
    .initial = {{"v", "0"}},
    .constant = {{"rate", "1/(r*c)"}},
    .parameter = {{"r", 1.0}, {"c", 1.0}, {"voltage", 1.0}}};

/* sin(pi x) decays by exp(-4 k sin(pi dx/2)^2 t), dx = 1/(n + 1), k = alpha/(length dx)^2. */
static const coupled_system SYSTEM_heat1d = {
    .name = "heat1d",
    .help = "the heat equation on a rod with cold ends, at n inner points (method of lines)",
    .source = "Hairer, Wanner, Solving Ordinary Differential Equations II (1996)",
    .dims = 1,
    .edge = COUPLED_ZERO,
    .n = 1000,
    .derivative = {{"u", "k*(u[-1] - 2*u[0] + u[1])"}},
    .initial = {{"u", "sin(pi*(i + 1)/(n + 1))"}},
    .constant = {{"k", "alpha*((n + 1)/length)^2"}},
    .parameter = {{"alpha", 1.0}, {"length", 1.0}}};

static const coupled_system SYSTEM_allen_cahn = {
    .name = "allen-cahn",
    .help = "phases that separate on a rod with ends at 0, at n inner points",
    .source = "Allen, Cahn, Acta Metall. 27 (1979) 1085-1095",
    .dims = 1,
    .edge = COUPLED_ZERO,
    .n = 63,
    .derivative = {{"u", "k*(u[-1] - 2*u[0] + u[1]) + u[0] - u[0]^3"}},
    .initial = {{"u", "0.4*sin(2*pi*(i + 1)/(n + 1)) + 0.3*sin(3*pi*(i + 1)/(n + 1))"}},
    .constant = {{"k", "diffusion*((n + 1)/length)^2"}},
    .parameter = {{"diffusion", 0.0025}, {"length", 1.0}}};

/* Where v is nowhere, u goes to 1. */
#define GRAY_SCOTT_SEED "(abs(i + 0.5 - 0.5*n) < 0.04*n + 1 && abs(j + 0.5 - 0.5*m) < 0.04*m + 1)"
static const coupled_system SYSTEM_reaction_diffusion = {
    .name = "reaction-diffusion",
    .help = "Gray and Scott's reaction of two substances on a periodic square grid: spots, stripes",
    .source = "Pearson, Science 261 (1993) 189-192",
    .dims = 2,
    .edge = COUPLED_PERIODIC,
    .n = 256,
    .m = 256,
    .derivative = {{"u", "a*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u) - u*v*v + feed*(1 - u)"},
                   {"v",
                    "b*(v[-1,0] + v[1,0] + v[0,-1] + v[0,1] - 4*v) + u*v*v - (feed + kill)*v"}},
    .initial = {{"u", "1 - 0.5*" GRAY_SCOTT_SEED " + 0.01*sin(0.7*i)*sin(0.9*j)"},
                {"v", "0.25*" GRAY_SCOTT_SEED}},
    .constant = {{"a", "du*(n/length)^2"}, {"b", "dv*(n/length)^2"}},
    .parameter = {{"du", 2e-5}, {"dv", 1e-5}, {"feed", 0.04}, {"kill", 0.06}, {"length", 2.5}}};

/* Bodies of mass 1/n. Forces are in pairs, so momentum and, but for the error of the steps, energy
 * are kept. The cloud: a ball of radius 1, bodies along a golden spiral, turning about z. */
#define N_BODY_HEIGHT "(1 - (2*i + 1)/n)"
#define N_BODY_RADIUS "cbrt((0.618034*i - floor(0.618034*i)) + 0.01)"
#define N_BODY_ACROSS N_BODY_RADIUS "*sqrt(1 - " N_BODY_HEIGHT "^2)"
#define N_BODY_SQUARE "((x[k] - x)^2 + (y[k] - y)^2 + (z[k] - z)^2 + softening^2)"
#define N_BODY_PULL(d)                                                                             \
  "(k == i ? 0 : gravity/n*(" d "[k] - " d ")/(" N_BODY_SQUARE "*sqrt(" N_BODY_SQUARE ")))"
static const coupled_system SYSTEM_n_body = {
    .name = "n-body",
    .help = "n bodies of mass 1/n under softened gravity, each pulled by all others (n^2 work)",
    .source = "Aarseth, Gravitational N-body simulations (2003); softening: Plummer",
    .dims = 1,
    .edge = COUPLED_PERIODIC,
    .n = 1000,
    .derivative = {{"x", "vx"}, {"y", "vy"}, {"z", "vz"}, {"vx", "ax"}, {"vy", "ay"}, {"vz", "az"}},
    .initial = {{"x", N_BODY_ACROSS "*cos(2.399963229728653*i)"},
                {"y", N_BODY_ACROSS "*sin(2.399963229728653*i)"},
                {"z", N_BODY_RADIUS "*" N_BODY_HEIGHT},
                {"vx", "-spin*" N_BODY_ACROSS "*sin(2.399963229728653*i)"},
                {"vy", "spin*" N_BODY_ACROSS "*cos(2.399963229728653*i)"},
                {"vz", "0"}},
    .sum = {{"ax", N_BODY_PULL("x")}, {"ay", N_BODY_PULL("y")}, {"az", N_BODY_PULL("z")}},
    .parameter = {{"gravity", 1.0}, {"softening", 0.05}, {"spin", 0.6}}};

#define COUPLED(word, id) &SYSTEM_##id,
static const coupled_system *const systems[] = {
#include "coupled.def"
};
#undef COUPLED

REGISTRY(coupled_system, coupled_system, systems)

int coupled_equations(const coupled_equation *list) {
  int count = 0;
  while (list[count].name != NULL) count++;
  return count;
}

int coupled_parameters(const coupled_system *s) {
  int count = 0;
  while (s->parameter[count].name != NULL) count++;
  return count;
}
