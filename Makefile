# The project's commands. Each installs what it needs, and is quick when nothing changed.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PY := .venv/bin/python
DONE := build/done
PROCESSES ?= 3
# Installs only listed files, each with a matching hash.
LOCKED := $(PY) -m pip --disable-pip-version-check install --quiet --require-hashes --no-deps

SIMULATION := $(shell find simulation/worlds simulation/catalogue_data simulation/bundle.py simulation/assets -type f -not -name '*.pyc' 2>/dev/null)
FRONTEND := $(shell find frontend -type f -not -path '*/node_modules/*' 2>/dev/null)
LOCALE := $(shell find locale -name '*.po' 2>/dev/null)
STATIC := $(shell find static -type f -not -path 'static/dist/*' 2>/dev/null)

.PHONY: help run install install-test install-qwen install-voice libero test-libero test test-slow test-services test-blind test-crowd test-faults test-fuzz check audit image test-image bench bench-memory bench-peers bench-publication bench-queries bench-release bench-text bench-voice bench-network load capacity clean
help:
	@echo "make run            start the arena (ARENA_PORT, ARENA_DATA), Ctrl-C stops it"
	@echo "make test           install what the tests need and run them in three processes, a real browser included"
	@echo "make test-slow      run the slow tests: faults in running arenas, every state of every page"
	@echo "make test-services  run the tests that use a database or a queue on PostgreSQL, Redis and RabbitMQ"
	@echo "make test-fuzz      run twenty times the fuzzing of make test (FUZZ_EFFORT, FUZZ_SEED for other cases)"
	@echo "make test-blind     play many battles as an outsider and try to identify the policies before the vote"
	@echo "make test-crowd     simulate voters who promote a policy by a thousand votes with new cookies, over days"
	@echo "make test-faults    kill, freeze, disconnect and fill a running arena, then audit its guarantees"
	@echo "make check          check formatting, lint, types, import contracts, migrations, API description, deployment"
	@echo "make audit          check the pinned packages for known vulnerabilities (needs the network)"
	@echo "make image          build the image of the Dockerfile without a container engine (needs root, Debian)"
	@echo "make test-image     deploy that image behind nginx, with Prometheus beside it, and play a battle (needs root)"
	@echo "make bench          measure the figures of the README, and fail on a miss (ARGS=--readme prints their table)"
	@echo "make bench-memory   measure the memory of each process of a shipped arena, before and after turns (ARGS: --turns 20)"
	@echo "make bench-peers    rate a million votes and compare with other packages (installed into build/peers)"
	@echo "make bench-publication  time an hourly publication of ten million votes, and its memory (ARGS: --votes 1000000)"
	@echo "make bench-queries  time every query of every page on a million synthetic votes"
	@echo "make bench-release  measure how far steps lag behind the clock of a turn"
	@echo "make bench-text     measure text battles with fifty visitors at once (ARGS: --visitors 50 --words-s 10)"
	@echo "make bench-voice    measure ten calls at once through the process that holds them (ARGS: --calls 10 --seconds 30)"
	@echo "make bench-network  measure the cost of a worker on another host (needs root)"
	@echo "make load           load-test a new arena across a full hour (ARGS: --any-time --visitors 300 --minutes 20 ...)"
	@echo "make capacity       simulate 10 to 100,000 visitors an hour: how many processes, and what breaks first (ARGS=--check)"
	@echo "make install        install and build everything without starting the arena"
	@echo "make install-qwen   install a second language model, ten times as large as the one that runs beside the arena (1.1 GB, 1.4 GB of memory)"
	@echo "make install-voice  install speech for voice agents on this machine (300 MB; manage.py call haircut --agent local-rules)"
	@echo "make libero         install LIBERO's 40 tasks with the Panda (630 MB to download; shows the terms first)"
	@echo "make test-libero    compare its controller, goals and starts with robosuite's, and play a battle of it in a browser"
	@echo "make clean          remove build products; the data in var/ is kept"

run: install
	@exec $(PY) manage.py up

install: $(DONE)/requirements $(DONE)/requirements-text $(DONE)/translations $(DONE)/renderer $(DONE)/assets $(DONE)/scenes $(DONE)/static

install-qwen: install
	@$(PY) scripts/fetch_qwen.py

install-voice: install $(DONE)/requirements-voice

libero: install $(DONE)/requirements-test
	@$(PY) scripts/libero/install.py $(ARGS)
	@rm -f $(DONE)/scenes

test-libero: install install-test
	@scripts/libero/test.sh $(ARGS)

test: install install-test
	@$(PY) -m pytest -n $(PROCESSES) -m "not slow" $(ARGS)

test-slow: install install-test
	@scripts/for_test_slow.sh
	@$(PY) -m pytest -n $(PROCESSES) -m slow $(ARGS)

test-services: install install-test
	@scripts/with_services.sh $(PY) -m pytest -n $(PROCESSES) -m engine $(ARGS)

test-fuzz: install install-test
	@cd frontend && FUZZ_EFFORT=$${FUZZ_EFFORT:-20} ../scripts/with_node.sh node --test --test-reporter=dot test/fuzz.test.js
	@FUZZ_EFFORT=$${FUZZ_EFFORT:-20} $(PY) -m pytest tests/fuzz --timeout 3600 $(ARGS)

test-blind: install install-test
	@$(PY) -m tests.blind.campaign $(ARGS)

test-crowd: install $(DONE)/requirements-test
	@$(PY) -m tests.crowd_campaign $(ARGS)

test-faults: install install-test
	@$(PY) -m tests.faults.campaign $(ARGS)

check: $(DONE)/requirements-test $(DONE)/node_modules
	@scripts/check.sh

audit: $(DONE)/requirements
	@scripts/audit.sh

image: $(DONE)/requirements
	@scripts/image.sh

test-image: $(DONE)/requirements-test
	@scripts/for_test_image.sh
	@scripts/with_services.sh $(PY) -m tests.image.campaign

bench: install install-test
	@$(PY) scripts/bench.py $(ARGS)

bench-memory: install $(DONE)/requirements-test
	@$(PY) scripts/bench_memory.py $(ARGS)

bench-peers: $(DONE)/requirements
	@$(PY) scripts/bench_peers.py $(ARGS)

bench-publication: $(DONE)/requirements
	@$(PY) scripts/bench_publication.py $(ARGS)

bench-queries: install $(DONE)/requirements-test
	@$(PY) scripts/bench_queries.py $(ARGS)

bench-release: install $(DONE)/requirements-test
	@$(PY) scripts/bench_release.py $(ARGS)

bench-text: install $(DONE)/requirements-test
	@$(PY) scripts/bench_text.py $(ARGS)

bench-voice: install $(DONE)/requirements-test
	@$(PY) scripts/bench_voice.py $(ARGS)

bench-network: install $(DONE)/requirements-test
	@scripts/with_services.sh $(PY) scripts/bench_network.py $(ARGS)

load: install $(DONE)/requirements-test
	@$(PY) scripts/load.py $(ARGS)

capacity: $(DONE)/requirements
	@$(PY) -m scripts.capacity $(ARGS)

install-test: $(DONE)/requirements-test
	@scripts/browser.sh

clean:
	rm -rf build static/dist frontend/node_modules .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

$(DONE)/venv:
	@scripts/make_venv.sh
	@mkdir -p $(DONE) && touch $@

$(DONE)/requirements: $(addprefix requirements/locked/,base.txt embedded.txt torch.txt cuda.txt) scripts/install_torch.sh | $(DONE)/venv
	@echo "installing requirements"
	@$(LOCKED) -r requirements/locked/base.txt -r requirements/locked/embedded.txt
	@scripts/install_torch.sh
	@touch $@

$(DONE)/translations: $(LOCALE) | $(DONE)/requirements
	@$(PY) manage.py translations compile >$(DONE)/translations.log
	@touch $@

$(DONE)/requirements-test: $(DONE)/requirements $(DONE)/requirements-voice requirements/locked/test.txt requirements/locked/peers.txt
	@echo "installing what the tests need"
	@$(LOCKED) -r requirements/locked/test.txt -r requirements/locked/peers.txt
	@touch $@

$(DONE)/requirements-text: $(DONE)/requirements requirements/locked/text.txt
	@echo "installing the language model beside the arena"
	@$(LOCKED) -r requirements/locked/text.txt
	@touch $@

$(DONE)/requirements-voice: $(DONE)/requirements requirements/locked/voice.txt
	@echo "installing speech"
	@$(LOCKED) -r requirements/locked/voice.txt
	@touch $@

$(DONE)/renderer: | $(DONE)/requirements
	@scripts/renderer.sh
	@touch $@

$(DONE)/assets: scripts/fetch_assets.py simulation/fetching/ur5e.py simulation/fetching/kitchen.py simulation/fetching/slim_stl.py \
  simulation/assets/ur5e.sha256 simulation/assets/kitchen.sha256 | $(DONE)/requirements
	@echo "fetching the robot's meshes"
	@$(PY) scripts/fetch_assets.py
	@touch $@

$(DONE)/scenes: $(SIMULATION) $(DONE)/assets | $(DONE)/requirements $(DONE)/renderer
	@echo "building the scenes that the browser loads"
	@$(PY) manage.py build_scenes
	@touch $@

$(DONE)/node_modules: frontend/package.json frontend/package-lock.json | $(DONE)/venv
	@echo "installing the front end's packages"
	@cd frontend && ../scripts/with_node.sh npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(DONE)/frontend: $(FRONTEND) $(DONE)/node_modules
	@echo "building the front end"
	@cd frontend && ../scripts/with_node.sh npm run build --silent
	@touch $@

$(DONE)/static: $(STATIC) $(DONE)/frontend $(DONE)/requirements
	@echo "collecting static files"
	@$(PY) manage.py collectstatic --noinput --verbosity 0
	@touch $@
