#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source names its license in its first lines.
#
#	license.sh TOP
set -eu
cd "$1"

for file in $(find include src tests fixtures hooks .ci -type f \
	\( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.py' \) \
	! -path 'tests/scenarios/*' | sort); do
	case $file in
	*.sh | *.py) lines=2 ;;		# behind #!
	*) lines=1 ;;
	esac
	if ! head -n $lines "$file" | grep -q 'SPDX-License-Identifier: MIT'; then
		echo "$file: no SPDX line"
		failed=1
	fi
done
grep -q '^MIT License$' LICENSE || { echo 'LICENSE is not MIT'; failed=1; }

exit "${failed:-0}"
