/* SPDX-License-Identifier: MIT */
/* Walk two sorted trees side by side and say what differs. */
#include "core/compare.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/entry_text.h"

#define FIRST_CAPACITY	16
/* Longer link texts are cut in a description: it is one line. */
#define LINK_SHOWN_MAX	120

static bool is_there(const struct hf_entry *entry)
{
	return entry && entry->stat.kind != HF_KIND_ABSENT;
}

static bool has_other_content(const struct hf_entry *before,
			      const struct hf_entry *after)
{
	if (before->stat.kind == HF_KIND_LINK)
		return strcmp(before->link, after->link) != 0;
	if (before->stat.kind == HF_KIND_CHARACTER_DEVICE ||
	    before->stat.kind == HF_KIND_BLOCK_DEVICE)
		return before->stat.rdev != after->stat.rdev;
	if (before->stat.kind != HF_KIND_FILE)
		return false;
	return before->stat.size != after->stat.size || !before->has_hash ||
	       !after->has_hash || !hf_hash_equal(&before->hash, &after->hash);
}

/* A link has no mode of its own; Linux shows 0777 for all of them. */
static bool has_other_mode(const struct hf_entry *before,
			   const struct hf_entry *after)
{
	return before->stat.kind != HF_KIND_LINK &&
	       before->stat.mode != after->stat.mode;
}

static bool has_other_owner(const struct hf_entry *before,
			    const struct hf_entry *after)
{
	return before->stat.uid != after->stat.uid ||
	       before->stat.gid != after->stat.gid;
}

/* The mtime of a directory follows from what happens inside it, that of a fifo or
 * device from its use. */
static bool has_other_mtime(const struct hf_entry *before,
			    const struct hf_entry *after)
{
	return (before->stat.kind == HF_KIND_FILE ||
		before->stat.kind == HF_KIND_LINK) &&
	       before->stat.mtime_ns != after->stat.mtime_ns;
}

static bool has_other_xattrs(const struct hf_entry *before,
			     const struct hf_entry *after)
{
	return strcmp(before->xattrs, after->xattrs) != 0;
}

unsigned hf_compare_entry(const struct hf_entry *before,
			  const struct hf_entry *after)
{
	unsigned change = 0;

	if (before && before->role == HF_ROLE_SIDE_CACHE)
		return 0;
	if (!is_there(before)) {
		if (!is_there(after) || after->role == HF_ROLE_ANCESTOR)
			return 0;
		return HF_CHANGE_ADDED;
	}
	if (!is_there(after))
		return HF_CHANGE_MISSING;
	if (before->stat.kind != after->stat.kind)
		return HF_CHANGE_KIND;
	if (before->role == HF_ROLE_ANCESTOR)
		return 0;

	if (has_other_content(before, after))
		change |= HF_CHANGE_CONTENT;
	if (has_other_mode(before, after) || has_other_owner(before, after) ||
	    has_other_mtime(before, after) || has_other_xattrs(before, after))
		change |= HF_CHANGE_METADATA;
	return change;
}

static int add_delta(struct hf_deltas *deltas, const struct hf_entry *before,
		     const struct hf_entry *after, struct hf_error *err)
{
	const unsigned change = hf_compare_entry(before, after);

	if (change == 0)
		return 0;
	if (deltas->count == deltas->capacity) {
		const size_t capacity = deltas->capacity > 0 ?
						2 * deltas->capacity :
						FIRST_CAPACITY;
		struct hf_delta *items;
		size_t size;

		if (__builtin_mul_overflow(capacity, sizeof(*items), &size))
			return hf_fail_memory(err);
		items = realloc(deltas->items, size);
		if (!items)
			return hf_fail_memory(err);
		deltas->items = items;
		deltas->capacity = capacity;
	}
	deltas->items[deltas->count++] = (struct hf_delta){
		.before = before,
		.after = after,
		.change = change,
	};
	return 0;
}

int hf_compare(const struct hf_tree *before, const struct hf_tree *after,
	       struct hf_deltas *ret_deltas, struct hf_error *err)
{
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	size_t b = 0;
	size_t a = 0;

	while (b < before->count || a < after->count) {
		const struct hf_entry *old = NULL;
		const struct hf_entry *new = NULL;
		int order;
		int rc;

		if (b == before->count)
			order = 1;
		else if (a == after->count)
			order = -1;
		else
			order = hf_path_compare(before->entries[b].path,
						after->entries[a].path);
		if (order <= 0)
			old = &before->entries[b++];
		if (order >= 0)
			new = &after->entries[a++];
		rc = add_delta(&deltas, old, new, err);
		if (rc < 0)
			return rc;
	}
	*ret_deltas = deltas;
	deltas = (struct hf_deltas)HF_DELTAS_INIT;
	return 0;
}

const char *hf_change_name(unsigned change)
{
	if (change & HF_CHANGE_MISSING)
		return "missing";
	if (change & HF_CHANGE_KIND)
		return "kind";
	if (change & HF_CHANGE_ADDED)
		return "added";
	if (change & HF_CHANGE_CONTENT)
		return "content";
	if (change & HF_CHANGE_METADATA)
		return "metadata";
	return "none";
}

static void begin_item(struct hf_buffer *out, size_t start)
{
	if (out->len > start)
		hf_buffer_add_text(out, ", ");
}

static void add_link_text(struct hf_buffer *out, const char *text)
{
	const size_t len = strlen(text);
	const size_t shown = len < LINK_SHOWN_MAX ? len : LINK_SHOWN_MAX;

	hf_buffer_add_text(out, "'");
	hf_buffer_add_quoted(out, text, shown);
	hf_buffer_add_text(out, shown < len ? "...'" : "'");
}

/* What there is: "file of 94 bytes", "link to 'x'", "directory". */
static void add_what(struct hf_buffer *out, const struct hf_entry *entry)
{
	hf_buffer_add_text(out, hf_kind_name(entry->stat.kind));
	if (entry->stat.kind == HF_KIND_FILE) {
		hf_buffer_printf(out, " of %" PRIu64 " byte%s",
				 entry->stat.size,
				 entry->stat.size == 1 ? "" : "s");
	} else if (entry->stat.kind == HF_KIND_LINK) {
		hf_buffer_add_text(out, " to ");
		add_link_text(out, entry->link);
	}
}

static void describe_content(const struct hf_entry *before,
			     const struct hf_entry *after,
			     struct hf_buffer *out)
{
	if (before->stat.kind == HF_KIND_LINK) {
		hf_buffer_add_text(out, "link ");
		add_link_text(out, before->link);
		hf_buffer_add_text(out, " -> ");
		add_link_text(out, after->link);
	} else if (before->stat.kind != HF_KIND_FILE) {
		hf_buffer_add_text(out, "another device");
	} else if (before->stat.size != after->stat.size) {
		hf_buffer_printf(out, "%" PRIu64 " -> %" PRIu64 " bytes",
				 before->stat.size, after->stat.size);
	} else if (!before->has_hash || !after->has_hash) {
		hf_buffer_printf(out, "%" PRIu64 " bytes, cannot be read",
				 after->stat.size);
	} else {
		hf_buffer_printf(out, "%" PRIu64 " bytes, other content",
				 after->stat.size);
	}
}

static void describe_metadata(const struct hf_entry *before,
			      const struct hf_entry *after,
			      struct hf_buffer *out, size_t start)
{
	if (has_other_mode(before, after)) {
		begin_item(out, start);
		hf_buffer_printf(out, "mode %04" PRIo32 " -> %04" PRIo32,
				 before->stat.mode, after->stat.mode);
	}
	if (has_other_owner(before, after)) {
		begin_item(out, start);
		hf_buffer_printf(out,
				 "owner %" PRIu32 ":%" PRIu32 " -> %" PRIu32
				 ":%" PRIu32,
				 before->stat.uid, before->stat.gid,
				 after->stat.uid, after->stat.gid);
	}
	if (has_other_mtime(before, after)) {
		begin_item(out, start);
		hf_buffer_add_text(out, "mtime");
	}
	if (has_other_xattrs(before, after)) {
		begin_item(out, start);
		hf_buffer_add_text(out, "extended attributes");
	}
}

void hf_delta_describe(const struct hf_delta *delta, struct hf_buffer *out)
{
	const size_t start = out->len;

	if (delta->change & HF_CHANGE_MISSING) {
		hf_buffer_add_text(out, "missing, was a ");
		add_what(out, delta->before);
		return;
	}
	if (delta->change & HF_CHANGE_ADDED) {
		hf_buffer_add_text(out, "added, a ");
		add_what(out, delta->after);
		return;
	}
	if (delta->change & HF_CHANGE_KIND) {
		add_what(out, delta->before);
		hf_buffer_add_text(out, " -> ");
		add_what(out, delta->after);
		return;
	}
	if (delta->change & HF_CHANGE_CONTENT)
		describe_content(delta->before, delta->after, out);
	if (delta->change & HF_CHANGE_METADATA)
		describe_metadata(delta->before, delta->after, out, start);
	if (out->len == start)
		hf_buffer_add_text(out, "nothing differs");
}

void hf_deltas_done(struct hf_deltas *deltas)
{
	hf_free_pointee(&deltas->items);
	deltas->count = 0;
	deltas->capacity = 0;
}
