/* SPDX-License-Identifier: MIT */
/* Workflow commands, line by line. */
#include "report/annotations.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
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

TestSuite(report_annotations, .init = setup, .fini = teardown);

static void expect(const char *text)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	hf_report_annotations(&test.session, "", &out);
	hf_test_expect_said(&out, text);
}

Test(report_annotations, clean)
{
	expect("");
}

Test(report_annotations, refused)
{
	struct hf_violation *violation =
		hf_test_session_refuse(&test, "config.toml", "openat");

	violation->count = 5000;
	expect("::error file=config.toml,title=holdfast%3A a change of a "
	       "protected file was refused::config.toml: refused 5,000 times: "
	       "open for writing\n");
	violation->test = "tests/a,b:c%.py::test_b[1,2] (call)";
	violation->is_test_exact = true;
	expect("::error file=tests/a%2Cb%3Ac%25.py,title=holdfast%3A a change "
	       "of a protected file was refused::config.toml: refused 5,000 "
	       "times: open for writing by tests/a,b:c%25.py::test_b[1,2]\n");
}

Test(report_annotations, landed_and_outside)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "/etc/a\n::error::b", "write");

	violation->kept = NULL;
	expect("::error title=holdfast%3A a protected file was changed::"
	       "/etc/a\\n::error::b: 94 -> 12 bytes; put back\n");
	violation->is_outside = true;
	violation->change = 0;
	expect("::error title=holdfast%3A a protected file was changed outside "
	       "the run::/etc/a\\n::error::b: edited outside the run and left "
	       "so\n");
}

Test(report_annotations, many)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	char name[32];
	size_t lines = 0;

	for (int i = 0; i < 51; i++) {
		(void)snprintf(name, sizeof(name), "%02d.toml", i);
		(void)hf_test_session_refuse(&test, name, "unlink");
	}
	hf_report_annotations(&test.session, "", &out);
	for (size_t i = 0; i < out.len; i++)
		lines += out.data[i] == '\n';
	cr_expect_eq(lines, 21, "%zu lines", lines);
	cr_expect_not_null(strstr(out.data, "\n::error title=holdfast::... and "
					    "31 more, which the report "
					    "names\n"));
}

Test(report_annotations, errors)
{
	test.session.status = HF_SESSION_UNRESTORED;
	test.session.exit_status = HF_STATUS_UNDECIDED;
	expect("::error title=holdfast%3A exit 98::not everything is as "
	       "before: a person must look\n");
	test.session.status = HF_SESSION_ERROR;
	test.session.exit_status = HF_STATUS_FAILURE;
	(void)hf_fail(&test.session.error, HF_ERR_USAGE, "cannot run: 100%%");
	expect("::error title=holdfast%3A exit 125::cannot run: 100%25\n");
}
