/* SPDX-License-Identifier: MIT */
/* What a run says, line by line. */
#include "report/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "support/session.h"

#define SECOND_NS INT64_C(1000000000)
#define KEPT	"/state/holdfast/project-1/kept/000042-20261130T030007Z/"

static struct hf_test_session test;
static struct hf_text_style style;

static void setup(void)
{
	hf_test_session_init(&test);
	style = (struct hf_text_style){ .location = "" };
}

static void teardown(void)
{
	hf_test_session_done(&test);
}

TestSuite(report_text, .init = setup, .fini = teardown);

static void expect_finished(const char *text)
{
	hf_test_session_expect_finished(&test, &style, text);
}

Test(report_text, clean_is_silent)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	hf_report_text_begun(&test.session, NULL, &style, &out);
	hf_test_expect_said(&out, "");
	expect_finished("");
	test.session.command_code = 3;
	expect_finished("");
}

Test(report_text, first_is_three_lines)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer quiet = HF_BUFFER_INIT;

	test.session.is_first = true;
	hf_report_text_begun(&test.session, NULL, &style, &out);
	hf_test_expect_said(
		&out, "holdfast: first run here: protects 6 entries in "
		      "/home/u/project\n"
		      "holdfast: what they hold is recorded in "
		      "/state/holdfast/project-1\n"
		      "holdfast: what a run changes is put back, and the "
		      "changed version kept: 'holdfast undo' brings it back\n");
	style.is_quiet = true;
	hf_report_text_begun(&test.session, NULL, &style, &quiet);
	hf_test_expect_said(&quiet, "");
}

Test(report_text, drift)
{
	struct hf_violation *changed =
		hf_test_session_add(&test, "a\033.toml", "write");
	struct hf_delta items[] = {
		{ &changed->before, &changed->after, HF_CHANGE_CONTENT },
		{ NULL, &changed->after, HF_CHANGE_ADDED },
	};
	const struct hf_deltas drift = { .items = items, .count = 2 };
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	test.session.previous = (struct hf_name){ "000012-20261130T030007Z" };
	test.session.previous_ns = test.session.started_ns - 7200 * SECOND_NS;
	style.location = " --root x";
	hf_report_text_begun(&test.session, &drift, &style, &out);
	hf_test_expect_said(
		&out, "holdfast: note: a\\e.toml changed since the last run "
		      "(2 h ago): 94 -> 12 bytes; before: holdfast show "
		      "@{1}:$'a\\033.toml' --root x\n"
		      "holdfast: note: a\\e.toml changed since the last run "
		      "(2 h ago): added, a file of 12 bytes\n");
}

/* Of the same content there is nothing to look at. */
Test(report_text, drift_of_a_mode)
{
	struct hf_violation *changed =
		hf_test_session_add(&test, "a.toml", "write");
	struct hf_delta item = {&changed->before, &changed->after,
				HF_CHANGE_METADATA};
	const struct hf_deltas drift = {.items = &item, .count = 1};
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	test.session.previous = (struct hf_name){"000012-20261130T030007Z"};
	changed->after.stat.mode = 0600;
	changed->before.stat.mode = 0644;
	hf_report_text_begun(&test.session, &drift, &style, &out);
	cr_expect_not_null(strstr(out.data, "mode 0644 -> 0600"));
	cr_expect_not_null(strstr(out.data, "; before: holdfast restore "
					    "--from 12 a.toml\n"));
}

/* What commands may change is no drift, nor what was not protected before. */
Test(report_text, no_drift)
{
	struct hf_violation *changed =
		hf_test_session_add(&test, "a.toml", "write");
	struct hf_delta items[] = {
		{ &changed->before, &changed->after, HF_CHANGE_CONTENT },
		{ NULL, &changed->after, HF_CHANGE_ADDED },
	};
	const struct hf_deltas drift = { .items = items, .count = 2 };
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	changed->before.role = HF_ROLE_ALLOWED;
	test.session.has_policy_changed = true;
	test.session.protected_before = 6;
	test.session.protected_count = 5;
	hf_report_text_begun(&test.session, &drift, &style, &out);
	hf_test_expect_said(
		&out, "holdfast: note: the policy changed since the last run: "
		      "protects 6 -> 5\n");
}

Test(report_text, much_drift)
{
	struct hf_violation *changed =
		hf_test_session_add(&test, "a.toml", "write");
	struct hf_delta items[13];
	const struct hf_deltas drift = { .items = items, .count = 13 };
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	size_t lines = 0;

	for (size_t i = 0; i < HF_COUNT(items); i++)
		items[i] = (struct hf_delta){ &changed->before,
					      &changed->after,
					      HF_CHANGE_CONTENT };
	test.session.previous = (struct hf_name){ "000012-20261130T030007Z" };
	hf_report_text_begun(&test.session, &drift, &style, &out);
	for (size_t i = 0; i < out.len; i++)
		lines += out.data[i] == '\n';
	cr_expect_eq(lines, 11, "%zu lines", lines);
	cr_expect_not_null(strstr(out.data, "holdfast: note: ... and 3 more "
					    "changed; all: holdfast verify "
					    "12\n"));
}

Test(report_text, violation)
{
	static char words[] = "python3\0-m\0pytest";
	struct hf_process processes[3] = {
		{ .pid = 4711, .comm = "python3", .command_line = words,
		  .command_line_len = sizeof(words) },
		{ .pid = 4712, .comm = "dead" },
		{ .pid = 4713, .comm = "b", .command_line = words,
		  .command_line_len = sizeof(words) },
	};
	const struct hf_process dead = processes[1];
	struct hf_violation *violation =
		hf_test_session_add(&test, "config.toml", "write");
	cleanup_buffer struct hf_buffer nobody = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer one = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer two = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer three = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer ended = HF_BUFFER_INIT;

	hf_report_text_violation(&test.session, violation, &style, &nobody);
	hf_test_expect_said(&nobody,
			    "holdfast: changed: config.toml: written\n");
	violation->candidates = processes;
	violation->candidate_count = 1;
	hf_report_text_violation(&test.session, violation, &style, &one);
	hf_test_expect_said(&one,
			    "holdfast: changed: config.toml: written (perhaps "
			    "python3 -m pytest, pid 4711)\n");
	violation->candidate_count = 2;
	/* Who has ended is not named beside one who lives. */
	hf_report_text_violation(&test.session, violation, &style, &two);
	hf_test_expect_said(&two,
			    "holdfast: changed: config.toml: written (perhaps "
			    "python3 -m pytest, pid 4711)\n");
	processes[1] = processes[0];
	processes[0] = dead;
	violation->candidate_count = 1;
	hf_report_text_violation(&test.session, violation, &style, &ended);
	hf_test_expect_said(
		&ended,
		"holdfast: changed: config.toml: written (perhaps dead, "
		"pid 4712)\n");
	violation->candidate_count = 3;
	hf_report_text_violation(&test.session, violation, &style, &three);
	hf_test_expect_said(&three,
			    "holdfast: changed: config.toml: written (perhaps "
			    "python3 -m pytest, pid 4711 or others)\n");
	violation->candidates = NULL;
	violation->candidate_count = 0;
}

Test(report_text, put_back)
{
	(void)hf_test_session_add(&test, "config.toml", "write");
	expect_finished("holdfast: config.toml: 94 -> 12 bytes; put back, the "
			"other version is kept: " KEPT "config.toml\n"
			"holdfast: undo: holdfast undo 42\n"
			"holdfast: 1 violation, 1 file changed and put back, "
			"6 of 6 verified; exit 97 (the command said 0)\n");
	style.is_quiet = true;
	expect_finished("holdfast: 1 violation, 1 file changed and put back, "
			"6 of 6 verified; exit 97 (the command said 0)\n");
}

/* There was nothing to keep, and yet there is something to go back to. */
Test(report_text, undo_of_a_removal)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "remove");

	violation->change = HF_CHANGE_MISSING;
	violation->after.stat.kind = HF_KIND_ABSENT;
	violation->kept = NULL;
	expect_finished("holdfast: a.toml: missing, was a file of 94 bytes; "
			"put back\n"
			"holdfast: undo: holdfast undo 42\n"
			"holdfast: 1 violation, 1 file changed and put back, "
			"6 of 6 verified; exit 97 (the command said 0)\n");
}

/* Two operations on one path: one line, for what came of it. */
Test(report_text, one_line_a_path)
{
	struct hf_violation *undone =
		hf_test_session_add(&test, "b.toml", "rename");

	undone->change = 0;
	undone->kept = NULL;
	(void)hf_test_session_add(&test, "a.toml", "write");
	(void)hf_test_session_add(&test, "b.toml", "write");
	expect_finished("holdfast: a.toml: 94 -> 12 bytes; put back, the "
			"other version is kept: " KEPT "a.toml\n"
			"holdfast: b.toml: 94 -> 12 bytes; put back, the "
			"other version is kept: " KEPT "b.toml\n"
			"holdfast: undo: holdfast undo 42\n"
			"holdfast: 3 violations, 2 files changed and put "
			"back, 6 of 6 verified; exit 97 (the command said "
			"0)\n");
}

Test(report_text, undone_by_somebody)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "rename");

	violation->change = 0;
	violation->kept = NULL;
	test.session.was_stopped = true;
	expect_finished("holdfast: a.toml: moved away, and is again as it "
			"was\n"
			"holdfast: 1 violation, 0 files changed, 6 of 6 "
			"verified; exit 97 (the command was ended)\n");
	violation->operation = "write";
	expect_finished("holdfast: a.toml: written, and is again as it was\n"
			"holdfast: 1 violation, 0 files changed, 6 of 6 "
			"verified; exit 97 (the command was ended)\n");
	violation->operation = "create";
	violation->before = (struct hf_entry){ .path = NULL };
	expect_finished("holdfast: a.toml: created, and is gone again\n"
			"holdfast: 1 violation, 0 files changed, 6 of 6 "
			"verified; exit 97 (the command was ended)\n");
}

/* What was added is moved away, not put back. */
Test(report_text, added)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "create");

	violation->before = (struct hf_entry){ .path = NULL };
	violation->change = HF_CHANGE_ADDED;
	style.is_quiet = true;
	expect_finished("holdfast: 1 violation, 1 file added and moved away, "
			"6 of 6 verified; exit 97 (the command said 0)\n");
	(void)hf_test_session_add(&test, "b.toml", "write");
	expect_finished("holdfast: 2 violations, 1 file changed and put back, "
			"1 file added and moved away, 6 of 6 verified; exit 97 "
			"(the command said 0)\n");
	violation->is_restored = false;
	expect_finished("holdfast: 2 violations, 1 file changed and put back, "
			"1 file added, 0 moved away, 6 of 6 verified; exit 97 "
			"(the command said 0)\n");
}

/* A command that goes on changes a file again and again. */
Test(report_text, kept_several_times)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "write");

	/* It was missing once; in the end it had other content. */
	violation->change = HF_CHANGE_CONTENT | HF_CHANGE_MISSING;
	violation->kept_count = 3;
	violation->kept = "kept/000042-20261130T030007Z/a.toml~3";
	expect_finished("holdfast: a.toml: 94 -> 12 bytes; put back, 3 other "
			"versions are kept, the last: " KEPT "a.toml~3\n"
			"holdfast: undo: holdfast undo 42\n"
			"holdfast: 1 violation, 1 file changed and put back, "
			"6 of 6 verified; exit 97 (the command said 0)\n");
}

Test(report_text, unrestored)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "a.toml", "write");

	violation->is_restored = false;
	violation->is_stuck = true;
	violation->kept = NULL;
	violation->error = "cannot replace 'a.toml': no space left";
	test.session.status = HF_SESSION_UNRESTORED;
	test.session.exit_status = HF_STATUS_UNDECIDED;
	test.session.verified_count = 5;
	style.is_quiet = true;
	expect_finished("holdfast: a.toml: 94 -> 12 bytes; cannot be put "
			"back: cannot replace 'a.toml': no space left\n"
			"holdfast: hint: remove the cause, then 'holdfast "
			"status' shows what differs, 'holdfast restore' tries "
			"again\n"
			"holdfast: 1 violation, 1 file changed, 0 put back, 5 "
			"of 6 verified; exit 98 (the command said 0)\n");
}

Test(report_text, unended)
{
	struct hf_process processes[] = {
		{ .pid = 99, .comm = "cat" },
		{ .pid = 100, .comm = "dog", .has_ended = true },
	};

	test.session.leftovers = (struct hf_processes){
		.items = processes, .count = 2,
	};
	test.session.unended = 1;
	test.session.status = HF_SESSION_UNRESTORED;
	test.session.exit_status = HF_STATUS_UNDECIDED;
	style.is_quiet = true;
	expect_finished("holdfast: cannot end a process the command left "
			"behind: cat (pid 99)\n"
			"holdfast: 1 process of the command cannot be ended "
			"and may still write\n"
			"holdfast: hint: when it has ended, 'holdfast verify' "
			"tells whether it wrote after the last look\n"
			"holdfast: 0 violations, 0 files changed, 6 of 6 "
			"verified; exit 98 (the command said 0)\n");
}

/* However many: the summary stays on a screen, and counts them all. */
Test(report_text, many)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	char name[32];
	size_t lines = 0;

	for (int i = 0; i < 51; i++) {
		struct hf_violation *violation;

		(void)snprintf(name, sizeof(name), "%02d.toml", i);
		violation = hf_test_session_add(&test, name, "write");
		/* What could not be put back is never left out. */
		violation->is_stuck = i == 50;
	}
	hf_report_text_finished(&test.session, &style, &out);
	for (size_t i = 0; i < out.len; i++)
		lines += out.data[i] == '\n';
	cr_expect_eq(lines, 20 + 1 + 3, "%zu lines", lines);
	cr_expect_not_null(strstr(out.data, "holdfast: 50.toml: "));
	cr_expect_not_null(strstr(out.data, "holdfast: ... and 31 more: "));
	cr_expect_not_null(strstr(out.data, "51 violations, 51 files changed "
					    "and put back"));
}

Test(report_text, collision)
{
	static const int codes[] = { 97, 98, 125, 126, 127 };

	style.is_quiet = true;
	for (size_t i = 0; i < HF_COUNT(codes); i++) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
		cleanup_buffer struct hf_buffer wanted = HF_BUFFER_INIT;

		test.session.command_code = codes[i];
		hf_report_text_finished(&test.session, &style, &out);
		hf_buffer_printf(&wanted, "holdfast: exit %d is the command's "
				 "own: no protected file of /home/u/project "
				 "was touched\n",
				 codes[i]);
		hf_test_expect_said(&out, wanted.data);
	}
}

Test(report_text, leftovers)
{
	struct hf_process process = {
		.pid = 99, .comm = "sleep\n", .has_ended = true,
	};

	test.session.leftovers = (struct hf_processes){
		.items = &process, .count = 1,
	};
	expect_finished("");
	style.is_verbose = true;
	test.session.gate = HF_LAYER_ON;
	expect_finished("holdfast: ended a process the command left behind: "
			"$'sleep\\n' (pid 99)\n"
			"holdfast: gate on, watch complete\n"
			"holdfast: 0 violations, 0 files changed, 6 of 6 "
			"verified\n");
	process.has_ended_itself = true;
	expect_finished("holdfast: waited for a process the command left "
			"behind: $'sleep\\n' (pid 99)\n"
			"holdfast: gate on, watch complete\n"
			"holdfast: 0 violations, 0 files changed, 6 of 6 "
			"verified\n");
	process.has_ended_itself = false;
	process.has_ended = false;
	expect_finished("holdfast: cannot end a process the command left "
			"behind: $'sleep\\n' (pid 99)\n"
			"holdfast: gate on, watch complete\n"
			"holdfast: 0 violations, 0 files changed, 6 of 6 "
			"verified\n");
}
