# Two commands do everything on a machine with Python 3.11 or later and make:
#   make demo    sets up, then runs the main job on an embedded default
#   make test    sets up, then lint, types, architecture and all tests
PYTHON ?= python3
VENV   ?= .venv
RUN    := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
# BLAS threads are ours to place; two pytest workers with two BLAS threads each would only fight.
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: demo test lint types architecture tests bench soak format clean

demo: $(STAMP)
	$(RUN) examples/demo.py

test: lint types architecture tests

lint: $(STAMP)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(STAMP)
	$(RUN) -m mypy

architecture: $(STAMP)
	$(VENV)/bin/lint-imports

tests: $(STAMP)
	$(RUN) -m pytest -n 2 tests

bench: $(STAMP)
	$(RUN) -m benchmarks

soak: $(STAMP)
	SOBER_SOAK=1 $(RUN) -m pytest -n 2 tests

format: $(STAMP)
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"sober needs Python 3.11 or later; {sys.executable} is {v.major}.{v.minor}. Write: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --editable ".[dev]"
	@touch $(STAMP)
