# make run   set up and run the bot (without a Discord token: the playground in your browser)
# make test  set up and run the tests
# make check ruff, mypy and the tests
# make bench figures, side by side with peers

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CONFIG ?= $(if $(wildcard config.toml),config.toml,config.example.toml)

.PHONY: run test check lint bench clean

run: $(VENV)/.run
	@$(BIN)/briefbot run --config $(CONFIG)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -q

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check: lint test

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Briefbot needs Python 3.11 or newer; $(PYTHON) is older. Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "$(PYTHON) cannot make a virtual environment (on Debian and Ubuntu: apt install python3-venv)."; exit 1; }

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	@echo "Setting up (once, about a minute) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[playground]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Setting up (once, about a minute) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
