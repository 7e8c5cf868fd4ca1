/* SPDX-License-Identifier: MIT */
/*
 * What test runners say about the test that runs.
 *
 * pytest sets PYTEST_CURRENT_TEST in its own process for each phase of a test:
 * "tests/test_x.py::test_y (call)".
 *
 * cargo-nextest (0.9.116 and later) starts a process for every test and gives
 * it NEXTEST_BINARY_ID ("crate::binary") and NEXTEST_TEST_NAME
 * ("module::test").
 *
 * bats exports BATS_TEST_FILENAME and BATS_TEST_NAME, the name of the function
 * it has made of the description; BATS_TEST_DESCRIPTION is a variable of the
 * shell that a test may export.  BATS_CWD is where bats was started.
 *
 * ctest exports nothing that names the test (only that there is a ctest):
 * a test tells itself by its command line.  Rust's harness exports nothing, but
 * gives each thread the name of its test.
 */
#include "guard/test_name.h"

#include <stdio.h>
#include <string.h>

enum {
	PYTEST,
	NEXTEST_TEST,
	NEXTEST_BINARY,
	BATS_FILE,
	BATS_DESCRIPTION,
	BATS_FUNCTION,
	BATS_DIRECTORY
};

const char *const hf_test_variables[HF_TEST_VARIABLES] = {
	[PYTEST] = "PYTEST_CURRENT_TEST",
	[NEXTEST_TEST] = "NEXTEST_TEST_NAME",
	[NEXTEST_BINARY] = "NEXTEST_BINARY_ID",
	[BATS_FILE] = "BATS_TEST_FILENAME",
	[BATS_DESCRIPTION] = "BATS_TEST_DESCRIPTION",
	[BATS_FUNCTION] = "BATS_TEST_NAME",
	[BATS_DIRECTORY] = "BATS_CWD",
};

/* The kernel keeps so much of a thread's name. */
#define THREAD_NAME_LEN 15

static bool is_said(const char *value)
{
	return value && *value;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * bats makes of the description "test_", then letters and digits as they are, "_"
 * for a blank and "-hh" for all other characters of ASCII.  Where "_" and "-" are
 * the only ones of these, it escapes the "-" of its "-5f" once more.
 */
static char next_character(const char **at)
{
	static const char twice[] = "-2d5f";
	const char *const text = *at;
	const int high = *text == '-' ? digit_of(text[1]) : -1;
	const int low = high < 0 ? -1 : digit_of(text[2]);
	const int code = low < 0 ? -1 : 16 * high + low;

	if (strncmp(text, twice, sizeof(twice) - 1) == 0) {
		*at += sizeof(twice) - 1;
		return '_';
	}
	if (code >= ' ' && code < 0x7f) {
		*at += 3;
		return (char)code;
	}
	*at += 1;
	return *text == '_' ? ' ' : *text;
}

static void decode_function(const char *function, char *ret_text, size_t size)
{
	static const char prefix[] = "test_";
	size_t len = 0;

	if (strncmp(function, prefix, sizeof(prefix) - 1) == 0)
		function += sizeof(prefix) - 1;
	while (*function && len + 1 < size)
		ret_text[len++] = next_character(&function);
	ret_text[len] = '\0';
}

/* A file as seen from where bats was started. */
static const char *shorten(const char *file, const char *directory)
{
	const size_t len = directory ? strlen(directory) : 0;

	if (len > 1 && strncmp(file, directory, len) == 0 && file[len] == '/')
		return file + len + 1;
	return file;
}

static bool name_of_bats(const char *const values[HF_TEST_VARIABLES],
			 char ret_name[HF_TEST_NAME_MAX])
{
	char decoded[HF_TEST_NAME_MAX / 2];
	const char *description = values[BATS_DESCRIPTION];

	if (!is_said(values[BATS_FILE]))
		return false;
	if (!is_said(description)) {
		if (!is_said(values[BATS_FUNCTION]))
			return false;
		decode_function(values[BATS_FUNCTION], decoded,
				sizeof(decoded));
		description = decoded;
	}
	(void)snprintf(ret_name, HF_TEST_NAME_MAX, "%s: %s",
		       shorten(values[BATS_FILE], values[BATS_DIRECTORY]),
		       description);
	return true;
}

bool hf_test_name_of_variables(const char *const values[HF_TEST_VARIABLES],
			       char ret_name[HF_TEST_NAME_MAX])
{
	if (is_said(values[PYTEST])) {
		(void)snprintf(ret_name, HF_TEST_NAME_MAX, "%s",
			       values[PYTEST]);
		return true;
	}
	if (is_said(values[NEXTEST_TEST])) {
		const bool has_binary = is_said(values[NEXTEST_BINARY]);

		(void)snprintf(ret_name, HF_TEST_NAME_MAX, "%s%s%s",
			       has_binary ? values[NEXTEST_BINARY] : "",
			       has_binary ? " " : "", values[NEXTEST_TEST]);
		return true;
	}
	return name_of_bats(values, ret_name);
}

/*
 * cargo puts test programs into a directory "deps".  A test at the top of its
 * file has no "::" in its name: only the place of the program speaks for it
 * then, and there it may be any thread.
 */
bool hf_test_name_of_thread(const char *thread_name, const char *process_name,
			    const char *exe, bool *ret_is_exact)
{
	const bool has_path = strstr(thread_name, "::") != NULL;

	if (!*thread_name || strcmp(thread_name, process_name) == 0 ||
	    (!has_path && !strstr(exe, "/deps/")))
		return false;
	*ret_is_exact = has_path && strlen(thread_name) < THREAD_NAME_LEN;
	return true;
}
