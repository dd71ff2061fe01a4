#!/usr/bin/env bash
# Runs the cases and compares the outcome with the baseline; see --help.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=scripts/env.sh
source "$root/scripts/env.sh"

usage() {
  cat <<'TEXT'
usage: ./test.sh [OPTIONS of `routing-action run`]

Sets up a virtual environment (once), runs the cases, and compares the outcome with the baseline
where the checkout has a provider-baseline.json. Works from any folder; paths are relative to the
checkout.

exit codes: 0 the gate passed, 1 it did not, 2 usage or settings, 3 nothing to run,
            4 the harness could not work, 70 a bug, 130 interrupted

TEXT
}

routing_action() { "$VENV_PYTHON" -P -m routing_action "$@"; }

has_baseline() {
  [[ -f provider-baseline.json ]] && routing_action compare --help >/dev/null 2>&1
}

# Judges the batch that was just run; the gate's conclusion is the exit code.
compare_with_baseline() {
  routing_action compare
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
  routing_action run "$@" || code=$?
  # Only a batch that was run to its end, with whatever result, can be compared.
  if ((code <= 1)) && ! asks_for_help "$@" && has_baseline; then
    code=0
    compare_with_baseline || code=$?
  fi
  return "$code"
}

main "$@"
