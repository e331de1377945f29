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

    def start(self, workload, graph, include_layout):
        begin = time.monotonic()
        from comparison import peers, torch_attention

        self.attention, self.workload, self.graph = torch_attention, workload, graph
        self.peer = peers.FINDERS[self.name]()
        if include_layout and self.peer.layout != "BSHD":
            self.peer.copied = True
        return {"version": self.peer.version, "layout": self.peer.layout,
                "conversion": self.peer.conversion, "versions": torch_attention.versions(),
                "import_s": round(time.monotonic() - begin, 2)}

    def _prepare(self, seq):
        """Tensors of this size, and the launcher; those of another size are let go of first.

        Out: what the first launch took, which compiles and tunes; what it wrote is not judged.
        """
        if self.seq == seq:
            return None
        self.seq = self.launch = self.captured = self.tensors = None
        self.attention.free()
        w = self.workload
        self.tensors = self.attention.make_inputs(
            w["batch"], w["heads"], seq, w["dim"], self.attention.ELEMENTS[w["element"]], w["seed"],
            w["kv_heads"], w["inputs"])
        self.launch = self.peer.prepare(*self.tensors)
        self.attention.wait()
        begin = time.monotonic()
        self.launch()
        self.attention.wait()
        first_s = time.monotonic() - begin
        if self.graph:
            self.launch, self.captured = self.attention.capture(self.launch)
        self.seq = seq
        return round(first_s, 3)

    def _poisoned(self):
        """The output of a launch into NaN, and whether it was one."""
        if self.captured is None:
            return self.attention.poisoned_launch(self.launch, self.tensors[0])
        self.captured.fill_(float("nan"))
        self.launch()
        self.attention.wait()
        return self.captured, True

    def verify(self, seq):
        first_s = self._prepare(seq)
        out, poisoned = self._poisoned()
        result = self.attention.verify(out, *self.tensors, self.workload["tolerances"])
        if self.peer.layout != "BSHD":
            result["layout_ms"] = self.attention.layout_ms(*self.tensors)
        return {**result, "poisoned": poisoned, "first_launch_s": first_s, "setting": self.peer.setting()}

    def time(self, seq, warmup, repeat, pause_s):
        self._prepare(seq)
        time.sleep(pause_s)
        return {"ms": self.attention.time_ms(self.launch, warmup, repeat)}


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
