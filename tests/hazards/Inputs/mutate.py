#!/usr/bin/env python3
"""Makes a mutant of a shipped kernel, for tests/hazards.

  mutate.py TEST FOLDER > mutant.co

TEST names the kernel (`KERNEL: kernels/attention/v4_nonpersistent_fa.co`, below FOLDER) and holds hunks as a diff
does, without line numbers: `@@` begins one; lines that begin with `-` go, with `+` come, with a space stay.
Lines are compared without the white space around them. A hunk must fit one place of the kernel, or with
`@@ all` at least one: else the kernel has changed under the test, and the test fails. New lines take the
indentation of the place; a test writes its expected diagnostics into them.
"""
import pathlib
import sys


def hunks(lines):
    found = []
    for number, line in enumerate(lines, 1):
        if line.startswith("@@"):
            found.append({"line": number, "all": line[2:].strip() == "all", "body": []})
        elif found and line[:1] in ("-", "+", " "):
            found[-1]["body"].append((line[0], line[1:].strip()))
        elif found and line.strip():
            raise SystemExit(f"{number}: not a line of a hunk: {line}")
    return found


def fits(source, at, old):
    return at + len(old) <= len(source) and all(
        source[at + i].strip() == text for i, text in enumerate(old))


def apply(source, hunk):
    old = [text for mark, text in hunk["body"] if mark != "+"]
    if not old:
        raise SystemExit(f"{hunk['line']}: the hunk names no line of the kernel")
    places = [at for at in range(len(source)) if fits(source, at, old)]
    if not places or (len(places) > 1 and not hunk["all"]):
        raise SystemExit(f"{hunk['line']}: the hunk fits {len(places)} places of the kernel")
    for at in reversed(places):
        indent = source[at][: len(source[at]) - len(source[at].lstrip())]
        kept = iter(source[at : at + len(old)])
        new = []
        for mark, text in hunk["body"]:
            if mark == "+":
                new.append(indent + text)
            else:
                line = next(kept)
                if mark == " ":
                    new.append(line)
        source[at : at + len(old)] = new


def main():
    test = pathlib.Path(sys.argv[1])
    lines = test.read_text().splitlines()
    kernel = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("KERNEL:"))
    source = (pathlib.Path(sys.argv[2]) / kernel).read_text().splitlines()
    for hunk in hunks(lines):
        apply(source, hunk)
    print("\n".join(source))


if __name__ == "__main__":
    main()
