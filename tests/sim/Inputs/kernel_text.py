"""Prints one tile function of generated CUDA as its words, without its name, comments and line numbers:
kernel_text.py FILE NAME. What two programs make of the same function is equal then."""
import re
import sys

path, name = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    text = file.read()
begin = re.search(rf"^// ---- {name}, line \d+ of .*$", text, re.M).end()
text = text[begin:text.index(f"// ---- end of {name}\n", begin)]
text = re.sub(r"//.*|^#line .*", "", text, flags=re.M)
text = re.sub(r'"[^"\n]*\.co",\s*\d+', "PLACE", text)
print("\n".join(re.sub(rf"{name}(?=\b|_kernel|_noexcept)", "KERNEL", text).split()))
