"""Which files a shell command prints: the rule that decides a codex load and every shell read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_action.agents.reading.decoding import command_text
from routing_action.agents.shell.reads import reads_of

S = "skills/w/SKILL.md"


@pytest.mark.parametrize(
    "command",
    [
        f"cat {S}",
        f"cat -- {S}",
        f"cat -n {S}",
        f"/bin/cat '{S}'",
        f'cat "{S}"',
        f"cat < {S}",
        f"< {S}",
        f"sed -n '1,200p' {S}",
        f"sed -n 1,200p {S}",
        f"sed -e 's/a/b/' {S}",
        f"sed --expression=p {S}",
        f"sed '' {S}",
        f"awk '{{print}}' {S}",
        f"head -n 40 {S}",
        f"tail -n +1 {S}",
        f"nl -ba {S}",
        f"bat {S}",
        f"less {S}",
        f"more {S}",
        f"tac {S}",
        f"cut -c1-20 {S}",
        f"cat {S} 2>/dev/null",
        f"cat {S} 2>&1",
        f"cat {S} | head -200",
        f"cat {S} | sed -n '1,80p' | cat",
        f"nl -ba {S} | sed -n '1,80p'",
        f"cat {S} | tee /tmp/copy",
        f"ls; cat {S}",
        f"pwd\ncat {S}",
        f"test -f {S} && cat {S} || echo no",
        f"cat {S} & wait",
        f"(cat {S})",
        f"{{ cat {S}; }}",
        f"if true; then cat {S}; fi",
        f"set -euo pipefail; cat {S}",
        f"! cat {S}",
        f"time cat {S}",
        f'echo "$(cat {S})"',
        f"echo `cat {S}`",
        f"LC_ALL=C cat {S}",
        f"env A=1 cat {S}",
        f"sudo cat {S}",
        f"timeout 10s cat {S}",
        f"nice -n 5 cat {S}",
        f"exec cat {S}",
        f"bash -lc 'cat {S}'",
        f'/bin/bash -lc "cat {S}"',
        f"bash -lc \"bash -c 'cat {S}'\"",
        f"sh <<'X'\ncat {S}\nX",
        f"eval 'cat {S}'",
        "cat skills/w/\\\nSKILL.md",
        "f=skills/w/SKILL.md; cat $f",
        'd=skills; cat "$d/w/SKILL.md"',
        'd=skills; cat "${d}/w/SKILL.md"',
        "cd skills && cat w/SKILL.md",
        "(cd skills/w; cat SKILL.md)",
        "pushd skills/w >/dev/null; cat SKILL.md",
        f"python3 -c \"print(open('{S}').read())\"",
        f"python3 - <<'PY'\nfrom pathlib import Path\nprint(Path('{S}').read_text())\nPY",
        f"node -e \"console.log(require('fs').readFileSync('{S}','utf8'))\"",
        f"perl -pe 1 {S}",
        f"perl -0777 -ne 'print' {S}",
        f"ruby -e 'puts File.read(\"{S}\")'",
        f"pwsh -Command 'Get-Content {S}'",
        f"pwsh -Command Get-Content {S}",
        f"powershell.exe -NoProfile -Command \"gc '{S}'\"",
        f'powershell -Command "Get-Content {S} | Out-String"',
        "cmd /c 'type skills\\w\\SKILL.md'",
        "powershell -Command 'Get-Content skills\\w\\SKILL.md'",
        f"pwsh -c \"[System.IO.File]::ReadAllText('{S}')\"",
    ],
)
def test_a_command_that_prints_the_file_reads_it(command: str) -> None:
    """However an agent shows itself the file, by its literal name, it has read it."""
    assert reads_of(command).files.count(S) >= 1


@pytest.mark.parametrize(
    "command",
    [
        f"grep -n name {S}",
        f"grep -q x {S} && echo yes",
        f"rg . {S}",
        "rg --files skills",
        f"ls {S}",
        "ls -R skills",
        "find skills -name SKILL.md",
        "find skills -name SKILL.md -exec cat {} \\;",
        f"wc -l {S}",
        f"test -f {S}",
        f"[ -f {S} ]",
        f"stat {S}; file {S}",
        f"git show HEAD:{S}",
        f"git diff {S}",
        f"diff {S} other",
        f"base64 {S}",
        f"sha256sum {S}",
        f"echo cat {S}",
        f"printf 'cat {S}'",
        f"echo {S} | xargs cat",
        "cat skills/*/SKILL.md",
        "cat skills/w*/SKILL.md",
        "cat skills/{w,v}/SKILL.md",
        "for f in skills/*/SKILL.md; do cat $f; done",
        f"ls # cat {S}",
        f"# cat {S}",
        f"cat {S} > /dev/null",
        f"cat {S} &> /dev/null",
        f"cat {S} | wc -l",
        f"cat {S} | grep name",
        f"cat {S} | head | grep name",
        f"head {S} | sha256sum",
        f"cat > {S} <<'EOF'\n---\nname: w\n---\nEOF",
        f"cat <<'EOF' > {S}\ntext\nEOF",
        f"cat <<EOF\ncat {S}\nEOF",
        f"echo x >> {S}; cat {S}",
        f"echo x | tee {S}",
        f"cp other {S}; cat {S}",
        f"touch {S} && cat {S}",
        f"sed -i 's/a/b/' {S}",
        f"sed --in-place=.bak s/a/b/ {S}",
        f"sed -ni p {S}",
        f"perl -pi -e 's/a/b/' {S}",
        f"apply_patch {S}",
        f"python3 -c \"open('{S}','w').write('x')\"",
        f"python3 -c \"print('{S}')\"",
        f"python3 -c \"print(open('{S}').read())\" > out",
        f"python3 {S}",
        f"python3 <<'P' > out\nprint(open('{S}').read())\nP",
        f"bash {S}",
        f"bash -c 'ls {S}'",
        "sed -n p",
        "cat",
        "cd skills/w && ls SKILL.md",
        "cat $UNKNOWN/w/SKILL.md",
        "cat $(find . -name SKILL.md)",
        "cat SKILL.md",
        f"cat {S}.bak",
        f"cat my{S}",
        f"rm {S}",
        f"chmod 644 {S}",
        f"code {S}",
        f"pwsh -c \"[IO.File]::ReadAllText('{S}') | Out-Null\"",
        f"pwsh -c \"$x = [IO.File]::ReadAllText('{S}')\"",
        f"pwsh -c \"[IO.File]::Exists('{S}')\"",
        "eval",
        "cd",
    ],
)
def test_a_command_that_does_not_print_the_file_reads_nothing(command: str) -> None:
    """Listings, searches, globs, writes, in-place edits and hidden output are no read."""
    assert S not in reads_of(command).files


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("cat a.md b.md", ["a.md", "b.md"]),
        ("cat a.md && cat b.md", ["a.md", "b.md"]),
        ("cat a.md\nsed -n 1,9p b.md", ["a.md", "b.md"]),
        ("cat a.md > b.md; cat b.md", []),
        ("cat a.md > ./b.md; cat b.md c.md", ["c.md"]),
        ("sed -n p a.md b.md", ["a.md", "b.md"]),
        ("cat - a.md", ["a.md"]),
        ("head -n 40 a.md", ["a.md"]),
        ("cat -- -odd", ["-odd"]),
        (r"cat C:\r\a.md", ["C:ra.md"]),
        ("cd /x; cat a.md /y/b.md ~/c.md", ["/x/a.md", "/y/b.md", "~/c.md"]),
        ("cd a; cd b; cat c", ["a/b/c"]),
        ('cat "$PWD/a.md"', ["./a.md"]),
        ("cat $(pwd)/a.md", ["./a.md"]),
    ],
)
def test_every_file_that_is_printed_is_told_in_order(command: str, files: list[str]) -> None:
    """One command can read several files."""
    assert reads_of(command).files == files


def test_a_relative_name_is_completed_by_the_folder_the_command_started_in() -> None:
    """The working folder that the agent tells makes the path whole."""
    assert reads_of("cat SKILL.md", "/r/skills/w").files == ["/r/skills/w/SKILL.md"]
    assert reads_of('cat "$PWD/SKILL.md"', "/r/skills/w").files == ["/r/skills/w/SKILL.md"]
    assert reads_of(r"pwsh -c 'gc D:\s\SKILL.md'", "/r").files == ["D:/s/SKILL.md"]


@pytest.mark.parametrize(
    ("arguments", "files"),
    [
        (["bash", "-lc", f"cat {S}"], [S]),
        (["cat", S], [S]),
        (["cat", "skills/a b/SKILL.md"], ["skills/a b/SKILL.md"]),
        (["grep", "x", S], []),
        ([], []),
    ],
)
def test_a_command_can_be_a_list_of_arguments(arguments: list[str], files: list[str]) -> None:
    """Older streams give the arguments one by one; nothing in them is split again."""
    assert reads_of(command_text(arguments)).files == files


def test_a_command_tells_what_it_writes_and_says_itself() -> None:
    """What a command puts on the screen or in a file by itself is no proof of a read."""
    told = reads_of("echo '---'; printf 'name: w'; cat <<E\nbody\nE\ncp a b; echo x > c")
    assert told.spoken == ["---", "name: w", "body\n", "x"]
    assert told.written == ["b", "c"]


def test_a_variable_that_doubles_itself_does_not_grow_without_end() -> None:
    """A hostile command cannot fill the memory."""
    (path,) = reads_of("a=xx;" + "a=$a$a;" * 60 + "cat $a").files
    assert len(path) <= 1_000


@pytest.mark.parametrize(
    "piece", ["cat a|", "cat a;", "cd aaaaaaaa;", "eval ", "bash -c '", "a=$a"]
)
def test_a_command_of_endless_repetition_is_read_in_time(piece: str) -> None:
    """A hostile command costs bounded work and memory."""
    assert len("".join(reads_of(piece * 10_000 + "cat b").files)) < 10_000_000


@given(st.text(max_size=80) | st.lists(st.text(max_size=20), max_size=6), st.text(max_size=10))
def test_any_command_is_read_without_an_error(command: str | list[str], cwd: str) -> None:
    """An agent's command may be anything."""
    reads_of(command_text(command), cwd)
