"""Spoils a run's files one at a time and prints why each cannot be the record.  check_record.py RUN SCRATCH"""
import json
import pathlib
import re
import shutil
import sys

from comparison.record import runs

source, scratch = map(pathlib.Path, sys.argv[1:3])


def spoiled(name, change):
    """What is said of a copy in which one file was changed."""
    copy = scratch / "spoiled"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    text = (copy / name).read_text(encoding="utf-8")
    new = change(text)
    assert new != text, "nothing was changed"
    (copy / name).write_text(new, encoding="utf-8")
    try:
        runs.load(copy)
    except runs.RecordError as e:
        return str(e).replace(f"{copy}/", "").replace(f"{copy}: ", "")
    return "taken, although it is wrong"


def in_json(change):
    def changed(text):
        data = json.loads(text)
        change(data)
        return json.dumps(data)
    return changed


def sample_of(data, name):
    return next(s for s in data["samples"] if s["backend"] == name)


def without(data, key, test):
    data[key] = [x for x in data[key] if not test(x)]


runs.load(source)
print("taken as it is")
for name, change in (
        ("summary.csv", lambda s: s.replace("v3 persistent,2,4.0000", "v3 persistent,2,3.9000")),
        ("summary.csv", lambda s: s.replace(",0.502,", ",,", 1)),
        ("summary.csv", lambda s: re.sub(r"sustained,4096,fa3.*\n", "", s)),
        ("results.json", in_json(lambda d: sample_of(d, "v3").update(ms=0.5))),
        ("results.json", in_json(lambda d: without(d, "statistics", lambda s: (s["backend"], s["seq"]) == ("v1", 8192)))),
        ("results.json", in_json(lambda d: d.update(status="incomplete", why="the run was cut off"))),
        ("results.json", in_json(lambda d: without(d, "verification",
                                                   lambda v: (v["backend"], v["seq"]) == ("triton", 8192)))),
        ("results.json", in_json(lambda d: (d.update(samples=[s for s in d["samples"] if s["backend"] != "fa3"]),
                                            d.update(statistics=[
                                                {**s, "ratio_to_fa3": None} for s in d["statistics"]
                                                if s["backend"] != "fa3"])))),
        ("results.json", in_json(lambda d: d.pop("workload")))):
    print(spoiled(name, change))
