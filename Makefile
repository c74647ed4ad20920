# Everything one does with this checkout. All of it stays inside the folder; `make help` says what there is.
.DEFAULT_GOAL := help
.PHONY: help setup run test check format-check lint types floors bench soak format rooms lock

PYTEST = .venv/bin/pytest -n auto --maxprocesses 8 --dist loadfile

help: ## say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name what; do printf '  make %-13s %s\n' "$$name" "$$what"; done

setup: ## install everything into .venv (Python 3.11 or newer; nothing is done twice)
	@PYTHON='$(PYTHON)' sh scripts/setup

# On a terminal the chat is a job of its own, so that Ctrl-C ends a reply and is not heard by make.
run: setup ## set up, then talk: forkwood chat
	@if [ -t 0 ]; then set -m; fi; .venv/bin/forkwood chat

test: setup ## set up, then run every test
	$(PYTEST)

check: format-check lint types floors test ## format, lint, types, import contracts, tests

format-check: setup ## the house's format, looked at
	.venv/bin/ruff format --check

lint: setup ## ruff's rules
	.venv/bin/ruff check

types: setup ## mypy, strict
	.venv/bin/mypy

floors: setup ## the import contracts
	.venv/bin/lint-imports

bench: setup ## measure against floors and two other programs; one table (ARGS=--write-baseline keeps it)
	@PYTHON='$(PYTHON)' sh scripts/setup bench
	.venv/bin/python -m benchmarks $(ARGS)

soak: setup ## the tests with fifty times the examples, for an hour nobody waits for (ARGS=tests/crash for a part)
	$(PYTEST) --hypothesis-profile=thorough $(ARGS)

format: setup ## write the house's format
	.venv/bin/ruff format
	.venv/bin/ruff check --fix

rooms: setup ## write the list of modules in ARCHITECTURE.md from what they say of themselves
	.venv/bin/python scripts/rooms.py

lock: ## pin all dependencies anew (needs uv)
	sh scripts/lock
