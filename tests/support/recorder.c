/* SPDX-License-Identifier: MIT */
/*
 * A program of somebody else's that links the library.
 *
 *	recorder snapshot|restore	in the project of the working directory
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/holdfast.h"

int main(int argc, char **argv)
{
	const hf_project_options options = { .struct_size = sizeof(options) };
	hf_restore_result result = { .struct_size = sizeof(result) };
	struct hf_error err = { 0 };
	const char *snapshot;
	hf_project *project;
	int rc;

	rc = hf_project_open(&options, &project, &err);
	if (rc == 0) {
		rc = argc > 1 && strcmp(argv[1], "restore") == 0 ?
			     hf_project_restore(project, NULL, NULL, &result,
						&err) :
			     hf_project_snapshot(project, &snapshot, &err);
		hf_project_close(project);
	}
	if (rc < 0)
		(void)fprintf(stderr, "%s\n", err.text);
	return rc < 0;
}
