"""Unpacks the archive of a suffix in a folder into an empty folder.  unpack.py FROM TO SUFFIX
Takes the one folder that the archive must have at its top away, and keeps the modes."""
import pathlib
import subprocess
import sys
import zipfile

source, target, suffix = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
(archive,) = source.glob(f"*.{suffix}")
target.mkdir(parents=True)
if suffix == "zip":
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(target)
        for info in packed.infolist():
            (target / info.filename).chmod(info.external_attr >> 16 & 0o777)
else:
    subprocess.run(["tar", "-xzf", archive, "-C", target], check=True)
(top,) = target.iterdir()
assert top.name == archive.name[: -len(suffix) - 1], top
for inner in top.iterdir():
    inner.rename(target / inner.name)
top.rmdir()
