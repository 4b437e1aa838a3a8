"""Owns a group as its Main, with a core that does nothing: releases at a line on standard input, and lives on until the next."""

import sys

from sharedcore import Group, Main


class IdleCore:
    def start(self, context):
        pass

    def stop(self, request):
        pass


with Group(sys.argv[1], role="main", name="former") as group:
    with Main(group, IdleCore) as main:
        main.wait_until_started(60)
        print("owns", flush=True)
        sys.stdin.readline()
    print("released", flush=True)
    sys.stdin.readline()
