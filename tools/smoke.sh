#!/usr/bin/env bash
# Installs the wheel and the sources in dist/ (with an argument: only `wheel`) into fresh environments and runs an
# example with each. Nothing of this checkout is on the path, and for the wheel no Rust.
set -euo pipefail
cd "$(dirname "$0")/.."

dist=$PWD/dist constraints=$PWD/constraints.txt example=$PWD/examples/dch-50k.toml built=$PWD/target/release
page=$PWD/python/nodeb/play/play.html
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

without_rust() {
  local kept=() folder
  local IFS=:
  for folder in $PATH; do [ -x "$folder/cargo" ] || [ -x "$folder/rustc" ] || kept+=("$folder"); done
  echo "${kept[*]}"
}

# Runs a command that reuses the dependencies that this checkout has compiled. nodeb's own crates are compiled again,
# since their path differs. Works on a copy, so that this checkout is unchanged.
with_libraries() {
  mkdir -p target/release
  for part in .fingerprint build deps; do [ ! -d "$built/$part" ] || cp -a "$built/$part" target/release; done
  CARGO_TARGET_DIR=$work/target "$@"
}

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# Installs `$2` into the environment `$1` and runs the example, which must take less than two seconds from the end of
# the install on.
try() {
  local begin installed took
  python3 -m venv "$1"
  begin=$(now_ms)
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check -c "$constraints" "$2"
  installed=$(now_ms)
  "$1/bin/nodeb" run "$example" --out "$1.out" >"$1.txt"
  took=$(($(now_ms) - installed))
  echo "$(basename "$2"): installed in $(((installed - begin) / 1000)) s, then nodeb run took $took ms"
  [ "$took" -lt "${SMOKE_MS:-2000}" ] || { echo "error: more than ${SMOKE_MS:-2000} ms" >&2; exit 1; }
  "$1/bin/nodeb" run "$example" --out "$1.page" --report >/dev/null # needs templates
  "$1/bin/nodeb" reproduce wang --item 'Table 12' --quick --out "$1.wang" >/dev/null 2>&1 # and data
  "$1/bin/python" -c 'import nodeb; assert nodeb.__version__'
}

PATH=$(without_rust) try wheel "$dist"/*.whl
if [ -f "$page" ]; then # the wheel has the playground if it was built here
  wheel/bin/nodeb play "$example" --no-open --out play.html
  grep -q 'location.hash = "v=1&s=' play.html
  cmp "$page" wheel/lib/python*/site-packages/nodeb/play/play.html
fi
[ "${1:-}" != wheel ] || exit 0
with_libraries try sdist "$dist"/*.tar.gz
cmp wheel.out/summary.csv sdist.out/summary.csv
