/* SPDX-License-Identifier: MIT */
/* The public API as another program meets it: the shared library, its header. */
#include "holdfast/holdfast.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/tmpdir.h"

static char *top;
static int root_fd = -1;
static hf_project *project;

static void open_project(void)
{
	static const char *const protect[] = { "*.toml", NULL };
	char root[64];
	char store[64];
	const hf_project_options options = {
		.struct_size = sizeof(options),
		.root = root,
		.store = store,
		.protect = protect,
	};
	struct hf_error err;

	(void)snprintf(root, sizeof(root), "%s/root", top);
	(void)snprintf(store, sizeof(store), "%s/store", top);
	cr_assert_eq(hf_project_open(&options, &project, &err), HF_OK, "%s",
		     err.text);
	cr_expect_str_eq(hf_project_root(project), root);
	cr_expect_str_eq(hf_project_store(project), store);
}

static void plant(void)
{
	char root[64];

	top = hf_tmpdir_make();
	(void)snprintf(root, sizeof(root), "%s/root", top);
	cr_assert_eq(mkdir(root, 0755), 0);
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hf_put_file(root_fd, "a.toml", "a = 1\n");
	hf_put_file(root_fd, "b.toml", "b = 1\n");
	open_project();
}

static void cut(void)
{
	hf_project_close(project);
	(void)close(root_fd);
	hf_tmpdir_remove(top);
}

TestSuite(library, .init = plant, .fini = cut);

/* What differs now, as "path:change " for each. */
static const char *differences(char *out, size_t size)
{
	hf_difference *difference = NULL;
	struct hf_error err;
	size_t len = 0;

	cr_assert_eq(hf_project_compare(project, NULL, &difference, &err),
		     HF_OK, "%s", err.text);
	out[0] = '\0';
	for (size_t i = 0; i < hf_difference_count(difference); i++)
		len += (size_t)snprintf(out + len, size - len, "%s:%u ",
					hf_difference_path(difference, i),
					hf_difference_change(difference, i) &
						~(unsigned)HF_CHANGE_METADATA);
	hf_difference_free(difference);
	return out;
}

Test(library, version)
{
	unsigned parts[3];
	char rest;

	cr_expect_eq(sscanf(hf_version(), "%u.%u.%u%c", &parts[0], &parts[1],
			    &parts[2], &rest),
		     3);
}

Test(library, snapshot_compare_restore_undo)
{
	hf_restore_result result = { .struct_size = sizeof(result) };
	hf_restore_result undone = { .struct_size = sizeof(undone) };
	const char *const only_b[] = { "b.toml", NULL };
	const int descriptors = hf_open_descriptors();
	char first[64];
	char text[256];
	const char *name;
	struct hf_error err;

	cr_assert_eq(hf_project_snapshot(project, &name, &err), HF_OK);
	(void)snprintf(first, sizeof(first), "%s", name);
	cr_assert_eq(hf_project_snapshot(project, &name, &err), HF_OK);
	cr_expect_str_eq(name, first, "an unchanged tree has a new snapshot");
	cr_expect_str_eq(differences(text, sizeof(text)), "");

	hf_put_file(root_fd, "a.toml", "damage");
	cr_assert_eq(unlinkat(root_fd, "b.toml", 0), 0);
	cr_expect_str_eq(differences(text, sizeof(text)),
			 "a.toml:1 b.toml:4 ");

	cr_assert_eq(hf_project_restore(project, first, only_b, &result, &err),
		     HF_OK, "%s", err.text);
	cr_expect_eq(result.restored, 1);
	cr_expect(hf_file_has(root_fd, "b.toml", "b = 1\n"));
	cr_expect(hf_file_has(root_fd, "a.toml", "damage"));

	cr_assert_eq(hf_project_restore(project, NULL, NULL, &result, NULL),
		     HF_OK);
	cr_expect_eq(result.restored, 1);
	cr_expect_eq(result.failed, 0);
	cr_expect(hf_file_has(root_fd, "a.toml", "a = 1\n"));
	cr_expect_str_eq(differences(text, sizeof(text)), "");

	cr_assert_eq(hf_project_undo(project, result.undo, &undone, &err),
		     HF_OK, "%s", err.text);
	cr_expect(hf_file_has(root_fd, "a.toml", "damage"));
	cr_expect_eq(hf_open_descriptors(), descriptors, "leaked");
}

Test(library, guards_a_command)
{
	static const struct {
		const char *name;
		const char *script;
		int status;
		int code;
		int signal;
	} rows[] = {
		{ "clean", "exit 0", 0, 0, 0 },
		{ "its own status", "exit 7", 0, 7, 0 },
		{ "a signal", "kill -TERM $$", 0, -1, 15 },
		{ "not found", "exec /no/such/command", 0, 127, 0 },
		{ "damage", "rm \"$0/root/a.toml\"; sleep 50", 97, -1, 9 },
	};

	const int descriptors = hf_open_descriptors();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *const argv[] = { "/bin/sh", "-c", rows[i].script,
					     top, NULL };
		hf_guard_result result = { .struct_size = sizeof(result) };
		struct hf_error err = { 0 };
		int rc;

		rc = hf_project_guard(project, argv, &result, &err);
		cr_assert_eq(rc, HF_OK, "%s: %s", rows[i].name, err.text);
		cr_expect_eq(result.status, rows[i].status, "%s: status %d",
			     rows[i].name, result.status);
		cr_expect_eq(result.command_code, rows[i].code, "%s: code %d",
			     rows[i].name, result.command_code);
		cr_expect_eq(result.command_signal, rows[i].signal,
			     "%s: signal %d", rows[i].name,
			     result.command_signal);
		cr_expect(hf_file_has(root_fd, "a.toml", "a = 1\n"), "%s",
			  rows[i].name);
	}
	cr_expect_eq(hf_open_descriptors(), descriptors, "leaked");
}

Test(library, refuses_with_a_reason)
{
	const char *const wrong[] = { "../x", NULL };
	hf_project_options options = { .struct_size = sizeof(options),
				       .root = top,
				       .protect = wrong };
	hf_project *other = NULL;
	hf_difference *difference = NULL;
	hf_restore_result result = { .struct_size = 0 };
	struct hf_error err;

	cr_expect_eq(hf_project_open(&options, &other, &err), HF_ERR_USAGE);
	cr_expect_neq(strlen(err.text), 0);
	cr_expect_null(other);
	options.struct_size = 0;
	cr_expect_eq(hf_project_open(&options, &other, NULL), HF_ERR_USAGE);

	cr_expect_lt(hf_project_compare(project, NULL, &difference, &err), 0,
		     "nothing is recorded yet");
	cr_expect_null(difference);
	cr_assert_eq(hf_project_snapshot(project, NULL, &err), HF_OK);
	cr_expect_eq(hf_project_compare(project, "no-such", &difference, &err),
		     HF_ERR_USAGE);
	cr_expect_eq(hf_project_restore(project, NULL, NULL, &result, &err),
		     HF_ERR_USAGE, "struct_size is not set");
	result.struct_size = sizeof(result);
	cr_expect_lt(hf_project_undo(project, "no-such", &result, &err), 0);

	hf_project_close(NULL);
	hf_difference_free(NULL);
}
