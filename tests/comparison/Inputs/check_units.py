"""Checks functions of bench/comparison one by one; prints how many passed."""
import sys

import types

from comparison import backends, build, machine, options, results, rounds, rows, specialised, workload

W = workload.from_json(open(sys.path[1] + "/workload.json", encoding="utf-8").read())


def sample(backend, ms, place="", seq=4096):
    return {"regime": "sustained", "seq": seq, "backend": backend, "ms": ms, "place": place}


def median_and_range():
    found = results.statistics_of([sample("v3", 2.0), sample("v3", 1.0), sample("v3", 1.5)], W)
    assert len(found) == 1
    s = found[0]
    assert (s["ms"], s["ms_min"], s["ms_max"], s["samples"]) == (1.5, 1.0, 2.0, 3)
    assert s["tflops_min"] < s["tflops"] < s["tflops_max"] and s["ratio_to_fa3"] is None
    assert abs(W.tflops(4096, 1.0) - 549.755813888) < 1e-9


def ratio_within_size():
    found = results.statistics_of(
        [sample("fa3", 1.0), sample("v3", 2.0), sample("fa3", 8.0, seq=8192), sample("v3", 4.0, seq=8192)], W)
    ratios = {(s["backend"], s["seq"]): s["ratio_to_fa3"] for s in found}
    assert ratios == {("fa3", 4096): 1, ("v3", 4096): 0.5, ("fa3", 8192): 1, ("v3", 8192): 2}


def drift():
    found = results.drift_of([sample("fa3", 1.0, "first"), sample("v3", 9.0), sample("fa3", 1.1, "last")])
    assert len(found) == 1 and abs(found[0]["drift"] - 0.1) < 1e-12
    assert results.drift_of([sample("fa3", 1.0, "first")]) == []


def order():
    assert rounds.order(["v1", "fa3", "v3"], 0) == [("fa3", "first"), ("v1", ""), ("v3", ""), ("fa3", "last")]
    assert [n for n, _ in rounds.order(["v1", "fa3", "v3"], 1)] == ["fa3", "v3", "v1", "fa3"]
    assert rounds.order(["v1", "v3"], 1) == [("v3", ""), ("v1", "")]
    assert len(rounds.plan(["v1", "fa3"], (1, 2), ("sustained", "burst"), 3)) == 2 * 2 * 3 * 3


def time_left():
    steps, now = rounds.plan(["v1"], (4096, 16384), ("sustained",), 2), [0.0]
    progress = rounds.Progress(steps, W, clock=lambda: now[0])
    burst = rounds.Step(4096, "burst", 0, "v1")
    assert rounds.expected_s(steps[0], W, 2.0) - rounds.expected_s(steps[0], W) == 2.0
    assert rounds.expected_s(burst, W, 2.0) == rounds.expected_s(burst, W), "a pause lies within a longer one"
    first = progress.left_s()
    assert abs(first - sum(rounds.expected_s(s, W) for s in steps)) < 1e-9
    now[0] = 2 * rounds.expected_s(steps[0], W)  # twice as slow as expected
    progress.step(steps[0])
    assert abs(progress.left_s() - 2 * (first - rounds.expected_s(steps[0], W))) < 1e-9
    for s in steps[1:]:
        progress.step(s)
    assert progress.left_s() < 1e-9 and rounds.duration(125.9) == "2 min 05 s"


def verified_rows():
    for batch, heads, dim in ((4, 32, 128), (1, 1, 64), (2, 3, 128)):
        assert rows.rows_for(batch, heads, dim) * batch * heads * dim >= 260_000
    for seq in (1, 7, 64, 128, 640, 4096, 16384):
        chosen = rows.choose_rows(seq, 16)
        assert chosen == sorted(set(chosen)) and len(chosen) == min(16, seq)
        assert chosen[0] == 0 and chosen[-1] == seq - 1
    edges = {63, 64, 127, 128, 4096 - 128, 4096 - 129, 4096 - 64, 4096 - 65}
    assert edges <= set(rows.choose_rows(4096))
    assert len(rows.choose_rows(1000, 5000)) == 1000


def resources():
    log = """ptxas info    : Compiling entry function 'mha' for 'sm_90a'
ptxas info    : Function properties for mha
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 16 bytes smem
ptxas info    : Compiling entry function 'fill' for 'sm_90a'
ptxas info    : Used 32 registers
"""
    assert build.resources(log) == [
        {"kernel": "mha", "registers": 168, "stack": 8, "spill_stores": 4, "spill_loads": 12},
        {"kernel": "fill", "registers": 32, "stack": 0, "spill_stores": 0, "spill_loads": 0}]


def function_names():
    assert build.unmangled("_ZN10choreo_gen3abc13mha_v1_kernelEPK13__nv_bfloat16lll") == "mha_v1_kernel"
    assert build.unmangled("mha") == "mha"


def cool():
    readings, slept = [80.0, 70.0, 65.0], []
    machine.temperature = lambda gpu: readings.pop(0)
    found = machine.wait_cool(0, 65, 100, sleep=slept.append)
    assert found["reached"] and found["before_c"] == 80 and found["after_c"] == 65 and len(slept) == 2
    machine.temperature = lambda gpu: 90.0
    found = machine.wait_cool(0, 65, 0, sleep=slept.append)
    assert not found["reached"] and found["after_c"] == 90


def workload_file():
    text = open(sys.path[1] + "/workload.json", encoding="utf-8").read()
    for old, new in (('"BSHD"', '"BHSD"'), ('"bf16"', '"fp8"'), ("[4096, 8192, 16384]", "[]"), ('"batch": 4', '"batch": 0'),
                     ('"warmup": 50', '"warmups": 50')):
        assert old in text
        try:
            workload.from_json(text.replace(old, new))
        except workload.WorkloadError:
            continue
        raise AssertionError(f"{new} was accepted")


def compiled(**metadata):
    """A compiled kernel, as far as its metadata go."""
    return types.SimpleNamespace(metadata=types.SimpleNamespace(**metadata))


def twelve_warps():
    specialised.require(compiled(num_warps=12, num_stages=2))
    for kernel, said in ((compiled(num_warps=4), "has 4 warps, not 12"), (compiled(num_warps=8), "has 8 warps"),
                         (compiled(), "an unknown number"), (None, "an unknown number")):
        try:
            specialised.require(kernel)
        except specialised.NotSpecialised as e:
            assert said in str(e), e
            continue
        raise AssertionError(f"{kernel} was accepted")


def backends_asked_for():
    usual = options.parse([])
    assert usual.backends == ["v1", "v2", "v4", "v3", "v5", "fa3", "cudnn", "triton"]
    assert options.parse(["--backends", "all"]).backends == list(backends.TABLE)
    assert usual.ws_python == usual.python == "python3" and not usual.graph and not usual.include_layout
    assert options.parse(["--python", "p"]).ws_python == "p"
    assert options.parse(["--python", "p", "--ws-python", "w"]).ws_python == "w"


def pinned_packages():
    """Each peer names a file of pinned packages, and the line that installs them."""
    folder = options.BENCH / "peers"
    for backend in backends.TABLE.values():
        if backend.is_peer:
            lines = [l for l in (folder / backend.needs).read_text().splitlines() if not l.startswith("#")]
            assert lines and all("==" in l or l.startswith("-r ") for l in lines), backend.needs
            assert all((folder / l[3:]).exists() for l in lines if l.startswith("-r ")), backend.needs
            assert backend.install_line("py") == f"py -m pip install -r bench/peers/{backend.needs}"
    assert {b.needs for b in backends.TABLE.values() if b.needs} == {f.name for f in folder.glob("*.txt")}


def time_of_a_usual_run():
    """All kernels and five peers at three sizes: the timing takes less than five and a half minutes on an H200 (at the
    mean throughput that is assumed there)."""
    names = [*backends.USUAL, "tilelang"]
    steps = rounds.plan(names, W.sizes, ("sustained",), 3)
    assert len(steps) == 3 * 3 * (len(names) + 1)
    assert sum(rounds.expected_s(s, W, options.parse([]).gap_s) for s in steps) < 330


CHECKS = (median_and_range, ratio_within_size, drift, order, time_left, verified_rows, resources,
          function_names, cool, workload_file, twelve_warps, backends_asked_for, pinned_packages,
          time_of_a_usual_run)
for check in CHECKS:
    check()
print(f"units: {len(CHECKS)} passed")
