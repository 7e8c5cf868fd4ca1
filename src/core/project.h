/* SPDX-License-Identifier: MIT */
/*
 * A root with its policy and its store: what every command begins with.
 */
#ifndef HF_CORE_PROJECT_H
#define HF_CORE_PROJECT_H

#include "core/policy.h"
#include "core/scan.h"
#include "core/store.h"

struct hf_error;

struct hf_project {
	char *root;		/* canonical */
	int root_fd;
	struct hf_policy policy;
	char *store_path;	/* where it is or will be */
	struct hf_store store;	/* open after hf_project_open_store() */
	struct hf_name named;	/* what the public API last named */
	/* As in struct hf_store, for the one that is opened. */
	bool (*on_wait)(void *context);
	void *wait_context;
};

#define HF_PROJECT_INIT							\
	{ .root_fd = -1, .policy = HF_POLICY_INIT, .store = HF_STORE_INIT }
#define cleanup_project	CLEANUP(hf_project_done)

/* Find the root, load the policy, say where the store is.  Nothing is made. */
MUST_CHECK int hf_project_init(struct hf_project *project,
			       const struct hf_policy_options *options,
			       const char *store_option, struct hf_error *err);
MUST_CHECK int hf_project_open_store(struct hf_project *project,
				     enum hf_store_open_mode mode,
				     struct hf_error *err);
/* How to scan this project; argv may be NULL. */
struct hf_scan_options hf_project_scan_options(const struct hf_project *project,
					       const char *const *argv);
void hf_project_done(struct hf_project *project);

#endif /* HF_CORE_PROJECT_H */
