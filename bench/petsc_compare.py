#!/usr/bin/env python3
"""halosweep against PETSc on the same systems: time per iteration at a fixed iteration count.

Every round runs each contestant once, one after the other, so that a neighbour's load on a shared machine
hits both; a configuration's ratio is the median over rounds of (ours / theirs), with the ratio of the
minima beside it. Two threads of one halosweep rank are held against PETSc's two ranks. Raw times, the
commands and the machine go to a JSON file. Standard library only.

  bench/petsc_compare.py --build build [--rounds 7] [--out bench/results/petsc.json] [--only 2d|3d]
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
TARGET = {"jacobi": 0.5, "cg": 0.5}  # ours / theirs, at most
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
    parser.add_argument("--only", choices=sorted(PROBLEMS))
    parser.add_argument("--out", default="bench/results/petsc.json")
    a = parser.parse_args()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    result = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit,
              "command": " ".join(sys.argv), "machine": machine(), "rounds": a.rounds, "runs": []}
    print("ms per iteration: median (min)              halosweep          PETSc    ratio: median  minima  target")
    for key in [a.only] if a.only else sorted(PROBLEMS):
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
    os.makedirs(os.path.dirname(a.out) or ".", exist_ok=True)
    with open(a.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print(f"written: {a.out}")


if __name__ == "__main__":
    main()
