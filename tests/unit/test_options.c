/* SPDX-License-Identifier: MIT */
/* The table of options, what it accepts, and what is said about the rest. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/suggest.h"

TestSuite(options);

struct parsed {
	const char *name;
	enum hf_command_id command;
	const char *argv[10];
	/* What is expected; "" for unset. */
	const char *root;
	const char *report;
	const char *from;
	const char *protect[4];
	const char *words[6];
	bool is_quiet;
	bool is_verbose;
	bool is_json;
	uint64_t limit;
};

static const struct parsed accepted[] = {
	{ .name = "nothing", .command = HF_COMMAND_STATUS },
	{ .name = "a command", .command = HF_COMMAND_RUN,
	  .argv = { "pytest", "-x", "--root", "y" },
	  .words = { "pytest", "-x", "--root", "y" } },
	{ .name = "options end at the command", .command = HF_COMMAND_RUN,
	  .argv = { "--root", "d", "sh", "-q", "--quiet" },
	  .root = "d", .words = { "sh", "-q", "--quiet" } },
	{ .name = "two dashes", .command = HF_COMMAND_RUN,
	  .argv = { "--report=r.json", "--", "--root", "x" },
	  .report = "r.json", .words = { "--root", "x" } },
	{ .name = "the second two dashes are the command's",
	  .command = HF_COMMAND_RUN, .argv = { "--", "git", "--", "x" },
	  .words = { "git", "--", "x" } },
	{ .name = "repeated patterns", .command = HF_COMMAND_RUN,
	  .argv = { "--protect", "a", "--protect=b", "--protect", "!c", "x" },
	  .protect = { "a", "b", "!c" }, .words = { "x" } },
	{ .name = "an empty value", .command = HF_COMMAND_STATUS,
	  .argv = { "--root=" }, .root = "" },
	{ .name = "options behind paths", .command = HF_COMMAND_RESTORE,
	  .argv = { "a.toml", "--from", "3", "b.toml", "--json" },
	  .from = "3", .words = { "a.toml", "b.toml" }, .is_json = true },
	{ .name = "a path that looks like an option",
	  .command = HF_COMMAND_RESTORE,
	  .argv = { "-q", "--", "--from", "-x" },
	  .words = { "--from", "-x" }, .is_quiet = true },
	{ .name = "a lone dash is a word", .command = HF_COMMAND_RESTORE,
	  .argv = { "-", "-v" }, .words = { "-" }, .is_verbose = true },
	{ .name = "letters together", .command = HF_COMMAND_LOG,
	  .argv = { "-qvn5" }, .is_quiet = true, .is_verbose = true,
	  .limit = 5 },
	{ .name = "a letter's value as the next word",
	  .command = HF_COMMAND_LOG, .argv = { "-n", "0" } },
	{ .name = "a value that looks like an option",
	  .command = HF_COMMAND_RUN, .argv = { "--report", "--", "x" },
	  .report = "--", .words = { "x" } },
	{ .name = "a lone dash is a command", .command = HF_COMMAND_RUN,
	  .argv = { "-q", "-", "-v" }, .words = { "-", "-v" },
	  .is_quiet = true },
	{ .name = "an empty word", .command = HF_COMMAND_RESTORE,
	  .argv = { "", "-q", "a" }, .words = { "", "a" }, .is_quiet = true },
	{ .name = "words before and behind the dashes",
	  .command = HF_COMMAND_RESTORE,
	  .argv = { "a", "-q", "b", "--", "-c", "--", "d" },
	  .words = { "a", "b", "-c", "--", "d" }, .is_quiet = true },
};

static void expect_text(const char *name, const char *got, const char *wanted)
{
	if (wanted == NULL)
		cr_expect_null(got, "%s: %s", name, got);
	else
		cr_expect(got != NULL && strcmp(got, wanted) == 0,
			  "%s: got %s, wanted %s", name,
			  got == NULL ? "nothing" : got, wanted);
}

static void expect_list(const char *name, const char *const *got,
			const char *const *wanted)
{
	for (size_t i = 0;; i++) {
		expect_text(name, got[i], wanted[i]);
		if (got[i] == NULL || wanted[i] == NULL)
			break;
	}
}

Test(options, accepts)
{
	for (size_t i = 0; i < HF_COUNT(accepted); i++) {
		const struct parsed *row = &accepted[i];
		cleanup_options struct hf_options options = HF_OPTIONS_INIT;
		struct hf_error err = { 0 };

		options.limit = 0;
		cr_assert_eq(hf_options_parse(&options, row->command,
					      row->argv, &err), 0,
			     "%s: %s", row->name, err.text);
		expect_text(row->name, options.policy.root, row->root);
		expect_text(row->name, options.report, row->report);
		expect_text(row->name, options.from, row->from);
		expect_list(row->name, options.policy.protect, row->protect);
		expect_list(row->name, options.words, row->words);
		cr_expect_eq(options.is_quiet, row->is_quiet, "%s", row->name);
		cr_expect_eq(options.is_verbose, row->is_verbose, "%s",
			     row->name);
		cr_expect_eq(options.is_json, row->is_json, "%s", row->name);
		cr_expect_eq(options.limit, row->limit, "%s", row->name);
	}
}

static const struct {
	const char *name;
	enum hf_command_id command;
	const char *argv[4];
	const char *text;
	const char *hint;	/* part of it */
} refused[] = {
	{ "unknown", HF_COMMAND_RUN, { "--nonsense" },
	  "cannot use '--nonsense': no such option", "" },
	{ "misspelt", HF_COMMAND_RUN, { "--repotr", "x" },
	  "cannot use '--repotr': no such option", "'--report'" },
	{ "misspelt with a value", HF_COMMAND_RUN, { "--rot=x" },
	  "cannot use '--rot': no such option", "'--root'" },
	{ "a beginning is not enough", HF_COMMAND_STATUS, { "--qui" },
	  "cannot use '--qui': no such option", "'--quiet'" },
	{ "another command's", HF_COMMAND_STATUS, { "--report", "x" },
	  "cannot use '--report' here: it belongs to another command", "" },
	{ "json of a run", HF_COMMAND_RUN, { "--json", "x" },
	  "cannot use '--json' here: it belongs to another command",
	  "'--report FILE'" },
	{ "no value", HF_COMMAND_RUN, { "--report" },
	  "cannot use '--report' without a value: it needs FILE", "" },
	{ "no value behind a letter", HF_COMMAND_LOG, { "-n" },
	  "cannot use '--limit' without a value: it needs N", "" },
	{ "no value for a beginning", HF_COMMAND_RUN, { "--repor" },
	  "cannot use '--repor': no such option", "'--report'" },
	{ "a beginning of several", HF_COMMAND_RUN, { "--co" },
	  "cannot use '--co': no such option", "'--co" },
	{ "a beginning with a value", HF_COMMAND_RUN, { "--roo=x", "true" },
	  "cannot use '--roo': no such option", "'--root'" },
	{ "a value too many for a beginning", HF_COMMAND_STATUS,
	  { "--quie=yes" }, "cannot use '--quie': no such option",
	  "'--quiet'" },
	{ "a value and no name", HF_COMMAND_STATUS, { "--=x" },
	  "cannot use '--=x': no such option", "" },
	{ "no value at the end of letters", HF_COMMAND_LOG, { "-qn" },
	  "cannot use '--limit' without a value: it needs N", "" },
	{ "an unknown letter behind known ones", HF_COMMAND_LOG, { "-vW", "x" },
	  "cannot use '-vW': no such option", "" },
	{ "what getopt uses itself", HF_COMMAND_LOG, { "-:" },
	  "cannot use '-:': no such option", "" },
	{ "a question mark", HF_COMMAND_LOG, { "-?" },
	  "cannot use '-?': no such option", "" },
	{ "a value too many", HF_COMMAND_STATUS, { "--quiet=yes" },
	  "cannot use '--quiet' with a value", "" },
	{ "no number", HF_COMMAND_RUN, { "--min-protected", "six" },
	  "cannot use '--min-protected six': not a number", "" },
	{ "a sign", HF_COMMAND_LOG, { "-n-1" },
	  "cannot use '--limit -1': not a number", "" },
	{ "no such form", HF_COMMAND_RUN, { "--annotations", "x" },
	  "cannot use '--annotations x': no such value",
	  "'none', 'github' are possible" },
	{ "no such mode", HF_COMMAND_RUN, { "--gate", "perhaps" },
	  "cannot use '--gate perhaps': no such value",
	  "'auto', 'require' or 'off'" },
	{ "two modes", HF_COMMAND_RUN, { "--leftovers=kill" },
	  "cannot use '--leftovers kill': no such value",
	  "'end', 'wait' are" },
	{ "unknown letter", HF_COMMAND_STATUS, { "-qz" },
	  "cannot use '-qz': no such option", "" },
	{ "a letter of another command", HF_COMMAND_STATUS, { "-n", "1" },
	  "cannot use '-n': no such option", "" },
	{ "an escape sequence", HF_COMMAND_STATUS, { "--\033[31m" },
	  "cannot use '--\\e[31m': no such option", "" },
};

Test(options, refuses)
{
	for (size_t i = 0; i < HF_COUNT(refused); i++) {
		cleanup_options struct hf_options options = HF_OPTIONS_INIT;
		struct hf_error err = { 0 };

		cr_assert_eq(hf_options_parse(&options, refused[i].command,
					      refused[i].argv, &err),
			     HF_ERR_USAGE, "%s", refused[i].name);
		cr_expect_str_eq(err.text, refused[i].text, "%s: %s",
				 refused[i].name, err.text);
		cr_expect_not_null(strstr(err.hint, refused[i].hint),
				   "%s: %s", refused[i].name, err.hint);
	}
}

/* What getopt_long() remembers of one command line says nothing of the next. */
/* What stands behind one of the two belongs to it, up to the other. */
Test(options, recover)
{
	static const char *const argv[] = { "x", "--put-back", "a", "-q", "b",
					    "--keep-mine", "--json", "c", "--",
					    "--put-back", NULL };
	cleanup_options struct hf_options options = HF_OPTIONS_INIT;
	struct hf_error err;

	cr_assert_eq(hf_options_parse(&options, HF_COMMAND_RECOVER, argv, &err),
		     0, "%s", err.text);
	cr_assert_eq(options.word_count, 1);
	cr_expect_str_eq(options.words[0], "x");
	cr_expect(options.is_putting_back && options.is_keeping);
	cr_expect(options.is_json && options.is_quiet);
	cr_expect_str_eq(options.put_back[0], "a");
	cr_expect_str_eq(options.put_back[1], "b");
	cr_expect_null(options.put_back[2]);
	cr_expect_str_eq(options.keep_mine[0], "c");
	cr_expect_str_eq(options.keep_mine[1], "--put-back");
	cr_expect_null(options.keep_mine[2]);
}

Test(options, again)
{
	static const char *const broken[] = { "-qz", "a", "--from", NULL };
	static const char *const whole[] = { "a", "-q", "b", NULL };

	for (int i = 0; i < 2; i++) {
		cleanup_options struct hf_options bad = HF_OPTIONS_INIT;
		cleanup_options struct hf_options good = HF_OPTIONS_INIT;
		struct hf_error err = { 0 };

		cr_assert_eq(hf_options_parse(&bad, HF_COMMAND_RESTORE, broken,
					      &err), HF_ERR_USAGE);
		cr_assert_eq(hf_options_parse(&good, HF_COMMAND_RESTORE, whole,
					      &err), 0, "%s", err.text);
		cr_expect_eq(good.word_count, 2);
		expect_list("again", good.words,
			    (const char *const[]){ "a", "b", NULL });
		cr_expect(good.is_quiet);
	}
}

/* The environment moves no word: it would be the command's. */
Test(options, environment)
{
	static const char *const argv[] = { "a", "--from", "3", NULL };
	cleanup_options struct hf_options options = HF_OPTIONS_INIT;
	struct hf_error err = { 0 };

	cr_assert_eq(setenv("POSIXLY_CORRECT", "1", 1), 0);
	cr_assert_eq(hf_options_parse(&options, HF_COMMAND_RESTORE, argv,
				      &err), 0, "%s", err.text);
	expect_text("from", options.from, "3");
	cr_expect_eq(options.word_count, 1);
}

Test(options, policy)
{
	static const char *const argv[] = {
		"--gate=off", "-x", "--keep-going", "--leftovers", "wait",
		"--min-protected=6", "--allow", "x", "--exclude", "y",
		"--config", "c", "--store", "s", "--color", "never",
		"--junit", "j", "--annotations=github", "true", NULL,
	};
	cleanup_options struct hf_options options = HF_OPTIONS_INIT;
	const struct hf_policy_options *policy = &options.policy;
	struct hf_error err = { 0 };

	cr_assert_eq(hf_options_parse(&options, HF_COMMAND_RUN, argv, &err),
		     0, "%s", err.text);
	cr_expect(policy->has_gate && policy->gate == HF_GATE_OFF);
	cr_expect(options.is_fail_fast);
	cr_expect(policy->has_on_landed &&
		  policy->on_landed == HF_LANDED_KEEP_GOING);
	cr_expect(policy->has_leftovers &&
		  policy->leftovers == HF_LEFTOVERS_WAIT);
	cr_expect(policy->has_min_protected && policy->min_protected == 6);
	expect_text("allow", policy->allow[0], "x");
	expect_text("exclude", policy->exclude[0], "y");
	expect_text("config", policy->config, "c");
	expect_text("store", options.store, "s");
	expect_text("junit", options.junit, "j");
	cr_expect(options.has_annotations);
	cr_expect_eq(options.color, HF_COLOR_NEVER);
}

/* Nothing said is nothing set: the policy file decides. */
Test(options, policy_unset)
{
	static const char *const argv[] = { "true", NULL };
	cleanup_options struct hf_options options = HF_OPTIONS_INIT;
	struct hf_error err = { 0 };

	cr_assert_eq(hf_options_parse(&options, HF_COMMAND_RUN, argv, &err),
		     0);
	cr_expect(!options.policy.has_gate && !options.policy.has_on_landed &&
		  !options.policy.has_leftovers &&
		  !options.policy.has_min_protected);
	cr_expect(!options.is_fail_fast && !options.has_annotations);
	cr_expect_eq(options.limit, HF_LOG_LIMIT);
}

Test(options, table)
{
	const struct hf_option *a;
	const struct hf_option *b;

	for (size_t i = 0; (a = hf_options_at(i)) != NULL; i++) {
		cr_expect(a->commands != 0 && a->help[0] != '\0', "%s",
			  a->name);
		for (size_t k = 0; k < i; k++) {
			b = hf_options_at(k);
			/* A name stands twice only with and without a value. */
			cr_expect(strcmp(a->name, b->name) != 0 ||
				  !a->argument != !b->argument, "%s twice",
				  a->name);
			cr_expect(a->letter == '\0' || a->letter != b->letter,
				  "-%c twice", a->letter);
		}
	}
}

Test(options, commands)
{
	for (size_t i = 0; i < HF_COMMANDS; i++) {
		cr_assert_not_null(hf_commands[i].name, "command %zu", i);
		cr_expect_not_null(hf_commands[i].run);
		cr_expect_eq((size_t)hf_command_find(hf_commands[i].name), i);
	}
	cr_expect_eq(hf_command_find("rnu"), HF_COMMANDS);
	cr_expect_eq(hf_command_find(""), HF_COMMANDS);
}

Test(options, suggestions)
{
	static const struct {
		const char *typed;
		const char *hint;
	} rows[] = {
		{ "rnu", "did you mean 'run'?" },
		{ "stat", "did you mean 'status'?" },
		{ "snapshoot", "did you mean 'snapshot'?" },
		{ "ru", "did you mean 'run'?" },
		{ "foo", "'holdfast help' lists the commands" },
		{ "frobnicate", "'holdfast help' lists the commands" },
		{ "", "'holdfast help' lists the commands" },
		{ "--root", "'holdfast help' lists the commands" },
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_error err = { 0 };

		hf_command_fail_unknown(rows[i].typed, &err);
		cr_expect_eq(err.code, HF_ERR_USAGE);
		cr_expect_str_eq(err.hint, rows[i].hint, "%s: %s",
				 rows[i].typed, err.hint);
	}
}

Test(options, distance)
{
	static const struct {
		const char *a;
		const char *b;
		size_t distance;
	} rows[] = {
		{ "", "", 0 },		{ "run", "run", 0 },
		{ "run", "rnu", 1 },	{ "run", "runs", 1 },
		{ "run", "fun", 1 },	{ "run", "", 3 },
		{ "kitten", "sitting", 3 }, { "ca", "abc", 3 },
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cr_expect_eq(hf_suggest_distance(rows[i].a, rows[i].b),
			     rows[i].distance, "%s %s", rows[i].a, rows[i].b);
		cr_expect_eq(hf_suggest_distance(rows[i].b, rows[i].a),
			     rows[i].distance, "%s %s", rows[i].b, rows[i].a);
	}
}

/* What --store means for verify: alone it has no value. */
Test(options, store_alone)
{
	static const struct {
		const char *argv[6];
		const char *store;
		bool checks;
		bool is_quiet;
		size_t words;
	} rows[] = {
		{ .argv = { "--store" }, .checks = true },
		{ .argv = { "--store", "d" }, .store = "d" },
		{ .argv = { "--store=d" }, .store = "d" },
		{ .argv = { "--store=" }, .store = "" },
		{ .argv = { "--store", "-q" }, .checks = true,
		  .is_quiet = true },
		{ .argv = { "--store", "--store", "d" }, .store = "d",
		  .checks = true },
		{ .argv = { "--store", "d", "--store" }, .store = "d",
		  .checks = true },
		{ .argv = { "--store", "d", "--", "--store" }, .store = "d",
		  .words = 1 },
		{ .argv = { "3", "--store" }, .checks = true, .words = 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup_options struct hf_options options = HF_OPTIONS_INIT;
		struct hf_error err;

		cr_assert(hf_options_parse(&options, HF_COMMAND_VERIFY,
					   rows[i].argv, &err) == 0,
			  "row %zu: %s", i, err.text);
		expect_text("store", options.store, rows[i].store);
		cr_expect(options.checks_store == rows[i].checks, "row %zu", i);
		cr_expect(options.is_quiet == rows[i].is_quiet, "row %zu", i);
		cr_expect(options.word_count == rows[i].words, "row %zu", i);
	}
}
