"""Draws the pictures of the pages, which are written in Mermaid, for a site that is read without a network: as SVG, light and
dark. GitHub draws Mermaid by itself. What is read here is what the pages use: flow charts with layers, machines, sequences."""

import html
import re
import subprocess
import sys

FONT = "Helvetica,Arial,sans-serif"
COLOURS = {
    # What is written, what leads from one to the other, around a layer, inside of a room.
    "": {"text": "#1d1d1f", "line": "#6e6e73", "frame": "#d2d2d7", "room": "#f5f5f7"},
    "~dark": {"text": "#f5f5f7", "line": "#a1a1a6", "frame": "#424245", "room": "#2c2c2e"},
}


def draw(text, path):
    """Writes PATH.svg and PATH~dark.svg, by which names DocC knows that they are one picture."""
    kind, lines = text.split("\n")[0].split()[0], text.split("\n")[1:]
    for suffix, colours in COLOURS.items():
        if kind == "sequenceDiagram":
            picture = sequence(lines, colours)
        elif kind in ("flowchart", "stateDiagram-v2"):
            graph = flow(lines) if kind == "flowchart" else machine(lines)
            picture = laid_out(graph, "LR" if text.startswith("flowchart LR") else "TB", colours)
        else:
            sys.exit(f"Pictures of the kind {kind} are not drawn")
        with open(f"{path}{suffix}.svg", "w", encoding="utf-8") as file:
            file.write(picture)


def unread(line):
    sys.exit(f"What does this line of a picture say? {line}")


def quoted(words):
    return '"' + words.replace('"', '\\"') + '"'


def arrow(start, end, words=None):
    # The arrow passes beside what is written, not through its first letter.
    label = quoted(wrapped(words, beside="  ")) if words else quoted("")
    return f"{quoted(start)} -> {quoted(end)} [label={label}]"


def wrapped(words, width=24, beside=""):
    """At spaces, since what is written beside an arrow takes the room of arrows."""
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\\n".join(beside + line + beside for line in lines)


def flow(lines):
    """Layers are floors: all that is in one stands above all that is in the next, which an unseen point between them sees to."""
    graph, between, floor = [], [], 0
    for line in filter(None, map(str.strip, lines)):
        if found := re.fullmatch(r"subgraph (\w+) \[\"(.*)\"\]", line):
            graph.append(f"subgraph cluster_{found[1]} {{ label={quoted(found[2])}")
            floor += 1
        elif line == "end":
            graph.append("}")
        elif found := re.fullmatch(r"([\w-]+) -->(?:\|(.*)\|)? ([\w-]+)", line):
            graph.append(arrow(found[1], found[3], found[2]))
        elif found := re.fullmatch(r"([\w-]+)\[\"?(.*?)\"?\]", line):
            graph.append(f"{quoted(found[1])} [label={quoted(wrapped(found[2]))}]")
        elif re.fullmatch(r"[\w-]+", line):
            graph.append(quoted(line))
            between.append(f'"above {floor}" -> {quoted(line)} -> "above {floor + 1}" [style=invis weight=0]')
        else:
            unread(line)
    points = [f'"above {floor}" [style=invis shape=point width=0]' for floor in range(1, floor + 2)]
    return graph + (points + between if floor else [])


def machine(lines):
    graph = ['"begin" [shape=circle style="" label="" width=0.15 height=0.15]']
    for line in filter(None, map(str.strip, lines)):
        if found := re.fullmatch(r"(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: (.*))?", line):
            start = "begin" if found[1] == "[*]" else found[1]
            if found[2] == "[*]":
                graph.append(f"{quoted(start)} [peripheries=2]")
            else:
                graph.append(arrow(start, found[2], found[3]))
        elif found := re.fullmatch(r"(\w+): (.*)", line):
            graph.append(f"{quoted(found[1])} [label={quoted(wrapped(found[2], 14))}]")
        else:
            unread(line)
    return graph


def laid_out(graph, direction, colours):
    style = f"""
        rankdir={direction} bgcolor=transparent ranksep=0.45 nodesep=0.25 newrank=true
        graph [labeljust=l fontname="{FONT}" fontsize=11 fontcolor="{colours['line']}" color="{colours['frame']}" style=rounded]
        node [fontname="{FONT}" fontsize=12 fontcolor="{colours['text']}" shape=box style="rounded,filled" height=0.35
            color="{colours['line']}" fillcolor="{colours['room']}"]
        edge [fontname="{FONT}" fontsize=10 fontcolor="{colours['text']}" color="{colours['line']}" arrowsize=0.7]
    """
    return subprocess.run(
        ["dot", "-Tsvg"], input="digraph {" + style + "\n".join(graph) + "}", check=True, capture_output=True, text=True
    ).stdout


def sequence(lines, colours):
    """Who takes part stands side by side, and time runs down: nothing is left to lay out."""
    names, rows = {}, []
    for line in filter(None, map(str.strip, lines)):
        if found := re.fullmatch(r"participant (\w+) as (.*)", line):
            names[found[1]] = found[2]
        elif found := re.fullmatch(r"(\w+)(--?)>>(\w+): (.*)", line):
            rows.append((found[1], found[3], found[4], found[2] == "--"))
        elif found := re.fullmatch(r"Note over (\w+),(\w+): (.*)", line):
            rows.append((found[1], found[2], found[3], None))
        else:
            unread(line)
    apart, high = 320, 44
    middle = {name: apart // 2 + apart * place for place, name in enumerate(names)}
    width, bottom = apart * len(names), 60 + high * len(rows)
    text = f'font-family="{FONT}" text-anchor="middle" fill="{colours["text"]}"'
    shapes = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 10}"'
        f' viewBox="0 0 {width} {bottom + 10}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0 0 8 4 0 8z" fill="{colours["line"]}"/></marker></defs>',
    ]
    for name, words in names.items():
        at = middle[name]
        shapes.append(
            f'<line x1="{at}" y1="36" x2="{at}" y2="{bottom}" stroke="{colours["frame"]}"/>'
            f'<rect x="{at - 90}" y="6" width="180" height="30" rx="6" fill="{colours["room"]}"'
            f' stroke="{colours["line"]}"/><text x="{at}" y="26" font-size="14" {text}>{html.escape(words)}</text>')
    for place, (start, end, words, dashed) in enumerate(rows):
        y, centre = 80 + high * place, (middle[start] + middle[end]) / 2
        if dashed is None:
            left, right = min(middle[start], middle[end]) - 90, max(middle[start], middle[end]) + 90
            shapes.append(
                f'<rect x="{left}" y="{y - 18}" width="{right - left}" height="26" fill="{colours["room"]}"'
                f' stroke="{colours["frame"]}"/>')
        else:
            shapes.append(
                f'<line x1="{middle[start]}" y1="{y}" x2="{middle[end]}" y2="{y}" stroke="{colours["line"]}"'
                f' marker-end="url(#tip)"{" stroke-dasharray=" + chr(34) + "5 4" + chr(34) if dashed else ""}/>')
        above = 0 if dashed is None else 6
        shapes.append(f'<text x="{centre}" y="{y - above}" font-size="12" {text}>{html.escape(words)}</text>')
    return "\n".join(shapes + ["</svg>\n"])
