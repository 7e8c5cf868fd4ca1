/* SPDX-License-Identifier: MIT */
/*
 * Write an entry as one JSON object.
 *
 * A manifest may have 100,000 of them: printf() would take most of the time.
 */
#include "core/entry_text.h"

#include <string.h>

#include "base/buffer.h"
#include "base/encode.h"
#include "base/text.h"

#define NS_PER_S UINT64_C(1000000000)

static const char *const kind_names[] = {
	[HF_KIND_ABSENT] = "absent",
	[HF_KIND_FILE] = "file",
	[HF_KIND_DIRECTORY] = "directory",
	[HF_KIND_LINK] = "link",
	[HF_KIND_FIFO] = "fifo",
	[HF_KIND_SOCKET] = "socket",
	[HF_KIND_CHARACTER_DEVICE] = "character-device",
	[HF_KIND_BLOCK_DEVICE] = "block-device",
};

static const char *const role_names[] = {
	[HF_ROLE_PROTECTED] = "protected",
	[HF_ROLE_ANCESTOR] = "ancestor",
	[HF_ROLE_ALLOWED] = "allowed",
	[HF_ROLE_SIDE_FILE] = "side-file",
	[HF_ROLE_SIDE_CACHE] = "side-cache",
};

const char *hf_kind_name(enum hf_kind kind)
{
	return kind_names[kind];
}

const char *hf_role_name(enum hf_entry_role role)
{
	return role_names[role];
}

void hf_time_encode(int64_t time_ns, struct hf_buffer *out)
{
	uint64_t ns = (uint64_t)time_ns;

	if (time_ns < 0) {
		hf_buffer_add(out, "-", 1);
		ns = 0 - ns;
	}
	hf_buffer_add_decimal(out, ns / NS_PER_S, 1);
	hf_buffer_add(out, ".", 1);
	hf_buffer_add_decimal(out, ns % NS_PER_S, 9);
}

void hf_number_encode(uint64_t number, struct hf_buffer *out)
{
	const size_t quote_len = number > HF_JSON_NUMBER_MAX ? 1 : 0;

	hf_buffer_add(out, "\"", quote_len);
	hf_buffer_add_decimal(out, number, 1);
	hf_buffer_add(out, "\"", quote_len);
}

void hf_text_encode(const char *key, const char *text, struct hf_buffer *out)
{
	const size_t len = strlen(text);

	hf_buffer_add(out, "\"", 1);
	hf_buffer_add_text(out, key);
	hf_buffer_add(out, "\":", 2);
	hf_buffer_add_json(out, text, len);
	if (hf_is_utf8(text, len))
		return;

	hf_buffer_add(out, ",\"", 2);
	hf_buffer_add_text(out, key);
	hf_buffer_add_text(out, "_bytes\":\"");
	hf_base64_encode(out, text, len);
	hf_buffer_add(out, "\"", 1);
}

static void add_text(struct hf_buffer *out, const char *key, const char *text)
{
	hf_buffer_add(out, ",", 1);
	hf_text_encode(key, text, out);
}

/* Begin a string member whose value needs no escapes. */
static inline void add_key(struct hf_buffer *out, const char *key)
{
	hf_buffer_add(out, ",\"", 2);
	hf_buffer_add_text(out, key);
	hf_buffer_add(out, "\":\"", 3);
}

static void add_content(const struct hf_entry *entry, struct hf_buffer *out)
{
	char digits[HF_HASH_TEXT];

	add_key(out, "content");
	hf_buffer_add_text(out, hf_hash_format(&entry->hash, digits));
	if (entry->location.pack > 0) {
		hf_buffer_add(out, "@", 1);
		hf_buffer_add_decimal(out, entry->location.pack, 1);
		hf_buffer_add(out, ":", 1);
		hf_buffer_add_decimal(out, entry->location.offset, 1);
	}
	hf_buffer_add(out, "\"", 1);
}

static void add_stat(const struct hf_stat *stat, struct hf_buffer *out)
{
	add_key(out, "stat");
	hf_buffer_add_decimal(out, stat->dev, 1);
	hf_buffer_add(out, ":", 1);
	hf_buffer_add_decimal(out, stat->ino, 1);
	hf_buffer_add(out, ":", 1);
	hf_time_encode(stat->ctime_ns, out);
	hf_buffer_add(out, ":", 1);
	hf_buffer_add_decimal(out, stat->nlink, 1);
	hf_buffer_add(out, "\"", 1);
}

/* What an entry that exists has, whatever its kind. */
static void add_metadata(const struct hf_entry *entry, struct hf_buffer *out)
{
	const struct hf_stat *const stat = &entry->stat;

	add_key(out, "mode");
	hf_buffer_add_octal(out, stat->mode, 4);
	hf_buffer_add(out, "\"", 1);
	add_key(out, "owner");
	hf_buffer_add_decimal(out, stat->uid, 1);
	hf_buffer_add(out, ":", 1);
	hf_buffer_add_decimal(out, stat->gid, 1);
	hf_buffer_add(out, "\"", 1);
	add_key(out, "mtime");
	hf_time_encode(stat->mtime_ns, out);
	hf_buffer_add(out, "\"", 1);
	if (entry->xattrs[0] != '\0')
		add_text(out, "xattrs", entry->xattrs);
	if (stat->kind == HF_KIND_CHARACTER_DEVICE ||
	    stat->kind == HF_KIND_BLOCK_DEVICE) {
		add_key(out, "rdev");
		hf_buffer_add_decimal(out, stat->rdev, 1);
		hf_buffer_add(out, "\"", 1);
	}
}

void hf_entry_encode(const struct hf_entry *entry, struct hf_buffer *out)
{
	const enum hf_kind kind = entry->stat.kind;

	hf_buffer_add(out, "{", 1);
	hf_text_encode("path", entry->path, out);
	add_key(out, "kind");
	hf_buffer_add_text(out, kind_names[kind]);
	hf_buffer_add(out, "\"", 1);
	if (entry->rule[0] != '\0')
		add_text(out, "rule", entry->rule);
	if (entry->role != HF_ROLE_PROTECTED) {
		add_key(out, "role");
		hf_buffer_add_text(out, role_names[entry->role]);
		hf_buffer_add(out, "\"", 1);
	}
	if (kind == HF_KIND_LINK)
		add_text(out, "link", entry->link);
	if (kind == HF_KIND_FILE) {
		hf_buffer_add_text(out, ",\"size\":");
		hf_number_encode(entry->stat.size, out);
	}
	if (kind != HF_KIND_ABSENT)
		add_metadata(entry, out);
	if (kind == HF_KIND_FILE && entry->has_hash)
		add_content(entry, out);
	if (entry->is_racy)
		hf_buffer_add_text(out, ",\"racy\":true");
	if (kind != HF_KIND_ABSENT)
		add_stat(&entry->stat, out);
	hf_buffer_add(out, "}", 1);
}
