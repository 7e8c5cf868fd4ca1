/* SPDX-License-Identifier: MIT */
/* What the gate protects: the tree, the directories above it, and the store. */
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "guard/decide_set.h"
#include "guard/run.h"

/* Of a store with more than this in it, what was listed last is left to the
 * look at its end. */
#define STORE_MAX	100000u
/* kept/SESSION/PATH: the session, and what an entry's path may be deep. */
#define STORE_DEPTH_MAX 64u

static int add_above(const struct hf_run *run, struct hf_decide_set *set,
		     const char *from)
{
	cleanup_free char *path = hf_path_join("", from);
	size_t len;

	if (!path)
		return -ENOMEM;
	do {
		struct hf_stat stat;
		int rc = hf_file_stat_at(run->project->root_fd, path, &stat);

		if (rc == 0)
			rc = hf_decide_set_add_above(set, path, stat.dev,
						     stat.ino);
		if (rc == -ENOMEM)
			return rc;
		len = hf_path_parent_len(path);
		path[len] = '\0';
	} while (len > 0 && strcmp(path, "/") != 0);
	return 0;
}

/* All that is in one of the store's directories, and below it. */
static int add_folder(struct hf_decide_set *set, int dir_fd, uint64_t dev,
		      unsigned depth)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;

	/* What cannot be listed cannot be named by the command either. */
	if (hf_directory_open(dir_fd, &directory) < 0)
		return 0;
	while (set->known_count < STORE_MAX &&
	       hf_directory_next(directory, &name, &kind) > 0) {
		const bool is_directory = kind == HF_KIND_DIRECTORY;
		int rc = hf_decide_set_add_store(set, name, dev,
						 hf_directory_inode(directory),
						 is_directory);

		if (rc == 0 && is_directory && depth > 0) {
			cleanup_fd int fd =
				hf_file_open_directory_at(dir_fd, name);

			if (fd >= 0)
				rc = add_folder(set, fd, dev, depth - 1);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_store(const struct hf_run *run, struct hf_decide_set *set)
{
	const struct hf_store *const store = &run->project->store;
	struct hf_stat stat;
	int rc;

	rc = hf_file_stat(store->dir_fd, &stat);
	if (rc < 0)
		return 0;
	set->store_path = store->path;
	rc = hf_decide_set_add_store(set, "", stat.dev, stat.ino, true);
	return rc < 0 ? rc
		      : add_folder(set, store->dir_fd, stat.dev,
				   STORE_DEPTH_MAX);
}

int hf_run_fill_set(const struct hf_run *run, struct hf_decide_set *set,
		    struct hf_error *err)
{
	const struct hf_project *const project = run->project;
	int rc;

	rc = hf_decide_set_fill(set, &run->session.snapshot.tree,
				&project->policy, run->options->argv, err);
	if (rc < 0)
		return rc;
	set->refuses_updates =
		project->policy.read_write_opens == HF_OPENS_REFUSE;
	/* The store before what is above it: what is known already stays. */
	rc = add_store(run, set);
	if (rc == 0)
		rc = add_above(run, set, project->root);
	if (rc == 0)
		rc = add_above(run, set, project->store.path);
	return rc < 0 ? hf_fail_memory(err) : 0;
}
