"""What is compared, as objects that verify and time themselves: own kernels and peers.

In: built programs, or names of peers with an interpreter for them. Out: verify(seq) -> a row with `ok`,
time(seq, regime) -> milliseconds a launch. A failure is a ContenderError that names the backend.
Each peer lives in one process of its own (worker.py), so that a crash is that peer's alone.
"""

import json
import os
import pathlib
import queue
import shlex
import subprocess
import tempfile
import threading

MISLEADING = ("CHOREO_DISABLE_TIMING", "MHA_SEQ")  # change what a kernel does behind our back


class ContenderError(RuntimeError):
    """A backend cannot do what was asked; the text names it."""


class KernelProcess:
    """A binary over the attention harness (options may follow it); a fresh process a measurement.

    Before it is timed it is idle for `gap_s`, as a peer is, and then starts, which takes 0.2 s more.
    """

    def __init__(self, name, command, batch, heads, timeout, kv_heads=None, seed=None, log=None, gap_s=0.0,
                 graph=False):
        self.name = name
        self.path = str(command)
        self.command = shlex.split(command) if isinstance(command, str) else [str(command)]
        self.shape = ["--batch", str(batch), "--heads", str(heads)]
        self.shape += ["--kv-heads", str(kv_heads)] if kv_heads else []
        self.shape += ["--seed", str(seed)] if seed else []
        self.timeout, self.log, self.gap_s = timeout, log, gap_s
        self.how = ["--graph"] if graph else []

    def run(self, seq, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.jsonl"
            command = [*self.command, *self.shape, "--seq", str(seq), "--json", str(path), *options]
            environment = {k: v for k, v in os.environ.items() if k not in MISLEADING}
            done = subprocess.run(command, capture_output=True, text=True, env=environment,
                                  timeout=self.timeout)
            if self.log:
                self.log(f"$ {shlex.join(command)}\n{done.stdout}{done.stderr}[exit status {done.returncode}]")
            rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
            return done, rows

    def verify(self, seq):
        done, rows = self.run(seq, "--warmup", "0", "--repeat", "1", "--rounds", "1", *self.how)
        result = next((r for r in rows if r["row"] == "verify"), {})
        result["ok"] = done.returncode == 0 and result.get("ok") is True
        if not result["ok"]:
            result["why"] = (done.stderr + done.stdout).strip()[-400:] or f"exit status {done.returncode}"
        return result

    def time(self, seq, regime):
        done, rows = self.run(
            seq, "--no-verify", "--warmup", str(regime["warmup"]), "--repeat", str(regime["repeat"]),
            "--rounds", "1", "--idle-ms", str(int(max(self.gap_s, regime["idle_s"]) * 1000)), *self.how)
        if done.returncode != 0:
            raise ContenderError(f"{self.name}: exit status {done.returncode}: {done.stderr[-400:]}")
        return next(r["ms"] for r in rows if r["row"] == "round")

    def close(self):
        pass


class PeerProcess:
    """A peer behind `python -m comparison.worker NAME`: one JSON object a line each way.

    It begins to import its packages at once; `ready()` waits until it has.
    """

    def __init__(self, name, python, workload, gap_s, timeout, log, graph=False, include_layout=False,
                 option="--python"):
        self.name, self.gap_s, self.timeout, self.log = name, gap_s, timeout, log
        self.tail = ""
        bench = str(pathlib.Path(__file__).resolve().parent.parent)
        paths = [bench, *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            self.process = subprocess.Popen(
                [*shlex.split(python), "-m", "comparison.worker", name], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
        except OSError as e:
            raise ContenderError(f"{name}: {option} {python}: {e.strerror}") from e
        self.answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._send(do="start", workload=workload.as_json(), graph=graph,
                   include_layout=include_layout)

    def ready(self):
        """What the peer says of itself; ContenderError if it is not there."""
        try:
            self.about = self._receive()
        except ContenderError:
            self.close()
            raise
        self.path = self.about.get("version", "")
        return self.about

    def _read(self):
        """Answers are lines of JSON; what else is printed (warnings of packages, tracebacks) is log."""
        for line in self.process.stdout:
            if line.startswith('{"answer"'):
                self.answers.put(json.loads(line))
            else:
                self.log(f"{self.name}: {line.rstrip()}")
                self.tail = (self.tail + line)[-400:]
        self.answers.put(None)

    def _send(self, **question):
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it ended; the reader says so when its output does

    def _receive(self):
        try:
            answer = self.answers.get(timeout=self.timeout)
        except queue.Empty:
            self.process.kill()
            raise ContenderError(f"{self.name}: no answer within {self.timeout} s") from None
        if answer is None:
            self.answers.put(None)  # for who asks again
            raise ContenderError(f"{self.name}: its process ended: {' '.join(self.tail.split())[-300:]}")
        if "error" in answer:
            raise ContenderError(f"{self.name}: {answer['error']}")
        return answer["answer"]

    def ask(self, **question):
        self._send(**question)
        return self._receive()

    def verify(self, seq):
        return self.ask(do="verify", seq=seq)

    def time(self, seq, regime):
        return self.ask(do="time", seq=seq, warmup=regime["warmup"], repeat=regime["repeat"],
                        pause_s=max(self.gap_s, regime["idle_s"]))["ms"]

    def close(self):
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
                self.process.wait(timeout=10)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
