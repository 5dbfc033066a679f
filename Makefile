# Two commands do everything on a machine with Python 3.11 or later and make:
#   make demo    sets up, then tunes on a small study, writes a report, and compares what was claimed with the truth
#   make test    sets up, then lint, types, architecture and all tests
PYTHON ?= python3
VENV   ?= .venv
# One more than two cores, as some tests wait.
JOBS   ?= 3
RUN    := $(VENV)/bin/python
UV     := $(VENV)/bin/uv
# The demo needs little; the tests need clusters, linters and more.
USER_STAMP := $(VENV)/.installed-cli
DEV_STAMP  := $(VENV)/.installed-dev
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# The tests start hundreds of processes: without bytecode on disk each of them takes 8 s to start instead of 3.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo correction test coverage lint types architecture tests test-oldest test-newest docs bench soak build format clean

demo: $(USER_STAMP)
	@mkdir -p demo-run
	$(RUN) examples/make_study.py demo-run/study.csv --new demo-run/new.csv
	@rm -rf demo-run/run
	$(VENV)/bin/sober fit demo-run/study.csv --target relapse --preset quick --jobs 2 -o demo-run/run
	$(VENV)/bin/sober predict demo-run/run demo-run/new.csv --overwrite -o demo-run/predicted.csv
	@$(RUN) examples/truth.py demo-run

# The correction on simulated predictions with known truth: the table of the README.
correction: $(USER_STAMP)
	$(RUN) examples/demo.py

test:
	$(MAKE) --no-print-directory --jobs 2 lint types architecture
	$(MAKE) --no-print-directory tests

lint: $(DEV_STAMP)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(DEV_STAMP)
	$(RUN) -m mypy

architecture: $(DEV_STAMP)
	$(VENV)/bin/lint-imports --no-cache

tests: $(DEV_STAMP)
	$(RUN) -m pytest -n $(JOBS) --dist worksteal --durations=10 tests

# The share of lines that the tests run; quickest with Python 3.14, where coverage needs no tracer.
coverage: $(DEV_STAMP)
	$(RUN) -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term:skip-covered tests

# Tests with the lowest versions that pyproject.toml allows, and with the newest that can be had: each in an environment of
# its own. Those that touch every package we depend on, a few minutes; TESTS=tests runs all.
TESTS ?= tests/test_package.py tests/test_containers.py tests/test_site.py tests/test_mlflow.py \
	tests/packaging tests/correction tests/foreign tests/tables tests/report/test_html.py tests/report/test_displays.py \
	tests/presets/test_presets.py tests/optuna_trials/test_objective.py tests/clusters/test_dask.py \
	tests/clusters/test_ray.py tests/metrics/test_against_sklearn.py \
	tests/metrics/test_against_sksurv.py tests/metrics/test_recognise.py tests/search/test_search_sklearn.py \
	tests/search/test_scoring.py tests/cli/test_record.py tests/cli/test_correct.py tests/cli/test_bad_inputs.py

test-oldest: $(UV)
	$(PYTHON) -m venv --clear build/oldest
	$(UV) pip install --quiet --python build/oldest/bin/python --resolution lowest-direct --editable ".[all]" --group dev
	build/oldest/bin/python -m pytest -n $(JOBS) $(TESTS)

test-newest: $(UV)
	$(PYTHON) -m venv --clear build/newest
	$(UV) pip install --quiet --python build/newest/bin/python --upgrade --editable ".[all]" --group dev
	build/newest/bin/python -m pytest -n $(JOBS) $(TESTS)

# The site, in build/docs/html: a copy of docs/ is built, so that generated pages never lie among the written ones.
docs: $(DEV_STAMP)
	rm -rf build/docs
	mkdir -p build/docs
	cp -r docs build/docs/source
	$(RUN) -m sphinx -W --keep-going -q -d build/docs/doctrees build/docs/source build/docs/html
	@echo "Open build/docs/html/index.html"

# Real tables for the journey, where there are some: make bench DATA=FOLDER
bench: $(DEV_STAMP)
	$(INSTALL) --group bench
	$(RUN) -m benchmarks $(if $(DATA),--data $(DATA))

soak: $(DEV_STAMP)
	SOBER_SOAK=1 $(RUN) -m pytest -n $(JOBS) tests

# Wheel and sdist, each installed and tried in an empty environment.
build: $(DEV_STAMP)
	$(RUN) -m tests.packaging dist

format: $(DEV_STAMP)
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

clean:
	rm -rf $(VENV) build dist demo-run .mypy_cache .ruff_cache .pytest_cache

# uv installs everything in half a minute, pip in two; it also knows dependency groups, which pip learned in 25.1.
INSTALL := $(UV) pip install --quiet --python $(RUN)

$(UV):
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"sober needs Python 3.11 or later; {sys.executable} is {v.major}.{v.minor}. Write: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet uv

$(USER_STAMP): pyproject.toml | $(UV)
	$(INSTALL) --editable ".[cli]"
	@touch $@

$(DEV_STAMP): pyproject.toml | $(UV)
	$(INSTALL) --editable ".[all]" --group dev
	@touch $@ $(USER_STAMP)
