# lit configuration of all the test folders. Run through lit.site.cfg.py of a build tree:
#   tools/t tests/diag/lex/bad_char.co        one test
#   ctest --preset dev -R lit.diag            one folder
# Substitutions: %choreo, %FileCheck, %not, %nvcc, %cxx, %root (repository), %kernels, %runtime
# (include folder), %sim_lib (archive that --target=sim programs link); FileCheck and not also resolve
# as plain words; %python_plots is an interpreter with matplotlib. Features: nvcc (the toolkit is here),
# gpu (and an sm_90 device), matplotlib.
import os
import shutil
import subprocess

import lit.formats

config.name = "croqtile"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".co", ".test", ".ir"]
config.excludes = ["Inputs", "inputs", "CMakeLists.txt", "README.md", "install"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.choreo_build_root, "tests", "out")

source = config.choreo_source_root
build = config.choreo_build_root


def has_hopper():
    """Whether an sm_90 device answers; a machine without a driver has no nvidia-smi."""
    smi = shutil.which("nvidia-smi")
    if not smi:
        return False
    query = [smi, "--query-gpu=compute_cap", "--format=csv,noheader"]
    result = subprocess.run(query, capture_output=True, text=True, check=False)
    return result.returncode == 0 and "9.0" in result.stdout.split()


if config.nvcc and os.path.exists(config.nvcc):
    config.available_features.add("nvcc")
    if has_hopper():
        config.available_features.add("gpu")

tools = {
    "choreo": config.choreo,
    "FileCheck": config.filecheck,
    "not": config.not_program,
    "nvcc": config.nvcc,
}
# The plain words FileCheck and not resolve through a folder of links in front of PATH.
links = os.path.join(config.choreo_build_root, "tests", "links")
os.makedirs(links, exist_ok=True)
for name in ("FileCheck", "not"):
    link = os.path.join(links, name)
    if not os.path.exists(link):
        try:
            os.symlink(tools[name], link)
        except FileExistsError:  # another lit process was first
            pass

for name, path in tools.items():
    config.substitutions.append((f"%{name}\\b", path))
config.substitutions += [
    ("%cxx\\b", config.cxx),
    ("%root\\b", source),
    ("%kernels\\b", os.path.join(source, "kernels")),
    ("%runtime\\b", os.path.join(source, "runtime", "include")),
    ("%sim_lib\\b", os.path.join(build, "lib", "croqtile", "libchoreo_simulator.a")),
]

# The distribution's matplotlib belongs to its own interpreter, which need not be the first in PATH.
for python in (shutil.which("python3"), "/usr/bin/python3"):
    probe = [python, "-c", "import matplotlib"]
    if python and os.path.exists(python) and not subprocess.run(
            probe, capture_output=True, check=False).returncode:
        config.available_features.add("matplotlib")
        config.substitutions.append(("%python_plots\\b", python))
        break

config.environment["PATH"] = os.pathsep.join(
    [links, os.path.join(build, "bin"), os.environ.get("PATH", "")]
)
for name in ("HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if "nvcc" in config.available_features:
    config.environment["PATH"] += os.pathsep + os.path.dirname(config.nvcc)
