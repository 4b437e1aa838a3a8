"""Opens sessions of a group and keeps them until the end of standard input."""

import resource
import sys

from sharedcore import Group

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
groups = [Group(sys.argv[1], name=f"session-{number}") for number in range(int(sys.argv[2]))]
print("open", flush=True)
sys.stdin.read()
