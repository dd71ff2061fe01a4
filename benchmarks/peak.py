"""Runs `routing-action` in this process, and writes the most memory that it held into a file.

usage: python -P benchmarks/peak.py FILE [ARGUMENTS of routing-action]

Imports nothing of the benchmarks, whose memory would count too.
"""

import re
import sys
from pathlib import Path

from routing_action.__main__ import main

code = main(sys.argv[2:])
status = Path("/proc/self/status").read_text("ascii", "replace")
peak = re.search(r"VmHWM:\s+(\d+) kB", status)
Path(sys.argv[1]).write_text(str(int(peak[1]) * 1024 if peak else 0), "ascii")
sys.exit(code)
