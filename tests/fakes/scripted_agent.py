"""A stand-in for an agent CLI that prints what a file says: `scripted_agent.py FOLDER PROMPT`.

The first word of the prompt names the file in FOLDER, and is noted in `starts.txt` there. A line
`# wait FILE` waits until FILE is there, `# sleep` for ever, `# exit N` ends with N. A line that
begins with `! ` goes to standard error, every other one to standard output.
"""

import sys
import time
from pathlib import Path


def main() -> int:
    """Play the script."""
    folder = Path(sys.argv[1])
    name = sys.argv[2].split()[0]
    with (folder / "starts.txt").open("a", encoding="utf-8") as starts:
        starts.write(f"{name}\n")
    for line in (folder / name).read_text(encoding="utf-8").splitlines():
        command, _, rest = line.removeprefix("# ").partition(" ")
        if not line.startswith("# "):
            stream = sys.stderr if line.startswith("! ") else sys.stdout
            stream.write(line.removeprefix("! ") + "\n")
            stream.flush()
        elif command == "exit":
            return int(rest)
        else:
            while command == "sleep" or not (folder / rest).exists():
                time.sleep(0.01)
    return 0


if __name__ == "__main__":
    sys.exit(main())
