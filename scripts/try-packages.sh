#!/usr/bin/env bash
# Installs what scripts/build.sh built, and runs it as a user would; see --help.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/env.sh
source "$root/scripts/env.sh"

usage() {
  cat <<'TEXT'
usage: scripts/try-packages.sh FOLDER

Installs the wheel in FOLDER, and then the sdist, each into an environment of its own, with the
packages in requirements.lock. There it runs `routing-action demo`, in an empty folder, with no
other program on PATH and no variable set. PYTHON names the Python to do it with.
TEXT
}

# Installs package $1 into a new environment $2.
install() {
  local pins=$scratch/pins.txt
  "$PYTHON" -I -m venv "$2"
  "$2/bin/python" -I -m pip install --quiet --no-compile --require-hashes -r "$root/requirements.lock"
  # An sdist is built by pinned packages too; older releases of pip know the first name.
  sed -n 's/^\([^ #]*==.*[^ \\]\) *\\*$/\1/p' "$root/requirements-release.lock" >"$pins"
  PIP_CONSTRAINT=$pins PIP_BUILD_CONSTRAINT=$pins \
    "$2/bin/python" -I -m pip install --quiet --no-deps "$1"
}

# Runs the program of environment $1 as if nothing else were on the machine.
run_alone() {
  local bin=$1/bin
  shift
  env -i HOME="$scratch/home" PATH="$bin" "$bin/routing-action" "$@"
}

try() {
  local package=$1 where report
  where=$scratch/${package##*.}
  printf 'trying %s with %s\n' "${package##*/}" "$("$PYTHON" -I -V)"
  install "$package" "$where"
  cd -- "$scratch/home"
  run_alone "$where" --version
  run_alone "$where" run --self-test
  report=$(run_alone "$where" demo --dir "$where/shown" | tee "$where/demo.log" | tail -n 1) ||
    { cat -- "$where/demo.log" && return 1; }
  grep '^gate: ' "$where/demo.log"
  [[ -s $report ]] && printf 'the report is there: %s\n' "${report##*/}"
}

case ${1:-} in
  --help | -h) usage && exit ;;
  '' | -*) usage >&2 && exit 2 ;;
esac
folder=$(cd -- "$1" && pwd -P)
PYTHON=$(find_python)
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
mkdir -- "$scratch/home"
for package in "$folder"/routing_action-*.whl "$folder"/routing_action-*.tar.gz; do
  try "$package"
done
