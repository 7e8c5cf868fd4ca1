/* SPDX-License-Identifier: MIT */
/* The command of the doctor's run: it performs, and writes down what it saw. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/doctor.h"
#include "platform/file.h"

static int write_line(int out_fd, const char *line)
{
	return hf_file_write(out_fd, line, strlen(line));
}

static int perform_in(int stage_fd, const char *path, size_t row, int out_fd)
{
	struct hf_operation_outcome outcome;
	struct hf_stage_state before;
	struct hf_stage_state after;
	char line[64];
	int rc = hf_stage_look(stage_fd, &before);

	(void)snprintf(line, sizeof(line), "%zu ", row);
	if (rc >= 0)
		rc = write_line(out_fd, line);
	if (rc >= 0)
		rc = hf_operation_perform(hf_operation_at(row), stage_fd, path,
					  &outcome);
	if (rc >= 0)
		rc = hf_stage_look(stage_fd, &after);
	(void)snprintf(line, sizeof(line), "%d %d\n",
		       rc < 0 ? -rc : outcome.error,
		       rc >= 0 && !hf_stage_is_same(&before, &after));
	return write_line(out_fd, line);
}

/* Without a stage it is one that is not possible here. */
static int perform(int project_fd, const char *project, size_t row, int out_fd)
{
	const char *name = hf_operation_at(row)->name;
	cleanup_free char *path = hf_path_join(project, name);
	cleanup_fd int fd = hf_file_open_directory_at(project_fd, name);

	if (path == NULL)
		return -ENOMEM;
	return fd < 0 ? 0 : perform_in(fd, path, row, out_fd);
}

int hf_doctor_perform(const char *path, const char *first, struct hf_error *err)
{
	cleanup_free char *project = hf_path_join(path, HF_DOCTOR_PROJECT);
	cleanup_fd int scratch_fd = hf_file_open_directory(path);
	cleanup_fd int project_fd = -1;
	cleanup_fd int out_fd = -1;
	uint64_t row;
	int rc = scratch_fd;

	if (project == NULL)
		return hf_fail_memory(err);
	if (rc >= 0)
		rc = hf_parse_u64(first, strlen(first), 10, &row);
	if (rc >= 0)
		rc = project_fd = hf_file_open_directory_at(scratch_fd,
							    HF_DOCTOR_PROJECT);
	if (rc >= 0)
		rc = out_fd =
			hf_file_open_append_at(scratch_fd, HF_DOCTOR_OUTCOMES);
	for (; rc >= 0 && hf_operation_at(row) != NULL; row++)
		(void)perform(project_fd, project, row, out_fd);
	return rc < 0 ? hf_fail_system(err, rc, "cannot try in '%s'",
				       HF_QUOTE(path))
		      : 0;
}
