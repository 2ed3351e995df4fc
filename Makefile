# Everything a person does here, by name. `make` alone prints the list.

# Looked for only where .venv has to be made; PYTHON=/path/to/python3.12 chooses another.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do "$$name" -c 'import sys; \
	good = (3, 11) <= sys.version_info < (3, 14); good and print(sys.executable); sys.exit(not good)' \
	2>/dev/null && break; done)
# Set in many containers. Without bytecode on disk every process compiles each module that it imports, for seconds, again and again.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
AIRFLOW_VENV := .airflow-venv
BIN := $(VENV)/bin
# Share of their examples that property tests try; `make test-long` tries all of them.
export THROTTLESCOPE_EXAMPLES ?= 0.25
UV := UV_HTTP_TIMEOUT=600 $(BIN)/uv

# What can be installed may not be skipped by `make test`.
THROTTLESCOPE_REQUIRE ?= broker,prometheus,browser,airflow,cluster,store
NEEDS_NOTHING := not spark and not prometheus and not broker and not browser and not airflow and not store and not long and not study
HEAVY := browser or airflow or cluster
# Names no host and no path of the machine that it was made on.
COMPILE := pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test test-heavy test-light test-long test-airflow test-cluster test-backfill test-storage test-lab judges faults soak check audit format docs accuracy conformance fuzz lab bench screenshots golden translations notebooks parts airflow-env lock clean site wheel chart

help: ## print this list
	@awk -F ':[^#]*## ' '/^[a-z][a-z-]*:.*## / {printf "  \033[1m%-12s\033[0m %s\n", $$1, $$2}' Makefile

setup: $(VENV)/installed ## make .venv with everything; a second time does nothing

demo: setup ## ingest the shipped recordings, print verdicts, serve 127.0.0.1:8050 (DEMO_ARGS=--no-serve)
	@$(BIN)/throttlescope demo $(DEMO_ARGS)

serve: setup ## serve a lake that is there (SERVE_ARGS="--lake DIR --port N")
	@$(BIN)/throttlescope serve $(SERVE_ARGS)

# What Numba compiles is compiled before several workers would each do it, for a minute. Its machine code is kept by content in the user's cache, so this
# takes a second where another checkout has compiled the same sources.
COMPILED := $(VENV)/compiled
$(COMPILED): $(VENV)/installed $(shell grep -rl 'core.compilation import' ingest transforms models --include='*.py') $(wildcard models/throttling/kernel/*.py)
	@$(BIN)/python -m throttlescope.app.services.compile_ahead
	@touch $@

check: setup $(COMPILED) ## the loop while writing: style and the tests that start no server (about 90 seconds on 2 cores)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/python -m pytest -q -n 3 --dist worksteal -m "$(NEEDS_NOTHING)" $(PYTEST_ARGS)

# The two halves run at once: see below.
test: setup parts $(COMPILED) ## the tests, with a real broker, Prometheus, browser, Airflow, Spark cluster and object store
	@$(MAKE) --keep-going --jobs=2 --no-print-directory test-heavy test-light; code=$$?; \
		echo "Not in make test: proofs that take minutes (make test-long; parts of it: make test-airflow, test-cluster, test-backfill," \
			"test-storage, test-lab), thousands of kills, damaged files and reads during writes (make faults)," \
			"every reader with a million hostile inputs (make fuzz), every recording and figure recomputed (make lab, accuracy, conformance, bench)."; \
		exit $$code

# Files are found by their marks, which is quicker than importing all of them. Exit code 5 says that none of the requested tests is of this part.
PART = part() { $(BIN)/python -m pytest -q --durations=12 --dist loadfile --no-loadscope-reorder "$$@" $(PYTEST_ARGS); code=$$?; \
		test $$code -eq 0 -o $$code -eq 5; }; \
	marked() { $(if $(PYTEST_ARGS),:,grep -rlE "mark\.($$1)\>" tests --include='test_*.py'); }; \
	export THROTTLESCOPE_REQUIRE="$(THROTTLESCOPE_REQUIRE)"

# What a half prints is shown when it is done. Brokers mostly wait, and what they measure is timed: they go first, with priority,
# and by loadscope, which is by file too, but does not bring files that use Spark together (tests/conftest.py). A broker here lives for minutes, so that
# the JIT's second stage costs more than it gives: a third of the processor time of two small clusters.
# What takes most of a core by itself (a browser, Airflow, a cluster) comes after them, three files at a time: their pages and tasks wait as well.
test-heavy: setup airflow-env ## the half of `make test` that starts brokers, then a browser, Airflow and a Spark cluster
	@$(PART); log=$$(mktemp); failed=0; \
		JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 part -n 4 --dist loadscope -m "broker and not study" $$(marked broker) > $$log 2>&1 || failed=1; \
		renice -n 10 -p $$$$ > /dev/null; \
		part -n 3 -m "($(HEAVY)) and not broker and not study" $$(marked 'browser|airflow|cluster') >> $$log 2>&1 || failed=1; \
		cat $$log; rm -f $$log; exit $$failed

# Three files at a time, those that wait for servers first (tests/conftest.py): by default files of few tests, which are the long ones, would come last.
# They are collected once before, with priority: in a new clone three workers would otherwise each compile all of them.
test-light: setup ## the other half of `make test`
	@$(PART); $(if $(PYTEST_ARGS),:,$(BIN)/python -m pytest -q --collect-only tests > /dev/null 2>&1); \
		renice -n 10 -p $$$$ > /dev/null; \
		part -n 3 -m "not (broker or $(HEAVY)) and not study"

# One after another: each of them starts clusters, brokers or whole runs, and some are timed.
test-long: setup parts airflow-env ## the proofs that take minutes each, about two hours: clusters, kills, full disks, brokers of other versions
	@THROTTLESCOPE_EXAMPLES=1 $(BIN)/python -m pytest -q -n 2 -m "(hypothesis or sampled) and not study" $(PYTEST_ARGS)
	@THROTTLESCOPE_REQUIRE="$(THROTTLESCOPE_REQUIRE)" $(BIN)/python -m pytest -q --durations=30 -m study $(PYTEST_ARGS)

test-airflow: setup parts airflow-env ## the DAGs at length: each by `dags test`, a chain, a killed task, a gate, a backfill in a real Airflow
	@THROTTLESCOPE_REQUIRE=airflow,prometheus $(BIN)/python -m pytest -q --durations=12 tests/airflow $(PYTEST_ARGS)

test-cluster: setup ## Spark at length: a worker that is lost, executors with the archive alone, spark-submit, Spark Connect
	@THROTTLESCOPE_REQUIRE=cluster $(BIN)/python -m pytest -q --durations=12 tests/cluster $(PYTEST_ARGS)

test-storage: setup parts ## the lake on an object store at length: a store that falls silent or answers 503 in the middle of a run
	@THROTTLESCOPE_REQUIRE=store,prometheus $(BIN)/python -m pytest -q --durations=12 tests/storage $(PYTEST_ARGS)

test-backfill: setup parts ## backfills at length: killed while they read and compute, and two at once
	@THROTTLESCOPE_REQUIRE=prometheus $(BIN)/python -m pytest -q --durations=12 tests/app/test_backfill_processes.py $(PYTEST_ARGS)

test-lab: setup parts ## brokers of other versions, alone and as a cluster: Pulsar 4.0.1, 4.0.7 and 5.0.0-M1; a cluster whose brokers end and start
	@THROTTLESCOPE_REQUIRE=broker $(BIN)/python -m pytest -q --durations=12 tests/test_lab_versions.py tests/test_lab_cluster.py $(PYTEST_ARGS)

judges: setup parts ## run judges from outside, other projects' tests, data and classes, and write docs/accuracy/outside.md (JUDGES="NAME ...")
	@$(BIN)/python -m tests.judges $(JUDGES)

faults: setup parts ## break everything on purpose, with a seed, and print what came of it (FAULTS="STUDY ... --seed N --instants N")
	@$(BIN)/python -m tests.faults $(FAULTS)

soak: setup parts ## an hour of a Prometheus that scrapes, a run every two minutes, ten people in the web app (SOAK="--minutes N")
	@$(BIN)/python -m benchmarks.soak $(SOAK)

audit: setup ## look every locked package up among known vulnerabilities; fails where the advisories cannot be reached
	@$(UV) tool run pip-audit==2.10.1 --strict --disable-pip --require-hashes --progress-spinner off -r requirements.lock
	@$(UV) tool run pip-audit==2.10.1 --strict --disable-pip --require-hashes --progress-spinner off -r airflow_dags/requirements.lock

format: setup ## bring all files into style
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

docs: setup ## write the pages that are made from code
	@$(BIN)/python -m docs.generate
	@$(BIN)/python -m tests.lab.simulated

site: setup ## build the documentation site into .site/VERSION, next to the versions that are there (SITE_ARGS="--name dev --root URL")
	@$(BIN)/python -m docs.site $(SITE_ARGS)

# The time of the commit is that of the files in it: two builds of a commit are the same bytes.
wheel: setup ## build the wheel and the source archive into dist/, the same bytes for the same commit
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(UV) build -q --python $(BIN)/python --no-build-isolation --out-dir dist .

chart: setup ## write the chart's alerts and the schema of its values, which are made from code
	@$(BIN)/python -m deploy.generate

accuracy: setup ## hold diagnosis, forecasts, simulator and what-if against every recording of a real broker, anew
	@$(BIN)/python -m tests.accuracy --write
	@$(BIN)/python -m benchmarks.forecasts --write
	@$(BIN)/python -m tests.lab.simulated
	@$(BIN)/python -m tests.lab.simulated.whatif

conformance: setup parts ## prove PromQL equal to a real Prometheus (CORPUS=DIR and COMPLIANCE=DIR: checkouts of its repositories)
	@$(BIN)/python -m tests.promql.conformance random --pairs 10000 $(CONFORMANCE_ARGS)
	@$(BIN)/python -m tests.promql.conformance hostile --texts 100000
	@if test -n "$(CORPUS)"; then $(BIN)/python -m tests.promql.conformance corpus --checkout "$(CORPUS)"; \
		else echo "left out: upstream's corpus; CORPUS=DIR names a checkout of prometheus/prometheus" >&2; fi
	@if test -n "$(COMPLIANCE)"; then $(BIN)/python -m tests.promql.conformance compliance --checkout "$(COMPLIANCE)"; \
		else echo "left out: the compliance list; COMPLIANCE=DIR names a checkout of prometheus/compliance" >&2; fi
	@$(BIN)/python -m tests.promql.conformance page

fuzz: setup ## every reader of outside bytes at length; goes on where it was stopped (FUZZ="TARGET ... --seconds 60")
	@$(BIN)/python -m tests.fuzz $(FUZZ)

lab: setup parts ## record every scenario that has no recording yet, on a real broker (LAB_ARGS)
	@$(BIN)/python -m tests.lab record $(LAB_ARGS)

bench: setup parts ## measure the targets, each side by side with what it is compared with (BENCH_ARGS)
	@for script in benchmarks/*.py; do echo "$$script" >&2; $(BIN)/python -m benchmarks.$$(basename "$$script" .py) $(BENCH_ARGS) || exit; done

screenshots: setup ## make the pictures of the pages anew, from the demo's lake, a recording's and a simulation
	@rm -rf .demo
	@$(BIN)/throttlescope demo --no-serve --quiet > /dev/null
	@$(BIN)/python -m tests.app.web.screenshots --lake .demo --out docs/images
	@$(BIN)/throttlescope simulate docs/guides/what-if-example.yaml --quiet --plot docs/images/what-if.png > /dev/null
	@$(BIN)/throttlescope run --recording sub-msg-large --lake .bench/example --quiet > /dev/null
	@$(BIN)/python -m tests.lab.simulated.whatif picture .bench/example docs/images/what-if-lake.png

translations: setup ## record which English sentence each translation was made from, and list what is missing or stale
	@$(BIN)/python -m docs.generate.translations

golden: setup ## write the golden files anew: what commands, mistakes and pages say of the demo's lake
	@# From nothing: a lake that is there keeps the sentences of the code that wrote them.
	@rm -rf .demo
	@$(BIN)/throttlescope demo --no-serve --quiet > /dev/null
	@$(BIN)/python -m tests.golden .demo

notebooks: setup ## execute the notebooks and keep their outputs, charts as pictures (NOTEBOOKS="NAME ...")
	@$(BIN)/python -m tests.notebooks.write $(NOTEBOOKS)

parts: setup ## bring Prometheus and the jars of Pulsar brokers, pulsar-admin, pulsar-perf, the Java client and an S3 server into the cache
	@$(BIN)/python -c "from tests.lab import parts; parts.prometheus_binary(); parts.broker_jars(); parts.broker_jars(parts.SCALABLE_VERSION); \
		parts.scalable_client_jars(); parts.admin_tool_jars(); parts.perf_tool_jars(); parts.object_store_jars()"

airflow-env: $(AIRFLOW_VENV)/installed ## make .airflow-venv, in which the DAGs are tested

lock: setup ## resolve requirements.lock, deploy/requirements.lock and airflow_dags/requirements.lock anew
	@$(UV) $(COMPILE) --all-extras --group dev --group docs --group lab --upgrade --output-file requirements.lock pyproject.toml
	@# What the image holds: the same versions without what only development needs.
	@$(UV) $(COMPILE) --all-extras --constraints requirements.lock --output-file deploy/requirements.lock pyproject.toml
	@$(UV) $(COMPILE) --upgrade --output-file airflow_dags/requirements.lock airflow_dags/requirements.in

clean: ## remove what was made here: environments, caches, the demo's lake
	@rm -rf $(VENV) $(AIRFLOW_VENV) .demo .bench .faults .lab .site .pytest_cache .ruff_cache .hypothesis *.egg-info build dist

$(VENV)/installed: requirements.lock pyproject.toml
	@test -x $(BIN)/python || { python="$(PYTHON)"; \
		test -n "$$python" || { echo "No Python from 3.11 to 3.13 found; name one: make setup PYTHON=/path/to/python3.12" >&2; exit 2; }; \
		echo "Making $(VENV) with $$python"; \
		"$$python" -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$$python cannot make environments; on Debian: apt-get install python3-venv" >&2; exit 2; }; }
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || $(BIN)/python -m ensurepip > /dev/null
	@# uv is in the lock like everything else; pip fetches it and uv the rest, in a quarter of pip's time.
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r $(VENV)/uv.txt \
		&& $(UV) pip sync -q --python $(BIN)/python --require-hashes requirements.lock \
		|| { echo "uv could not install the packages; trying pip" >&2; \
		$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock; }
	@$(BIN)/python -m ensurepip > /dev/null
	@$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(AIRFLOW_VENV)/installed: airflow_dags/requirements.lock $(VENV)/installed
	@test -x $(AIRFLOW_VENV)/bin/python || $(BIN)/python -m venv --without-pip $(AIRFLOW_VENV)
	@$(UV) pip sync -q --compile-bytecode --python $(AIRFLOW_VENV)/bin/python --require-hashes airflow_dags/requirements.lock
	@touch $@
