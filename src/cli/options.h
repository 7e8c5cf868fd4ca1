/* SPDX-License-Identifier: MIT */
/*
 * The command line: one table of options, from which parsing, `help` and the
 * test of the man page are made.  Pure.
 *
 *	cleanup_options struct hf_options options = HF_OPTIONS_INIT;
 *
 *	rc = hf_options_parse(&options, HF_COMMAND_RUN, argv + 2, err);
 */
#ifndef HF_CLI_OPTIONS_H
#define HF_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/policy.h"

struct hf_error;

/* Also the place in the command table. */
enum hf_command_id {
	HF_COMMAND_RUN,
	HF_COMMAND_STATUS,
	HF_COMMAND_UNDO,
	HF_COMMAND_INIT,
	HF_COMMAND_LOG,
	HF_COMMAND_SHOW,
	HF_COMMAND_DIFF,
	HF_COMMAND_RESTORE,
	HF_COMMAND_RECOVER,
	HF_COMMAND_SNAPSHOT,
	HF_COMMAND_VERIFY,
	HF_COMMAND_KEPT,
	HF_COMMAND_PRUNE,
	HF_COMMAND_PURGE,
	HF_COMMAND_EXPORT,
	HF_COMMAND_IMPORT,
	HF_COMMAND_STORE,
	HF_COMMAND_HOOK,
	HF_COMMAND_DOCTOR,
	HF_COMMAND_HELP,
	HF_COMMANDS /* how many */
};

/* Whose completion `help` prints. */
enum hf_shell { HF_SHELL_NONE, HF_SHELL_BASH, HF_SHELL_ZSH, HF_SHELL_FISH };

enum hf_color_mode { HF_COLOR_AUTO, HF_COLOR_ALWAYS, HF_COLOR_NEVER };

/* All that was said; strings belong to argv. */
struct hf_options {
	struct hf_policy_options policy;
	const char *store;
	const char *report;
	const char *junit;
	bool has_annotations;	/* GitHub's */
	const char *from;
	const char *path;	/* of log */
	const char *to;
	enum hf_color_mode color;
	enum hf_shell shell;
	uint64_t limit;
	bool is_fail_fast;
	bool is_quiet;
	bool is_verbose;
	bool is_json;
	bool is_dry_run;
	bool is_removing;	/* --remove-additions */
	bool checks_store;	/* --store without a value */
	bool has_yes;
	bool is_all;		/* --all */
	bool wants_help;
	const char **words;	/* what is no option, NULL-terminated */
	size_t word_count;
	/* "--" stood behind so many of them. */
	bool has_dashes;
	size_t before_dashes;
	/* What stands behind --put-back and --keep-mine, NULL-terminated. */
	const char **put_back;
	const char **keep_mine;
	const char **list; /* of the two the one that words go to; NULL */
	bool is_putting_back;
	bool is_keeping;
	const char **protect;	/* behind policy's lists, NULL-terminated */
	const char **exclude;
	const char **allow;
};

#define HF_LOG_LIMIT	20

#define HF_OPTIONS_INIT	{ .limit = HF_LOG_LIMIT }
#define cleanup_options	CLEANUP(hf_options_done)

/* An option, for those who describe them. */
struct hf_option {
	const char *name;
	const char *argument;	/* what stands behind it; NULL for nothing */
	const char *help;
	unsigned commands;	/* set of 1u << enum hf_command_id */
	int id;
	char letter;		/* '\0' for none */
};

/* NULL behind the last one. */
const struct hf_option *hf_options_at(size_t index);
/* The words that its value may be, NULL-terminated; NULL where it may be any. */
const char *const *hf_options_words(const struct hf_option *option);

/*
 * argv is NULL-terminated and begins behind the command.  For `run` options end
 * at the first word that is none; everywhere they end at "--".  An option that
 * stands in the table a second time, without a value, has none where it is the last
 * word or another option follows.  HF_ERR_USAGE,
 * with a hint where one was meant that is near.
 */
MUST_CHECK int hf_options_parse(struct hf_options *options,
				enum hf_command_id command,
				const char *const *argv, struct hf_error *err);
void hf_options_done(struct hf_options *options);

#endif /* HF_CLI_OPTIONS_H */
