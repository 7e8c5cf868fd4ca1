/* SPDX-License-Identifier: MIT */
/* What is said of the layers of a run, and of what they made different. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "report/layers.h"
#include "report/text.h"
#include "support/session.h"

static struct hf_test_session test;
static struct hf_text_style style;
static char words[] = "python3\0-m\0foo bar";
static struct hf_process python = {
	.pid = 4711,
	.comm = "python3",
	.command_line = words,
	.command_line_len = sizeof(words),
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

TestSuite(report_layers, .init = setup, .fini = teardown);

static void expect_finished(const char *text)
{
	hf_test_session_expect_finished(&test, &style, text);
}

Test(report_layers, gate)
{
	static const struct {
		enum hf_layer_state state;
		const char *why;
		bool is_quiet;
		const char *text;
	} rows[] = {
		{ HF_LAYER_ON, NULL, false, "" },
		{ HF_LAYER_OFF, "turned off", false, "" },
		{ HF_LAYER_UNAVAILABLE, "another listener\n", false,
		  "holdfast: note: the gate is off: another listener\\n; "
		  "changes are noticed, put back and fail the run\n" },
		{ HF_LAYER_UNAVAILABLE, NULL, false,
		  "holdfast: note: the gate is off: unknown; changes are "
		  "noticed, put back and fail the run\n" },
		{ HF_LAYER_UNAVAILABLE, "another listener", true, "" },
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

		test.session.gate = rows[i].state;
		test.session.gate_why = rows[i].why;
		style.is_quiet = rows[i].is_quiet;
		hf_report_text_gate(&test.session, &style, &out);
		hf_test_expect_said(&out, rows[i].text);
	}
}

Test(report_layers, layers)
{
	struct hf_outsider outsiders[] = {
		{ .path = "a.toml", .process = python },
		{ .path = "b.toml" },
		{ .path = "c.toml", .has_changed = true },
	};

	test.session.outsiders = outsiders;
	test.session.outsider_count = HF_COUNT(outsiders);
	test.session.gate = HF_LAYER_ON;
	test.session.leases_wanted = 6;
	test.session.leases_held = 4;
	expect_finished("");
	style.is_verbose = true;
	expect_finished("holdfast: a.toml: opened for writing outside the run "
			"by python3 -m 'foo bar' (pid 4711), and not changed\n"
			"holdfast: b.toml: opened for writing outside the "
			"run, and not changed\n"
			"holdfast: gate on, leases held on 4 of 6 files, "
			"watch complete\n"
			"holdfast: 0 violations, 0 files changed, 6 of 6 "
			"verified\n");
	test.session.outsider_count = 0;
	test.session.leases_wanted = 0;
	test.session.gate = HF_LAYER_OFF;
	test.session.gate_why = "turned off";
	test.session.is_watch_complete = false;
	test.session.is_watch_told = true;
	test.session.watch_why = "overflow";
	expect_finished("holdfast: gate off (turned off), watch incomplete "
			"(overflow)\n"
			"holdfast: 0 violations, 0 files changed, 6 of 6 "
			"verified\n");
}

Test(report_layers, side_effects)
{
	struct hf_side_effect effects[22] = {
		{ .what = "io_uring was refused", .process = python,
		  .count = 1200 },
		{ .what = "sudo ran without its privilege", .count = 1 },
	};

	test.session.side_effects = effects;
	test.session.side_effect_count = 2;
	expect_finished("holdfast: note: io_uring was refused, 1,200 times: "
			"python3 -m 'foo bar' (pid 4711)\n"
			"holdfast: note: sudo ran without its privilege\n");
	style.is_quiet = true;
	expect_finished("");
	style.is_quiet = false;
	for (size_t i = 2; i < HF_COUNT(effects); i++)
		effects[i] = effects[1];
	test.session.side_effect_count = HF_COUNT(effects);
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	hf_report_text_finished(&test.session, &style, &out);
	cr_expect_not_null(strstr(out.data, "\nholdfast: note: ... and 2 more: "
					    "see the report\n"));
}
