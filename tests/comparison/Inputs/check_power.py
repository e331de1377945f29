"""Checks clock, power and energy of a run made up here: which readings count, and what follows from them."""
import pathlib

from comparison.record import power, runs


def made(state, sms=132):
    samples = [{"regime": "sustained", "seq": 16384, "backend": n, "ms": 10.0, "begin": b, "end": e} for n, b, e in (
        ("fa3", "2026-01-01T12:00:00.000+00:00", "2026-01-01T12:00:03.000+00:00"),
        ("v3", "2026-01-01T12:00:10.000+00:00", "2026-01-01T12:00:13.000+00:00"))]
    data = {"workload": {"batch": 4, "heads": 32, "dim": 128, "sizes": [16384],
                         "regimes": {"sustained": {"repeat": 200}}},
            "options": {"backends": ["v3", "fa3"]}, "machine": {"sm_count": sms}, "verification": [],
            "samples": samples, "state": state}
    figures = {("sustained", 16384, n): {"ms": 10.0, "tflops": 879.609} for n in ("v3", "fa3")}
    return runs.Run(pathlib.Path("made"), data, figures)


def row(clock_time, clock, watts, busy=100.0):
    return {"timestamp": clock_time, "clocks.current.sm": clock, "power.draw": watts, "utilization.gpu": busy}


# nvidia-smi's clock is eight hours ahead. The launches of FA3 are timed from 12:00:01 on, those of v3 from :11.
STATE = [row("2026/01/01 19:59:59.000", 300.0, 90.0, 0.0), row("2026/01/01 20:00:01.200", 1980.0, 200.0),
         row("2026/01/01 20:00:01.700", 1500.0, 700.0), row("2026/01/01 20:00:02.200", 1510.0, 690.0),
         row("2026/01/01 20:00:02.700", 1520.0, 680.0), row("2026/01/01 20:00:02.900", 1000.0, 100.0, 5.0),
         row("2026/01/01 20:00:11.600", 1600.0, 650.0)]
found = power.of(made(STATE))
assert list(found) == ["v3", "fa3"], found
assert found["fa3"]["readings"] == 3 and found["fa3"]["clock"] == 1510 and found["fa3"]["watts"] == 690
steps = 128 * 128 * 129 // 2
assert abs(found["fa3"]["cycles"] - 1510e6 * 10e-3 * 132 / steps) < 1e-6
assert abs(found["fa3"]["busy"] - 2048 / found["fa3"]["cycles"]) < 1e-12
assert abs(found["v3"]["pj"] - 650 / 879.609) < 1e-9
assert power.of(made([])) == {} and power.of(made(STATE, sms=None)) == {}
print("power: readings inside the timed launches count, in the time of the samples")
