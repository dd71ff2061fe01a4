#!/usr/bin/env bash
# One step of the composite action (action.yml): makes the environment ready and becomes Python.
#
#   scripts/action-step.sh STAGE    # prepare, fetch, answer, main, handover, publish or conclude
#
# Nothing of this is written into the workspace, and nothing in there is run or obeyed: Python
# starts isolated (-I), the environment lies below RUNNER_TEMP, and an installer's settings come
# from the runner alone. The last command is an exec: GitHub sends the signals of a cancelled job
# to the process that it started, and to no child of it.
set -euo pipefail

# The interpreter and the uv to use, as the inputs `python` and `uv` name them.
PYTHON=${ROUTING_INPUT_PYTHON:-}
ROUTING_ACTION_UV=${ROUTING_INPUT_UV:-}

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/env.sh
source "$root/scripts/env.sh"

# GitHub reads the command from a line of its own; a line end in the text would begin another one.
annotate() { printf '::error title=routing-action::%s\n' "${1//[$'\r\n']/ }"; }

give_up() {
  annotate "$1; $2"
  fail_setup "$1" "$2"
}

# One environment for each checkout of the action and lock, so that every further step and use in
# the job finds it ready.
name_environment() {
  local key
  key=$({ printf '%s\n' "$root" && cat -- "$root/requirements.lock"; } | cksum)
  printf '%s/routing-action/env-%s' "$RUNNER_TEMP" "${key// /-}"
}

main() {
  if [[ ${RUNNER_OS:-} == Windows ]]; then
    give_up 'routing-action runs on Linux and macOS runners' 'name one of them in runs-on'
    return
  fi
  if [[ -z ${RUNNER_TEMP:-} ]]; then
    give_up 'RUNNER_TEMP is not set' 'run this as a step of a GitHub Actions job'
    return
  fi
  ROUTING_ACTION_VENV=$(name_environment)
  if ! find_python >/dev/null; then
    annotate "no Python of at least 3.11 was found; put one on PATH with actions/setup-python \
before this step, or name one with the input 'python'"
    return 4
  fi
  if ! prepare_environment runtime; then
    annotate 'the Python packages of routing-action could not be installed; see the log of this step'
    return 4
  fi
  unset ROUTING_INPUT_PYTHON ROUTING_INPUT_UV PYTHON ROUTING_ACTION_VENV ROUTING_ACTION_UV
  exec "$VENV_PYTHON" -I -X "pycache_prefix=$RUNNER_TEMP/routing-action/pycache" \
    -m routing_action action "$@"
}

main "$@"
