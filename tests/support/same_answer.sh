# shellcheck shell=bash disable=SC2154,SC2034
# One answer whatever the backend and the ranks, sourced after needs_gpu.sh. Who sources it sets
#   command            of halosweep
#   ways               "RANKS BACKEND" each, the reference first
#   keys               of the report, a|b|c: what an answer is, besides the exit code
# and may set
#   must               the exit code that the reference has to end with; not set: any
#   history            a history's bytes belong to the answer
answer() {
  sed -n 's/^ *"\('"${keys//|/\\|}"'\)": *//p' r.json 2> /dev/null | tr -d '\n'
  [ -z "${history:-}" ] || cksum < h.csv
}

go() { # ranks, backend, words: leaves rc, out, err, r.json
  rm -f r.json h.csv
  mpirun -n "$1" "$HALOSWEEP" "$command" "${@:3}" --backend "$2" --threads 1 --report r.json ${history:+--history h.csv} \
    --progress off --quiet > out 2> err
  rc=$?
}

try() { # name, words
  local name=$1 first='' how found
  shift
  for how in "${ways[@]}"; do
    go "${how% *}" "${how#* }" "$@"
    found="$rc $(answer)"
    if [ -z "$first" ]; then
      first=$found
      [ "$rc" = "${must:-$rc}" ] || { echo "$name: $found"; cat err; bad=1; }
    elif [ "$found" != "$first" ]; then
      echo "$name: $how: $found, reference: $first"
      cat err
      bad=1
    fi
  done
  echo "$name: $first"
}
