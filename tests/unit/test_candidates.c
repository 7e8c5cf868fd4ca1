/* SPDX-License-Identifier: MIT */
/* What deserves protection, without git: tests/e2e/15-init.sh has it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "core/candidates.h"
#include "core/data_name.h"
#include "platform/file.h"
#include "support/check.h"
#include "support/tmpdir.h"

static char *dir;
static int dir_fd = -1;

static void setup(void)
{
	dir = hf_tmpdir_make();
	dir_fd = hf_file_open_directory(dir);
	cr_assert(dir_fd >= 0);
}

static void teardown(void)
{
	hf_file_close_quietly(&dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(candidates, .init = setup, .fini = teardown);

/* A file, or with a slash behind it a directory, with all above it. */
static void make(const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s", name);
	for (size_t i = 1; path[i] != '\0'; i++) {
		if (path[i] != '/')
			continue;
		path[i] = '\0';
		cr_assert(mkdirat(dir_fd, path, 0700) == 0 || errno == EEXIST);
		path[i] = '/';
	}
	if (path[strlen(path) - 1] != '/')
		hf_put_file(dir_fd, path, "12345678");
}

struct found {
	const char *name;
	const char *files[16];
	const char *patterns[8];
};

static const struct found table[] = {
	{ .name = "nothing", .files = { "a.c", "README.md" } },
	{ .name = "toml at the top is a pattern", .files = { "a.toml" },
	  .patterns = { "*.toml" } },
	{ .name = "what tools keep",
	  .files = { "package.json", "pyproject.toml", "Cargo.toml",
		     "setup.cfg", "holdfast.json" } },
	{ .name = "a few by their names", .files = { "a.json", "b.json" },
	  .patterns = { "a.json", "b.json" } },
	{ .name = "many as a pattern",
	  .files = { "a.db", "b.db", "c.db", "d.db", "sub/1.csv", "sub/2.csv",
		     "sub/3.csv", "sub/4.csv", "sub/a.c", "sub/b.c" },
	  .patterns = { "*.db", "sub/*.csv" } },
	{ .name = "a directory by its name",
	  .files = { "tests/data/a.wav", "tests/data/deep/b", "tests/a.py" },
	  .patterns = { "tests/data/" } },
	{ .name = "a directory of source text called data",
	  .files = { "data/a.py", "data/b.py", "data/c.json" },
	  .patterns = { "data/c.json" } },
	{ .name = "a directory by what it holds",
	  .files = { "things/1.csv", "things/2.csv", "things/3.json" },
	  .patterns = { "things/" } },
	{ .name = "the outer of two", .files = { "x/data/a", "x/y/1.csv",
						 "x/y/2.csv", "x/z.csv", "x/a.c" },
	  .patterns = { "x/data/", "x/y/", "x/z.csv" } },
	{ .name = "settings of the environment",
	  .files = { ".env", ".env.local", ".hidden.json", ".h/a.json" },
	  .patterns = { ".env", ".env.local" } },
	{ .name = "what is never entered",
	  .files = { "node_modules/x/a.json", "build/a.json", ".git/a.json",
		     "venv/a.json", "dist/a.json", "p/pyvenv.cfg",
		     "p/a.json", "q/CACHEDIR.TAG", "q/a.json",
		     "r/CMakeCache.txt", "r/a.json", "s/.git/", "s/a.json" } },
	{ .name = "names with wildcards",
	  .files = { "a*.json", "[b]/data/x", "~/c.json", "!d.json" },
	  .patterns = { "\\[b]/data/", "\\!d.json", "\\~/c.json",
			"a\\*.json" } },
	{ .name = "names that are not UTF-8", .files = { "a\xff.json" },
	  .patterns = { "a?.json" } },
};

static void check(const struct found *row)
{
	cleanup_candidates struct hf_candidates found = HF_CANDIDATES_INIT;
	struct hf_error err;
	size_t i;

	cr_assert_eq(hf_candidates_find(dir, dir_fd, &found, &err), 0, "%s: %s",
		     row->name, err.text);
	for (i = 0; row->patterns[i] != NULL && i < found.count; i++) {
		/* Directories stand behind files. */
		bool is_there = false;

		for (size_t j = 0; j < found.count; j++)
			is_there |= strcmp(found.items[j].pattern,
					   row->patterns[i]) == 0;
		cr_expect(is_there, "%s: no %s", row->name, row->patterns[i]);
		cr_expect(found.items[i].is_default);
		cr_expect_eq(found.items[i].git, HF_CANDIDATE_NO_GIT);
		cr_expect_eq(found.items[i].bytes, 8 * found.items[i].files);
	}
	cr_expect(row->patterns[i] == NULL && i == found.count,
		  "%s: %zu found, first %s", row->name, found.count,
		  found.count > 0 ? found.items[0].pattern : "");
	cr_expect_not(found.is_cut);
}

Test(candidates, table)
{
	for (size_t i = 0; i < HF_COUNT(table); i++) {
		for (size_t j = 0; table[i].files[j] != NULL; j++)
			make(table[i].files[j]);
		check(&table[i]);
		teardown();
		setup();
	}
}

Test(candidates, more_than_fit)
{
	cleanup_candidates struct hf_candidates found = HF_CANDIDATES_INIT;
	struct hf_error err;
	char name[32];

	for (unsigned i = 0; i < HF_CANDIDATES_MAX + 5; i++) {
		(void)snprintf(name, sizeof(name), "d%02u/x.c", i);
		make(name);
		(void)snprintf(name, sizeof(name), "d%02u/x.json", i);
		make(name);
	}
	cr_assert_eq(hf_candidates_find(dir, dir_fd, &found, &err), 0);
	cr_expect_eq(found.count, HF_CANDIDATES_MAX);
	cr_expect(found.is_cut);
	cr_expect_str_eq(found.items[0].pattern, "d00/x.json");
}

Test(candidates, a_link_leads_nowhere)
{
	cleanup_candidates struct hf_candidates found = HF_CANDIDATES_INIT;
	struct hf_error err;

	make("real/a.c");
	cr_assert_eq(symlinkat(".", dir_fd, "data"), 0);
	cr_assert_eq(symlinkat("real/a.c", dir_fd, "a.json"), 0);
	cr_assert_eq(mkfifoat(dir_fd, "b.json", 0600), 0);
	cr_assert_eq(hf_candidates_find(dir, dir_fd, &found, &err), 0);
	cr_expect_eq(found.count, 0);
}

Test(candidates, ranks)
{
	cr_expect_eq(hf_data_rank("a.toml"), 0);
	cr_expect_lt(hf_data_rank("a.json"), hf_data_rank("a.csv"));
	cr_expect_eq(hf_data_rank(".toml"), HF_DATA_NONE);
	cr_expect_eq(hf_data_rank("a.tomlx"), HF_DATA_NONE);
	cr_expect_str_eq(hf_data_ending(".env"), "");
	cr_expect_neq(hf_data_rank(".env"), HF_DATA_NONE);
	cr_expect_str_eq(hf_data_ending("x.sqlite3"), ".sqlite3");
}
