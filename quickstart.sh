#!/usr/bin/env bash
# From a fresh clone to a first answer: installs what is missing (Debian, Ubuntu), configures, builds and
# solves a system on 2 ranks; with `test`, runs all tests too. See --help.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: ./quickstart.sh [test] [--yes] [--no-install] [--build DIR] [--help]

  (no word)      install what is missing, build, and solve a first system on 2 ranks
  test           the same, then run all tests

  --yes          install without asking (also when there is no terminal to ask on)
  --no-install   install nothing: build with the compiler, MPI and parallel HDF5 that are loaded
                 (clusters: load the modules first, e.g. gcc, openmpi, hdf5-parallel, cmake)
  --build DIR    build folder (default: build)

Exit: 0 when everything worked; otherwise the last line says which step failed.
Settings for Open MPI (run as root, more ranks than cores, yield when idle) are made for the
launches of this script alone. CC, CFLAGS, JOBS (parallel compile jobs) are respected.
TEXT
}

# Debian's and Ubuntu's names; docs/dependencies.md says what each is for.
BUILD_PACKAGES=(build-essential cmake ninja-build pkg-config libopenmpi-dev openmpi-bin
  libhdf5-openmpi-dev zlib1g-dev libjansson-dev)
TEST_PACKAGES=(libcmocka-dev libmpfr-dev)
OPTIONAL_PACKAGES=(libmumps-dev) # method = direct
CMAKE_NEEDED=3.25

tests=no yes=no install=yes build=build
step="reading the command line"

say() { printf '%s\n' "$*"; }
title() { printf '\n== %s\n' "$*"; step=$*; }
die() {
  printf 'quickstart: %s\n' "$*" >&2
  trap - EXIT
  exit 1
}
on_exit() {
  local code=$?
  if ((code != 0)); then printf '\nquickstart: failed (exit %d) at: %s\n' "$code" "$step" >&2; fi
}
trap on_exit EXIT

read_arguments() {
  while (($# > 0)); do
    case $1 in
      test) tests=yes ;;
      --yes | -y) yes=yes ;;
      --no-install) install=no ;;
      --build)
        [[ $# -ge 2 ]] || die "--build needs a folder"
        build=$2
        shift
        ;;
      --build=*) build=${1#--build=} ;;
      --help | -h)
        usage
        exit 0
        ;;
      *)
        usage >&2
        die "unknown word '$1'"
        ;;
    esac
    shift
  done
}

# Sets `missing` to the packages that are not installed.
find_missing() {
  local package state
  missing=()
  for package in "$@"; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [[ $state == installed ]] || missing+=("$package")
  done
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "packages are missing, and this is neither root nor is there sudo: ask an administrator for
  apt-get install ${missing[*]}
or load modules and run ./quickstart.sh --no-install"
  fi
}

ask() {
  local answer
  if [[ $yes == yes ]]; then return; fi
  if [[ ! -t 0 ]]; then
    say "(no terminal to ask on: installing them, as with --yes)"
    return
  fi
  read -r -p "Install them with apt-get? [Y/n] " answer || answer=n
  case $answer in
    "" | y | Y | yes) ;;
    *) die "nothing installed. Use --no-install to build with what is there." ;;
  esac
}

# Nothing needs them; they are named, and found at the next configure.
name_optional() {
  find_missing "${OPTIONAL_PACKAGES[@]}"
  if ((${#missing[@]} > 0)); then say "optional, not installed: ${missing[*]} (method = direct)"; fi
}

install_packages() {
  title "packages"
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this is not a Debian or Ubuntu machine. Provide a C11 compiler, CMake >= $CMAKE_NEEDED, MPI,
parallel HDF5, zlib and jansson (for tests cmocka and MPFR), then run ./quickstart.sh --no-install"
  fi
  local wanted=("${BUILD_PACKAGES[@]}")
  if [[ $tests == yes ]]; then wanted+=("${TEST_PACKAGES[@]}"); fi
  find_missing "${wanted[@]}"
  if ((${#missing[@]} == 0)); then
    say "all ${#wanted[@]} are installed"
    return
  fi
  say "missing: ${missing[*]}"
  ask
  as_root apt-get -q update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}"
}

check_tools() {
  title "tools"
  local tool version oldest
  for tool in cmake mpicc mpirun pkg-config; do
    command -v "$tool" >/dev/null || die "$tool is not on PATH: load its module, or run without --no-install"
  done
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  oldest=$(printf '%s\n' "$CMAKE_NEEDED" "$version" | sort -V | head -n 1)
  [[ $oldest == "$CMAKE_NEEDED" ]] || die "CMake $version is too old, $CMAKE_NEEDED is needed:
'pip install cmake' or 'snap install cmake --classic' brings a newer one"
  say "cmake $version; $("${CC:-cc}" --version | head -n 1); $(mpirun --version 2>&1 | head -n 1)"
}

# What Open MPI needs here, for the launches below alone: root is allowed (containers), more
# ranks than cores are allowed, ranks are not bound to one core each, an idle rank yields its core, and
# memory is shared without the ptrace call that containers forbid. PRTE_* are Open MPI 5's names.
launch() {
  env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none \
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none \
    OMP_WAIT_POLICY=passive "$@"
}

compile() {
  title "configure"
  local generator=() switch=OFF
  if command -v ninja >/dev/null && [[ ! -f $build/CMakeCache.txt ]]; then generator=(-G Ninja); fi
  if [[ $tests == yes ]]; then switch=ON; fi
  cmake --preset release -B "$build" "${generator[@]}" -DHALOSWEEP_TESTS=$switch
  title "build"
  cmake --build "$build" --parallel "${JOBS:-$(nproc)}"
}

# The main job: its log (the residual's way down) goes to the terminal, the report and the history to
# files that are shown.
first_solve() {
  title "a first solve, on 2 ranks"
  local history=$build/first-solve.csv report=$build/first-solve.json
  rm -f "$history" "$report"
  local command=(mpirun -n 2 "$build/src/app/halosweep" solve configs/solve-poisson2d.ini
    --history "$history" --report "$report")
  say "\$ ${command[*]}"
  if ((EUID == 0)); then
    say "(by hand as root, Open MPI wants OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in the environment)"
  fi
  launch "${command[@]}"
  say
  say "The residual's way down ($history):"
  awk 'NR <= 4 { print "  " $0 } { last = $0; n = NR } END { if (n > 5) print "  ..."; if (n > 4) print "  " last }' "$history"
  say
  say "The report ($report):"
  awk '/^ *"(reason|method|rows|entries|iterations|relative_residual|error_max|fingerprint|ranks|threads)":/' "$report"
}

run_tests() {
  title "tests"
  ctest --test-dir "$build" --output-on-failure --no-tests=error --schedule-random --parallel "$(nproc)"
}

main() {
  read_arguments "$@"
  cd "$(dirname "${BASH_SOURCE[0]}")"
  if [[ $install == yes ]]; then
    install_packages
    name_optional
  fi
  check_tools
  compile
  first_solve
  if [[ $tests == yes ]]; then run_tests; fi
  title "done"
  say "halosweep is at $build/src/app/halosweep; 'cmake --install $build --prefix DIR' installs it."
  say "Next: the README's \"Your own matrix\"."
}

main "$@"
