/* SPDX-License-Identifier: MIT */
/* Reading many files on two threads. */
#include "core/scan.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "platform/system.h"
#include "support/check.h"
#include "support/scanned.h"
#include "support/tmpdir.h"

static char *root;
static int root_fd = -1;
static struct hf_policy policy = HF_POLICY_INIT;
static struct hf_scan_options options;
static struct hf_tree tree = HF_TREE_INIT;

static void plant_many(unsigned directories, unsigned files)
{
	struct hf_error err;
	char name[64];

	root = hf_tmpdir_make();
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned d = 0; d < directories; d++) {
		(void)snprintf(name, sizeof(name), "d%u", d);
		cr_assert_eq(mkdirat(root_fd, name, 0755), 0);
		for (unsigned f = 0; f < files; f++) {
			(void)snprintf(name, sizeof(name), "d%u/f%u", d, f);
			hf_put_file(root_fd, name, name);
		}
	}
	hf_make_policy(&policy, "**", "");
	options = (struct hf_scan_options){
		.policy = &policy, .root_fd = root_fd, .root = root,
	};
	cr_assert_eq(hf_scan(&options, &tree, NULL, &err), 0, "%s", err.text);
}

static void cut(void)
{
	hf_tree_done(&tree);
	hf_policy_done(&policy);
	(void)close(root_fd);
	hf_tmpdir_remove(root);
}

TestSuite(scan_many, .fini = cut);

Test(scan_many, enough_is_enough)
{
	cleanup_tree struct hf_tree few = HF_TREE_INIT;
	struct hf_error err;

	plant_many(3, 5);
	options.enough = 4;
	cr_assert_eq(hf_scan(&options, &few, NULL, &err), 0, "%s", err.text);
	cr_expect_eq(hf_tree_protected_count(&few), 4);
	hf_tree_done(&few);
	options.enough = 100;
	cr_assert_eq(hf_scan(&options, &few, NULL, &err), 0, "%s", err.text);
	cr_expect_eq(hf_tree_protected_count(&few), 3 + 3 * 5);
}

/* -- a sink that counts; two threads use it -------------------------------- */

struct seen {
	atomic_uint begun;
	atomic_uint ended;
	atomic_uint again;
	unsigned refuse_at;		/* the end that fails; 0: none */
};

static int on_begin(void *context, unsigned worker,
		    const struct hf_entry *entry, struct hf_error *err)
{
	struct seen *const seen = context;

	(void)entry;
	(void)err;
	cr_assert_lt(worker, 2);
	atomic_fetch_add(&seen->begun, 1);
	return 0;
}

static int on_data(void *context, unsigned worker, const void *data,
		   size_t len, struct hf_error *err)
{
	(void)context;
	(void)worker;
	(void)data;
	(void)len;
	(void)err;
	return 0;
}

static int on_end(void *context, unsigned worker, struct hf_entry *entry,
		  struct hf_error *err)
{
	struct seen *const seen = context;

	(void)worker;
	(void)entry;
	if (atomic_fetch_add(&seen->ended, 1) + 1 == seen->refuse_at)
		return hf_fail(err, HF_ERR_LIMIT, "the sink is full");
	return 0;
}

static void on_again(void *context, unsigned worker,
		     const struct hf_entry *entry)
{
	struct seen *const seen = context;

	(void)worker;
	(void)entry;
	atomic_fetch_add(&seen->again, 1);
}

static int read_into(const struct hf_scan_sink *sink, struct hf_error *err)
{
	const int descriptors = hf_open_descriptors();
	const int rc = hf_scan_read(&options, &tree, sink, false, NULL, err);

	cr_expect_eq(hf_open_descriptors(), descriptors, "leaked");
	return rc;
}

Test(scan_many, each_has_its_hash)
{
	struct seen seen = { .refuse_at = 0 };
	const struct hf_scan_sink sink = {
		.context = &seen, .begin = on_begin, .data = on_data,
		.end = on_end, .again = on_again,
	};
	struct hf_error err;
	size_t files = 0;

	plant_many(20, 100);
	cr_assert_eq(read_into(&sink, &err), 0, "%s", err.text);
	for (size_t i = 0; i < tree.count; i++) {
		const struct hf_entry *const entry = &tree.entries[i];
		const struct hf_hash hash =
			hf_hash_of(entry->path, strlen(entry->path));

		if (entry->stat.kind != HF_KIND_FILE)
			continue;
		files++;
		cr_expect(entry->has_hash, "%s", entry->path);
		cr_expect(hf_hash_equal(&entry->hash, &hash), "%s",
			  entry->path);
	}
	cr_expect_eq(files, 2000);
	cr_expect_eq(seen.begun, 2000);
	cr_expect_eq(seen.ended, 2000);
	cr_expect_eq(seen.again, 0);
}

/* -- a sink that fails in one worker while the other is busy -------------- */

#define REFUSED_END 40u
/* What a worker holds at most, see core/scan_work.c. */
#define RUN_ENTRIES 64u

struct refusal {
	struct seen seen[2];	/* by worker */
	unsigned refusing;	/* the worker whose end fails */
	atomic_int tid;		/* of its thread, once it was refused; or 0 */
};

/* The failure is recorded before the refused worker's thread ends. */
static void wait_for_refusal(struct refusal *refusal)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	for (int i = 0; i < 30000; i++) {
		const int tid = atomic_load(&refusal->tid);

		if (tid != 0 && syscall(SYS_tgkill, getpid(), tid, 0) < 0)
			return;
		(void)nanosleep(&moment, NULL);
	}
	cr_assert_fail("the other worker goes on");
}

static int begin_held(void *context, unsigned worker,
		      const struct hf_entry *entry, struct hf_error *err)
{
	struct refusal *const refusal = context;

	if (worker != refusal->refusing)
		wait_for_refusal(refusal);
	return on_begin(&refusal->seen[worker], worker, entry, err);
}

static int end_refused(void *context, unsigned worker, struct hf_entry *entry,
		       struct hf_error *err)
{
	struct refusal *const refusal = context;
	const int rc = on_end(&refusal->seen[worker], worker, entry, err);

	if (rc < 0)
		atomic_store(&refusal->tid, (int)syscall(SYS_gettid));
	return rc;
}

static void again_refused(void *context, unsigned worker,
			  const struct hf_entry *entry)
{
	struct refusal *const refusal = context;

	on_again(&refusal->seen[worker], worker, entry);
}

Test(scan_many, a_failing_sink_ends_it)
{
	/* With one processor there is no second thread to wait for. */
	struct refusal refusal = { .refusing = hf_system_cpus() > 1 };
	struct seen *const refused = &refusal.seen[refusal.refusing];
	struct seen *const held = &refusal.seen[!refusal.refusing];
	const struct hf_scan_sink sink = {
		.context = &refusal, .begin = begin_held, .data = on_data,
		.end = end_refused, .again = again_refused,
	};
	struct hf_error err = { .code = 0 };

	refused->refuse_at = REFUSED_END;
	plant_many(20, 100);
	cr_expect_eq(read_into(&sink, &err), HF_ERR_LIMIT);
	cr_expect_str_eq(err.text, "the sink is full");
	cr_expect_eq(refused->begun, REFUSED_END);
	cr_expect_eq(refused->again, 1);
	/* The other finishes what it holds and takes no more. */
	cr_expect_leq(held->begun, RUN_ENTRIES);
	cr_expect_eq(held->ended, held->begun);
	cr_expect_eq(held->again, 0);
}

struct progress_seen {
	uint64_t bytes;
	size_t entries;
	unsigned updates;
	bool is_backwards;
};

static void on_progress(void *context, uint64_t done_bytes, uint64_t all_bytes,
			size_t done_entries, size_t all_entries)
{
	struct progress_seen *const seen = context;

	seen->is_backwards |= done_bytes < seen->bytes ||
			      done_entries < seen->entries ||
			      done_bytes > all_bytes ||
			      done_entries > all_entries;
	seen->bytes = done_bytes;
	seen->entries = done_entries;
	seen->updates++;
}

Test(scan_many, progress_reaches_the_end)
{
	struct progress_seen seen = { .updates = 0 };
	struct hf_progress progress = { .update = on_progress,
					.context = &seen };
	struct hf_error err;

	plant_many(10, 100);
	cr_assert_eq(hf_scan_read(&options, &tree, NULL, false, &progress,
				  &err),
		     0);
	cr_expect_not(seen.is_backwards);
	cr_expect_eq(seen.entries, 1000);
	cr_expect_eq(seen.bytes, 10 * (10 * 5 + 90 * 6));
	/* Now and then, not for each of many small files. */
	cr_expect_lt(seen.updates, 100);
}
