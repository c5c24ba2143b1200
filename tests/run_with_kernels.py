"""Run pytest, with the options given, once for each of several linear algebras.

OpenBLAS and NumPy take other code on other processors, and their sums differ in the
last digits. A processor runs what older ones run too: so here each test meets more than
the code of the machine at hand. What this processor cannot run is skipped, aloud.
"""

import os
import signal
import subprocess
import sys

import numpy as np

RUNS = (
    {"OPENBLAS_CORETYPE": "Haswell"},
    {"OPENBLAS_CORETYPE": "SkylakeX"},
    {
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    },
)
_NEED_AVX512 = RUNS[1:]

# Prints for which processors the OpenBLAS of NumPy and of SciPy do their work.
_PROBE = """
import numpy as np, scipy.linalg, threadpoolctl
scipy.linalg.cho_factor(np.ones((64, 64)) @ np.ones((64, 64)) + np.eye(64))
libraries = threadpoolctl.threadpool_info()
found = [of["architecture"] for of in libraries if of["internal_api"] == "openblas"]
print(*sorted(set(found)))
"""


def main():
    """Run all that can be run and exit with the first failure's code."""
    codes = []
    for run in RUNS:
        name = " ".join(f'{key}="{value}"' for key, value in run.items())
        reason = why_not(run)
        if reason:
            print(f"{name}: SKIPPED, {reason}", flush=True)
            continue
        print(name, flush=True)
        command = [sys.executable, "-m", "pytest", *sys.argv[1:]]
        codes.append(subprocess.run(command, env=os.environ | run).returncode)
    if not codes:
        print("None of these could be run: nothing is tested.")
    sys.exit(next((code for code in codes if code), 0))


def why_not(run):
    """Return why this machine cannot run it, or None."""
    if run in _NEED_AVX512 and not has_avx512():
        return "as this processor has no AVX-512"
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", _PROBE],
        env=os.environ | run,
        capture_output=True,
        text=True,
    )
    if child.returncode == -signal.SIGILL:
        return "as this processor lacks its instructions"
    if child.returncode:
        sys.exit(f"{run} cannot be tried:\n{child.stderr}")
    found, wanted = child.stdout.strip(), run["OPENBLAS_CORETYPE"]
    if found != wanted:
        return f"as the linear algebra here is of {found or 'another library'}"
    return None


def has_avx512():
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return any(name == "X86_V4" or name.startswith("AVX512") for name in found)


if __name__ == "__main__":
    main()
