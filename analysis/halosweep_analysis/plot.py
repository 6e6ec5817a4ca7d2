"""`halosweep plot`: the command line of the figures."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Callable

from . import figure
from .failure import USAGE, Failure, Parser, run, say


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path.rstrip("/")))[0]


def _target(
    args: Namespace, default: str, inputs: Sequence[str], still: bool = True
) -> figure.Target:
    target = figure.Target(args.output or default, args.force)
    figure.check_target(target, inputs, still)
    return target


def _finish(fig: object, target: figure.Target) -> int:
    figure.save(fig, target)  # type: ignore[arg-type]
    say("plot", f"drawn: {target.path}")
    return 0


def plot_history(args: Namespace) -> int:
    """Residuals of one or more solves, or the totals of heat."""
    target = _target(args, "history.png", args.files)
    from . import history
    from .reading import read_history

    all_of = [read_history(path) for path in args.files]
    if len({h.of_heat for h in all_of}) > 1:
        raise Failure(USAGE, "histories of solve and of heat do not go into one figure")
    labels = history.labels_of(all_of, args.labels.split(",") if args.labels else None)
    if all_of[0].of_heat:
        return _finish(history.draw_heat(all_of, labels), target)
    fig, verdicts = history.draw_residuals(all_of, labels)
    for label, verdict in zip(labels, verdicts):
        print(history.words(label, verdict))
    return _finish(fig, target)


def plot_heat(args: Namespace) -> int:
    """Slices, projections, lines or an animation of saved fields."""
    target = _target(args, f"{_stem(args.file)}.png", [args.file], still=False)
    from . import heat

    view = heat.View(args.time, args.axis, args.at, args.max_over)
    if target.path.lower().endswith(".gif"):
        frames = heat.write_gif(args.file, view, target)
        say("plot", f"drawn: {target.path}, {frames} times")
        return 0
    return _finish(heat.draw(args.file, view), target)


def plot_ode(args: Namespace) -> int:
    """Trajectories: phase portraits, series, fans, maps, histograms."""
    target = _target(args, f"{_stem(args.file)}.png", [args.file])
    from . import ode
    from .reading import read_result

    result = read_result(args.file, "ode")
    kind = args.kind or ode.default_kind(result)
    return _finish(
        ode.draw(result, kind, ode.Choice(args.components, args.trajectories, args.value)), target
    )


def plot_quad(args: Namespace) -> int:
    """Members against the parameter, or error against cost."""
    target = _target(args, f"{_stem(args.files[0])}.png", args.files)
    from . import quad

    return _finish(quad.draw(args.files, args.kind), target)


def plot_scale(args: Namespace) -> int:
    """The figure of a scaling study."""
    target = _target(args, f"{_stem(args.file)}.png", [args.file])
    from . import scale_figure, scale_files

    return _finish(scale_figure.draw(scale_files.read(args.file)), target)


def plot_compare(args: Namespace) -> int:
    """Where two results first differ."""
    target = _target(args, "compare.png", [args.a, args.b])
    from . import compare

    differences = compare.compare(args.a, args.b)
    for line in compare.words(differences):
        print(line)
    if not any(d.count for d in differences):
        say("plot", "equal in every bit: no figure is drawn")
        return 0
    return _finish(compare.draw(differences), target)


def _parser() -> Parser:
    parser = Parser(
        prog="halosweep plot", description="draws halosweep's results; text goes to stdout"
    )
    kinds = parser.add_subparsers(
        dest="kind_of_plot",
        metavar="history|heat|ode|quad|scale|compare",
        required=True,
        parser_class=Parser,
    )

    def add(name: str, does: Callable[[Namespace], int], text: str) -> Parser:
        sub = kinds.add_parser(name, help=text, description=text)
        sub.set_defaults(does=does)
        sub.add_argument(
            "--output",
            metavar="FILE",
            help="png, pdf or svg (heat also gif); "
            "default: a .png in this folder, whose name is said",
        )
        sub.add_argument("--force", action="store_true", help="replace a file that is not ours")
        return sub

    sub = add("history", plot_history, "convergence of solves, in words too; or totals of heat")
    sub.add_argument("files", nargs="+", metavar="FILE.csv")
    sub.add_argument("--labels", help="names in the legend: a,b,c")
    sub = add("heat", plot_heat, "saved fields: lines (1-D), slices and projections, GIF over time")
    sub.add_argument("file", metavar="run.vtkhdf")
    sub.add_argument(
        "--time", help="which saved time: seconds (the nearest), or first, last (default)"
    )
    sub.add_argument("--axis", choices="xyz", help="3-D: cut across this axis (z)")
    sub.add_argument(
        "--at", type=float, help="where to cut, m (the nearest plane; default the middle)"
    )
    sub.add_argument(
        "--max-over", choices="xyz", help="the maximum along this axis instead of a cut"
    )
    sub = add("ode", plot_ode, "trajectories of ode")
    sub.add_argument("file", metavar="run.h5")
    sub.add_argument(
        "--kind",
        choices=("phase", "series", "fan", "map", "histogram", "field"),
        help="default: "
        "series of up to 20 trajectories with saved states, fan of more, map of sweeps, "
        "histogram; of a coupled system field",
    )
    sub.add_argument("--components", help="names or numbers from 0: 0,2 (default: all; phase: 0,1)")
    sub.add_argument("--trajectories", help="phase, series: numbers from 0 (default: the first 20)")
    sub.add_argument(
        "--value",
        default="final",
        choices=("final", "steps", "time", "failed"),
        help="map: what the colour is (final: the first component chosen)",
    )
    sub = add("quad", plot_quad, "members of sweeps, or error against cost")
    sub.add_argument("files", nargs="+", metavar="FILE", help="results, or (cost) reports")
    sub.add_argument(
        "--kind", choices=("members", "cost"), help="default: members for one sweep, else cost"
    )
    sub = add("scale", plot_scale, "a scaling study: scale.h5 of `halosweep scale`")
    sub.add_argument("file", metavar="scale.h5")
    sub = add("compare", plot_compare, "where two results first differ, in bits and norms")
    sub.add_argument("a", metavar="A.h5")
    sub.add_argument("b", metavar="B.h5")
    return parser


def command(words: list[str]) -> int:
    """`halosweep plot WORDS`."""
    args = _parser().parse_args(words)
    return args.does(args)


def main() -> None:
    """The entry point."""
    sys.exit(run("plot", command))


if __name__ == "__main__":
    main()
