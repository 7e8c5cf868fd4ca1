/* SPDX-License-Identifier: MIT */
/* A policy put together from a file and options, and what it allows. */
#include "core/policy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/json.h"
#include "support/tmpdir.h"

/* -- options over the file -------------------------------------------- */

static char *dir;

static void setup(void)
{
	char *const made = hf_tmpdir_make();

	dir = realpath(made, NULL);
	cr_assert(dir && strcmp(dir, made) == 0, "/tmp is a link");
	free(made);
	cr_assert_eq(chdir(dir), 0);
}

static void teardown(void)
{
	hf_tmpdir_remove(dir);
}

static void put(const char *name, const char *text)
{
	FILE *const file = fopen(name, "w");

	cr_assert(file, "%s", name);
	(void)fputs(text, file);
	(void)fclose(file);
}

/* The policy of dir with the file name in it; NULL: no file. */
static int load(struct hf_policy *policy,
		const struct hf_policy_options *options, const char *name,
		struct hf_error *err)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name ? name : "");
	return hf_policy_load(policy, options, dir, name ? path : NULL, err);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct {
	const char *name;
	const char *file;	/* NULL: none */
	const char *const *protect;
	const char *const *exclude;
	const char *path;
	const char *rule;
} load_rows[] = {
	{"default without a file", NULL, NULL, NULL, "a.toml", "*.toml"},
	{"default of a silent file", "{}", NULL, NULL, "a.toml", "*.toml"},
	{"default, the file itself", "{}", NULL, NULL, "holdfast.json",
	 "holdfast.json"},
	{"default, less", NULL, NULL, TEXTS("x.toml"), "x.toml", NULL},
	{"default, less, the rest", NULL, NULL, TEXTS("x.toml"), "a.toml",
	 "*.toml"},
	{"no default beside an option", NULL, TEXTS("a"), NULL, "a.toml", NULL},
	{"no default beside the file's", "{\"protect\":[\"a\"]}", NULL, NULL,
	 "a.toml", NULL},
	{"no default when the file says nothing is", "{\"protect\":[]}", NULL,
	 NULL, "a.toml", NULL},
	{"an empty option list", NULL, &(const char *const){NULL}, NULL,
	 "a.toml", "*.toml"},
	{"options come behind", "{\"protect\":[\"!a\"]}", TEXTS("a"), NULL,
	 "a", "a"},
	{"options add", "{\"protect\":[\"b\"]}", TEXTS("a"), NULL, "b", "b"},
	{"exclude comes last", "{\"protect\":[\"a\"]}", TEXTS("*"), TEXTS("a"),
	 "a", NULL},
	{"exclude an exclamation", NULL, TEXTS("*"), TEXTS("!a"), "!a", NULL},
	{"the file in spite of !", "{\"protect\":[\"*\", \"!holdfast.json\"]}",
	 NULL, NULL, "holdfast.json", "holdfast.json"},
	{"the file in spite of --exclude", "{}", NULL, TEXTS("*"),
	 "holdfast.json", "holdfast.json"},
	{"the file in spite of all", "{\"protect\":[]}", NULL, TEXTS("**"),
	 "holdfast.json", "holdfast.json"},
};

Test(policy, load, .init = setup, .fini = teardown)
{
	for (size_t i = 0; i < HF_COUNT(load_rows); i++) {
		const struct hf_policy_options options = {
			.protect = load_rows[i].protect,
			.exclude = load_rows[i].exclude,
		};
		cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
		struct hf_error err;
		const char *rule;

		if (load_rows[i].file)
			put("holdfast.json", load_rows[i].file);
		cr_assert_eq(load(&policy, &options,
				  load_rows[i].file ? "holdfast.json" : NULL,
				  &err), 0, "%s: %s", load_rows[i].name,
			     err.text);
		rule = hf_patterns_match(policy.protect, load_rows[i].path,
					 false);
		cr_expect((rule && load_rows[i].rule) ?
				  strcmp(rule, load_rows[i].rule) == 0 :
				  rule == load_rows[i].rule,
			  "%s: %s", load_rows[i].name, rule ? rule : "out");
	}
}

Test(policy, load_settings, .init = setup, .fini = teardown)
{
	const struct hf_policy_options silent = {.root = NULL};
	const struct hf_policy_options loud = {
		.has_gate = true,
		.gate = HF_GATE_AUTO,
		.has_on_landed = true,
		.on_landed = HF_LANDED_STOP,
		.has_leftovers = true,
		.leftovers = HF_LEFTOVERS_END,
		.has_min_protected = true,
		.min_protected = 0,
	};
	struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	put("p.json", "{\"gate\":\"off\",\"on-landed\":\"keep-going\","
		      "\"leftovers\":\"wait\",\"min-protected\":9}");
	cr_assert_eq(load(&policy, &silent, "p.json", &err), 0);
	cr_expect_eq(policy.gate, HF_GATE_OFF);
	cr_expect_eq(policy.on_landed, HF_LANDED_KEEP_GOING);
	cr_expect_eq(policy.leftovers, HF_LEFTOVERS_WAIT);
	cr_expect_eq(policy.min_protected, 9);
	cr_expect_str_eq(policy.file_entry, "p.json");
	hf_policy_done(&policy);
	cr_expect_null(policy.file);

	cr_assert_eq(load(&policy, &loud, "p.json", &err), 0);
	cr_expect_eq(policy.gate, HF_GATE_AUTO);
	cr_expect_eq(policy.on_landed, HF_LANDED_STOP);
	cr_expect_eq(policy.leftovers, HF_LEFTOVERS_END);
	cr_expect_eq(policy.min_protected, 0);
	hf_policy_done(&policy);

	cr_assert_eq(load(&policy, &silent, NULL, &err), 0);
	cr_expect_eq(policy.min_protected, 1);
	cr_expect_eq(policy.retention.contents, 20);
	cr_expect_null(policy.file);
	cr_expect_null(policy.file_entry);
	hf_policy_done(&policy);
}

Test(policy, load_wrong, .init = setup, .fini = teardown)
{
	static const char *const bad[] = {"[x", NULL};
	const struct hf_policy_options none = {.root = NULL};
	const struct hf_policy_options lists[] = {
		{.protect = bad}, {.exclude = bad}, {.allow = bad},
	};
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	put("p.json", "{\n\"gat\":1}");
	cr_expect_eq(load(&policy, &none, "p.json", &err), HF_ERR_USAGE);
	cr_expect_str_eq(err.text, "p.json:2:1: unknown key 'gat'");
	hf_policy_done(&policy);
	cr_expect_eq(load(&policy, &none, "missing.json", &err), HF_ERR_USAGE);
	cr_expect(strstr(err.text, "missing.json': No such file"), "%s",
		  err.text);
	hf_policy_done(&policy);
	for (size_t i = 0; i < HF_COUNT(lists); i++) {
		cr_expect_eq(load(&policy, &lists[i], NULL, &err),
			     HF_ERR_USAGE);
		cr_expect(strstr(err.text, "[x' has no closing bracket"), "%s",
			  err.text);
		hf_policy_done(&policy);
	}
}

Test(policy, load_too_large, .init = setup, .fini = teardown)
{
	const struct hf_policy_options none = {.root = NULL};
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	put("p.json", "");
	cr_assert_eq(truncate("p.json", (off_t)HF_JSON_DOCUMENT_MAX + 1), 0);
	cr_expect_eq(load(&policy, &none, "p.json", &err), HF_ERR_LIMIT);
}

Test(policy, load_outside, .init = setup, .fini = teardown)
{
	const struct hf_policy_options none = {.root = NULL};
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;
	char root[4096];
	char file[4096];

	(void)snprintf(root, sizeof(root), "%s/project", dir);
	(void)snprintf(file, sizeof(file), "%s/p[1].json", dir);
	hf_buffer_printf(&text, "{\"protect\":[\"%s/a\",\"%s/b\"]}", root, dir);
	put(file, text.data);
	cr_assert_eq(hf_policy_load(&policy, &none, root, file, &err), 0, "%s",
		     err.text);
	cr_expect_str_eq(policy.file_entry, file);
	cr_expect(hf_patterns_match(policy.protect, file, false));
	/* What lies beneath the root is relative, however it was written. */
	cr_expect(hf_patterns_match(policy.protect, "a", false));
	(void)snprintf(file, sizeof(file), "%s/b", dir);
	cr_expect(hf_patterns_match(policy.protect, file, false));
}

Test(policy, load_link, .init = setup, .fini = teardown)
{
	const struct hf_policy_options none = {.root = NULL};
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	put("real.json", "{\"protect\":[],\"allow\":[\"*\"]}");
	cr_assert_eq(symlink("real.json", "holdfast.json"), 0);
	cr_assert_eq(load(&policy, &none, "holdfast.json", &err), 0);
	cr_expect(hf_patterns_match(policy.protect, "holdfast.json", false));
	cr_expect(hf_patterns_match(policy.protect, "real.json", false));
	cr_expect_null(hf_policy_allows(&policy, NULL, "real.json", false));
}

/* -- allow ------------------------------------------------------------ */

Test(policy, allows, .init = setup, .fini = teardown)
{
	const struct {
		const char *name;
		const char *const *argv;
		const char *path;
		const char *rule;
	} rows[] = {
		{"allowed to all", TEXTS("x"), "cache/a", "cache/"},
		{"allowed without a command", NULL, "cache/a", "cache/"},
		{"taken out again", TEXTS("x"), "cache/keep", NULL},
		{"by an option", TEXTS("x"), "o", "o"},
		{"to the command", TEXTS("uv", "add", "y"), "p.toml", "p.toml"},
		{"to another", TEXTS("uv", "run"), "p.toml", NULL},
		{"to a prefix", TEXTS("uv"), "p.toml", NULL},
		{"without a command", NULL, "p.toml", NULL},
		{"no words", &(const char *const){NULL}, "p.toml", NULL},
		{"words, not text", TEXTS("uv add"), "p.toml", "p.toml"},
		{"second rule", TEXTS("make", "a", "b"), "m", "?"},
		{"another path", TEXTS("make", "a", "b"), "mm", NULL},
		{"never the policy", TEXTS("x"), "holdfast.json", NULL},
		{"never the policy, by a command", TEXTS("all"),
		 "holdfast.json", NULL},
		{"all else", TEXTS("all"), "z", "**"},
	};
	const struct hf_policy_options options = {
		.allow = TEXTS("o", "holdfast.json"),
	};
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	put("holdfast.json",
	    "{\"allow\": [\"cache/\", \"!cache/keep\"], \"commands\": [\n"
	    "{\"match\": \"uv add*\", \"allow\": [\"p.toml\"]},\n"
	    "{\"match\": \"make * b\", \"allow\": [\"?\"]},\n"
	    "{\"match\": \"all\", \"allow\": [\"**\"]}]}");
	cr_assert_eq(load(&policy, &options, "holdfast.json", &err), 0, "%s",
		     err.text);
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const char *const rule = hf_policy_allows(
			&policy, rows[i].argv, rows[i].path, false);

		cr_expect((rule && rows[i].rule) ?
				  strcmp(rule, rows[i].rule) == 0 :
				  rule == rows[i].rule,
			  "%s: %s", rows[i].name, rule ? rule : "no");
	}
}
