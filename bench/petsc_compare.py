#!/usr/bin/env python3
"""halosweep against PETSc on the same systems: time per iteration at a fixed iteration count.

Every round runs each contestant once, one after the other, so that a neighbour's load on a shared machine
hits both; a configuration's ratio is the median over rounds of (ours / theirs), with the ratio of the
minima beside it. Two threads of one halosweep rank are held against PETSc's two ranks. Raw times, the
commands and the machine go to a JSON file. Standard library only.

`amg`: CG to a relative residual of 1e-8, ours with preconditioner amg, theirs with PCGAMG as PETSc chooses it;
seconds of set-up and solve together. Ours are all but making the rows: looking at the matrix and storing it are
in them, theirs leave out the assembly. Iterations must be the same on all shapes, and near those of 32^3.

  bench/petsc_compare.py --build build [--rounds 7] [--out bench/results/petsc.json] [--only 2d|3d|amg]
"""
import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile

# problem, n, iterations of jacobi and of cg: about a second a run
PROBLEMS = {"2d": ("poisson2d", 708, {"jacobi": 300, "cg": 200}),
            "3d": ("poisson3d", 128, {"jacobi": 40, "cg": 30})}
TARGET = {"jacobi": 0.5, "cg": 0.5, "amg": 0.8}  # ours / theirs, at most
# ranks and threads of ours, ranks of theirs
SHAPES = [(1, 1, 1), (2, 1, 2), (1, 2, 2)]

LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
          "OPENBLAS_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}


def launch(ranks, command, threads):
    """Runs under mpirun and returns (stdout, the command as typed)."""
    words = ["mpirun", "-n", str(ranks), "--bind-to", "none", "--oversubscribe"] + command
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), **LAUNCH)
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout, " ".join(words)


def run_petsc(build, problem, n, method, iterations, ranks):
    text, words = launch(ranks, [f"{build}/bench/bench_petsc_compare", "-problem", problem, "-n", str(n),
                                 "-method", method, "-iterations", str(iterations)], 1)
    seconds, residual = map(float, text.split())
    return seconds, residual, words


def run_halosweep(build, problem, n, method, iterations, ranks, threads):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        _, words = launch(ranks, [f"{build}/src/app/halosweep", "solve", "--problem", problem, "--n", str(n),
                                  "--method", method, "--iterations", str(iterations), "--threads", str(threads),
                                  "--report", report, "--quiet"], threads)
        with open(report) as file:
            r = json.load(file)
    if r["iterations"] != iterations or r["ranks"] != ranks or r["threads"] != threads:
        sys.exit(f"{words}\nreports {r['iterations']} iterations, {r['ranks']} ranks, {r['threads']} threads")
    seconds = (r["seconds"]["compute"] + r["seconds"]["communicate"]) / iterations
    return seconds, r["relative_residual"], words.replace(report, "REPORT")


def amg_petsc(build, n, ranks):
    text, words = launch(ranks, [f"{build}/bench/bench_petsc_compare", "-problem", "poisson3d", "-n", str(n),
                                 "-method", "amg"], 1)
    setup, solve, iterations, residual = text.split()
    return float(setup), float(solve), int(iterations), float(residual), words


def amg_halosweep(build, n, ranks, threads):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        _, words = launch(ranks, [f"{build}/src/app/halosweep", "solve", "--problem", "poisson3d", "--n", str(n),
                                  "--method", "cg", "--preconditioner", "amg", "--threads", str(threads),
                                  "--report", report, "--quiet"], threads)
        with open(report) as file:
            r = json.load(file)
    seconds = r["seconds"]
    return (seconds["setup"], seconds["compute"] + seconds["communicate"], r["iterations"], r["relative_residual"],
            words.replace(report, "REPORT"))


def compare_amg(build, n, shape, rounds):
    ranks, threads, peers = shape
    ours = [amg_halosweep(build, n, ranks, threads)]
    theirs = [amg_petsc(build, n, peers)]
    for _ in range(rounds - 1):
        ours.append(amg_halosweep(build, n, ranks, threads))
        theirs.append(amg_petsc(build, n, peers))
    whole = [[setup + solve for setup, solve, *_ in runs] for runs in (ours, theirs)]
    ratio = statistics.median(a / b for a, b in zip(*whole))
    return {"problem": "poisson3d", "n": n, "method": "cg + amg", "ranks": ranks, "threads": threads,
            "petsc_ranks": peers, "iterations": ours[0][2], "petsc_iterations": theirs[0][2],
            "relative_residual": ours[0][3], "petsc_relative_residual": theirs[0][3],
            "setup_seconds": [r[0] for r in ours], "solve_seconds": [r[1] for r in ours],
            "petsc_setup_seconds": [r[0] for r in theirs], "petsc_solve_seconds": [r[1] for r in theirs],
            "median_ratio": ratio, "ratio_of_minima": min(whole[0]) / min(whole[1]), "target": TARGET["amg"],
            "met": ratio <= TARGET["amg"], "command": ours[0][4], "petsc_command": theirs[0][4]}


def all_amg(build, rounds, runs):
    print("CG + amg, seconds of set-up + solve: median      halosweep            PETSc    ratio: median  minima  target")
    small = amg_halosweep(build, 32, 1, 1)[2]
    for shape in SHAPES + [(3, 1, 3)]:
        r = compare_amg(build, 128, shape, rounds)
        r["iterations_32"] = small
        runs.append(r)
        cells = ["%.2f + %.2f (%d it)" % (statistics.median(r[p + "setup_seconds"]),
                                          statistics.median(r[p + "solve_seconds"]), r[p + "iterations"])
                 for p in ("", "petsc_")]
        print(f"poisson3d 128 (32: {small} it) {shape[0]} ranks x {shape[1]} threads  {cells[0]:>20} {cells[1]:>20}"
              f"{r['median_ratio']:12.3f} {r['ratio_of_minima']:7.3f} {r['target']:7.2f} "
              f"{'met' if r['met'] else 'not met'}", flush=True)


def machine():
    def said(*words):
        try:
            return subprocess.run(words, capture_output=True, text=True).stdout.strip()
        except OSError:
            return ""

    with open("/proc/cpuinfo") as file:
        model = re.search(r"model name\s*:\s*(.*)", file.read())
    return {"cpu": model.group(1) if model else platform.machine(), "cores": os.cpu_count(),
            "system": said("sh", "-c", ". /etc/os-release; echo $PRETTY_NAME"), "kernel": platform.release(),
            "compiler": said("cc", "--version").split("\n")[0], "mpi": said("mpirun", "--version").split("\n")[0],
            "petsc": said("pkg-config", "--modversion", "PETSc"), "load_before": os.getloadavg()[0]}


def compare(build, key, method, shape, rounds):
    problem, n, counts = PROBLEMS[key]
    ranks, threads, peers = shape
    iterations = counts[method]
    ours, theirs = [], []
    for _ in range(rounds):
        t, residual, command = run_halosweep(build, problem, n, method, iterations, ranks, threads)
        p, peer_residual, peer_command = run_petsc(build, problem, n, method, iterations, peers)
        if abs(residual - peer_residual) > 1e-6 * abs(peer_residual):
            sys.exit(f"not the same work: residual {residual} against {peer_residual}\n{command}\n{peer_command}")
        ours.append(t)
        theirs.append(p)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    return {"problem": problem, "n": n, "method": method, "iterations": iterations, "ranks": ranks,
            "threads": threads, "petsc_ranks": peers, "relative_residual": residual,
            "petsc_relative_residual": peer_residual, "seconds_per_iteration": ours,
            "petsc_seconds_per_iteration": theirs, "ratio_of_medians": statistics.median(ours) / statistics.median(theirs),
            "median_ratio": ratio, "ratio_of_minima": min(ours) / min(theirs), "target": TARGET[method],
            "met": ratio <= TARGET[method], "command": command, "petsc_command": peer_command}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=sorted(PROBLEMS) + ["amg"])
    parser.add_argument("--out", default="bench/results/petsc.json")
    a = parser.parse_args()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    result = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit,
              "command": " ".join(sys.argv), "machine": machine(), "rounds": a.rounds, "runs": []}
    print("ms per iteration: median (min)              halosweep          PETSc    ratio: median  minima  target")
    for key in [] if a.only == "amg" else [a.only] if a.only else sorted(PROBLEMS):
        for method in ("jacobi", "cg"):
            for shape in SHAPES:
                r = compare(a.build, key, method, shape, a.rounds)
                result["runs"].append(r)
                ours, theirs = r["seconds_per_iteration"], r["petsc_seconds_per_iteration"]
                print(f"{r['problem']} {r['n']} {method:6} {shape[0]} ranks x {shape[1]} threads "
                      f"{1e3 * statistics.median(ours):8.3f} ({1e3 * min(ours):.3f}) "
                      f"{1e3 * statistics.median(theirs):8.3f} ({1e3 * min(theirs):.3f})"
                      f"{r['median_ratio']:14.3f} {r['ratio_of_minima']:7.3f} {r['target']:7.2f} "
                      f"{'met' if r['met'] else 'not met'}", flush=True)
    if a.only in (None, "amg"):
        all_amg(a.build, a.rounds, result["runs"])
    os.makedirs(os.path.dirname(a.out) or ".", exist_ok=True)
    with open(a.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print(f"written: {a.out}")


if __name__ == "__main__":
    main()
