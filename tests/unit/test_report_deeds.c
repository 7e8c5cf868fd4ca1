/* SPDX-License-Identifier: MIT */
/* What is said of refusals, and of those who did it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "report/deed.h"
#include "report/groups.h"
#include "report/text.h"
#include "support/session.h"

#define KEPT	"/state/holdfast/project-1/kept/000042-20261130T030007Z/"
#define TEST	"tests/test_a.py::test_b"
#define EXIT	"6 of 6 verified; exit 97 (the command said 0)\n"

static struct hf_test_session test;
static struct hf_text_style style;
static char words[] = "python3\0-m\0foo bar";
static struct hf_culprit python = {
	.process = {
		.pid = 4711,
		.comm = "python3",
		.command_line = words,
		.command_line_len = sizeof(words),
	},
	.tid = 4711,
	.is_inside = true,
};

static void setup(void)
{
	hf_test_session_init(&test);
	style = (struct hf_text_style){ .location = "" };
}

static void teardown(void)
{
	hf_test_session_done(&test);
}

TestSuite(report_deeds, .init = setup, .fini = teardown);

static void expect_said(const struct hf_violation *violation, const char *text)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	hf_report_text_violation(&test.session, violation, &style, &out);
	hf_test_expect_said(&out, text);
}

static void expect_finished(const char *text)
{
	hf_test_session_expect_finished(&test, &style, text);
}

/* A refusal by python in a test; one that is named differently each time is one
 * of its own. */
static struct hf_violation *refuse(const char *path, const char *operation,
				   const char *name)
{
	struct hf_violation *violation =
		hf_test_session_refuse(&test, path, operation);

	violation->culprit = &python;
	violation->test = name;
	violation->is_test_exact = true;
	return violation;
}

Test(report_deeds, refused)
{
	struct hf_violation *violation =
		refuse("config.toml", "openat", TEST " (call)");

	expect_said(violation,
		    "holdfast: refused: config.toml: open for writing by " TEST
		    " (python3, pid 4711); the file is unchanged\n");
	violation->test = TEST " (setup)";
	violation->is_test_exact = false;
	expect_said(violation,
		    "holdfast: refused: config.toml: open for writing during "
		    TEST " (setup) (python3, pid 4711); the file is "
		    "unchanged\n");
	violation->test = NULL;
	expect_said(violation,
		    "holdfast: refused: config.toml: open for writing by "
		    "python3 (pid 4711: python3 -m 'foo bar'); the file is "
		    "unchanged\n");
	violation->test = TEST;
	violation->culprit = NULL;
	violation->candidates = &python.process;
	violation->candidate_count = 1;
	expect_said(violation,
		    "holdfast: refused: config.toml: open for writing during "
		    TEST " (perhaps python3 -m 'foo bar', pid 4711); the file "
		    "is unchanged\n");
	violation->candidates = NULL;
	violation->candidate_count = 0;
	violation->test = NULL;
	expect_said(violation,
		    "holdfast: refused: config.toml: open for writing; the "
		    "file is unchanged\n");
	style.is_quiet = true;
	expect_said(violation, "");
}

Test(report_deeds, culprits)
{
	static char bare[] = "";
	struct hf_culprit culprit = {
		.process = { .pid = 7, .comm = "a\033" },
		.is_inside = true,
	};
	struct hf_violation *violation = refuse("a.toml", "unlinkat", NULL);

	violation->culprit = &culprit;
	expect_said(violation, "holdfast: refused: a.toml: removal by a\\e (pid "
			       "7); the file is unchanged\n");
	culprit.process.command_line = bare;
	culprit.process.command_line_len = 1;
	culprit.is_inside = false;
	expect_said(violation, "holdfast: refused: a.toml: removal by a\\e (pid "
			       "7; not started by the command); the file is "
			       "unchanged\n");
	violation->test = "t.py::x[a\nb] (call)";
	expect_said(violation, "holdfast: refused: a.toml: removal by "
			       "t.py::x[a\\nb] (a\\e, pid 7); the file is "
			       "unchanged\n");
}

/* The words of a call, with something there and without. */
static const struct {
	const char *call;
	const char *words;
	const char *absent;
	const char *absent_end;
} calls[] = {
	{ "open", "open for writing", "creation", "it was not created" },
	{ "openat2", "open for writing", "creation", "it was not created" },
	{ "creat", "open for writing", "creation", "it was not created" },
	{ "truncate", "truncation", "truncation", "nothing was changed" },
	{ "renameat2", "rename", "rename", "nothing was changed" },
	{ "unlink", "removal", "removal", "nothing was changed" },
	{ "rmdir", "removal", "removal", "nothing was changed" },
	{ "fchmodat2", "change of mode", "change of mode",
	  "nothing was changed" },
	{ "lchown", "change of owner", "change of owner",
	  "nothing was changed" },
	{ "utimensat", "change of times", "change of times",
	  "nothing was changed" },
	{ "fsetxattr", "change of an attribute", "change of an attribute",
	  "nothing was changed" },
	{ "lremovexattr", "removal of an attribute", "removal of an attribute",
	  "nothing was changed" },
	{ "ioctl", "change of flags", "change of flags",
	  "nothing was changed" },
	{ "mkdirat", "creation of a directory", "creation of a directory",
	  "it was not created" },
	{ "mknod", "creation of a special file", "creation of a special file",
	  "it was not created" },
	{ "linkat", "creation of a hard link", "creation of a hard link",
	  "it was not created" },
	{ "symlink", "creation of a symbolic link",
	  "creation of a symbolic link", "it was not created" },
	{ "bind", "creation of a socket", "creation of a socket",
	  "it was not created" },
	{ "move_mount", "mount", "mount", "nothing was changed" },
	{ "umount2", "unmount", "unmount", "nothing was changed" },
	{ "pivot_root", "pivot_root", "pivot_root", "nothing was changed" },
};

Test(report_deeds, calls)
{
	for (size_t i = 0; i < HF_COUNT(calls); i++) {
		struct hf_violation there = {
			.operation = calls[i].call,
			.before = { .path = "a",
				    .stat = { .kind = HF_KIND_FILE } },
		};
		struct hf_violation absent = { .operation = calls[i].call };

		cr_expect_str_eq(hf_deed_attempt(&there), calls[i].words);
		cr_expect_str_eq(hf_deed_unchanged(&there),
				 "the file is unchanged");
		cr_expect_str_eq(hf_deed_attempt(&absent), calls[i].absent);
		cr_expect_str_eq(hf_deed_unchanged(&absent),
				 calls[i].absent_end, "%s", calls[i].call);
	}
}

Test(report_deeds, unchanged)
{
	static const struct {
		enum hf_kind kind;
		const char *text;
	} kinds[] = {
		{ HF_KIND_DIRECTORY, "the directory is unchanged" },
		{ HF_KIND_LINK, "the link is unchanged" },
		{ HF_KIND_FIFO, "it is unchanged" },
		{ HF_KIND_ABSENT, "nothing was changed" },
	};
	struct hf_violation violation = {
		.operation = "chmod",
		.before = { .path = "a" },
	};

	for (size_t i = 0; i < HF_COUNT(kinds); i++) {
		violation.before.stat.kind = kinds[i].kind;
		cr_expect_str_eq(hf_deed_unchanged(&violation), kinds[i].text);
	}
}

/* Whatever it was, what may not be right is said, also of a quiet run. */
Test(report_deeds, stuck)
{
	struct hf_violation *violation =
		hf_test_session_refuse(&test, "a.toml", "write");

	violation->is_stuck = true;
	style.is_quiet = true;
	expect_finished("holdfast: a.toml: written; cannot be put back\n"
			"holdfast: 1 violation, 0 files changed, " EXIT);
}

/* A loop is one line, and so is all that one test did to one path. */
Test(report_deeds, grouped)
{
	struct hf_culprit other = python;
	struct hf_violation *violation;

	other.process.pid = 4712;
	refuse("b.toml", "openat", TEST " (call)")->count = 5000;
	refuse("b.toml", "unlink", TEST " (call)")->culprit = &other;
	refuse("b.toml", "unlinkat", TEST " (call)")->culprit = &other;
	(void)refuse("b.toml", "chmod", "tests/test_c.py::test_d (call)");
	(void)refuse("a.toml", "openat2", NULL);
	violation = refuse("a.toml", "truncate", NULL);
	violation->culprit = &other;
	violation->count = 1233;
	/* Who was first is named. */
	violation->time_ns--;
	expect_finished(
		"holdfast: a.toml: refused 1,234 times: open for writing, "
		"truncation by python3 (pid 4712: python3 -m 'foo bar') and 1 "
		"more process\n"
		"holdfast: b.toml: refused 5,002 times: open for writing, "
		"removal by " TEST " (python3, pid 4711 and 1 more process)\n"
		"holdfast: b.toml: refused: change of mode by "
		"tests/test_c.py::test_d (python3, pid 4711)\n"
		"holdfast: 6 violations, 0 files changed, " EXIT);
	style.is_quiet = true;
	expect_finished("holdfast: 6 violations, 0 files changed, " EXIT);
}

Test(report_deeds, many_operations)
{
	static const char *const operations[] = {
		"openat", "open", "unlink", "rename", "chmod", "chown", "link",
	};

	for (size_t i = 0; i < HF_COUNT(operations); i++)
		refuse("a.toml", operations[i], TEST)->time_ns += (int64_t)i;
	expect_finished("holdfast: a.toml: refused 7 times: open for writing, "
			"removal, rename, change of mode, ... by " TEST
			" (python3, pid 4711)\n"
			"holdfast: 7 violations, 0 files changed, " EXIT);
}

/* What landed comes first, and is not hidden by what was refused before. */
Test(report_deeds, landed_and_refused)
{
	char name[32];
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	for (int i = 0; i < 30; i++) {
		(void)snprintf(name, sizeof(name), "a%02d.toml", i);
		(void)refuse(name, "openat", TEST);
	}
	(void)refuse("z.toml", "openat", TEST);
	(void)hf_test_session_add(&test, "z.toml", "write");
	hf_report_text_finished(&test.session, &style, &out);
	cr_expect_eq(strstr(out.data, "holdfast: z.toml: 94 -> 12 bytes; put "
				      "back"),
		     out.data, "%s", out.data);
	cr_expect_not_null(strstr(out.data, "\nholdfast: ... and 12 more: "));
	cr_expect_not_null(strstr(out.data, "\nholdfast: 32 violations, 1 "
					    "file changed and put back, "));
}

Test(report_deeds, landed_by)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "write");
	struct hf_violation *other;

	violation->culprit = &python;
	violation->test = TEST " (call)";
	violation->is_test_exact = true;
	expect_said(violation, "holdfast: changed: a.toml: written by " TEST
			       " (python3, pid 4711)\n");
	expect_finished("holdfast: a.toml: written by " TEST
			" (python3, pid 4711): 94 -> 12 bytes; put back, the "
			"other version is kept: " KEPT "a.toml\n"
			"holdfast: undo: holdfast undo 42\n"
			"holdfast: 1 violation, 1 file changed and put back, "
			EXIT);
	/* One path is one line, whoever else was at it. */
	other = hf_test_session_add(&test, "a.toml", "metadata");
	other->culprit = &python;
	other->test = "tests/test_c.py::test_d (call)";
	other->change = 0;
	violation->is_test_exact = false;
	violation->kept = NULL;
	expect_finished("holdfast: a.toml: written during " TEST " and 1 more "
			"test (python3, pid 4711): 94 -> 12 bytes; put back\n"
			"holdfast: undo: holdfast undo 42\n"
			"holdfast: 2 violations, 1 file changed and put back, "
			EXIT);
}

/* How many processes were at it is said where it can be counted. */
Test(report_deeds, landed_by_several)
{
	struct hf_culprit second = python;
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "write");
	struct hf_violation *other =
		hf_test_session_add(&test, "a.toml", "metadata");
	struct hf_violation *third;

	violation->culprit = &python;
	violation->test = TEST;
	violation->is_test_exact = true;
	violation->kept = NULL;
	other->culprit = &python;
	other->change = 0;
	expect_finished("holdfast: a.toml: written by " TEST
			" (python3, pid 4711): 94 -> 12 bytes; put back\n"
			"holdfast: undo: holdfast undo 42\n"
			"holdfast: 2 violations, 1 file changed and put back, "
			EXIT);
	second.process.pid = 4712;
	other->test = "tests/test_c.py::test_d";
	third = hf_test_session_add(&test, "a.toml", "rename");
	third->culprit = &second;
	third->test = "tests/test_c.py::test_d";
	third->change = 0;
	expect_finished("holdfast: a.toml: written by " TEST " and 1 more "
			"test (python3, pid 4711): 94 -> 12 bytes; put back\n"
			"holdfast: undo: holdfast undo 42\n"
			"holdfast: 3 violations, 1 file changed and put back, "
			EXIT);
}

Test(report_deeds, undone_by)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "rename");

	violation->culprit = &python;
	violation->change = 0;
	violation->kept = NULL;
	expect_finished("holdfast: a.toml: moved away by python3 (pid 4711: "
			"python3 -m 'foo bar'), and is again as it was\n"
			"holdfast: 1 violation, 0 files changed, " EXIT);
}

Test(report_deeds, outside)
{
	struct hf_outsider outsiders[] = {
		{ .path = "a.toml", .process = { .pid = 11, .comm = "cat" } },
		{ .path = "b.toml", .process = { .pid = 13, .comm = "ed" },
		  .has_changed = true },
		{ .path = "a.toml", .process = { .pid = 12, .comm = "vim" },
		  .has_changed = true },
	};
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "write");

	hf_test_session_leave(violation);
	/* Nothing is recorded, nothing can be gone back to. */
	expect_finished("holdfast: a.toml: edited outside the run and left so: "
			"94 -> 12 bytes\n"
			"holdfast: 0 violations, 0 files changed, 1 changed "
			"outside the run and left, " EXIT);
	test.session.snapshot.name = (struct hf_name){ "000012-x" };
	expect_said(violation, "holdfast: changed: a.toml: edited outside the "
			       "run and left so\n");
	test.session.outsiders = outsiders;
	test.session.outsider_count = HF_COUNT(outsiders);
	expect_said(violation, "holdfast: changed: a.toml: edited outside the "
			       "run (vim, pid 12) and left so\n");
	style.location = " --root x";
	expect_finished("holdfast: a.toml: edited outside the run (vim, pid "
			"12) and left so: 94 -> 12 bytes; before: holdfast "
			"restore --from 12 a.toml --root x\n"
			"holdfast: 0 violations, 0 files changed, 1 changed "
			"outside the run and left, " EXIT);
	violation->operation = "create";
	violation->before = (struct hf_entry){ .path = NULL };
	violation->change = HF_CHANGE_ADDED;
	expect_finished("holdfast: a.toml: created outside the run (vim, pid "
			"12) and left so: added, a file of 12 bytes\n"
			"holdfast: 0 violations, 0 files changed, 1 changed "
			"outside the run and left, " EXIT);
}

static const struct {
	uint64_t number;
	const char *text;
} numbers[] = {
	{ 0, "0" },
	{ 999, "999" },
	{ 1000, "1,000" },
	{ 123456, "123,456" },
	{ UINT64_MAX, "18,446,744,073,709,551,615" },
};

Test(report_deeds, numbers)
{
	for (size_t i = 0; i < HF_COUNT(numbers); i++) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

		hf_text_add_many(&out, numbers[i].number);
		hf_test_expect_said(&out, numbers[i].text);
	}
}
