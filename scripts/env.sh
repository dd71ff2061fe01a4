# shellcheck shell=bash disable=SC2034
# To be sourced: `prepare_environment runtime` (or release, dev) then makes the scripts' virtual environment
# with a program bin/routing-action, and sets VENV_PYTHON, or returns 4. It reads PYTHON (an
# interpreter; default: found on PATH), ROUTING_ACTION_VENV (the folder; .venv) and ROUTING_ACTION_UV (a uv; found on PATH, or fetched).
ROUTING_ACTION_ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
unset VIRTUAL_ENV CONDA_PREFIX __PYVENV_LAUNCHER__
for name in ${!PYTHON@}; do [[ $name == PYTHON ]] || unset "$name"; done
fail_setup() { printf '[routing-action] %s\n' "error: $1" "remedy: $2" >&2 && return 4; }

find_python() { # prints its path; a link on PATH need not work (pyenv)
  local probe='import sys; sys.exit(1) if sys.version_info < (3, 11) else print(sys.executable)'
  local name names=(python3 python3.14 python3.13 python3.12 python3.11 python)
  if [[ -n ${PYTHON:-} ]]; then names=("$PYTHON"); fi
  for name in "${names[@]}"; do "$name" -I -c "$probe" 2>/dev/null && return; done
  fail_setup "no Python of at least 3.11 was found${PYTHON:+: PYTHON is $PYTHON}" \
    'install one, or set PYTHON to the path of one'
}

lock_of() { if [[ $1 == runtime ]]; then echo requirements.lock; else echo "requirements-$1.lock"; fi; }
entry_point() { # prints a script that starts the environment in folder $1 as a person would
  printf '#!/usr/bin/env bash\nROUTING_ACTION_PROGRAM=%q exec %q -P -m routing_action "$@"\n' \
    "$1/bin/routing-action" "$1/bin/python"
}
describe() { # prints all that the environment of kind $1 in folder $2 is made from
  "${PYTHON:-$2/bin/python}" -I -S -c 'import sys; print(sys.version_info[:2], sys.base_prefix)' &&
    printf '%s\n' "$ROUTING_ACTION_ROOT" && entry_point "$2" && cat -- "$ROUTING_ACTION_ROOT/$(lock_of "$1")"
}
is_made() { describe "$@" 2>/dev/null | cmp -s -- - "$2/routing-action/$1.stamp"; }
serves() { is_made dev "$2" || is_made "$1" "$2"; }

install_packages() ( # by uv, in seconds; pip knows a registry that only its own settings name
  kept='INDEX|LINKS|HOST|CERT|PROXY|KEYRING|CONFIG|CACHE|TIMEOUT|TLS|HTTP|OFFLINE'
  for name in ${!PIP_@} ${!UV_@}; do [[ $name =~ $kept ]] || unset "$name"; done
  uv=${ROUTING_ACTION_UV:-uv} own=$2/routing-action/uv to=$2/bin/python pip=("$3" -I -m pip)
  "${pip[@]}" --version || { "$to" -I -m ensurepip && pip=("$to" -I -m pip); }
  pip+=(--python "$to" install --quiet --require-hashes -r)
  "$uv" --version ||
    { "${pip[@]}" requirements-uv.lock --only-binary :all: --target "$own" && uv=$own/bin/uv; }
  "$uv" pip install --quiet --python "$to" --require-hashes -r "$(lock_of "$1")" ||
    "${pip[@]}" "$(lock_of "$1")"
)
set_up() ( # one at a time; the runtime's is added to, since a command may be running in it
  cd -- "$ROUTING_ACTION_ROOT" && python=$(find_python) || exit
  mkdir -p -- "${2%/*}" && exec 9>"$2.lock" && "$python" -I -c 'import fcntl; fcntl.flock(9, 2)'
  if serves "$@"; then exit; fi
  printf '[routing-action] setting up the %s environment in %s\n' "$@" >&2
  if [[ ! -d $2/routing-action && -n $(ls -A -- "$2" 2>/dev/null) ]]; then
    fail_setup "$2 exists and was not made by this script" 'remove it, or set ROUTING_ACTION_VENV'
    exit
  fi
  is_made runtime "$2" || rm -rf -- "$2"
  output=$({ mkdir -p "$2/routing-action" && "$python" -I -m venv --without-pip "$2" &&
    install_packages "$@" "$python" && entry_point "$2" >"$2/bin/routing-action" &&
    "$python" -I -c 'import os, sys; os.chmod(sys.argv[1], 0o755)' "$2/bin/routing-action" &&
    cd "$2"/lib/python3*/site-packages &&
    echo "$ROUTING_ACTION_ROOT/src" >source.pth &&
    describe "$@" >"$2/routing-action/$1.stamp"; } 2>&1) ||
    fail_setup "it could not be made: $output" 'its folder must be writable, a registry reachable'
)
prepare_environment() {
  local venv=${ROUTING_ACTION_VENV:-$ROUTING_ACTION_ROOT/.venv}
  [[ $venv == /* ]] || venv=$PWD/$venv
  VENV_PYTHON=$venv/bin/python
  serves "$1" "$venv" || set_up "$1" "$venv" || return 4
}
