/* SPDX-License-Identifier: MIT */
/* Packs: what goes in comes out, by us and by tar, and damage is noticed. */
#include "core/pack.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "support/check.h"
#include "support/stored.h"

static struct hf_stored s;
static struct hf_tree tree;

static void setup(void)
{
	hf_stored_make(&s, "*.toml");
	tree = (struct hf_tree)HF_TREE_INIT;
}

static void teardown(void)
{
	hf_tree_done(&tree);
	hf_stored_remove(&s);
}

TestSuite(pack, .init = setup, .fini = teardown);

/* A file entry of the tree whose content is this text. */
static struct hf_entry *add(const char *path, const char *content, size_t len)
{
	struct hf_entry *const entry = hf_tree_add(&tree, path);

	cr_assert(entry);
	entry->stat.kind = HF_KIND_FILE;
	entry->stat.mode = 0640;
	entry->stat.uid = (uint32_t)geteuid();
	entry->stat.gid = (uint32_t)getegid();
	entry->stat.mtime_ns = 1764471607123456789;
	entry->stat.size = len;
	entry->has_hash = true;
	entry->hash = hf_hash_of(content, len);
	return entry;
}

static void write_member(struct hf_pack_writer *writer, struct hf_entry *entry,
			 const char *content)
{
	const struct hf_location next = hf_pack_next_location(writer);
	struct hf_error err;

	cr_assert(hf_pack_begin_member(writer, entry, &entry->location, &err) ==
			  0,
		  "%s", err.text);
	cr_expect_eq(entry->location.pack, next.pack);
	cr_expect_eq(entry->location.offset, next.offset);
	cr_assert_eq(hf_pack_write(writer, content, entry->stat.size, &err), 0);
	cr_assert_eq(hf_pack_end_member(writer, &entry->hash, &err), 0);
}

static const struct {
	const char *path;
	const char *content;
} samples[] = {
	{"config.toml", "key = 1\n"},
	{"empty.toml", ""},
	{"a/b/c.toml", "x"},
	{"a/\xff\xfe\n.toml", "not UTF-8"},
	{"\xc3\xa9.toml", "UTF-8"},
	{"-rf.toml", "a name like an option"},
	{"/etc/app/settings.toml", "outside"},
	{"a-name-of-more-than-a-hundred-bytes-that-needs-a-pax-header-since-"
	 "the-old-one-is-too-short-for-it-0123456789.toml",
	 "long"},
};

/* All samples, in two packs: the last one fits no plain header. */
static void write_samples(void)
{
	cleanup_pack_writer struct hf_pack_writer *writer = NULL;
	struct hf_error err;

	cr_assert_eq(hf_pack_writer_new(&s.store, 1, &writer, &err), 0);
	for (size_t i = 0; i < HF_COUNT(samples); i++) {
		struct hf_entry *const entry =
			add(samples[i].path, samples[i].content,
			    strlen(samples[i].content));

		if (!hf_pack_writer_takes(writer, entry)) {
			cr_assert_eq(hf_pack_commit(writer, &err), 0);
			hf_pack_writer_free(&writer);
			cr_assert_eq(
				hf_pack_writer_new(&s.store, 2, &writer, &err),
				0);
		}
		write_member(writer, entry, samples[i].content);
	}
	cr_assert(hf_pack_commit(writer, &err) == 0, "%s", err.text);
}

static void expect_content(const struct hf_entry *entry, const char *content)
{
	cleanup_buffer struct hf_buffer read = HF_BUFFER_INIT;
	struct hf_error err;

	hf_buffer_add(&read, "", 0);
	cr_assert(hf_stored_read(&s.store, entry, &read, &err) == 0, "%s: %s",
		  entry->path, err.text);
	cr_expect_eq(read.len, strlen(content), "%s", entry->path);
	cr_expect_str_eq(read.data, content, "%s", entry->path);
}

Test(pack, each_content_comes_back_alone)
{
	write_samples();
	for (size_t i = HF_COUNT(samples); i-- > 0;)
		expect_content(&tree.entries[i], samples[i].content);
	/* Packs and their indexes, nothing else. */
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_PACKS], ""), 4);
}

/* With every pack; what it prints goes to the file "printed" in directory. */
static void run_tar(const char *options, const char *directory)
{
	cleanup_buffer struct hf_buffer command = HF_BUFFER_INIT;
	pid_t child;
	int status;

	hf_buffer_printf(&command,
			 "cd '%s' && for pack in '%s'/packs/*.tar.zst; do "
			 "tar --numeric-owner --full-time %s $pack || exit; "
			 "done >printed 2>&1",
			 directory, s.store_path, options);
	child = fork();
	if (child == 0) {
		(void)execl("/bin/sh", "sh", "-c", command.data, (char *)NULL);
		_exit(127);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(pack, the_real_tar_gets_the_files_back)
{
	cleanup_free char *out = hf_path_join(s.dir, "out");
	cleanup_fd int out_fd = -1;

	write_samples();
	cr_assert_eq(hf_file_mkdir_path(out), 0);
	out_fd = hf_file_open_directory(out);
	cr_assert(out_fd >= 0);
	run_tar("-xpf", out);

	for (size_t i = 0; i < HF_COUNT(samples); i++) {
		const char *const path = samples[i].path;
		cleanup_free char *name =
			path[0] == '/' ? hf_path_join("outside", path + 1)
				       : strdup(path);
		struct hf_stat stat;

		cr_expect(hf_file_has(out_fd, name, samples[i].content), "%s",
			  path);
		cr_assert_eq(hf_file_stat_at(out_fd, name, &stat), 0);
		cr_expect_eq(stat.mode, 0640, "%s", path);
		cr_expect_eq(stat.mtime_ns / 1000000000, 1764471607, "%s",
			     path);
	}
}

Test(pack, only_what_fits_is_taken_by_a_plain_pack)
{
	static const struct {
		const char *name;
		struct hf_stat stat;
		size_t len;
		bool is_taken;
	} rows[] = {
		{"usual", {.size = 1}, 9, true},
		{"name of 100", {.size = 1}, 100, true},
		{"name of 101", {.size = 1}, 101, false},
		{"8 GiB less one", {.size = (UINT64_C(8) << 30) - 1}, 9, true},
		{"8 GiB", {.size = UINT64_C(8) << 30}, 9, false},
		{"largest uid", {.uid = 262143}, 9, true},
		{"uid", {.uid = 262144}, 9, false},
		{"gid", {.gid = UINT32_MAX}, 9, false},
		{"before 1970", {.mtime_ns = -1}, 9, false},
		{"year 2242", {.mtime_ns = 8589934592000000000}, 9, false},
	};
	cleanup_pack_writer struct hf_pack_writer *plain = NULL;
	cleanup_pack_writer struct hf_pack_writer *pax = NULL;
	char path[128] = "";
	struct hf_error err;

	cr_assert_eq(hf_pack_writer_new(&s.store, 1, &plain, &err), 0);
	write_member(plain, add("a", "x", 1), "x");
	cr_assert_eq(hf_pack_writer_new(&s.store, 2, &pax, &err), 0);
	memset(path, 'n', 101);
	write_member(pax, add(path, "x", 1), "x");
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_entry entry = {.path = path, .stat = rows[i].stat};

		memset(path, 'n', 101);
		path[rows[i].len] = '\0';
		cr_expect_eq(hf_pack_writer_takes(plain, &entry),
			     rows[i].is_taken, "%s", rows[i].name);
		cr_expect(hf_pack_writer_takes(pax, &entry), "%s",
			  rows[i].name);
	}
	(void)snprintf(path, sizeof(path), "/%099d", 1);
	cr_expect_not(
		hf_pack_writer_takes(plain, &(struct hf_entry){.path = path}));
}

/* The largest that a plain header is said to hold comes back from it. */
Test(pack, a_plain_header_holds_its_largest_values)
{
	cleanup_pack_writer struct hf_pack_writer *writer = NULL;
	cleanup_buffer struct hf_buffer printed = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	struct hf_entry *entry;
	char path[101] = "";
	struct hf_error err;

	memset(path, 'n', 100);
	cr_assert_eq(hf_pack_writer_new(&s.store, 1, &writer, &err), 0);
	entry = add(path, "x", 1);
	entry->stat.uid = 262143;
	entry->stat.gid = 262143;
	entry->stat.mtime_ns = 8589934591000000000;
	cr_assert(hf_pack_writer_takes(writer, entry));
	write_member(writer, entry, "x");
	cr_assert_eq(hf_pack_commit(writer, &err), 0);
	expect_content(entry, "x");
	run_tar("-tvf", s.root);
	fd = hf_file_open_read_at(s.root_fd, "printed");
	cr_assert_eq(hf_file_read_all(fd, 4096, &printed), 0);
	cr_expect(strstr(printed.data, "262143/262143"), "%s", printed.data);
	cr_expect(strstr(printed.data, "2242-03-1"), "%s", printed.data);
	cr_expect(strstr(printed.data, path), "%s", printed.data);
}

Test(pack, a_large_content_in_pieces)
{
	cleanup_pack_writer struct hf_pack_writer *writer = NULL;
	const size_t size = 3 * 1024 * 1024 + 17;
	cleanup_free char *content = malloc(size + 1);
	struct hf_entry *entry;
	struct hf_error err;

	cr_assert(content);
	for (size_t i = 0; i < size; i++)
		content[i] = (char)('a' + (i * i / 7) % 26);
	content[size] = '\0';
	entry = add("large", content, size);
	cr_assert_eq(hf_pack_writer_new(&s.store, 7, &writer, &err), 0);
	cr_assert_eq(
		hf_pack_begin_member(writer, entry, &entry->location, &err), 0);
	for (size_t done = 0; done < size; done += 10007) {
		const size_t left = size - done;

		cr_assert_eq(hf_pack_write(writer, content + done,
					   left < 10007 ? left : 10007, &err),
			     0);
	}
	cr_assert_eq(hf_pack_end_member(writer, &entry->hash, &err), 0);
	cr_expect_eq(hf_pack_writer_size(writer), size);
	cr_assert_eq(hf_pack_commit(writer, &err), 0);
	cr_expect_eq(entry->location.pack, 7);
	expect_content(entry, content);
}

Test(pack, a_content_of_another_size_is_refused)
{
	cleanup_pack_writer struct hf_pack_writer *writer = NULL;
	struct hf_entry *const entry = add("a", "12345", 5);
	struct hf_error err;

	cr_assert_eq(hf_pack_writer_new(&s.store, 1, &writer, &err), 0);
	cr_assert_eq(
		hf_pack_begin_member(writer, entry, &entry->location, &err), 0);
	cr_expect_eq(hf_pack_write(writer, "123456", 6, &err), HF_ERR_CHANGED);
	cr_expect_eq(hf_pack_write(writer, "1234", 4, &err), 0);
	cr_expect_eq(hf_pack_end_member(writer, &entry->hash, &err),
		     HF_ERR_CHANGED);
}

Test(pack, without_a_commit_or_a_member_nothing_is_left)
{
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];
	const int fds = hf_open_descriptors();
	struct hf_pack_writer *writer = NULL;
	struct hf_error err;

	cr_assert_eq(hf_pack_writer_new(&s.store, 1, &writer, &err), 0);
	write_member(writer, add("a", "x", 1), "x");
	cr_expect_eq(hf_count_names(packs_fd, ""), 1);
	hf_pack_writer_free(&writer);
	cr_expect_eq(hf_count_names(packs_fd, ""), 0);

	cr_assert_eq(hf_pack_writer_new(&s.store, 1, &writer, &err), 0);
	cr_assert_eq(hf_pack_commit(writer, &err), 0);
	hf_pack_writer_free(&writer);
	cr_expect_eq(hf_count_names(packs_fd, ""), 0);
	cr_expect_eq(hf_open_descriptors(), fds);
}

/* -- many at once ---------------------------------------------------------- */

static char calls[512];

static int note_begin(const struct hf_pack_want *want, struct hf_error *err)
{
	(void)strncat(calls, "b", 2);
	(void)strncat(calls, want->context, 8);
	if (strcmp(want->context, "3") == 0)
		return hf_fail(err, HF_ERR_DENIED, "refused");
	return 0;
}

static int note_data(const struct hf_pack_want *want, const void *data,
		     size_t len, struct hf_error *err)
{
	(void)data;
	(void)len;
	(void)strncat(calls, "d", 2);
	(void)strncat(calls, want->context, 8);
	if (strcmp(want->context, "4") == 0)
		return hf_fail(err, HF_ERR_LIMIT, "given up");
	return 0;
}

static void note_end(const struct hf_pack_want *want, int result,
		     const struct hf_error *err)
{
	(void)strncat(calls, result < 0 ? "E" : "e", 2);
	(void)strncat(calls, want->context, 8);
	cr_expect_eq(result, err->code);
}

static const struct hf_pack_sink note = {note_begin, note_data, note_end};

static struct hf_pack_want want_of(const struct hf_entry *entry, void *context)
{
	return (struct hf_pack_want){
		.location = entry->location,
		.size = entry->stat.size,
		.hash = entry->hash,
		.context = context,
	};
}

Test(pack, wants_are_served_in_one_pass)
{
	char names[6][2] = {"0", "1", "2", "3", "4", "5"};
	struct hf_pack_want wants[6];
	struct hf_error err;

	write_samples();
	/* 0 and 1: two files with one content; 3 is refused by begin, 4 given
	 * up at its first data. */
	wants[0] = want_of(&tree.entries[0], names[0]);
	wants[1] = want_of(&tree.entries[0], names[1]);
	wants[2] = want_of(&tree.entries[1], names[2]);
	wants[3] = want_of(&tree.entries[3], names[3]);
	wants[4] = want_of(&tree.entries[5], names[4]);
	wants[5] = want_of(&tree.entries[6], names[5]);
	cr_expect_eq(hf_pack_read(&s.store, wants, 6, &note, &err),
		     HF_ERR_DENIED);
	cr_expect_str_eq(err.text, "refused");
	cr_expect_str_eq(calls, "b0b1d0d1e0e1b2e2b3b4d4E4b5d5e5");
}

Test(pack, a_want_that_is_not_there_does_not_hinder_others)
{
	char names[4][2] = {"0", "1", "2", "5"};
	struct hf_pack_want wants[4];
	struct hf_error err;

	write_samples();
	for (size_t i = 0; i < 4; i++)
		wants[i] = want_of(&tree.entries[i], names[i]);
	wants[1].location.offset += 1;
	wants[2].hash.bytes[5] ^= 1;
	cr_expect_eq(hf_pack_read(&s.store, wants, 4, &note, &err),
		     HF_ERR_CORRUPT);
	cr_expect(strstr(err.text, "no member is where it should be"), "%s",
		  err.text);
	cr_expect_str_eq(calls, "b0d0e0b1E1b2d2E2b5d5e5");
}

Test(pack, a_missing_pack_is_damage_with_its_name)
{
	char name[] = "0";
	struct hf_pack_want want;
	struct hf_error err;

	write_samples();
	want = want_of(&tree.entries[0], name);
	want.location.pack = 9;
	cr_expect_eq(hf_pack_read(&s.store, &want, 1, &note, &err),
		     HF_ERR_CORRUPT);
	cr_expect_str_eq(err.text, "pack '000009.tar.zst' is missing");
	cr_expect_str_eq(calls, "b0E0");
}

Test(pack, of_a_member_with_another_size_nothing_is_passed_on)
{
	char name[] = "0";
	struct hf_pack_want want;
	struct hf_error err;

	write_samples();
	want = want_of(&tree.entries[0], name);
	want.size++;
	cr_expect_eq(hf_pack_read(&s.store, &want, 1, &note, &err),
		     HF_ERR_CORRUPT);
	cr_expect_str_eq(calls, "b0E0");
}

/* -- damage ---------------------------------------------------------------- */

static void read_file(int dir_fd, const char *name, struct hf_buffer *text)
{
	cleanup_fd int fd = hf_file_open_read_at(dir_fd, name);

	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_read_all(fd, 1 << 20, text), 0);
}

static void write_file(int dir_fd, const char *name, const char *data,
		       size_t len)
{
	cleanup_fd int fd = -1;

	(void)!hf_file_unlink_at(dir_fd, name);
	fd = hf_file_create_at(dir_fd, name, 0600);
	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_write(fd, data, len), 0);
}

/* Everything that is read in spite of damage is right. */
static size_t count_readable(void)
{
	size_t count = 0;

	for (size_t i = 0; i < HF_COUNT(samples); i++) {
		cleanup_buffer struct hf_buffer read = HF_BUFFER_INIT;
		struct hf_error err;
		int rc;

		hf_buffer_add(&read, "", 0);
		rc = hf_stored_read(&s.store, &tree.entries[i], &read, &err);
		if (rc == 0) {
			cr_expect_str_eq(read.data, samples[i].content);
			count++;
			continue;
		}
		cr_expect_eq(rc, HF_ERR_CORRUPT, "%s", err.text);
		cr_expect(strstr(err.text, "000001.tar.zst"), "%s", err.text);
	}
	return count;
}

Test(pack, cut_anywhere_it_is_damaged)
{
	cleanup_buffer struct hf_buffer whole = HF_BUFFER_INIT;
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];

	write_samples();
	read_file(packs_fd, "000001.tar.zst", &whole);
	cr_expect_eq(count_readable(), HF_COUNT(samples));
	for (size_t len = 0; len + 16 < whole.len; len += 3) {
		write_file(packs_fd, "000001.tar.zst", whole.data, len);
		cr_expect_lt(count_readable(), HF_COUNT(samples), "%zu", len);
	}
}

Test(pack, with_a_flipped_byte_nothing_wrong_is_read)
{
	cleanup_buffer struct hf_buffer whole = HF_BUFFER_INIT;
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];
	size_t damaged = 0;

	write_samples();
	read_file(packs_fd, "000001.tar.zst", &whole);
	for (size_t i = 0; i < whole.len; i++) {
		whole.data[i] = (char)(whole.data[i] ^ 0x55);
		write_file(packs_fd, "000001.tar.zst", whole.data, whole.len);
		damaged += count_readable() < HF_COUNT(samples);
		whole.data[i] = (char)(whole.data[i] ^ 0x55);
	}
	/* Not each byte belongs to a content; most do. */
	cr_expect_gt(damaged, whole.len / 4);
}
