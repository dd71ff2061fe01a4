# shellcheck shell=bash
# Makes the virtual environment that the project's scripts run in; to be sourced, not executed.
#
#   source scripts/env.sh
#   prepare_environment runtime   # or: dev
#   "$VENV_PYTHON" -m routing_action --version
#
# Asks of the machine no more than bash and a Python of at least 3.11. Read from the environment:
#   PYTHON               the interpreter to build upon (default: the first suitable one on PATH)
#   ROUTING_ACTION_VENV  the folder of the environment (default: .venv in the checkout)
#   ROUTING_ACTION_UV    the uv to install with (default: the one on PATH, else one is fetched)
# Everything that is said goes to stderr.

ROUTING_ACTION_ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

# What the caller's shell has set for its own Python must not reach ours; without compiled
# bytecode each start would compile all that it imports.
unset PYTHONHOME PYTHONPATH PYTHONSTARTUP PYTHONINSPECT PYTHONOPTIMIZE PYTHONWARNINGS \
  PYTHONPLATLIBDIR PYTHONUSERBASE PYTHONPYCACHEPREFIX PYTHONCASEOK PYTHONDEVMODE \
  PYTHONPROFILEIMPORTTIME PYTHONVERBOSE PYTHONDONTWRITEBYTECODE VIRTUAL_ENV CONDA_PREFIX __PYVENV_LAUNCHER__

# Names an interpreter: kind and version of Python, and the file behind all links.
IDENTITY='import os, sys; print(sys.implementation.cache_tag, os.path.realpath(sys.executable))'

say() { printf '[routing-action] %s\n' "$*" >&2; }

fail_setup() {
  say "error: $1"
  say "remedy: $2"
  return 4
}

# Prints the path of a Python >= 3.11; pyenv and similar put links on PATH that need not work.
find_python() {
  local probe='import sys; sys.exit(1) if sys.version_info < (3, 11) else print(sys.executable)'
  local candidate
  if [[ -n ${PYTHON:-} ]]; then
    "$PYTHON" -I -c "$probe" 2>/dev/null && return
    fail_setup "PYTHON=$PYTHON is not a Python of at least 3.11" \
      'point PYTHON at one, or unset it to have PATH searched'
    return
  fi
  for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
    "$candidate" -I -c "$probe" 2>/dev/null && return
  done
  fail_setup 'no Python of at least 3.11 was found on PATH' \
    'install one, or set PYTHON to the path of an interpreter'
}

# Prints the identity of the interpreter $1; nothing where it does not start.
identify() { "$1" -I -S -c "$IDENTITY" 2>/dev/null; }

lock_of() {
  case $1 in
    runtime) printf '%s/requirements.lock' "$ROUTING_ACTION_ROOT" ;;
    dev) printf '%s/requirements-dev.lock' "$ROUTING_ACTION_ROOT" ;;
  esac
}

stamp_of() { printf '%s/routing-action/%s.stamp' "$2" "$1"; }

# The stamp of kind $1 holds all that an environment at $2 upon the interpreter $3 is made from, so
# that comparing it tells whether anything changed, without a hash program. pyproject.toml is no
# part of it: what it asks for reaches an environment by way of the locks (see scripts/lock.sh).
expected_stamp() {
  printf '%s\n%s\n%s\n' "$3" "$2" "$ROUTING_ACTION_ROOT"
  cat -- "$(lock_of "$1")"
}

has_stamp() {
  local stamp
  stamp=$(stamp_of "$1" "$2")
  [[ -f $stamp ]] && expected_stamp "$@" | cmp -s -- - "$stamp"
}

# Whether the environment in $2 serves kind $1; the dev packages include the runtime's.
is_ready() {
  local kind=$1 venv=$2 identity
  [[ -d $venv/routing-action ]] && identity=$(identify "$venv/bin/python") || return
  [[ -z ${PYTHON:-} || $(identify "$PYTHON") == "$identity" ]] || return
  has_stamp "$kind" "$venv" "$identity" ||
    { [[ $kind == runtime ]] && has_stamp dev "$venv" "$identity"; }
}

# Whether the environment in $2 was completely made, upon the interpreter $1, for this checkout.
is_made_for_us() {
  local identity
  identity=$(identify "$2/bin/python") && [[ $identity == "$(identify "$1")" ]] &&
    printf '%s\n%s\n' "$2" "$ROUTING_ACTION_ROOT" | cmp -s -- - "$2/routing-action/origin"
}

# Makes an empty environment in $2 upon the interpreter $1, unless a usable one of ours is there.
create_venv() {
  local python=$1 venv=$2 site
  if [[ -d $venv/routing-action ]]; then
    is_made_for_us "$python" "$venv" && return
    rm -rf -- "$venv"
  elif [[ -e $venv && -n $(ls -A -- "$venv") ]]; then
    fail_setup "$venv exists and was not made by this script" \
      'remove it, or set ROUTING_ACTION_VENV to another folder'
    return
  fi
  # Without pip: much faster, and possible where the system's Python lacks ensurepip.
  mkdir -p -- "$venv/routing-action" && "$python" -I -m venv --without-pip -- "$venv" || return
  site=$("$venv/bin/python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return
  # The package is used from its source; a .pth file also works for processes that tests start
  # with an emptied environment, and whatever characters the path has.
  printf '%s/src\n' "$ROUTING_ACTION_ROOT" >"$site/routing-action-source.pth"
  printf '%s\n%s\n' "$venv" "$ROUTING_ACTION_ROOT" >"$venv/routing-action/origin"
}

# Drops what would change where or what an installer installs, and keeps how it reaches its
# registry: index, credentials, proxy, certificates, time-outs, cache and configuration file.
clear_installer_variables() {
  local name
  for name in ${!PIP_@}; do
    case $name in
      PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_FIND_LINKS | PIP_NO_INDEX | PIP_TRUSTED_HOST) ;;
      PIP_CERT | PIP_CLIENT_CERT | PIP_PROXY | PIP_KEYRING_PROVIDER | PIP_CONFIG_FILE) ;;
      PIP_DEFAULT_TIMEOUT | PIP_TIMEOUT | PIP_RETRIES | PIP_CACHE_DIR | PIP_NO_CACHE_DIR) ;;
      *) unset "$name" ;;
    esac
  done
  for name in ${!UV_@}; do
    case $name in
      UV_INDEX | UV_INDEX_* | UV_DEFAULT_INDEX | UV_EXTRA_INDEX_URL | UV_FIND_LINKS) ;;
      UV_NO_INDEX | UV_OFFLINE | UV_INSECURE_HOST | UV_NATIVE_TLS | UV_SYSTEM_CERTS) ;;
      UV_KEYRING_PROVIDER | UV_CONFIG_FILE | UV_NO_CONFIG | UV_HTTP_* | UV_REQUEST_TIMEOUT) ;;
      UV_CACHE_DIR | UV_NO_CACHE | UV_LINK_MODE | UV_CONCURRENT_*) ;;
      *) unset "$name" ;;
    esac
  done
}

# Runs pip for the environment in $1: the base interpreter's, else one put into the environment.
run_pip() {
  local python=$1 venv=$2
  shift 2
  if "$python" -I -m pip --version >/dev/null 2>&1; then
    "$python" -I -m pip --python "$venv/bin/python" --disable-pip-version-check --no-input "$@"
  else
    "$venv/bin/python" -I -m pip --version >/dev/null 2>&1 ||
      "$venv/bin/python" -I -m ensurepip >/dev/null || return
    "$venv/bin/python" -I -m pip --disable-pip-version-check --no-input "$@"
  fi
}

# Prints the path of a uv that works: the machine's, or one that is fetched into the environment.
find_uv() {
  local python=$1 venv=$2 private=$2/routing-action/uv candidate
  for candidate in "${ROUTING_ACTION_UV:-uv}" "$venv/bin/uv" "$private/bin/uv"; do
    "$candidate" --version >/dev/null 2>&1 && command -v "$candidate" && return
  done
  run_pip "$python" "$venv" install --quiet --no-deps --only-binary :all: --require-hashes \
    --upgrade --target "$private" -r "$ROUTING_ACTION_ROOT/requirements-uv.lock" >&2 || return
  "$private/bin/uv" --version >/dev/null 2>&1 && printf '%s\n' "$private/bin/uv"
}

# Installs the packages of kind $1: by uv (seconds), else by pip (slower, but it alone knows a
# registry that is set in pip's configuration). Both verify every hash.
install_packages() {
  local kind=$1 python=$2 venv=$3 lock uv
  lock=$(lock_of "$kind")
  if uv=$(find_uv "$python" "$venv") && run_uv "$kind" "$uv" "$venv" "$lock"; then
    return
  fi
  run_pip "$python" "$venv" install --quiet --require-hashes -r "$lock"
}

# Holds the dev environment free of leftovers; a runtime install must not take its tools away.
run_uv() {
  local kind=$1 uv=$2 venv=$3 lock=$4 options
  options=(--quiet --python "$venv/bin/python" --require-hashes)
  export UV_PYTHON_DOWNLOADS=never
  case $kind in
    runtime) "$uv" pip install "${options[@]}" -r "$lock" ;;
    dev) "$uv" pip sync "${options[@]}" "$lock" ;;
  esac
}

# Holds the lock of the environment for as long as file descriptor 9 is open in this shell; the
# kernel lets go of it however the shell ends. (Not every system has a flock command.)
wait_for_lock() {
  "$1" -I -c '
import fcntl, sys
try:
    fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    print("[routing-action] waiting for another set-up of this environment", file=sys.stderr)
    fcntl.flock(9, fcntl.LOCK_EX)
'
}

set_up() (
  kind=$1 venv=$2
  python=$(find_python) || exit
  mkdir -p -- "$(dirname -- "$venv")" || exit
  exec 9>"$venv.lock" || exit
  wait_for_lock "$python" || exit
  is_ready "$kind" "$venv" && exit
  say "setting up the $kind environment in $venv"
  # Neither installer may take its settings from the caller's folder.
  cd -- "$ROUTING_ACTION_ROOT" || exit
  clear_installer_variables
  rm -f -- "$(stamp_of runtime "$venv")" "$(stamp_of dev "$venv")"
  create_venv "$python" "$venv" || exit
  log=$venv/routing-action/install.log
  if ! install_packages "$kind" "$python" "$venv" >"$log" 2>&1 9>&-; then
    cat -- "$log" >&2
    fail_setup "the packages of $(lock_of "$kind") could not be installed" \
      'see the messages above; the machine must reach a Python package registry'
    exit
  fi
  stamp=$(stamp_of "$kind" "$venv")
  expected_stamp "$kind" "$venv" "$(identify "$venv/bin/python")" >"$stamp.new" &&
    mv -f -- "$stamp.new" "$stamp"
)

# Makes the environment of kind $1 (runtime or dev) ready and sets VENV_PYTHON to its interpreter.
# Returns at once where nothing changed; returns 4 where it cannot be made.
prepare_environment() {
  local venv=${ROUTING_ACTION_VENV:-$ROUTING_ACTION_ROOT/.venv}
  [[ $venv == /* ]] || venv=$PWD/$venv
  is_ready "$1" "$venv" || set_up "$1" "$venv" || return 4
  # shellcheck disable=SC2034 # for whoever sources this
  VENV_PYTHON=$venv/bin/python
}
