"""Makes an interactive tutorial of DocC of a page that is written for readers of Markdown: each section is one of the tutorial,
each listing a step of it, so that the site and the repository say the same, and say it once.

A section begins with a paragraph. The one before a listing is the words of its step, and names the file if it is Swift. What
stands between a listing and the words of the next one are remarks: the first goes with the step, each other is a step of its own
that shows the same. A section without listings, where to read on, is the overview's."""

import os
import re

FENCE = re.compile(r"```(\w*)\n(.*?)\n```", re.S)
PICTURE = re.compile(r"!\[(.*)\]\((.*)\)")


def make(name, text, minutes, catalog):
    """Writes NAME.tutorial and the files that its steps show; the text's links are DocC's already."""
    title, introduction, sections = parsed(text)
    shown = 0

    def show(listing, words):
        """A file of the catalog, as DocC's steps want their code."""
        nonlocal shown
        shown += 1
        file = re.search(r"`([\w/+]+\.swift)`", words) if listing[1] == "swift" else None
        resource = f"{name}-{shown}{'.swift' if file else '.txt'}"
        with open(os.path.join(catalog, resource), "w", encoding="utf-8") as out:
            out.write(listing[2] + "\n")
        if file:
            return directive("Code", name=os.path.basename(file[1]), file=resource)
        # What is typed next is no change of what was typed before.
        return directive("Code", name="At the shell", file=resource, reset="true")

    def steps(body):
        at = [place for place, block in enumerate(body) if FENCE.fullmatch(block)]
        for place, following in zip(at, at[1:] + [len(body) + 1]):
            words, remarks = body[place - 1], body[place + 1:following - 1]
            code = show(FENCE.fullmatch(body[place]), words)
            yield directive("Step", words, code, *remarks[:1])
            yield from (directive("Step", remark, code) for remark in remarks[1:])

    tutorial = directive(
        "Tutorial", directive("Intro", *map(image, introduction), title=title),
        *(directive("Section", directive("ContentAndMedia", first), directive("Steps", *steps(rest)), title=heading)
          for heading, first, *rest in sections if any(map(FENCE.fullmatch, rest))),
        time=minutes)
    with open(os.path.join(catalog, f"{name}.tutorial"), "w", encoding="utf-8") as out:
        out.write(tutorial + "\n")


def parsed(text):
    """The title, the introduction's blocks, and of each section the heading and the blocks."""
    head, *rest = re.split(r"^## +", text, flags=re.M)
    title, _, introduction = head.removeprefix("# ").partition("\n")
    return title.strip(), blocks(introduction), [
        (heading, *blocks(body)) for heading, _, body in (each.partition("\n") for each in rest)]


def blocks(text):
    """Paragraphs and listings."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    return [block.strip("\n") for place, part in enumerate(parts)
            for block in ([part] if place % 2 else re.split(r"\n\s*\n", part)) if block.strip()]


def image(block):
    found = PICTURE.fullmatch(block)
    return directive("Image", source=found[2], alt=found[1]) if found else block


def directive(kind, *content, **arguments):
    words = ", ".join(f'{each}: {value if isinstance(value, int) or value == "true" else quoted(value)}' for each, value in arguments.items())
    inside = "\n\n".join(content).replace("\n", "\n    ").replace("\n    \n", "\n\n")
    return f"@{kind}" + (f"({words})" if words else "") + (f" {{\n    {inside}\n}}" if content else "")


def quoted(words):
    return '"' + words.replace('"', '\\"') + '"'
