#!/usr/bin/env bash
# Builds and checks what a release publishes; see --help.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/env.sh
source "$root/scripts/env.sh"

usage() {
  cat <<'TEXT'
usage: scripts/build.sh FOLDER
       scripts/build.sh --notes VERSION

Makes the sdist, the wheel (from the sdist), an SBOM of the packages in requirements.lock
(CycloneDX) and SHA256SUMS in FOLDER, which must be new or empty, and checks them. The same commit
gives the same bytes. Files that git does not track may not lie where the packages take all.

  --notes  only print what CHANGELOG.md says of VERSION, the notes of its release; exit 1 if it says
           nothing, or if VERSION is not the one in src/routing_action/__init__.py
TEXT
}

fail() { printf '%s\n' "$1" >&2 && exit 1; }

# The packages take whole folders: what was left there by chance must not get in.
refuse_strays() {
  local strays
  if [[ ! -e $root/.git ]]; then
    printf 'warning: no git checkout: files that belong to no commit are not found\n' >&2
    return
  fi
  strays=$(git -C "$root" ls-files --others --exclude-per-directory=.gitignore -- \
    src templates tests/recordings/replay tests/recordings/replay-red)
  [[ -z $strays ]] || fail "git does not track these files; add or remove them:"$'\n'"$strays"
}

build() {
  local folder=$1 bin
  mkdir -p -- "$folder"
  folder=$(cd -- "$folder" && pwd -P)
  [[ -z $(ls -A -- "$folder") ]] || fail "$folder is not empty"
  refuse_strays
  prepare_environment release
  bin=${VENV_PYTHON%/*}
  cd -- "$root"
  unset SOURCE_DATE_EPOCH # hatchling has a date of its own, the same everywhere
  # The builder is the one in the lock, not what a registry has today.
  "$VENV_PYTHON" -P -m build --no-isolation --outdir "$folder" .
  "$bin/twine" check --strict "$folder"/*
  "$bin/check-wheel-contents" "$folder"/*.whl
  "$bin/cyclonedx-py" requirements requirements.lock --pyproject pyproject.toml \
    --output-reproducible --output-file "$folder/sbom.cdx.json"
  cd -- "$folder"
  "$VENV_PYTHON" -I - <<'PYTHON'
import hashlib, pathlib

sums = {path: hashlib.sha256(path.read_bytes()) for path in sorted(pathlib.Path().iterdir())}
lines = [f"{one.hexdigest()}  {path}\n" for path, one in sums.items()]
pathlib.Path("SHA256SUMS").write_text("".join(lines), encoding="utf-8")
PYTHON
  cat -- SHA256SUMS
}

# Prints the section of a version, without its heading.
notes() {
  local own text
  own=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/src/routing_action/__init__.py")
  [[ $1 == "$own" ]] || fail "the version is $own in src/routing_action/__init__.py, not $1"
  text=$(awk -v heading="## [$1]" '
    /^## / { inside = index($0, heading) == 1; next }
    /^\[.*\]: / { inside = 0 }
    inside' "$root/CHANGELOG.md")
  [[ $text == *[![:space:]]* ]] || fail "CHANGELOG.md says nothing of $1"
  printf '%s\n' "$text"
}

case ${1:-} in
  --help | -h) usage ;;
  --notes) [[ $# == 2 ]] || { usage >&2 && exit 2; } && notes "$2" ;;
  '' | -*) usage >&2 && exit 2 ;;
  *) build "$1" ;;
esac
