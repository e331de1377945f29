"""What is computed and how often: bench/workload.json, checked, as a Workload.

In: the file, and what options change of it. Out: shapes, regimes and tolerances. Must hold: a file
that is not understood is refused, because a wrong workload gives figures that compare with nothing.
"""

import dataclasses
import json

REGIMES = ("sustained", "burst")


class WorkloadError(ValueError):
    """The file does not describe a workload that the kernels can run."""


@dataclasses.dataclass(frozen=True)
class Regime:
    name: str
    warmup: int
    repeat: int
    idle_s: float


@dataclasses.dataclass(frozen=True)
class Workload:
    batch: int
    heads: int
    kv_heads: int
    sizes: tuple
    dim: int
    element: str
    seed: int
    inputs: dict
    regimes: dict
    tolerances: dict
    temperature_limit_c: float
    temperature_wait_s: float

    def tflops(self, seq, ms):
        """The two products over the visible half of the scores."""
        return 2.0 * self.batch * self.heads * seq * seq * self.dim / (ms * 1e9)

    def text(self):
        return (f"B={self.batch} H={self.heads} Hkv={self.kv_heads} D={self.dim} causal "
                f"{self.element} BSHD")

    def as_json(self):
        return dataclasses.asdict(self)


def _integer(data, name):
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise WorkloadError(f"`{name}` must be a positive integer")
    return value


def from_json(text):
    try:
        data = json.loads(text)
    except ValueError as e:
        raise WorkloadError(f"not JSON: {e}") from e
    if data.get("causal") is not True or data.get("layout") != "BSHD":
        raise WorkloadError("the kernels compute causal attention over BSHD tensors")
    if data.get("element") not in ("bf16", "f16"):
        raise WorkloadError("`element` must be bf16 or f16")
    sizes = tuple(data.get("sizes") or ())
    if not sizes or any(not isinstance(s, int) or s < 1 for s in sizes):
        raise WorkloadError("`sizes` must be a list of positive integers")
    try:
        regimes = {n: Regime(n, **data["regimes"][n]) for n in REGIMES if n in data["regimes"]}
        return Workload(
            **{n: _integer(data, n) for n in ("batch", "heads", "kv_heads", "dim", "seed")},
            sizes=sizes, element=data["element"], inputs=data["inputs"], regimes=regimes,
            tolerances=data["tolerances"], temperature_limit_c=data["temperature_limit_c"],
            temperature_wait_s=data["temperature_wait_s"])
    except (KeyError, TypeError) as e:
        raise WorkloadError(f"missing or unknown: {e}") from e


def load(path, sizes=None, warmup=None, repeat=None):
    """The workload of a file; `warmup` and `repeat` change the sustained regime."""
    with open(path, encoding="utf-8") as file:
        workload = from_json(file.read())
    regimes = dict(workload.regimes)
    changed = {k: v for k, v in (("warmup", warmup), ("repeat", repeat)) if v is not None}
    if "sustained" in regimes:
        regimes["sustained"] = dataclasses.replace(regimes["sustained"], **changed)
    return dataclasses.replace(workload, sizes=tuple(sizes or workload.sizes), regimes=regimes)
