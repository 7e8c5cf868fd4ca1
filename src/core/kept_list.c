/* SPDX-License-Identifier: MIT */
/* Walk a session's folder of copies, and find each in its journal. */
#include "core/kept_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/kept.h"
#include "core/scan.h"

#define FIRST_CAPACITY 16

static int fail_look(const char *name, int rc, struct hf_error *err)
{
	return hf_fail_system(err, rc, "cannot look at the kept copy '%s'",
			      HF_QUOTE(name));
}

/* -- what lies there ---------------------------------------------------------
 */

static int add_copy(struct hf_kept_list *list, const char *name,
		    const struct hf_stat *stat, struct hf_error *err)
{
	struct hf_kept_copy *items = list->items;

	if (list->count == list->capacity) {
		const size_t wanted = list->capacity == 0 ? FIRST_CAPACITY
							  : 2 * list->capacity;
		size_t bytes;

		if (__builtin_mul_overflow(wanted, sizeof(*items), &bytes))
			return hf_fail_memory(err);
		items = realloc(items, bytes);
		if (!items)
			return hf_fail_memory(err);
		list->items = items;
		list->capacity = wanted;
	}
	items[list->count] = (struct hf_kept_copy){
		.name = hf_arena_copy(&list->arena, name, strlen(name)),
		.kind = stat->kind,
		.size = stat->kind == HF_KIND_FILE ? stat->size : 0,
	};
	if (!items[list->count].name)
		return hf_fail_memory(err);
	list->count++;
	return 0;
}

/* above: the name of the directory, "" for the session's. */
static int add_all_of(struct hf_kept_list *list, int dir_fd, const char *above,
		      struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind ignored;
	const char *entry;
	int rc;

	rc = hf_directory_open(dir_fd, &directory);
	if (rc < 0)
		return fail_look(above, rc, err);
	while ((rc = hf_directory_next(directory, &entry, &ignored)) > 0) {
		cleanup_free char *name = hf_path_join(above, entry);
		struct hf_stat stat;

		if (!name)
			return hf_fail_memory(err);
		rc = hf_file_stat_at(dir_fd, entry, &stat);
		if (rc == -ENOENT)
			continue;
		rc = rc < 0 ? fail_look(name, rc, err)
			    : add_copy(list, name, &stat, err);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? fail_look(above, rc, err) : 0;
}

/* What is found is looked through in turn: a descriptor each would not do for
 * a deep tree. */
static int walk(struct hf_kept_list *list, int session_fd, struct hf_error *err)
{
	int rc = add_all_of(list, session_fd, "", err);

	for (size_t i = 0; rc == 0 && i < list->count; i++) {
		const char *const name = list->items[i].name;
		cleanup_fd int parent_fd = -1;
		cleanup_fd int fd = -1;
		const char *last;

		if (list->items[i].kind != HF_KIND_DIRECTORY)
			continue;
		parent_fd = hf_scan_open_parent(session_fd, name, &last);
		fd = parent_fd < 0 ? parent_fd
				   : hf_file_open_directory_at(parent_fd, last);
		if (fd == -ENOENT)
			continue;
		rc = fd < 0 ? fail_look(name, fd, err)
			    : add_all_of(list, fd, name, err);
	}
	return rc;
}

static int compare_copies(const void *left, const void *right)
{
	return hf_path_compare(((const struct hf_kept_copy *)left)->name,
			       ((const struct hf_kept_copy *)right)->name);
}

/* -- what the journal says ---------------------------------------------------
 */

char *hf_kept_list_path(const struct hf_kept_list *list, const char *name)
{
	struct hf_buffer path = HF_BUFFER_INIT;

	hf_buffer_printf(&path, HF_KEPT_FOLDER "/%s/%s", list->session.text,
			 name);
	return hf_buffer_take(&path);
}

/* Of one copy the newest record speaks: it may have been written on. */
static void match_records(struct hf_kept_list *list)
{
	for (size_t i = 0; i < list->record.kept_count; i++) {
		const struct hf_kept_record *const record =
			&list->record.kept[i];
		const char *name = record->kept_path;
		const size_t len = strlen(list->session.text);
		struct hf_kept_copy *copy;

		if (!hf_path_is_beneath(name, HF_KEPT_FOLDER))
			continue;
		name += strlen(HF_KEPT_FOLDER "/");
		if (!hf_path_is_beneath(name, list->session.text))
			continue;
		copy = (struct hf_kept_copy *)(uintptr_t)hf_kept_list_find(
			list, name + len + 1);
		if (copy)
			copy->record = record;
	}
}

/* A directory that was replaced is a copy; one that only leads to some is not.
 */
static void drop_ways(struct hf_kept_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].kind != HF_KIND_DIRECTORY ||
		    list->items[i].record)
			list->items[count++] = list->items[i];
	list->count = count;
}

int hf_kept_list_read(const struct hf_store *store,
		      const struct hf_name *session,
		      struct hf_kept_list *ret_list, struct hf_error *err)
{
	cleanup_kept_list struct hf_kept_list list = HF_KEPT_LIST_INIT;
	struct hf_error ignored;
	cleanup_fd int fd = -1;
	int rc;

	list.session = *session;
	fd = hf_file_open_directory_at(store->folder_fd[HF_STORE_KEPT],
				       session->text);
	if (fd < 0 && fd != -ENOENT)
		return fail_look(session->text, fd, err);
	rc = fd < 0 ? 0 : walk(&list, fd, err);
	if (rc < 0)
		return rc;
	if (list.count > 0)
		qsort(list.items, list.count, sizeof(*list.items),
		      compare_copies);
	/* Without it the copies are what they are. */
	list.has_record =
		hf_journal_read(store, session, &list.record, &ignored) == 0;
	if (list.has_record)
		match_records(&list);
	drop_ways(&list);
	*ret_list = list;
	list = (struct hf_kept_list)HF_KEPT_LIST_INIT;
	return 0;
}

/* -- finding -----------------------------------------------------------------
 */

const struct hf_kept_copy *hf_kept_list_find(const struct hf_kept_list *list,
					     const char *name)
{
	const struct hf_kept_copy wanted = {.name = name};

	return list->count == 0 ? NULL
				: bsearch(&wanted, list->items, list->count,
					  sizeof(wanted), compare_copies);
}

const struct hf_kept_copy *hf_kept_list_find_entry(
	const struct hf_kept_list *list, const char *path)
{
	const struct hf_kept_copy *found = NULL;

	/* Later records are newer. */
	for (size_t i = 0; i < list->count; i++) {
		const struct hf_kept_copy *const copy = &list->items[i];

		if (copy->record &&
		    strcmp(copy->record->replaced->path, path) == 0 &&
		    (!found || copy->record > found->record))
			found = copy;
	}
	return found;
}

uint64_t hf_kept_list_bytes(const struct hf_kept_list *list)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < list->count; i++)
		bytes += list->items[i].size;
	return bytes;
}

void hf_kept_list_done(struct hf_kept_list *list)
{
	hf_session_record_done(&list->record);
	hf_free_pointee(&list->items);
	hf_arena_done(&list->arena);
	list->count = 0;
	list->capacity = 0;
	list->has_record = false;
}
