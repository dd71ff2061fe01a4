#!/usr/bin/env bash
# Writes the lock files from pyproject.toml, or tells whether they are stale; see --help.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/env.sh
source "$root/scripts/env.sh"

usage() {
  cat <<'TEXT'
usage: scripts/lock.sh [--upgrade | --check]

Writes requirements.lock (runtime), requirements-dev.lock (runtime and dev) and
requirements-uv.lock (the installer) from pyproject.toml. They hold versions and hashes only.

  --upgrade  move every pin to the newest release; without it, pins that still fit are kept
  --check    change nothing; exit 1 where a lock does not belong to pyproject.toml as it is
TEXT
}

# Prints the hash of what pyproject.toml says about the packages of lock $1. It stands on the first
# line of each lock. --check compares these hashes, instead of resolving anew: the gate then needs
# no registry, and a release that appeared since cannot turn it red.
fingerprint() {
  "$interpreter" -I - "$1" "$root/pyproject.toml" <<'PYTHON'
import hashlib, json, pathlib, re, sys, tomllib

lock, path = sys.argv[1:]
table = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
dev = sorted(table["dependency-groups"]["dev"])
project = table["project"]
runtime = [project["requires-python"], sorted(project["dependencies"])]
inputs = {
    "requirements.lock": runtime,
    "requirements-dev.lock": [*runtime, dev],
    "requirements-uv.lock": [line for line in dev if re.match(r"[\w.-]+", line)[0] == "uv"],
}
print(hashlib.sha256(json.dumps(inputs[lock]).encode()).hexdigest())
PYTHON
}

# Prints the line that lock $1 must begin with.
first_line() {
  local hash
  hash=$(fingerprint "$1") || return
  printf '# made by scripts/lock.sh from the dependencies in pyproject.toml, sha256 %s\n' "$hash"
}

check() {
  local lock pin stale=0
  for lock in requirements.lock requirements-dev.lock requirements-uv.lock; do
    if [[ $(head -n 1 "$root/$lock" 2>/dev/null) != "$(first_line "$lock")" ]]; then
      printf '%s is stale: pyproject.toml asks for other packages; run scripts/lock.sh\n' "$lock" >&2
      stale=1
    fi
  done
  pin=$(grep '^uv==' "$root/requirements-uv.lock") || pin='no uv'
  if ! grep -qxF -- "$pin" "$root/requirements-dev.lock"; then
    printf 'requirements-uv.lock pins another uv than requirements-dev.lock; run scripts/lock.sh\n' >&2
    stale=1
  fi
  return "$stale"
}

# Compiles lock $1 with the remaining arguments; what it holds already is preferred over newer.
compile() {
  local lock=$1
  shift
  # An existing output file is read for its pins.
  if [[ $upgrade == no && -f $root/$lock ]]; then cp -- "$root/$lock" "$scratch/$lock"; fi
  "$uv" pip compile "$@" --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate \
    --output-file "$scratch/$lock"
  { first_line "$lock" && grep -v '^#' "$scratch/$lock"; } >"$scratch/$lock.new"
  mv -f -- "$scratch/$lock.new" "$root/$lock"
}

find_any_uv() {
  if command -v uv; then return; fi
  prepare_environment dev
  printf '%s/uv\n' "$(dirname -- "$VENV_PYTHON")"
}

write() {
  uv=$(find_any_uv)
  scratch=$(mktemp -d)
  trap 'rm -rf -- "$scratch"' EXIT
  clear_installer_variables
  cd -- "$root"
  compile requirements.lock pyproject.toml
  compile requirements-dev.lock pyproject.toml --group dev --constraint requirements.lock
  printf 'uv\n' >"$scratch/uv.in"
  compile requirements-uv.lock "$scratch/uv.in" --constraint requirements-dev.lock
}

upgrade=no
case ${1:-} in
  --help | -h) usage && exit ;;
  --check) action='check' ;;
  --upgrade) upgrade=yes action='write' ;;
  '') action='write' ;;
  *) usage >&2 && exit 2 ;;
esac
interpreter=$(find_python)
"$action"
