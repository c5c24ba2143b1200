# Every target creates the environment that it needs, and uses it again until
# pyproject.toml changes.
#
# Tests, examples and benchmarks read real data from the folder that the environment
# variable SKLEARN_REJECT_DATA names, if it is set.
#
# On Windows, run make in a shell that has sh, sed and rm, such as Git Bash, and give
# PYTHON=python if there is no python3.

PYTHON ?= python3
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
WORKERS ?= 2
SEEDS ?= 1 2 3 4 5
BASE ?= main
# The oldest dependencies have wheels for the oldest Python only.
OLDEST_PYTHON ?= $(or $(shell python3.11 -c 'import sys; print(sys.executable)' 2>/dev/null),$(PYTHON))

VENV := .venv
VENV_OLDEST := .venv-oldest
VENV_BENCH := .venv-bench
VENV_SCALE := .venv-scale
VENV_WHEEL := .venv-wheel

PIP_INSTALL := -m pip --disable-pip-version-check install -qq
# A worker that has finished takes tests from the others.
PYTEST_OPTIONS := -q -n $(WORKERS) --dist worksteal
PYTEST := -m pytest $(PYTEST_OPTIONS)
# Not among the options in pyproject.toml, so that any -m can be given by hand.
FAST := -m "not slow"
# The workers share the cores, so each of them uses one thread.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Each worker would compile all tests again if the environment forbade to keep them.
ONE_THREAD += PYTHONDONTWRITEBYTECODE=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Targets share an environment, and two installations at the same time would damage it.
.NOTPARALLEL:
.PHONY: help demo test test-all test-kernels test-seeds test-papers test-oldest test-scale \
	long-test lint doc compare bench papers release-check all-checks clean

help:  ## show this list
	@echo "usage: make TARGET [PYTHON=python3] [WORKERS=2] [BASE=main]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | \
		while IFS='|' read -r name text; do printf '  %-14s%s\n' $$name "$$text"; done

demo: $(VENV)/stamp-plot  ## show in less than a minute what the package does
	@$(ONE_THREAD) $(VENV)/$(BIN)/python examples/demo.py

test: $(VENV)/stamp-test  ## fast tests and docstrings, every warning an error
	@$(ONE_THREAD) $(VENV)/$(BIN)/python $(PYTEST) $(FAST)

test-all: $(VENV)/stamp-test  ## fast and slow tests, with more random examples
	@$(ONE_THREAD) HYPOTHESIS_PROFILE=suite $(VENV)/$(BIN)/python $(PYTEST)

test-kernels: $(VENV)/stamp-test  ## fast tests with the linear algebra of other processors
	@$(ONE_THREAD) $(VENV)/$(BIN)/python tests/run_with_kernels.py $(PYTEST_OPTIONS) $(FAST)

test-seeds: $(VENV)/stamp-test  ## fast tests with other data, in other orders
	@for seed in $(SEEDS); do echo "seed $$seed"; \
		$(ONE_THREAD) SKLEARN_REJECT_TEST_SEED=$$seed \
		$(VENV)/$(BIN)/python $(PYTEST) $(FAST) tests || exit 1; done

test-papers: $(VENV)/stamp-test  ## tests of the code behind the papers' tables
	@$(ONE_THREAD) HYPOTHESIS_PROFILE=suite $(VENV)/$(BIN)/python $(PYTEST) \
		benchmarks/papers/tests

test-oldest: $(VENV_OLDEST)/stamp-oldest  ## fast tests with the oldest versions declared
	@$(ONE_THREAD) $(VENV_OLDEST)/$(BIN)/python $(PYTEST) $(FAST)

# One process, because the tests share a cluster with as many workers as cores.
test-scale: $(VENV_SCALE)/stamp-scale  ## tests on clusters of Dask and Ray (large install)
	@$(ONE_THREAD) $(VENV_SCALE)/$(BIN)/python -m pytest -q tests/scale sklearn_reject/dask.py

long-test: $(VENV)/stamp-test  ## tests of statistical guarantees, many minutes
	@$(ONE_THREAD) HYPOTHESIS_PROFILE=thorough $(VENV)/$(BIN)/python $(PYTEST) \
		tests/long tests/curves tests/selection tests/losses tests/decoding tests/thresholds

lint: $(VENV)/stamp-lint  ## style, formatting and spelling
	@$(VENV)/$(BIN)/ruff check --quiet
	@$(VENV)/$(BIN)/ruff format --check || \
		{ echo "run $(VENV)/$(BIN)/ruff format"; exit 1; }
	@$(VENV)/$(BIN)/codespell
	@echo "lint: no complaints"

doc: $(VENV)/stamp-doc  ## html documentation in doc/_build/html
	@$(ONE_THREAD) $(VENV)/$(BIN)/python -m sphinx -q -W --keep-going -b html doc doc/_build/html
	@echo "doc: open doc/_build/html/index.html"

compare: $(VENV)/stamp-test  ## what public calls return in another commit, and here
	@$(VENV)/$(BIN)/python build_tools/compare_commits $(BASE) --jobs $(WORKERS) --times

bench: $(VENV_BENCH)/stamp-bench  ## measure beside other packages (large install)
	@$(VENV_BENCH)/$(BIN)/python -m benchmarks

papers: $(VENV)/stamp-plot  ## print the papers' tables beside ours
	@$(ONE_THREAD) $(VENV)/$(BIN)/python -m benchmarks.papers.fpv23 --jobs $(WORKERS)
	@$(ONE_THREAD) $(VENV)/$(BIN)/python -m benchmarks.papers.fpp23 --jobs $(WORKERS) \
		--figure benchmarks/papers/figures/fpp23-figure1.png
	@$(ONE_THREAD) $(VENV)/$(BIN)/python -m benchmarks.papers.nkrd16 --jobs $(WORKERS) \
		--figure benchmarks/papers/figures/nkrd16-figure1.png
	@$(ONE_THREAD) $(VENV)/$(BIN)/python -m benchmarks.papers.rzmr20 --jobs $(WORKERS) \
		--figure benchmarks/papers/figures/rzmr20-figure7.png

# The wheel is tested with its required dependencies only, and in an empty folder: in the
# checkout, Python would import the package from there.
release-check: $(VENV)/stamp-release  ## build the archives and test them
	@rm -rf build dist
	@$(VENV)/$(BIN)/python -m build --quiet --outdir dist .
	@$(VENV)/$(BIN)/python -m twine check --strict dist/*
	@$(VENV)/$(BIN)/python build_tools/check_release.py
	@echo "installing the wheel into $(VENV_WHEEL)"
	@$(PYTHON) -m venv --clear $(VENV_WHEEL)
	@$(VENV_WHEEL)/$(BIN)/python $(PIP_INSTALL) dist/*.whl
	@mkdir -p build/empty build/sdist
	@cd build/empty && ../../$(VENV_WHEEL)/$(BIN)/python -P -W error -m doctest \
		-o NORMALIZE_WHITESPACE -o ELLIPSIS ../../README.md
	@echo "release-check: the examples of README run with the wheel"
	@tar -xzf dist/*.tar.gz --strip-components=1 -C build/sdist
	@$(VENV_WHEEL)/$(BIN)/python $(PIP_INSTALL) './build/sdist[test]'
	@cd build/sdist && ../../$(VENV_WHEEL)/$(BIN)/python -m pytest -q $(FAST) \
		tests/labels tests/test_layering.py tests/test_map.py tests/test_check_release.py
	@cd build/sdist && ../../$(VENV_WHEEL)/$(BIN)/python -m benchmarks --help >/dev/null
	@echo "release-check: dist/ is ready"

all-checks: lint test-all test-kernels test-papers test-oldest test-scale doc  ## all that must pass before a merge

clean:  ## remove environments, builds and caches
	@rm -rf $(VENV) $(VENV_OLDEST) $(VENV_BENCH) $(VENV_SCALE) $(VENV_WHEEL)
	@rm -rf build dist *.egg-info
	@rm -rf doc/_build doc/auto_examples doc/generated doc/sg_execution_times.rst
	@rm -rf .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Environments. The stamp is written last, so that an interrupted installation is repeated.

$(VENV)/stamp-venv:
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/stamp-%: pyproject.toml | $(VENV)/stamp-venv
	@echo "installing sklearn-reject[$*] into $(VENV)"
	@$(VENV)/$(BIN)/python $(PIP_INSTALL) -e '.[$*]'
	@touch $@

# uv, unlike pip, can choose the lowest version that each requirement allows.
$(VENV_OLDEST)/stamp-oldest: pyproject.toml
	@echo "installing the oldest versions declared into $(VENV_OLDEST)"
	@$(OLDEST_PYTHON) -m venv --clear $(VENV_OLDEST)
	@$(VENV_OLDEST)/$(BIN)/python $(PIP_INSTALL) uv
	@$(VENV_OLDEST)/$(BIN)/uv pip install --quiet --python $(VENV_OLDEST) \
		--resolution lowest-direct -e '.[test]'
	@touch $@

$(VENV_SCALE)/stamp-scale: pyproject.toml
	@echo "installing sklearn-reject[scale] into $(VENV_SCALE)"
	@$(PYTHON) -m venv $(VENV_SCALE)
	@$(VENV_SCALE)/$(BIN)/python $(PIP_INSTALL) -e '.[scale]'
	@touch $@

# The benchmarks use one module of each of the last two, which has no dependencies.
$(VENV_BENCH)/stamp-bench: pyproject.toml
	@echo "installing sklearn-reject[bench] into $(VENV_BENCH), about 1.5 GB"
	@$(PYTHON) -m venv $(VENV_BENCH)
	@$(VENV_BENCH)/$(BIN)/python $(PIP_INSTALL) -e '.[bench]'
	@$(VENV_BENCH)/$(BIN)/python $(PIP_INSTALL) --no-deps torch-uncertainty pytorch-ood
	@touch $@
