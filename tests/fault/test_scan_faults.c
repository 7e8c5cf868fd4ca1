/* SPDX-License-Identifier: MIT */
/*
 * Every call of a scan and of the reading fails in turn.  A strict look fails or
 * is complete; a tolerant one may see less, but never calls all that it could
 * not look at for want of memory or descriptors missing.
 */
#include "core/scan.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "support/check.h"
#include "support/fault.h"
#include "support/scanned.h"
#include "support/tmpdir.h"

/* If wrapping is lost, so are most of these; they are about 150. */
#define POINTS_MIN	100u

static char *top;
static int top_fd = -1;
static int root_fd = -1;
static char root[64];
static struct hf_policy policy = HF_POLICY_INIT;
static struct hf_tree reference = HF_TREE_INIT;
static char *reference_text;

static struct hf_scan_options options_of(bool is_tolerant)
{
	return (struct hf_scan_options){
		.policy = &policy,
		.root_fd = root_fd,
		.root = root,
		.before = reference.count > 0 ? &reference : NULL,
		.is_tolerant = is_tolerant,
	};
}

/* All of it: scan, read, side files. */
static int look(bool is_tolerant, struct hf_tree *tree, struct hf_error *err)
{
	const struct hf_scan_options options = options_of(is_tolerant);
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	int rc;

	rc = hf_scan(&options, tree, &notes, err);
	if (rc < 0)
		return rc;
	rc = hf_scan_read(&options, tree, NULL, is_tolerant, NULL, err);
	if (rc < 0)
		return rc;
	return hf_scan_side_files(&options,
				  options.before ? options.before : tree, tree,
				  err);
}

static void plant(void)
{
	static const char *const files[] = {
		"root/x.toml", "root/a/y.toml", "root/d.db", "root/d.db-wal",
		"root/.git/config", "out/o.toml",
	};
	char patterns[256];
	struct hf_error err;
	int fd;

	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(mkdirat(top_fd, "root", 0755), 0);
	cr_assert_eq(mkdirat(top_fd, "root/a", 0755), 0);
	cr_assert_eq(mkdirat(top_fd, "root/.git", 0755), 0);
	cr_assert_eq(mkdirat(top_fd, "out", 0755), 0);
	for (size_t i = 0; i < HF_COUNT(files); i++)
		hf_put_file(top_fd, files[i], files[i]);
	cr_assert_eq(symlinkat("y.toml", top_fd, "root/a/l.toml"), 0);
	fd = openat(top_fd, "root/sparse.toml",
		    O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	cr_assert_eq(ftruncate(fd, 1 << 20), 0);
	cr_assert_eq(pwrite(fd, "x", 1, 600000), 1);
	(void)close(fd);

	(void)snprintf(root, sizeof(root), "%s/root", top);
	root_fd = openat(top_fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(patterns, sizeof(patterns),
		       "**/*.toml *.db none/such .git/config %s/out/*.toml",
		       top);
	hf_make_policy(&policy, patterns, "a/y.toml");
	cr_assert_eq(look(false, &reference, &err), 0, "%s", err.text);
	reference_text = strdup(hf_tree_text(&reference));
	cr_assert(reference_text);
	cr_assert_eq(reference.count, 15, "%s", reference_text);
}

static void cut(void)
{
	free(reference_text);
	hf_tree_done(&reference);
	hf_policy_done(&policy);
	(void)close(root_fd);
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(scan_faults, .init = plant, .fini = cut);

/* The same entries with the same content? */
static void check_complete(const struct hf_tree *tree, unsigned n)
{
	cr_expect_str_eq(hf_tree_text(tree), reference_text, "n=%u, %s", n,
			 fault_call());
	for (size_t i = 0; i < tree->count && i < reference.count; i++) {
		const struct hf_entry *const was = &reference.entries[i];
		const struct hf_entry *const is = &tree->entries[i];

		cr_expect_eq(is->has_hash, was->has_hash, "n=%u: %s", n,
			     is->path);
		cr_expect(hf_hash_equal(&is->hash, &was->hash), "n=%u: %s", n,
			  is->path);
		cr_expect_eq(is->stat.ino, was->stat.ino);
	}
}

/* Nothing wrong may be said of what was seen. */
static void check_tolerant(const struct hf_tree *tree, unsigned n)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const is = &tree->entries[i];
		const struct hf_entry *const was =
			hf_tree_find(&reference, is->path);

		cr_assert(was, "n=%u: %s is no entry", n, is->path);
		if (is->stat.kind != HF_KIND_ABSENT)
			cr_expect_eq(is->stat.kind, was->stat.kind);
		if (is->has_hash)
			cr_expect(hf_hash_equal(&is->hash, &was->hash));
	}
}

static unsigned run(int error, bool is_persistent, bool is_tolerant)
{
	/* Then it is we who fail, not the tree. */
	const bool is_ours = error == EMFILE || error == ENOMEM;
	bool is_fired = true;
	unsigned n = 1;
	unsigned points = 0;

	for (; is_fired; n++) {
		cleanup_tree struct hf_tree tree = HF_TREE_INIT;
		struct hf_error err = { .code = 0 };
		const int descriptors = hf_open_descriptors();
		int rc;

		fault_arm(n, error, is_persistent);
		rc = look(is_tolerant, &tree, &err);
		is_fired = fault_disarm();
		points += is_fired;

		cr_expect_eq(hf_open_descriptors(), descriptors,
			     "n=%u, %s: leaked", n, fault_call());
		cr_expect_eq(rc < 0, err.code < 0, "n=%u, %s", n,
			     fault_call());
		if (rc < 0)
			cr_expect(is_fired && err.text[0] != '\0', "n=%u", n);
		else if (is_tolerant && !is_ours)
			check_tolerant(&tree, n);
		else if (!is_persistent)
			check_complete(&tree, n);
		if (is_fired && rc == 0 && !is_tolerant)
			cr_expect(fault_may_be_ignored(),
				  "n=%u, %s: failure swallowed", n,
				  fault_call());
	}
	fault_expect_all_tried(n - 1);
	return points;
}

Test(scan_faults, strict)
{
	static const int errors[] = { EIO, ENOMEM, EMFILE, EINTR };

	for (size_t e = 0; e < HF_COUNT(errors); e++) {
		cr_expect_gt(run(errors[e], false, false), POINTS_MIN);
		cr_expect_gt(run(errors[e], true, false), POINTS_MIN);
	}
}

Test(scan_faults, tolerant)
{
	static const int errors[] = { EIO, EACCES, EMFILE, EINTR };

	for (size_t e = 0; e < HF_COUNT(errors); e++) {
		cr_expect_gt(run(errors[e], false, true), POINTS_MIN);
		cr_expect_gt(run(errors[e], true, true), POINTS_MIN);
	}
}
