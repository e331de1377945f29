"""Checks results.json of a run: that it is whole, and what every run says. In: the file, the status."""
import json
import sys

data = json.load(open(sys.argv[1], encoding="utf-8"))
assert data["schema"] == 1 and data["status"] == sys.argv[2], data["status"]
assert data["workload"]["batch"] == 4 and data["options"]["rounds"] >= 1
assert data["machine"]["gpu"]["name"] == "NVIDIA H200"
for sample in data["samples"]:
    assert sample["ms"] > 0 and sample["begin"] <= sample["end"], sample
verified = {(v["backend"], v["seq"]) for v in data["verification"] if v["ok"]}
assert all((s["backend"], s["seq"]) in verified for s in data["samples"]), "timed before it was verified"
if data["status"] == "complete":
    assert data["end"] and not data["why"]
    # The last line of the series was cut off.
    assert [s["clocks.current.sm"] for s in data["state"]] == [1980, 1755], data["state"]
    assert [c["seq"] for c in data["cooling"]] == data["workload"]["sizes"]
    assert all(c["reached"] for c in data["cooling"])
    assert len(data["build"]["v3"]["binary_sha256"]) == 64
    assert data["backends"]["triton"]["versions"] == {"torch": "9.9"}
else:
    assert data["why"]
