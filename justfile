# Each recipe is one readable command; `just` itself is not needed for anything.

# build and run the main job on the sample
sample:
    cargo run --release -- fixtures/sample/fatscan_sample-1.0-py3-none-manylinux_2_28_x86_64.whl

# all tests
test:
    cargo test --workspace

# formatting, lints, documentation
check:
    cargo fmt --all --check && cargo clippy --workspace --all-targets -- -D warnings && RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# the small public wheels against their recorded truth; without --small all fourteen
corpus *ARGS="--small":
    cargo build --release && python3 tests/corpus.py {{ARGS}}

# verdicts on public wheels against what makers document and users report; without --small all (6 GB)
calibration *ARGS="--small":
    cargo build --release && python3 tests/calibration.py {{ARGS}}

# NVIDIA's cuobjdump on every fixture; with --wheels also on the small wheels
oracle *ARGS:
    cargo build --release && python3 tests/oracle.py {{ARGS}}

# what slim writes by cuobjdump, readelf and nm; with --wheels also on the small wheels
slim-oracle *ARGS:
    cargo build --release && python3 tests/slim_oracle.py {{ARGS}}

# a scan of a wheel against inflating it
bench-wheel PATH:
    cargo bench --bench throughput -- wheel {{PATH}}

# the page of `fatscan fleet` in headless Chromium: pip install playwright, and a browser; --keep FOLDER for pictures
page *ARGS:
    cargo build --release && python3 tests/html_page.py {{ARGS}}

# the Python module: built, installed in an empty environment, tested
python *ARGS:
    python3 tests/python_api.py {{ARGS}}

# all that a release uploads, below dist/: wheels, static binaries, checksums, licences; it uploads nothing
release *ARGS:
    python3 tests/release.py {{ARGS}}

# the recipes of docs/CI.md; --wheel FILE installs it as the action and the hook do
recipes *ARGS:
    cargo build --release && python3 tests/ci_recipes.py {{ARGS}}

# what continuous integration runs
ci:
    bash .ci/run
