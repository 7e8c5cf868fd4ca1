/* SPDX-License-Identifier: MIT */
/* Record, damage, restore and compare a small project. */
#include "support/workbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "core/kept.h"
#include "core/replace.h"
#include "core/scan.h"
#include "support/check.h"
#include "support/tmpdir.h"

static void must(int rc, const char *what, const struct hf_error *err)
{
	if (rc >= 0)
		return;
	(void)fprintf(stderr, "workbench: %s: %s\n", what, err->text);
	abort();
}

void hf_bench_begin(struct hf_bench *bench, const char *patterns, bool as_user)
{
	*bench = (struct hf_bench){
		.manifest = HF_MANIFEST_INIT,
		.session = HF_SESSION_RECORD_INIT,
	};
	if (as_user) {
		char *const mine = hf_tmpdir_make();

		hf_become_user(mine);
		hf_tmpdir_remove(mine);
	}
	hf_stored_make(&bench->at, patterns);
	bench->root_fd = bench->at.root_fd;
}

void hf_bench_record(struct hf_bench *bench)
{
	struct hf_snapshot_result result;

	hf_stored_take(&bench->at, &bench->manifest, &result);
}

static void look(struct hf_bench *bench)
{
	struct hf_error err;

	hf_plan_done(&bench->plan);
	hf_deltas_done(&bench->deltas);
	hf_tree_done(&bench->now);
	must(hf_snapshot_look(&bench->at.scan, &bench->manifest.tree, NULL,
			      &bench->now, &err),
	     "look", &err);
	must(hf_compare(&bench->manifest.tree, &bench->now, &bench->deltas,
			&err),
	     "compare", &err);
}

size_t hf_bench_differences(struct hf_bench *bench, bool is_loud)
{
	look(bench);
	for (size_t i = 0; is_loud && i < bench->deltas.count; i++) {
		const struct hf_delta *const delta = &bench->deltas.items[i];
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

		hf_delta_describe(delta, &text);
		(void)fprintf(stderr, "differs: %s: %s\n",
			      delta->before ? delta->before->path
					    : delta->after->path,
			      text.data);
	}
	return bench->deltas.count;
}

void hf_bench_plan(struct hf_bench *bench, bool remove_additions)
{
	const struct hf_plan_options options = {
		.remove_additions = remove_additions,
	};
	struct hf_error err;

	look(bench);
	must(hf_restore_plan(&bench->deltas, &bench->manifest.tree, &options,
			     &bench->plan, &err),
	     "plan", &err);
}

int hf_bench_apply(struct hf_bench *bench, struct hf_error *err)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	const struct hf_journal_open_record record = {
		.kind = "restore",
		.snapshot = bench->manifest.name.text,
		.pid = (uint64_t)getpid(),
	};
	const struct hf_restore_context context = {
		.store = &bench->at.store,
		.journal = &journal,
		.root_fd = bench->root_fd,
	};
	struct hf_error ended;
	int rc;

	rc = hf_journal_begin(&journal, &bench->at.store, &record, err);
	if (rc < 0)
		return rc;
	bench->name = journal.name;
	if (bench->around)
		bench->around(true);
	rc = hf_restore_apply(&bench->plan, &context, err);
	if (bench->around)
		bench->around(false);
	if (hf_journal_end(&journal, HF_OUTCOME_DONE, 0, 0, &ended) < 0 &&
	    rc == 0) {
		*err = ended;
		return ended.code;
	}
	return rc;
}

int hf_bench_restore(struct hf_bench *bench, bool remove_additions,
		     struct hf_error *err)
{
	hf_bench_plan(bench, remove_additions);
	return hf_bench_apply(bench, err);
}

/* What the session's paths are now, each looked at and hashed. */
static void look_at_session(struct hf_bench *bench)
{
	struct hf_error err;

	hf_plan_done(&bench->plan);
	hf_deltas_done(&bench->deltas);
	hf_tree_done(&bench->now);
	for (size_t i = 0; i < bench->session.kept_count; i++) {
		const char *const path = bench->session.kept[i].replaced->path;
		struct hf_entry *const entry = hf_tree_add(&bench->now, path);
		const char *name;
		int fd;

		fd = hf_scan_open_parent(bench->root_fd, path, &name);
		if (fd < 0)
			continue;
		must(hf_scan_entry(fd, name, &bench->now, entry, &err), "scan",
		     &err);
		(void)close(fd);
	}
	must(hf_tree_sort_merge(&bench->now, &err), "sort", &err);
	must(hf_scan_read(&bench->at.scan, &bench->now, NULL, true, NULL, &err),
	     "read", &err);
}

int hf_bench_undo(struct hf_bench *bench, struct hf_error *err)
{
	hf_plan_done(&bench->plan);
	hf_session_record_done(&bench->session);
	must(hf_journal_read(&bench->at.store, &bench->name, &bench->session,
			     err),
	     "journal", err);
	look_at_session(bench);
	must(hf_restore_plan_undo(&bench->session, &bench->now, &bench->plan,
				  err),
	     "plan", err);
	return hf_bench_apply(bench, err);
}

const struct hf_step *hf_bench_step(const struct hf_bench *bench,
				    const char *path)
{
	for (size_t i = 0; i < bench->plan.count; i++) {
		const struct hf_step *const step = &bench->plan.steps[i];

		if (strcmp(hf_step_path(step), path) == 0)
			return step;
	}
	return NULL;
}

bool hf_bench_kept_has(const struct hf_bench *bench, const char *kept_path,
		       const char *text)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	struct hf_error err;

	if (!kept_path)
		return false;
	fd = hf_kept_open(&bench->at.store, kept_path, &err);
	return fd >= 0 && hf_file_read_all(fd, strlen(text), &data) == 0 &&
	       data.len == strlen(text) &&
	       memcmp(data.data ? data.data : "", text, data.len) == 0;
}

static size_t count_temporaries(int fd)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;
	size_t count = 0;

	if (hf_directory_open(fd, &directory) < 0)
		return 0;
	while (hf_directory_next(directory, &name, &kind) > 0) {
		cleanup_fd int child = hf_file_open_directory_at(fd, name);

		count += hf_replace_is_temporary(name);
		if (child >= 0)
			count += count_temporaries(child);
	}
	return count;
}

size_t hf_bench_temporaries(const struct hf_bench *bench)
{
	return count_temporaries(bench->root_fd);
}

void hf_bench_done(struct hf_bench *bench)
{
	hf_plan_done(&bench->plan);
	hf_session_record_done(&bench->session);
	hf_deltas_done(&bench->deltas);
	hf_tree_done(&bench->now);
	hf_manifest_done(&bench->manifest);
	hf_stored_remove(&bench->at);
}
