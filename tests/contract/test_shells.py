"""A read of SKILL.md is told by what it printed, through any program, list and shell."""

from __future__ import annotations

import base64
import shlex

import pytest

from routing_action.agents.provider import ReadContext
from routing_action.corpus.identity import KnownSkill, SkillIndex
from tests.support.builders import Run, read
from tests.support.streams import AGENTS, codex_shell, run_of, shell, skill_text

ONE, TWO = "widget-testing", "order-api"
P1, P2 = f".agents/skills/{ONE}/SKILL.md", f".agents/skills/{TWO}/SKILL.md"
W1, W2 = P1.replace("/", "\\"), P2.replace("/", "\\")
T1, T2 = skill_text(ONE), skill_text(TWO)
TREE = ReadContext(
    skills=SkillIndex(
        KnownSkill(name, name, place=f".agents/skills/{name}", description=f"Use for {name}.")
        for name in (ONE, TWO)
    )
)
NOTHING = ReadContext()


def loads(command: str, output: str, context: ReadContext = NOTHING) -> list[str]:
    """What codex has loaded by a command, whose CLI wraps it into a shell or does not."""
    wrapped = f"/bin/bash -lc {shlex.quote(command)}"
    found = [
        sorted(
            read(
                "codex", run_of("codex", *codex_shell(one, output)), context=context
            ).evidence.loads
        )
        for one in (command, wrapped)
    ]
    assert found[0] == found[1]
    return found[0]


def powershell_loads(script: str, output: str) -> list[str]:
    """What codex has loaded by a script of PowerShell, in each way that it can be given."""
    coded = base64.b64encode(script.encode("utf-16-le")).decode()
    commands = (
        script,
        f"pwsh -NoProfile -Command {shlex.quote(script)}",
        f"powershell.exe -EncodedCommand {coded}",
    )
    runs = [read("codex", run_of("codex", *codex_shell(one, output))) for one in commands]
    found = [sorted(run.evidence.loads) for run in runs]
    assert found[0] == found[1] == found[2]
    return found[0]


@pytest.mark.parametrize(
    "command",
    [
        f"sudo -u agent cat {P1}",
        f"time -p cat {P1}",
        f"nice -n 5 timeout --signal KILL 10 cat {P1}",
        f"rtk read {P1}",
        f"busybox cat {P1}",
        f"chronic cat {P1}",
        f"flock /tmp/lock cat {P1}",
        f"doas cat {P1}",
        f"proxychains4 -q sed -n '1,200p' {P1}",
        f"uv run python -c \"print(open('{P1}').read())\"",
        f"mdcat {P1}",
        f"awk 1 {P1}",
        f"cat {P1} | glow -",
        f"dd if={P1} status=none",
        f"echo {P1} | xargs cat",
        f"printf '%s\\n' {P1} | xargs -n1 -I{{}} cat {{}}",
        f"ls {P1} | xargs cat",
        f"find .agents/skills/{ONE} -name SKILL.md -exec cat {{}} \\;",
        f'while IFS= read -r line; do echo "$line"; done < {P1}',
        f'echo "$(< {P1})"',
        f'cat <<< "$(cat {P1})"',
        f"cat <<EOF\n$(cat {P1})\nEOF",
        f"cat <<'EOF' | bash\ncat {P1}\nEOF",
        f"bash <<'EOF'\ncat {P1}\nEOF",
        f"bash -c \"sh -c 'cat {P1}'\"",
        f"eval 'cat {P1}'",
        f"node -e \"console.log(require('fs').readFileSync('{P1}','utf8'))\"",
        f"python3 - <<'P'\nprint((Path('.agents/skills') / '{ONE}' / 'SKILL.md').read_text())\nP",
        f"f={P1}; mdcat $f",
        f"perl -ne print {P1}",
    ],
)
def test_s7_one_file_through_any_program_is_a_load(command: str) -> None:
    """The output shows the file, and the command names it."""
    assert loads(command, T1) == [ONE]


@pytest.mark.parametrize(
    "command",
    [
        f"cat {P1} {P2}",
        f"mdcat {P1} {P2}",
        f"for f in {P1} {P2}; do cat $f; done",
        f"for s in {ONE} {TWO}; do cat .agents/skills/$s/SKILL.md; done",
        f"cat .agents/skills/{{{ONE},{TWO}}}/SKILL.md",
        f"echo {P1} {P2} | xargs cat",
        f"printf '%s\\0' {P1} {P2} | xargs -0 -n1 sed -n 1,99p",
        f"python3 -c \"for s in ['{ONE}', '{TWO}']: show(open(f'.agents/skills/{{s}}/SKILL.md'))\"",
        f"cat {P1}; rtk cat {P2}",
        f"xargs cat <<EOF\n{P1}\n{P2}\nEOF",
    ],
)
def test_s7_each_file_of_a_list_is_judged(command: str) -> None:
    """Both where both were shown, and the one that was shown where the other one is missing."""
    assert loads(command, T1 + T2) == [TWO, ONE]
    assert loads(command, T2) == [TWO]


@pytest.mark.parametrize(
    "script",
    [
        f"Get-Content {W1},{W2}",
        f"Get-Content -Path {W1}, {W2}",
        f"gc -Raw -LiteralPath '{W1}'; Get-Content '{W2}'",
        f"'{W1}','{W2}' | ForEach-Object {{ Get-Content $_ }}",
        f"foreach ($f in @('{W1}', '{W2}')) {{ Get-Content $f }}",
        f"'{ONE}','{TWO}' | ForEach-Object {{ gc (Join-Path '.agents\\skills' \"$_\\SKILL.md\") }}",
        f"@('{P1}','{P2}') | % {{ [System.IO.File]::ReadAllText($_); Get-Content $_ }}",
        f"$a = '{W1}'; $b = '{W2}'; Get-Content $a, $b | Write-Output",
    ],
)
def test_s7_lists_of_powershell_are_judged_too(script: str) -> None:
    """Given as it is, to `pwsh`, or in base64."""
    assert powershell_loads(script, T1 + T2) == [TWO, ONE]
    assert powershell_loads(script, T1) == [ONE]
    assert powershell_loads(script, "nothing of it\n") == []


@pytest.mark.parametrize("command", [f"type {W1}", f'more "{W1}"', f"cmd.exe /c type {W1}"])
def test_s7_the_prompt_of_windows_prints_files_too(command: str) -> None:
    """A backslash separates folders there."""
    assert read("codex", run_of("codex", *codex_shell(command, T1))).evidence.loads == [ONE]


def test_s7_several_files_are_told_by_their_declared_names() -> None:
    """Which differ from the folders, as the staged files say."""
    named = ReadContext(skills=SkillIndex([KnownSkill("x1", ONE), KnownSkill("x2", TWO)]))
    command = "cat .agents/skills/x1/SKILL.md .agents/skills/x2/SKILL.md"
    assert loads(command, T1 + T2, named) == ["x1", "x2"]
    assert loads(command, T1, named) == ["x1"]


@pytest.mark.parametrize(
    "command",
    [
        f"grep -n '' {P1}",
        f"rtk grep . {P1}",
        f"sudo -u x ls {P1}",
        f"timeout 5 rg --passthru x {P1}",
        f"xargs wc -l <<< {P1}",
        f"git show HEAD:{P1}",
        f"nice git diff -- {P1}",
        f"git show HEAD:{P1} | cat",
        f"ssh host cat {P1}",
        f"docker exec box cat {P1}",
        f"cat {P1} | grep .",
        f"mdcat {P1} > copy",
        f"cat {P1} | mdcat > /dev/null",
        "cat .agents/skills/*/SKILL.md",
        "mdcat .agents/skills/*/SKILL.md",
        "find .agents -name SKILL.md -exec cat {} +",
        f"tee {P1} <<'EOF'\n{T1}EOF",
        f"cat > {P1} <<'EOF'\n{T1}EOF\nmdcat {P1}",
        f"echo '{T1}'",
        f"printf '%s' '{T1}' | mdcat",
        f"sed -i s/a/b/ {P1}",
        f"chronic sed -i s/a/b/ {P1}",
        f"test -f {P1} && echo found",
        f"python3 -c \"print('{P1}')\"",
        f"python3 -c \"open('{P1}', 'w').write('x')\"",
        "true",
    ],
)
@pytest.mark.parametrize("context", [NOTHING, TREE], ids=["no tree", "tree"])
def test_s7_the_name_in_a_command_is_no_load(command: str, context: ReadContext) -> None:
    """Searches, listings, git, other machines, globs and writes, whatever they print."""
    assert loads(command, T1, context) == []


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (f"mdcat {P1}", "# widget-testing\n\nBody.\n"),
        (f"mdcat {P1}", T2),
        (f"rtk read {P1}", f"read {P1}: 12 lines\n"),
        (f"for f in {P1} {P2}; do cat $f; done", "---\ndescription: nameless\n---\n"),
        (f"mdcat {P1} {P2}", ""),
        (f"mytool {ONE}", "name: widget-testing\ndescription: Use for widget-testing.\n"),
    ],
)
def test_s7_output_that_shows_other_things_proves_nothing(command: str, output: str) -> None:
    """An unknown program may have printed anything."""
    assert loads(command, output, TREE) == []


@pytest.mark.parametrize("command", ["skillctl show", 'cat "$SKILL_PATH"', f"skillctl cat {ONE}"])
def test_s7_output_that_begins_a_staged_file_is_a_read_of_it(command: str) -> None:
    """With the skills at hand no path is needed; a file that only bears the name is none."""
    assert loads(command, T1, TREE) == [ONE]
    assert loads(command, T1.replace("Use for", "Not for"), TREE) == []
    assert loads(command, f"Here it is:\n{T1}", TREE) == []


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("command", "tier"),
    [(f"rtk read {P1}", 2), (f"for f in {P1}; do cat $f; done", 2), (f"rtk grep . {P1}", 3)],
)
def test_s7_a_read_by_hand_is_told_on_every_agent(agent: str, command: str, tier: int) -> None:
    """It is the load of codex, and a read elsewhere; a search is a hint at best."""
    run: Run = read(agent, run_of(agent, *shell(agent, command, T1)))
    assert run.tier(ONE) == (1 if agent == "codex" and tier == 2 else tier)


def test_s7_a_relative_name_is_completed_by_the_folder_of_the_command() -> None:
    """A file outside the staged folders stays a wrong copy, whoever printed it."""
    context = ReadContext(skills_roots=("/repo/.agents/skills",), cwd="/repo")
    inside, outside = f"cd /repo && mdcat {P1}", f"cd /home/u && mdcat {P1}"
    for command, tier in ((inside, 1), (outside, 3)):
        found = read("codex", run_of("codex", *codex_shell(command, T1)), context=context)
        assert found.tier(ONE) == tier
