/* SPDX-License-Identifier: MIT */
/*
 * A journal with right sums is undone, and its store looked through: whatever
 * it says, nothing outside the root and the store changes.  Beside them lies a
 * directory to which links lead, in the root and in the kept copies.
 */
/* The assertions are the test. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "core/hash.h"
#include "core/inspect.h"
#include "core/kept.h"
#include "core/sealed.h"
#include "guard/repair.h"
#include "support/tmpdir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define SESSION "000001-20261130T030007Z"
#define WITNESS "witness"

static void put(int dir_fd, const char *name, const void *data, size_t len)
{
	int fd = hf_file_create_at(dir_fd, name, 0600);

	assert(fd >= 0 && hf_file_write(fd, data, len) == 0);
	hf_file_close_quietly(&fd);
}

static int make(int dir_fd, const char *name)
{
	int fd;

	assert(hf_file_mkdir_at(dir_fd, name, 0700) == 0);
	fd = hf_file_open_directory_at(dir_fd, name);
	assert(fd >= 0);
	return fd;
}

/* Put the right sum behind each line. */
static void add_sums(const uint8_t *data, size_t len, struct hf_buffer *out)
{
	struct hf_lines lines = {
		.next = (const char *)data,
		.end = (const char *)data + len,
	};
	const char *line;
	size_t line_len;

	while (hf_lines_next(&lines, &line, &line_len)) {
		const struct hf_hash sum = hf_hash_of(line, line_len);
		char digits[HF_HASH_TEXT];

		hf_buffer_add(out, line, line_len);
		hf_buffer_printf(out, ",\"sum\":\"%s\"}\n",
				 hf_hash_format(&sum, digits));
	}
}

static size_t count_names(int dir_fd)
{
	struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	size_t count = 0;

	assert(hf_directory_open(dir_fd, &directory) == 0);
	while (hf_directory_next(directory, &name, &kind) > 0)
		count++;
	hf_directory_close(&directory);
	return count;
}

static void check_outside(int dir_fd, int outside_fd, const struct hf_stat *was)
{
	struct hf_stat now;

	assert(count_names(dir_fd) == 3);
	assert(count_names(outside_fd) == 1);
	assert(hf_file_stat_at(outside_fd, WITNESS, &now) == 0);
	assert(now.ino == was->ino && now.size == was->size &&
	       now.mode == was->mode && now.nlink == was->nlink &&
	       now.uid == was->uid && now.mtime_ns == was->mtime_ns);
}

/* Elsewhere on this machine nothing is tried. */
static bool stays_inside(const struct hf_session_record *record)
{
	for (size_t i = 0; i < record->kept_count; i++)
		if (hf_path_is_absolute(record->kept[i].replaced->path) ||
		    hf_path_is_absolute(record->kept[i].put->path))
			return false;
	return true;
}

static void undo(struct hf_project *project)
{
	static const char *const argv[] = {SESSION, NULL};
	const struct hf_repair_options options = {
		.kind = "undo",
		.snapshot = "",
		.argv = argv,
	};
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	struct hf_error failed = {.code = HF_OK};
	struct hf_error err;
	struct hf_name name;
	int rc;

	if (hf_repair_find_undo(&project->store, SESSION, &record, NULL, &err) <
	    0)
		return;
	for (size_t i = 0; i < record.kept_count; i++) {
		int fd = hf_kept_open(&project->store, record.kept[i].kept_path,
				      &err);

		hf_file_close_quietly(&fd);
	}
	if (!stays_inside(&record) ||
	    hf_repair_plan_undo(project, &record, NULL, &now, &plan, &err) < 0)
		return;
	rc = hf_repair_apply(project, &plan, &options, &name, &failed, &err);
	assert(rc <= 0);
}

static void ignore_begin(void *context)
{
	(void)context;
}

static void ignore_damage(void *context, const struct hf_store_damage *damage)
{
	(void)context;
	assert(damage->file[0] != '\0' && damage->reason[0] != '\0');
}

static void ignore_incomplete(void *context, const struct hf_incomplete *lost)
{
	(void)context;
	(void)lost;
}

static void inspect(const struct hf_project *project)
{
	const struct hf_inspect_sink sink = {
		.begin = ignore_begin,
		.damaged = ignore_damage,
		.incomplete = ignore_incomplete,
	};
	struct hf_inspect_counts counts;
	struct hf_error err;

	assert(hf_inspect(project->store_path, project->root, project->root_fd,
			  &sink, NULL, &counts, &err) == 0);
}

static void try_journal(const char *dir, const struct hf_buffer *text)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	cleanup_free char *root = hf_path_join(dir, "root");
	cleanup_free char *store = hf_path_join(dir, "store");
	const struct hf_policy_options options = {.root = root};
	struct hf_error err;
	int fd;

	assert(hf_project_init(&project, &options, store, &err) == 0);
	assert(hf_project_open_store(&project, HF_STORE_MAKE, &err) == 0);
	put(project.store.folder_fd[HF_STORE_SESSIONS], SESSION ".done",
	    text->data ? text->data : "", text->len);
	fd = make(project.store.folder_fd[HF_STORE_KEPT], SESSION);
	put(fd, "a", "old\n", 4);
	assert(hf_file_symlink_at("../../../outside", fd, "link") == 0);
	hf_file_close_quietly(&fd);
	inspect(&project);
	undo(&project);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *const dir = hf_tmpdir_make();
	struct hf_buffer text = HF_BUFFER_INIT;
	int dir_fd = hf_file_open_directory(dir);
	int outside_fd = make(dir_fd, "outside");
	int root_fd = make(dir_fd, "root");
	struct hf_stat was;

	put(outside_fd, WITNESS, "untouched\n", 10);
	assert(hf_file_stat_at(outside_fd, WITNESS, &was) == 0);
	put(root_fd, "a", "new\n", 4);
	assert(hf_file_symlink_at("../outside", root_fd, "link") == 0);
	add_sums(data, len, &text);
	try_journal(dir, &text);
	check_outside(dir_fd, outside_fd, &was);

	hf_buffer_done(&text);
	hf_file_close_quietly(&root_fd);
	hf_file_close_quietly(&outside_fd);
	hf_file_close_quietly(&dir_fd);
	hf_tmpdir_remove(dir);
	return 0;
}
