"""Run pytest, with the options given, with the linear algebra of other processors.

OpenBLAS and NumPy take other code on other processors, and their sums differ in the
last digits. A processor runs what older ones run too: so here each test meets more than
the code of the machine at hand, which `make test` runs. What this processor cannot run
is skipped, aloud.
"""

import os
import signal
import subprocess
import sys

import numpy as np

# What OpenBLAS calls a processor, and of what newer ones have NumPy must not use.
OF_AVX512 = ("X86_V4", "AVX512_ICL", "AVX512_SPR")
PROCESSORS = {"Nehalem": ("X86_V3", *OF_AVX512), "Haswell": OF_AVX512, "SkylakeX": ()}

# Prints for which processors the OpenBLAS of NumPy and of SciPy do their work.
PROBE = """
import numpy as np, scipy.linalg, threadpoolctl
scipy.linalg.cho_factor(np.ones((64, 64)) @ np.ones((64, 64)) + np.eye(64))
libraries = threadpoolctl.threadpool_info()
found = [of["architecture"] for of in libraries if of["internal_api"] == "openblas"]
print(*sorted(set(found)))
"""


def main():
    """Run all that can be run and exit with the first failure's code."""
    has = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    own = probe({})[1]
    codes = []
    for processor, disabled in PROCESSORS.items():
        # To disable what the processor lacks is a warning.
        run = {
            "OPENBLAS_CORETYPE": processor,
            "NPY_DISABLE_CPU_FEATURES": " ".join(x for x in disabled if x in has),
        }
        reason = why_not(run, own)
        print(f"{processor}: {f'SKIPPED, {reason}' if reason else ''}", flush=True)
        if not reason:
            command = [sys.executable, "-m", "pytest", *sys.argv[1:]]
            codes.append(subprocess.run(command, env=os.environ | run).returncode)
    if not codes:
        print("None of these could be run: nothing is tested.")
    sys.exit(next((code for code in codes if code), 0))


def why_not(run, own):
    """Return why this machine need not run it or cannot, or None."""
    if run["OPENBLAS_CORETYPE"] == own:
        return "as it is the processor of `make test`"
    code, found = probe(run)
    if code == -signal.SIGILL:
        return "as this processor lacks its instructions"
    if found != run["OPENBLAS_CORETYPE"]:
        return f"as the linear algebra here is of {found or 'another library'}"
    return None


def probe(run):
    """Return the exit code of the linear algebra of a run, and what it names itself."""
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROBE],
        env=os.environ | run,
        capture_output=True,
        text=True,
    )
    if child.returncode not in (0, -signal.SIGILL):
        sys.exit(f"{run} cannot be tried:\n{child.stderr}")
    return child.returncode, child.stdout.strip()


if __name__ == "__main__":
    main()
