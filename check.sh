#!/usr/bin/env bash
# The gate: all checks that a change must pass; see --help.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source=scripts/env.sh
source "$root/scripts/env.sh"

usage() {
  cat <<'TEXT'
usage: ./check.sh [--full]

Sets up the dev environment (once) and runs every check, even if an earlier one has failed.

  --full  also run the slow tests, those with real agent CLIs and a browser, and the fuzzer (for
          FUZZ_SECONDS, 120); if there is no Chromium, it is installed by apt if this runs as root

exit codes: 0 all checks passed, 1 one or more did not, 2 usage, 4 no environment could be made
TEXT
}

passed=0
failed=()

# Runs a step and says on one line how it ended. What it printed is shown if it failed.
step() {
  local name=$1 started=$SECONDS outcome=ok code=0
  shift
  "$@" >"$scratch/output" 2>&1 || code=$?
  if ((code != 0)); then
    outcome=FAIL
    cat -- "$scratch/output"
    failed+=("$name")
  else
    passed=$((passed + 1))
  fi
  printf '%-4s %s (%d s)\n' "$outcome" "$name" $((SECONDS - started))
}

# --- steps ------------------------------------------------------------------------------------

check_shell_scripts() {
  git ls-files -z --cached --others --exclude-standard -- '*.sh' .ci/run |
    xargs -0 shellcheck --external-sources --source-path=SCRIPTDIR --
}

# The project names no host of a package registry (the locks are requirements*.lock, never a
# uv.lock) and no absolute path of the machine that it was written on.
find_traces() {
  ! git grep --untracked -nIE -e '\b(pypi[.]org|pythonhosted[.]org|npmjs[.](org|com)|debian[.]org)\b' \
    -e '(^|file://|[^[:alnum:]_.~}/-])/(work|root)/'
}

# The parser of the runner that the tests run the workflows with; it takes one file at a time.
validate_workflows() {
  local file
  for file in .github/workflows/*.yml; do
    HOME=$scratch act --validate --strict -W "$file" || return
  done
}

# Shows the tests as they run; $1 names a file for what they print, the rest goes to pytest.
run_pytest() {
  local log=$1 code=0
  shift
  # Straight to the terminal or the CI's log, not held back by step.
  python -m pytest --color=no "$@" 2>&1 | tee -- "$log" >&3 || code=$?
  if ((code == 5)); then
    printf 'no test was found\n' >&3
  fi
  return "$code"
}

# Many tests wait for an agent, a deadline or a server, so there are more workers than cores.
measure_tests() {
  run_pytest "$scratch/fast.log" -n 3 --basetemp "$scratch/tests" --cov --cov-report=
}

run_slow_tests() {
  run_pytest "$scratch/slow.log" -n 4 --dist loadgroup --basetemp "$scratch/slow" -m 'slow or live'
}

# Without a browser its tests are skipped. How wide a text is depends on the font.
bring_chromium() {
  local name found='' packages=(chromium fonts-liberation fonts-noto-color-emoji fonts-dejavu-core)
  for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name" >/dev/null; then found=yes; fi
  done
  if [[ -n $found && -n $(fc-list 'Liberation Sans' 2>/dev/null) ]]; then return; fi
  if [[ -n $found ]]; then packages=("${packages[@]:1}"); fi
  if ((EUID != 0)) || ! command -v apt-get >/dev/null; then return; fi
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -qq --no-install-recommends "${packages[@]}"; } ||
    printf 'no Chromium or no fonts could be installed; tests in a browser may be skipped or fail\n' >&3
}

# The readers on many generated outputs; the default run takes a few of each.
check_more_properties() {
  # shellcheck disable=SC2046 # a list of files
  PROPERTY_EXAMPLES=200 run_pytest "$scratch/properties.log" -n 2 -m hypothesis \
    $(git grep -l PROPERTY_EXAMPLES -- tests)
}

# Damaged recordings and documents for every reader and parser; what is found is kept and named.
# It runs beside the slow tests, which wait now and then.
start_fuzzing() {
  PYTHONPATH=$root python -m tests.fuzz --seconds "$FUZZ_SECONDS" >"$scratch/fuzz.txt" 2>&1 &
  fuzzer=$!
}

finish_fuzzing() {
  local code=0
  wait "$fuzzer" || code=$?
  fuzzer=
  cat -- "$scratch/fuzz.txt" >&3
  return "$code"
}

clean_up() {
  [[ -z $fuzzer ]] || kill "$fuzzer" 2>/dev/null || true
  rm -rf -- "$scratch"
}

check_coverage() {
  local floor=$1
  shift
  python -m coverage report --fail-under="$floor" --precision=2 "$@"
}

# The sum of all pytest runs, in a line that CI systems know.
count_tests() {
  awk '
    /^=+ .* in [0-9.]+s/ {
      for (i = 2; i <= NF; i++) {
        word = $i; sub(/,$/, "", word)
        if (word == "passed") passed += $(i - 1)
        if (word == "failed" || word ~ /^errors?$/) failed += $(i - 1)
        if (word == "skipped") skipped += $(i - 1)
      }
    }
    END { printf "tests: %d passed, %d failed, %d skipped\n", passed, failed, skipped }
  ' "$scratch"/*.log
}

# --- the order of the steps -------------------------------------------------------------------

run_static_steps() {
  step 'ruff check' ruff check .
  step 'ruff format' ruff format --check .
  step 'mypy' mypy
  step 'import contracts' lint-imports --no-cache
  step 'no traces of a machine' find_traces
  step 'locks' scripts/lock.sh --check
  step 'shellcheck' check_shell_scripts
  step 'generated documents' python scripts/generate.py --check
  step 'zizmor' zizmor --offline --strict-collection --no-progress .github/workflows action.yml
  step 'zizmor, of what publishes' zizmor --offline --persona pedantic --no-progress \
    .github/workflows/re{lease,new-locks}.yml .github/dependabot.yml
  step 'jactionlint' jactionlint --no-online --strict-exit
  step 'schema of the workflows' \
    check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
  step 'schema of dependabot.yml' \
    check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
  step 'schema of the action' check-jsonschema --builtin-schema vendor.github-actions action.yml
  step 'workflows parse' validate_workflows
}

run_test_steps() {
  local room='*/routing_action' rules
  rules="$room/corpus/*,$room/evidence/*,$room/gate/rules.py,$room/gate/model.py,$room/gate/edited_case.py"
  rules+=",$room/gate/conclusion.py,$room/results/measured.py,$room/results/model.py,$room/results/rerun.py"
  step 'tests' measure_tests
  step 'coverage of the rules, 100 %' check_coverage 100 --include="$rules"
  step 'coverage, 90 %' check_coverage 90
  if [[ $full == yes ]]; then
    step 'a browser' bring_chromium
    start_fuzzing
    step 'slow and live tests' run_slow_tests
    step 'many more properties' check_more_properties
    step "fuzzing for $FUZZ_SECONDS s" finish_fuzzing
  fi
}

sum_up() {
  if ((${#failed[@]} == 0)); then
    printf 'gate: all %d checks passed\n' "$passed"
  else
    printf 'gate: %d checks passed, %d failed:\n' "$passed" "${#failed[@]}"
    printf '  %s\n' "${failed[@]}"
  fi
  count_tests
  ((${#failed[@]} == 0))
}

# Leaves nothing of the caller's settings, or of a git hook that this runs in, to the tools.
clear_tool_variables() {
  local name
  # shellcheck disable=SC2046 # a list of names
  unset $(git rev-parse --local-env-vars)
  unset COVERAGE_RCFILE COVERAGE_PROCESS_START COVERAGE_PROCESS_CONFIG MYPYPATH SHELLCHECK_OPTS
  unset JACTIONLINT_ONLINE GH_TOKEN GITHUB_TOKEN
  for name in ${!PYTEST_@} ${!RUFF_@} ${!MYPY_@} ${!ZIZMOR_@} ${!HYPOTHESIS_@}; do unset "$name"; done
}

# The tests make many thousands of small files: in memory, where there is room and programs may run.
choose_temporary_folder() {
  local memory=/dev/shm file free
  free=$(df -Pk "$memory" 2>/dev/null | awk 'NR == 2 { print $4 }')
  if ((${free:-0} < 6000000)) || ! file=$(mktemp "$memory/routing-action.XXXXXX" 2>/dev/null); then
    return
  fi
  printf '#!/bin/sh\n' >"$file" && chmod +x "$file"
  if "$file" 2>/dev/null; then export TMPDIR=$memory; fi
  rm -f -- "$file"
}

full=no
FUZZ_SECONDS=${FUZZ_SECONDS:-120}
case ${1:-} in
  --help | -h) usage && exit ;;
  --full) full=yes ;;
  '') ;;
  *) usage >&2 && exit 2 ;;
esac

cd -- "$root"
prepare_environment dev || exit
clear_tool_variables
PATH=$(dirname -- "$VENV_PYTHON"):$PATH
# No module of the caller's folder may stand in for one of the standard library.
export PATH PYTHONSAFEPATH=1
choose_temporary_folder
scratch=$(mktemp -d)
fuzzer=
trap clean_up EXIT
export COVERAGE_FILE=$scratch/coverage
exec 3>&1

run_static_steps
run_test_steps
sum_up
