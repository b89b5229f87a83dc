#!/usr/bin/env bash
# Installs the wheel and the sources in dist/ into fresh environments and runs an example with each. Nothing of this
# checkout is on the path, and for the wheel no Rust.
set -euo pipefail
cd "$(dirname "$0")/.."

dist=$PWD/dist target=$PWD/target constraints=$PWD/constraints.txt example=$PWD/examples/dch-50k.toml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

without_rust() {
  local kept=() folder
  local IFS=:
  for folder in $PATH; do [ -x "$folder/cargo" ] || [ -x "$folder/rustc" ] || kept+=("$folder"); done
  echo "${kept[*]}"
}

# Installs `$2` into the environment `$1` and runs the example, which must take less than two seconds from the end of
# the install on, and give the numbers that the other installation gives.
try() {
  python3 -m venv "$1"
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check -c "$constraints" "$2"
  local begin=$EPOCHREALTIME
  "$1/bin/nodeb" run "$example" --out "$1.out" >"$1.txt"
  local took=$(((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/}) / 1000))
  echo "$(basename "$2"): nodeb run took $took ms"
  [ "$took" -lt "${SMOKE_MS:-2000}" ] || { echo "error: more than ${SMOKE_MS:-2000} ms" >&2; exit 1; }
  "$1/bin/nodeb" validate "$example" >/dev/null
  "$1/bin/python" -c 'import nodeb; assert nodeb.__version__'
}

PATH=$(without_rust) try wheel "$dist"/*.whl
CARGO_TARGET_DIR=$target try sdist "$dist"/*.tar.gz  # libraries that are built are not built again
cmp wheel.out/summary.csv sdist.out/summary.csv
