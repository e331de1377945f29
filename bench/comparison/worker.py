"""The process of one peer: `python -m comparison.worker NAME`, asked through standard input.

In: lines {"do": "start"|"verify"|"time", ...}. Out: a line {"answer": ...} each, {"answer": null,
"error": text} if it cannot. Needs PyTorch in this interpreter; ends with its input.
"""

import json
import sys
import time


class Worker:
    def __init__(self, name):
        self.name, self.seq = name, None

    def start(self, workload):
        from comparison import peers, torch_attention

        self.attention, self.workload = torch_attention, workload
        begin = time.monotonic()
        self.peer = peers.FINDERS[self.name]()
        return {"version": self.peer.version, "conversion": self.peer.conversion,
                "versions": torch_attention.versions(), "import_s": round(time.monotonic() - begin, 2)}

    def _launcher(self, seq):
        """Of this size; the tensors of another one are let go of first."""
        if self.seq != seq:
            self.launch = self.tensors = None
            self.attention.free()
            w = self.workload
            self.tensors = self.attention.make_inputs(
                w["batch"], w["heads"], seq, w["dim"], self.attention.ELEMENTS[w["element"]], w["seed"],
                w["kv_heads"], w["inputs"])
            self.launch, self.seq = self.peer.prepare(*self.tensors), seq
        return self.launch

    def verify(self, seq):
        launch = self._launcher(seq)
        # The first launch compiles and tunes: its cost is told apart, and what it wrote is not judged.
        begin = time.monotonic()
        launch()
        self.attention.wait()
        first_s = time.monotonic() - begin
        out, poisoned = self.attention.poisoned_launch(launch, self.tensors[0])
        result = self.attention.verify(out, *self.tensors, self.workload["tolerances"])
        return {**result, "poisoned": poisoned, "first_launch_s": round(first_s, 3),
                "setting": self.peer.setting()}

    def time(self, seq, warmup, repeat, pause_s):
        launch = self._launcher(seq)
        time.sleep(pause_s)
        return {"ms": self.attention.time_ms(launch, warmup, repeat)}


def main():
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"answer": getattr(worker, question.pop("do"))(**question)}
        except Exception as e:  # a peer may fail in any way; who asked reports it by name
            answer = {"answer": None, "error": f"{type(e).__name__}: {e}"[:800]}
        print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
