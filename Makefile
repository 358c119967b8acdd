# tracejit: what can be run. Each target sets up what it needs in .venv and again when
# pyproject.toml changes; `make demo PYTHON=python3.13` chooses the Python that .venv is made with.

PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
COUNT  ?= 5000
CHECKOUTS = $(if $(NPBENCH),--npbench $(NPBENCH)) $(if $(GRADBENCH),--gradbench $(GRADBENCH))

# Tests that take under a minute together on two cores: of every stage some, few that compile much,
# no random programs.
FAST := $(addprefix tests/, capture/test_aliases.py autodiff/test_check_grads.py \
    capture/test_containers.py inspection/test_costs.py devices/test_cublas.py ops/test_dtypes.py \
    codegen/test_golden.py house/test_house.py ir/test_ir.py \
    runtime/test_messages.py house/test_packaging.py ir/test_symbolic.py \
    autodiff/test_transforms.py capture/test_zero_d.py \
    gauntlet/test_given_texts.py gauntlet/test_refusal_messages.py gauntlet/test_texts_of_numbers.py)

.PHONY: help demo gallery fast test test-full check lint types house fuzz bench bench-full golden docs notebooks

help:
	@echo 'make demo       fit three models with compiled gradients; print fits, errors, times, source'
	@echo 'make gallery    solve the problems of examples/gallery, draw their pictures, write their page'
	@echo 'make fast       lint and the tests that take under a minute, while you edit'
	@echo 'make test       run the test suite                          (JOBS=$(JOBS))'
	@echo 'make test-full  the same with all cases of tests/gauntlet, not a sample by the day'
	@echo 'make check      lint, types, packages, layers and words'
	@echo 'make fuzz       random programs against differences         (COUNT=$(COUNT), SEED=...)'
	@echo 'make bench      a sample of times beside hand-written, JAX, PyTorch, in under five minutes'
	@echo 'make bench-full all of them, shown again by the pages   (NPBENCH=DIR, GRADBENCH=DIR)'
	@echo 'make golden     write golden sources and the pages of docs/ again; review the diff'
	@echo 'make docs       the documentation as a site, in build/site'
	@echo 'make notebooks  run the notebooks and write their outputs again; review the diff'
	@echo 'PYTHON=...      the Python, 3.11 or newer, that .venv is made with'

demo: $(VENV)/demo.stamp
	$(PY) -m examples

gallery: $(VENV)/dev.stamp
	$(PY) -m examples.gallery --pictures --page

fast: $(VENV)/dev.stamp
	$(PY) -m ruff check
	$(PY) -m pytest -n $(JOBS) --dist worksteal -q $(FAST) -k 'not random_programs_are_right'

test: $(VENV)/dev.stamp
	$(PY) -m pytest -n $(JOBS) --dist worksteal -q

test-full: $(VENV)/dev.stamp
	$(PY) -m pytest -n $(JOBS) --dist worksteal -q --full

check: $(VENV)/dev.stamp
	@$(MAKE) --no-print-directory --jobs=2 lint types house

lint: $(VENV)/dev.stamp
	$(PY) -m ruff check

types: $(VENV)/dev.stamp
	$(PY) -m mypy --strict tracejit

house: $(VENV)/dev.stamp
	$(PY) -m pytest -q tests/house/test_packaging.py tests/house/test_house.py

fuzz: $(VENV)/dev.stamp
	$(PY) tests/fuzz.py --count $(COUNT) $(if $(SEED),--seed $(SEED))

bench: $(VENV)/bench.stamp $(VENV)/dev.stamp
	$(PY) -m benchmarks.scoreboard $(CHECKOUTS)

bench-full: $(VENV)/bench.stamp $(VENV)/dev.stamp
	$(PY) -m benchmarks.scoreboard --full $(CHECKOUTS)
	$(PY) -m benchmarks
	$(PY) -m pytest -q -p no:randomly tests/house/test_docs.py tests/house/test_notebooks.py \
	    -k 'figures or how_fast' --golden

golden: $(VENV)/dev.stamp
	$(PY) -m pytest -q -p no:randomly tests/codegen/test_golden.py tests/house/test_docs.py --golden

docs: $(VENV)/docs.stamp
	$(PY) -m sphinx -W --keep-going -n -q -c docs . build/site
	@echo 'build/site/docs/index.html'

notebooks: $(VENV)/dev.stamp
	$(PY) -m pytest -q -p no:randomly tests/house/test_notebooks.py --golden

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    f"tracejit needs Python 3.11 or newer, $(PYTHON) is {sys.version.split()[0]}; " \
	    "try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/%.stamp: pyproject.toml | $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check -e '.[$*]' $(EXTRA)
	@touch $@

# A pinned release, so that the figures of two runs can be compared; too large for an extra.
$(VENV)/bench.stamp: EXTRA = torch==2.13.0
