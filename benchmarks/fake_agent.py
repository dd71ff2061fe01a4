"""A fake claude: prints its record stream, with a skill load in it, and pauses as a model would.

usage: python -I -S fake_agent.py TRANSCRIPT SECONDS PROMPT

The transcript is printed in two writes, with the pause between them.
"""

import sys
import time

with open(sys.argv[1], "rb", buffering=0) as file:  # noqa: PTH123 - pathlib costs as much as all this
    data = file.read()
middle = len(data) // 2
sys.stdout.buffer.write(data[:middle])
sys.stdout.buffer.flush()
time.sleep(float(sys.argv[2]))
sys.stdout.buffer.write(data[middle:])
