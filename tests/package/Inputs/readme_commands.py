"""Runs every command in the sh blocks of README.md in a folder, from there, in their order; the first that
fails ends it.  readme_commands.py FOLDER"""
import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
blocks = re.findall(r"^```sh\n(.*?)^```", (folder / "README.md").read_text(), re.DOTALL | re.MULTILINE)
commands = [line for block in blocks for line in block.splitlines()]
assert len(commands) > 10, commands
for command in commands:
    print(f"$ {command}", flush=True)
    subprocess.run(["bash", "-c", command], cwd=folder, check=True)
print("all commands of README.md ran")
