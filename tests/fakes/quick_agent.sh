#!/bin/sh
# A fake agent CLI that starts quickly: `quick_agent.sh STARTS PROMPT`.
# The prompt is `NAME MANNER`; the name is appended to the file STARTS as soon as it runs.
name=${2%% *} manner=${2#* }
echo "$name" >>"$1"

say() { printf '%s\n' "$1"; }
init() { say '{"type":"system","subtype":"init","claude_code_version":"9.9.9","model":"fake"}'; }
load() {
  say '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"foo"}}]}}'
  say '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"Launching skill: foo"}]}}'
}
result() { say '{"type":"result","subtype":"success","is_error":false,"num_turns":1}'; }
talk() { say '{"type":"assistant","message":{"content":[{"type":"text","text":"I only talk."}]}}'; }

init
case $manner in
load) load; result ;;
slow) sleep 0.2; load; result ;;
talk) talk; result ;;
flood) load; i=0; while [ $i -lt 2000 ]; do talk; i=$((i + 1)); done; result ;;
huge) load; head -c 3000000 /dev/zero | tr '\0' z; echo; result ;;
hang) exec sleep 300 ;;
stubborn) trap '' TERM; sleep 300 & sleep 300 ;;
escaped) load; setsid sleep 300 >/dev/null 2>&1 & load; result ;;
held) load; sleep 300 & result ;;
stays) load; result; exec sleep 300 ;;
crash) talk; kill -SEGV $$ ;;
noise) head -c 50000 /dev/urandom; echo ;;
esac
