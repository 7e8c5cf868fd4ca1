/* SPDX-License-Identifier: MIT */
/*
 * Look at contents that differ.
 *
 * A named one is read by itself; of the others those that are small, all at
 * once, so that each pack is unpacked once.
 */
#include "cli/diff_detail.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/fetch.h"
#include "report/comments.h"

/* All that is held at a time of what was not named. */
#define HELD_MAX ((uint64_t)32 << 20)
#define PIECE	 ((size_t)64 << 10)

void hf_diff_details_free(struct hf_diff_detail *details, size_t count)
{
	for (size_t i = 0; details != NULL && i < count; i++) {
		hf_toml_changes_done(&details[i].keys);
		hf_buffer_done(&details[i].unified);
	}
	free(details);
}

/* -- two contents ------------------------------------------------------------
 */

static const char *text_of(const struct hf_buffer *data)
{
	return data->data == NULL ? "" : data->data;
}

static size_t count_lines(const struct hf_buffer *data)
{
	size_t count = 0;

	for (size_t i = 0; i < data->len; i++)
		count += data->data[i] == '\n';
	return count + (data->len > 0 && data->data[data->len - 1] != '\n');
}

static void find_offset(const struct hf_buffer *before,
			const struct hf_buffer *after,
			struct hf_diff_detail *detail)
{
	size_t at = 0;

	while (at < before->len && at < after->len &&
	       before->data[at] == after->data[at])
		at++;
	detail->has_offset = true;
	detail->offset = at;
}

static bool is_toml(const char *path)
{
	const size_t len = strlen(path);

	return len > 5 && strcmp(path + len - 5, ".toml") == 0;
}

static int examine(const char *path, const struct hf_buffer *before,
		   const struct hf_buffer *after, struct hf_diff_detail *detail,
		   struct hf_error *err)
{
	int rc;

	find_offset(before, after, detail);
	detail->is_text = hf_comments_count(text_of(before), before->len,
					    &detail->comments[0]) &&
			  hf_comments_count(text_of(after), after->len,
					    &detail->comments[1]);
	if (!detail->is_text)
		return 0;
	detail->lines[0] = count_lines(before);
	detail->lines[1] = count_lines(after);
	if (!is_toml(path))
		return 0;
	rc = hf_toml_compare(text_of(before), before->len, text_of(after),
			     after->len, &detail->keys);
	detail->has_keys = rc == 1;
	return rc < 0 ? hf_fail_memory(err) : 0;
}

/* -- one that was named ------------------------------------------------------
 */

/* What the recorded content is compared with as it goes by. */
struct large {
	int fd;
	char *piece;
	uint64_t offset;
	bool has_found;
};

static int take_large(void *context, const void *data, size_t len,
		      struct hf_error *err)
{
	struct large *const large = context;
	const char *bytes = data;

	while (len > 0 && !large->has_found) {
		const size_t wanted = len < PIECE ? len : PIECE;
		const int64_t count =
			hf_file_read(large->fd, large->piece, wanted);
		size_t at = 0;

		if (count < 0)
			return hf_fail_system(err, (int)count,
					      "cannot read a file");
		while (at < (size_t)count && large->piece[at] == bytes[at])
			at++;
		large->offset += at;
		large->has_found = at < wanted;
		bytes += wanted;
		len -= wanted;
	}
	/* Enough is known. */
	return large->has_found ? hf_fail(err, HF_ERR_CHANGED, "it differs")
				: 0;
}

/* Of two recorded ones too large to be held nothing is told. */
static int examine_large(const struct hf_comparison *comparison,
			 const struct hf_delta *delta,
			 struct hf_diff_detail *detail, struct hf_error *err)
{
	cleanup_free char *piece = malloc(PIECE);
	cleanup_fd int dir_fd = -1;
	cleanup_fd int fd = -1;
	const char *name;
	struct large large = {.piece = piece};
	const struct hf_fetch_taker taker = {
		.take = take_large,
		.context = &large,
	};
	int rc;

	if (comparison->to.text[0] != '\0')
		return 0;
	if (piece == NULL)
		return hf_fail_memory(err);
	dir_fd = hf_scan_open_parent(comparison->project.root_fd,
				     delta->after->path, &name);
	fd = dir_fd < 0 ? dir_fd : hf_file_open_read_at(dir_fd, name);
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot read '%s'",
				      HF_QUOTE(delta->after->path));
	large.fd = fd;
	rc = hf_fetch_in_pieces(&comparison->project.store, delta->before,
				&taker, err);
	/* The same to its end: the other goes on. */
	if (rc < 0 && !large.has_found)
		return rc;
	detail->has_offset = true;
	detail->offset = large.offset;
	return 0;
}

static bool is_file(const struct hf_entry *entry)
{
	return entry != NULL && entry->stat.kind == HF_KIND_FILE;
}

static bool is_there(const struct hf_entry *entry)
{
	return entry != NULL && entry->stat.kind != HF_KIND_ABSENT;
}

static int make_unified(const struct hf_comparison *comparison,
			const struct hf_delta *delta,
			const struct hf_buffer *before,
			const struct hf_buffer *after,
			const struct hf_unified_style *style,
			struct hf_diff_detail *detail, struct hf_error *err)
{
	const char *const path = hf_delta_entry(delta)->path;
	cleanup_buffer struct hf_buffer from = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer to = HF_BUFFER_INIT;
	struct hf_unified_text old = {
		.name = is_file(delta->before) ? path : NULL,
		.data = before->data,
		.len = before->len,
	};
	struct hf_unified_text new = {
		.name = is_file(delta->after) ? path : NULL,
		.data = after->data,
		.len = after->len,
	};

	if (!hf_unified_is_text(old.data, old.len) ||
	    !hf_unified_is_text(new.data, new.len))
		return 0;
	hf_buffer_printf(&from, "snapshot %s", comparison->from.text);
	hf_buffer_printf(&to, "%s%s",
			 comparison->to.text[0] == '\0' ? "now" : "snapshot ",
			 comparison->to.text);
	if (from.is_failed || to.is_failed)
		return hf_fail_memory(err);
	old.when = from.data;
	new.when = to.data;
	return hf_unified_add(&old, &new, style, &detail->unified,
			      &detail->is_rough, err);
}

static int examine_named(const struct hf_comparison *comparison,
			 const struct hf_delta *delta,
			 const struct hf_unified_style *style,
			 struct hf_diff_detail *detail, struct hf_error *err)
{
	const bool has_before = is_file(delta->before);
	const bool has_after = is_file(delta->after);
	cleanup_buffer struct hf_buffer before = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer after = HF_BUFFER_INIT;
	int rc = 0;

	if (has_before)
		rc = hf_comparison_read(comparison, delta->before, false,
					HF_UNIFIED_MAX, &before, err);
	if (rc == 0 && has_after)
		rc = hf_comparison_read(comparison, delta->after, true,
					HF_UNIFIED_MAX, &after, err);
	detail->is_large = rc == HF_ERR_LIMIT;
	if (detail->is_large && has_before && has_after)
		return examine_large(comparison, delta, detail, err);
	if (rc < 0)
		return detail->is_large ? 0 : rc;
	if (has_before && has_after)
		rc = examine(delta->after->path, &before, &after, detail, err);
	return rc < 0 ? rc
		      : make_unified(comparison, delta, &before, &after, style,
				     detail, err);
}

/* A content that is another, or the only one. */
static bool has_content(const struct hf_delta *delta)
{
	if (!(delta->change &
	      (HF_CHANGE_CONTENT | HF_CHANGE_ADDED | HF_CHANGE_MISSING)))
		return false;
	return (is_file(delta->before) || !is_there(delta->before)) &&
	       (is_file(delta->after) || !is_there(delta->after)) &&
	       (!is_file(delta->before) || delta->before->has_hash) &&
	       (!is_file(delta->after) || delta->after->has_hash);
}

/* -- those that were not ------------------------------------------------------
 */

/* Both sides of one delta, of which the first is always recorded. */
struct pair {
	size_t index; /* of the delta */
	struct hf_buffer before;
	struct hf_buffer after;
	bool is_whole;
};

static bool is_small(const struct hf_delta *delta)
{
	return (delta->change & HF_CHANGE_CONTENT) && has_content(delta) &&
	       is_file(delta->before) && is_file(delta->after) &&
	       delta->before->stat.size <= HF_DIFF_LOOKED_SIZE &&
	       delta->after->stat.size <= HF_DIFF_LOOKED_SIZE;
}

static size_t choose(const struct hf_comparison *comparison, struct pair *pairs)
{
	const struct hf_deltas *const deltas = &comparison->deltas;
	uint64_t bytes = 0;
	size_t count = 0;

	for (size_t i = 0; i < deltas->count && count < HF_DIFF_LOOKED_MAX;
	     i++) {
		const struct hf_delta *const delta = &deltas->items[i];

		if (!is_small(delta) ||
		    hf_comparison_is_named(comparison, delta->before->path))
			continue;
		bytes += delta->before->stat.size + delta->after->stat.size;
		if (bytes > HELD_MAX)
			break;
		pairs[count++].index = i;
	}
	return count;
}

/* Which buffer an entry is for is found by its address. */
static void hand_over(const struct hf_comparison *comparison,
		      struct hf_fetch_wanted *wanted, size_t wanted_count,
		      struct pair *pairs, size_t count)
{
	for (size_t i = 0; i < wanted_count; i++) {
		for (size_t k = 0; k < count; k++) {
			const struct hf_delta *const delta =
				&comparison->deltas.items[pairs[k].index];

			if (wanted[i].entry != delta->before &&
			    wanted[i].entry != delta->after)
				continue;
			pairs[k].is_whole &= wanted[i].result == 0;
			*(wanted[i].entry == delta->before ? &pairs[k].before
							   : &pairs[k].after) =
				wanted[i].data;
			wanted[i].data = (struct hf_buffer)HF_BUFFER_INIT;
		}
	}
}

static int fetch(const struct hf_comparison *comparison, struct pair *pairs,
		 size_t count, struct hf_error *err)
{
	const bool has_tree = comparison->to.text[0] == '\0';
	cleanup_free struct hf_fetch_wanted *wanted =
		calloc(2 * count + 1, sizeof(*wanted));
	size_t wanted_count = 0;
	int rc;

	if (wanted == NULL)
		return hf_fail_memory(err);
	for (size_t i = 0; i < count; i++) {
		const struct hf_delta *const delta =
			&comparison->deltas.items[pairs[i].index];
		struct hf_error ignored;

		pairs[i].is_whole = true;
		wanted[wanted_count++].entry = delta->before;
		if (!has_tree)
			wanted[wanted_count++].entry = delta->after;
		else if (hf_comparison_read(comparison, delta->after, true,
					    HF_DIFF_LOOKED_SIZE,
					    &pairs[i].after, &ignored) < 0)
			pairs[i].is_whole = false;
	}
	rc = hf_fetch_many(&comparison->project.store, wanted, wanted_count,
			   err);
	if (rc == 0)
		hand_over(comparison, wanted, wanted_count, pairs, count);
	return rc;
}

static int examine_others(const struct hf_comparison *comparison,
			  struct hf_diff_detail *details, struct hf_error *err)
{
	struct pair pairs[HF_DIFF_LOOKED_MAX] = {{.index = 0}};
	const size_t count = choose(comparison, pairs);
	int rc;

	rc = fetch(comparison, pairs, count, err);
	for (size_t i = 0; i < count; i++) {
		const struct hf_delta *const delta =
			&comparison->deltas.items[pairs[i].index];

		if (rc == 0 && pairs[i].is_whole)
			rc = examine(delta->after->path, &pairs[i].before,
				     &pairs[i].after, &details[pairs[i].index],
				     err);
		hf_buffer_done(&pairs[i].before);
		hf_buffer_done(&pairs[i].after);
	}
	return rc;
}

/* -- all of it ----------------------------------------------------------------
 */

static int load(const struct hf_comparison *comparison,
		const struct hf_unified_style *style,
		struct hf_diff_detail *details, struct hf_error *err)
{
	const struct hf_deltas *const deltas = &comparison->deltas;

	for (size_t i = 0; i < deltas->count; i++) {
		const struct hf_delta *const delta = &deltas->items[i];

		if (!has_content(delta) ||
		    !hf_comparison_is_named(comparison,
					    hf_delta_entry(delta)->path))
			continue;
		/* The others can still be told. */
		if (examine_named(comparison, delta, style, &details[i],
				  &details[i].err) == 0)
			details[i].err.code = 0;
	}
	return examine_others(comparison, details, err);
}

int hf_diff_details_load(const struct hf_comparison *comparison,
			 const struct hf_unified_style *style,
			 struct hf_diff_detail **ret_details,
			 struct hf_error *err)
{
	const size_t count = comparison->deltas.count;
	struct hf_diff_detail *const details =
		calloc(count + 1, sizeof(*details));
	int rc;

	if (details == NULL)
		return hf_fail_memory(err);
	rc = load(comparison, style, details, err);
	if (rc < 0) {
		hf_diff_details_free(details, count);
		return rc;
	}
	*ret_details = details;
	return 0;
}
