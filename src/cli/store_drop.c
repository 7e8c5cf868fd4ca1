/* SPDX-License-Identifier: MIT */
/* holdfast store drop: remove a store, and all that was recorded in it. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/command.h"
#include "core/stores.h"
#include "report/json.h"

/* Which one: that of the word, or of this project. */
static int find(const struct hf_options *options, const char *word,
		char **ret_path, struct hf_error *err)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	cleanup_free char *path = NULL;
	int rc;

	if (word) {
		/* Made absolute; links resolved where it is there. */
		rc = hf_store_locate(word, "/", &path, err);
		return rc < 0 ? rc : hf_stores_find(path, ret_path, err);
	}
	rc = hf_command_find_project(&project, options, options->store, err);
	if (rc < 0)
		return rc;
	*ret_path = take_ptr(&project.store_path);
	return 0;
}

static void describe(const struct hf_stores_drop *drop, struct hf_buffer *out)
{
	struct hf_short_text size;

	hf_buffer_add_text(out, "the store ");
	hf_text_add_name(out, drop->store.path);
	hf_buffer_add_text(out, " of ");
	hf_text_add_name(out, drop->item.root);
	hf_buffer_add_text(out, " has ");
	hf_text_add_count(out, drop->item.snapshots, "snapshot", "snapshots");
	hf_buffer_add_text(out, " and ");
	hf_text_add_count(out, drop->kept, "set of kept copies",
			  "sets of kept copies");
	hf_buffer_printf(out, ", %s%s\n",
			 hf_format_size(&size, drop->item.bytes),
			 drop->item.state == HF_ROOT_GONE
				 ? "; that project is gone, and nothing else "
				   "of it may be left"
				 : "");
}

/* 1: yes, 0: no; without a terminal it has to be said beforehand. */
static int may_drop(const struct hf_stores_drop *drop,
		    const struct hf_options *options, const char *word,
		    struct hf_output *output, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	const char *const named = word ? word : options->store;

	if (options->has_yes && named && strcmp(named, drop->store.path) == 0)
		return 1;
	if (!hf_ask_is_possible()) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot drop the store '%s': nobody is at a "
			      "terminal to ask",
			      HF_QUOTE(drop->store.path));
		return hf_fail_hint(err, "name it in full, and say --yes");
	}
	describe(drop, &lines);
	return hf_ask(output, &lines, "drop all of it for good?");
}

static void tell(const struct hf_stores_drop *drop, bool is_done, bool is_left,
		 const struct hf_options *options, struct hf_output *output)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	struct hf_short_text size;

	if (options->is_json) {
		hf_buffer_add_text(&out, "{\"holdfast-json\": 1, \"command\": "
					 "\"store drop\", ");
		hf_report_json_path(drop->store.path, &out);
		hf_buffer_add_text(&out, ", \"root\": ");
		hf_report_json_text(drop->item.root, &out);
		hf_buffer_printf(&out,
				 ", \"dropped\": %s, \"directory_left\": %s, "
				 "\"bytes\": %" PRIu64 "}\n",
				 is_done ? "true" : "false",
				 is_left || !is_done ? "true" : "false",
				 drop->item.bytes);
		hf_output_result(output, &out);
	} else if (!options->is_quiet) {
		hf_output_say(output,
			      is_done ? "dropped the store '%s', %s"
				      : "the store '%s' stays, %s",
			      HF_QUOTE(drop->store.path),
			      hf_format_size(&size, drop->item.bytes));
	}
	if (is_left)
		hf_output_mark(output, "note",
			       "'%s' itself stays: something is in it that is "
			       "not the store's, or it cannot be removed",
			       HF_QUOTE(drop->store.path));
}

static int drop_store(const struct hf_options *options,
		      struct hf_output *output, struct hf_error *err)
{
	cleanup_stores_drop struct hf_stores_drop drop = HF_STORES_DROP_INIT;
	const char *const word = options->words[1];
	cleanup_free char *path = NULL;
	int rc;

	if (options->word_count > 2)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot drop more than one store at a time");
	rc = find(options, word, &path, err);
	if (rc == 0)
		rc = hf_stores_drop_begin(&drop, path, err);
	if (rc == 0)
		rc = may_drop(&drop, options, word, output, err);
	if (rc <= 0) {
		if (rc == 0)
			tell(&drop, false, false, options, output);
		return rc;
	}
	rc = hf_stores_drop_commit(&drop, err);
	if (rc < 0)
		return rc;
	tell(&drop, true, rc > 0, options, output);
	return 0;
}

int hf_cmd_store_drop(const struct hf_options *options,
		      struct hf_output *output)
{
	struct hf_error err = {0};

	if (drop_store(options, output, &err) < 0)
		return hf_output_fail(output, &err);
	return HF_STATUS_DONE;
}
