# Shared by scripts/test and scripts/audit; source it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v cargo >/dev/null; then
  echo "no Rust toolchain found: install one (https://rustup.rs) and run this again" >&2
  exit 1
fi
# On Windows the compiler of Visual Studio is found without being on the path.
if [ "$(uname)" = Linux ] && ! command -v cc >/dev/null; then
  echo "no C compiler found (two dependencies contain C): installing gcc" >&2
  apt-get update -qq && apt-get install -y -qq gcc libc6-dev
fi

# The published data sets are not part of the repository. Tests that need them report that they are skipped.
if [ -z "${RIVALRY_DATA:-}" ] && [ -d ../shared/data ]; then
  RIVALRY_DATA=$(cd ../shared/data && pwd)
  export RIVALRY_DATA
fi

# The Rust half of the Python package compiles without an interpreter; its tests need one.
if python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
  have_python=yes
else
  have_python=no
  export PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1
fi

started=$SECONDS
step() { printf '\n== [%3d s] %s\n' $((SECONDS - started)) "$*"; "$@"; }
skipped() { printf '\n== [%3d s] skipped: %s\n' $((SECONDS - started)) "$*"; }
has() { cargo "$1" --version >/dev/null 2>&1 || { skipped "cargo $1 is not installed"; false; }; }

# A virtual environment with the libraries that the Python tests need.
python_environment() {
  rm -rf target/python
  python3 -m venv target/python
  target/python/bin/pip install --quiet --upgrade 'pip>=25.1'
  target/python/bin/pip install --quiet --group test
}

# Puts the Python sources and the module compiled with a profile into that environment, without building a wheel.
python_package_in_place() {
  local site
  site=$(target/python/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  rm -rf "$site"/rivalry "$site"/rivalry-*.dist-info
  cp -r python/rivalry "$site/rivalry"
  cp "target/$1/lib_rivalry.so" "$site/rivalry/_rivalry.abi3.so"
}
