/* SPDX-License-Identifier: MIT */
/* The exported functions, as a program that links the library calls them. */
#include "holdfast/holdfast.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/tmpdir.h"

static char *dir;
static int dir_fd = -1;
static char root[128];
static char store[128];
static hf_project *project;
static struct hf_error err;

static const char *const protect[] = {"*.toml", NULL};

static hf_project_options options(void)
{
	return (hf_project_options){
		.struct_size = sizeof(hf_project_options),
		.root = root,
		.store = store,
		.protect = protect,
	};
}

static void setup(void)
{
	hf_project_options given;

	dir = hf_tmpdir_make();
	(void)snprintf(root, sizeof(root), "%s/project", dir);
	(void)snprintf(store, sizeof(store), "%s/store", dir);
	cr_assert_eq(mkdir(root, 0755), 0);
	dir_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(dir_fd >= 0);
	hf_put_file(dir_fd, "a.toml", "one");
	hf_put_file(dir_fd, "b.toml", "two");
	given = options();
	cr_assert_eq(hf_project_open(&given, &project, &err), 0, "%s",
		     err.text);
}

static void teardown(void)
{
	hf_project_close(project);
	(void)close(dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(library, .init = setup, .fini = teardown, .timeout = 60);

static void record(void)
{
	const char *snapshot = NULL;

	cr_assert_eq(hf_project_snapshot(project, &snapshot, &err), 0, "%s",
		     err.text);
	cr_assert(snapshot && snapshot[0] != '\0');
}

static size_t differences(void)
{
	hf_difference *difference = NULL;
	size_t count;

	cr_assert_eq(hf_project_compare(project, NULL, &difference, &err), 0,
		     "%s", err.text);
	count = hf_difference_count(difference);
	hf_difference_free(difference);
	return count;
}

/* -- opening
 * --------------------------------------------------------------------- */

Test(library, tells_where_things_are)
{
	cr_expect_str_eq(hf_project_root(project), root);
	cr_expect_str_eq(hf_project_store(project), store);
	cr_expect(strchr(hf_version(), '.') != NULL);
}

Test(library, refuses_structures_of_no_size)
{
	hf_project_options wrong = options();
	hf_restore_result restored = {.struct_size = sizeof(size_t)};
	hf_guard_result guarded = {.struct_size = 0};
	const char *const argv[] = {"true", NULL};
	hf_project *untouched = NULL;

	wrong.struct_size = 0;
	cr_expect_eq(hf_project_open(&wrong, &untouched, &err), HF_ERR_USAGE);
	wrong.struct_size = sizeof(wrong) - 1;
	cr_expect_eq(hf_project_open(&wrong, &untouched, &err), HF_ERR_USAGE);
	cr_expect_null(untouched);
	record();
	cr_expect_eq(hf_project_restore(project, NULL, NULL, &restored, &err),
		     HF_ERR_USAGE);
	cr_expect_eq(hf_project_undo(project, NULL, &restored, &err),
		     HF_ERR_USAGE);
	cr_expect_eq(hf_project_guard(project, argv, &guarded, &err),
		     HF_ERR_USAGE);
	cr_expect(err.text[0] != '\0');
}

/* A later version's structure is larger. */
Test(library, takes_a_larger_structure)
{
	struct {
		hf_restore_result result;
		char more[64];
	} larger = {.result = {.struct_size = sizeof(larger)}};

	record();
	cr_expect_eq(
		hf_project_restore(project, NULL, NULL, &larger.result, &err),
		0);
}

Test(library, needs_no_place_for_an_error)
{
	hf_project_options wrong = options();
	hf_restore_result result = {.struct_size = sizeof(result)};
	hf_difference *difference = NULL;
	hf_project *untouched = NULL;

	wrong.struct_size = 0;
	cr_expect_eq(hf_project_open(&wrong, &untouched, NULL), HF_ERR_USAGE);
	cr_expect(hf_project_compare(project, NULL, &difference, NULL) < 0);
	cr_expect(hf_project_restore(project, NULL, NULL, &result, NULL) < 0);
	cr_expect(hf_project_undo(project, NULL, &result, NULL) < 0);
	cr_expect_eq(hf_project_snapshot(project, NULL, NULL), 0);
	cr_expect(hf_project_compare(project, "no-such", &difference, NULL) <
		  0);
	cr_expect_null(difference);
	hf_project_close(NULL);
	hf_difference_free(NULL);
}

Test(library, refuses_a_wrong_policy)
{
	static const char *const wrong_patterns[] = {"../up", NULL};
	hf_project_options wrong = options();
	hf_project *untouched = NULL;

	wrong.protect = wrong_patterns;
	cr_expect_eq(hf_project_open(&wrong, &untouched, &err), HF_ERR_USAGE);
	cr_expect_null(untouched);
	cr_expect(strstr(err.text, "../up") != NULL, "%s", err.text);
}

/* -- recording, comparing, restoring
 * ------------------------------------------------ */

Test(library, records_once_what_does_not_change)
{
	const char *first = NULL;
	const char *second = NULL;
	char name[64];

	cr_assert_eq(hf_project_snapshot(project, &first, &err), 0);
	(void)snprintf(name, sizeof(name), "%s", first);
	cr_assert_eq(hf_project_snapshot(project, &second, &err), 0);
	cr_expect_str_eq(second, name);
	hf_put_file(dir_fd, "a.toml", "changed");
	cr_assert_eq(hf_project_snapshot(project, &second, &err), 0);
	cr_expect_str_neq(second, name);
}

Test(library, tells_what_differs)
{
	hf_difference *difference = NULL;

	record();
	cr_expect_eq(differences(), 0);
	hf_put_file(dir_fd, "a.toml", "ONE");
	cr_assert_eq(unlinkat(dir_fd, "b.toml", 0), 0);
	hf_put_file(dir_fd, "c.toml", "new");
	cr_assert_eq(hf_project_compare(project, NULL, &difference, &err), 0);
	cr_assert_eq(hf_difference_count(difference), 3);
	cr_expect_str_eq(hf_difference_path(difference, 0), "a.toml");
	cr_expect(hf_difference_change(difference, 0) & HF_CHANGE_CONTENT);
	cr_expect_str_eq(hf_difference_path(difference, 1), "b.toml");
	cr_expect_eq(hf_difference_change(difference, 1), HF_CHANGE_MISSING);
	cr_expect_str_eq(hf_difference_path(difference, 2), "c.toml");
	cr_expect_eq(hf_difference_change(difference, 2), HF_CHANGE_ADDED);
	hf_difference_free(difference);
}

Test(library, restores_and_undoes)
{
	static const char *const paths[] = {"a.toml", NULL};
	hf_restore_result result = {.struct_size = sizeof(result)};

	record();
	hf_put_file(dir_fd, "a.toml", "bad");
	cr_assert_eq(unlinkat(dir_fd, "b.toml", 0), 0);

	cr_assert_eq(hf_project_restore(project, NULL, paths, &result, &err), 0,
		     "%s", err.text);
	cr_expect_eq(result.restored, 1);
	cr_expect_eq(result.failed, 0);
	cr_expect(hf_file_has(dir_fd, "a.toml", "one"));
	cr_expect(faccessat(dir_fd, "b.toml", F_OK, 0) < 0);
	cr_assert(result.undo[0] != '\0');

	cr_assert_eq(hf_project_undo(project, result.undo, &result, &err), 0,
		     "%s", err.text);
	cr_expect_eq(result.restored, 1);
	cr_expect(hf_file_has(dir_fd, "a.toml", "bad"));

	cr_assert_eq(hf_project_restore(project, NULL, NULL, &result, &err), 0,
		     "%s", err.text);
	cr_expect_eq(result.restored, 2);
	cr_expect_eq(differences(), 0);
	cr_assert_eq(hf_project_restore(project, NULL, NULL, &result, &err), 0);
	cr_expect_eq(result.restored, 0);
	cr_expect_str_eq(result.undo, "");
}

/* -- guarding
 * ---------------------------------------------------------------------- */

Test(library, guards_a_command)
{
	static const struct {
		const char *script;
		int status;
		int code;
		int signal;
	} cases[] = {
		{"exit 0", 0, 0, 0},
		{"exit 7", 0, 7, 0},
		{"kill -TERM $$", 0, -1, 15},
		{"exec 3<>a.toml; echo bad >&3; sleep 1000", 97, -1, 9},
		{"rm b.toml; exit 0", 97, 0, 0},
	};
	const int descriptors = hf_open_descriptors();

	cr_assert_eq(fchdir(dir_fd), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *const argv[] = {"sh", "-c", cases[i].script, NULL};
		hf_guard_result result = {.struct_size = sizeof(result)};

		cr_assert_eq(hf_project_guard(project, argv, &result, &err), 0,
			     "%s: %s", cases[i].script, err.text);
		cr_expect_eq(result.status, cases[i].status, "%s",
			     cases[i].script);
		cr_expect_eq(result.command_code, cases[i].code, "%s",
			     cases[i].script);
		cr_expect_eq(result.command_signal, cases[i].signal, "%s",
			     cases[i].script);
		cr_expect(hf_file_has(dir_fd, "a.toml", "one"));
		cr_expect(hf_file_has(dir_fd, "b.toml", "two"));
	}
	cr_expect_eq(hf_open_descriptors(), descriptors);
}

Test(library, says_that_there_is_no_such_command)
{
	static const char *const argv[] = {"./none", NULL};
	hf_guard_result result = {.struct_size = sizeof(result)};

	cr_assert_eq(hf_project_guard(project, argv, &result, &err), 0);
	cr_expect_eq(result.status, 127);
	cr_expect_eq(result.command_code, -1);
}

Test(library, starts_nothing_where_nothing_is_protected)
{
	static const char *const argv[] = {"sh", "-c", ": >ran", NULL};
	hf_guard_result result = {.struct_size = sizeof(result)};

	cr_assert_eq(fchdir(dir_fd), 0);
	cr_assert_eq(unlinkat(dir_fd, "a.toml", 0), 0);
	cr_assert_eq(unlinkat(dir_fd, "b.toml", 0), 0);
	cr_expect(hf_project_guard(project, argv, &result, &err) < 0);
	cr_expect(err.text[0] != '\0');
	cr_expect(access("ran", F_OK) < 0);
}
