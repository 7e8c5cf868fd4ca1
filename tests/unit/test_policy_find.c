/* SPDX-License-Identifier: MIT */
/* Where the root and the policy file are found. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "core/policy.h"
#include "support/check.h"
#include "support/tmpdir.h"

#define NOBODY 65534

static char *dir;

/* A .git above the tests' own keeps what lies around in /tmp out of them. */
static void setup(void)
{
	dir = hf_tmpdir_make();
	cr_assert_eq(chdir(dir), 0);
	cr_assert_eq(mkdir(".git", 0700), 0);
}

static void teardown(void)
{
	hf_tmpdir_remove(dir);
}

/* Make a directory, when name ends in a slash, or a file, and all above it. */
static void make(const char *name)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s", name);
	for (size_t i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		path[i] = '\0';
		cr_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
		path[i] = '/';
	}
	if (path[strlen(path) - 1] == '/')
		return;
	file = fopen(path, "w");
	cr_assert(file, "%s", path);
	(void)fputs("{}\n", file);
	(void)fclose(file);
}

struct found {
	char *root;
	char *file;
	struct hf_error err;
	int rc;
};

static struct found find(const struct hf_policy_options *options)
{
	struct found found = {.root = NULL};

	found.rc = hf_policy_find(options, &found.root, &found.file,
				  &found.err);
	return found;
}

static void done(struct found *found)
{
	free(found->root);
	free(found->file);
	*found = (struct found){.root = NULL};
}

/* What stands behind dir, without the slash; "" for dir itself. */
static const char *beneath(const char *path)
{
	const size_t len = strlen(dir);

	if (!path)
		return "none";
	if (strncmp(path, dir, len) != 0)
		return path;
	return path + len + (path[len] == '/');
}

static const struct {
	const char *name;
	const char *made[5];
	const char *here;
	const char *options_root;
	const char *options_config;
	const char *root;
	const char *file;
} rows[] = {
	{"nothing but .git", {NULL}, ".", NULL, NULL, "", "none"},
	{".git above", {"a/b/"}, "a/b", NULL, NULL, "", "none"},
	{".git is a file", {"w/.git", "w/a/"}, "w/a", NULL, NULL, "w", "none"},
	{"here", {"a/holdfast.json"}, "a", NULL, NULL, "a", "a/holdfast.json"},
	{"above", {"a/holdfast.json", "a/b/c/"}, "a/b/c", NULL, NULL, "a",
	 "a/holdfast.json"},
	{"the nearest", {"a/holdfast.json", "a/b/holdfast.json", "a/b/c/"},
	 "a/b/c", NULL, NULL, "a/b", "a/b/holdfast.json"},
	{"beside .git", {"a/holdfast.json", "a/.git/", "a/b/"}, "a/b", NULL,
	 NULL, "a", "a/holdfast.json"},
	{"not beyond .git", {"a/holdfast.json", "a/b/.git/", "a/b/c/"},
	 "a/b/c", NULL, NULL, "a/b", "none"},
	{"not beyond a worktree", {"a/holdfast.json", "a/b/.git", "a/b/c/"},
	 "a/b/c", NULL, NULL, "a/b", "none"},
	{"not below", {"a/holdfast.json"}, ".", NULL, NULL, "", "none"},
	{"--root", {"a/", "b/"}, "a", "../b", NULL, "b", "none"},
	{"--root, the policy from here", {"a/holdfast.json", "b/"}, "a",
	 "../b", NULL, "b", "a/holdfast.json"},
	{"--root with dots", {"a/b/"}, ".", "a/./b/..", NULL, "a", "none"},
	{"--config", {"a/holdfast.json", "c/p.json"}, "a", NULL,
	 "../c/p.json", "c", "c/p.json"},
	{"--config here", {"a/p.json"}, "a", NULL, "p.json", "a", "a/p.json"},
	{"--config and --root", {"a/", "c/p.json"}, ".", "a", "c/p.json", "a",
	 "c/p.json"},
};

Test(policy_find, rows)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const struct hf_policy_options options = {
			.root = rows[i].options_root,
			.config = rows[i].options_config,
		};
		struct found found;

		setup();
		for (size_t j = 0; rows[i].made[j]; j++)
			make(rows[i].made[j]);
		cr_assert_eq(chdir(rows[i].here), 0);
		found = find(&options);
		cr_expect_eq(found.rc, 0, "%s: %s", rows[i].name,
			     found.err.text);
		cr_expect_str_eq(beneath(found.root), rows[i].root, "%s",
				 rows[i].name);
		cr_expect_str_eq(beneath(found.file), rows[i].file, "%s",
				 rows[i].name);
		done(&found);
		teardown();
	}
}

/* -- what cannot be used ---------------------------------------------- */

Test(policy_find, wrong, .init = setup, .fini = teardown)
{
	static const struct {
		const char *name;
		struct hf_policy_options options;
		const char *text;
	} wrong[] = {
		{"root is missing", {.root = "x"},
		 "cannot use 'x' as the root: No such file or directory"},
		{"root is a file", {.root = "f"}, "not a directory"},
		{"config is missing", {.config = "x"}, "/x': No such file"},
		{"config's directory is missing", {.config = "x/y"},
		 "cannot read 'x/y': No such file"},
		{"config is a directory", {.config = "d"},
		 "/d': not a regular file"},
		{"config ends in a slash", {.config = "f/"}, "Not a directory"},
		{"config is a fifo", {.config = "p"}, "not a regular file"},
		{"config is a device", {.config = "/dev/null"},
		 "'/dev/null': not a regular file"},
		{"config is a dangling link", {.config = "l"}, "No such file"},
		{"config is empty", {.config = ""}, "not a regular file"},
	};

	make("f");
	make("d/");
	cr_assert_eq(mkfifo("p", 0600), 0);
	cr_assert_eq(symlink("nowhere", "l"), 0);
	for (size_t i = 0; i < HF_COUNT(wrong); i++) {
		struct found found = find(&wrong[i].options);

		cr_expect_eq(found.rc, HF_ERR_USAGE, "%s", wrong[i].name);
		cr_expect(strstr(found.err.text, wrong[i].text), "%s: %s",
			  wrong[i].name, found.err.text);
		cr_expect_null(found.root);
		cr_expect_null(found.file);
		done(&found);
	}
}

/* A policy that is there but unusable is never passed over. */
Test(policy_find, found_but_wrong, .init = setup, .fini = teardown)
{
	const struct hf_policy_options none = {.root = NULL};
	struct found found;

	cr_assert_eq(mkdir("holdfast.json", 0700), 0);
	found = find(&none);
	cr_expect_eq(found.rc, HF_ERR_USAGE);
	cr_expect(strstr(found.err.text, "not a regular file"));
	done(&found);

	cr_assert_eq(rmdir("holdfast.json"), 0);
	cr_assert_eq(symlink("nowhere", "holdfast.json"), 0);
	found = find(&none);
	cr_expect_eq(found.rc, HF_ERR_USAGE);
	cr_expect(strstr(found.err.text, "No such file"));
	done(&found);
}

Test(policy_find, links, .init = setup, .fini = teardown)
{
	const struct hf_policy_options none = {.root = NULL};
	const struct hf_policy_options named = {.config = "l/holdfast.json"};
	struct found found;

	make("real/p.json");
	make("a/");
	cr_assert_eq(symlink("../real/p.json", "a/holdfast.json"), 0);
	cr_assert_eq(symlink("a", "l"), 0);

	found = find(&named);
	cr_assert_eq(found.rc, 0, "%s", found.err.text);
	cr_expect_str_eq(beneath(found.file), "a/holdfast.json",
			 "the directory is resolved, the name is not");
	done(&found);

	cr_assert_eq(chdir("l"), 0);
	found = find(&none);
	cr_assert_eq(found.rc, 0, "%s", found.err.text);
	cr_expect_str_eq(beneath(found.root), "a");
	cr_expect_str_eq(beneath(found.file), "a/holdfast.json");
	done(&found);
}

/* -- owners, boundaries: root alone can make them --------------------- */

static void expect_denied(const struct hf_policy_options *options)
{
	struct found found = find(options);

	cr_expect_eq(found.rc, HF_ERR_DENIED, "%d", found.rc);
	cr_expect(strstr(found.err.text, "holdfast.json': owned by user 65534"),
		  "%s", found.err.text);
	cr_expect(strstr(found.err.hint, "--config"));
	done(&found);
}

Test(policy_find, owner, .init = setup, .fini = teardown)
{
	const struct hf_policy_options none = {.root = NULL};
	const struct hf_policy_options named = {.config = "holdfast.json"};
	struct hf_policy policy = HF_POLICY_INIT;
	struct found found;

	if (geteuid() != 0)
		hf_skip_now("only root can give files away");
	make("holdfast.json");
	cr_assert_eq(chown("holdfast.json", NOBODY, 0), 0);
	expect_denied(&none);
	found = find(&named);
	cr_assert_eq(found.rc, 0, "a named file is trusted");
	cr_expect_eq(hf_policy_load(&policy, &named, found.root, found.file,
				    &found.err), 0);
	hf_policy_done(&policy);
	/* It may have been put there between finding and reading. */
	cr_expect_eq(hf_policy_load(&policy, &none, found.root, found.file,
				    &found.err), HF_ERR_DENIED);
	hf_policy_done(&policy);
	done(&found);

	cr_assert_eq(unlink("holdfast.json"), 0);
	make("p.json");
	cr_assert_eq(symlink("p.json", "holdfast.json"), 0);
	cr_assert_eq(lchown("holdfast.json", NOBODY, 0), 0);
	expect_denied(&none);
	cr_assert_eq(lchown("holdfast.json", 0, 0), 0);
	cr_assert_eq(chown("p.json", NOBODY, 0), 0);
	expect_denied(&none);
}

/* Root's own is good for everyone. */
Test(policy_find, owned_by_root, .init = setup, .fini = teardown)
{
	const struct hf_policy_options none = {.root = NULL};
	struct found found;

	if (geteuid() != 0)
		hf_skip_now("only root can give files away");
	make("holdfast.json");
	cr_assert_eq(chmod("holdfast.json", 0644), 0);
	cr_assert_eq(chmod(".", 0755), 0);
	cr_assert_eq(seteuid(NOBODY), 0);
	found = find(&none);
	cr_assert_eq(seteuid(0), 0);
	cr_expect_eq(found.rc, 0, "%s", found.err.text);
	done(&found);
}

/* A child's status: 0 when body() found what it should. */
static int in_child(int (*body)(void))
{
	const pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(body());
	cr_assert(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

static int beyond_a_mount(void)
{
	const struct hf_policy_options none = {.root = NULL};
	struct found found;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "m", "tmpfs", 0, NULL) < 0)
		return 77;
	make("m/a/");
	if (chdir("m/a") < 0)
		return 2;
	found = find(&none);
	return found.rc == 0 && !found.file &&
			       strcmp(beneath(found.root), "m/a") == 0 ?
		       0 :
		       1;
}

Test(policy_find, file_system_boundary, .init = setup, .fini = teardown)
{
	int status;

	make("holdfast.json");
	make("m/");
	status = in_child(beyond_a_mount);
	if (WEXITSTATUS(status) == 77)
		hf_skip_now("mounting is not allowed");
	cr_expect_eq(status, 0, "%x", (unsigned)status);
}

/* In a root of its own, whose user database says that /h/u is home. */
static int beyond_home(void)
{
	const struct hf_policy_options none = {.root = NULL};
	struct found found;

	if (chroot(".") < 0)
		return 77;
	if (chdir("/h/u/a") < 0)
		return 2;
	found = find(&none);
	if (found.rc != 0 || found.file || strcmp(found.root, "/h/u/a") != 0)
		return 3;
	done(&found);

	make("/h/u/holdfast.json");
	found = find(&none);
	if (found.rc != 0 || !found.file || strcmp(found.root, "/h/u") != 0)
		return 4;
	done(&found);

	/* Home does not stop a search that does not pass by. */
	if (chdir("/h/v") < 0)
		return 5;
	found = find(&none);
	return found.rc == 0 && found.file && strcmp(found.root, "/h") == 0 ?
		       0 :
		       6;
}

Test(policy_find, home, .init = setup, .fini = teardown)
{
	FILE *file;
	int status;

	make("h/holdfast.json");
	make("h/u/a/");
	make("h/v/");
	make("etc/");
	file = fopen("etc/passwd", "w");
	cr_assert(file);
	(void)fprintf(file, "u:x:%u:0::/h/u:/bin/sh\n", geteuid());
	(void)fclose(file);
	status = in_child(beyond_home);
	if (WEXITSTATUS(status) == 77)
		hf_skip_now("chroot is not allowed");
	cr_expect_eq(status, 0, "%x", (unsigned)status);
}

Test(policy_find, working_directory_is_gone, .init = setup, .fini = teardown)
{
	const struct hf_policy_options none = {.root = NULL};
	struct found found;

	make("a/");
	cr_assert(chdir("a") == 0 && rmdir("../a") == 0);
	found = find(&none);
	cr_expect_eq(found.rc, HF_ERR_SYSTEM);
	cr_expect(strstr(found.err.text, "working directory"), "%s",
		  found.err.text);
	done(&found);
	cr_assert_eq(chdir(dir), 0);
}
