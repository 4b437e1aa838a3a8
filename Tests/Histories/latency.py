"""Says how long calls took during each kind of fault, as a table and as a picture."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from math import log10

from checker import NEVER, Call, Fault, History

KINDS = {
    "get": "read", "list": "read", "state": "read", "commit": "write", "post": "write", "send": "write", "take": "mailbox",
    "acknowledge": "mailbox", "open": "open", "close": "open",
}
COLOURS = {
    "kill": "#d62728", "stop": "#ff7f0e", "kill the hub": "#9467bd", "stop the hub": "#1f77b4", "full disk": "#8c564b",
}
#: The picture has the first seconds of a run, with one point for each such part of a second.
SECONDS, PART = 90, 0.1
WIDTH, HEIGHT = 1_400, 420
#: The range of the picture, in powers of ten of a second.
LOWEST, HIGHEST = -5, 1.5


def table(history: History) -> list[str]:
    """Lines with the number of calls and their times, by what the calls do and by the fault that they met.

    A call that met several faults counts for the last. The calls of a process that was stopped itself count for its stop.
    """
    faults = sorted(history.faults, key=lambda fault: fault.begin)
    begins = [fault.begin for fault in faults]
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for call in history.calls:
        if call.end < NEVER:
            times[KINDS[call.what["f"]], met(call, faults, begins)].append((call.end - call.begin) / 1e6)
    lines = [f"{'calls':8} {'during':22} {'number':>8} {'median':>9} {'99 %':>9} {'99.9 %':>9} {'longest':>9}  ms"]
    for (kind, during), of_both in sorted(times.items()):
        of_both.sort()
        chosen = [of_both[min(len(of_both) - 1, int(len(of_both) * part))] for part in (0.5, 0.99, 0.999, 1)]
        lines.append(f"{kind:8} {during:22} {len(of_both):8} " + " ".join(f"{time:9.2f}" for time in chosen))
    return lines


def met(call: Call, faults: list[Fault], begins: list[int]) -> str:
    before = bisect_right(begins, call.end)
    if not before or faults[before - 1].end < call.begin:
        return "no fault"
    fault = faults[before - 1]
    return "its own stop" if fault.process == call.process else fault.kind


def picture(history: History, path: str) -> None:
    """Writes an SVG of the median and the longest call in each part of a second, over the faults."""
    start = min(call.begin for call in history.calls)
    parts: dict[int, list[float]] = defaultdict(list)
    for call in history.calls:
        if call.end < start + SECONDS * 1e9:
            parts[int((call.end - start) / 1e9 / PART)].append((call.end - call.begin) / 1e9)

    def x(seconds: float) -> float:
        return 60 + seconds / SECONDS * (WIDTH - 80)

    def y(seconds: float) -> float:
        power = min(max(log10(max(seconds, 1e-9)), LOWEST), HIGHEST)
        return HEIGHT - 40 - (power - LOWEST) / (HIGHEST - LOWEST) * (HEIGHT - 80)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for fault in history.faults:
        begin, end = (max(0, time - start) / 1e9 for time in (fault.begin, fault.end))
        if begin < SECONDS:
            width = max(1.0, x(min(end, SECONDS)) - x(begin))
            lines.append(f'<rect x="{x(begin):.1f}" y="40" width="{width:.1f}" height="{HEIGHT - 80}" '
                         f'fill="{COLOURS[fault.kind]}" opacity="0.25"/>')
    for power in range(LOWEST, int(HIGHEST) + 1):
        label = f"{10 ** (power + 6)} µs" if power < -3 else f"{10 ** (power + 3)} ms" if power < 0 else f"{10 ** power} s"
        lines.append(f'<line x1="60" x2="{WIDTH - 20}" y1="{y(10 ** power):.1f}" y2="{y(10 ** power):.1f}" stroke="#ccc"/>'
                     f'<text x="54" y="{y(10 ** power) + 4:.1f}" text-anchor="end">{label}</text>')
    for second in range(0, SECONDS + 1, 10):
        lines.append(f'<text x="{x(second):.1f}" y="{HEIGHT - 22}" text-anchor="middle">{second} s</text>')
    for part in parts.values():
        part.sort()
    for name, colour, chosen in (("longest", "black", lambda part: -1), ("median", "green", lambda part: len(part) // 2)):
        points = " ".join(f"{x(place * PART):.1f},{y(part[chosen(part)]):.1f}" for place, part in sorted(parts.items()))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}"><title>{name}</title></polyline>')
    legend = [("longest call", "black"), ("median", "green"), *COLOURS.items()]
    for number, (name, colour) in enumerate(legend):
        lines.append(f'<text x="{60 + number * 130}" y="24" fill="{colour}">■ {name}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "</svg>"]) + "\n")
