/* SPDX-License-Identifier: MIT */
/* Scans of what lies outside the root, is locked, very deep or very large. */
#include "core/scan.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"
#include "support/check.h"
#include "support/scanned.h"
#include "support/tmpdir.h"

static char *top;		/* holds the root and what is outside */
static int top_fd = -1;
static char root[64];
static int root_fd = -1;

static void plant(void)
{
	static const char *const directories[] = {
		"root", "root/in", "out", "out/deep",
	};
	static const char *const files[] = {
		"root/x.toml", "root/in/y.toml", "out/o.toml",
		"out/deep/p.toml",
	};

	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < HF_COUNT(directories); i++)
		cr_assert_eq(mkdirat(top_fd, directories[i], 0755), 0);
	for (size_t i = 0; i < HF_COUNT(files); i++)
		hf_put_file(top_fd, files[i], files[i]);
	cr_assert_eq(symlinkat("out", top_fd, "alias"), 0);
	(void)snprintf(root, sizeof(root), "%s/root", top);
	root_fd = openat(top_fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void cut(void)
{
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
	(void)close(root_fd);
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(scan_hard, .init = plant, .fini = cut);

struct look {
	struct hf_tree tree;
	struct hf_buffer notes;
	struct hf_error err;
	int rc;
};

static void look_done(struct look *look)
{
	hf_tree_done(&look->tree);
	hf_buffer_done(&look->notes);
}

#define cleanup_look	CLEANUP(look_done)

static void scan_again(struct look *look, const char *protect,
		       bool is_tolerant, const struct hf_tree *before)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	const struct hf_scan_options options = {
		.policy = &policy,
		.root_fd = root_fd,
		.root = root,
		.is_tolerant = is_tolerant,
		.before = before,
	};
	const int descriptors = hf_open_descriptors();

	*look = (struct look){ .rc = 0 };
	hf_make_policy(&policy, protect, "");
	look->rc = hf_scan(&options, &look->tree, &look->notes, &look->err);
	cr_expect_eq(hf_open_descriptors(), descriptors, "leaked");
}

static void scan(struct look *look, const char *protect, bool is_tolerant)
{
	scan_again(look, protect, is_tolerant, NULL);
}

/* "%" in a text stands for the top directory. */
static const char *with_top(char *out, size_t size, const char *text)
{
	size_t len = 0;

	for (; *text != '\0' && len + strlen(top) + 1 < size; text++) {
		if (*text == '%')
			len += (size_t)snprintf(out + len, size - len, "%s",
						top);
		else
			out[len++] = *text;
	}
	out[len] = '\0';
	return out;
}

/* What a link leads to that was a directory before is nobody's. */
Test(scan_hard, swapped_for_a_link)
{
	static const char *const protects[] = {
		"%/out/*.toml",
		"%/out/deep/*.toml",
		"%/out/o.toml %/out/x.toml",
		"%/alias/*.toml",
		"%/alias/o.toml %/alias/x.toml",
	};

	for (size_t i = 0; i < HF_COUNT(protects); i++) {
		cleanup_look struct look before;
		cleanup_look struct look after;
		char protect[256];
		char alien[128];

		(void)with_top(protect, sizeof(protect), protects[i]);
		scan(&before, protect, false);
		cr_assert_eq(before.rc, 0);

		cr_assert_eq(renameat(top_fd, "out", top_fd, "gone"), 0);
		cr_assert_eq(symlinkat("root", top_fd, "out"), 0);
		scan_again(&after, protect, true, &before.tree);
		cr_assert_eq(after.rc, 0, "%s", after.err.text);
		cr_expect_null(hf_tree_find(&after.tree, "x.toml"), "%s",
			       hf_tree_text(&after.tree));
		(void)with_top(alien, sizeof(alien), "%/out");
		cr_expect_eq(hf_tree_find(&after.tree, alien)->stat.kind,
			     HF_KIND_LINK);
		cr_assert_eq(unlinkat(top_fd, "out", 0), 0);
		cr_assert_eq(renameat(top_fd, "gone", top_fd, "out"), 0);
	}
}

Test(scan_hard, outside_the_root)
{
	static const struct {
		const char *protect;
		const char *entries;
		const char *notes;
	} rows[] = {
		{"%/out/*.toml", "Ad /tmp\nAd %\nAd %/out\nPf %/out/o.toml\n",
		 ""},
		{"%/out/deep/",
		 "Ad /tmp\nAd %\nAd %/out\nPd %/out/deep\n"
		 "Pf %/out/deep/p.toml\n",
		 ""},
		/* The fixed part is made canonical. */
		{"%/alias/*.toml", "Ad /tmp\nAd %\nAd %/out\nPf %/out/o.toml\n",
		 ""},
		{"%/alias/none", "Ad /tmp\nAd %\nAd %/out\nP- %/out/none\n", ""},
		{"%/none/a/b", "Ad /tmp\nAd %\nP- %/none/a/b\n", ""},
		{"%/none/*.toml", "", ""},
		{"%/alias",
		 "Ad /tmp\nAd %\nPl %/alias\n",
		 "the link '%/alias' is protected, its target '%/out' is "
		 "not\n"},
		/* Named from outside, yet inside. */
		{"%/root/*.toml", "Ad .\nPf x.toml\n", ""},
		{"%/root/in/y.toml x.toml",
		 "Ad .\nAd in\nPf in/y.toml\nPf x.toml\n", ""},
		/* One walk comes across the root of the other. */
		{"*.toml %/*/*.toml",
		 "Ad .\nPf x.toml\nAd /tmp\nAd %\nAd %/out\nPf %/out/o.toml\n",
		 ""},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_look struct look look;
		char text[1024];

		scan(&look, with_top(text, sizeof(text), rows[i].protect),
		     false);
		cr_assert_eq(look.rc, 0, "%s: %s", rows[i].protect,
			     look.err.text);
		cr_expect_str_eq(hf_tree_text(&look.tree),
				 with_top(text, sizeof(text), rows[i].entries),
				 "%s: %s", rows[i].protect,
				 hf_tree_text(&look.tree));
		cr_expect_str_eq(look.notes.data ? look.notes.data : "",
				 with_top(text, sizeof(text), rows[i].notes),
				 "%s", rows[i].protect);
	}
}

Test(scan_hard, a_locked_directory)
{
	cleanup_look struct look look;
	cleanup_look struct look tolerant;

	cr_assert_eq(fchmodat(top_fd, "root/in", 0, 0), 0);
	hf_become_user(top);
	scan(&look, "x.toml in/y.toml", false);
	scan(&tolerant, "x.toml in/y.toml", true);

	cr_assert_eq(look.rc, HF_ERR_SYSTEM);
	cr_expect_str_eq(look.err.text,
			 "cannot read directory 'in': Permission denied");
	cr_expect_str_eq(look.err.hint, "make it readable, or take it out of "
					"the protected set with --exclude "
					"'in/'");
	cr_expect_eq(look.tree.count, 0);

	cr_assert_eq(tolerant.rc, 0, "%s", tolerant.err.text);
	cr_expect_str_eq(hf_tree_text(&tolerant.tree),
			 "Ad .\nAd in\nP- in/y.toml\nPf x.toml\n");
	cr_expect_str_eq(tolerant.notes.data, "directory 'in' cannot be read: "
					      "Permission denied\n");
}

/* What the hint names must work. */
Test(scan_hard, a_locked_directory_is_excluded)
{
	cleanup_look struct look wild;
	cleanup_look struct look plain;

	cr_assert_eq(fchmodat(top_fd, "root/in", 0, 0), 0);
	hf_become_user(top);
	scan(&wild, "x.toml **/y.toml !in/", false);
	scan(&plain, "x.toml in/y.toml !in/", false);
	cr_expect_eq(wild.rc, 0, "%s", wild.err.text);
	cr_expect_eq(plain.rc, 0, "%s", plain.err.text);
}

Test(scan_hard, an_ancestor_outside_need_not_be_readable)
{
	cleanup_look struct look look;
	char text[256];

	/* Search permission only, as on /home of many machines. */
	cr_assert_eq(fchmodat(top_fd, "out", 0711, 0), 0);
	hf_become_user(top);
	scan(&look, with_top(text, sizeof(text), "%/out/deep/*.toml"), false);
	cr_assert_eq(look.rc, 0, "%s", look.err.text);
	cr_expect_str_eq(hf_tree_text(&look.tree),
			 with_top(text, sizeof(text),
				  "Ad /tmp\nAd %\nAd %/out\nAd %/out/deep\n"
				  "Pf %/out/deep/p.toml\n"));
	cr_expect_eq(look.tree.entries[2].stat.mode, 0711);
}

/* A chain of directories of this many bytes ("d/d/d"); its descriptor. */
static int dig(size_t len)
{
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (size_t at = 0; at < len; at += 2) {
		int next;

		cr_assert_eq(mkdirat(fd, "d", 0755), 0);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cr_assert_geq(next, 0);
		(void)close(fd);
		fd = next;
	}
	return fd;
}

/* Too deep for a recursion that holds descriptors. */
static void fill_in(void)
{
	while (renameat(root_fd, "d/d", root_fd, "e") == 0) {
		(void)unlinkat(root_fd, "d", AT_REMOVEDIR);
		(void)renameat(root_fd, "e", root_fd, "d");
	}
}

Test(scan_hard, a_path_as_long_as_can_be)
{
	/* 4092 bytes of directories, a slash, a name of two. */
	const int fd = dig(4091);
	cleanup_look struct look look;
	const struct hf_entry *last;

	hf_put_file(fd, "xy", "");
	scan(&look, "**/xy", false);
	(void)unlinkat(fd, "xy", 0);
	(void)close(fd);
	fill_in();
	cr_assert_eq(look.rc, 0, "%s", look.err.text);
	cr_assert_eq(look.tree.count, 1 + 2046 + 1);
	last = &look.tree.entries[look.tree.count - 1];
	cr_expect_eq(strlen(last->path), 4094);
	cr_expect_eq(last->stat.kind, HF_KIND_FILE);
}

Test(scan_hard, a_path_longer_than_can_be)
{
	const int fd = dig(4091);
	cleanup_look struct look look;
	cleanup_look struct look other;
	cleanup_look struct look tolerant;

	hf_put_file(fd, "\x1bxyz", "");
	scan(&look, "**/*xyz", false);
	scan(&tolerant, "**/*xyz", true);
	/* What does not matter may be as long as it likes. */
	scan(&other, "**/*abc", false);
	(void)unlinkat(fd, "\x1bxyz", 0);
	(void)close(fd);
	fill_in();

	cr_expect_eq(look.rc, HF_ERR_LIMIT);
	cr_expect(strstr(look.err.text, "d/d/..."), "%s", look.err.text);
	cr_expect(strstr(look.err.text, "longer than 4095 bytes"));
	cr_expect_eq(tolerant.rc, 0);
	cr_expect_eq(tolerant.tree.count, 0);
	cr_expect(strstr(tolerant.notes.data, "was not looked at"));
	cr_expect_eq(other.rc, 0, "%s", other.err.text);
}

Test(scan_hard, directories_deeper_than_can_be)
{
	const int fd = dig(4109);
	cleanup_look struct look look;

	(void)close(fd);
	scan(&look, "**/*xyz", false);
	fill_in();
	cr_expect_eq(look.rc, HF_ERR_LIMIT);
	cr_expect(strstr(look.err.text, "longer than 4095 bytes"));
}

Test(scan_hard, many_files_on_two_threads)
{
	cleanup_look struct look look;
	char name[64];

	for (int i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "in/%d.toml", i);
		hf_put_file(root_fd, name, name);
	}
	scan(&look, "in/*.toml", false);
	cr_assert_eq(look.rc, 0, "%s", look.err.text);
	cr_assert_eq(look.tree.count, 2 + 1 + 3000);
	for (size_t i = 2; i < look.tree.count; i++) {
		const struct hf_entry *const entry = &look.tree.entries[i];

		cr_expect_eq(entry->stat.kind, HF_KIND_FILE);
		if (strcmp(entry->path, "in/y.toml") != 0)
			cr_expect_eq(entry->stat.size, strlen(entry->path));
		cr_expect_lt(hf_path_compare(look.tree.entries[i - 1].path,
					     entry->path),
			     0);
	}
}

Test(scan_hard, extended_attributes)
{
	cleanup_look struct look look;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/x.toml", root);
	if (setxattr(path, "user.colour", "red", 3, 0) < 0)
		hf_skip_now("no user attributes here");
	scan(&look, "x.toml", false);
	cr_assert_eq(look.rc, 0, "%s", look.err.text);
	cr_expect_str_eq(hf_tree_find(&look.tree, "x.toml")->xattrs,
			 "user.colour=cmVk\n");
}

/* git's racy rule: nothing can hide behind an older ctime only. */
Test(scan_hard, fresh_entries_are_racy)
{
	cleanup_look struct look look;
	int fd;

	scan(&look, "*.toml", false);
	cr_assert_eq(look.rc, 0);
	for (int i = 0; i < 1000; i++) {
		cleanup_look struct look again;

		scan(&again, "*.toml", false);
		cr_assert_eq(again.rc, 0);
		if (!hf_tree_find(&again.tree, "x.toml")->is_racy)
			break;
		(void)usleep(1000);
		cr_assert_lt(i, 999, "stays racy for ever");
	}
	/* A change from now on has a later ctime than any that was trusted. */
	fd = openat(root_fd, "x.toml", O_WRONLY | O_TRUNC | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	(void)close(fd);
	{
		cleanup_look struct look after;

		scan(&after, "*.toml", false);
		cr_expect_gt(hf_tree_find(&after.tree, "x.toml")->stat.ctime_ns,
			     hf_tree_find(&look.tree, "x.toml")->stat.ctime_ns);
	}
}
