/* SPDX-License-Identifier: MIT */
/* What runners export, and what is made of it. */
#include "guard/test_name.h"

#include <criterion/criterion.h>
#include <string.h>

#define VALUES_MAX 4

struct value {
	const char *variable;
	const char *value;
};

struct variables_case {
	const char *name;
	struct value set[VALUES_MAX];
	const char *test; /* NULL: none */
};

static const struct variables_case cases[] = {
	{"nothing", {{0}}, NULL},
	{"pytest",
	 {{"PYTEST_CURRENT_TEST", "tests/test_x.py::test_y (call)"}},
	 "tests/test_x.py::test_y (call)"},
	{"pytest between tests", {{"PYTEST_CURRENT_TEST", ""}}, NULL},
	{"nextest",
	 {{"NEXTEST_TEST_NAME", "parse::keeps_comments"},
	  {"NEXTEST_BINARY_ID", "sample::config"}},
	 "sample::config parse::keeps_comments"},
	{"nextest without its binary",
	 {{"NEXTEST_TEST_NAME", "keeps_comments"}},
	 "keeps_comments"},
	{"pytest that nextest has started",
	 {{"NEXTEST_TEST_NAME", "outer"}, {"PYTEST_CURRENT_TEST", "inner"}},
	 "inner"},
	{"bats",
	 {{"BATS_TEST_FILENAME", "/p/tests/a.bats"},
	  {"BATS_TEST_NAME", "test_does_a_thing"},
	  {"BATS_CWD", "/p"}},
	 "tests/a.bats: does a thing"},
	{"bats elsewhere",
	 {{"BATS_TEST_FILENAME", "/project/a.bats"},
	  {"BATS_TEST_NAME", "test_x"},
	  {"BATS_CWD", "/proj"}},
	 "/project/a.bats: x"},
	{"bats at the top",
	 {{"BATS_TEST_FILENAME", "/a.bats"},
	  {"BATS_TEST_NAME", "test_x"},
	  {"BATS_CWD", "/"}},
	 "/a.bats: x"},
	{"bats with signs",
	 {{"BATS_TEST_FILENAME", "a.bats"},
	  {"BATS_TEST_NAME", "test_rm_-2drf_-2ftmp-2fa-5fb-21"}},
	 "a.bats: rm -rf /tmp/a_b!"},
	{"bats with nothing but _",
	 {{"BATS_TEST_FILENAME", "a.bats"},
	  {"BATS_TEST_NAME", "test_a-2d5fb_c"}},
	 "a.bats: a_b c"},
	{"bats with what is no escape",
	 {{"BATS_TEST_FILENAME", "a.bats"},
	  {"BATS_TEST_NAME", "test_a-20ac-x-0a-"}},
	 "a.bats: a ac-x-0a-"},
	{"bats with a function of one's own",
	 {{"BATS_TEST_FILENAME", "a.bats"}, {"BATS_TEST_NAME", "mine"}},
	 "a.bats: mine"},
	{"bats that exports the description",
	 {{"BATS_TEST_FILENAME", "a.bats"},
	  {"BATS_TEST_NAME", "test_unused"},
	  {"BATS_TEST_DESCRIPTION", "does a_thing"}},
	 "a.bats: does a_thing"},
	{"bats outside a test", {{"BATS_TEST_FILENAME", "a.bats"}}, NULL},
	{"bats without a file", {{"BATS_TEST_NAME", "test_x"}}, NULL},
};

static size_t index_of(const char *variable)
{
	for (size_t i = 0; i < HF_TEST_VARIABLES; i++)
		if (strcmp(hf_test_variables[i], variable) == 0)
			return i;
	cr_assert_fail("%s is not asked for", variable);
	return 0;
}

Test(test_name, of_variables)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		const char *values[HF_TEST_VARIABLES] = {NULL};
		char name[HF_TEST_NAME_MAX] = "untouched";
		const char *const test = cases[i].test;

		for (size_t j = 0; j < VALUES_MAX; j++)
			if (cases[i].set[j].variable)
				values[index_of(cases[i].set[j].variable)] =
					cases[i].set[j].value;
		cr_expect_eq(hf_test_name_of_variables(values, name),
			     test != NULL, "case %s", cases[i].name);
		cr_expect_str_eq(name, test ? test : "untouched", "case %s",
				 cases[i].name);
	}
}

Test(test_name, is_cut)
{
	static char text[2 * HF_TEST_NAME_MAX];
	const char *values[HF_TEST_VARIABLES] = {NULL};
	char name[HF_TEST_NAME_MAX];

	memset(text, 'x', sizeof(text) - 1);
	values[index_of("PYTEST_CURRENT_TEST")] = text;
	cr_assert(hf_test_name_of_variables(values, name));
	cr_expect_eq(strlen(name), HF_TEST_NAME_MAX - 1);
	values[index_of("PYTEST_CURRENT_TEST")] = NULL;
	values[index_of("BATS_TEST_FILENAME")] = text;
	values[index_of("BATS_TEST_NAME")] = text;
	cr_assert(hf_test_name_of_variables(values, name));
	cr_expect_eq(strlen(name), HF_TEST_NAME_MAX - 1);
}

struct thread_case {
	const char *thread;
	const char *process;
	const char *exe;
	bool is_test;
	bool is_exact;
};

static const struct thread_case threads[] = {
	{"tests::writes", "config-0a1b", "/p/target/debug/deps/config-0a1b",
	 true, true},
	{"tests::it_write", "config-0a1b", "/p/target/debug/deps/config-0a1b",
	 true, false},
	{"tests::writes", "config-0a1b", "/p/moved", true, true},
	{"writes_config", "config-0a1b", "/p/target/debug/deps/config-0a1b",
	 true, false},
	{"writes_config", "server", "/usr/bin/server", false, false},
	{"config-0a1b", "config-0a1b", "/p/target/debug/deps/config-0a1b",
	 false, false},
	{"", "config-0a1b", "/p/target/debug/deps/config-0a1b", false, false},
};

Test(test_name, of_thread)
{
	for (size_t i = 0; i < HF_COUNT(threads); i++) {
		bool is_exact = false;

		cr_expect_eq(hf_test_name_of_thread(threads[i].thread,
						    threads[i].process,
						    threads[i].exe, &is_exact),
			     threads[i].is_test, "case %zu", i);
		cr_expect_eq(is_exact, threads[i].is_exact, "case %zu", i);
	}
}
