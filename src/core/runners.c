/* SPDX-License-Identifier: MIT */
/* Signs of test runners, as a table. */
#include "core/runners.h"

#include <stdbool.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "core/pattern.h"
#include "platform/file.h"

#define TEXT_MAX	((size_t)256 << 10)	/* of a larger file nothing is read */
#define NAMES_MAX	2000			/* looked at in one directory */

#define PYTEST		"python3 -m pytest"
#define UNITTEST	"python3 -m unittest"

/*
 * A file, whose name may be a pattern below its directory, that says how tests
 * are run: by being there, or with a text in it and without another.  In order:
 * the first that holds for a command counts, and what a project was given for
 * the purpose stands before what merely looks like it.
 */
struct sign {
	const char *directory;
	const char *name;
	const char *text;	/* NULL: being there is enough */
	const char *not_text;	/* NULL: nothing */
	const char *command;
};

static const struct sign signs[] = {
	{ ".", "tox.ini", "[testenv", NULL, "tox" },
	{ ".", "pytest.ini", NULL, NULL, PYTEST },
	{ ".", "conftest.py", NULL, NULL, PYTEST },
	{ "tests", "conftest.py", NULL, NULL, PYTEST },
	{ "test", "conftest.py", NULL, NULL, PYTEST },
	{ ".", "pyproject.toml", "[tool.pytest", NULL, PYTEST },
	{ ".", "setup.cfg", "[tool:pytest]", NULL, PYTEST },
	{ ".", "tox.ini", "[pytest]", NULL, PYTEST },
	{ "tests", "test_*.py", NULL, "import unittest", PYTEST },
	{ "test", "test_*.py", NULL, "import unittest", PYTEST },
	{ ".", "test_*.py", NULL, "import unittest", PYTEST },
	{ "tests", "test_*.py", "import unittest", NULL,
	  UNITTEST " discover -s tests -t ." },
	{ "test", "test_*.py", "import unittest", NULL,
	  UNITTEST " discover -s test -t ." },
	{ ".", "test_*.py", "import unittest", NULL, UNITTEST },
	{ ".", "package.json", "\"test\"", "no test specified", "npm test" },
	{ ".", "vitest.config.*", NULL, NULL, "npx vitest run" },
	{ ".", "Cargo.toml", NULL, NULL, "cargo test" },
	{ ".", "go.mod", NULL, NULL, "go test ./..." },
	{ ".", "CMakeLists.txt", "enable_testing", NULL,
	  "ctest --test-dir build" },
	{ ".", "CMakeLists.txt", "include(CTest)", NULL,
	  "ctest --test-dir build" },
	{ ".", "meson.build", NULL, NULL, "meson test -C build" },
	{ ".", "build.ninja", "build test:", NULL, "ninja test" },
	{ ".", "Makefile", "\ncheck:", NULL, "make check" },
	{ ".", "GNUmakefile", "\ncheck:", NULL, "make check" },
	{ ".", "Makefile.am", NULL, NULL, "make check" },
	{ ".", "Makefile", "\ntest:", NULL, "make test" },
	{ "test", "*.bats", NULL, NULL, "bats test" },
	{ "tests", "*.bats", NULL, NULL, "bats tests" },
	{ ".", "*.bats", NULL, NULL, "bats ." },
};

/* Does the file say so? */
static bool says(int fd, const char *name, const struct sign *sign)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int file_fd = hf_file_open_read_at(fd, name);
	struct hf_stat stat;

	if (file_fd < 0 || hf_file_stat(file_fd, &stat) < 0 ||
	    stat.kind != HF_KIND_FILE)
		return false;
	if (!sign->text && !sign->not_text)
		return true;
	/* A text at the start of the first line counts, too. */
	hf_buffer_add_text(&text, "\n");
	if (hf_file_read_all(file_fd, TEXT_MAX, &text) < 0 || !text.data)
		return false;
	return (!sign->text || strstr(text.data, sign->text)) &&
	       (!sign->not_text || !strstr(text.data, sign->not_text));
}

/* The first name that matches decides, whichever comes first. */
static bool holds(int root_fd, const struct sign *sign)
{
	cleanup_fd int fd = hf_file_open_beneath(root_fd, sign->directory);
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;

	if (fd < 0)
		return false;
	if (!strchr(sign->name, '*'))
		return says(fd, sign->name, sign);
	if (hf_directory_open(fd, &directory) < 0)
		return false;
	for (size_t i = 0;
	     i < NAMES_MAX && hf_directory_next(directory, &name, &kind) > 0;
	     i++)
		if (hf_pattern_match_text(sign->name, name) &&
		    says(fd, name, sign))
			return true;
	return false;
}

static bool is_found(const struct hf_runners *found, const char *command)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->commands[i], command) == 0)
			return true;
	return false;
}

void hf_runners_find(int root_fd, struct hf_runners *found)
{
	found->count = 0;
	for (size_t i = 0; i < HF_COUNT(signs); i++)
		if (found->count < HF_RUNNERS_MAX &&
		    !is_found(found, signs[i].command) &&
		    holds(root_fd, &signs[i]))
			found->commands[found->count++] = signs[i].command;
}
