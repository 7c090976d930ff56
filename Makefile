# People and CI share these targets. Each needs only python3 (3.11+), pip, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What the demo needs is there where everything is.
DEMO := $(if $(wildcard $(STAMP)),$(STAMP),$(VENV)/.installed-for-demo)
MINIMUM := .venv-minimum

.PHONY: setup demo dist test test-minimum lint claims docs bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

$(VENV)/.installed-for-demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[cli,viz]"
	touch $@

demo: $(DEMO)
	$(BIN)/demurk demo --output demurk-demo --force

# One thread per worker: the workers already share the cores.
test: lint claims
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto

# The lowest versions that pyproject.toml declares; what takes long is left to `test`.
test-minimum:
	$(PYTHON) -m venv $(MINIMUM)
	$(PYTHON) tests/minimum_versions.py > $(MINIMUM)/constraints.txt
	$(MINIMUM)/bin/pip install --quiet --disable-pip-version-check \
		--constraint $(MINIMUM)/constraints.txt --editable ".[test]"
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(MINIMUM)/bin/pytest \
		--numprocesses auto src/demurk --ignore src/demurk/benchmark \
		--ignore src/demurk/viz/tests/test_page.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src tests doc examples benchmarks README.md CONTRIBUTING.md
	$(BIN)/lint-imports
	$(BIN)/mypy

# Every published number, the rows it comes from and its value; fails if one is wrong.
claims: $(STAMP)
	$(BIN)/python -m doc.claims

docs: $(STAMP)
	$(BIN)/sphinx-build -W --keep-going -b html doc doc/_build/html
	$(BIN)/python -m doc.links doc/_build/html

bench: $(STAMP)
	cd benchmarks && ../$(BIN)/asv machine --yes && ../$(BIN)/asv run --python=same --show-stderr

dist: $(STAMP)
	$(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) $(MINIMUM) doc/_build doc/gallery doc/generated demurk-demo
