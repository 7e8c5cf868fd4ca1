# SPDX-License-Identifier: MIT
# For the commands of stories: wait until a condition holds.
until_true()
{
	tries=0
	until eval "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || { echo "never: $1"; exit 9; }
		sleep 0.02
	done
}
