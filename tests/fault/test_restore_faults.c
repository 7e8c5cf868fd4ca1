/* SPDX-License-Identifier: MIT */
/*
 * Every call of a restore fails in turn, or is the last one before the end.
 *
 * Whatever happens: each protected file is what it was or what it shall be,
 * what was replaced is kept whole, a success is a success, and the next restore
 * puts everything right.
 */
#include "core/restore.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/content.h"
#include "core/kept.h"
#include "core/replace.h"
#include "core/scan.h"
#include "support/check.h"
#include "support/fault.h"
#include "support/tmpdir.h"
#include "support/workbench.h"

/* If wrapping is lost, so are most of these; the fewest are 50. */
#define POINTS_MIN 40u

/* Sanitizers take several times as long: a third of the ways to fail is enough. */
#ifdef __SANITIZE_ADDRESS__
#define MODES_STEP 3
#else
#define MODES_STEP 1
#endif

static struct hf_bench bench;

static void must(int rc, const char *what)
{
	cr_assert_geq(rc, 0, "%s failed", what);
}

static void build(void)
{
	const int fd = bench.root_fd;

	hf_put_file(fd, "a.toml", "a = 1\n");
	must(mkdirat(fd, "data", 0755), "mkdir");
	hf_put_file(fd, "data/x.bin", "x\n");
	must(symlinkat("a.toml", fd, "link"), "symlink");
	hf_put_file(fd, "twin1", "twin\n");
	must(linkat(fd, "twin1", fd, "twin2", 0), "link");
	hf_put_file(fd, "shared", "shared\n");
	/* Outside, where nobody sees it: no step of its own repairs it. */
	must(linkat(fd, "shared", fd, "../other-name", 0), "link");
}

/* -- the damage ------------------------------------------------------------ */

static void cut_file(void)
{
	hf_put_file(bench.root_fd, "a.toml", "");
}

static void change_mode(void)
{
	must(fchmodat(bench.root_fd, "a.toml", 0600, 0), "chmod");
}

static void remove_directory(void)
{
	must(unlinkat(bench.root_fd, "data/x.bin", 0), "unlink");
	must(unlinkat(bench.root_fd, "data", AT_REMOVEDIR), "rmdir");
}

static void other_link(void)
{
	must(unlinkat(bench.root_fd, "link", 0), "unlink");
	must(symlinkat("data", bench.root_fd, "link"), "symlink");
}

static void directory_in_place(void)
{
	must(unlinkat(bench.root_fd, "a.toml", 0), "unlink");
	must(mkdirat(bench.root_fd, "a.toml", 0755), "mkdir");
	hf_put_file(bench.root_fd, "a.toml/mine", "mine\n");
}

static void add_file(void)
{
	hf_put_file(bench.root_fd, "data/new", "new\n");
}

static void write_twin(void)
{
	hf_put_file(bench.root_fd, "twin1", "other\n");
}

static void write_shared(void)
{
	hf_put_file(bench.root_fd, "shared", "by another name\n");
}

static const struct row {
	const char *name;
	void (*damage)(void);
	/* A crash may leave a mixture, and so may a disk that takes nothing any
	 * more: then the failure says so. */
	bool is_in_place;
} rows[] = {
	{"file", cut_file, false},
	{"metadata", change_mode, false},
	{"missing directory", remove_directory, false},
	{"link", other_link, false},
	{"directory in place", directory_in_place, false},
	{"addition", add_file, false},
	{"hard links", write_twin, true},
	{"hard link outside", write_shared, true},
};

/* -- what must hold ---------------------------------------------------------
 */

/* What is at path, hashed. */
static struct hf_entry look_at(const char *path, struct hf_tree *tree)
{
	struct hf_entry *const entry = hf_tree_add(tree, path);
	struct hf_error err;
	const char *name;
	cleanup_fd int fd = hf_scan_open_parent(bench.root_fd, path, &name);

	if (fd < 0)
		return *entry;
	must(hf_scan_entry(fd, name, tree, entry, &err), path);
	if (entry->stat.kind == HF_KIND_FILE) {
		must(hf_content_hash(fd, name, path, &entry->hash, &err), path);
		entry->has_hash = true;
	}
	return *entry;
}

static bool has_content_of(const struct hf_entry *now,
			   const struct hf_entry *other)
{
	const unsigned change = hf_compare_entry(other, now);

	if (!other || other->stat.kind == HF_KIND_ABSENT)
		return now->stat.kind == HF_KIND_ABSENT;
	return (change & ~(unsigned)HF_CHANGE_METADATA) == 0;
}

/* Some record of the session holds this content. */
static bool is_kept(const struct hf_session_record *session,
		    const struct hf_entry *old)
{
	for (size_t i = 0; i < session->kept_count; i++) {
		const struct hf_kept_record *const record = &session->kept[i];
		cleanup_fd int fd = -1;
		struct hf_error err;
		struct hf_hash hash;
		uint64_t size;

		/* Of names that share a file one is kept. */
		if (strncmp(record->replaced->path, old->path, 4) != 0 ||
		    !has_content_of(record->replaced, old))
			continue;
		if (old->stat.kind != HF_KIND_FILE)
			return true;
		fd = hf_kept_open(&bench.at.store, record->kept_path, &err);
		if (fd >= 0 &&
		    hf_content_copy(fd, NULL, old->path, &size, &hash, &err) ==
			    0 &&
		    hf_hash_equal(&hash, &old->hash))
			return true;
	}
	return false;
}

/* Each step's path is old or new, and old bytes that are gone are kept. */
static void check_steps(const struct row *row, unsigned n,
			const struct hf_name *session_name, bool may_be_mixed)
{
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	struct hf_error err;

	cr_assert_eq(
		hf_journal_read(&bench.at.store, session_name, &session, &err),
		0, "%s", err.text);
	for (size_t i = 0; i < bench.plan.count; i++) {
		const struct hf_step *const step = &bench.plan.steps[i];
		cleanup_tree struct hf_tree tree = HF_TREE_INIT;
		const struct hf_entry now = look_at(hf_step_path(step), &tree);
		const bool is_old =
			has_content_of(&now, step->now) || step->change == 0;
		const bool is_new = has_content_of(&now, step->want);

		if (!may_be_mixed)
			cr_expect(is_old || is_new, "%s: %s is lost, n=%u %s",
				  row->name, hf_step_path(step), n,
				  fault_call());
		if (!is_old && step->now &&
		    step->now->stat.kind != HF_KIND_ABSENT)
			cr_expect(is_kept(&session, step->now),
				  "%s: %s is not kept, n=%u %s", row->name,
				  hf_step_path(step), n, fault_call());
	}
}

/* Each round begins like the first: the nth call is the same one in all. */
static void forget_sessions(void)
{
	const int fd = bench.at.store.folder_fd[HF_STORE_SESSIONS];
	cleanup_directory struct hf_directory *directory = NULL;
	cleanup_directory struct hf_directory *kept = NULL;
	enum hf_kind kind;
	const char *name;

	must(hf_directory_open(fd, &directory), "list");
	while (hf_directory_next(directory, &name, &kind) > 0)
		must(unlinkat(fd, name, 0), name);
	must(hf_directory_open(bench.at.store.folder_fd[HF_STORE_KEPT], &kept),
	     "list");
	while (hf_directory_next(kept, &name, &kind) > 0) {
		char *path = NULL;

		must(asprintf(&path, "%s/kept/%s", bench.at.store.path, name),
		     "name");
		hf_tmpdir_remove(path);
	}
}

/* Directories that came out whole, out of the next round's way. */
static void remove_temporaries(void)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;

	must(hf_directory_open(bench.root_fd, &directory), "list");
	while (hf_directory_next(directory, &name, &kind) > 0) {
		char *path = NULL;

		if (!hf_replace_is_temporary(name))
			continue;
		must(asprintf(&path, "%s/%s", bench.at.root, name), "name");
		hf_tmpdir_remove(path);
	}
}

/* Without a fault everything comes right, and nothing is left. */
static void check_repair(const struct row *row, unsigned n)
{
	static const struct hf_name dead = {"000001-20261130T030007Z"};
	struct hf_error err;

	bench.around = NULL;
	must(hf_restore_sweep(&bench.at.store, &dead, bench.root_fd,
			      &bench.manifest.tree, &err),
	     "sweep");
	/* A directory that is not empty stays for a person to see. */
	if (row->damage == directory_in_place)
		remove_temporaries();
	cr_expect_eq(hf_bench_temporaries(&bench), 0, "%s: swept, n=%u",
		     row->name, n);
	cr_expect_eq(hf_bench_restore(&bench, true, &err), 0,
		     "%s: again, n=%u: %s", row->name, n, err.text);
	cr_expect_eq(hf_bench_differences(&bench, true), 0, "%s: n=%u",
		     row->name, n);
	forget_sessions();
}

/* -- faults ------------------------------------------------------------------
 */

struct parameter {
	size_t row;
	size_t mode;
};

static const struct mode {
	int error;
	bool is_persistent;
	bool stays_with_call;
	bool has_no_exchange;
} modes[] = {
	{ENOSPC, false, false, false}, {ENOSPC, true, false, false},
	{EIO, false, false, false},    {EIO, true, false, false},
	{EACCES, false, false, false}, {EACCES, true, false, false},
	{EINTR, false, false, false},  {EINTR, true, false, false},
	{EMFILE, false, false, false}, {EMFILE, true, false, false},
	{EIO, true, true, false},      {EIO, false, false, true},
	{EIO, true, false, true},      {EIO, true, true, true},
};

ParameterizedTestParameters(restore_faults, fail)
{
	static struct parameter parameters[HF_COUNT(rows) * HF_COUNT(modes)];
	size_t count = 0;

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		for (size_t e = 0; e < HF_COUNT(modes); e += MODES_STEP)
			parameters[count++] = (struct parameter){i, e};
	}
	return cr_make_param_array(struct parameter, parameters, count);
}

/* For the hook: what to arm with, and what came of it. */
static unsigned arm_at;
static const struct mode *arm_with;
static bool has_fired;
static char first_call[32];

static void around(bool begins)
{
	if (begins) {
		fault_arm(arm_at, arm_with->error, arm_with->is_persistent);
		return;
	}
	has_fired = fault_disarm();
	(void)snprintf(first_call, sizeof(first_call), "%s", fault_call());
}

/*
 * May a temporary name stay?  When nothing works any more; what only cannot be
 * kept goes back to its place.
 */
static bool may_leave(int rc)
{
	return rc < 0 && arm_with->is_persistent && arm_with->error != EINTR &&
	       !(arm_with->stays_with_call && !arm_with->has_no_exchange &&
		 strcmp(first_call, "openat") == 0);
}

static void check_round(const struct row *row, int rc,
			const struct hf_error *err)
{
	/* A failure that could not be undone either says so. */
	const bool is_mixed = rc < 0 && strstr(err->hint, "half old and half");
	const bool is_aside = rc < 0 && strstr(err->hint, "stands beside it");
	const size_t left = hf_bench_temporaries(&bench);
	struct hf_plan plan = bench.plan;
	size_t differences;

	cr_expect(!is_mixed || (row->is_in_place && arm_with->is_persistent),
		  "%s: a mixture, n=%u %s", row->name, arm_at, first_call);
	cr_expect(!is_aside || arm_with->is_persistent,
		  "%s: not moved back, n=%u %s", row->name, arm_at, first_call);
	check_steps(row, arm_at, &bench.name,
		    is_mixed || (is_aside && arm_with->has_no_exchange));
	cr_expect(has_fired || rc == 0, "%s: %s", row->name, err->text);
	if (rc < 0)
		cr_expect(err->text[0] != '\0', "%s: no message", row->name);
	cr_expect(left == 0 || may_leave(rc),
		  "%s: temporary left, n=%u %s", row->name, arm_at, first_call);

	/* Its steps borrow from what the next look replaces. */
	bench.plan = (struct hf_plan)HF_PLAN_INIT;
	differences = hf_bench_differences(&bench, false);
	cr_expect(rc < 0 || differences == 0, "%s: failure swallowed, n=%u %s",
		  row->name, arm_at, first_call);
	hf_plan_done(&plan);
}

ParameterizedTest(struct parameter *parameter, restore_faults, fail)
{
	const struct row *const row = &rows[parameter->row];
	const struct mode *const mode = &modes[parameter->mode];
	unsigned n = 1;

	hf_bench_begin(&bench, "**", false);
	build();
	hf_bench_record(&bench);
	fault_stay_with_call(mode->stays_with_call);
	fault_take_exchange_away(mode->has_no_exchange);
	has_fired = true;
	for (; has_fired; n++) {
		struct hf_error err = {.text = ""};
		int descriptors;
		int rc;

		row->damage();
		hf_bench_plan(&bench, true);
		descriptors = hf_open_descriptors();
		arm_at = n;
		arm_with = mode;
		bench.around = around;
		rc = hf_bench_apply(&bench, &err);
		cr_expect_eq(hf_open_descriptors(), descriptors,
			     "%s: descriptor leaked, n=%u %s", row->name, n,
			     first_call);
		check_round(row, rc, &err);
		check_repair(row, n);
	}
	cr_expect_gt(n, POINTS_MIN, "%s: %u points", row->name, n);
	fault_expect_all_tried(n - 1);
	hf_bench_done(&bench);
}

/* -- crashes ------------------------------------------------------------------
 */

ParameterizedTestParameters(restore_faults, die)
{
	static struct parameter parameters[HF_COUNT(rows)];

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		parameters[i].row = i;
	return cr_make_param_array(struct parameter, parameters,
				   HF_COUNT(rows));
}

static void apply(void *argument)
{
	struct hf_error err;

	/* A failure is seen by its consequences. */
	if (hf_bench_apply(argument, &err) < 0)
		(void)fprintf(stderr, "%s\n", err.text);
}

/* The session that the child began, if it came so far. */
static bool find_session(struct hf_name *ret_name)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	struct hf_error err;

	must(hf_store_list(&bench.at.store, HF_STORE_SESSIONS, ".open", &names,
			   &err),
	     "list");
	if (names.count == 0)
		return false;
	*ret_name = names.items[names.count - 1];
	return true;
}

ParameterizedTest(struct parameter *parameter, restore_faults, die)
{
	const struct row *const row = &rows[parameter->row];
	bool is_over = false;
	unsigned n = 1;

	hf_bench_begin(&bench, "**", false);
	build();
	hf_bench_record(&bench);
	for (; !is_over; n++) {
		struct hf_name name;
		struct hf_error err;

		row->damage();
		hf_bench_plan(&bench, true);
		is_over = !fault_crash(n, apply, &bench);
		if (!is_over && find_session(&name)) {
			check_steps(row, n, &name, row->is_in_place);
			must(hf_journal_settle(&bench.at.store, &name,
					       HF_OUTCOME_UNRESTORED, &err),
			     "settle");
		}
		check_repair(row, n);
	}
	cr_expect_gt(n, POINTS_MIN, "%s: %u points", row->name, n);
	hf_bench_done(&bench);
}
