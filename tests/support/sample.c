/* SPDX-License-Identifier: MIT */
/* Start a program between two pipes. */
#include "support/sample.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void give_up(const char *what)
{
	perror(what);
	abort();
}

bool hf_sample_path(char ret_path[PATH_MAX], const char *kind)
{
	(void)snprintf(ret_path, PATH_MAX, "%s/environ_%s", HF_SAMPLES, kind);
	return access(ret_path, X_OK) == 0;
}

/* A line; a program that prints none has failed. */
static void read_line(const struct hf_sample *sample, char *line, size_t size)
{
	size_t len = 0;

	while (len + 1 < size && read(sample->from_fd, line + len, 1) == 1 &&
	       line[len] != '\n')
		len++;
	if (len == 0)
		give_up("the sample says nothing");
	line[len] = '\0';
}

long hf_sample_read(struct hf_sample *sample)
{
	char line[32];
	long number;

	read_line(sample, line, sizeof(line));
	if (sscanf(line, "%ld", &number) != 1)
		give_up(line);
	return number;
}

long hf_sample_start(struct hf_sample *sample, const char *const *argv)
{
	int in[2];
	int out[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		give_up("pipe");
	sample->pid = fork();
	if (sample->pid == 0) {
		/* execvp() takes what it does not change as not const. */
		if (dup2(in[0], 0) == 0 && dup2(out[1], 1) == 1)
			(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (sample->pid < 0 || close(in[0]) < 0 || close(out[1]) < 0)
		give_up("fork");
	sample->to_fd = in[1];
	sample->from_fd = out[0];
	return hf_sample_read(sample);
}

void hf_sample_tell(struct hf_sample *sample, char change)
{
	char line[32];

	if (write(sample->to_fd, &change, 1) != 1)
		give_up("write");
	read_line(sample, line, sizeof(line));
}

void hf_sample_end(struct hf_sample *sample)
{
	if (sample->to_fd >= 0)
		(void)close(sample->to_fd);
	if (sample->from_fd >= 0)
		(void)close(sample->from_fd);
	if (sample->pid > 0 && waitpid(sample->pid, NULL, 0) != sample->pid)
		give_up("waitpid");
	*sample = (struct hf_sample)HF_SAMPLE_INIT;
}
