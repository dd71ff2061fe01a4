#!/usr/bin/env bash
# Writes the lock files from pyproject.toml, or says whether they are stale; see --help.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/env.sh
source "$root/scripts/env.sh"

usage() {
  cat <<'TEXT'
usage: scripts/lock.sh [--upgrade | --check]

Writes requirements.lock (runtime), requirements-bot.lock (runtime and the bot's server),
requirements-release.lock (what builds a release), requirements-dev.lock (all of these and dev) and
requirements-uv.lock (the installer) from pyproject.toml. They hold versions and hashes only.

  --upgrade  move every pin to the newest release; without it, pins that still fit are kept
  --check    change nothing; exit 1 where a lock does not belong to pyproject.toml as it is
TEXT
}

# Prints the first line of lock $1, a hash of what pyproject.toml says about its packages. --check
# compares these and resolves nothing: a release that appeared since cannot turn the gate red.
first_line() {
  "$interpreter" -I - "$1" "$root/pyproject.toml" <<'PYTHON'
import hashlib, json, pathlib, re, sys, tomllib

lock, path = sys.argv[1:]
table = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
groups = table["dependency-groups"]
release = sorted(groups["release"])
dev = sorted(release + [line for line in groups["dev"] if isinstance(line, str)])
project = table["project"]
runtime = [project["requires-python"], sorted(project["dependencies"])]
bot = sorted(project["optional-dependencies"]["bot"])
inputs = {
    "requirements.lock": runtime,
    "requirements-bot.lock": [*runtime, bot],
    "requirements-release.lock": release,
    "requirements-dev.lock": [*runtime, bot, dev],
    "requirements-uv.lock": [line for line in release if re.match(r"[\w.-]+", line)[0] == "uv"],
}
digest = hashlib.sha256(json.dumps(inputs[lock]).encode()).hexdigest()
print("# made by scripts/lock.sh from the dependencies in pyproject.toml, sha256", digest)
PYTHON
}

check() {
  local lock stale=0
  for lock in requirements{,-bot,-release,-dev,-uv}.lock; do
    if [[ $(head -n 1 "$root/$lock") != "$(first_line "$lock")" ]]; then
      printf '%s is stale: pyproject.toml asks for other packages; run scripts/lock.sh\n' "$lock" >&2
      stale=1
    fi
  done
  return "$stale"
}

# Compiles lock $1 from the remaining arguments; the pins of an existing output file are kept.
compile() {
  local lock=$1
  shift
  if [[ $upgrade == no && -f $root/$lock ]]; then cp -- "$root/$lock" "$scratch/$lock"; fi
  "$bin/uv" pip compile "$@" --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate --output-file "$scratch/$lock"
  { first_line "$lock" && grep -v '^#' "$scratch/$lock"; } >"$scratch/$lock.new"
  mv -f -- "$scratch/$lock.new" "$root/$lock"
}

write() {
  prepare_environment dev
  bin=$(dirname -- "$VENV_PYTHON")
  scratch=$(mktemp -d)
  trap 'rm -rf -- "$scratch"' EXIT
  cd -- "$root"
  compile requirements.lock pyproject.toml
  compile requirements-bot.lock pyproject.toml --extra bot --constraint requirements.lock
  compile requirements-dev.lock pyproject.toml --extra bot --group dev \
    --constraint requirements-bot.lock
  compile requirements-release.lock --group release --constraint requirements-dev.lock
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
