#!/usr/bin/env python3
"""What a solve spends before it iterates: seconds `setup` and `read` of its report (read: making the
rows), on 1 and on all threads, medians and minima over rounds in which all runs take turns.

  bench/setup.py --build DIR [--before PROGRAM] [--rounds N] [--out FILE.json]

--before: another build of the program, measured in the same rounds. Before each run a process touches
1 GiB and ends: a virtual machine that has given its free pages to the host waits for them again,
seconds a GiB, and which run would meet that is chance."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

CASES = {"poisson3d 150^3": ["--problem", "poisson3d", "--n", "150"],
         "convdiff2d 1600^2": ["--problem", "convdiff2d", "--n", "1600"],
         "random-dominant 400000 x 16": ["--problem", "random-dominant", "--n", "400000", "--entries_per_row", "16"]}
LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
WARM = "b'\\1' * (1 << 30)"
PHASES = ["setup", "read", "compute", "total"]


def output_of(words):
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def run(program, case, threads, report):
    subprocess.run([sys.executable, "-c", WARM], check=True)
    words = [program, "solve", *CASES[case], "--method", "jacobi", "--iterations", "20", "--threads", str(threads),
             "--report", report, "--quiet"]
    subprocess.run(words, check=True, env={**os.environ, **LAUNCH}, stdout=subprocess.DEVNULL)
    with open(report, encoding="utf-8") as f:
        r = json.load(f)
    return r["seconds"], r["fingerprint"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out")
    args = parser.parse_args()
    programs = {"now": os.path.join(args.build, "src/app/halosweep")}
    if args.before:
        programs["before"] = args.before
    cores = len(os.sched_getaffinity(0))
    keys = [(case, name, threads) for case in CASES for name in sorted(programs) for threads in sorted({1, cores})]
    seen, marks, loads = {key: [] for key in keys}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            loads.append(os.getloadavg()[0])
            for case, name, threads in keys:
                seconds, mark = run(programs[name], case, threads, os.path.join(folder, "r.json"))
                seen[case, name, threads].append(seconds)
                if marks.setdefault(case, mark) != mark:
                    sys.exit(f"{case}: fingerprints {marks[case]} and {mark} ({name}, {threads} threads)")
    result = {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
              "commit": output_of(["git", "describe", "--always", "--dirty"]), "cores": cores,
              "rounds": args.rounds, "load": loads, "runs": []}
    for case, name, threads in keys:
        line = {"case": case, "program": name, "threads": threads}
        for phase in PHASES:
            values = [s[phase] for s in seen[case, name, threads]]
            line[phase] = {"median": statistics.median(values), "least": min(values)}
        result["runs"].append(line)
        print(f"{case:28s} {name:7s} {threads} threads: " + "  ".join(
            f"{p} {line[p]['median']:.3f} (least {line[p]['least']:.3f})" for p in PHASES))
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
