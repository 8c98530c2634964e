# Everything is set up by the first command that needs it: `make demo`, `make test`, ...
PYTHON ?= python3
UV     ?= uv
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEV    := $(VENV)/.ready-dev
RIVALS := benchmarks/data/venv/.ready

.PHONY: demo test coverage quick check docs bench lock release-check clean

demo: $(READY)
	$(BIN)/queryveil demo

TESTS  := -n 3 --dist loadfile --no-loadscope-reorder --durations 25

test: check
	POLARS_MAX_THREADS=1 $(BIN)/python -m pytest $(TESTS)

# The same tests with coverage, which takes a quarter more time.
coverage: $(DEV)
	$(BIN)/python -m coverage erase
	POLARS_MAX_THREADS=1 COVERAGE_PROCESS_START=pyproject.toml $(BIN)/python -m pytest $(TESTS)
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage report --fail-under=90

# The developer's loop, in less than a minute on two cores: unit tests of all packages, without the
# files in tests/slow.txt, each of which takes about two seconds or more.
QUICK  := tests/unit tests/house/test_layers.py tests/house/test_sources.py tests/house/test_words.py \
  $(addprefix --ignore=,$(shell cat tests/slow.txt))
quick: $(DEV)
	POLARS_MAX_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile $(QUICK)

check: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The documentation as a site in site/, without a network; a broken link or anchor fails.
docs: $(DEV)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open site/index.html"

# Long runs; see benchmarks/README.md. LINES=100000,1000000 for a shorter table.
bench: $(DEV) $(RIVALS)
	$(BIN)/python benchmarks/frequent_queries.py $(if $(LINES),--lines $(LINES))
	benchmarks/data/venv/bin/python benchmarks/concepts.py
	benchmarks/data/venv/bin/python benchmarks/microaggregation.py
	benchmarks/data/venv/bin/python benchmarks/dp_statistics.py --install
	benchmarks/data/venv/bin/python benchmarks/replacement.py --install
	benchmarks/data/venv/bin/python benchmarks/microaggregation_first.py
	benchmarks/data/venv/bin/python benchmarks/measures.py
	benchmarks/data/venv/bin/python benchmarks/log_shape.py
	benchmarks/data/venv/bin/python benchmarks/defaults.py
	benchmarks/data/venv/bin/python benchmarks/frontier.py
	benchmarks/data/venv/bin/python benchmarks/peers_simulation.py
	benchmarks/data/venv/bin/python benchmarks/peers_network.py
	benchmarks/data/venv/bin/python benchmarks/peers_load.py
	benchmarks/data/venv/bin/python benchmarks/spark.py --install

# What the benchmarks compare with has an environment of its own.
$(RIVALS): $(DEV) benchmarks/requirements.txt
	$(PYTHON) -m venv benchmarks/data/venv
	benchmarks/data/venv/bin/python -m pip install --quiet --disable-pip-version-check \
	  -r benchmarks/requirements.txt -e ".[peers,spark]"
	@touch $(RIVALS)

# The demo needs the core alone. Tests add the rest: the same versions, so that nothing is replaced.
# Modules are compiled when they are first imported: most of them never are.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

$(READY): pyproject.toml requirements.lock | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $(READY)

$(DEV): pyproject.toml requirements-dev.lock | $(BIN)/python
	$(INSTALL) --require-hashes -r requirements-dev.lock
	$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $(READY) $(DEV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "queryveil needs Python 3.11 or later; say which: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Write both lock files anew from pyproject.toml (needs uv). They agree on every version.
COMPILE := $(UV) pip compile pyproject.toml --group build --universal --python-version 3.11 \
  --generate-hashes --no-emit-index-url --no-header --quiet
lock:
	$(COMPILE) --extra dev --upgrade -o requirements-dev.lock
	$(COMPILE) --constraint requirements-dev.lock --upgrade -o requirements.lock

# Build wheel and sdist, check them, and run the installed wheel in an environment of its own.
release-check: $(READY)
	rm -rf dist build/release
	$(BIN)/python -m hatchling build
	$(BIN)/python tools/release_check.py
	$(PYTHON) -m venv build/release/venv
	build/release/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  --require-hashes -r requirements.lock
	build/release/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps dist/*.whl
	cd build/release && venv/bin/queryveil demo --users 1000 && venv/bin/queryveil verify queryveil-demo/statistics
	cd build/release && venv/bin/queryveil advise --help > help.txt
	@echo "dist/ may be published"

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis site .coverage* queryveil-demo dist build
