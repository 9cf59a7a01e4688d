# SkyNet. `make demo` shows it, `make test` tests it; both install what is missing first.

SWIFT ?= swift
IMAGE ?=
OPTIONS ?=
SECONDS ?= 60
RUNS ?=
HOSTS ?= 5
NODES ?= 1000
SEEDS ?= 1000
# SwiftPM would compile the manifests of all packages anew after each change of the folder from which make is called.
unexport OLDPWD
# Scans in debug builds, too, are fast (Package.swift).
export OPTIMIZED_SKY = 1
# lld, because gold warns of a function that Foundation uses. Without what debuggers know of files and lines, which takes time and
# more than half of each object file; backtraces name the functions all the same.
RELEASE = --static-swift-stdlib -Xswiftc -use-ld=lld -Xswiftc -gnone -Xcxx -g0
# Runs tests, and says at the end which failed and how.
TEST = SWIFT="$(SWIFT)" Tests/run.sh
FORMATTED = Package.swift Sources Tests Fuzzing Benchmarks/Package.swift Benchmarks/Sources

.PHONY: all setup build release deb machines test steady peers fuzz tsan tsan-losses simulation job-simulation mutations kill-rounds chaos losses evenings cluster-soak many-nodes build-benchmark job-benchmark scan-benchmark wire-benchmark sizing start-benchmark takeover-benchmark copies-benchmark epochs epoch-kinds separation sharpness docs demo headline upgrade-trial slurm-trial container-trial kubernetes-check prometheus-check api-check lab benchmark soak format lint clean

all: build

# Debian packages and Swift packages.
setup:
	@deploy/setup.sh
	@deploy/resolve.sh

build: setup
	@$(SWIFT) build

# .build/release/skynode. Swift's runtime is in it: it starts sooner, also where there is no Swift, and `make deb` packs it.
# After a build with other flags in the same folder, SwiftPM compiles all Swift code anew.
release: setup
	@$(SWIFT) build -c release --product skynode $(RELEASE)

# dist/skynode_VERSION_ARCH.deb
deb: release
	@deploy/package.sh

# Debian machines of two releases in containers with that package: catalogues of both byte by byte; installed, killed, frozen, rebooted, upgraded. As root, some minutes.
machines:
	@Tests/Trials/machines/machines.sh $(OPTIONS)

test: setup
	@deploy/setup.sh --lab
	@$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Tests/suite.sh

# The same, N times, while every core is kept busy beside it; says what failed. make steady N=10
steady: N = 10
steady: setup
	@deploy/setup.sh --lab
	@$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" Tests/steady.sh $(N)

# Catalogues against SExtractor and SEP, and whether astropy, fitsverify and DS9's parsers read them; installs these.
peers: release
	@deploy/python.sh .build/peers Tests/Peers/requirements.txt source-extractor fitsverify
	@.build/peers/bin/python -B -m pytest -q -p no:cacheprovider Tests/Peers $(OPTIONS)

# What peers, clients and disks send, made up by libFuzzer, a minute for each of thirteen targets; or make fuzz RUNS=10000000
fuzz: setup
	@Fuzzing/fuzz.sh $(if $(RUNS),-runs=$(RUNS),-max_total_time=$(SECONDS))

# The tests under Thread Sanitizer, one after the other: it makes everything some ten times slower.
tsan: export SWIFT_BACKTRACE = enable=no
tsan: export CODEC_ROUNDS = 5000
tsan: export SKYNET_SANITIZED = 1
tsan: export TSAN_OPTIONS = suppressions=$(CURDIR)/Tests/thread-sanitizer.txt
tsan: setup
	@$(SWIFT) build --build-tests --sanitize thread --scratch-path .build/tsan
	@$(SWIFT) test --skip-build --sanitize thread --scratch-path .build/tsan --no-parallel

# Losses of hosts with daemons under Thread Sanitizer; fails where it reports anything. As root; make tsan-losses OPTIONS="--rounds 10"
tsan-losses: export SKYNET_SANITIZED = 1
tsan-losses: export TSAN_OPTIONS = suppressions=$(CURDIR)/Tests/thread-sanitizer.txt log_path=$(CURDIR)/.build/tsan/report
tsan-losses: setup
	@deploy/setup.sh --lab
	@$(SWIFT) build --product skynode --sanitize thread --scratch-path .build/tsan
	@rm -f .build/tsan/report.*
	@python3 -B Tests/Chaos/losses.py --program .build/tsan/debug/skynode --kinds kill,cut,split --stretch 3 $(OPTIONS)
	@! cat .build/tsan/report.* 2>/dev/null

# A thousand nodes' membership on a network that fails in every way, with a thousand seeds; make simulation SEEDS=10
simulation: export SWIFT_BACKTRACE = enable=no
simulation: export SIMULATION_NODES = $(NODES)
simulation: export SIMULATION_SEEDS = $(SEEDS)
simulation: setup
	@$(SWIFT) build -c release --build-tests -Xswiftc -enable-testing --scratch-path .build/simulation
	@$(SWIFT) test -c release --skip-build -Xswiftc -enable-testing --scratch-path .build/simulation \
		--filter '^TransportTests\.MembershipSimulationTests'

# Coordinators, nodes, journals and copies of these in a failing cluster: a hundred thousand histories each; make job-simulation SEEDS=2000
job-simulation: SEEDS = 100000
job-simulation: export SWIFT_BACKTRACE = enable=no
job-simulation: export JOB_SIMULATION_SEEDS = $(SEEDS)
job-simulation: setup
	@$(SWIFT) build -c release --build-tests -Xswiftc -enable-testing --scratch-path .build/simulation
	@$(SWIFT) test -c release --skip-build -Xswiftc -enable-testing --scratch-path .build/simulation \
		--filter '^SkyCoreTests\.(Cluster|Replica|ReplicatedJobs|MixedJobs)SimulationTests'

# Ten thousand damaged files and as many damaged coordinates, scanned by two nodes; make mutations COUNT=500
mutations: COUNT = 10000
mutations: export MUTATIONS = $(COUNT)
mutations: export SWIFT_BACKTRACE = enable=no
mutations: setup
	@$(SWIFT) build --build-tests
	@$(TEST) --no-parallel --filter '^ClusterTests\.MutationTests'

# Two hundred jobs while nodes are killed, the coordinator's among them: nothing is lost, nothing counted twice
kill-rounds: release
	@Tests/kill-rounds.sh

# Six hosts with one key, killed, frozen, cut off, with full disks and clocks that jump, and an attacker beside them; as root.
# make chaos OPTIONS="--rounds 5 --seed 1" or "--quick"
chaos: release
	@deploy/setup.sh --lab
	@python3 -B Tests/Chaos/chaos.py $(OPTIONS)

# Five hosts with one key, of which the one that coordinates is lost for ever, or the network is cut 2 : 3, while a job and scans run;
# as root, hours. make losses OPTIONS="--rounds 20 --kinds kill,cut --seed 1" or "--quick"
losses: release
	@deploy/setup.sh --lab
	@python3 -B Tests/Chaos/losses.py $(OPTIONS)

# Three hosts with one key, switched off and on in order while jobs come: none is refused, and whichever is left does them all;
# as root, an hour. make evenings OPTIONS="--rounds 20 --seed 1" or "--quick"
evenings: release
	@deploy/setup.sh --lab
	@python3 -B Tests/Chaos/evenings.py $(OPTIONS)

# Five hosts that may keep 60 MB each, three persons with credentials, forty faults, two hours: nobody is refused without a reason that
# is so and ends, and lists of jobs are complete; as root. make cluster-soak OPTIONS="--rounds 6 --minutes 20 --seed 1" or "--quick"
cluster-soak: release
	@deploy/setup.sh --lab
	@python3 -B Tests/Chaos/soak.py $(OPTIONS)

# A hundred nodes on this machine: how soon they know each other, what they need; docs/BENCHMARKS.md
many-nodes: release
	@Benchmarks/many-nodes.sh

# Jobs beside Dask, Ray and GNU parallel, a quarter of an hour; make job-benchmark OPTIONS="--quick" is a try of it.
job-benchmark: release
	@Benchmarks/jobs.sh $(OPTIONS)

# Scans beside SExtractor and Python's sep, some ten minutes; make scan-benchmark OPTIONS=--check
scan-benchmark: release
	@Benchmarks/scans.sh $(OPTIONS)

# Scans of images that one of two hosts has, over links of several speeds; as root. make wire-benchmark OPTIONS=--memory
wire-benchmark: release
	@python3 -B Benchmarks/wire.py $(OPTIONS)

# What the first release build takes, by module and by the clock; what is in .build stays. make build-benchmark OPTIONS=--check
build-benchmark: setup
	@python3 -B Benchmarks/first_build.py $(OPTIONS) -- $(SWIFT) build -c release --product skynode $(RELEASE)

# What a node needs of memory and disk; docs/OPERATING.md, "Sizing". Some minutes.
sizing: release
	@python3 -B Benchmarks/sizing.py $(OPTIONS)

# How long a start with a journal of 5 GB takes, and what systemd hears meanwhile; make start-benchmark OPTIONS="--megabytes 500"
start-benchmark: release
	@python3 -B Benchmarks/start.py $(OPTIONS)

# How soon another node has a job of a million tasks whose machine is lost, and what its copies need; make takeover-benchmark OPTIONS=--check
takeover-benchmark: release
	@python3 -B Benchmarks/takeover.py $(OPTIONS)

# What it costs that other nodes keep copies of jobs; make copies-benchmark OPTIONS="--folder /dev/shm" without the disk's part
copies-benchmark: release
	@python3 -B Benchmarks/copies.py $(OPTIONS)

# What scan --reference finds of transients and movers in synthetic nights; make epochs OPTIONS="--seeds 1,2,3 --check"
epochs: release
	@python3 -B Benchmarks/epochs.py $(OPTIONS)

# The same for galaxy fields, crowded and undersampled ones, hot pixels, cosmic rays, trails, clouds; make epoch-kinds OPTIONS=--check
epoch-kinds: release
	@deploy/python.sh .build/peers Tests/Peers/requirements.txt
	@.build/peers/bin/python -B Benchmarks/epoch_kinds.py $(OPTIONS)

# How well SPREAD_MODEL tells galaxies from stars in synthetic skies; make separation OPTIONS="--seeds 1 --check"
separation: release
	@python3 -B Benchmarks/separation.py $(OPTIONS)

# What IMAFLAGS_ISO flags of hot pixels and cosmic rays, and of stars and galaxies; make sharpness OPTIONS="--seeds 1 --check"
sharpness: release
	@python3 -B Benchmarks/sharpness.py $(OPTIONS)

# The pages of the libraries, in .build/docs.
docs: setup
	@$(SWIFT) package dump-symbol-graph --skip-synthesized-members --minimum-access-level public >/dev/null
	@for library in Transport Sky; do \
		rm -rf .build/symbols && mkdir -p .build/symbols .build/docs && \
		cp .build/*/symbolgraph/$$library*.symbols.json .build/symbols/ && \
		docc convert Sources/$$library/$$library.docc --fallback-display-name $$library \
			--fallback-bundle-identifier skynet.$$library --additional-symbol-graph-dir .build/symbols \
			--output-path .build/docs/$$library --transform-for-static-hosting \
			--hosting-base-path $$library || exit 1; \
	done
	@echo "open /Transport/documentation/transport or /Sky/documentation/sky (any web server on .build/docs)"

# make demo, or make demo IMAGE=my.fits
demo: release
	@deploy/demo/demo.sh $(IMAGE)

# Twenty tasks of one second on one, two and five nodes.
headline: release
	@deploy/demo/headline.sh

# Three nodes of an older build become nodes of this one in the middle of two jobs; make upgrade-trial OLDER=skynode
upgrade-trial: release
	@Tests/Trials/upgrade/upgrade.sh $(OLDER)

# A Slurm of three hosts in namespaces of this machine, with jobs that start a cluster on it; as root, four minutes.
slurm-trial: release
	@Tests/Trials/slurm/try.sh $(OPTIONS)

# The package in an image, and containers of it with podman; as root, two minutes after the package.
container-trial: deb
	@Tests/Trials/container/try.sh

# The manifests against Kubernetes' schemas, and against what the program says of itself.
kubernetes-check: release
	@Tests/Trials/kubernetes/check.sh

# The HTTP interface against docs/openapi.yaml, with requests that schemathesis makes up; make api-check OPTIONS="--seed 2"
api-check: release
	@Tests/API/check.sh $(OPTIONS)

# Alerts and dashboard against Prometheus's own tools and a node's metrics.
prometheus-check: release
	@Tests/Trials/prometheus/check.sh

# Hosts in network namespaces of this machine, to play with; make lab HOSTS=10. Needs root.
lab: release
	@deploy/setup.sh --lab
	@Tests/Trials/lab/lab.sh --hosts $(HOSTS)

# make benchmark, or make benchmark OPTIONS="--rounds 15 --check"; Benchmarks/README.md says what it measures.
benchmark: setup
	@$(SWIFT) run --package-path Benchmarks -c release transport-benchmark $(OPTIONS)

soak: setup
	@$(SWIFT) run --package-path Benchmarks -c release transport-soak $(OPTIONS)

format:
	@$(SWIFT) format --in-place --recursive --configuration .swift-format $(FORMATTED)

lint:
	@$(SWIFT) format lint --strict --recursive --configuration .swift-format $(FORMATTED)

clean:
	@rm -rf .build Benchmarks/.build demo-output
