/* SPDX-License-Identifier: MIT */
/* Manifests: what is written is read again, and nothing that was damaged is. */
#include "core/manifest.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/sealed.h"

#define NAME "000042-20261130T030007Z"

static struct hf_entry *add(struct hf_tree *tree, const char *path,
			    enum hf_kind kind)
{
	struct hf_entry *const entry = hf_tree_add(tree, path);

	cr_assert(entry);
	entry->stat.kind = kind;
	if (kind == HF_KIND_ABSENT)
		return entry;
	entry->stat.mode = 0644;
	entry->stat.nlink = 1;
	entry->stat.dev = 2049;
	entry->stat.ino = 1234567;
	entry->stat.mtime_ns = 1764471607000000001;
	entry->stat.ctime_ns = 1764471607123456789;
	return entry;
}

static struct hf_entry *add_file(struct hf_tree *tree, const char *path,
				 const char *content)
{
	struct hf_entry *const entry = add(tree, path, HF_KIND_FILE);

	entry->stat.size = strlen(content);
	entry->has_hash = true;
	entry->hash = hf_hash_of(content, strlen(content));
	entry->location = (struct hf_location){.pack = 3, .offset = 1536};
	entry->rule = "*.toml";
	return entry;
}

/* One of everything, the odd ones too. */
static void fill(struct hf_manifest *manifest)
{
	struct hf_tree *const tree = &manifest->tree;
	struct hf_entry *entry;
	struct hf_error err;

	*manifest = (struct hf_manifest)HF_MANIFEST_INIT;
	cr_assert(hf_name_parse(NAME, &manifest->name));
	manifest->root = strdup("/home/user/pro\"ject\xff");
	manifest->patterns = strdup("*.toml\n!a/**/\"b\"\n");
	manifest->created_ns = 1764471607000000000;

	entry = add(tree, ".", HF_KIND_DIRECTORY);
	entry->role = HF_ROLE_ANCESTOR;
	(void)add_file(tree, "config.toml", "key = 1\n");
	entry = add_file(tree, "empty.toml", "");
	entry->is_racy = true;
	entry->role = HF_ROLE_ALLOWED;
	entry = add_file(tree, "a\xff\nb\x1b.toml", "x");
	entry->rule = "a\xff*";
	entry->xattrs = "user.a=YQ==\nuser.b=\n";
	entry->stat.mode = 07777;
	entry->stat.uid = UINT32_MAX;
	entry->stat.gid = UINT32_MAX - 1;
	entry->stat.dev = UINT64_MAX;
	entry->stat.ino = UINT64_MAX;
	entry->stat.nlink = UINT32_MAX;
	entry->stat.mtime_ns = INT64_MIN;
	entry->stat.ctime_ns = INT64_MAX;
	entry->location.pack = UINT32_MAX;
	entry->location.offset = UINT64_MAX;
	entry = add(tree, "link", HF_KIND_LINK);
	entry->link = "../else\\where\xfe";
	entry->stat.mode = 0777;
	entry->stat.mtime_ns = -1;
	(void)add(tree, "missing", HF_KIND_ABSENT);
	(void)add(tree, "pipe", HF_KIND_FIFO);
	(void)add(tree, "socket", HF_KIND_SOCKET);
	entry = add(tree, "null", HF_KIND_CHARACTER_DEVICE);
	entry->stat.rdev = UINT64_MAX;
	(void)add(tree, "disk", HF_KIND_BLOCK_DEVICE);
	add_file(tree, "state.db-wal", "w")->role = HF_ROLE_SIDE_FILE;
	add(tree, "state.db-shm", HF_KIND_FILE)->role = HF_ROLE_SIDE_CACHE;
	(void)add_file(tree, "/etc/app/settings.toml", "out");
	cr_assert_eq(hf_tree_sort(tree, &err), 0);
}

static void encode(const struct hf_manifest *manifest, struct hf_buffer *text)
{
	struct hf_error err;

	cr_assert(hf_manifest_encode(manifest, text, &err) == 0, "%s",
		  err.text);
}

static int decode(const char *data, size_t len, struct hf_error *err)
{
	struct hf_manifest manifest = HF_MANIFEST_INIT;
	const int rc =
		hf_manifest_decode("snapshot x", data, len, &manifest, err);

	hf_manifest_done(&manifest);
	return rc;
}

static void expect_same(const struct hf_entry *a, const struct hf_entry *b)
{
	cr_expect_str_eq(a->path, b->path);
	cr_expect_str_eq(a->rule, b->rule, "%s", a->path);
	cr_expect_str_eq(a->xattrs, b->xattrs, "%s", a->path);
	cr_expect((a->link == NULL) == (b->link == NULL));
	if (a->link && b->link)
		cr_expect_str_eq(a->link, b->link);
	cr_expect_eq(a->role, b->role, "%s", a->path);
	cr_expect_eq(a->is_racy, b->is_racy, "%s", a->path);
	cr_expect_eq(a->has_hash, b->has_hash, "%s", a->path);
	cr_expect(hf_hash_equal(&a->hash, &b->hash), "%s", a->path);
	cr_expect_eq(a->location.pack, b->location.pack, "%s", a->path);
	cr_expect_eq(a->location.offset, b->location.offset, "%s", a->path);
	cr_expect_eq(a->stat.kind, b->stat.kind, "%s", a->path);
	cr_expect_eq(a->stat.mode, b->stat.mode, "%s", a->path);
	cr_expect_eq(a->stat.uid, b->stat.uid, "%s", a->path);
	cr_expect_eq(a->stat.gid, b->stat.gid, "%s", a->path);
	cr_expect_eq(a->stat.nlink, b->stat.nlink, "%s", a->path);
	cr_expect_eq(a->stat.size, b->stat.size, "%s", a->path);
	cr_expect_eq(a->stat.dev, b->stat.dev, "%s", a->path);
	cr_expect_eq(a->stat.ino, b->stat.ino, "%s", a->path);
	cr_expect_eq(a->stat.rdev, b->stat.rdev, "%s", a->path);
	cr_expect_eq(a->stat.mtime_ns, b->stat.mtime_ns, "%s", a->path);
	cr_expect_eq(a->stat.ctime_ns, b->stat.ctime_ns, "%s", a->path);
}

Test(manifest, everything_comes_back)
{
	cleanup_manifest struct hf_manifest before = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest after = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer again = HF_BUFFER_INIT;
	struct hf_error err;

	fill(&before);
	encode(&before, &text);
	cr_assert(hf_manifest_decode("x", text.data, text.len, &after, &err) ==
			  0,
		  "%s", err.text);
	cr_expect_str_eq(after.name.text, NAME);
	cr_expect_str_eq(after.root, before.root);
	cr_expect_str_eq(after.patterns, before.patterns);
	cr_expect_eq(after.created_ns, before.created_ns);
	cr_assert_eq(after.tree.count, before.tree.count);
	for (size_t i = 0; i < before.tree.count; i++)
		expect_same(&before.tree.entries[i], &after.tree.entries[i]);

	encode(&after, &again);
	cr_expect_str_eq(again.data, text.data);
	cr_expect(hf_is_utf8(text.data, text.len));
}

Test(manifest, an_empty_set_is_a_manifest)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	cr_assert(hf_name_parse(NAME, &manifest.name));
	manifest.root = strdup("/");
	encode(&manifest, &text);
	cr_expect_eq(decode(text.data, text.len, &err), 0);
}

Test(manifest, cut_at_every_byte_it_is_refused)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	fill(&manifest);
	encode(&manifest, &text);
	for (size_t len = 0; len < text.len; len++) {
		cr_assert_eq(decode(text.data, len, &err), HF_ERR_CORRUPT,
			     "cut at %zu", len);
		cr_assert(strstr(err.text, "cannot read 'snapshot x': "));
	}
}

Test(manifest, with_any_byte_flipped_it_is_refused)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	fill(&manifest);
	encode(&manifest, &text);
	for (size_t i = 0; i < text.len; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			text.data[i] = (char)(text.data[i] ^ 1 << bit);
			cr_assert_eq(decode(text.data, text.len, &err),
				     HF_ERR_CORRUPT, "byte %zu bit %u", i, bit);
			text.data[i] = (char)(text.data[i] ^ 1 << bit);
		}
	}
	cr_expect_eq(decode(text.data, text.len, &err), 0);
}

#define HEADER                                                            \
	"{\"holdfast-manifest\":1,\"name\":\"" NAME "\",\"root\":\"/r\"," \
	"\"created\":\"1.000000000\",\"hash\":\"xxh3-128\"}\n"
#define HEX   "00112233445566778899aabbccddeeff"
#define META  "\"mode\":\"0644\",\"owner\":\"0:0\",\"mtime\":\"1.000000000\","
#define STAT  "\"stat\":\"1:2:3.000000000:1\""
#define DATA  "\"content\":\"" HEX "@1:0\","
#define FILE_ "\"kind\":\"file\",\"size\":1," META

/* Well sealed, but wrong inside. */
static const struct {
	const char *name;
	size_t count;
	const char *lines;
} wrong_lines[] = {
	{"no header", 0, ""},
	{"empty line", 0, HEADER "\n"},
	{"other count", 2, HEADER "{\"path\":\"a\",\"kind\":\"absent\"}\n"},
	{"no object", 1, HEADER "[]\n"},
	{"no path", 1, HEADER "{\"kind\":\"absent\"}\n"},
	{"path of another type", 1,
	 HEADER "{\"path\":1,\"kind\":\"absent\"}\n"},
	{"unknown kind", 1, HEADER "{\"path\":\"a\",\"kind\":\"door\"}\n"},
	{"unknown member", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"absent\",\"x\":1}\n"},
	{"member twice", 1,
	 HEADER "{\"path\":\"a\",\"path\":\"b\",\"kind\":\"absent\"}\n"},
	{"path twice", 2,
	 HEADER "{\"path\":\"b\",\"kind\":\"absent\"}\n"
		"{\"path\":\"b\",\"kind\":\"absent\"}\n"},
	{"path that leaves", 1,
	 HEADER "{\"path\":\"../a\",\"kind\":\"absent\"}\n"},
	{"path with dots inside", 1,
	 HEADER "{\"path\":\"a/../../b\",\"kind\":\"absent\"}\n"},
	{"path with a slash behind", 1,
	 HEADER "{\"path\":\"a/\",\"kind\":\"absent\"}\n"},
	{"empty path", 1, HEADER "{\"path\":\"\",\"kind\":\"absent\"}\n"},
	{"bytes that leave", 1,
	 HEADER "{\"path\":\"a\",\"path_bytes\":\"Li4vYQ==\","
		"\"kind\":\"absent\"}\n"},
	{"bytes with a NUL", 1,
	 HEADER "{\"path\":\"a\",\"path_bytes\":\"YQBi\","
		"\"kind\":\"absent\"}\n"},
	{"bytes that are no base64", 1,
	 HEADER "{\"path\":\"a\",\"path_bytes\":\"!\","
		"\"kind\":\"absent\"}\n"},
	{"bytes of an absent text", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"absent\","
		"\"rule_bytes\":\"YQ==\"}\n"},
	{"absent with metadata", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"absent\"," META STAT "}\n"},
	{"file without content", 1, HEADER "{\"path\":\"a\"," FILE_ STAT "}\n"},
	{"file without a place", 1,
	 HEADER "{\"path\":\"a\"," FILE_ "\"content\":\"" HEX "\"," STAT "}\n"},
	{"file in pack 0", 1,
	 HEADER "{\"path\":\"a\"," FILE_ "\"content\":\"" HEX "@0:0\"," STAT
		"}\n"},
	{"pack too large", 1,
	 HEADER "{\"path\":\"a\"," FILE_ "\"content\":\"" HEX
		"@4294967296:0\"," STAT "}\n"},
	{"offset missing", 1,
	 HEADER "{\"path\":\"a\"," FILE_ "\"content\":\"" HEX "@1:\"," STAT
		"}\n"},
	{"hash too short", 1,
	 HEADER "{\"path\":\"a\"," FILE_ "\"content\":\"0011@1:0\"," STAT
		"}\n"},
	{"negative size", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"file\",\"size\":-1," META DATA STAT
		"}\n"},
	{"size with a fraction", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"file\",\"size\":1.5," META DATA STAT
		"}\n"},
	{"file with a target", 1,
	 HEADER "{\"path\":\"a\",\"link\":\"b\"," FILE_ DATA STAT "}\n"},
	{"link without a target", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"link\"," META STAT "}\n"},
	{"link with an empty target", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"link\",\"link\":\"\"," META STAT
		"}\n"},
	{"directory with content", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"directory\"," META DATA STAT "}\n"},
	{"mode beyond 07777", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"directory\","
		"\"mode\":\"10000\",\"owner\":\"0:0\","
		"\"mtime\":\"1.000000000\"," STAT "}\n"},
	{"owner of one number", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"directory\","
		"\"mode\":\"0\",\"owner\":\"0\","
		"\"mtime\":\"1.000000000\"," STAT "}\n"},
	{"owner too large", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"directory\","
		"\"mode\":\"0\",\"owner\":\"0:4294967296\","
		"\"mtime\":\"1.000000000\"," STAT "}\n"},
	{"time without nine digits", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"directory\","
		"\"mode\":\"0\",\"owner\":\"0:0\","
		"\"mtime\":\"1.0\"," STAT "}\n"},
	{"time out of range", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"directory\","
		"\"mode\":\"0\",\"owner\":\"0:0\","
		"\"mtime\":\"9223372036.854775808\"," STAT "}\n"},
	{"stat of three numbers", 1,
	 HEADER "{\"path\":\"a\",\"kind\":\"directory\"," META
		"\"stat\":\"1:2:3.000000000\"}\n"},
	{"pattern with a newline", 0, HEADER "{\"protect\":\"a\\nb\"}\n"},
	{"pattern of another type", 0, HEADER "{\"protect\":1}\n"},
	{"two headers", 0, HEADER HEADER},
	{"name that is none", 0,
	 "{\"holdfast-manifest\":1,\"name\":\"../x\",\"root\":\"/r\","
	 "\"created\":\"1.000000000\",\"hash\":\"xxh3-128\"}\n"},
	{"relative root", 0,
	 "{\"holdfast-manifest\":1,\"name\":\"" NAME "\",\"root\":\"r\","
	 "\"created\":\"1.000000000\",\"hash\":\"xxh3-128\"}\n"},
};

Test(manifest, what_does_not_hold_together_is_refused)
{
	for (size_t i = 0; i < HF_COUNT(wrong_lines); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		struct hf_error err = {.code = 0};
		int rc;

		hf_buffer_add_text(&text, wrong_lines[i].lines);
		hf_sealed_end(&text, "entries", wrong_lines[i].count);
		rc = decode(text.data, text.len, &err);
		cr_expect_eq(rc, HF_ERR_CORRUPT, "%s: %d %s",
			     wrong_lines[i].name, rc, err.text);
	}
}

/* The cases above are refused for what they name and nothing else. */
Test(manifest, the_parts_of_the_cases_are_right)
{
	static const char *const lines[] = {
		"{\"path\":\"a\",\"kind\":\"absent\"}\n",
		"{\"path\":\"a\"," FILE_ DATA STAT "}\n",
		"{" DATA STAT "," FILE_ "\"path\":\"a\"}\n",
		"{\"path\":\"a\",\"kind\":\"link\",\"link\":\"b\"," META STAT
		"}\n",
		"{\"path\":\"a\",\"kind\":\"directory\"," META STAT "}\n",
	};

	for (size_t i = 0; i < HF_COUNT(lines); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		struct hf_error err = {.code = 0};

		hf_buffer_add_text(&text, HEADER);
		hf_buffer_add_text(&text, lines[i]);
		hf_sealed_end(&text, "entries", 1);
		cr_expect_eq(decode(text.data, text.len, &err), 0, "%zu: %s", i,
			     err.text);
	}
}

Test(manifest, another_version_is_said_to_be_one)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	hf_buffer_add_text(&text, "{\"holdfast-manifest\":2}\n");
	hf_sealed_end(&text, "entries", 0);
	cr_expect_eq(decode(text.data, text.len, &err), HF_ERR_UNSUPPORTED);
	cr_expect(strstr(err.text, "version 2"), "%s", err.text);
}

Test(manifest, times_of_all_signs)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "0.000000000"},
		{1, "0.000000001"},
		{-1, "-0.000000001"},
		{-1500000000, "-1.500000000"},
		{INT64_MAX, "9223372036.854775807"},
		{INT64_MIN, "-9223372036.854775808"},
	};
	static const char *const wrong[] = {
		"",
		"1",
		"1.",
		"1.0000000000",
		"--1.000000000",
		"-",
		"+1.000000000",
		" 1.000000000",
		"1.00000000x",
		"9223372036.854775808",
		"-9223372036.854775809",
		"99999999999999999999.000000000",
	};

	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		int64_t ns = 7;

		hf_time_encode(cases[i].ns, &text);
		cr_expect_str_eq(text.data, cases[i].text);
		cr_expect_eq(hf_time_decode(cases[i].text, &ns), 0);
		cr_expect_eq(ns, cases[i].ns, "%s", cases[i].text);
	}
	for (size_t i = 0; i < HF_COUNT(wrong); i++) {
		int64_t ns = 7;

		cr_expect_eq(hf_time_decode(wrong[i], &ns), -EINVAL, "'%s'",
			     wrong[i]);
		cr_expect_eq(ns, 7);
	}
}

Test(manifest, what_could_not_be_read_is_not_written)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_free char *xattrs = malloc(HF_JSON_LINE_MAX + 1);
	struct hf_error err;

	cr_assert(xattrs);
	memset(xattrs, 'a', HF_JSON_LINE_MAX);
	xattrs[HF_JSON_LINE_MAX] = '\0';
	fill(&manifest);
	manifest.tree.entries[1].xattrs = xattrs;
	cr_expect_eq(hf_manifest_encode(&manifest, &text, &err), HF_ERR_LIMIT);
	cr_expect(strstr(err.text, "extended attributes"), "%s", err.text);
}

/* -- one that is read in two halves ---------------------------------------- */

#define MANY 3000

/* Two entries, MANY for none, get a mode that none has. */
static void fill_many(struct hf_manifest *manifest, int wrong, int wrong_too)
{
	char path[32];

	*manifest = (struct hf_manifest)HF_MANIFEST_INIT;
	cr_assert(hf_name_parse(NAME, &manifest->name));
	manifest->root = strdup("/r");
	manifest->patterns = strdup("*.toml\n");
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(path, sizeof(path), "f%04d.toml", i);
		add_file(&manifest->tree, path, path)->stat.mode =
			i == wrong || i == wrong_too ? 010000 : 0644;
	}
}

Test(manifest, many_entries_come_back)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest back = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	fill_many(&manifest, MANY, MANY);
	encode(&manifest, &text);
	cr_assert(hf_manifest_decode("snapshot x", text.data, text.len, &back,
				     &err) == 0,
		  "%s", err.text);
	cr_expect_str_eq(back.patterns, manifest.patterns);
	cr_assert_eq(back.tree.count, MANY);
	for (size_t i = 0; i < MANY; i++)
		expect_same(&back.tree.entries[i], &manifest.tree.entries[i]);
}

Test(manifest, the_first_wrong_entry_is_named_in_either_half)
{
	static const struct {
		int wrong;
		int wrong_too;
		const char *named;
	} rows[] = {
		{0, MANY, "f0000"},
		{MANY - 1, MANY, "f2999"},
		{17, 2983, "f0017"},
		{2983, 2984, "f2983"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		struct hf_error err;

		fill_many(&manifest, rows[i].wrong, rows[i].wrong_too);
		encode(&manifest, &text);
		cr_expect_eq(decode(text.data, text.len, &err), HF_ERR_CORRUPT);
		cr_expect(strstr(err.text, rows[i].named), "%s", err.text);
	}
}
