"""The comparison, from the command line to the run's folder.

In: options. Out: the folder, and the exit status: 0 complete, 1 a backend is missing, failed or gave
wrong numbers, 2 wrong usage, 77 no card that the kernels run on, 130 interrupted.
"""

import signal
import sys

from comparison import backends, build, machine, options, results, rounds, workload
from comparison.contenders import ContenderError, KernelProcess, PeerProcess


class Stop(RuntimeError):
    """The run ends here; the text says why."""


def say(text):
    print(text, flush=True)


class Comparison:
    def __init__(self, args, load, card):
        self.args, self.card = args, card
        shown = {k: str(v) if hasattr(v, "parts") else v for k, v in vars(args).items()}
        self.run = results.Run(args.out, load, shown, args.language)
        self.contenders, self.opened, self.wrong, self.monitor = {}, [], [], None
        self.run.data["untested"] = [n for n in args.backends if not backends.TABLE[n].seen]

    def say(self, text):
        say(text)
        self.run.log(text)

    def unusable(self, name, why):
        """A backend that is missing or failed: the end, unless --allow-missing."""
        contender = self.contenders.pop(name, None)
        if contender:
            contender.close()
        self.run.skip(name, why)
        self.say(f"{name}: {why}")
        if not self.args.allow_missing:
            raise Stop(f"{name} cannot be compared (--allow-missing leaves it out)")
        self.say(f"skipped: {name}")

    def build(self):
        built, failed = build.programs(self.args, self.say)
        for name, why in failed.items():
            self.unusable(name, why)
        self.run.data["build"] = {n: p.record for n, p in built.items()}
        return built

    def start_peers(self):
        """{name: PeerProcess, or why there is none}: they import their packages while kernels are built."""
        a, started = self.args, {}
        for name in a.backends:
            if backends.TABLE[name].is_peer:
                option = backends.TABLE[name].interpreter
                python = {"--python": a.python, "--ws-python": a.ws_python}[option]
                try:
                    started[name] = PeerProcess(name, python, self.run.workload, a.gap_s, a.timeout,
                                                self.run.log, a.graph, a.include_layout, option)
                    self.opened.append(started[name])
                except ContenderError as e:
                    started[name] = e
        return started

    def peer_ready(self, name, peer):
        """Takes a started peer among the contenders."""
        backend = backends.TABLE[name]
        try:
            if isinstance(peer, ContenderError):
                raise peer
            self.run.data["backends"][name] = peer.ready()
        except ContenderError as e:
            python = self.args.ws_python if backend.interpreter == "--ws-python" else self.args.python
            self.unusable(name, f"missing: {e} (to install it: {backend.install_line(python)})")
            return
        self.contenders[name] = peer
        self.say(f"  {name}: {peer.path}")

    def collect(self):
        w, a = self.run.workload, self.args
        peers = self.start_peers()
        built = self.build()
        for name in a.backends:
            if name in built:
                self.contenders[name] = KernelProcess(
                    name, built[name].binary, w.batch, w.heads, a.timeout, w.kv_heads, w.seed,
                    self.run.log, a.gap_s, a.graph)
            elif name in peers:
                self.peer_ready(name, peers[name])

    def verify(self):
        """Every backend at every size, before anything is timed."""
        for name in self.args.backends:
            for seq in self.run.workload.sizes:
                if name not in self.contenders:
                    break
                try:
                    result = self.contenders[name].verify(seq)
                except Exception as e:  # a backend may fail in any way; it is reported by name
                    result = {"ok": False, "why": str(e)}
                self.run.data["verification"].append({**result, "backend": name, "seq": seq})
                self.run.save()
                if not result["ok"]:
                    self.wrong.append(name)
                    self.unusable(name, f"verification failed at S={seq}: {result.get('why', result)}")
                    break
                poison = "" if result.get("poisoned", True) else ", output not poisoned"
                self.say(f"  verify {name} S={seq}: ok, {result.get('elements', 0)} elements, largest "
                         f"error {result['max_error']:.3g}, row relative L2 "
                         f"{result['max_row_rel_l2']:.3g}{poison}")

    def measure(self):
        a, w = self.args, self.run.workload
        if not self.contenders:
            raise Stop("nothing is left to be timed")
        self.monitor = machine.Monitor(a.gpu, self.run.folder / "state.csv")
        rounds.measure(
            self.run, self.contenders, list(self.contenders), a,
            lambda: machine.wait_cool(a.gpu, w.temperature_limit_c, w.temperature_wait_s, self.say),
            self.say, self.unusable)

    def close(self):
        for peer in self.opened:
            peer.close()
        if self.monitor:
            self.monitor.close()
            self.run.data["state"] = machine.series(self.monitor.path)

    def go(self):
        why, status = "", 0
        try:
            nvcc = build.find_nvcc(self.args) if not self.args.skip_build else self.args.nvcc
            self.run.data["machine"] = machine.describe(self.card, nvcc)
            self.run.save()
            self.collect()
            self.verify()
            self.measure()
        except (Stop, build.BuildError) as e:
            why, status = str(e), 1
        except KeyboardInterrupt:
            why, status = "interrupted", 130
        except BaseException as e:
            why = f"{type(e).__name__}: {e}"
            raise
        finally:
            try:
                self.close()
            finally:
                self.run.finish(why)
        if why:
            say(f"INCOMPLETE: {why}; what was measured is in {self.run.folder}")
            return status
        self.draw()
        print(open(self.run.folder / "summary.md", encoding="utf-8").read())
        say(f"complete: {self.run.folder}")
        return 1 if self.wrong else 0

    def draw(self):
        from comparison import plots

        try:
            for path in plots.draw(self.run.folder / "summary.csv", self.args.language, say=say):
                say(f"  {path}")
        except plots.NoMatplotlib as e:
            say(f"no plots: {e}")
        except Exception as e:  # charts can be made again from the CSV; the run stands without them
            say(f"no plots: {type(e).__name__}: {e}")


def _interrupt(*_):
    raise KeyboardInterrupt


def main(arguments=None):
    args = options.parse(sys.argv[1:] if arguments is None else arguments)
    try:
        load = workload.load(args.workload, args.sizes, args.warmup, args.repeat)
        if args.build_only:
            _, failed = build.programs(args, say)
            for name, why in failed.items():
                say(f"{name}: {why}")
            return 1 if failed else 0
        card = machine.need_device(args.gpu)
    except machine.NoDevice as e:
        say(str(e))
        return 77
    except (workload.WorkloadError, OSError) as e:
        say(f"{args.workload}: {e}")
        return 2
    except build.BuildError as e:
        say(str(e))
        return 1
    # A run that is ended from outside closes its files, as one that is interrupted.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        comparison = Comparison(args, load, card)
    except OSError as e:
        say(f"--out {args.out}: {e.strerror}")
        return 1
    return comparison.go()
