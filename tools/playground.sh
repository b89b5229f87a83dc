#!/usr/bin/env bash
# Builds the simulator as a WebAssembly module, and in python/nodeb/play the playground, play.html, and the script of live
# figures in the documentation, live.js.
# Exits with status 3 if node or a compiler for WebAssembly is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly triple=wasm32-unknown-unknown
folder=${CARGO_TARGET_DIR:-$PWD/target}/$triple/web
pages=python/nodeb/play

skip() { echo "the playground is not built: $1" >&2; exit 3; }

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$triple/lib" ]; }

# Debian has the compiler and the source of its standard library in one version, from which cargo compiles the library.
has_debian() { [ -x /usr/bin/rustc ] && [ -d /usr/lib/rustlib/src/rust ] && command -v wasm-ld-19 >/dev/null; }

module() {
  # Every browser since 2023 has 128-bit SIMD (Safari 16.4).
  RUSTFLAGS=-Ctarget-feature=+simd128 "$@" build --locked --quiet --profile web --target "$triple" -p nodeb-web
}

command -v node >/dev/null && command -v npm >/dev/null || skip 'node and npm are not installed'
if has_target || { command -v rustup >/dev/null && rustup target add "$triple" >/dev/null 2>&1 && has_target; }; then
  module cargo
elif has_debian; then
  module env RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-19 \
    cargo -Zbuild-std=std,panic_abort
else
  skip "there is no compiler for $triple; \`rustup target add $triple\` installs one"
fi

# Locked packages are installed once; nothing that they bring is run.
if ! [ web/node_modules/.package-lock.json -nt web/package-lock.json ]; then
  (cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null)
  touch web/node_modules/.package-lock.json
fi
(cd web && npx --no-install tsc --noEmit && node build.mjs "$folder/nodeb_web.wasm" "../$pages")
