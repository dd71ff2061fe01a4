#!/usr/bin/env bash
# Runs the cases and compares the outcome with the baseline; see --help.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=scripts/env.sh
source "$root/scripts/env.sh"

usage() {
  cat <<'TEXT'
usage: ./test.sh [OPTIONS of `routing-action run`]
       ./test.sh bot try PAYLOAD    # what the reporting bot would do, without GitHub

Sets up a virtual environment (once) and runs the cases. If there is a provider-baseline.json beside
the cases, it then compares the results with that baseline. Works from any folder; paths are
relative to the checkout.

exit codes: 0 the gate passed, 1 it did not, 2 usage or settings, 3 nothing to run,
            4 the harness could not work, 70 a bug, 130 interrupted

TEXT
}

# Printed commands begin with what a person can start here.
routing_action() {
  ROUTING_ACTION_PROGRAM=${VENV_PYTHON%/*}/routing-action "$VENV_PYTHON" -P -m routing_action "$@"
}

# Judges the batch that was just run; the gate's conclusion is the exit code, or the run's own
# where its cases have no baseline.
compare_with_baseline() {
  local folder
  folder=$(cat -- "$scratch/batch")
  printf '\n'
  routing_action compare --results "$folder" --or-exit "$1"
}

asks_for_help() {
  local argument
  for argument; do
    case $argument in --help | -h) return 0 ;; esac
  done
  return 1
}

main() {
  local code=0
  if asks_for_help "$@"; then usage; fi
  prepare_environment runtime || exit
  cd -- "$root"
  if [[ ${1:-} == bot ]]; then
    routing_action "$@"
    return
  fi
  scratch=$(mktemp -d)
  trap 'rm -rf -- "$scratch"' EXIT
  routing_action run --batch-file "$scratch/batch" "$@" || code=$?
  # Only a batch that was run to its end, with whatever result, can be compared.
  if ((code <= 1)) && [[ -f $scratch/batch ]]; then
    compare_with_baseline "$code" && code=0 || code=$?
  fi
  return "$code"
}

main "$@"
