/* SPDX-License-Identifier: MIT */
/*
 * The command table, and what its commands share.  Every command is a function
 * of its own file that returns the exit status.
 */
#ifndef HF_CLI_COMMAND_H
#define HF_CLI_COMMAND_H

#include "cli/options.h"
#include "cli/output.h"
#include "core/journal.h"
#include "core/project.h"

struct hf_command {
	const char *name;
	const char *group;	/* as `help` shows it */
	const char *arguments;	/* behind the name */
	const char *help;	/* one line */
	int (*run)(const struct hf_options *options, struct hf_output *output);
};

/* By enum hf_command_id. */
extern const struct hf_command hf_commands[HF_COMMANDS];

/* Not found: HF_COMMANDS. */
enum hf_command_id hf_command_find(const char *name);
/* Fill in *err for a name that is none, with the nearest that is one. */
void hf_command_fail_unknown(const char *name, struct hf_error *err);

/*
 * Root, policy and the place of the store.  A policy that cannot be used, for
 * whatever reason, is HF_ERR_USAGE: status 2.
 */
MUST_CHECK int hf_command_find_project(struct hf_project *project,
				       const struct hf_options *options,
				       const char *store,
				       struct hf_error *err);
/* "Nothing is recorded yet": of which project, and how that is done. */
int hf_command_explain(const struct hf_project *project, struct hf_error *err);
/* The same, with the store opened. */
MUST_CHECK int hf_command_open(struct hf_project *project,
			       const struct hf_options *options,
			       enum hf_store_open_mode mode,
			       struct hf_error *err);

int hf_cmd_run(const struct hf_options *options, struct hf_output *output);
int hf_cmd_run_dry(const struct hf_options *options,
		   struct hf_project *project, struct hf_output *output);
int hf_cmd_status(const struct hf_options *options, struct hf_output *output);
int hf_cmd_undo(const struct hf_options *options, struct hf_output *output);
int hf_cmd_init(const struct hf_options *options, struct hf_output *output);
int hf_cmd_log(const struct hf_options *options, struct hf_output *output);
/* The same with --path: the contents of one file. */
MUST_CHECK int hf_log_path(const struct hf_options *options,
			   struct hf_output *output, struct hf_error *err);
int hf_cmd_show(const struct hf_options *options, struct hf_output *output);
int hf_cmd_diff(const struct hf_options *options, struct hf_output *output);
int hf_cmd_restore(const struct hf_options *options, struct hf_output *output);
int hf_cmd_recover(const struct hf_options *options, struct hf_output *output);
int hf_cmd_snapshot(const struct hf_options *options, struct hf_output *output);
int hf_cmd_verify(const struct hf_options *options, struct hf_output *output);
/* The same with --store alone: of the store itself. */
int hf_cmd_verify_store(const struct hf_options *options,
			struct hf_output *output);
int hf_cmd_kept(const struct hf_options *options, struct hf_output *output);
int hf_cmd_prune(const struct hf_options *options, struct hf_output *output);
int hf_cmd_purge(const struct hf_options *options, struct hf_output *output);
int hf_cmd_export(const struct hf_options *options, struct hf_output *output);
int hf_cmd_import(const struct hf_options *options, struct hf_output *output);
/* store list, store drop */
int hf_cmd_store_list(const struct hf_options *options,
		      struct hf_output *output);
int hf_cmd_store_drop(const struct hf_options *options,
		      struct hf_output *output);
int hf_cmd_store(const struct hf_options *options, struct hf_output *output);
int hf_cmd_hook(const struct hf_options *options, struct hf_output *output);
/* Its `run NAME`, which git calls. */
int hf_cmd_hook_run(const struct hf_options *options, struct hf_output *output);
int hf_cmd_doctor(const struct hf_options *options, struct hf_output *output);
int hf_cmd_help(const struct hf_options *options, struct hf_output *output);

/* What `help COMMAND` prints. */
void hf_help_describe(enum hf_command_id command, struct hf_buffer *out);
/* All commands in their groups. */
void hf_help_overview(struct hf_buffer *out);

#endif /* HF_CLI_COMMAND_H */
