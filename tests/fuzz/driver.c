/* SPDX-License-Identifier: MIT */
/*
 * Feed the files of a corpus to a fuzz target, for compilers without libFuzzer.
 *
 *	fuzz_NAME FILE-OR-DIRECTORY...
 *
 * An empty corpus is a failure: it would prove nothing.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int replay_file(const char *path)
{
	FILE *const file = fopen(path, "rb");
	uint8_t *const data = malloc(INPUT_MAX);
	uint8_t *exact;
	size_t len;

	if (!file || !data) {
		perror(path);
		exit(1);
	}
	len = fread(data, 1, INPUT_MAX, file);
	if (ferror(file) || len == INPUT_MAX) {
		(void)fprintf(stderr, "%s: cannot be read whole\n", path);
		exit(1);
	}
	(void)fclose(file);

	/* Of the exact size, so that ASan sees a read past the end. */
	exact = malloc(len ? len : 1);
	if (!exact) {
		perror(path);
		exit(1);
	}
	memcpy(exact, data, len);
	free(data);
	(void)LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	return 1;
}

static int replay(const char *path)
{
	DIR *const dir = opendir(path);
	const struct dirent *entry;
	int count = 0;

	if (!dir)
		return replay_file(path);
	while ((entry = readdir(dir)) != NULL) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		count += replay_file(name);
	}
	(void)closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	int count = 0;

	for (int i = 1; i < argc; i++)
		count += replay(argv[i]);
	(void)printf("%d inputs replayed\n", count);
	return count > 0 ? 0 : 1;
}
