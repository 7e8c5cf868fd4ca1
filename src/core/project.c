/* SPDX-License-Identifier: MIT */
/* Put a root, its policy and its store together. */
#include "core/project.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"

int hf_project_init(struct hf_project *project,
		    const struct hf_policy_options *options,
		    const char *store_option, struct hf_error *err)
{
	cleanup_free char *file = NULL;
	int rc;

	rc = hf_policy_find(options, &project->root, &file, err);
	if (rc < 0)
		return rc;
	project->root_fd = hf_file_open_directory(project->root);
	if (project->root_fd < 0)
		return hf_fail_system(err, project->root_fd,
				      "cannot open the root '%s'",
				      HF_QUOTE(project->root));
	rc = hf_policy_load(&project->policy, options, project->root, file,
			    err);
	if (rc < 0)
		return rc;
	if (!store_option) {
		rc = hf_store_check_pointer(project->root, err);
		if (rc < 0)
			return rc;
	}
	return hf_store_locate(store_option, project->root,
			       &project->store_path, err);
}

int hf_project_open_store(struct hf_project *project,
			  enum hf_store_open_mode mode, struct hf_error *err)
{
	const int rc =
		hf_store_open(&project->store, project->store_path,
			      project->root, project->root_fd, mode, err);

	project->store.on_wait = project->on_wait;
	project->store.wait_context = project->wait_context;
	return rc;
}

struct hf_scan_options hf_project_scan_options(const struct hf_project *project,
					       const char *const *argv)
{
	return (struct hf_scan_options){
		.policy = &project->policy,
		.root_fd = project->root_fd,
		.root = project->root,
		.argv = argv,
		.store = project->store_path,
	};
}

void hf_project_done(struct hf_project *project)
{
	hf_store_close(&project->store);
	hf_policy_done(&project->policy);
	hf_file_close_quietly(&project->root_fd);
	hf_free_pointee(&project->root);
	hf_free_pointee(&project->store_path);
}
