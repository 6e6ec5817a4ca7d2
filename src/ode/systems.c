/* The registry of systems (systems.h). Tests loop over it: shapes, invariants, references.
 *
 * "Test set" is Mazzia, Magherini, Test Set for Initial Value Problem Solvers, release 2.4, Univ.
 * Bari (2008); "Hairer I" is Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I
 * (1993). */
#include "systems.h"

#include "registry.h"

static const ode_system lorenz = {
    .name = "lorenz",
    .help = "convection rolls, chaotic",
    .source = "Lorenz, J. Atmos. Sci. 20 (1963) 130-141",
    .components = 3,
    .component = {"x", "y", "z"},
    .rhs = {"sigma*(y - x)", "x*(rho - z) - y", "x*y - beta*z"},
    .initial = {"1", "1", "1"},
    .parameters = 3,
    .parameter = {"sigma", "rho", "beta"},
    .value = {10.0, 28.0, 8.0 / 3.0},
};

static const ode_system roessler = {
    .name = "roessler",
    .help = "the simplest chaotic flow",
    .source = "Roessler, Phys. Lett. A 57 (1976) 397-398",
    .components = 3,
    .component = {"x", "y", "z"},
    .rhs = {"-y - z", "x + a*y", "b + z*(x - c)"},
    .initial = {"1", "1", "0"},
    .parameters = 3,
    .parameter = {"a", "b", "c"},
    .value = {0.2, 0.2, 5.7},
};

static const ode_system van_der_pol = {
    .name = "van-der-pol",
    .help = "oscillator with nonlinear damping mu, stiff for large mu",
    .source = "van der Pol, Phil. Mag. 2 (1926) 978-992; Test set, VDPOL",
    .components = 2,
    .component = {"x", "v"},
    .rhs = {"v", "mu*(1 - x^2)*v - x"},
    .initial = {"2", "0"},
    .parameters = 1,
    .parameter = {"mu"},
    .value = {1.0},
};

static const ode_system brusselator = {
    .name = "brusselator",
    .help = "oscillating reaction",
    .source = "Prigogine, Lefever, J. Chem. Phys. 48 (1968) 1695-1700; Hairer I, I.16",
    .components = 2,
    .component = {"x", "y"},
    .rhs = {"a + x^2*y - (b + 1)*x", "b*x - x^2*y"},
    .initial = {"1.5", "3"},
    .parameters = 2,
    .parameter = {"a", "b"},
    .value = {1.0, 3.0},
};

static const ode_system robertson = {
    .name = "robertson",
    .help = "three reactions of very different speeds",
    .source = "Robertson (1966); Test set, ROBER",
    .flags = SYSTEM_STIFF,
    .components = 3,
    .component = {"a", "b", "c"},
    .rhs = {"-k1*a + k3*b*c", "k1*a - k3*b*c - k2*b^2", "k2*b^2"},
    .initial = {"1", "0", "0"},
    .parameters = 3,
    .parameter = {"k1", "k2", "k3"},
    .value = {0.04, 3e7, 1e4},
    .invariant = "a + b + c",
};

static const ode_system hires = {
    .name = "hires",
    .help = "eight reactions of a plant's growth",
    .source = "Schaefer, J. Theor. Biol. 51 (1975) 235-260; Test set, HIRES",
    .flags = SYSTEM_STIFF,
    .components = 8,
    .component = {"y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8"},
    .rhs = {"-1.71*y1 + 0.43*y2 + 8.32*y3 + 0.0007", "1.71*y1 - 8.75*y2",
            "-10.03*y3 + 0.43*y4 + 0.035*y5", "8.32*y2 + 1.71*y3 - 1.12*y4",
            "-1.745*y5 + 0.43*y6 + 0.43*y7", "-280*y6*y8 + 0.69*y4 + 1.71*y5 - 0.43*y6 + 0.69*y7",
            "280*y6*y8 - 1.81*y7", "-280*y6*y8 + 1.81*y7"},
    .initial = {"1", "0", "0", "0", "0", "0", "0", "0.0057"},
};

static const ode_system oregonator = {
    .name = "oregonator",
    .help = "the Belousov-Zhabotinskii reaction",
    .source = "Field, Noyes, J. Chem. Phys. 60 (1974) 1877-1884; Test set, OREGO",
    .flags = SYSTEM_STIFF,
    .components = 3,
    .component = {"x", "y", "z"},
    .rhs = {"s*(y + x*(1 - q*x - y))", "(z - (1 + x)*y)/s", "w*(x - z)"},
    .initial = {"1", "2", "3"},
    .parameters = 3,
    .parameter = {"s", "q", "w"},
    .value = {77.27, 8.375e-6, 0.161},
};

static const ode_system arenstorf = {
    .name = "arenstorf",
    .help = "a closed orbit around earth and moon, period 17.0652165601579625589",
    .source = "Arenstorf, Amer. J. Math. 85 (1963) 27-35; Hairer I, II.0",
    .components = 4,
    .component = {"x", "y", "vx", "vy"},
    .rhs = {"vx", "vy",
            "x + 2*vy - (1 - m)*(x + m)/((x + m)^2 + y^2)^1.5 - m*(x - 1 + m)/((x - 1 + m)^2 + "
            "y^2)^1.5",
            "y - 2*vx - (1 - m)*y/((x + m)^2 + y^2)^1.5 - m*y/((x - 1 + m)^2 + y^2)^1.5"},
    .initial = {"0.994", "0", "0", "-2.00158510637908252240537862224"},
    .parameters = 1,
    .parameter = {"m"},
    .value = {0.012277471},
    .invariant = "(vx^2 + vy^2 - x^2 - y^2)/2 - (1 - m)/sqrt((x + m)^2 + y^2) - m/sqrt((x - 1 + "
                 "m)^2 + y^2)",
};

static const ode_system kepler = {
    .name = "kepler",
    .help = "a planet's orbit of eccentricity e, period 2 pi, from its perihelion",
    .source = "Hull et al., SIAM J. Numer. Anal. 9 (1972) 603-637, class D",
    .components = 4,
    .component = {"x", "y", "vx", "vy"},
    .rhs = {"vx", "vy", "-x/sqrt(x^2 + y^2)^3", "-y/sqrt(x^2 + y^2)^3"},
    .initial = {"1 - e", "0", "0", "sqrt((1 + e)/(1 - e))"},
    .parameters = 1,
    .parameter = {"e"},
    .value = {0.3},
    .invariant = "(vx^2 + vy^2)/2 - 1/sqrt(x^2 + y^2)",
};

static const ode_system pendulum = {
    .name = "pendulum",
    .help = "angle and angular velocity of a pendulum of length l (m) under g (m/s^2)",
    .source = "Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), I.1",
    .components = 2,
    .component = {"theta", "omega"},
    .rhs = {"omega", "-g/l*sin(theta)"},
    .initial = {"pi/4", "0"},
    .parameters = 2,
    .parameter = {"g", "l"},
    .value = {9.81, 1.0},
    .invariant = "omega^2/2 - g/l*cos(theta)",
};

static const ode_system lotka_volterra = {
    .name = "lotka-volterra",
    .help = "prey x and predators y",
    .source = "Lotka (1925), Volterra (1926); Hull et al., SIAM J. Numer. Anal. 9 (1972), B1",
    .components = 2,
    .component = {"x", "y"},
    .rhs = {"a*x - b*x*y", "d*x*y - c*y"},
    .initial = {"1", "3"},
    .parameters = 4,
    .parameter = {"a", "b", "c", "d"},
    .value = {2.0, 2.0, 1.0, 1.0},
    .invariant = "d*x - c*log(x) + b*y - a*log(y)",
};

#define SYSTEM(id, name) &id,
static const ode_system *const systems[] = {
#include "systems.def"
};
#undef SYSTEM

REGISTRY(ode_system, ode_system, systems)
