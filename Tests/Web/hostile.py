"""Texts from outside that try to command a terminal or a browser, and what must not be left of them."""

import re

#: Erases the screen, sets a colour, begins a line, and turns the direction of the following text.
TERMINAL = "a\x1b[2J\x9b31m\x07\r\x85\u2028\u2029\u202e\u2066\u2069\u200e\u200f\u061cb"

#: Each in a text of its own: markup, with marks that make one character of themselves and a bracket, and what looks like escapes.
TEXTS = [
    TERMINAL,
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "'\"--><iframe src=javascript:alert(1)></iframe>",
    "</td></tr></table><b>bold</b>",
    "<a href=javascript:alert(1)>link</a>",
    "&lt;i&gt;&#60;i&#62;",
    "{{constructor.constructor('alert(1)')()}}",
    "x\n<b>y",
    *(f"{mark}<b>x{mark}</b{mark}>" for mark in ("\u0301", "\u0600", "\u0d4e", "\U000110bd", "\u200d")),
    "\u202eevil\u202c \u2066isolated",
    "__proto__",
]

#: Control characters, separators of lines, and what changes the direction of text.
COMMANDS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def is_line(text):
    """True for a text without control characters, such as the fields of pushes and calls need."""
    return not COMMANDS.search(text) and text.isprintable()
