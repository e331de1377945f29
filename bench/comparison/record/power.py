"""Clock, power and energy of each implementation, from the state of the card while it was timed.

In: a Run; what nvidia-smi said twice a second, and when each sample was taken. Out: for the longest size
under sustained load: medians of clock and power, and what follows from them. Must hold: only readings from
well inside the timed launches count; where there are none, there is no figure.
"""

import datetime
import statistics

from comparison.record import runs

TILE = 128                # rows of a query tile, keys of a KV tile
FLOPS_A_CYCLE = 4096      # of an SM's tensor core: dense BF16, products and sums (H100 data sheet: 989 TFLOPS,
                          # 132 SMs, 1830 MHz)
SETTLED_S = 0.5           # power is an average over the last second or so
HALF_HOUR = 1800


def _time(text):
    """Of a sample (ISO, maybe with a zone) or of nvidia-smi (2026/01/31 12:00:00.000); seconds, without zone."""
    text = text.replace("/", "-").replace(" ", "T")
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


def _readings(run):
    """(time, clock, power) while the card was busy, in the time of the samples: nvidia-smi tells local time."""
    state = run.data["state"]
    if not state or not run.data["samples"]:
        return []
    apart = _time(state[0]["timestamp"]) - _time(run.data["samples"][0]["begin"])
    zone = round(apart / HALF_HOUR) * HALF_HOUR
    rows = [(r["timestamp"], r.get("clocks.current.sm"), r.get("power.draw")) for r in state if runs.is_busy(r)]
    return [(_time(t) - zone, clock, watts) for t, clock, watts in rows
            if isinstance(clock, (int, float)) and isinstance(watts, (int, float))]


def sm_count(run):
    data = run.data
    return data["machine"].get("sm_count") or next((v["sm_count"] for v in data["verification"] if "sm_count" in v), None)


def of(run, regime="sustained"):
    """{backend: figures}; `cycles` are those of a multiprocessor for one 128 × 128 step, `busy` the share of
    them that its products take, `pj` the energy of a useful floating-point operation in 10^-12 J."""
    w, seq, sms, readings = run.data["workload"], max(run.sizes), sm_count(run), _readings(run)
    tiles = seq // TILE
    steps = w["batch"] * w["heads"] * tiles * (tiles + 1) // 2
    needed = 4 * TILE * TILE * w["dim"] / FLOPS_A_CYCLE
    found = {}
    for name in run.backends(regime):
        inside = []
        for s in run.data["samples"]:
            if (s["regime"], s["seq"], s["backend"]) == (regime, seq, name):
                end = _time(s["end"])
                begin = end - w["regimes"][regime]["repeat"] * s["ms"] / 1e3 + SETTLED_S
                inside += [r for r in readings if begin < r[0] < end]
        if not inside or not sms:
            continue
        clock, watts = (statistics.median(r[i] for r in inside) for i in (1, 2))
        figures = run.figures[regime, seq, name]
        cycles = clock * 1e3 * figures["ms"] * sms / steps
        found[name] = {"readings": len(inside), "clock": clock, "watts": watts, "cycles": cycles,
                       "busy": needed / cycles, "pj": watts / figures["tflops"]}
    return found
