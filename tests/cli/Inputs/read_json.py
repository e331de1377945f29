"""read_json.py FILE COUNT: the file holds a JSON array of COUNT diagnostics, each complete."""
import json
import sys

diagnostics = json.load(open(sys.argv[1], encoding="utf-8"))
assert len(diagnostics) == int(sys.argv[2]), f"{len(diagnostics)} diagnostics"
for one in diagnostics:
    assert one["kind"] and one["message"] and one["severity"] in ("error", "warning"), one
    place = f"{one['file']}:{one['line']}:{one['column']}" if "file" in one else one["kind"]
    print(place, one["severity"], one["message"])
