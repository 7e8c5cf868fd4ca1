/* SPDX-License-Identifier: MIT */
/* The JSON report: every member of the contract, and names that are hostile. */
#include "report/json.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "core/json.h"
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

TestSuite(report_json, .init = setup, .fini = teardown);

static struct hf_json *report(void)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_json *json = NULL;
	struct hf_error err = { 0 };

	hf_report_json(&test.session, "", 3, &text);
	cr_assert_eq(hf_buffer_check(&text, &err), 0);
	cr_assert_eq(hf_json_parse_document("report", text.data, text.len,
					    &json, &err), 0,
		     "%s\n%s", err.text, text.data);
	return json;
}

/* The members of an object, in order, and no others. */
static void expect_keys(const hf_json_value *object, const char *const *keys,
			size_t count)
{
	const hf_json_value *member = hf_json_first(object);

	for (size_t i = 0; i < count; i++) {
		cr_assert_not_null(member, "no %s", keys[i]);
		cr_expect_str_eq(hf_json_key(member), keys[i]);
		member = hf_json_next(member);
	}
	cr_expect_null(member, "also %s", hf_json_key(member));
}

static void expect_text(const hf_json_value *object, const char *key,
			const char *text)
{
	const char *got = hf_json_string(hf_json_get(object, key));

	if (text == NULL)
		cr_expect(got == NULL && hf_json_get(object, key) != NULL,
			  "%s: %s", key, got);
	else
		cr_expect(got != NULL && strcmp(got, text) == 0,
			  "%s: got %s, wanted %s", key,
			  got == NULL ? "nothing" : got, text);
}

static void expect_null(const hf_json_value *object, const char *key)
{
	cr_expect_str_eq(hf_json_kind(hf_json_get(object, key)), "null");
}

static void expect_number(const hf_json_value *object, const char *key,
			  uint64_t number)
{
	uint64_t got = UINT64_MAX;

	cr_expect(hf_json_number(hf_json_get(object, key), &got) &&
		  got == number, "%s: %llu", key, (unsigned long long)got);
}

static void expect_bool(const hf_json_value *object, const char *key,
			bool value)
{
	bool got = !value;

	cr_expect(hf_json_bool(hf_json_get(object, key), &got) && got == value,
		  "%s", key);
}

Test(report_json, clean)
{
	static const char *const keys[] = {
		"holdfast",	"session",    "root",	       "command",
		"started",	"ended",      "status",	       "error",
		"exit",		"layers",     "messages_lost", "protected",
		"verified",	"leftovers",  "allowed",       "outside",
		"side_effects", "violations",
	};
	cleanup_json struct hf_json *json = report();
	const hf_json_value *root = hf_json_root(json);
	const hf_json_value *exit = hf_json_get(root, "exit");
	const hf_json_value *layers = hf_json_get(root, "layers");

	expect_keys(root, keys, HF_COUNT(keys));
	expect_text(root, "session", "000042-20261130T030007Z");
	expect_text(root, "root", "/home/u/project");
	expect_text(root, "started", "2026-11-30T03:00:07.000000001Z");
	expect_text(root, "ended", "2026-11-30T03:00:08.000000002Z");
	expect_text(root, "status", "clean");
	expect_number(root, "messages_lost", 3);
	expect_number(root, "protected", 6);
	expect_number(exit, "holdfast", 0);
	expect_number(hf_json_get(exit, "command"), "code", 0);
	expect_text(hf_json_get(exit, "command"), "signal", NULL);
	expect_text(hf_json_get(layers, "gate"), "state", "unavailable");
	expect_text(hf_json_get(layers, "watch"), "state", "complete");
	expect_text(layers, "final_look", "content");
	cr_expect_null(hf_json_first(hf_json_get(root, "violations")));
	cr_expect_str_eq(hf_json_string(hf_json_first(hf_json_get(root,
								  "command"))),
			 "pytest");
}

Test(report_json, violation)
{
	static const char *const keys[] = {
		"path",		  "path_bytes", "rule",
		"operation",	  "detail",	"change",
		"landed",	  "restored",	"kept",		  "fix",	"retry",
		"error",	  "before",	"after",
		"count",	  "time",	"test",
		"test_certainty", "process",	"candidates",
	};
	static char words[] = "python3\0-m\0pytest";
	struct hf_process process = {
		.pid = 4711,
		.comm = "python3",
		.command_line = words,
		.command_line_len = sizeof(words),
	};
	struct hf_violation *violation =
		hf_test_session_add(&test, "config.toml", "write");
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *value;
	const hf_json_value *word;

	violation->candidates = &process;
	violation->candidate_count = 1;
	json = report();
	violation->candidates = NULL;
	violation->candidate_count = 0;
	value = hf_json_first(hf_json_get(hf_json_root(json), "violations"));
	expect_keys(value, keys, HF_COUNT(keys));
	expect_text(value, "path", "config.toml");
	expect_text(value, "path_bytes", NULL);
	expect_text(value, "change", "content");
	expect_bool(value, "landed", true);
	expect_bool(value, "restored", true);
	expect_bool(value, "retry", false);
	expect_text(value, "kept", "kept/000042-20261130T030007Z/config.toml");
	expect_text(value, "fix", "holdfast undo 42");
	expect_number(value, "count", 1);
	expect_text(value, "time", "2026-11-30T03:00:07.500000000Z");
	expect_number(hf_json_get(value, "before"), "size", 94);
	expect_text(hf_json_get(value, "before"), "kind", "file");
	expect_text(hf_json_get(value, "before"), "mode", "0644");
	expect_number(hf_json_get(value, "after"), "size", 12);
	value = hf_json_first(hf_json_get(value, "candidates"));
	expect_number(value, "pid", 4711);
	word = hf_json_first(hf_json_get(value, "argv"));
	cr_expect_str_eq(hf_json_string(word), "python3");
	word = hf_json_next(hf_json_next(word));
	cr_expect_str_eq(hf_json_string(word), "pytest");
	cr_expect_null(hf_json_next(word));
}

static const struct {
	const char *name;
	const char *path;
	const char *text;
	const char *bytes;
} names[] = {
	{ "plain", "a.toml", "a.toml", NULL },
	{ "a quote and a newline", "a\"\n.toml", "a\"\n.toml", NULL },
	{ "an escape", "\033[31m", "\033[31m", NULL },
	{ "UTF-8", "\303\244.toml", "\303\244.toml", NULL },
	{ "not UTF-8", "a\377", "a\357\277\275", "Yf8=" },
};

/* argv of "python3 -m pytest", for those who do not look at it. */
static struct hf_process process_of(int64_t pid, const char *comm)
{
	static char words[] = "python3\0-m\0pytest";
	struct hf_process process = {
		.pid = pid,
		.command_line = words,
		.command_line_len = sizeof(words),
	};

	(void)strncpy(process.comm, comm, sizeof(process.comm) - 1);
	return process;
}

Test(report_json, refused)
{
	static const char *const keys[] = {
		"pid", "tid", "comm", "exe", "argv", "cwd", "inside", "parents",
	};
	struct hf_process parents[] = {
		process_of(4710, "sh"),
		process_of(4709, "make"),
	};
	struct hf_culprit culprit = {
		.process = process_of(4711, "python3"),
		.tid = 4712,
		.exe = "/usr/bin/python3.13",
		.cwd = "",
		.is_inside = true,
		.parents = parents,
		.parent_count = HF_COUNT(parents),
	};
	struct hf_violation *violation =
		hf_test_session_refuse(&test, "config.toml", "openat");
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *value;

	violation->detail = "O_WRONLY|O_TRUNC";
	violation->culprit = &culprit;
	violation->test = "tests/test_a.py::test_b (call)";
	violation->is_test_exact = true;
	violation->count = 5000;
	json = report();
	value = hf_json_first(hf_json_get(hf_json_root(json), "violations"));
	expect_text(value, "operation", "openat");
	expect_text(value, "detail", "O_WRONLY|O_TRUNC");
	expect_text(value, "change", "none");
	expect_bool(value, "landed", false);
	expect_bool(value, "restored", false);
	expect_text(value, "kept", NULL);
	expect_text(value, "fix", NULL);
	expect_number(hf_json_get(value, "before"), "size", 94);
	expect_null(value, "after");
	expect_number(value, "count", 5000);
	expect_text(value, "test", "tests/test_a.py::test_b (call)");
	expect_text(value, "test_certainty", "exact");
	value = hf_json_get(value, "process");
	expect_keys(value, keys, HF_COUNT(keys));
	expect_number(value, "pid", 4711);
	expect_number(value, "tid", 4712);
	expect_text(value, "comm", "python3");
	expect_text(value, "exe", "/usr/bin/python3.13");
	expect_text(value, "cwd", NULL);
	expect_bool(value, "inside", true);
	cr_expect_str_eq(
		hf_json_string(hf_json_first(hf_json_get(value, "argv"))),
		"python3");
	value = hf_json_first(hf_json_get(value, "parents"));
	expect_number(value, "pid", 4710);
	cr_expect_str_eq(
		hf_json_string(hf_json_first(hf_json_get(value, "argv"))),
		"python3");
	value = hf_json_next(value);
	expect_number(value, "pid", 4709);
	cr_expect_null(hf_json_next(value));
}

Test(report_json, test_certainty)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "config.toml", "write");
	cleanup_json struct hf_json *near = NULL;
	cleanup_json struct hf_json *none = NULL;

	violation->test = "tests/test_a.py::test_b (call)";
	near = report();
	violation->test = NULL;
	violation->is_test_exact = true;
	none = report();
	expect_text(
		hf_json_first(hf_json_get(hf_json_root(near), "violations")),
		"test_certainty", "near");
	expect_text(
		hf_json_first(hf_json_get(hf_json_root(none), "violations")),
		"test_certainty", NULL);
}

/* What a person changed is no violation: it stands where the openers stand. */
Test(report_json, outside)
{
	static const char *const changed[] = {
		"path", "path_bytes", "comm", "pid", "argv", "changed",
		"change", "fix", "before", "after", "time",
	};
	struct hf_outsider outsiders[] = {
		{ .path = "a\377", .process = process_of(11, "cat") },
		{ .path = "config.toml", .process = process_of(12, "vim"),
		  .has_changed = true },
	};
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *value;

	hf_test_session_leave(hf_test_session_add(&test, "config.toml",
						  "write"));
	hf_test_session_leave(hf_test_session_add(&test, "b.toml", "write"));
	(void)hf_test_session_add(&test, "c.toml", "write");
	test.session.snapshot.name = (struct hf_name){ "000012-x" };
	test.session.outsiders = outsiders;
	test.session.outsider_count = HF_COUNT(outsiders);
	json = report();
	value = hf_json_first(hf_json_get(hf_json_root(json), "violations"));
	expect_text(value, "path", "c.toml");
	cr_expect_null(hf_json_next(value));
	value = hf_json_first(hf_json_get(hf_json_root(json), "outside"));
	expect_keys(value, changed, HF_COUNT(changed));
	expect_text(value, "path", "config.toml");
	expect_text(value, "comm", "vim");
	expect_number(value, "pid", 12);
	expect_bool(value, "changed", true);
	expect_text(value, "change", "content");
	expect_text(value, "fix", "holdfast restore --from 12 config.toml");
	expect_number(hf_json_get(value, "before"), "size", 94);
	expect_number(hf_json_get(value, "after"), "size", 12);
	value = hf_json_next(value);
	expect_text(value, "path", "b.toml");
	expect_text(value, "comm", NULL);
	expect_null(value, "pid");
	cr_expect_null(hf_json_first(hf_json_get(value, "argv")));
	value = hf_json_next(value);
	/* Opened only. */
	expect_keys(value, changed, 6);
	expect_text(value, "path_bytes", "Yf8=");
	expect_number(value, "pid", 11);
	expect_bool(value, "changed", false);
	cr_expect_null(hf_json_next(value));
}

Test(report_json, side_effects)
{
	static const char *const keys[] = {"what", "pid", "argv", "count"};
	struct hf_side_effect effect = {
		.what = "io_uring was refused",
		.process = process_of(33, "node"),
		.count = 12,
	};
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *value;

	test.session.side_effects = &effect;
	test.session.side_effect_count = 1;
	json = report();
	value = hf_json_first(hf_json_get(hf_json_root(json), "side_effects"));
	expect_keys(value, keys, HF_COUNT(keys));
	expect_text(value, "what", "io_uring was refused");
	expect_number(value, "pid", 33);
	expect_number(value, "count", 12);
}

Test(report_json, layers)
{
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *layers;

	test.session.gate = HF_LAYER_ON;
	test.session.gate_why = "stale";
	test.session.leases_wanted = 6;
	test.session.leases_held = 5;
	json = report();
	layers = hf_json_get(hf_json_root(json), "layers");
	expect_text(hf_json_get(layers, "gate"), "state", "on");
	expect_text(hf_json_get(layers, "gate"), "why", NULL);
	expect_number(hf_json_get(layers, "leases"), "held_throughout", 5);
	expect_number(hf_json_get(layers, "leases"), "wanted", 6);
}

Test(report_json, paths)
{
	for (size_t i = 0; i < HF_COUNT(names); i++)
		(void)hf_test_session_add(&test, names[i].path, "write");
	cleanup_json struct hf_json *json = report();
	const hf_json_value *value =
		hf_json_first(hf_json_get(hf_json_root(json), "violations"));

	for (size_t i = 0; i < HF_COUNT(names); i++) {
		cr_assert_not_null(value, "%s", names[i].name);
		expect_text(value, "path", names[i].text);
		expect_text(value, "path_bytes", names[i].bytes);
		value = hf_json_next(value);
	}
}

Test(report_json, allowed)
{
	const char *paths[HF_COUNT(names)];

	for (size_t i = 0; i < HF_COUNT(names); i++)
		paths[i] = names[i].path;
	test.session.allowed = paths;
	test.session.allowed_count = HF_COUNT(names);
	cleanup_json struct hf_json *json = report();
	const hf_json_value *value =
		hf_json_first(hf_json_get(hf_json_root(json), "allowed"));

	for (size_t i = 0; i < HF_COUNT(names); i++) {
		cr_assert_not_null(value, "%s", names[i].name);
		expect_text(value, "path", names[i].text);
		expect_text(value, "path_bytes", names[i].bytes);
		value = hf_json_next(value);
	}
	cr_expect_null(value);
	test.session.allowed = NULL;
	test.session.allowed_count = 0;
}

Test(report_json, stuck)
{
	struct hf_violation *violation =
		hf_test_session_add(&test, "it's.toml", "remove");
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *value;

	violation->is_stuck = true;
	violation->is_restored = false;
	violation->error = "cannot write: no space";
	violation->has_after = false;
	violation->change = HF_CHANGE_MISSING;
	violation->kept = NULL;
	test.session.status = HF_SESSION_UNRESTORED;
	json = report();
	value = hf_json_first(hf_json_get(hf_json_root(json), "violations"));
	expect_text(hf_json_root(json), "status", "unrestored");
	expect_text(value, "change", "missing");
	expect_bool(value, "restored", false);
	expect_text(value, "kept", NULL);
	expect_text(value, "error", "cannot write: no space");
	expect_text(value, "fix", "holdfast restore 'it'\\''s.toml'");
}

static const struct {
	const char *name;
	bool has_result;
	int code;
	int signal;
	int exec_errno;
	enum hf_session_status status;
	int exit_status;
	uint64_t number;	/* UINT64_MAX: null */
} exits[] = {
	{ "its own", true, 3, 0, 0, HF_SESSION_CLEAN, 0, 3 },
	{ "a signal", true, -1, 15, 0, HF_SESSION_CLEAN, 0, 143 },
	{ "not found", false, -1, 0, ENOENT, HF_SESSION_ERROR, 127, 127 },
	{ "not executable", false, -1, 0, EACCES, HF_SESSION_ERROR, 126, 126 },
	{ "ours", true, 0, 0, 0, HF_SESSION_VIOLATED, 97, 97 },
	{ "not begun", false, -1, 0, 0, HF_SESSION_ERROR, 125, 125 },
	{ "running", false, -1, 0, 0, HF_SESSION_RUNNING, 0, UINT64_MAX },
};

Test(report_json, exit)
{
	for (size_t i = 0; i < HF_COUNT(exits); i++) {
		struct hf_session *session = &test.session;
		const hf_json_value *value;
		uint64_t number = UINT64_MAX;

		session->has_command_result = exits[i].has_result;
		session->command_code = exits[i].code;
		session->command_signal = exits[i].signal;
		session->exec_errno = exits[i].exec_errno;
		session->status = exits[i].status;
		session->exit_status = exits[i].exit_status;
		cleanup_json struct hf_json *json = report();
		value = hf_json_get(hf_json_root(json), "exit");
		(void)hf_json_number(hf_json_get(value, "holdfast"), &number);
		cr_expect_eq(number, exits[i].number, "%s: %llu",
			     exits[i].name, (unsigned long long)number);
		cr_expect_eq(hf_json_is_object(hf_json_get(value, "command")),
			     exits[i].has_result, "%s", exits[i].name);
	}
}

/* A reader of the file while the run goes on finds this line. */
Test(report_json, running_is_a_line)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	test.session.status = HF_SESSION_RUNNING;
	hf_report_json(&test.session, "", 3, &text);
	cr_expect_not_null(strstr(text.data, "\n  \"status\": \"running\","));
}
