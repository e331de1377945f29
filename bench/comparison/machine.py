"""The card and what is installed, through nvidia-smi.

In: which card. Out: its name and state, a series of clocks, power and temperature in a file, a wait
until it is cool. Clocks are never set.
"""

import csv
import os
import platform
import re
import shutil
import subprocess
import time

FIELDS = ("timestamp", "clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "utilization.gpu")
STATIC = ("name", "driver_version", "compute_cap", "power.limit", "clocks.max.sm", "memory.total")


class NoDevice(RuntimeError):
    """There is no card that the kernels run on; the text is the whole message."""


def _query(gpu, fields):
    if not shutil.which("nvidia-smi"):
        return None
    command = ["nvidia-smi", "-i", str(gpu), f"--query-gpu={','.join(fields)}",
               "--format=csv,noheader,nounits"]
    done = subprocess.run(command, capture_output=True, text=True)
    values = [v.strip() for v in done.stdout.splitlines()[0].split(",")] if done.stdout.strip() else []
    return dict(zip(fields, values)) if done.returncode == 0 and len(values) == len(fields) else None


def need_device(gpu):
    """The card's description; NoDevice where the kernels cannot run."""
    card = _query(gpu, STATIC)
    if card is None or card["compute_cap"] != "9.0":
        found = f"card {gpu} has compute capability {card['compute_cap']}" if card else \
            f"no card {gpu}" if shutil.which("nvidia-smi") else "no nvidia-smi"
        raise NoDevice(f"skipped: no sm_90 device ({found}); --build-only works without one")
    # Every process of this run sees this card alone, in the order of nvidia-smi.
    os.environ["CUDA_DEVICE_ORDER"], os.environ["CUDA_VISIBLE_DEVICES"] = "PCI_BUS_ID", str(gpu)
    return card


def temperature(gpu):
    state = _query(gpu, ("temperature.gpu",))
    try:
        return float(state["temperature.gpu"])
    except (TypeError, ValueError):
        return None


def wait_cool(gpu, limit_c, most_s, say=lambda text: None, sleep=time.sleep):
    """Waits until the card is at the limit or below, no longer than `most_s`; what came of it."""
    begin, first = time.monotonic(), temperature(gpu)
    now = first
    while now is not None and now > limit_c and time.monotonic() - begin < most_s:
        say(f"waiting until the card is at {limit_c:g} C (now {now:g})")
        sleep(min(2.0, most_s))
        now = temperature(gpu)
    return {"before_c": first, "after_c": now, "waited_s": round(time.monotonic() - begin, 1),
            "reached": now is not None and now <= limit_c}


class Monitor:
    """Writes the state of the card twice a second while it is open."""

    def __init__(self, gpu, path):
        self.path, self.file = path, open(path, "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["nvidia-smi", "-i", str(gpu), f"--query-gpu={','.join(FIELDS)}", "--format=csv,nounits",
             "-lms", "500"], stdout=self.file, stderr=subprocess.DEVNULL)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.file.close()


def series(path):
    """The rows of a Monitor's file; one that was cut off is left out."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [[c.strip() for c in row] for row in csv.reader(file)]
    if not rows:
        return []
    names = [re.sub(r" \[.*\]", "", n) for n in rows[0]]
    return [{n: _number(v) for n, v in zip(names, row)} for row in rows[1:] if len(row) == len(names)]


def _number(text):
    try:
        return float(text)
    except ValueError:
        return text


def _first_line(command, pattern):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(pattern, done.stdout)
    return found[1] if found else None


def describe(card, nvcc):
    return {"gpu": card, "host": {"system": platform.system(), "python": platform.python_version(),
                                  "cpus": os.cpu_count()},
            "cuda_toolkit": _first_line([nvcc, "--version"], r"release [\d.]+, V([\d.]+)") if nvcc else None}
