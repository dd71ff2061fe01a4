#!/bin/sh
# A stand-in for opencode that spends 0.25 USD a step, ten steps long: `spender.sh STARTS PROMPT`.
# It appends a line to the file STARTS as soon as it runs.
echo started >>"$1"
step() {
  printf '{"type":"step_finish","sessionID":"s","part":{"id":"%s","reason":"%s","tokens":{"input":1,"output":1},"cost":0.25}}\n' "$1" "$2"
}
printf '{"type":"text","sessionID":"s","part":{"text":"working"}}\n'
for n in 1 2 3 4 5 6 7 8 9; do
  step "$n" tool-calls
  sleep 0.04
done
step 10 stop
