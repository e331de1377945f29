"""Builds the kernel programs with nvcc, from generated CUDA at hand or compiled anew.

In: generated CUDA (generated/ in a package, tests/golden/ in the repository) or the .co sources and
`choreo`. Out: one Program a kernel: binary, resource report, and the SHA-256 of all it was made of.
A program is built again when any of these, or the command, changed.
"""

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from comparison import backends

NVCC_OPTIONS = ["-std=c++20", "-O3", "-gencode", "arch=compute_90a,code=sm_90a", "-lineinfo",
                "-Xptxas", "-v"]


class BuildError(RuntimeError):
    """A kernel cannot be built; the text names it."""


@dataclasses.dataclass
class Program:
    backend: str
    binary: pathlib.Path
    record: dict  # command, seconds, resources, files


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def find_nvcc(args):
    found = args.nvcc or shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if not found:
        raise BuildError("nvcc not found: install the CUDA toolkit, or use --nvcc PATH")
    return found


def find_choreo(args):
    if args.choreo:
        return args.choreo
    built = sorted(args.root.glob("build/*/bin/choreo"))
    found = str(built[0]) if built else shutil.which("choreo")
    if not found:
        raise BuildError("--regenerate: choreo not found; build it, or use --choreo PATH")
    return found


def source_of(args, kernel):
    return pathlib.Path("kernels/attention") / f"{kernel}.co"


def generated_of(args, kernel):
    """The CUDA of a kernel, at hand or made now."""
    if not args.regenerate:
        for folder in ("generated", "tests/golden"):
            path = args.root / folder / f"{kernel}.cu"
            if path.exists():
                return path
        raise BuildError(f"{kernel}: no generated CUDA here; use --regenerate")
    path = args.build_dir / "generated" / f"{kernel}.cu"
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [os.path.abspath(find_choreo(args)), "compile", str(source_of(args, kernel)), "-o", str(path)]
    _tool(kernel, command, args.root)
    return path


def _tool(kernel, command, cwd):
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    except OSError as e:
        raise BuildError(f"{kernel}: {command[0]}: {e.strerror}") from e
    if done.returncode != 0:
        tail = (done.stderr + done.stdout).strip()[-1500:]
        raise BuildError(f"{kernel}: {pathlib.Path(command[0]).name} failed with exit status "
                         f"{done.returncode}\n{tail}")
    return done.stdout + done.stderr


def inputs_of(args, kernel, generated):
    """Every file that the program is made of: source, generated file, runtime and harness headers."""
    files = [args.root / source_of(args, kernel), generated]
    for folder in ("kernels", "runtime/include"):
        files += (args.root / folder).rglob("*.h")
    return {_shown(args, f): sha256(f) for f in sorted(files) if f.exists()}


def _shown(args, path):
    path = pathlib.Path(path)
    return str(path.relative_to(args.root)) if path.is_relative_to(args.root) else str(path)


def unmangled(name):
    """The last part of a nested C++ name, which is its function; other names as they are."""
    rest, part = name.removeprefix("_ZN"), name
    while found := re.match(r"\d+", rest):
        end = found.end() + int(found[0])
        part, rest = rest[found.end():end], rest[end:]
    return part


def resources(log):
    """[{kernel, registers, stack, spill_stores, spill_loads}] of what `ptxas -v` printed."""
    rows, name, memory = [], "", (0, 0, 0)
    for line in log.splitlines():
        if found := re.search(r"Compiling entry function '([^']+)'", line):
            name = unmangled(found[1])
        elif found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill", line):
            memory = tuple(map(int, found.groups()))
        elif (found := re.search(r"Used (\d+) registers", line)) and name:
            rows.append(dict(zip(("kernel", "registers", "stack", "spill_stores", "spill_loads"),
                                 (name, int(found[1]), *memory))))
            name, memory = "", (0, 0, 0)
    return rows


def _build(args, nvcc, backend):
    kernel = backend.kernel
    generated = generated_of(args, kernel)
    binary, state = args.build_dir / kernel, args.build_dir / f"{kernel}.json"
    command = [nvcc, *NVCC_OPTIONS, f"-I{args.root}/runtime/include", f"-I{args.root}/kernels/attention",
               "-o", str(binary), str(generated)]
    files = inputs_of(args, kernel, generated)
    if binary.exists() and state.exists():
        record = json.loads(state.read_text())
        if (record["files"], record["command"]) == (files, command) and \
                record["binary_sha256"] == sha256(binary):
            return Program(backend.name, binary, record)
    begin = time.monotonic()
    log = _tool(kernel, command, args.root)
    (args.build_dir / f"{kernel}-nvcc.log").write_text(" ".join(command) + "\n" + log)
    record = {"command": command, "seconds": round(time.monotonic() - begin, 1),
              "generated_by": "choreo, now" if args.regenerate else "at hand",
              "resources": resources(log), "files": files, "binary_sha256": sha256(binary)}
    state.write_text(json.dumps(record, indent=1))
    return Program(backend.name, binary, record)


def existing(args, backend):
    """A program of an earlier build, or one brought along: then little is known of it."""
    binary, state = args.build_dir / backend.kernel, args.build_dir / f"{backend.kernel}.json"
    if not binary.exists():
        raise BuildError(f"{backend.kernel}: no binary {binary}; leave out --skip-build")
    record = json.loads(state.read_text()) if state.exists() else {"files": {}}
    if record.get("binary_sha256") != (now := sha256(binary)):
        record = {"files": {}, "binary_sha256": now, "note": "not built by this script"}
    return Program(backend.name, binary, record)


def programs(args, say):
    """({backend: Program}, {backend: why not}) of the own kernels among --backends."""
    wanted = [backends.TABLE[n] for n in args.backends if not backends.TABLE[n].is_peer]
    built, failed = {}, {}
    if not wanted:
        return built, failed
    args.build_dir.mkdir(parents=True, exist_ok=True)
    make = existing
    if not args.skip_build:
        nvcc = find_nvcc(args)
        make = lambda args, backend: _build(args, nvcc, backend)  # noqa: E731
        say(f"building {', '.join(b.name for b in wanted)} with {nvcc}")
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        tasks = {b: pool.submit(make, args, b) for b in wanted}
    for backend, task in tasks.items():
        try:
            built[backend.name] = task.result()
        except BuildError as e:
            failed[backend.name] = str(e)
            continue
        used = ", ".join(f"{r['kernel']}: {r['registers']} registers"
                         for r in built[backend.name].record.get("resources", []))
        say(f"  {backend.name}: {built[backend.name].binary} {used}".rstrip())
    return built, failed
