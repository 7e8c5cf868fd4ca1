/* SPDX-License-Identifier: MIT */
/* How tests are run, by the files of a project. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/runners.h"
#include "platform/file.h"
#include "support/check.h"
#include "support/tmpdir.h"

TestSuite(runners);

struct file {
	const char *name;
	const char *text;
};

struct project {
	const char *name;
	struct file files[4];
	const char *commands[4];
};

static const struct project table[] = {
	{ .name = "none", .files = { { "a.c", "test" } } },
	{ .name = "pytest by its file", .files = { { "pytest.ini", "" } },
	  .commands = { "python3 -m pytest" } },
	{ .name = "pytest in the project's",
	  .files = { { "pyproject.toml", "[tool.pytest.ini_options]\n" } },
	  .commands = { "python3 -m pytest" } },
	{ .name = "a project without it",
	  .files = { { "pyproject.toml", "[project]\n" } } },
	{ .name = "pytest by its tests",
	  .files = { { "tests/test_a.py", "def test_a(): pass\n" } },
	  .commands = { "python3 -m pytest" } },
	{ .name = "unittest",
	  .files = { { "tests/test_a.py", "import unittest\n" } },
	  .commands = { "python3 -m unittest discover -s tests -t ." } },
	{ .name = "unittest at the top",
	  .files = { { "test_a.py", "import unittest\n" } },
	  .commands = { "python3 -m unittest" } },
	{ .name = "tox, and what it runs",
	  .files = { { "tox.ini", "[testenv]\n" }, { "conftest.py", "" } },
	  .commands = { "tox", "python3 -m pytest" } },
	{ .name = "npm",
	  .files = { { "package.json",
		       "{\"scripts\": {\"test\": \"node --test\"}}" } },
	  .commands = { "npm test" } },
	{ .name = "npm without tests",
	  .files = { { "package.json", "{\"scripts\": {\"test\": \"echo "
				       "\\\"Error: no test specified\\\"\"}}" } } },
	{ .name = "vitest", .files = { { "vitest.config.ts", "" } },
	  .commands = { "npx vitest run" } },
	{ .name = "cargo and go", .files = { { "Cargo.toml", "" },
					     { "go.mod", "" } },
	  .commands = { "cargo test", "go test ./..." } },
	{ .name = "CMake",
	  .files = { { "CMakeLists.txt", "project(x)\nenable_testing()\n" } },
	  .commands = { "ctest --test-dir build" } },
	{ .name = "CMake without tests",
	  .files = { { "CMakeLists.txt", "project(x)\n" } } },
	{ .name = "meson", .files = { { "meson.build", "" } },
	  .commands = { "meson test -C build" } },
	{ .name = "ninja", .files = { { "build.ninja", "build test: r\n" } },
	  .commands = { "ninja test" } },
	{ .name = "make, by its first line",
	  .files = { { "Makefile", "check:\n\ttrue\n" } },
	  .commands = { "make check" } },
	{ .name = "make test", .files = { { "Makefile", "all:\ntest: all\n" } },
	  .commands = { "make test" } },
	{ .name = "a word of a Makefile",
	  .files = { { "Makefile", "x = check:\n" } } },
	{ .name = "bats", .files = { { "test/a.bats", "" } },
	  .commands = { "bats test" } },
	{ .name = "a directory of that name",
	  .files = { { "pytest.ini/x", "" } } },
};

static void make(int dir_fd, const struct file *file)
{
	const char *const slash = strchr(file->name, '/');
	char directory[64] = "";

	if (slash) {
		memcpy(directory, file->name, (size_t)(slash - file->name));
		cr_assert(mkdirat(dir_fd, directory, 0700) == 0 ||
			  errno == EEXIST);
	}
	hf_put_file(dir_fd, file->name, file->text);
}

Test(runners, table)
{
	for (size_t i = 0; i < HF_COUNT(table); i++) {
		char *const dir = hf_tmpdir_make();
		cleanup_fd int dir_fd = hf_file_open_directory(dir);
		struct hf_runners found;
		size_t count = 0;

		for (size_t j = 0; table[i].files[j].name != NULL; j++)
			make(dir_fd, &table[i].files[j]);
		hf_runners_find(dir_fd, &found);
		while (table[i].commands[count] != NULL) {
			cr_expect(count < found.count &&
					  strcmp(table[i].commands[count],
						 found.commands[count]) == 0,
				  "%s: no %s", table[i].name,
				  table[i].commands[count]);
			count++;
		}
		cr_expect_eq(found.count, count, "%s", table[i].name);
		hf_tmpdir_remove(dir);
	}
}
