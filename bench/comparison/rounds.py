"""In which order backends are timed, and the timing itself.

In: contenders that were verified. Out: samples, as they come. For each size: a wait until the card is
cool; then rounds, each over all backends, every second one in reverse order, so that a card that slows
down favours nobody; the reference is measured first and last of each round.
"""

import dataclasses
import datetime
import time

from comparison.backends import REFERENCE

START_S = 0.2          # of a kernel's process
ASSUMED_TFLOPS = 450   # for the first estimate of the time left; corrected by what was seen


@dataclasses.dataclass(frozen=True)
class Step:
    seq: int
    regime: str
    turn: int
    backend: str
    place: str = ""  # of the reference: first or last of its round


def order(names, turn):
    """[(backend, place)] of one round."""
    others = [n for n in names if n != REFERENCE]
    if turn % 2:
        others.reverse()
    if REFERENCE not in names:
        return [(n, "") for n in others]
    return [(REFERENCE, "first"), *((n, "") for n in others), (REFERENCE, "last")]


def plan(names, sizes, regimes, rounds):
    return [Step(seq, regime, turn, name, place)
            for seq in sizes for regime in regimes for turn in range(rounds)
            for name, place in order(names, turn)]


def expected_s(step, workload, gap_s=0.0):
    regime = workload.regimes[step.regime]
    launches = regime.warmup + regime.repeat
    return START_S + max(gap_s, regime.idle_s) + launches * workload.tflops(step.seq, 1e3) / ASSUMED_TFLOPS


class Progress:
    """Time left, from what the steps so far took against what was expected of them."""

    def __init__(self, steps, workload, gap_s=0.0, clock=time.monotonic):
        self.left = sum(expected_s(s, workload, gap_s) for s in steps)
        self.workload, self.gap_s, self.clock = workload, gap_s, clock
        self.done, self.begin, self.number, self.count = 0.0, clock(), 0, len(steps)

    def step(self, step):
        seconds = expected_s(step, self.workload, self.gap_s)
        self.done, self.left, self.number = self.done + seconds, self.left - seconds, self.number + 1

    def left_s(self):
        return max(0.0, self.left) * ((self.clock() - self.begin) / self.done if self.done else 1.0)


def duration(seconds):
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"


def measure(run, contenders, names, args, cool, say, on_failure):
    """All rounds. `cool(seq)` waits; `on_failure(name, why)` stops the run, or lets it go on without
    that backend."""
    workload = run.workload
    steps = plan(names, workload.sizes, args.regimes, args.rounds)
    progress, cooled = Progress(steps, workload, args.gap_s), set()
    for step in steps:
        if step.backend not in contenders:
            progress.step(step)
            continue
        if step.seq not in cooled:
            cooled.add(step.seq)
            run.data["cooling"].append({"seq": step.seq, **cool()})
        head = (f"[{progress.number + 1:3}/{progress.count}] S={step.seq} {step.regime} round "
                f"{step.turn + 1}/{args.rounds} {step.backend}")
        begin = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        try:
            ms = contenders[step.backend].time(
                step.seq, dataclasses.asdict(workload.regimes[step.regime]))
        except Exception as e:  # a backend may fail in any way; it is reported by name
            on_failure(step.backend, f"S={step.seq} {step.regime}: {e}")
            progress.step(step)
            continue
        run.data["samples"].append({
            "regime": step.regime, "seq": step.seq, "backend": step.backend, "round": step.turn,
            "place": step.place, "ms": ms, "begin": begin,
            "end": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")})
        run.save()
        progress.step(step)
        say(f"{head}: {ms:.4f} ms, {workload.tflops(step.seq, ms):.1f} TFLOPS; about "
            f"{duration(progress.left_s())} left")
