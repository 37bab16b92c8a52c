# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions of jobs/quickstart.sh and tests/run.sh. Sourced, with the repository root as working directory.

say() { printf '%s\n' "$*" >&2; }

# die STATUS MESSAGE...
die() {
  local status=$1
  shift
  say "error: $*"
  exit "$status"
}

# packages_of GROUP...: the Debian packages of these groups, one a line.
packages_of() {
  local group
  for group in "$@"; do
    awk -v group="$group" '$1 == group { print $2 }' jobs/dependencies.txt
  done
}

# missing_packages GROUP...: those that dpkg does not have. On a system without dpkg: none, CMake decides.
missing_packages() {
  command -v dpkg-query > /dev/null || return 0
  local installed
  # dpkg-query fails when it does not know one of them, and lists the others all the same.
  # shellcheck disable=SC2046
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $(packages_of "$@") 2> /dev/null |
    awk '$2 == "installed" { print $1 }') || true
  packages_of "$@" | grep -vxF -f <(printf '%s\n' "$installed") || true
}

# as_root COMMAND...: fails with 126 where neither root nor a sudo that asks for no password is at hand.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif sudo -n true 2> /dev/null; then
    sudo -n "$@"
  else
    return 126
  fi
}

can_install() { command -v apt-get > /dev/null && as_root true; }

# install_missing GROUP...: apt-get only for what is missing. Sets `missing` to what could not be installed.
install_missing() {
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  can_install || return 0
  say "Installing: ${missing//$'\n'/ }"
  local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  local log=build/apt.log
  mkdir -p build
  # shellcheck disable=SC2086
  if { as_root "${apt[@]}" update && as_root "${apt[@]}" install --no-install-recommends $missing; } > "$log" 2>&1; then
    missing=""
  else
    tail -n 15 "$log" >&2
    missing=$(missing_packages "$@")
  fi
}

# explain_missing PACKAGES: what they bring, for people whose administrator or module system provides it.
explain_missing() {
  local package brings
  say "Debian packages that are missing (apt-get install --no-install-recommends ...), and what they bring:"
  while read -r _ package brings; do
    ! grep -qxF -- "$package" <<< "$1" || say "  $(printf '%-30s %s' "$package" "$brings")"
  done < jobs/dependencies.txt
  say "Modules or builds of your own do as well: load them, point CMAKE_PREFIX_PATH (HDF5_ROOT for a parallel HDF5,"
  say "MPI_HOME for MPI) at them and call this script again."
}

# configure PRESET TESTING: TESTING is ON, or OFF for the program alone. Packages that dpkg misses do no harm where
# CMake finds what they bring; exits 2 where something required cannot be found.
configure() {
  local name absent=() log=build/configure.log
  local compiler=${CXX:-g++}
  for name in cmake ninja pkg-config "${compiler%% *}"; do
    command -v "$name" > /dev/null || absent+=("$name")
  done
  mkdir -p build
  if [ ${#absent[@]} -gt 0 ]; then
    say "Not found on PATH: ${absent[*]}"
  elif cmake --preset "$1" -DBUILD_TESTING="$2" > "$log" 2>&1; then
    return 0
  else
    cat "$log" >&2
  fi
  [ -z "${missing:-}" ] || explain_missing "$missing"
  die 2 "something that the build requires was not found (see above)"
}

# build PRESET [TARGET]: everything, or one target.
build() {
  say "Building in build/$1 ..."
  cmake --build --preset "$1" ${2:+--target "$2"} >&2 || die 1 "the build failed"
}

# Open MPI refuses to run as root, and to start more ranks than cores, unless told; its gds component of shared memory
# is not reliable in containers (open-mpi/ompi#7642). For scripts and tests only: never a default of the program.
mpi_environment() {
  if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 PMIX_MCA_gds=hash
}
