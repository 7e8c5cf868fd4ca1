# SPDX-License-Identifier: MIT
# What must be installed, by Debian's names: the one list.  Sourced by
# fixtures/demo.sh and tests/run.sh.
#
#	hf_install build test	install what is missing, or say what that is

packages_build='gcc libc6-dev cmake ninja-build pkg-config scdoc
	libarchive-dev libzstd-dev libxxhash-dev libcjson-dev libseccomp-dev
	libelf-dev'
packages_demo='python3 python3-pytest'
packages_test="$packages_demo zstd libcriterion-dev g++ binutils clang libclang-rt-dev
	gcc-mingw-w64-x86-64 bash git acl attr util-linux procps musl-tools
	bubblewrap strace bats zsh fish mandoc
	make meson tox python3-yaml
	e2fsprogs mount"
# A 32-bit compiler, where there is one to be had.
[ "$(uname -m)" != x86_64 ] || packages_test="$packages_test gcc-multilib"
packages_bench='tar zstd xxhash bubblewrap strace git ninja-build'

# What of these packages is not installed, on one line.
hf_missing()
{
	for package in "$@"; do
		case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
		*' ok installed') ;;
		*) printf '%s ' "$package" ;;
		esac
	done
}

hf_install()
{
	wanted=
	for group in "$@"; do
		case $group in
		build) wanted="$wanted $packages_build" ;;
		demo) wanted="$wanted $packages_demo" ;;
		test) wanted="$wanted $packages_test" ;;
		bench) wanted="$wanted $packages_bench" ;;
		esac
	done

	if ! command -v dpkg-query >/dev/null; then
		echo "not Debian: needed are, by Debian's names:" $wanted >&2
		return 0
	fi
	missing=$(hf_missing $wanted)
	[ -n "$missing" ] || return 0

	if [ "$(id -u)" = 0 ]; then
		as_root='env'
	elif command -v sudo >/dev/null; then
		as_root='sudo env'
	else
		echo 'please install, as root:' >&2
		echo "	apt-get install $missing" >&2
		return 1
	fi
	echo "installing: $missing" >&2
	$as_root apt-get -q update >/dev/null &&
		$as_root DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
			--no-install-recommends $missing >/dev/null
}
