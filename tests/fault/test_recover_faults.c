/* SPDX-License-Identifier: MIT */
/*
 * Settling a session that died while calls fail, and dying at it.
 *
 * Whatever happens: a file is what it was or what it shall be, what was
 * replaced is kept, and the next try brings everything to its end.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/journal_text.h"
#include "guard/recover.h"
#include "platform/file.h"
#include "support/check.h"
#include "support/fault.h"
#include "support/faults.h"
#include "support/stored.h"
#include "support/tmpdir.h"

/* If wrapping is lost, so are most of these. */
#define POINTS_MIN 60u

static struct hf_stored s;
static struct hf_project project;
static struct hf_manifest manifest;
static struct hf_name dead;

static void setup(void)
{
	struct hf_snapshot_result result;

	hf_stored_make(&s, "*.toml");
	hf_put_file(s.root_fd, "a.toml", "by hand");
	hf_put_file(s.root_fd, "b.toml", "by hand, too");
	hf_put_file(s.root_fd, "c.toml", "and this");
	/* Borrowed. */
	project = (struct hf_project){
		.root = s.root,
		.root_fd = s.root_fd,
		.policy = s.policy,
		.store = s.store,
	};
	hf_stored_take(&s, &manifest, &result);
}

static void teardown(void)
{
	hf_manifest_done(&manifest);
	hf_stored_remove(&s);
}

TestSuite(recover_faults, .init = setup, .fini = teardown);

static void empty(enum hf_store_folder folder)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;

	cr_assert_eq(hf_directory_open(s.store.folder_fd[folder], &directory),
		     0);
	while (hf_directory_next(directory, &name, &kind) > 0) {
		char *path = NULL;

		cr_assert_gt(asprintf(&path, "%s/%s/%s", s.store.path,
				      hf_store_folder_name(folder), name),
			     0);
		if (kind == HF_KIND_DIRECTORY) {
			hf_tmpdir_remove(path);
			continue;
		}
		cr_assert_eq(unlink(path), 0);
		free(path);
	}
}

/* A session that died: one entry damaged, one missing, one that a person keeps.
 */
static void prepare(void *context)
{
	const struct hf_journal_open_record record = {
		.kind = "run",
		.snapshot = manifest.name.text,
	};
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	struct hf_error err;

	(void)context;
	empty(HF_STORE_SESSIONS);
	empty(HF_STORE_KEPT);
	cr_assert_eq(hf_journal_begin(&journal, &s.store, &record, &err), 0);
	dead = journal.name;
	hf_put_file(s.root_fd, "a.toml", "damage");
	(void)unlinkat(s.root_fd, "b.toml", 0);
	hf_put_file(s.root_fd, "c.toml", "mine");
}

static int settle(void *context, struct hf_error *err)
{
	cleanup_recovery struct hf_recovery_work work = HF_RECOVERY_WORK_INIT;
	struct hf_recovery_result result = {0};
	int rc;

	(void)context;
	rc = hf_recover_show(&project, &dead, NULL, &work, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < work.count; i++) {
		const char *const path =
			hf_delta_entry(work.items[i].delta)->path;

		if (strcmp(path, "c.toml") == 0)
			work.items[i].decision = HF_RECOVERY_LEAVE;
	}
	rc = hf_recover_apply(&project, &work, NULL, NULL, &result, err);
	if (rc == 0 && result.failed > 0) {
		*err = result.first_error;
		return err->code;
	}
	if (rc == 0 && result.undecided > 0)
		return hf_fail(err, HF_ERR_UNDECIDED, "undecided");
	return rc;
}

static bool is_open(void)
{
	char name[HF_JOURNAL_FILE_NAME];

	hf_journal_file_name(&dead, HF_JOURNAL_OPEN, name);
	return faccessat(s.store.folder_fd[HF_STORE_SESSIONS], name, F_OK, 0) ==
	       0;
}

/* Some session has kept the damage. */
static bool is_kept(void)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	const int fd = s.store.folder_fd[HF_STORE_KEPT];
	struct hf_error err;

	cr_assert_eq(hf_store_list(&s.store, HF_STORE_KEPT, "", &names, &err),
		     0);
	for (size_t i = 0; i < names.count; i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "%s/a.toml",
			       names.items[i].text);
		if (faccessat(fd, path, F_OK, 0) == 0 &&
		    hf_file_has(fd, path, "damage"))
			return true;
	}
	return false;
}

static void check_right(void)
{
	cr_expect(hf_file_has(s.root_fd, "a.toml", "by hand"));
	cr_expect(hf_file_has(s.root_fd, "b.toml", "by hand, too"));
	cr_expect(hf_file_has(s.root_fd, "c.toml", "mine"));
	cr_expect(is_kept());
	cr_expect_not(is_open());
}

/* The next one, with what a crash has left beside the files swept first. */
static void settle_again(void)
{
	struct hf_error err = {0};

	if (is_open()) {
		cr_expect_eq(hf_restore_sweep(&s.store, &dead, s.root_fd,
					      &manifest.tree, &err),
			     0);
		cr_expect_eq(settle(NULL, &err), 0, "%s", err.text);
	}
	check_right();
}

static void check(void *context, int rc)
{
	const bool is_old = hf_file_has(s.root_fd, "a.toml", "damage");

	(void)context;
	if (rc == 0)
		check_right();
	cr_expect(is_old || hf_file_has(s.root_fd, "a.toml", "by hand"));
	cr_expect(is_old || is_kept());
	cr_expect(hf_file_has(s.root_fd, "c.toml", "mine"));
	settle_again();
}

/*
 * A restore has another way for most calls that fail, and what cannot be judged
 * is undecided: check() demands that a success is one.
 */
static bool may_ignore(const char *call)
{
	(void)call;
	return true;
}

Test(recover_faults, fail)
{
	const struct fault_case fault_case = {
		.prepare = prepare,
		.run = settle,
		.check = check,
		.may_ignore = may_ignore,
		.is_long = true,
	};

	fault_loop(&fault_case, POINTS_MIN);
}

static void settle_in_child(void *argument)
{
	struct hf_error err;

	(void)argument;
	(void)!settle(NULL, &err);
}

Test(recover_faults, die)
{
	unsigned n;

	for (n = 1;; n++) {
		prepare(NULL);
		if (!fault_crash(n, settle_in_child, NULL))
			break;
		cr_expect(hf_file_has(s.root_fd, "a.toml", "damage") ||
			  is_kept());
		settle_again();
	}
	cr_expect_geq(n, POINTS_MIN);
	(void)fprintf(stderr, "died at %u points\n", n - 1);
}
