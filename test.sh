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

main() {
  local code=0
  case ${1:-} in --help | -h) usage ;; esac
  prepare_environment runtime || exit
  cd -- "$root"
  routing_action run "$@" || code=$?
  # Only a batch that was run to its end, with whatever result, can be compared.
  case ${1:-} in --help | -h) return "$code" ;; esac
  if ((code <= 1)) && has_baseline; then
    code=0
    compare_with_baseline || code=$?
  fi
  return "$code"
}

main "$@"
