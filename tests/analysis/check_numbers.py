"""The verdict over made histories, ulp and norms, the numbers of scaling studies, configs. No
figure is drawn."""

import math
import os
import tempfile
import unittest

import h5py
import numpy as np
from halosweep_analysis import compare, config, scaling, study
from halosweep_analysis.convergence import classify
from halosweep_analysis.failure import INPUT, USAGE, Failure
from halosweep_analysis.reading import read_history


def result(path, command, arrays, config_text="", report="{}", names=""):
    """A result file as halosweep writes one."""
    with h5py.File(path, "w") as f:
        f.attrs["format"], f.attrs["command"], f.attrs["fingerprint"] = (
            "halosweep result 1",
            command,
            "0",
        )
        f.attrs["config"], f.attrs["report"], f.attrs["status_names"] = config_text, report, names
        for name, values in arrays.items():
            f[name] = values


class Verdicts(unittest.TestCase):
    """The rule at the head of convergence.py, each branch on a history made for it."""

    k = np.arange(200.0)

    def word(self, residual):
        return classify(np.asarray(residual, dtype=float)).word

    def test_converging(self):
        self.assertEqual(self.word(0.9**self.k), "converging")
        self.assertEqual(self.word(0.9999**self.k), "converging")  # slow is not stagnating
        self.assertEqual(self.word(0.1 ** np.arange(5)), "converging")
        self.assertAlmostEqual(classify(0.1 ** np.arange(9.0)).decades_per_row, 1.0)

    def test_exact_end(self):
        v = classify(np.array([1, 1e-3, 0.0]))
        self.assertEqual((v.word, v.last, v.best), ("converging", 0.0, 0.0))

    def test_stagnating(self):
        self.assertEqual(self.word(np.ones(50)), "stagnating")
        self.assertEqual(self.word(np.maximum(0.8**self.k, 1e-6)), "stagnating")
        floor = 1e-15 * (
            1 + 0.2 * np.sin(7 * self.k)
        )  # round-off: moves, but by less than a factor of 2
        self.assertEqual(self.word(np.maximum(0.5**self.k, floor)), "stagnating")

    def test_oscillating(self):
        self.assertEqual(self.word(np.where(self.k % 2 == 0, 1.0, 0.05)), "oscillating")
        for begin in np.arange(0, 6.3, 0.1):  # wherever the swing begins and ends
            self.assertEqual(self.word(10 ** (1.5 * np.sin(begin + self.k))), "oscillating")

        rows = np.arange(41)  # peaks that grow, troughs that return
        self.assertEqual(
            self.word(np.where(rows % 2 == 0, 1.02**rows, 0.01 + (rows > 1) * 1e-4)), "oscillating"
        )

    def test_converging_oscillating(self):
        self.assertEqual(
            self.word(0.9**self.k * 10 ** (0.6 * np.sin(self.k))), "converging, oscillating"
        )

    def test_diverging(self):
        self.assertEqual(self.word(1.2**self.k), "diverging")
        self.assertEqual(self.word([1, 30, 1000, 1e5]), "diverging")
        self.assertEqual(self.word([1, 0.5, 0.2, 0.1, 1e3, 1e5, 1e8]), "diverging")
        self.assertEqual(
            self.word([1, 0.5, 1e-4, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2]), "diverging"
        )  # not above its start
        self.assertEqual(
            self.word(np.concatenate([0.9**self.k, 0.9**199 * 1.3**self.k])), "diverging"
        )
        self.assertEqual(self.word(1.05**self.k * 10 ** (0.6 * np.sin(self.k))), "diverging")
        self.assertEqual(self.word([1, 0.5, 0.2, 0.1, float("nan")]), "diverging")
        self.assertEqual(self.word([1, 0.5, float("inf")]), "diverging")

    def test_rises_below_a_decade_are_not_divergence(self):
        self.assertNotEqual(self.word(np.concatenate([[1.0], 2 + 0.01 * self.k])), "diverging")

    def test_short(self):
        self.assertEqual(self.word([1, 0.1, 0.01]), "too short")
        self.assertEqual(self.word([]), "too short")


class Comparing(unittest.TestCase):
    """Planted differences are found, where and how large they are."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.a, self.b = (os.path.join(self.folder.name, n) for n in ("a.h5", "b.h5"))

    def tearDown(self):
        self.folder.cleanup()

    def test_distance(self):
        a = np.array([1.0, 0.0, -0.0, 1.0, -1.0, 5e-324, np.inf, -1.7e308])
        b = np.array(
            [np.nextafter(1, 2), 0.0, 0.0, -1.0, -1.0, -5e-324, np.finfo(float).max, 1.7e308]
        )
        d = compare.ulp_distance(a, b)
        one = int(np.float64(1).view(np.int64))
        far = 2 * int(np.float64(1.7e308).view(np.int64))
        self.assertEqual([int(v) for v in d], [1, 0, 0, 2 * one, 0, 2, 1, far])

    def test_one_ulp(self):
        x = np.sqrt(np.arange(1.0, 1001.0))
        y = x.copy()
        y[617] = np.nextafter(y[617], np.inf)
        result(self.a, "solve", {"solve/x": x})
        result(self.b, "solve", {"solve/x": y})
        for block in (1 << 20, 7):
            compare.BLOCK = block
            (d,) = compare.compare(self.a, self.b)
            self.assertEqual(
                (d.count, d.first, d.first_ulp, d.most, d.most_ulp), (1, (617,), 1, (617,), 1)
            )
            self.assertEqual(d.max_norm, y[617] - x[617])
            self.assertEqual(math.sqrt(d.sum_squares), y[617] - x[617])
            self.assertAlmostEqual(d.sum_squares_a, 500500.0, places=6)
        compare.BLOCK = 1 << 20
        self.assertTrue(compare.words([d])[0].startswith("differ"))

    def test_equal_bits(self):
        x = np.array([1.0, np.nan, -0.0, np.inf])
        result(self.a, "solve", {"solve/x": x})
        result(self.b, "solve", {"solve/x": x})
        self.assertEqual(
            compare.words(compare.compare(self.a, self.b)),
            ["equal: 1 data sets, 4 elements, in every bit"],
        )
        result(
            self.b, "solve", {"solve/x": np.array([1.0, -np.nan, -0.0, np.inf])}
        )  # as GPUs write it
        self.assertEqual(compare.compare(self.a, self.b)[0].count, 0)
        result(self.b, "solve", {"solve/x": np.abs(x)})  # +0 for -0: other bits, 0 ulp
        (d,) = compare.compare(self.a, self.b)
        self.assertEqual((d.count, d.first, d.most_ulp), (1, (2,), 0))

    def test_place_in_a_field(self):
        u = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
        v = u.copy()
        v[1, 2, 0, 3] += 0.5
        v[1, 2, 1, 0] += 2.0
        for path, field in ((self.a, u), (self.b, v)):
            result(path, "heat", {"VTKHDF/PointData/u": field, "VTKHDF/Steps/Values": [0.0, 0.25]})
            with h5py.File(path, "a") as f:
                f["VTKHDF"].attrs["Origin"], f["VTKHDF"].attrs["Spacing"] = [0.0, 0, 1], [0.1, 1, 2]
        for block in (1 << 20, 6):
            compare.BLOCK = block
            d = compare.compare(self.a, self.b)[0]
            self.assertEqual(
                (d.name, d.count, d.first, d.max_norm), ("VTKHDF/PointData/u", 2, (1, 2, 0, 3), 2.0)
            )
            self.assertEqual(d.where, "t = 0.25 s, x = 0.3 m, y = 0 m, z = 5 m")
            self.assertEqual([c[0] for c in d.curve], [103, 105])
        compare.BLOCK = 1 << 20

    def test_shapes_and_commands(self):
        result(self.a, "solve", {"solve/x": np.ones(3)})
        result(self.b, "solve", {"solve/x": np.ones(4), "solve/r": np.ones(1)})
        self.assertEqual(
            [d.note for d in compare.compare(self.a, self.b)],
            ["shapes (3,) and (4,)", f"only in {self.b}"],
        )
        result(self.b, "ode", {"ode/final": np.ones((1, 1))})
        with self.assertRaises(Failure) as caught:
            compare.compare(self.a, self.b)
        self.assertEqual(caught.exception.code, INPUT)


def report(ranks, compute, communicate, command="heat", **more):
    """As much of a report as the numbers need."""
    out = {
        "command": command,
        "ranks": ranks,
        "threads": 1,
        "backend": "omp",
        "fingerprint": "f",
        "points": 1000,
        "steps_this_run": 10,
        "traffic": {"gbytes_per_second": 5.0 * ranks},
        "seconds": {
            "compute": compute,
            "communicate": communicate,
            "total": compute + communicate + 1,
        },
    }
    out.update(more)
    return out


class Scaling(unittest.TestCase):
    """The table's numbers against reports with known ones."""

    def strong(self):
        """Amdahl's law itself: T = 8 (0.1 + 0.9/p)."""
        points = []
        for p in (1, 2, 4, 8):
            t = 8 * (0.1 + 0.9 / p)
            reports = [report(p, 0.75 * t * f, 0.25 * t * f) for f in (1.01, 1.0, 0.99)]
            points.append(scaling.Point(p, 1, "omp", reports))
        scaling.evaluate(points, "strong")
        return points

    def test_strong(self):
        points = self.strong()
        self.assertAlmostEqual(points[1].time, 4.4)
        self.assertAlmostEqual(points[1].total, 5.4)
        self.assertAlmostEqual(points[1].compute, 3.3)
        self.assertAlmostEqual(points[1].communicate, 1.1)
        self.assertAlmostEqual(points[1].fastest, 4.4 * 0.99)
        self.assertAlmostEqual(points[1].speedup, 8 / 4.4)
        self.assertAlmostEqual(points[1].efficiency, 4 / 4.4)
        self.assertEqual(points[1].bandwidth, 10.0)
        self.assertEqual(
            [p.best for p in points], [False, False, True, False]
        )  # 77 % on 4, 59 % on 8
        self.assertEqual([r for p in points for r in p.remarks], [])

    def test_amdahl(self):
        (fit,) = scaling.fits(self.strong(), "strong")
        self.assertEqual(fit.law, "amdahl")
        self.assertAlmostEqual(fit.serial, 0.1, places=12)
        self.assertAlmostEqual(fit.t1, 8.0, places=12)
        self.assertLess(fit.deviation, 1e-12)
        self.assertEqual(scaling.amdahl([1, 2, 4], [1.0, 2.0, 3.0])[0], 1.0)  # slower with ranks
        self.assertEqual(scaling.amdahl([1, 2, 4], [4.0, 1.9, 0.9])[0], 0.0)  # better than ideal

    def test_weak(self):
        """S = p - 0.2 (p - 1); the work is not quite p times as large, and that counts."""
        points = []
        for p in (1, 2, 4):
            work = 10000 * p + (p > 1)
            time = work / (10000 * (p - 0.2 * (p - 1)))
            points.append(scaling.Point(p, 1, "omp", [report(p, time, 0.0, points=work / 10)]))
        scaling.evaluate(points, "weak")
        for p in points:
            self.assertAlmostEqual(p.speedup, p.ranks - 0.2 * (p.ranks - 1))
        (fit,) = scaling.fits(points, "weak")
        self.assertAlmostEqual(fit.serial, 0.2, places=12)

    def test_base_of_more_ranks(self):
        points = [scaling.Point(p, 1, "omp", [report(p, 8 / p, 0)]) for p in (2, 4)]
        scaling.evaluate(points, "strong")
        self.assertEqual([p.speedup for p in points], [2.0, 4.0])

    def test_remarks(self):
        points = [
            scaling.Point(1, 1, "omp", [report(1, 1.0, 0)]),
            scaling.Point(2, 1, "omp", [report(2, 0.2, 0.5), report(2, 0.2, 0.9)]),
            scaling.Point(4, 1, "omp", [report(4, 0.01, 0.001, fingerprint="g", steps_this_run=9)]),
            scaling.Point(8, 1, "omp", trouble="exit 7"),
        ]
        scaling.evaluate(points, "strong")
        text = "\n".join(scaling.table(points, [], "strong"))
        self.assertEqual(points[0].remarks, [])
        for word in (
            "too small per rank: 71%",
            "500 a rank",
            "unsteady: 0.7 to 1.1",
            "too short to measure",
            "did other work",
            "another result",
            "exit 7",
            "A larger problem".lower(),
        ):
            self.assertIn(word, text)
        self.assertEqual(text.count("<-"), 1)

    def test_gpus(self):
        devices = [{"rank": r, "uuid": f"GPU-{r % 2}"} for r in range(4)]
        points = [scaling.Point(4, 1, "cuda", [report(4, 1.0, 0, devices=devices)])]
        scaling.evaluate(points, "strong")
        self.assertEqual((points[0].gpus, points[0].remarks), (2, ["4 ranks share 2 GPUs"]))

    def test_series_are_apart(self):
        points = [
            scaling.Point(1, t, b, [report(1, s, 0)])
            for t, b, s in ((1, "omp", 4.0), (2, "omp", 2.0), (1, "cuda", 0.5))
        ]
        scaling.evaluate(points, "strong")
        self.assertEqual([p.speedup for p in points], [1.0, 1.0, 1.0])


class Configs(unittest.TestCase):
    """What a study makes of a file."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def study(self, text, mode="weak", **more):
        path = os.path.join(self.folder.name, "a.ini")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return study.prepare(
            path, mode, more.get("command"), more.get("iterations"), more.get("steps")
        )

    def test_grammar(self):
        c = config.parse(
            '# c\n[Solve]\nMax-Iterations = 5 ; c\nrhs = "a#b" # c\nn = 1,\n  2\nf = x#y\n', "a"
        )
        self.assertEqual(
            c, {"solve": {"max_iterations": "5", "rhs": '"a#b"', "n": "1, 2", "f": "x#y"}}
        )
        self.assertEqual(config.split_list('(1, 2), "a,b", 3'), ["(1, 2)", '"a,b"', "3"])
        self.assertEqual(study.number("2*(1e3+24)", "n"), 2048)
        for bad in ("[solve\n", "[solve]\nx\n", "[a]\nx=1\nX = 2\n", "[a]\n[b]\n[a]\n"):
            with self.assertRaises(Failure):
                config.parse(bad, "a")
        with self.assertRaises(Failure):
            study.number("__import__('os')", "n")

    def test_weak_solve(self):
        s = self.study(
            "[solve]\nproblem = poisson3d\nn = 30\nmethod = cg\n[run]\noutput = x.h5\nseed = 3\n"
            "[checkpoint]\nfile = c.h5\n"
        )
        c = study.config_on(s, 4)
        self.assertEqual(c["solve"]["n"], "30, 30, 120")
        self.assertEqual(c["solve"]["iterations"], "100")
        self.assertEqual(c["run"], {"seed": "3"})
        self.assertNotIn("checkpoint", c)
        self.assertEqual(study.config_on(s, 1)["solve"]["n"], "30, 30, 30")

    def test_weak_heat_keeps_its_spacing(self):
        s = self.study("[heat]\nn = 11, 21\nlength = 1, 2\ndt = 0.001\nt_end = 1\n", steps=7)
        c = study.config_on(s, 2)["heat"]
        self.assertEqual((c["n"], c["steps"], "t_end" in c), ("11, 42", "7", False))
        self.assertAlmostEqual(float(c["length"].split(",")[1]) / 41, 2 / 20, places=15)
        s = self.study("[heat]\ndims = 2\nn = 10\nboundary = periodic\nsteps = 3\n")
        self.assertEqual(study.config_on(s, 3)["heat"]["length"], "1, 3")

    def test_weak_others(self):
        self.assertEqual(
            study.config_on(self.study("[quad]\nf = x\nn = 100\n"), 4)["quad"]["n"], "400"
        )
        self.assertEqual(
            study.config_on(self.study("[ode]\nsystem = lorenz\n"), 4)["ode"]["trajectories"], "4"
        )
        for text, grown in (
            ("system = lorenz96\nn = 40", "160"),
            ("system = reaction-diffusion\nn = 64", "64, 256"),
            ("n = 30, 20", "30, 80"),
        ):
            own = study.config_on(self.study(f"[ode]\n{text}\n"), 4)["ode"]
            self.assertEqual((own["n"], "trajectories" in own), (grown, False))
        coupled = {"command": "ode", "points": 40, "steps_this_run": 7, "trajectories": 1}
        self.assertEqual(scaling.work_of(coupled), (280, 40))

    def test_refused(self):
        for text in (
            "[solve]\nmatrix = A.mtx\n",
            "[heat]\nn = 5\nt_end = 1\n",
            "[quad]\nf = x\n",
            "[quad]\nf = x*y\ndims = 2\nn = 5\n",
            "[run]\nthreads = 1\n",
            "[quad]\nn = 1\n[solve]\nn = 2\n",
        ):
            with self.assertRaises(Failure) as caught:
                self.study(text)
            self.assertEqual(caught.exception.code, USAGE)

    def test_paths(self):
        open(os.path.join(self.folder.name, "A.mtx"), "w", encoding="utf-8").close()
        s = self.study("[solve]\nmatrix = A.mtx\nrhs = ones\n", "strong")
        self.assertEqual(
            study.config_on(s, 2)["solve"]["matrix"],
            f'"{os.path.realpath(self.folder.name)}/A.mtx"',
        )
        self.assertEqual(study.config_on(s, 2)["solve"]["rhs"], "ones")


class Histories(unittest.TestCase):
    """CSV files, good and bad."""

    def test_reading(self):
        with tempfile.NamedTemporaryFile("w+", suffix=".csv") as f:
            f.write("iteration,residual,true_residual\n0,1,\n1,0.5,0.25\n")
            f.flush()
            h = read_history(f.name)
            self.assertEqual(list(h.columns["residual"]), [1.0, 0.5])
            self.assertTrue(np.isnan(h.columns["true_residual"][0]))
            f.write("2,x,\n")
            f.flush()
            with self.assertRaisesRegex(Failure, r":4: 'x' is no number"):
                read_history(f.name)
            f.seek(f.tell() - 4)
            f.write("2,0.1,,5\n")
            f.flush()
            with self.assertRaisesRegex(Failure, r":4: 4 fields, expected 3"):
                read_history(f.name)


if __name__ == "__main__":
    unittest.main()
