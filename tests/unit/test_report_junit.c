/* SPDX-License-Identifier: MIT */
/* The report for viewers of test results; e2e/58-told.py reads it with a parser. */
#include "report/junit.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "report/test_id.h"
#include "support/session.h"

static struct hf_test_session test;

static void setup(void)
{
	hf_test_session_init(&test);
}

static void teardown(void)
{
	hf_test_session_done(&test);
}

TestSuite(report_junit, .init = setup, .fini = teardown);

#define HEAD(totals)							\
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"			\
	"<testsuites name=\"holdfast\" " totals " time=\"1.000\">\n"	\
	"  <testsuite name=\"holdfast\" " totals " time=\"1.000\" "	\
	"skipped=\"0\" timestamp=\"2026-11-30T03:00:07\">\n"
#define TAIL "  </testsuite>\n</testsuites>\n"

static void expect(const char *text)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	hf_report_junit(&test.session, "", &out);
	hf_test_expect_said(&out, text);
	cr_expect_eq(strncmp(out.data, HF_REPORT_JUNIT_START,
			     strlen(HF_REPORT_JUNIT_START)), 0);
}

Test(report_junit, clean)
{
	expect(HEAD("tests=\"1\" failures=\"0\" errors=\"0\"")
	       "    <testcase classname=\"holdfast\" name=\"protected files "
	       "unchanged\" time=\"0\"/>\n" TAIL);
}

Test(report_junit, refused)
{
	static char words[] = "python3\0-m\0pytest";
	struct hf_process parent = { .pid = 4710, .comm = "sh" };
	struct hf_culprit culprit = {
		.process = { .pid = 4711, .comm = "python3",
			     .command_line = words,
			     .command_line_len = sizeof(words) },
		.is_inside = true,
		.parents = &parent,
		.parent_count = 1,
	};
	struct hf_violation *violation =
		hf_test_session_refuse(&test, "config.toml", "openat");

	violation->detail = "O_WRONLY|O_TRUNC";
	violation->culprit = &culprit;
	violation->count = 5000;
	violation->test = "tests/test_a.py::TestB::test_c[<1>] (setup)";
	violation->is_test_exact = true;
	expect(HEAD("tests=\"1\" failures=\"1\" errors=\"0\"")
	       "    <testcase classname=\"tests.test_a.TestB\" "
	       "name=\"test_c[&lt;1&gt;]: config.toml: open for writing\" "
	       "time=\"0\">\n"
	       "      <failure type=\"refused\" message=\"config.toml: refused "
	       "5,000 times: open for writing by "
	       "tests/test_a.py::TestB::test_c[&lt;1&gt;] (setup) (python3, "
	       "pid 4711)\">"
	       "file: config.toml (protected by *.toml)\n"
	       "operation: openat O_WRONLY|O_TRUNC, 5,000 times\n"
	       "test: tests/test_a.py::TestB::test_c[&lt;1&gt;] (setup)\n"
	       "process: python3 -m pytest (pid 4711)\n"
	       "parent: sh (pid 4710)\n"
	       "result: the call failed with EACCES; the file is "
	       "unchanged\n"
	       "to prevent it: let the program write to a copy, in a "
	       "temporary directory\n"
	       "</failure>\n    </testcase>\n" TAIL);
}

/* Viewers drop the second of two with one name. */
Test(report_junit, names_differ)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	(void)hf_test_session_refuse(&test, "a.toml", "openat");
	(void)hf_test_session_refuse(&test, "a.toml", "openat2");
	(void)hf_test_session_add(&test, "a.toml", "write");
	hf_report_junit(&test.session, "", &out);
	cr_expect_not_null(strstr(out.data, "tests=\"3\" failures=\"3\""));
	cr_expect_not_null(strstr(out.data, "classname=\"holdfast\" "
					    "name=\"a.toml: open for "
					    "writing\""));
	cr_expect_not_null(strstr(out.data, "name=\"a.toml: open for writing "
					    "(2)\""));
	cr_expect_not_null(strstr(out.data, "name=\"a.toml: write\""));
}

Test(report_junit, landed)
{
	struct hf_process candidate = { .pid = 7, .comm = "sh" };
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "write");
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	violation->candidates = &candidate;
	violation->candidate_count = 1;
	violation->test = "a suite: a test";
	hf_report_junit(&test.session, " --root x", &out);
	violation->candidates = NULL;
	violation->candidate_count = 0;
	cr_expect_not_null(strstr(out.data, "classname=\"holdfast\" name=\"a "
					    "suite: a test: a.toml: write\""));
	cr_expect_not_null(strstr(out.data, "<failure type=\"changed\" "
					    "message=\"a.toml: written during "
					    "a suite: a test (perhaps sh, pid "
					    "7): 94 -&gt; 12 bytes; put back"));
	cr_expect_not_null(strstr(out.data, "\nduring the test: a suite: a "
					    "test\nperhaps: sh (pid "
					    "7)\nto undo that: holdfast "
					    "undo 42 --root x\n"));
}

Test(report_junit, outside_and_stuck)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "write");
	struct hf_violation *stuck =
		hf_test_session_add(&test, "b.toml", "write");
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	hf_test_session_leave(violation);
	test.session.snapshot.name = (struct hf_name){ "000012-x" };
	stuck->is_stuck = true;
	stuck->is_restored = false;
	test.session.status = HF_SESSION_UNRESTORED;
	test.session.exit_status = HF_STATUS_UNDECIDED;
	hf_report_junit(&test.session, "", &out);
	cr_expect_not_null(strstr(out.data, "tests=\"3\" failures=\"2\" "
					    "errors=\"1\""));
	cr_expect_not_null(strstr(out.data, "name=\"a.toml: changed outside "
					    "the run\" time=\"0\">\n      "
					    "<failure type=\"outside\" "));
	cr_expect_not_null(strstr(out.data, "write\nto go back: holdfast "
					    "restore --from 12 a.toml\n"
					    "</failure>"));
	cr_expect_not_null(strstr(out.data, "to put it back: holdfast restore "
					    "b.toml\n"));
	cr_expect_not_null(strstr(out.data, "name=\"the run\" time=\"0\">\n"
					    "      <error type=\"exit 98\" "
					    "message=\"not everything is as "
					    "before"));
}

Test(report_junit, not_begun)
{
	test.session.status = HF_SESSION_ERROR;
	test.session.exit_status = HF_STATUS_FAILURE;
	(void)hf_fail(&test.session.error, HF_ERR_USAGE, "cannot run: <x>");
	(void)hf_fail_hint(&test.session.error, "try \"y\"");
	expect(HEAD("tests=\"1\" failures=\"0\" errors=\"1\"")
	       "    <testcase classname=\"holdfast\" name=\"the run\" "
	       "time=\"0\">\n"
	       "      <error type=\"exit 125\" message=\"cannot run: "
	       "&lt;x&gt;\">cannot run: &lt;x&gt;\ntry &quot;y&quot;</error>\n"
	       "    </testcase>\n" TAIL);
}

/* Should it be killed, an earlier report must not stand for it. */
Test(report_junit, running)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	test.session.status = HF_SESSION_RUNNING;
	test.session.ended_ns = 0;
	hf_report_junit(&test.session, "", &out);
	cr_expect_not_null(strstr(out.data, " tests=\"1\" failures=\"0\" "
					    "errors=\"1\" time=\"0.000\""));
	cr_expect_not_null(strstr(out.data, "<error type=\"running\" "
					    "message=\"the run has not "
					    "ended\">"));
}

static const struct {
	const char *name;
	const char *path;
	const char *xml;
} names[] = {
	{ "markup", "<&>\"'", "&lt;&amp;&gt;&quot;&#39;" },
	{ "the end of raw text", "]]>", "]]&gt;" },
	{ "line end and tab", "a\n\tb", "a&#10;&#9;b" },
	{ "controls", "\001\033\r", "\357\277\275\357\277\275\357\277\275" },
	{ "UTF-8", "\303\244\360\237\230\200", "\303\244\360\237\230\200" },
	{ "not UTF-8", "\377a\303", "\357\277\275a\357\277\275" },
	{ "a surrogate", "\355\240\200", "\357\277\275\357\277\275\357\277\275" },
	{ "no characters", "\357\277\276\357\277\277\357\277\275",
	  "\357\277\275\357\277\275\357\277\275" },
};

Test(report_junit, names)
{
	for (size_t i = 0; i < HF_COUNT(names); i++) {
		struct hf_test_session one;
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
		cleanup_buffer struct hf_buffer wanted = HF_BUFFER_INIT;

		hf_test_session_init(&one);
		(void)hf_test_session_add(&one, names[i].path, "write");
		hf_report_junit(&one.session, "", &out);
		hf_buffer_printf(&wanted, " name=\"%s: write\"", names[i].xml);
		cr_expect_not_null(strstr(out.data, wanted.data), "%s\n%s",
				   names[i].name, out.data);
		hf_test_session_done(&one);
	}
}

static const struct {
	const char *test;
	const char *file;	/* NULL: of another form */
	const char *classes;
	const char *name;
} ids[] = {
	{ "t.py::a", "t.py", "", "a" },
	{ "d/t.py::a (call)", "d/t.py", "", "a" },
	{ "t.py::A::b (teardown)", "t.py", "A", "b" },
	{ "t.py::A::B::c[x::y] (setup)", "t.py", "A::B", "c[x::y]" },
	{ "t.py::a[(call)]", "t.py", "", "a[(call)]" },
	{ "t.py::", "t.py", "", "" },
	{ ".py::a", NULL, NULL, NULL },
	{ "t.rs::a", NULL, NULL, NULL },
	{ "module::a", NULL, NULL, NULL },
	{ "a test", NULL, NULL, NULL },
	{ "", NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};

static void expect_part(const char *part, size_t len, const char *wanted)
{
	cr_expect(len == strlen(wanted) && memcmp(part, wanted, len) == 0,
		  "%.*s, wanted %s", (int)len, part, wanted);
}

Test(report_junit, test_ids)
{
	for (size_t i = 0; i < HF_COUNT(ids); i++) {
		struct hf_test_id id;
		const bool is_id = hf_test_id_parse(ids[i].test, &id);

		cr_assert_eq(is_id, ids[i].file != NULL, "%s", ids[i].test);
		if (!is_id)
			continue;
		expect_part(id.file, id.file_len, ids[i].file);
		expect_part(id.classes, id.classes_len, ids[i].classes);
		expect_part(id.name, id.name_len, ids[i].name);
	}
}
