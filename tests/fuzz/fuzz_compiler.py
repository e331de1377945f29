#!/usr/bin/env python3
"""Mutation fuzzer of the compiler: whatever the input, choreo answers with an exit status of 0 or 1.

Takes every .co of tests/, kernels/ and docs/examples/ and the IR that choreo prints for them, mutates
bytes, tokens and lines, and runs `choreo compile` on the result. A finding is a signal, another exit
status, no end within the time limit, an exit status of 1 without a word, or a sanitizer's report. Each
kind of finding is made small, saved, and printed with the command that shows it again.

Case number K of seed S is always the same for one corpus: `--seed S --first K --cases 1` repeats it.
"""
import argparse
import dataclasses
import pathlib
import random
import re
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = re.compile(rb"\s+|[A-Za-z_$%#][A-Za-z0-9_$.]*|[0-9][0-9A-Za-z.]*|\"[^\"\n]*\"|=>|::|[<>=!&|+*-]{1,3}|.",
                   re.S)
MEMORY = 4 << 30
# What makes trouble in most languages, and in this one.
NUMBERS = [b"0", b"-1", b"1", b"2", b"7", b"63", b"65", b"255", b"256", b"1024", b"65536", b"2147483647",
           b"2147483648", b"-2147483648", b"4294967296", b"9223372036854775807",
           b"18446744073709551616", b"0x", b"1e999", b"0.0f", b"1e-400f"]
SANITIZER = re.compile(rb"AddressSanitizer|LeakSanitizer|UndefinedBehavior|runtime error:|MemorySanitizer")


@dataclasses.dataclass
class Seed:
    """A file of the corpus: its text, what it holds, and the options that it needs."""
    text: bytes
    form: str  # co, ir or lowered
    options: list


def ways(form):
    """The command lines that a file of this form is tried with."""
    if form != "co":
        return [[f"--from={form}", "--target=cuda"], [f"--from={form}", f"--emit={form}"]]
    return [["--target=cuda"], ["--emit=ast"], ["--emit=lowered"], ["--target=sim"],
            ["--diagnostics-format=json"], ["--emit=tokens"]]


def limits(address_space):
    def apply():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    return apply


class Compiler:
    def __init__(self, binary, limit, folder):
        self.binary = binary
        self.limit = limit
        self.folder = folder
        # A sanitizer's shadow memory does not fit into a limited address space.
        self.before = limits(b"__asan_init" not in pathlib.Path(binary).read_bytes())

    def command(self, seed, way, path):
        return [self.binary, "compile", *way, *seed.options, str(path)]

    def run(self, seed, way, text):
        path = self.folder / ("case.co" if seed.form == "co" else "case.ir")
        path.write_bytes(text)
        try:
            done = subprocess.run(self.command(seed, way, path), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=self.limit, preexec_fn=self.before, check=False)
        except subprocess.TimeoutExpired:
            return None
        return done

    def verdict(self, seed, way, text):
        """What is wrong with the answer, without the numbers and names of this input; '' if nothing."""
        done = self.run(seed, way, text)
        if done is None:
            return f"no end within {self.limit} s"
        words = done.stderr + (done.stdout if "--diagnostics-format=json" in way else b"")
        if SANITIZER.search(done.stderr):
            line = next(x for x in done.stderr.splitlines() if SANITIZER.search(x))
            return "sanitizer: " + plain(line)
        if done.returncode < 0:
            return f"signal {-done.returncode}: " + plain(first_line(done.stderr))
        if done.returncode not in (0, 1):
            return f"exit {done.returncode}: " + plain(first_line(done.stderr))
        if done.returncode == 1 and not words.strip():
            return "exit 1 without a word"
        return ""


def first_line(text):
    lines = [line for line in text.splitlines() if b"check" in line or b"bug" in line]
    lines += [line for line in text.splitlines() if line.strip()]
    return lines[0] if lines else b""


def plain(line):
    text = re.sub(r"0x[0-9a-f]+|==\d+==", "", line.decode(errors="replace"))
    place = re.search(r"\w+\.(?:cpp|h):\d+", text)
    return place.group(0) + " " + re.sub(r"\d+", "N", text)[-120:] if place else re.sub(r"\d+", "N", text)


def corpus(compiler, largest=200000):
    """All seeds, in a fixed order; the IR of those that compile beside them."""
    seeds = []
    folders = [ROOT / "tests", ROOT / "kernels", ROOT / "docs" / "examples"]
    for path in sorted(p for folder in folders for p in folder.rglob("*.co")):
        text = path.read_bytes()
        if len(text) > largest:
            continue
        options = ["-I", str(path.parent)]
        run = re.search(rb"RUN:(.*)", text)
        if run:
            options += [d.decode() for d in re.findall(rb"-D\w+(?:=\w+)?", run.group(1))]
        seed = Seed(text, "co", options)
        seeds.append(seed)
        for form in ("ir", "lowered"):
            done = compiler.run(seed, [f"--emit={form}"], text)
            if done is not None and done.returncode == 0:
                seeds.append(Seed(done.stdout, form, []))
    for path in sorted((ROOT / "tests").rglob("*.ir")):
        text = path.read_bytes()
        form = "lowered" if b"state=lowered" in text else "ir"
        seeds.append(Seed(text, form, []))
    return seeds


class Mutator:
    def __init__(self, seeds):
        self.tokens = {"co": [], "ir": [], "lowered": []}
        self.lines = {"co": [], "ir": [], "lowered": []}
        for seed in seeds:
            known = {t for t in TOKEN.findall(seed.text) if t.strip()}
            self.tokens[seed.form] += sorted(known)
            self.lines[seed.form] += [line for line in seed.text.split(b"\n") if line.strip()]
        for form in self.tokens:
            self.tokens[form] = sorted(set(self.tokens[form]))
            self.lines[form] = sorted(set(self.lines[form]))

    def mutate(self, seed, rng):
        text = seed.text
        for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 5, 8])):
            kind = rng.random()
            if kind < 0.70:
                text = self.on_tokens(text, seed.form, rng)
            elif kind < 0.90:
                text = self.on_lines(text, seed.form, rng)
            else:
                text = self.on_bytes(text, rng)
        return text

    def on_tokens(self, text, form, rng):
        tokens = TOKEN.findall(text)
        places = [i for i, t in enumerate(tokens) if t.strip()]
        if not places:
            return text
        i = rng.choice(places)
        what = rng.randrange(6)
        if what == 0:
            tokens[i] = b""
        elif what == 1:
            tokens.insert(i, tokens[i] + b" ")
        elif what == 2:
            k = rng.choice(places)
            tokens[i], tokens[k] = tokens[k], tokens[i]
        elif what == 3:
            tokens[i] = rng.choice(self.tokens[form])
        elif what == 4:  # another token of the same file: it keeps more programs meaningful
            tokens[i] = tokens[rng.choice(places)]
        else:
            numbers = [k for k in places if tokens[k][:1].isdigit()]
            tokens[rng.choice(numbers or places)] = rng.choice(NUMBERS)
        return b"".join(tokens)

    def on_lines(self, text, form, rng):
        lines = text.split(b"\n")
        i = rng.randrange(len(lines))
        what = rng.randrange(5)
        if what == 0:
            del lines[i]
        elif what == 1:
            lines.insert(i, lines[i])
        elif what == 2:
            k = rng.randrange(len(lines))
            lines[i], lines[k] = lines[k], lines[i]
        elif what == 3 and self.lines[form]:
            lines.insert(i, rng.choice(self.lines[form]))
        else:
            del lines[i:i + rng.randrange(1, 12)]
        return b"\n".join(lines)

    @staticmethod
    def on_bytes(text, rng):
        if not text:
            return b"\x00"
        i = rng.randrange(len(text))
        what = rng.randrange(4)
        if what == 0:
            return text[:i]
        if what == 1:
            return text[:i] + bytes([rng.randrange(256)]) + text[i + 1:]
        if what == 2:
            return text[:i] + text[i + rng.randrange(1, 40):]
        return text[:i] + bytes([rng.randrange(256)]) * rng.choice([1, 2, 3000]) + text[i:]


def smaller(compiler, seed, way, text, verdict, budget):
    """Drops lines, then tokens, in shrinking runs while the verdict stays."""
    for split, join in ((lambda t: t.split(b"\n"), b"\n"), (TOKEN.findall, b"")):
        parts = split(text)
        size = max(len(parts) // 2, 1)
        while size >= 1 and budget > 0:
            i = 0
            while i < len(parts) and budget > 0:
                shorter = parts[:i] + parts[i + size:]
                budget -= 1
                if compiler.verdict(seed, way, join.join(shorter)) == verdict:
                    parts = shorter
                else:
                    i += size
            size //= 2
        text = join.join(parts)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--choreo", required=True, help="the compiler to test")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, help="at most so many cases")
    parser.add_argument("--limit", type=float, default=10, help="seconds a run may take")
    parser.add_argument("--reduce", type=int, default=400, help="runs to make one finding small")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("fuzz-findings"))
    parser.add_argument("--form", choices=["co", "ir", "lowered"], help="only files of this form")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    compiler = Compiler(str(pathlib.Path(args.choreo).resolve()), args.limit, args.out)
    seeds = corpus(compiler)
    mutator = Mutator(seeds)
    if args.form:
        seeds = [seed for seed in seeds if seed.form == args.form]
    stop = time.monotonic() + args.seconds
    number, known = args.first, set()
    while time.monotonic() < stop and (args.cases is None or number < args.first + args.cases):
        rng = random.Random(f"{args.seed}:{number}")
        seed = rng.choice(seeds)
        text = mutator.mutate(seed, rng)
        way = rng.choice(ways(seed.form))
        number += 1
        verdict = compiler.verdict(seed, way, text)
        if verdict == "" or verdict in known:
            continue
        known.add(verdict)
        budget = 25 if verdict.startswith("no end") else args.reduce
        text = smaller(compiler, seed, way, text, verdict, budget)
        name = f"finding_{args.seed}_{number - 1}.{'co' if seed.form == 'co' else 'ir'}"
        (args.out / name).write_bytes(text)
        print(f"FINDING {verdict}\n  {' '.join(compiler.command(seed, way, args.out / name))}",
              flush=True)
    print(f"fuzz_compiler: {number - args.first} cases from {len(seeds)} files, "
          f"{len(known)} kinds of findings")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
