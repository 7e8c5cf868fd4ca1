/* SPDX-License-Identifier: MIT */
/*
 * Read an entry from a JSON object, believing nothing.
 *
 * Members are looked for in the order in which they are written (any order is
 * right): a manifest of 100,000 entries is read at the start of every run.
 */
#include "core/entry_text.h"

#include <string.h>

#include "base/buffer.h"
#include "base/encode.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"

#define NS_PER_S UINT64_C(1000000000)
#define MODE_MAX 07777

enum member {
	PATH,
	PATH_BYTES,
	KIND,
	RULE,
	RULE_BYTES,
	ROLE,
	LINK,
	LINK_BYTES,
	SIZE,
	MODE,
	OWNER,
	MTIME,
	XATTRS,
	XATTRS_BYTES,
	RDEV,
	CONTENT,
	RACY,
	STAT,
	MEMBERS
};

static const char *const member_names[MEMBERS] = {
	[PATH] = "path",
	[PATH_BYTES] = "path_bytes",
	[KIND] = "kind",
	[RULE] = "rule",
	[RULE_BYTES] = "rule_bytes",
	[ROLE] = "role",
	[LINK] = "link",
	[LINK_BYTES] = "link_bytes",
	[SIZE] = "size",
	[MODE] = "mode",
	[OWNER] = "owner",
	[MTIME] = "mtime",
	[XATTRS] = "xattrs",
	[XATTRS_BYTES] = "xattrs_bytes",
	[RDEV] = "rdev",
	[CONTENT] = "content",
	[RACY] = "racy",
	[STAT] = "stat",
};

static bool is_device(enum hf_kind kind)
{
	return kind == HF_KIND_CHARACTER_DEVICE || kind == HF_KIND_BLOCK_DEVICE;
}

/* The members of an object, by enum member. */
struct members {
	const hf_json_value *values[MEMBERS];
};

static bool has(const struct members *members, enum member member)
{
	return members->values[member] != NULL;
}

static const char *text_of(const struct members *members, enum member member)
{
	return hf_json_string(members->values[member]);
}

/* The member that key names, tried from "expected" on; MEMBERS when none. */
static enum member find_member(const char *key, enum member expected)
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		const unsigned at = (expected + i) % MEMBERS;

		/* The first byte tells most of them apart. */
		if (key[0] == member_names[at][0] &&
		    strcmp(key, member_names[at]) == 0)
			return (enum member)at;
	}
	return MEMBERS;
}

static bool collect(const hf_json_value *object, struct members *members)
{
	enum member next = PATH;
	const hf_json_value *value;

	if (!hf_json_is_object(object))
		return false;
	for (value = hf_json_first(object); value;
	     value = hf_json_next(value)) {
		const enum member found = find_member(hf_json_key(value), next);

		if (found == MEMBERS || members->values[found])
			return false;
		members->values[found] = value;
		next = found + 1;
	}
	return true;
}

int hf_time_decode(const char *text, int64_t *ret_time_ns)
{
	const bool is_negative = text[0] == '-';
	const char *const digits = text + (is_negative ? 1 : 0);
	const char *const point = strchr(digits, '.');
	uint64_t seconds;
	uint64_t ns;

	if (!point || strlen(point + 1) != 9)
		return -EINVAL;
	if (hf_parse_u64(digits, (size_t)(point - digits), 10, &seconds) < 0 ||
	    hf_parse_u64(point + 1, 9, 10, &ns) < 0)
		return -EINVAL;
	if (__builtin_mul_overflow(seconds, NS_PER_S, &seconds) ||
	    __builtin_add_overflow(seconds, ns, &ns))
		return -EINVAL;
	if (ns > (uint64_t)INT64_MAX + (is_negative ? 1 : 0))
		return -EINVAL;
	*ret_time_ns = (int64_t)(is_negative ? 0 - ns : ns);
	return 0;
}

int hf_text_decode(const hf_json_value *text, const hf_json_value *bytes,
		   struct hf_arena *arena, const char **ret_text)
{
	cleanup_buffer struct hf_buffer decoded = HF_BUFFER_INIT;
	const char *const base64 = hf_json_string(bytes);
	const char *plain = hf_json_string(text);
	const char *copy;

	if (!plain || (bytes && !base64))
		return -EINVAL;
	if (base64) {
		const int rc =
			hf_base64_decode(&decoded, base64, strlen(base64));

		if (rc < 0)
			return rc;
		if (!decoded.data || strlen(decoded.data) != decoded.len)
			return -EINVAL;
		plain = decoded.data;
	}
	copy = hf_arena_copy(arena, plain, strlen(plain));
	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	return 0;
}

/* A number that ends at a colon or at the end; NULL when it is none. */
static const char *take_number(const char *text, uint64_t *ret_value)
{
	const size_t len = strcspn(text, ":");

	if (hf_parse_u64(text, len, 10, ret_value) < 0)
		return NULL;
	return text[len] == ':' ? text + len + 1 : text + len;
}

/* "A:B", both within 32 bits. */
static bool decode_pair(const char *text, uint32_t *ret_a, uint32_t *ret_b)
{
	uint64_t a;
	uint64_t b;

	if (!text)
		return false;
	text = take_number(text, &a);
	text = text ? take_number(text, &b) : NULL;
	if (!text || text[0] != '\0' || text[-1] == ':' || a > UINT32_MAX ||
	    b > UINT32_MAX)
		return false;
	*ret_a = (uint32_t)a;
	*ret_b = (uint32_t)b;
	return true;
}

/* "DEV:INO:CTIME:NLINK" */
static bool decode_stat(const char *text, struct hf_stat *stat)
{
	char time[40];
	uint64_t nlink;
	size_t len;

	text = text ? take_number(text, &stat->dev) : NULL;
	text = text ? take_number(text, &stat->ino) : NULL;
	if (!text)
		return false;

	len = strcspn(text, ":");
	if (len >= sizeof(time) || text[len] != ':')
		return false;
	memcpy(time, text, len);
	time[len] = '\0';
	if (hf_time_decode(time, &stat->ctime_ns) < 0)
		return false;

	text += len + 1;
	if (hf_parse_u64(text, strlen(text), 10, &nlink) < 0 ||
	    nlink > UINT32_MAX)
		return false;
	stat->nlink = (uint32_t)nlink;
	return true;
}

/* "HASH" or "HASH@PACK:OFFSET" */
static bool decode_content(const char *text, struct hf_entry *entry)
{
	char digits[HF_HASH_TEXT];
	uint64_t pack;
	const char *end;

	if (!text || strlen(text) < HF_HASH_TEXT - 1)
		return false;
	memcpy(digits, text, HF_HASH_TEXT - 1);
	digits[HF_HASH_TEXT - 1] = '\0';
	if (hf_hash_parse(digits, &entry->hash) < 0)
		return false;
	entry->has_hash = true;

	text += HF_HASH_TEXT - 1;
	if (text[0] == '\0')
		return true;
	if (text[0] != '@' || !strchr(text, ':'))
		return false;
	text = take_number(text + 1, &pack);
	end = text ? take_number(text, &entry->location.offset) : NULL;
	if (!end || end[0] != '\0' || end[-1] == ':' || pack == 0 ||
	    pack > UINT32_MAX)
		return false;
	entry->location.pack = (uint32_t)pack;
	return true;
}

static bool decode_kind(const char *text, enum hf_kind *ret_kind)
{
	for (unsigned i = HF_KIND_ABSENT; i <= HF_KIND_BLOCK_DEVICE; i++) {
		if (text && strcmp(text, hf_kind_name((enum hf_kind)i)) == 0) {
			*ret_kind = (enum hf_kind)i;
			return true;
		}
	}
	return false;
}

static bool decode_role(const char *text, enum hf_entry_role *ret_role)
{
	for (unsigned i = HF_ROLE_PROTECTED; i <= HF_ROLE_SIDE_CACHE; i++) {
		const enum hf_entry_role role = (enum hf_entry_role)i;

		if (text && strcmp(text, hf_role_name(role)) == 0) {
			*ret_role = role;
			return true;
		}
	}
	return false;
}

/* Are exactly those members there that the kind has? */
static bool fits_kind(const struct members *members, enum hf_kind kind)
{
	const bool exists = kind != HF_KIND_ABSENT;

	return has(members, MODE) == exists && has(members, OWNER) == exists &&
	       has(members, MTIME) == exists && has(members, STAT) == exists &&
	       has(members, SIZE) == (kind == HF_KIND_FILE) &&
	       has(members, LINK) == (kind == HF_KIND_LINK) &&
	       has(members, RDEV) == is_device(kind) &&
	       (kind == HF_KIND_FILE || !has(members, CONTENT)) &&
	       (exists || (!has(members, XATTRS) && !has(members, RACY))) &&
	       (has(members, RULE) || !has(members, RULE_BYTES)) &&
	       (has(members, LINK) || !has(members, LINK_BYTES)) &&
	       (has(members, XATTRS) || !has(members, XATTRS_BYTES));
}

/* The numbers; NULL, or what is wrong. */
static const char *decode_numbers(const struct members *members,
				  struct hf_entry *entry)
{
	struct hf_stat *const stat = &entry->stat;
	const char *const mode = text_of(members, MODE);
	const char *const mtime = text_of(members, MTIME);
	const char *const rdev = text_of(members, RDEV);
	uint64_t value;

	if (!mode || hf_parse_u64(mode, strlen(mode), 8, &value) < 0 ||
	    value > MODE_MAX)
		return "its mode is wrong";
	stat->mode = (uint32_t)value;
	if (!decode_pair(text_of(members, OWNER), &stat->uid, &stat->gid))
		return "its owner is wrong";
	if (!mtime || hf_time_decode(mtime, &stat->mtime_ns) < 0)
		return "its time is wrong";
	if (!decode_stat(text_of(members, STAT), stat))
		return "its stat data are wrong";
	if (has(members, RDEV) &&
	    (!rdev || hf_parse_u64(rdev, strlen(rdev), 10, &stat->rdev) < 0))
		return "its device number is wrong";
	if (has(members, SIZE) &&
	    !hf_json_large_number(members->values[SIZE], &stat->size))
		return "its size is wrong";
	if (has(members, CONTENT) &&
	    !decode_content(text_of(members, CONTENT), entry))
		return "its content is wrong";
	if (has(members, RACY) &&
	    !hf_json_bool(members->values[RACY], &entry->is_racy))
		return "its racy mark is wrong";
	return NULL;
}

/* A text member, copied into the tree's memory. */
static int decode_text(const struct members *members, enum member member,
		       struct hf_tree *tree, const char **ret_text)
{
	/* The member with the bytes follows the one with the text. */
	return hf_text_decode(members->values[member],
			      members->values[member + 1], &tree->arena,
			      ret_text);
}

/* The texts besides the path; 0, -EINVAL or -ENOMEM. */
static int decode_texts(const struct members *members, struct hf_tree *tree,
			struct hf_entry *entry)
{
	const char *const rule = text_of(members, RULE);
	int rc = 0;

	/* Thousands of neighbours share one rule: so does their memory. */
	if (tree->count > 1 && rule && !has(members, RULE_BYTES) &&
	    strcmp(rule, entry[-1].rule) == 0)
		entry->rule = entry[-1].rule;
	else if (has(members, RULE))
		rc = decode_text(members, RULE, tree, &entry->rule);
	if (rc == 0 && has(members, LINK))
		rc = decode_text(members, LINK, tree, &entry->link);
	if (rc == 0 && has(members, XATTRS))
		rc = decode_text(members, XATTRS, tree, &entry->xattrs);
	if (rc == 0 && entry->link &&
	    (entry->link[0] == '\0' || strlen(entry->link) >= HF_PATH_MAX))
		rc = -EINVAL;
	return rc;
}

static int fail_entry(const struct hf_entry *entry, const char *what,
		      struct hf_error *err)
{
	return hf_fail(err, HF_ERR_CORRUPT, "entry '%s': %s",
		       HF_QUOTE(entry->path), what);
}

/* Add an entry with its path alone. */
static int decode_path(const struct members *members, struct hf_tree *tree,
		       struct hf_entry **ret_entry, struct hf_error *err)
{
	const char *path = text_of(members, PATH);
	struct hf_entry *entry;

	if (has(members, PATH_BYTES)) {
		const int rc = decode_text(members, PATH, tree, &path);

		if (rc == -ENOMEM)
			return hf_fail_memory(err);
		if (rc < 0)
			return hf_fail(err, HF_ERR_CORRUPT,
				       "an entry has a wrong path_bytes");
	}
	if (!path || !hf_path_is_plain(path))
		return hf_fail(err, HF_ERR_CORRUPT,
			       "an entry has no plain path");
	entry = hf_tree_add(tree, path);
	if (!entry)
		return hf_fail_memory(err);
	*ret_entry = entry;
	return 0;
}

int hf_entry_decode(const hf_json_value *object, struct hf_tree *tree,
		    struct hf_error *err)
{
	struct members members = {.values = {NULL}};
	const char *wrong = NULL;
	struct hf_entry *entry = NULL;
	int rc;

	if (!collect(object, &members))
		return hf_fail(err, HF_ERR_CORRUPT,
			       "an entry has unknown members");
	rc = decode_path(&members, tree, &entry, err);
	if (rc < 0)
		return rc;
	if (!decode_kind(text_of(&members, KIND), &entry->stat.kind))
		return fail_entry(entry, "its kind is unknown", err);
	if (has(&members, ROLE) &&
	    !decode_role(text_of(&members, ROLE), &entry->role))
		return fail_entry(entry, "its role is unknown", err);
	if (!fits_kind(&members, entry->stat.kind))
		return fail_entry(entry, "its members do not fit its kind",
				  err);

	rc = decode_texts(&members, tree, entry);
	if (rc == -ENOMEM)
		return hf_fail_memory(err);
	if (rc < 0)
		return fail_entry(entry, "a text is wrong", err);
	if (entry->stat.kind != HF_KIND_ABSENT)
		wrong = decode_numbers(&members, entry);
	return wrong ? fail_entry(entry, wrong, err) : 0;
}
