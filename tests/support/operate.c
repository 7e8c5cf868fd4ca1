/* SPDX-License-Identifier: MIT */
/*
 * Perform the operations of platform/operation.h, or such that change nothing.
 *
 *	operate --list		NAME CALL PRESENT TRAITS, a line each
 *	operate --build DIR	make the stage DIR/NAME for every operation
 *	operate --all DIR	perform each in its stage, if that is there
 *	operate NAME DIR	perform one in the stage DIR, made if empty
 *
 * --noop in front takes the second table.  For each operation performed a line
 * says NAME, errno (0 for success), "whole" or "damaged", and the process; one
 * that is not possible here is left out: its call has no number on this
 * architecture, or only root can.
 *
 * Built for several architectures: needs nothing but the operations.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/operate.h"

static bool is_noop;

static const struct hf_operation *at(size_t index)
{
	const struct noop *noop;

	if (!is_noop)
		return hf_operation_at(index);
	noop = noop_at(index);
	return noop == NULL ? NULL : &noop->operation;
}

static int fail(const char *what, const char *name, int rc)
{
	(void)fprintf(stderr, "operate: %s: %s: %s\n", name, what,
		      strerror(-rc));
	return -1;
}

static bool is_possible(const struct hf_operation *operation)
{
	return operation->number >= 0 &&
	       (geteuid() == 0 ||
		!(operation->traits & HF_OPERATION_PRIVILEGED));
}

static int list(void)
{
	const struct hf_operation *operation;

	for (size_t i = 0; (operation = at(i)) != NULL; i++)
		(void)printf("%s %s %s%s%s%s %d\n", operation->name,
			     operation->call,
			     operation->number < 0 ? "absent" : "present",
			     operation->traits & HF_OPERATION_PRIVILEGED
				     ? ",privileged"
				     : "",
			     operation->traits & HF_OPERATION_UPDATE ? ",update"
								     : "",
			     operation->traits & HF_OPERATION_DENIED ? ",denied"
								     : "",
			     is_noop ? noop_at(i)->error : 0);
	return 0;
}

static int open_stage(const char *base, const char *name)
{
	const int base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (base_fd < 0)
		return -errno;
	fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	(void)close(base_fd);
	return fd;
}

static int build(const char *base)
{
	const struct hf_operation *operation;

	for (size_t i = 0; (operation = at(i)) != NULL; i++) {
		char path[4096];
		int fd;
		int rc;

		if (!is_possible(operation))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", base,
			       operation->name);
		if (mkdir(path, 0755) < 0)
			return fail("mkdir", path, -errno);
		fd = open_stage(base, operation->name);
		if (fd < 0)
			return fail("open", path, fd);
		rc = hf_stage_build(operation, fd);
		(void)close(fd);
		if (rc < 0)
			return fail("build", path, rc);
	}
	return 0;
}

static int perform(const struct hf_operation *operation, int fd,
		   const char *path)
{
	struct hf_stage_state before;
	struct hf_stage_state after;
	struct hf_operation_outcome outcome;
	int rc = hf_stage_look(fd, &before);

	if (rc < 0)
		return fail("look before", operation->name, rc);
	rc = hf_operation_perform(operation, fd, path, &outcome);
	if (rc < 0)
		return fail("perform", operation->name, rc);
	rc = hf_stage_look(fd, &after);
	if (rc < 0)
		return fail("look after", operation->name, rc);
	(void)printf("%s %d %s %lld\n", operation->name, outcome.error,
		     hf_stage_is_same(&before, &after) ? "whole" : "damaged",
		     (long long)outcome.pid);
	(void)fflush(stdout);
	return 0;
}

static int perform_in(const struct hf_operation *operation, const char *base,
		      const char *name)
{
	const int fd = open_stage(base, name);
	char path[4096];
	char *absolute;
	int rc;

	if (fd < 0)
		return fail("open", name, fd);
	(void)snprintf(path, sizeof(path), "%s/%s", base, name);
	absolute = realpath(path, NULL);
	if (absolute == NULL)
		return fail("realpath", path, -errno);
	rc = perform(operation, fd, absolute);
	free(absolute);
	(void)close(fd);
	return rc;
}

static bool has_stage(const struct hf_operation *operation, const char *base)
{
	const int fd = open_stage(base, operation->name);

	if (fd >= 0)
		(void)close(fd);
	return fd != -ENOENT;
}

static int perform_all(const char *base)
{
	const struct hf_operation *operation;
	int rc = 0;

	for (size_t i = 0; (operation = at(i)) != NULL; i++)
		if (is_possible(operation) && has_stage(operation, base) &&
		    perform_in(operation, base, operation->name) < 0)
			rc = -1;
	return rc;
}

static int perform_one(const char *name, const char *directory)
{
	const struct hf_operation *operation;
	size_t i = 0;
	int fd;
	int rc;

	do {
		operation = at(i++);
	} while (operation != NULL && strcmp(operation->name, name) != 0);
	if (operation == NULL)
		return fail("no such operation", name, -EINVAL);
	if (!is_possible(operation)) {
		(void)printf("%s is not possible here\n", name);
		return 0;
	}
	fd = open_stage(directory, ".");
	if (fd < 0)
		return fail("open", directory, fd);
	/* A stage that is there stays as it is. */
	rc = hf_stage_build(operation, fd);
	(void)close(fd);
	return rc < 0 && rc != -EEXIST ? fail("build", directory, rc)
				       : perform_in(operation, directory, ".");
}

int main(int argc, char **argv)
{
	int rc = -1;

	if (argc > 1 && strcmp(argv[1], "--noop") == 0) {
		is_noop = true;
		argc--;
		argv++;
	}
	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		rc = list();
	else if (argc == 3 && strcmp(argv[1], "--build") == 0)
		rc = build(argv[2]);
	else if (argc == 3 && strcmp(argv[1], "--all") == 0)
		rc = perform_all(argv[2]);
	else if (argc == 3)
		rc = perform_one(argv[1], argv[2]);
	else
		(void)fputs("usage: operate [--noop] --list | --build DIR | "
			    "--all DIR | NAME DIR\n",
			    stderr);
	return rc < 0 ? 2 : 0;
}
