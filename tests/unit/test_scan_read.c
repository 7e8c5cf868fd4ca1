/* SPDX-License-Identifier: MIT */
/* Reading what a scan found, while others write it. */
#include "core/scan.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "support/check.h"
#include "support/scanned.h"
#include "support/tmpdir.h"

#define KIB	((size_t)1024)
#define MIB	(1024 * KIB)

static char *root;
static int root_fd = -1;
static struct hf_policy policy = HF_POLICY_INIT;
static struct hf_scan_options options;
static struct hf_tree tree = HF_TREE_INIT;

static void plant(void)
{
	root = hf_tmpdir_make();
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hf_make_policy(&policy, "**", "");
	options = (struct hf_scan_options){
		.policy = &policy, .root_fd = root_fd, .root = root,
	};
}

static void cut(void)
{
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
	hf_tree_done(&tree);
	hf_policy_done(&policy);
	(void)close(root_fd);
	hf_tmpdir_remove(root);
}

TestSuite(scan_read, .init = plant, .fini = cut);

static void scan(void)
{
	struct hf_error err;

	hf_tree_done(&tree);
	cr_assert_eq(hf_scan(&options, &tree, NULL, &err), 0, "%s", err.text);
}

/* A strict or tolerant reading; no descriptor may be left. */
static int read_all(const struct hf_scan_sink *sink, bool is_tolerant,
		    struct hf_error *err)
{
	const int descriptors = hf_open_descriptors();
	const int rc =
		hf_scan_read(&options, &tree, sink, is_tolerant, NULL, err);

	cr_expect_eq(hf_open_descriptors(), descriptors, "leaked");
	return rc;
}

static void put_bytes(const char *name, const char *data, size_t len)
{
	const int fd = openat(root_fd, name,
			      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, data, len), (ssize_t)len);
	(void)close(fd);
}

static bool has_hash_of(const char *name, const void *data, size_t len)
{
	const struct hf_entry *const entry = hf_tree_find(&tree, name);
	const struct hf_hash hash = hf_hash_of(data, len);

	return entry && entry->has_hash && hf_hash_equal(&entry->hash, &hash);
}

/* -- a sink that remembers ------------------------------------------------- */

struct seen {
	struct hf_buffer content;	/* of the last entry */
	unsigned begun;
	unsigned ended;
	unsigned again;
	unsigned meddle_count;		/* times the file is changed */
	const char *meddle_name;
};

static int on_begin(void *context, unsigned worker,
		    const struct hf_entry *entry, struct hf_error *err)
{
	struct seen *const seen = context;

	(void)worker;
	(void)entry;
	(void)err;
	hf_buffer_clear(&seen->content);
	seen->begun++;
	return 0;
}

static int on_data(void *context, unsigned worker, const void *data,
		   size_t len, struct hf_error *err)
{
	struct seen *const seen = context;

	(void)worker;
	(void)err;
	hf_buffer_add(&seen->content, data, len);
	if (seen->meddle_count > 0) {
		const int fd = openat(root_fd, seen->meddle_name,
				      O_WRONLY | O_APPEND | O_CLOEXEC);

		seen->meddle_count--;
		cr_assert_eq(write(fd, "+", 1), 1);
		(void)close(fd);
	}
	return 0;
}

static int on_end(void *context, unsigned worker, struct hf_entry *entry,
		  struct hf_error *err)
{
	struct seen *const seen = context;

	(void)worker;
	cr_assert(entry->has_hash);
	(void)err;
	seen->ended++;
	entry->location.pack = 7;
	return 0;
}

static void on_again(void *context, unsigned worker,
		     const struct hf_entry *entry)
{
	struct seen *const seen = context;

	(void)worker;
	(void)entry;
	seen->again++;
}

static struct hf_scan_sink sink_of(struct seen *seen)
{
	return (struct hf_scan_sink){
		.context = seen, .begin = on_begin, .data = on_data,
		.end = on_end, .again = on_again,
	};
}

/* -- tests ------------------------------------------------------------------ */

Test(scan_read, every_size)
{
	static const size_t sizes[] = {
		0, 1, 4096, 256 * KIB - 1, 256 * KIB, 256 * KIB + 1,
		512 * KIB, 3 * MIB + 5,
	};
	char *const data = malloc(4 * MIB);

	cr_assert(data);
	for (size_t i = 0; i < 4 * MIB; i++)
		data[i] = (char)(i * 7 + i / 256);
	for (size_t i = 0; i < HF_COUNT(sizes); i++) {
		struct seen seen = { .content = HF_BUFFER_INIT };
		const struct hf_scan_sink sink = sink_of(&seen);
		struct hf_error err;

		put_bytes("f", data, sizes[i]);
		scan();
		cr_assert_eq(read_all(&sink, false, &err), 0, "%s", err.text);
		cr_expect(has_hash_of("f", data, sizes[i]), "%zu", sizes[i]);
		cr_expect_eq(seen.begun, 1);
		cr_expect_eq(seen.ended, 1);
		cr_expect_eq(seen.again, 0);
		cr_expect_eq(seen.content.len, sizes[i]);
		cr_expect(sizes[i] == 0 || memcmp(seen.content.data, data,
						  sizes[i]) == 0);
		cr_expect_eq(hf_tree_find(&tree, "f")->location.pack, 7);
		hf_buffer_done(&seen.content);
	}
	free(data);
}

Test(scan_read, holes_are_zeros)
{
	static const off_t places[] = { 0, MIB - 3, 5 * MIB };
	char *const data = calloc(1, 9 * MIB);
	struct seen seen = { .content = HF_BUFFER_INIT };
	const struct hf_scan_sink sink = sink_of(&seen);
	struct hf_error err;
	int fd;

	cr_assert(data);
	fd = openat(root_fd, "f", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	cr_assert_eq(ftruncate(fd, 9 * MIB), 0);
	for (size_t i = 0; i < HF_COUNT(places); i++) {
		cr_assert_eq(pwrite(fd, "data", 4, places[i]), 4);
		memcpy(data + places[i], "data", 4);
	}
	(void)close(fd);
	scan();
	cr_assert_eq(read_all(&sink, false, &err), 0, "%s", err.text);
	cr_expect(has_hash_of("f", data, 9 * MIB));
	cr_assert_eq(seen.content.len, 9 * MIB);
	cr_expect_eq(memcmp(seen.content.data, data, 9 * MIB), 0);
	hf_buffer_done(&seen.content);
	free(data);
}

Test(scan_read, changed_once_while_being_read)
{
	struct seen seen = { .meddle_count = 2, .meddle_name = "f" };
	const struct hf_scan_sink sink = sink_of(&seen);
	struct hf_error err;

	put_bytes("f", "abc", 3);
	scan();
	cr_assert_eq(read_all(&sink, false, &err), 0, "%s", err.text);
	cr_expect(has_hash_of("f", "abc++", 5));
	cr_expect_eq(hf_tree_find(&tree, "f")->stat.size, 5);
	cr_expect(hf_tree_find(&tree, "f")->is_racy);
	cr_expect_eq(seen.begun, 3);
	cr_expect_eq(seen.again, 2);
	cr_expect_eq(seen.ended, 1);
	cr_expect_eq(seen.content.len, 5);
	hf_buffer_done(&seen.content);
}

Test(scan_read, never_at_rest)
{
	struct seen seen = { .meddle_count = 99, .meddle_name = "f\t" };
	const struct hf_scan_sink sink = sink_of(&seen);
	struct hf_error err = { .code = 0 };

	put_bytes("f\t", "abc", 3);
	scan();
	cr_expect_eq(read_all(&sink, false, &err), HF_ERR_CHANGED);
	cr_expect_str_eq(err.text,
			 "cannot record 'f\\t': it keeps changing");
	cr_expect_eq(seen.begun, 3);
	cr_expect_eq(seen.again, 3);
	cr_expect_eq(read_all(&sink, true, &err), 0);
	cr_expect_not(hf_tree_find(&tree, "f\t")->has_hash);
	hf_buffer_done(&seen.content);
}

Test(scan_read, changed_between_scan_and_read)
{
	struct hf_error err;

	put_bytes("f", "abc", 3);
	scan();
	put_bytes("f", "longer", 6);
	cr_assert_eq(fchmodat(root_fd, "f", 0600, 0), 0);
	cr_assert_eq(read_all(NULL, false, &err), 0, "%s", err.text);
	cr_expect(has_hash_of("f", "longer", 6));
	cr_expect_eq(hf_tree_find(&tree, "f")->stat.mode, 0600);
	cr_expect(hf_tree_find(&tree, "f")->is_racy);
}

/* What a tool that restores mtimes does: size and mtime are as they were. */
Test(scan_read, only_ctime_moved)
{
	struct seen seen = { .content = HF_BUFFER_INIT };
	const struct hf_scan_sink sink = sink_of(&seen);
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { 0 } };
	struct hf_error err;
	struct stat was;

	put_bytes("f", "abc", 3);
	cr_assert_eq(fstatat(root_fd, "f", &was, 0), 0);
	(void)usleep(20 * 1000);
	scan();
	put_bytes("f", "xyz", 3);
	times[1] = was.st_mtim;
	cr_assert_eq(utimensat(root_fd, "f", times, 0), 0);
	cr_assert_eq(read_all(&sink, false, &err), 0, "%s", err.text);
	cr_expect(has_hash_of("f", "xyz", 3));
	cr_assert_eq(fstatat(root_fd, "f", &was, 0), 0);
	cr_expect_eq(hf_tree_find(&tree, "f")->stat.ctime_ns,
		     was.st_ctim.tv_sec * 1000000000L + was.st_ctim.tv_nsec);
	hf_buffer_done(&seen.content);
}

/* Stores through it need not move the ctime: what is recorded proves nothing. */
Test(scan_read, mapped_by_a_writer)
{
	struct seen seen = { .content = HF_BUFFER_INIT };
	const struct hf_scan_sink sink = sink_of(&seen);
	struct hf_error err;
	char *map;
	int fd;

	put_bytes("f", "abcd", 4);
	fd = openat(root_fd, "f", O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(map, MAP_FAILED);
	(void)close(fd);
	map[0] = 'x';
	/* The clock behind ctime ticks every few milliseconds. */
	(void)usleep(20 * 1000);

	scan();
	cr_expect_not(hf_tree_find(&tree, "f")->is_racy);
	cr_assert_eq(read_all(NULL, false, &err), 0, "%s", err.text);
	cr_expect_not(hf_tree_find(&tree, "f")->is_racy, "nothing is recorded");
	scan();
	cr_assert_eq(read_all(&sink, false, &err), 0, "%s", err.text);
	cr_expect(has_hash_of("f", "xbcd", 4));
	cr_expect(hf_tree_find(&tree, "f")->is_racy);

	cr_assert_eq(munmap(map, 4), 0);
	scan();
	cr_assert_eq(read_all(&sink, false, &err), 0, "%s", err.text);
	cr_expect_not(hf_tree_find(&tree, "f")->is_racy);
	hf_buffer_done(&seen.content);
}

static void make_link(void)
{
	cr_assert_eq(symlinkat("/dev/zero", root_fd, "f"), 0);
}

static void make_fifo(void)
{
	cr_assert_eq(mkfifoat(root_fd, "f", 0600), 0);
}

static void make_directory(void)
{
	cr_assert_eq(mkdirat(root_fd, "f", 0700), 0);
}

/* No link is followed, no fifo waited for. */
Test(scan_read, another_kind_by_now)
{
	static const struct {
		void (*make)(void);
		enum hf_kind kind;
	} rows[] = {
		{make_link, HF_KIND_LINK},
		{make_fifo, HF_KIND_FIFO},
		{make_directory, HF_KIND_DIRECTORY},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const struct hf_entry *entry;
		struct hf_error err;

		put_bytes("f", "abc", 3);
		scan();
		cr_assert_eq(unlinkat(root_fd, "f", 0), 0);
		rows[i].make();
		cr_assert_eq(read_all(NULL, false, &err), 0, "%s", err.text);
		entry = hf_tree_find(&tree, "f");
		cr_expect_eq(entry->stat.kind, rows[i].kind);
		cr_expect_not(entry->has_hash);
		if (rows[i].kind == HF_KIND_LINK)
			cr_expect_str_eq(entry->link, "/dev/zero");
		(void)unlinkat(root_fd, "f",
			       rows[i].kind == HF_KIND_DIRECTORY ?
				       AT_REMOVEDIR :
				       0);
	}
}

Test(scan_read, gone_by_now)
{
	struct hf_error err = { .code = 0 };

	put_bytes("f", "abc", 3);
	scan();
	cr_assert_eq(unlinkat(root_fd, "f", 0), 0);
	cr_expect_eq(read_all(NULL, false, &err), HF_ERR_CHANGED);
	cr_expect_str_eq(err.text,
			 "cannot record 'f': it has just vanished");

	put_bytes("f", "abc", 3);
	scan();
	cr_assert_eq(unlinkat(root_fd, "f", 0), 0);
	cr_expect_eq(read_all(NULL, true, &err), 0);
	cr_expect_not(hf_tree_find(&tree, "f")->has_hash);
	cr_expect_eq(hf_tree_find(&tree, "f")->stat.kind, HF_KIND_ABSENT);
}

/* What the link leads to must never be taken for what was protected. */
Test(scan_read, directory_replaced_by_a_link)
{
	struct hf_error err = { .code = 0 };

	cr_assert_eq(mkdirat(root_fd, "d", 0755), 0);
	cr_assert_eq(mkdirat(root_fd, "twin", 0755), 0);
	put_bytes("d/f", "abc", 3);
	put_bytes("twin/f", "abc", 3);
	scan();
	cr_assert_eq(renameat(root_fd, "d", root_fd, "away"), 0);
	cr_assert_eq(symlinkat("twin", root_fd, "d"), 0);
	cr_expect_eq(read_all(NULL, false, &err), HF_ERR_SYSTEM);
	cr_expect(strstr(err.text, "cannot read 'd/f': "), "%s", err.text);
	cr_expect_eq(read_all(NULL, true, &err), 0);
	cr_expect_not(hf_tree_find(&tree, "d/f")->has_hash);
	cr_expect(hf_tree_find(&tree, "twin/f")->has_hash);
}

Test(scan_read, unreadable_for_an_ordinary_user)
{
	struct hf_error err = { .code = 0 };

	put_bytes("f", "abc", 3);
	put_bytes("g", "abc", 3);
	cr_assert_eq(fchmodat(root_fd, "f", 0, 0), 0);
	hf_become_user(root);
	scan();
	cr_expect_eq(read_all(NULL, false, &err), HF_ERR_SYSTEM);
	cr_expect_str_eq(err.text, "cannot read 'f': Permission denied");
	cr_expect_neq(err.hint[0], '\0');
	cr_expect_eq(read_all(NULL, true, &err), 0);
	cr_expect_not(hf_tree_find(&tree, "f")->has_hash);
	cr_expect(has_hash_of("g", "abc", 3));
}
