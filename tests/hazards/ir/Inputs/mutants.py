#!/usr/bin/env python3
"""Mutants of the lowered IR of a shipped kernel: what `choreo check` must say of them.

  mutants.py TEST CHOREO KERNELS FOLDER

TEST names a kernel (`KERNEL: attention/v4_nonpersistent_fa.co`, below KERNELS; `OPTIONS: -D…` and `NAME: f` if it
has several functions), a shape (`SHAPE: B=1,…`) and lines of its source: `LINE store: tma.copy o_buf` makes `{store}` the number of the one line that begins with this text, of
the second one with `LINE store 2: …`. Then come mutants, each with a name, edits and, if it is BAD, expectations:

  BAD the fence is missing                 GOOD two fences
  @                                        @ 2
  - fence.proxy.async loc({store}:9)       - fence.proxy.async loc({store}:9)
  ? SimMissingProxyFence {store} of `o_buf`  + fence.proxy.async
                                           + fence.proxy.async loc({store}:9)

An edit replaces the text of its `-` lines by its `+` lines. The text must stand in the IR once, or as often as the `@`
says: else the compiler has changed under the test, and the test fails. `?` is a diagnostic that must come, with line
(`-` for none) and some of its words; `? WRONG` asks for other results without one; `! SimRace` must not come.
A GOOD mutant must be silent and compute what the kernel computes. FOLDER is for files.
"""
import pathlib
import re
import subprocess
import sys


class Mutant:
    def __init__(self, kind, name):
        self.kind, self.name, self.edits, self.expected, self.unexpected = kind, name, [], [], []


class Test:
    def __init__(self, path, kernels):
        self.lines, self.mutants, self.options, self.name = {}, [], [], []
        for line in path.read_text().splitlines():
            self.read(line, kernels)

    def read(self, line, kernels):
        head, _, rest = line.partition(" ")
        if head == "KERNEL:":
            self.kernel = kernels / rest.strip()
        elif head == "SHAPE:":
            self.shape = rest.strip()
        elif head == "OPTIONS:":
            self.options = rest.split()
        elif head == "NAME:":
            self.name = ["--kernel", rest.strip()]
        elif head == "LINE":
            self.find_line(rest)
        elif head in ("BAD", "GOOD"):
            self.mutants.append(Mutant(head, rest))
        elif head == "@":
            self.mutants[-1].edits.append((int(rest or 1), [], []))
        elif head in ("-", "+"):
            self.mutants[-1].edits[-1][1 if head == "-" else 2].append(self.filled(rest).strip())
        elif head == "?":
            self.mutants[-1].expected.append(self.filled(rest).strip())
        elif head == "!":
            self.mutants[-1].unexpected.append(rest.strip())

    def find_line(self, rest):
        name, _, text = rest.partition(":")
        name, _, which = name.partition(" ")
        source = self.kernel.read_text().splitlines()
        found = [n for n, line in enumerate(source, 1) if line.strip().startswith(text.strip())]
        if len(found) < int(which or 1) or (not which and len(found) != 1):
            raise SystemExit(f"`{text.strip()}` begins {len(found)} lines of {self.kernel.name}")
        self.lines[name] = found[int(which or 1) - 1]

    def filled(self, text):
        return re.sub(r"\{(\w+)\}", lambda m: str(self.lines[m[1]]), text)


def edited(ir, edits):
    for count, old, new in edits:
        pattern = r"\s*\n\s*".join(re.escape(line) for line in old)
        replacement = "\n".join(new)
        ir, done = re.subn(pattern, lambda _: replacement, ir)
        if not old or done != count:
            raise ValueError(f"the edit of `{' / '.join(old)}` fits {done} places, not {count}")
    return ir


class Runner:
    def __init__(self, choreo, test, folder):
        self.choreo, self.test, self.folder = choreo, test, folder

    def run(self, *arguments):
        done = subprocess.run([self.choreo, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def lowered(self):
        status, out = self.run("compile", str(self.test.kernel), *self.test.options,
                               "--emit=lowered", "-o", str(self.folder / "kernel.ir"))
        if status != 0:
            raise SystemExit(out)
        return (self.folder / "kernel.ir").read_text()

    def execute(self, ir):
        """Exit status, output and digest of the results."""
        file = self.folder / "mutant.ir"
        file.write_text(ir)
        status, out = self.run("run", "--from=lowered", str(file), "--schedules", "3", "--shape",
                               self.test.shape, *self.test.name)
        return status, out, re.findall(r"hash [0-9a-f]+", out)


def said(out, expected):
    kind, line, *words = expected.split(" ", 2)
    place = ":" if line == "-" else f".co:{line}:"
    return any(f"[{kind}]" in text and place in text and all(w in text for w in words)
               for text in out.splitlines())


def faults(mutant, original, result):
    status, out, digest = result
    if mutant.kind == "GOOD" or "WRONG" in mutant.expected:
        if status != 0 or "error:" in out:
            yield "is not silent"
        if not digest or (digest == original) == (mutant.kind == "BAD"):
            yield f"computes {digest}, the kernel {original}"
        return
    if status != 1:
        yield f"exit status {status}"
    if not mutant.expected:
        yield "nothing is expected"
    yield from (f"does not say {e}" for e in mutant.expected if not said(out, e))
    yield from (f"says {e}" for e in mutant.unexpected if f"[{e}]" in out)


def main():
    path, choreo, kernels, folder = sys.argv[1:]
    test = Test(pathlib.Path(path), pathlib.Path(kernels))
    runner = Runner(choreo, test, pathlib.Path(folder))
    ir = runner.lowered()
    status, out, original = runner.execute(ir)
    if status != 0 or not original:
        raise SystemExit(f"the kernel itself: {out}")
    kinds = {mutant.kind for mutant in test.mutants}
    if kinds != {"BAD", "GOOD"}:
        raise SystemExit("a test has mutants of both kinds")
    wrong = 0
    for mutant in test.mutants:
        try:
            result = runner.execute(edited(ir, mutant.edits))
            found = list(faults(mutant, original, result))
        except ValueError as error:
            result, found = (0, "", []), [str(error)]
        if found:
            wrong += 1
            print(f"{mutant.kind} {mutant.name}: {'; '.join(found)}\n{result[1]}")
    print(f"{len(test.mutants)} mutants, {wrong} not as expected")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
