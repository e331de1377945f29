"""nonsense.py FOLDER CHOREO: makes inputs that are no programs and checks how `choreo compile` ends."""
import os
import random
import subprocess
import sys
import time

folder, choreo = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
valid = open(os.path.join(os.path.dirname(__file__), "scale.co"), "rb").read()
kernel = b"__co__ void f(global f32 [N] x) { parallel b by N : block { x.at(b) = %s; } }\n"
rng = random.Random(7)
inputs = {
    "empty": b"",
    "random": bytes(rng.randrange(256) for _ in range(100_000)),
    "ascii": bytes(rng.randrange(32, 127) for _ in range(100_000)),
    "random_function": b"__co__ void f(" + bytes(rng.randrange(32, 127) for _ in range(50_000)),
    "nul": kernel % b"1.0f" + b"\0",
    "nul_inside": kernel % b"1.0\0f",
    "utf16": "__co__ void f() {}\n".encode("utf-16"),
    "latin1": kernel % b"\xe9",
    "no_function": b"int main() { return 0; }\n",
    "parens": kernel % (b"(" * 10_000 + b"1" + b")" * 10_000),
    "open_parens": kernel % (b"(" * 10_000),
    "braces": b"__co__ void f() {" + b"{" * 10_000 + b"}" * 10_000 + b"}\n",
    "brackets": b"__co__ void f() { x = a" + b"[" * 10_000 + b"]" * 10_000 + b"; }\n",
    "minus": kernel % (b"-" * 10_001 + b"1"),
    "ternary": kernel % (b"a ? b : " * 10_000 + b"c"),
    "ifs": b"__co__ void f() {" + b"if (1) " * 10_000 + b"; }\n",
    "host_braces": b"{" * 10_000,
    "comment": b"/* " + valid,
    "string": kernel % b'"',
    "long_line": b"x" * 50_000_000,
    "long_name": b"x" * 15_000_000,
    "long_line_of_spaces": b" " * 50_000_000 + kernel,
    "macro_recursion": b"#define A B B\n#define B A A\n" + kernel % b"A",
    "macro_growth": b"".join(b"#define M%d M%d M%d\n" % (i, i + 1, i + 1) for i in range(40)) + kernel % b"M0",
    "include_itself": b'#include "include_itself.co.h"\n' + kernel % b"1 +",
    "line_continuations": b"\\\n" * 100_000 + b"__co__",
}
with open(os.path.join(folder, "include_itself.co.h"), "w", encoding="utf-8") as header:
    header.write('#include "include_itself.co.h"\n')
for step in range(1, 12):
    inputs[f"truncated_{step}"] = valid[: valid.find(b"int main") * step // 12]

failures = 0
for name, text in inputs.items():
    path = os.path.join(folder, name + ".co")
    with open(path, "wb") as file:
        file.write(text)
    start = time.monotonic()
    try:
        result = subprocess.run([choreo, "compile", path, "-o", path + ".cu"], capture_output=True, timeout=20, check=False)
        status, said = result.returncode, result.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        status, said = "timeout", ""
    took = time.monotonic() - start
    # The bound is 1 s on an idle machine; tests share theirs.
    ok = status == 1 and "error:" in said and "internal error" not in said and took < 5
    ok = ok and len(said) < 100_000 and not os.path.exists(path + ".cu")
    print(f"{'ok  ' if ok else 'FAIL'} {name}: status {status}, {took:.2f} s, {len(said)} bytes")
    if not ok:
        failures += 1
        print(said[:2000])
    os.remove(path)
sys.exit(1 if failures else 0)
