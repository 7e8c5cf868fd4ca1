/* SPDX-License-Identifier: MIT */
/* The table of commands. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/suggest.h"

#define EVERY_DAY	"every day"
#define REPAIR		"repair"
#define UPKEEP		"upkeep"

const struct hf_command hf_commands[HF_COMMANDS] = {
	[HF_COMMAND_RUN] = { "run", EVERY_DAY,
		"[options] [--] COMMAND [ARG...]", "guard one command",
		hf_cmd_run },
	[HF_COMMAND_STATUS] = { "status", EVERY_DAY, "",
		"how things stand, and the next command to type",
		hf_cmd_status },
	[HF_COMMAND_UNDO] = { "undo", EVERY_DAY, "[ID]",
		"bring back what the last run or restore replaced",
		hf_cmd_undo },
	[HF_COMMAND_INIT] = { "init", EVERY_DAY, "",
		"find what deserves protection, write holdfast.json",
		hf_cmd_init },
	[HF_COMMAND_LOG] = { "log", REPAIR, "[--path FILE] [-n N]",
		"sessions and snapshots, newest first", hf_cmd_log },
	[HF_COMMAND_SHOW] = { "show", REPAIR, "SNAPSHOT[:PATH]",
		"what a snapshot holds, or one file's bytes", hf_cmd_show },
	[HF_COMMAND_DIFF] = { "diff", REPAIR,
		"[SNAPSHOT [SNAPSHOT]] [PATH...]", "what differs",
		hf_cmd_diff },
	[HF_COMMAND_RESTORE] = { "restore", REPAIR,
		"[PATH...] [--from SNAPSHOT]",
		"put back what differs from a snapshot", hf_cmd_restore },
	[HF_COMMAND_RECOVER] = { "recover", REPAIR,
		"[--put-back PATH...] [--keep-mine PATH...]",
		"settle a session that did not end", hf_cmd_recover },
	[HF_COMMAND_SNAPSHOT] = { "snapshot", UPKEEP, "",
		"record the protected files as they are", hf_cmd_snapshot },
	[HF_COMMAND_VERIFY] = { "verify", UPKEEP, "[SNAPSHOT] | --store",
		"compare every protected file, or check the store",
		hf_cmd_verify },
	[HF_COMMAND_KEPT] = { "kept", UPKEEP,
		"[show ID:PATH | restore ID [PATH...]]",
		"what was replaced, and bring it back", hf_cmd_kept },
	[HF_COMMAND_PRUNE] = { "prune", UPKEEP, "[--dry-run]",
		"drop what the policy's retention does not keep",
		hf_cmd_prune },
	[HF_COMMAND_PURGE] = { "purge", UPKEEP, "PATH...",
		"take all that a path has held out of the store",
		hf_cmd_purge },
	[HF_COMMAND_EXPORT] = { "export", UPKEEP, "[SNAPSHOT] FILE",
		"write snapshots to a file that tar can read",
		hf_cmd_export },
	[HF_COMMAND_IMPORT] = { "import", UPKEEP, "FILE",
		"take the snapshots of an exported file into the store",
		hf_cmd_import },
	[HF_COMMAND_STORE] = { "store", UPKEEP,
		"list | path | adopt [DIR] | drop [DIR|ROOT]",
		"where stores are; take one over, or remove it",
		hf_cmd_store },
	[HF_COMMAND_HOOK] = { "hook", UPKEEP,
		"install | uninstall [NAME...] | run NAME [ARG...]",
		"let git call holdfast", hf_cmd_hook },
	[HF_COMMAND_DOCTOR] = { "doctor", UPKEEP, "[DIR]",
		"try on decoys what holds here", hf_cmd_doctor },
	[HF_COMMAND_HELP] = { "help", UPKEEP, "[COMMAND] | --completion SHELL",
		"describe a command, or complete it in a shell", hf_cmd_help },
};

enum hf_command_id hf_command_find(const char *name)
{
	enum hf_command_id id = HF_COMMAND_RUN;

	while (id < HF_COMMANDS && strcmp(hf_commands[id].name, name) != 0)
		id++;
	return id;
}

void hf_command_fail_unknown(const char *name, struct hf_error *err)
{
	struct hf_suggestion suggestion = { .typed = name };

	for (size_t i = 0; i < HF_COMMANDS; i++)
		hf_suggest(&suggestion, hf_commands[i].name);
	(void)hf_fail(err, HF_ERR_USAGE, "cannot %s '%s': %s",
		      name[0] == '-' ? "use" : "find the command",
		      HF_QUOTE(name), name[0] == '-' ?
		      "options stand behind the command" :
		      "there is no such command");
	if (suggestion.nearest != NULL)
		(void)hf_fail_hint(err, "did you mean '%s'?",
				   suggestion.nearest);
	else
		(void)hf_fail_hint(err, "'holdfast help' lists the commands");
}

int hf_command_find_project(struct hf_project *project,
			    const struct hf_options *options,
			    const char *store, struct hf_error *err)
{
	const int rc =
		hf_project_init(project, &options->policy, store, err);

	if (rc == HF_ERR_DENIED || rc == HF_ERR_LIMIT)
		err->code = HF_ERR_USAGE;
	return rc < 0 ? err->code : 0;
}

int hf_command_explain(const struct hf_project *project, struct hf_error *err)
{
	if (err->code != HF_ERR_NOTHING)
		return err->code;
	(void)hf_fail(err, HF_ERR_NOTHING, "nothing is recorded yet of '%s'",
		      HF_QUOTE(project->root));
	return hf_fail_hint(err, "'holdfast run -- COMMAND' records before it "
				 "starts, 'holdfast snapshot' at once");
}

int hf_command_open(struct hf_project *project,
		    const struct hf_options *options,
		    enum hf_store_open_mode mode, struct hf_error *err)
{
	int rc;

	rc = hf_command_find_project(project, options, options->store, err);
	if (rc < 0)
		return rc;
	rc = hf_project_open_store(project, mode, err);
	return rc < 0 ? hf_command_explain(project, err) : 0;
}
