/* SPDX-License-Identifier: MIT */
/* Print the descriptors that this program was started with, on one line. */
#include <fcntl.h>
#include <stdio.h>

#define FD_LIMIT 4096

int main(void)
{
	const char *blank = "";

	for (int fd = 0; fd < FD_LIMIT; fd++) {
		if (fcntl(fd, F_GETFD) >= 0) {
			(void)printf("%s%d", blank, fd);
			blank = " ";
		}
	}
	(void)printf("\n");
	return 0;
}
