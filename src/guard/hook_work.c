/* SPDX-License-Identifier: MIT */
/* What all git hooks share: where they are, what was recorded, putting back. */
#include "guard/hook_work.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/snapshot.h"
#include "guard/repair.h"
#include "platform/system.h"

void hf_hook_work_done(struct hf_hook_work *work)
{
	hf_free_pointee(&work->items);
	work->count = 0;
	hf_hook_history_done(&work->history);
	hf_deltas_done(&work->deltas);
	hf_tree_done(&work->want);
	hf_tree_done(&work->now);
	hf_manifest_done(&work->manifest);
	hf_arena_done(&work->arena);
	hf_free_pointee(&work->git_dir);
	hf_free_pointee(&work->prefix);
}

int hf_hook_work_begin(struct hf_hook_work *work, struct hf_project *project,
		       enum hf_hook hook, const char *const *args,
		       struct hf_error *err)
{
	cleanup_free char *directory = NULL;
	cleanup_free char *canonical = NULL;

	work->project = project;
	work->hook = hook;
	work->args = args;
	work->git.directory = project->root;
	/* Git starts its hooks at the top of the work tree: what it told them
	 * is about that one. */
	if (hf_system_working_directory(&directory) == 0)
		canonical = hf_file_canonical(directory);
	work->git.is_hooks_own =
		canonical && strcmp(canonical, project->root) == 0;
	return hf_snapshot_load_newest(&project->store, &work->manifest, err);
}

/* -- git ----------------------------------------------------------------------
 */

int hf_hook_find_git(struct hf_hook_work *work, struct hf_error *err)
{
	static const char *const words[] = {"rev-parse", "--show-prefix",
					    "--absolute-git-dir", NULL};
	cleanup_buffer struct hf_buffer answer = HF_BUFFER_INIT;
	size_t len;
	size_t rest;
	int rc;

	if (work->git_dir)
		return 0;
	rc = hf_git_must(&work->git, words, NULL, &answer, err);
	if (rc < 0)
		return rc;
	len = answer.data ? strcspn(answer.data, "\n") : 0;
	if (len >= answer.len)
		return hf_fail(err, HF_ERR_UNSUPPORTED,
			       "cannot use what git says of '%s'",
			       HF_QUOTE(work->project->root));
	rest = strcspn(answer.data + len + 1, "\n");
	work->prefix = strndup(answer.data, len);
	work->git_dir = strndup(answer.data + len + 1, rest);
	return work->prefix && work->git_dir ? 0 : hf_fail_memory(err);
}

const char *hf_hook_git_path(struct hf_hook_work *work, const char *path)
{
	const size_t prefix_len = strlen(work->prefix);
	const size_t len = strlen(path);
	char *const text = hf_arena_alloc(&work->arena, prefix_len + len + 1);

	if (text) {
		memcpy(text, work->prefix, prefix_len);
		memcpy(text + prefix_len, path, len + 1);
	}
	return text;
}

const char *hf_hook_own_path(const struct hf_hook_work *work,
			     const char *git_path)
{
	const size_t len = strlen(work->prefix);

	return strncmp(git_path, work->prefix, len) == 0 ? git_path + len
							 : NULL;
}

/* -- items --------------------------------------------------------------------
 */

struct hf_hook_item *hf_hook_add(struct hf_hook_work *work, const char *path)
{
	const char *const copy =
		hf_arena_copy(&work->arena, path, strlen(path));
	struct hf_hook_item *item;

	if (!copy)
		return NULL;
	if (work->count == work->capacity) {
		const size_t capacity = 2 * work->capacity + 16;
		struct hf_hook_item *const items =
			reallocarray(work->items, capacity, sizeof(*items));

		if (!items)
			return NULL;
		work->items = items;
		work->capacity = capacity;
	}
	item = &work->items[work->count++];
	*item = (struct hf_hook_item){.path = copy};
	return item;
}

const struct hf_entry *hf_hook_recorded(const struct hf_hook_work *work,
					const char *path)
{
	const struct hf_entry *const entry =
		hf_tree_find(&work->manifest.tree, path);

	return entry && entry->role == HF_ROLE_PROTECTED &&
			       (entry->stat.kind == HF_KIND_FILE ||
				entry->stat.kind == HF_KIND_LINK)
		       ? entry
		       : NULL;
}

bool hf_hook_is_put_back(const struct hf_hook_item *item)
{
	return item->fate == HF_FATE_PUT_BACK ||
	       item->fate == HF_FATE_PUT_BACK_OWN ||
	       item->verdict == HF_VERDICT_STOP_PUT_BACK;
}

size_t hf_hook_count(const struct hf_hook_work *work,
		     bool (*is_so)(const struct hf_hook_item *item))
{
	size_t count = 0;

	for (size_t i = 0; i < work->count; i++)
		count += is_so(&work->items[i]);
	return count;
}

/* One content of the blob, as it lies at the path (git_path), or as git has it
 * (NULL). */
static int find_damage_as(struct hf_hook_work *work, const char *git_path,
			  const struct hf_git_change *change, size_t size,
			  const struct hf_name **ret_session,
			  struct hf_entry *entry, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer content = HF_BUFFER_INIT;
	int rc;

	rc = hf_git_content(&work->git, change->blob, git_path, size, &content,
			    err);
	if (rc <= 0)
		return rc;
	entry->stat.kind = change->is_link ? HF_KIND_LINK : HF_KIND_FILE;
	entry->stat.size = content.len;
	entry->hash = hf_hash_of(content.data ? content.data : "", content.len);
	entry->has_hash = !change->is_link;
	if (change->is_link) {
		entry->link =
			hf_arena_copy(&work->arena, content.data, content.len);
		if (!entry->link)
			return hf_fail_memory(err);
	}
	return hf_hook_history_find_damage(&work->history, entry, ret_session,
					   err);
}

int hf_hook_find_damage(struct hf_hook_work *work, const char *path,
			const struct hf_git_change *change,
			const struct hf_name **ret_session,
			struct hf_entry *ret_entry, struct hf_error *err)
{
	const uint64_t size = hf_hook_history_damage_size(&work->history, path);
	struct hf_entry entry = {.path = path, .xattrs = ""};
	const char *git_path;
	int rc;

	*ret_session = NULL;
	*ret_entry = entry;
	if (!hf_hook_history_has_damage(&work->history, path) ||
	    size > HF_GIT_ANSWER_MAX)
		return 0;
	git_path = hf_hook_git_path(work, path);
	if (!git_path)
		return hf_fail_memory(err);
	rc = find_damage_as(work, git_path, change, (size_t)size, ret_session,
			    &entry, err);
	/* A run may leave other ends of lines than git would. */
	if (rc == 0 && !*ret_session && !change->is_link)
		rc = find_damage_as(work, NULL, change, (size_t)size,
				    ret_session, &entry, err);
	*ret_entry = entry;
	return rc;
}

/* -- putting back
 * -------------------------------------------------------------- */

static int compare_items(const void *a, const void *b)
{
	const struct hf_hook_item *const left = a;
	const struct hf_hook_item *const right = b;

	return strcmp(left->path, right->path);
}

void hf_hook_sort(struct hf_hook_work *work)
{
	if (work->count > 1)
		qsort(work->items, work->count, sizeof(*work->items),
		      compare_items);
}

struct hf_hook_item *hf_hook_item(const struct hf_hook_work *work,
				  const char *path)
{
	const struct hf_hook_item key = {.path = path};

	return work->count == 0 ? NULL
				: bsearch(&key, work->items, work->count,
					  sizeof(key), compare_items);
}

static bool is_left(const struct hf_delta *delta, void *context)
{
	const struct hf_hook_item *const item =
		hf_hook_item(context, hf_delta_entry(delta)->path);

	return !item || !hf_hook_is_put_back(item);
}

int hf_hook_put_back(struct hf_hook_work *work,
		     void (*done)(void *context, const struct hf_step *step),
		     void *context, struct hf_error *err)
{
	const char *const argv[] = {hf_hook_name(work->hook), NULL};
	const struct hf_repair_options how = {
		.kind = "hook",
		.snapshot = work->manifest.name.text,
		.argv = argv,
		.done = done,
		.context = context,
	};
	const struct hf_plan_options options = {
		.is_left = is_left,
		.context = work,
	};
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	int rc;

	if (hf_hook_count(work, hf_hook_is_put_back) == 0)
		return 0;
	rc = hf_compare(&work->want, &work->now, &deltas, err);
	if (rc == 0)
		rc = hf_restore_plan(&deltas, &work->want, &options, &plan,
				     err);
	if (rc < 0)
		return rc;
	rc = hf_repair_apply(work->project, &plan, &how, &work->session,
			     &work->first_error, err);
	for (size_t i = 0; rc == 0 && i < plan.count; i++)
		work->failed += hf_repair_has_failed(&plan.steps[i]);
	return rc;
}

/* -- recording
 * ------------------------------------------------------------------ */

static bool is_new_state(const struct hf_hook_item *item)
{
	return item->fate == HF_FATE_RECORD ||
	       item->fate == HF_FATE_PUT_BACK_OWN;
}

static bool is_taken(void *context, const char *path)
{
	const struct hf_hook_item *const item = hf_hook_item(context, path);

	return item && is_new_state(item);
}

int hf_hook_record(struct hf_hook_work *work, struct hf_error *err)
{
	const struct hf_scan_options scan =
		hf_project_scan_options(work->project, NULL);
	const struct hf_snapshot_options options = {
		.scan = &scan,
		.context = work,
		.is_taken = is_taken,
	};
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result = {.is_new = false};
	int rc;

	/* What a run was told by options alone nobody knows here: it records by
	 * itself when it comes. */
	if (hf_hook_count(work, is_new_state) == 0 ||
	    !hf_snapshot_has_patterns(&work->manifest, &work->project->policy))
		return 0;
	rc = hf_snapshot_take(&work->project->store, &options, NULL, &manifest,
			      &result, err);
	if (rc == 0 && result.is_new)
		work->snapshot = manifest.name;
	return rc;
}
