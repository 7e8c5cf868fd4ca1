/* SPDX-License-Identifier: MIT */
/* Is the public API plain C99?  Compiled by headers.sh, never run. */
#include "holdfast/holdfast.h"

int main(void)
{
	hf_project_options options = { 0 };
	hf_project *project;
	struct hf_error err;

	options.struct_size = sizeof(options);
	if (hf_project_open(&options, &project, &err) == HF_OK)
		hf_project_close(project);
	return hf_version() == NULL;
}
