/* SPDX-License-Identifier: MIT */
/* Find the contents that a path may be given, and let a person choose. */
#include "cli/restore_choice.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/content_facts.h"
#include "cli/selection.h"
#include "core/history.h"
#include "core/snapshot.h"
#include "platform/system.h"

#define LISTED_MAX ((size_t)20)

/* One path, and what it may be given; of the history's. */
struct candidates {
	const char *path;
	const struct hf_entry *now; /* kind absent: nothing is there */
	struct hf_history history;
	const struct hf_history_content **items; /* newest first */
	size_t count;
};

static void candidates_done(struct candidates *candidates)
{
	hf_free_pointee(&candidates->items);
	hf_history_done(&candidates->history);
}

/* -- what there is -----------------------------------------------------------
 */

/* Is what the newest snapshot has of the path known as damage? */
static bool is_damage(const struct candidates *candidates,
		      const struct hf_entry *entry)
{
	for (size_t i = 0; i < candidates->history.count; i++) {
		const struct hf_history_content *const content =
			&candidates->history.items[i];

		if (content->is_damage && hf_content_is(entry, &content->entry))
			return true;
	}
	return false;
}

static bool has_content(const struct hf_entry *entry)
{
	return entry != NULL && (entry->stat.kind == HF_KIND_FILE ||
				 entry->stat.kind == HF_KIND_LINK);
}

/* What the newest snapshot has of the path, where that is something else than
 * what is there; or NULL. */
static const struct hf_entry *find_newest(const struct candidates *candidates,
					  const struct hf_manifest *newest)
{
	const struct hf_entry *const entry =
		hf_tree_find(&newest->tree, candidates->path);

	return entry == NULL || entry->stat.kind == HF_KIND_ABSENT ||
			       hf_compare_entry(entry, candidates->now) == 0
		       ? NULL
		       : entry;
}

/* Has any session replaced it?  Few have kept anything; what snapshots say
 * takes much longer, and mostly need not be asked. */
static bool was_replaced(const struct hf_store *store,
			 const struct hf_entry *entry)
{
	cleanup_names struct hf_names kept = HF_NAMES_INIT;
	struct hf_error ignored;
	bool is_found = false;

	if (hf_store_list(store, HF_STORE_KEPT, "", &kept, &ignored) < 0)
		return true;
	for (size_t i = kept.count; i > 0 && !is_found; i--) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;

		if (hf_journal_read(store, &kept.items[i - 1], &record,
				    &ignored) < 0)
			continue;
		for (size_t k = 0; k < record.kept_count; k++) {
			const struct hf_entry *const replaced =
				record.kept[k].replaced;

			is_found |= strcmp(replaced->path, entry->path) == 0 &&
				    hf_content_is(replaced, entry);
		}
	}
	return is_found;
}

static int find_candidates(struct hf_cli_repair *repair,
			   const struct hf_manifest *newest,
			   struct candidates *candidates, struct hf_error *err)
{
	const struct hf_store *const store = &repair->project.store;
	const struct hf_entry *const entry = find_newest(candidates, newest);
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_history *const history = &candidates->history;
	int rc;

	/* Nothing to choose: the newest has something else, and that is good.
	 */
	if (entry != NULL && !was_replaced(store, entry))
		return 0;
	rc = hf_history_read(store, candidates->path, &notes, history, err);
	if (rc < 0 || (entry != NULL && !is_damage(candidates, entry)))
		return rc;
	if (!repair->options->is_quiet)
		hf_output_notes(repair->output, notes.data);
	candidates->items =
		calloc(history->count + 1, sizeof(*candidates->items));
	if (candidates->items == NULL)
		return hf_fail_memory(err);
	for (size_t i = 0; i < history->count; i++) {
		const struct hf_history_content *const content =
			&history->items[i];

		/* What was only ever kept is a person's to bring back. */
		if (content->is_recorded && !content->is_damage &&
		    !hf_content_is(candidates->now, &content->entry))
			candidates->items[candidates->count++] = content;
	}
	return 0;
}

/* -- which one ---------------------------------------------------------------
 */

static void add_line(const struct hf_cli_repair *repair,
		     const struct candidates *candidates, size_t index,
		     struct hf_buffer *out)
{
	const struct hf_history_content *const content =
		candidates->items[index];
	const struct hf_content_facts facts = hf_content_facts_of(
		&repair->project.store, content, candidates->now);
	const int64_t age_ns =
		hf_system_time_ns() - hf_name_time_ns(&content->newest);
	struct hf_short_text age;

	hf_text_begin(out, &repair->output->style, NULL);
	hf_buffer_printf(out, "  %zu  %s ago, ", index + 1,
			 hf_format_span(&age, age_ns));
	hf_content_facts_add(content, &facts, out);
	hf_content_copies_add(content, out);
	hf_buffer_add_text(out, ": ");
	hf_text_add_restore(out, &repair->project, &content->newest,
			    candidates->path, repair->output->style.location);
	hf_buffer_add_text(out, "\n");
}

/* How many are shown: a person is to choose. */
static size_t listed(const struct candidates *candidates)
{
	return candidates->count < LISTED_MAX ? candidates->count : LISTED_MAX;
}

static void add_list(const struct hf_cli_repair *repair,
		     const struct candidates *candidates, struct hf_buffer *out)
{
	hf_text_begin(out, &repair->output->style, NULL);
	hf_text_add_name(out, candidates->path);
	hf_buffer_printf(out,
			 " has had %zu other contents that are no damage, the "
			 "newest first:\n",
			 candidates->count);
	for (size_t i = 0; i < listed(candidates); i++)
		add_line(repair, candidates, i, out);
	if (candidates->count == listed(candidates))
		return;
	hf_text_begin(out, &repair->output->style, NULL);
	hf_buffer_printf(out, "  and %zu older: holdfast log --path ",
			 candidates->count - listed(candidates));
	hf_text_add_shell(out, candidates->path);
	hf_buffer_printf(out, "%s\n", repair->output->style.location);
}

/* As `diff SNAPSHOT -- PATH` shows it. */
static void show_difference(const struct hf_cli_repair *repair,
			    const struct candidates *candidates, size_t index)
{
	const char *const root = repair->project.root;
	cleanup_free char *path =
		hf_path_is_absolute(candidates->path)
			? strdup(candidates->path)
			: hf_path_join(root, candidates->path);
	const char *words[] = {candidates->items[index]->newest.text, path,
			       NULL};
	struct hf_options options = *repair->options;

	if (path == NULL)
		return;
	options.is_quiet = false;
	options.words = words;
	options.word_count = 2;
	options.has_dashes = true;
	options.before_dashes = 1;
	/* What it ends with says that something differs, or was said. */
	(void)hf_cmd_diff(&options, repair->output);
}

/* "2", "d 2": the index and whether to show it; false for neither. */
static bool parse_answer(const char *answer, size_t count, size_t *ret_index,
			 bool *ret_is_shown)
{
	uint64_t number;

	*ret_is_shown = answer[0] == 'd' || answer[0] == 'D';
	if (*ret_is_shown)
		answer += 1 + strspn(answer + 1, " ");
	if (hf_parse_u64(answer, strlen(answer), 10, &number) < 0 ||
	    number < 1 || number > count)
		return false;
	*ret_index = (size_t)number - 1;
	return true;
}

/* The index, or -1: none of them. */
static int64_t ask(const struct hf_cli_repair *repair,
		   const struct candidates *candidates)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer question = HF_BUFFER_INIT;
	char answer[32];
	size_t index;
	bool is_shown;

	add_list(repair, candidates, &lines);
	hf_buffer_printf(&question,
			 "which one? [1-%zu, d N: how it differs, q: none] ",
			 listed(candidates));
	for (;;) {
		if (!hf_ask_for(repair->output, &lines,
				question.is_failed ? "? " : question.data,
				answer, sizeof(answer)) ||
		    answer[0] == 'q' || answer[0] == 'Q')
			return -1;
		hf_buffer_clear(&lines);
		if (!parse_answer(answer, listed(candidates), &index,
				  &is_shown))
			continue;
		if (!is_shown)
			return (int64_t)index;
		show_difference(repair, candidates, index);
	}
}

/* The only one, the chosen one, or -1. */
static int64_t choose(struct hf_cli_repair *repair,
		      const struct candidates *candidates)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;
	struct hf_short_text age;
	int64_t age_ns;

	if (candidates->count == 1) {
		age_ns = hf_system_time_ns() -
			 hf_name_time_ns(&candidates->items[0]->newest);
		if (!repair->options->is_quiet)
			hf_output_say(
				repair->output,
				"%s: the only other content that is no "
				"damage is of snapshot %" PRIu64 ", %s ago",
				HF_QUOTE(candidates->path),
				hf_name_number(&candidates->items[0]->newest),
				hf_format_span(&age, age_ns));
		return 0;
	}
	if (hf_ask_is_possible() && !repair->options->is_dry_run &&
	    !repair->options->is_json)
		return ask(repair, candidates);
	add_list(repair, candidates, &lines);
	hf_output_lines(repair->output, &lines);
	return -1;
}

/* The entry with the directories above it, as that snapshot has them. */
static int take(struct hf_cli_repair *repair,
		const struct candidates *candidates, size_t index,
		struct hf_restore_choice *choice, struct hf_error *err)
{
	const struct hf_name *const name = &candidates->items[index]->newest;
	const char *const paths[] = {candidates->path, NULL};
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	int rc;

	rc = hf_snapshot_load(&repair->project.store, name, &manifest, err);
	if (rc == 0)
		rc = hf_selection_copy(&manifest.tree, paths, &tree, err);
	if (rc < 0)
		return rc;
	if (choice->count++ == 0)
		choice->snapshot = *name;
	/* Two of them may share directories. */
	return hf_tree_adopt(&choice->want, &tree) < 0 ? hf_fail_memory(err)
						       : 0;
}

static int choose_path(struct hf_cli_repair *repair,
		       const struct hf_manifest *newest,
		       const struct hf_tree *now, const char *path,
		       struct hf_restore_choice *choice, struct hf_error *err)
{
	const struct hf_entry nothing = {
		.path = path, .rule = "", .xattrs = ""};
	const struct hf_entry *const entry = hf_tree_find(now, path);
	CLEANUP(candidates_done)
	struct candidates candidates = {
		.path = path,
		.now = entry == NULL ? &nothing : entry,
		.history = HF_HISTORY_INIT,
	};
	int64_t index;
	int rc;

	/* What lies in a directory is taken as the newest snapshot has it. */
	if (candidates.now->stat.kind == HF_KIND_DIRECTORY &&
	    !has_content(hf_tree_find(&newest->tree, path)))
		return 0;
	rc = find_candidates(repair, newest, &candidates, err);
	if (rc < 0 || candidates.count == 0)
		return rc;
	index = choose(repair, &candidates);
	if (index < 0) {
		choice->is_open = true;
		return 0;
	}
	return take(repair, &candidates, (size_t)index, choice, err);
}

int hf_restore_choose(struct hf_cli_repair *repair,
		      const struct hf_manifest *newest,
		      const struct hf_tree *now, const char *const *paths,
		      struct hf_restore_choice *ret_choice,
		      struct hf_error *err)
{
	cleanup_restore_choice struct hf_restore_choice choice =
		HF_RESTORE_CHOICE_INIT;
	int rc = 0;

	for (size_t i = 0; rc == 0 && paths[i] != NULL; i++)
		rc = choose_path(repair, newest, now, paths[i], &choice, err);
	if (rc == 0)
		rc = hf_tree_sort_merge(&choice.want, err);
	if (rc < 0)
		return rc;
	*ret_choice = choice;
	choice = (struct hf_restore_choice)HF_RESTORE_CHOICE_INIT;
	return 0;
}

void hf_restore_choice_done(struct hf_restore_choice *choice)
{
	hf_tree_done(&choice->want);
}
