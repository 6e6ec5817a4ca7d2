"""Every figure against made files: the data of its lines, images and bars are those of the file, or
follow from them.

Fields are functions of the global index, so that a wrong axis or a shifted cut cannot pass.
"""

import contextlib
import io
import os
import tempfile
import unittest

import matplotlib

matplotlib.use("Agg")
import h5py
import matplotlib.pyplot as plt
import numpy as np
from check_numbers import report, result
from halosweep_analysis import (
    compare,
    figure,
    heat,
    history,
    ode,
    plot,
    quad,
    scale_figure,
    scale_files,
    scaling,
)
from halosweep_analysis.failure import INPUT, USAGE, Failure, run
from halosweep_analysis.reading import read_history, read_result
from PIL import Image


class Drawing(unittest.TestCase):
    """A folder of its own; figures are closed at the end."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.old = os.getcwd()
        os.chdir(self.folder.name)

    def tearDown(self):
        plt.close("all")
        os.chdir(self.old)
        self.folder.cleanup()

    def fails(self, code, does, *arguments):
        with self.assertRaises(Failure) as caught:
            does(*arguments)
        self.assertEqual(caught.exception.code, code)

    def same(self, a, b):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def write(name, text):
    """A text file."""
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    return name


class Histories(Drawing):
    """plot history."""

    def test_residuals(self):
        write("a.csv", "iteration,residual,true_residual\n0,1,\n1,0.5,\n2,0.25,0.26\n3,0,\n")
        write("b.csv", "iteration,residual,true_residual\n0,1,\n1,30,\n2,1000,\n3,1e5,\n4,inf,\n")
        fig, verdicts = history.draw_residuals(
            [read_history(n) for n in ("a.csv", "b.csv")], ["a", "b"]
        )
        lines = fig.axes[0].lines
        self.assertEqual(len(lines), 3)
        self.same(lines[0].get_xydata(), [[0, 1], [1, 0.5], [2, 0.25]])  # a log axis has no 0
        self.same(lines[1].get_xydata(), [[2, 0.26]])
        self.same(lines[2].get_xydata(), [[0, 1], [1, 30], [2, 1000], [3, 1e5]])
        self.assertEqual(fig.axes[0].get_yscale(), "log")
        self.assertEqual([v.word for v in verdicts], ["converging", "diverging"])
        texts = [t.get_text() for t in fig.axes[0].get_legend().get_texts()]
        self.assertEqual(texts, ["a: converging", "b: diverging"])
        self.assertNotEqual(lines[0].get_color(), lines[2].get_color())
        self.assertNotEqual(lines[0].get_linestyle(), lines[2].get_linestyle())

    def test_heat(self):
        write(
            "h.csv",
            "step,time,total_heat,minimum,maximum,mean,probe_1\n0,0,5,1,2,1.5,1.1\n9,0.5,4,0,3,1.2,1.3\n",
        )
        fig = history.draw_heat([read_history("h.csv")], ["h"])
        self.same(
            [line.get_ydata() for line in fig.axes[0].lines],
            [[1, 0], [1.5, 1.2], [2, 3], [1.1, 1.3]],
        )
        self.same(fig.axes[1].lines[0].get_xydata(), [[0, 5], [0.5, 4]])
        self.assertIn("/ s", fig.axes[1].get_xlabel())
        self.assertIn("/ K", fig.axes[0].get_ylabel())

    def test_names_and_damage(self):
        good = "iteration,residual,true_residual\n0,1,\n1,0.5,\n"
        names = ["_a.csv", "$b$.csv", os.fsdecode(b"\xe4.csv")]
        for name in names:
            with open(name, "w", encoding="utf-8") as f:
                f.write(good)
        all_of = [read_history(n) for n in names]
        fig, _ = history.draw_residuals(all_of, history.labels_of(all_of, None))
        texts = [t.get_text() for t in fig.axes[0].get_legend().get_texts()]
        self.assertEqual(texts, [" _a: too short", r"\$b\$: too short", r"\udce4: too short"])
        for text in (
            "step,time\n0,0\n",
            "step,time,total_heat,minimum,maximum\n",
            "iteration,residual\n0,1\n1,-5\n",
            "iteration,residual\n0,1,2\n",
            "iteration,residual\n0,one\n",
            "",
        ):
            self.fails(INPUT, read_history, write("h.csv", text))
        nan = read_history(write("h.csv", "iteration,residual\n0,nan\n1,nan\n"))
        self.fails(INPUT, history.draw_residuals, [nan], ["h"])


class Fields(Drawing):
    """plot heat: u = 1000 t + 100 k + 10 j + i, with a hump so that maxima are inside."""

    def box(self, shape, name="run.vtkhdf"):
        u = np.zeros((3, *shape))
        for index in np.ndindex(*u.shape):
            place = index[1:]
            u[index] = 1000 * index[0] + sum(10**k * p for k, p in enumerate(reversed(place)))
            u[index] += 5000 * all(p == n // 2 for p, n in zip(place, shape))
        result(name, "heat", {"VTKHDF/PointData/u": u, "VTKHDF/Steps/Values": [0.0, 0.5, 2.0]})
        with h5py.File(name, "a") as f:
            f["VTKHDF"].attrs["Origin"], f["VTKHDF"].attrs["Spacing"] = (
                [1.0, 2, 3],
                [0.5, 0.25, 0.125],
            )
        return u

    def image(self, view):
        fig = heat.draw("run.vtkhdf", view)
        (image,) = fig.axes[0].images
        return fig, image.get_array(), image.get_extent()

    def test_cuts(self):
        u = self.box((5, 4, 3))
        fig, shown, extent = self.image(heat.View())
        self.same(shown, u[2, 2])
        self.assertEqual(list(extent), [0.75, 2.25, 1.875, 2.875])
        self.assertEqual((fig.axes[0].get_xlabel(), fig.axes[0].get_ylabel()), ("x / m", "y / m"))
        self.assertEqual(fig.axes[0].get_title(), "t = 2 s, z = 3.25 m")
        self.same(self.image(heat.View(time="0.6", axis="y", at=2.3))[1], u[1, :, 1])
        self.same(self.image(heat.View(time="first", axis="x", at=99))[1], u[0, :, :, 2])

    def test_projections(self):
        u = self.box((5, 4, 3))
        for k, axis in enumerate("zyx"):
            self.same(self.image(heat.View(time="0.5", max_over=axis))[1], u[1].max(axis=k))

    def test_sheet_and_line(self):
        u = self.box((4, 3))
        self.same(self.image(heat.View())[1], u[2])
        fig = heat.draw("run.vtkhdf", heat.View(max_over="y"))
        self.same([line.get_ydata() for line in fig.axes[0].lines], u.max(axis=1))
        u = self.box((6,))
        fig = heat.draw("run.vtkhdf", heat.View())
        self.same([line.get_ydata() for line in fig.axes[0].lines], u)
        self.same(fig.axes[0].lines[0].get_xdata(), 1 + 0.5 * np.arange(6))
        self.assertEqual(len(heat.draw("run.vtkhdf", heat.View(time="0.5")).axes[0].lines), 1)
        self.fails(USAGE, heat.draw, "run.vtkhdf", heat.View(axis="z"))
        self.fails(USAGE, heat.draw, "run.vtkhdf", heat.View(time="soon"))

    def test_gif(self):
        self.box((4, 3))
        self.assertEqual(
            heat.write_gif("run.vtkhdf", heat.View(), figure.Target("a.gif", False)), 3
        )
        with Image.open("a.gif") as gif:
            self.assertEqual((gif.n_frames, gif.info["comment"]), (3, figure.MARK.encode()))
            frames = []
            for k in range(3):
                gif.seek(k)
                frames.append(np.asarray(gif.convert("RGB")))
        self.assertTrue((frames[0] != frames[1]).any() and (frames[1] != frames[2]).any())

    def test_nothing_to_draw(self):
        result("run.vtkhdf", "heat", {"heat/time": [0.0]})
        self.fails(INPUT, heat.draw, "run.vtkhdf", heat.View())


class Trajectories(Drawing):
    """plot ode."""

    text = "[sweep]\na = linspace(0, 2, 3)\nb = geomspace(1, 10, 2)\n"

    def ensemble(self, good=12):
        """3 x 2 members of 2 trajectories, the last ones failed."""
        a, b = np.repeat([0.0, 1, 2], 4), np.tile(np.repeat([1.0, 10], 2), 3)
        final = np.stack([a + 100 * b + np.tile([0.0, 1], 6), -a], axis=1)
        saved = np.arange(12 * 3 * 2.0).reshape(12, 3, 2) % 17
        result(
            "o.h5",
            "ode",
            {
                "ode/final": final,
                "ode/status": np.where(np.arange(12) < good, 1, 3).astype(np.uint8),
                "ode/steps": np.arange(12),
                "ode/time": np.full(12, 9.0),
                "ode/saved": saved,
                "ode/save_at": [1.0, 2, 4],
                "ode/parameters/a": a,
                "ode/parameters/b": b,
                "ode/histogram": [[1, 2, 3], [4, 5, 6]],
                "ode/minimum": [0.0, -1],
                "ode/maximum": [3.0, 5],
            },
            self.text,
            names="unfinished|done|event|step_limit",
        )
        with h5py.File("o.h5", "a") as f:
            f.attrs["component_names"] = "p|q"
        return read_result("o.h5", "ode"), final, saved

    def test_series_and_phase(self):
        r, _, saved = self.ensemble()
        self.assertEqual(ode.default_kind(r), "series")
        fig = ode.draw(r, "series", ode.Choice(trajectories="3,5"))
        self.same(fig.axes[0].lines[1].get_xydata(), np.stack([[1, 2, 4], saved[5, :, 0]], axis=1))
        self.same(fig.axes[1].lines[0].get_ydata(), saved[3, :, 1])
        self.assertEqual([a.get_ylabel() for a in fig.axes], ["p", "q"])
        fig = ode.draw(r, "phase", ode.Choice("q,0", "7"))
        self.same(fig.axes[0].lines[0].get_xydata(), saved[7][:, ::-1])
        self.fails(USAGE, ode.draw, r, "phase", ode.Choice("p"))
        self.fails(USAGE, ode.draw, r, "series", ode.Choice(trajectories="12"))
        self.fails(USAGE, ode.draw, r, "series", ode.Choice("r"))

    def test_fan(self):
        r, _, saved = self.ensemble(good=9)
        fig = ode.draw(r, "fan", ode.Choice("q"))
        self.same(fig.axes[0].lines[0].get_ydata(), np.median(saved[:9, :, 1], axis=0))
        band = fig.axes[0].collections[0].get_paths()[0].vertices
        low, high = np.quantile(saved[:9, :, 1], (0.05, 0.95), axis=0)
        for t, a, b in zip([1.0, 2, 4], low, high):
            self.assertTrue({(t, a), (t, b)} <= {tuple(v) for v in band})

    def test_map(self):
        r, final, _ = self.ensemble(good=11)
        fig = ode.draw(r, "map", ode.Choice("p"))
        mean = final[:, 0].reshape(3, 2, 2).mean(axis=2)
        mean[2, 1] = final[10, 0]  # its other trajectory failed
        self.same(fig.axes[0].collections[0].get_array().reshape(2, 3), mean.T)
        self.assertEqual((fig.axes[0].get_xlabel(), fig.axes[0].get_ylabel()), ("a", "b"))
        failed = ode.draw(r, "map", ode.Choice(value="failed")).axes[0].collections[0].get_array()
        self.same(np.ravel(failed), [0, 0, 0, 0, 0, 0.5])

    def test_histogram(self):
        r, _, _ = self.ensemble()
        fig = ode.draw(r, "histogram", ode.Choice())
        counts, edges, _ = fig.axes[1].patches[0].get_data()
        self.same(counts, [4, 5, 6])
        self.same(edges, [-1, 1, 3, 5])

    def test_no_saved_states(self):
        result("n.h5", "ode", {"ode/final": np.ones((2, 1))}, "[ode]\n", names="unfinished|done")
        r = read_result("n.h5", "ode")
        self.assertEqual(ode.names_of(r), ["y[0]"])
        self.fails(INPUT, ode.draw, r, "fan", ode.Choice())
        self.fails(INPUT, ode.draw, r, "map", ode.Choice())


class Coupled(Drawing):
    """plot ode, compare: one coupled system, on a line and on a grid."""

    def system(self, shape, name="c.h5", last=9.0):
        final = np.arange(float(np.prod(shape))).reshape(shape)
        saved = np.stack([100 + final.ravel(), 200 + final.ravel(), np.full(final.size, np.nan)])
        arrays = {"ode/final": final, "ode/time": [last], "ode/status": np.ones(1, np.uint8)}
        arrays |= {"ode/steps": [7], "ode/rejected": [1]}
        arrays |= {"ode/saved": saved, "ode/save_at": [1.0, 2, 4]}
        result(name, "ode", arrays, report='{"points": 6}', names="unfinished|done")
        with h5py.File(name, "a") as f:
            f.attrs["component_names"] = "u|v"
        return read_result(name, "ode"), final

    def test_line(self):
        r, final = self.system((6, 2))
        self.assertEqual(ode.default_kind(r), "field")
        fig = ode.draw(r, "field", ode.Choice("v"))
        lines = {line.get_label(): line for line in fig.axes[0].lines}
        self.assertEqual(list(lines), ["1 s", "2 s", "9 s"])  # 4 s was not met
        self.same(lines["2 s"].get_xydata(), np.stack([np.arange(6), 200 + final[:, 1]], axis=1))
        self.same(lines["9 s"].get_ydata(), final[:, 1])
        self.fails(USAGE, ode.draw, r, "fan", ode.Choice())

    def test_grid(self):
        r, final = self.system((3, 4, 2))
        fig = ode.draw(r, "field", ode.Choice())
        self.same(fig.axes[0].images[0].get_array(), final[:, :, 0])
        self.same(fig.axes[1].images[0].get_array(), final[:, :, 1])
        self.assertEqual(fig.axes[0].get_xlabel(), "point i")

    def test_compare(self):
        self.system((3, 4, 2))
        self.system((3, 4, 2), "d.h5")
        with h5py.File("d.h5", "a") as f:
            f["ode/final"][2, 1, 1] = f["ode/saved"][1, 11] = 0.5
        where = {d.name: d.where for d in compare.compare("c.h5", "d.h5") if d.count}
        self.assertEqual(
            where, {"ode/final": "i = 1, j = 2, v", "ode/saved": "t = 2 s, i = 1, j = 1, v"}
        )

    def test_damaged(self):
        self.system((3, 4, 2))
        with h5py.File("c.h5", "a") as f:
            del f["ode/saved"]
            f["ode/saved"] = np.ones((3, 23))
        self.fails(INPUT, read_result, "c.h5")


class Integrals(Drawing):
    """plot quad."""

    def test_members(self):
        value, error = np.arange(6.0), np.full(6, 0.5)
        result(
            "m.h5",
            "quad",
            {
                "quad/members/value": value,
                "quad/members/error": error,
                "quad/members/evaluations": np.arange(6) + 10,
                "quad/members/status": np.array([0, 0, 0, 0, 0, 2], np.uint8),
                "quad/members/parameters/k": np.repeat([3.0, 1, 2], 2),
                "quad/members/parameters/w": np.tile([5.0, 7], 3),
            },
            "[sweep]\nk = 3, 1, 2\nw = 5, 7\n",
            names="converged|fixed_count|max_evaluations",
        )
        fig = quad.draw(["m.h5"], None)
        self.same(fig.axes[0].lines[0].get_xydata(), [[1, 2], [2, 4], [3, 0]])
        self.same(fig.axes[0].lines[1].get_xydata(), [[1, 3], [2, 5], [3, 1]])
        self.same(fig.axes[0].lines[2].get_xydata(), [[2, 5]])  # the one that did not converge
        self.assertEqual(fig.axes[0].get_xlabel(), "k")
        self.assertEqual(fig.axes[0].get_title(), "")
        with h5py.File("m.h5", "a") as f:
            f["quad/members/error"][1] = 1e3
        fig = quad.draw(["m.h5"], None)
        self.assertEqual(fig.axes[0].get_ylim(), (-10, 15))  # 0 to 5, and twice that around
        self.assertIn("beyond the frame", fig.axes[0].get_title())
        with h5py.File("m.h5", "a") as f:
            f["quad/members/error"][1] = 0.5
        self.same(
            quad.draw(["m.h5"], "cost").axes[0].lines[0].get_xydata(),
            np.stack([np.arange(6) + 10, error], axis=1),
        )

    def test_cost(self):
        def one(name, rule, cost, **more):
            import json

            return write(
                name,
                json.dumps(
                    {
                        "program": "halosweep",
                        "command": "quad",
                        "rule": rule,
                        "evaluations": cost,
                        **more,
                    }
                ),
            )

        names = [
            one("a.json", "simpson", 99, error=1e-4, error_estimate=9),
            one("b.json", "simpson", 33, error=1e-2),
            one("c.json", "sobol", 512, error_estimate=1e-3),
            one("d.json", "simpson", 200, error=0.0),
        ]
        fig = quad.draw(names, None)
        lines = {line.get_label(): line.get_xydata() for line in fig.axes[0].lines}
        self.same(lines["simpson: error"], [[33, 1e-2], [99, 1e-4]])
        self.same(lines["sobol: error estimate"], [[512, 1e-3]])
        self.same(lines["simpson: error 0"][:, 0], [200])
        self.fails(INPUT, quad.draw, [one("e.json", "sobol", 5, error_estimate=None)], None)


class Damaged(Drawing):
    """Files that say they are ours and are not whole: exit 3, never a traceback."""

    def ends(self, text, *words):
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            self.assertEqual(run("plot", plot.command, list(words)), INPUT)
        self.assertIn(text, err.getvalue())

    def test_results(self):
        good = {"ode/final": np.ones((4, 2)), "ode/status": np.ones(4, np.uint8)}
        for name, array, text in (
            ("ode/status", np.ones(3), "does not go with /ode/final"),
            ("ode/steps", 5.0, "has the shape (); expected 1 axes"),
            ("ode/time", "noon", "expected numbers"),
            ("ode/parameters/a", np.full(4, np.nan), "not all of it is finite"),
        ):
            result("o.h5", "ode", {**good, name: array}, "[sweep]\na = 1, 2\n", names="no|done")
            self.ends(text, "ode", "o.h5", "--kind", "map")
        result("o.h5", "ode", good, report="[1]")
        self.ends("no JSON object", "ode", "o.h5")
        result("o.h5", "ode", good, "[ode\n")
        self.ends("its config is damaged: o.h5:1", "ode", "o.h5")
        with open("o.h5", "r+b") as f:
            f.truncate(700)
        self.ends("o.h5", "ode", "o.h5")

    def test_fields(self):
        u = {"VTKHDF/PointData/u": np.full((2, 3, 4), np.nan), "VTKHDF/Steps/Values": [0.0, 1]}
        result("u.h5", "heat", u)
        self.ends("lacks Origin or Spacing", "heat", "u.h5")
        with h5py.File("u.h5", "a") as f:
            f["VTKHDF"].attrs["Origin"], f["VTKHDF"].attrs["Spacing"] = [0.0] * 3, [1.0] * 3
        self.assertEqual(run("plot", plot.command, ["heat", "u.h5", "--output", "u.gif"]), 0)

    def test_nothing_saved_in_time(self):
        arrays = {"ode/final": np.ones((2, 1)), "ode/status": np.ones(2, np.uint8)}
        arrays |= {"ode/saved": np.full((2, 3, 1), np.nan), "ode/save_at": [1.0, 2, 3]}
        result("o.h5", "ode", arrays, names="no|done")
        self.ends("ended before the first saved time", "ode", "o.h5", "--kind", "fan")

    def test_study(self):
        scale_files.write_hdf5(
            "s.h5", scale_files.Table("weak", "ode", [scaling.Point(1, 1, "omp")], [])
        )
        with h5py.File("s.h5", "a") as f:
            del f["scale/efficiency"]
        self.ends("s.h5 is damaged", "scale", "s.h5")


class Others(Drawing):
    """plot compare, plot scale, and the file at the end."""

    def test_compare(self):
        x = np.arange(1.0, 9.0)
        y = x.copy()
        y[[2, 5]] = np.nextafter(3.0, 4.0), 7.0
        result("a.h5", "solve", {"solve/x": x})
        result("b.h5", "solve", {"solve/x": y})
        fig = compare.draw(compare.compare("a.h5", "b.h5"))
        self.same(fig.axes[0].lines[0].get_xydata(), [[2, y[2] - 3.0], [5, 1.0]])
        self.same(fig.axes[1].lines[0].get_xydata(), [[2, 1], [5, 2.0**50]])

    def test_scale(self):
        points = [
            scaling.Point(p, 1, "omp", [report(p, 0.75 * t, 0.25 * t)])
            for p, t in ((1, 8.0), (2, 5.0), (4, 3.0))
        ]
        points.append(scaling.Point(8, 1, "omp", trouble="exit 7"))
        scaling.evaluate(points, "strong")
        table = scale_files.Table("strong", "heat", points, scaling.fits(points, "strong"))
        scale_files.write_hdf5("s.h5", table)
        again = scale_files.read("s.h5")
        self.assertEqual([p.trouble for p in again.points], ["", "", "", "exit 7"])
        self.assertEqual([p.efficiency for p in again.points[:3]], [1.0, 0.8, 8 / 12])
        self.assertEqual([p.best for p in again.points], [False, True, False, False])
        self.assertEqual(again.fits, table.fits)
        fig = scale_figure.draw(again)
        self.same(fig.axes[1].lines[0].get_xydata(), [[1, 100], [2, 80], [4, 100 * (8 / 3 / 4)]])
        self.same(fig.axes[1].lines[2].get_xydata(), [[2, 80]])  # the star: most ranks with 75 %
        self.same([b.get_height() for b in fig.axes[2].patches], [75] * 3 + [25] * 3)
        names = [t.get_text() for t in fig.axes[2].get_xticklabels()]
        self.assertEqual(names, ["1 × 1 omp", "2 × 1 omp", "4 × 1 omp"])
        self.same(fig.axes[0].containers[0].lines[0].get_xydata(), [[1, 1], [2, 1.6], [4, 8 / 3]])
        self.fails(INPUT, scale_figure.draw, scale_files.Table("strong", "heat", points[3:], []))

    def test_whose_file(self):
        write("a.csv", "iteration,residual,true_residual\n0,1,\n1,0.5,\n")
        for ending in (".png", ".pdf", ".svg"):
            name = "f" + ending
            self.assertEqual(run("plot", plot.command, ["history", "a.csv", "--output", name]), 0)
            with open(name, "rb") as f:
                first = f.read()
            self.assertEqual(
                run("plot", plot.command, ["history", "a.csv", "--output", name]), 0
            )  # its own
            with open(name, "rb") as f:
                self.assertEqual(f.read(), first)  # no date in it
            write(name, "mine")
            self.assertEqual(run("plot", plot.command, ["history", "a.csv", "--output", name]), 2)
            with open(name, encoding="utf-8") as f:
                self.assertEqual(f.read(), "mine")
            self.assertEqual(
                run("plot", plot.command, ["history", "a.csv", "--output", name, "--force"]), 0
            )
        self.assertEqual(
            sorted(os.listdir()), ["a.csv", "f.pdf", "f.png", "f.svg"]
        )  # nothing half written


if __name__ == "__main__":
    unittest.main()
