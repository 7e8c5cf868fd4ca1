/* SPDX-License-Identifier: MIT */
/* Is the public API plain C++ too?  Compiled by headers.sh, never run. */
#include "holdfast/holdfast.h"

int main()
{
	hf_project_options options = hf_project_options();
	hf_project *project;
	hf_error err;

	options.struct_size = sizeof(options);
	if (hf_project_open(&options, &project, &err) == HF_OK)
		hf_project_close(project);
	return hf_version() == 0;
}
