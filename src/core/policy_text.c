/* SPDX-License-Identifier: MIT */
/* What `holdfast init` writes. */
#include "core/policy_text.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/policy.h"
#include "core/replace.h"
#include "platform/file.h"

#define POLICY_MODE 0644 /* as a file that goes into version control */

static const char head[] =
	"// What holdfast protects in this project, and what it does when a\n"
	"// protected file changes.  Every key may be left out: what stands "
	"here\n"
	"// beside \"protect\" is the default.  'man holdfast.json' has it "
	"all.\n"
	"{\n"
	"  // Patterns, relative to the directory of this file: * ? [a-z] "
	"within\n"
	"  // a name, ** across directories, / at the end for a whole tree, ! "
	"in\n"
	"  // front takes out (\"!pyproject.toml\"); the last that matches "
	"decides.\n"
	"  // ~/ and / name files elsewhere.  This file is always protected.\n"
	"  // 'holdfast run --dry-run -- true' lists what they name.\n"
	"  \"protect\": [";

static const char tail[] =
	"],\n"
	"\n"
	"  // What every command may change all the same, as patterns: "
	"recorded\n"
	"  // and listed, not put back.  And what some commands may change:\n"
	"  // { \"match\": \"uv add*\", \"allow\": [\"pyproject.toml\"] }\n"
	"  \"allow\": [],\n"
	"  \"commands\": [],\n"
	"\n"
	"  // Refuse changes before they happen: \"auto\" where that is "
	"possible,\n"
	"  // \"require\" or do not start, \"off\".\n"
	"  \"gate\": \"auto\",\n"
	"  // Opening for update without writing, as SQLite does to read:\n"
	"  // \"observe\" lets it through, \"refuse\" does not.\n"
	"  \"read-write-opens\": \"observe\",\n"
	"  // A change by the command that did land: \"stop\" the command and "
	"put\n"
	"  // back, or put back and \"keep-going\".\n"
	"  \"on-landed\": \"stop\",\n"
	"  // What you change during a run: let it \"stay\", or \"restore\" "
	"it, too.\n"
	"  \"on-outside\": \"stay\",\n"
	"  // What changed since the last run: \"say\" so, or \"stop\" before "
	"it.\n"
	"  \"on-drift\": \"say\",\n"
	"  // Processes that outlive the command: \"end\" them, or \"wait\".\n"
	"  \"leftovers\": \"end\",\n"
	"  // Do not start when fewer entries than this are protected.\n"
	"  \"min-protected\": 1,\n"
	"\n"
	"  // How much of the past the store keeps: the newest contents of "
	"every\n"
	"  // file, all of so many days, and below this size altogether.\n"
	"  \"retention\": { \"contents\": 20, \"days\": 90, \"size\": \"2G\" "
	"}\n"
	"}\n";

int hf_policy_text(const char *const *patterns, size_t count,
		   struct hf_buffer *text, struct hf_error *err)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	const size_t start = text->len;
	int rc;

	hf_buffer_add_text(text, head);
	for (size_t i = 0; i < count; i++) {
		const size_t len = strlen(patterns[i]);

		if (!hf_is_utf8(patterns[i], len))
			return hf_fail(err, HF_ERR_USAGE,
				       "cannot write the pattern '%s': it is "
				       "not UTF-8",
				       HF_QUOTE(patterns[i]));
		hf_buffer_add_text(text, i == 0 ? "\n    " : ",\n    ");
		hf_buffer_add_json(text, patterns[i], len);
	}
	if (count > 0)
		hf_buffer_add_text(text, "\n  ");
	hf_buffer_add_text(text, tail);
	rc = hf_buffer_check(text, err);
	if (rc < 0)
		return rc;
	return hf_policy_parse(&policy, HF_POLICY_NAME, text->data + start,
			       text->len - start, NULL, err);
}

int hf_policy_create(int dir_fd, const char *text, size_t len,
		     struct hf_error *err)
{
	cleanup_replace struct hf_replace rep = HF_REPLACE_INIT;
	int rc;

	rc = hf_replace_begin(&rep, dir_fd, HF_POLICY_NAME, POLICY_MODE, err);
	if (rc == HF_ERR_SYSTEM)
		return hf_fail_system(err, -err->sys_errno, "cannot make '%s'",
				      HF_POLICY_NAME);
	if (rc < 0)
		return rc;
	rc = hf_file_write(rep.fd, text, len);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot write '%s'",
				      HF_POLICY_NAME);
	rc = hf_replace_flush(&rep, err);
	if (rc < 0)
		return rc;
	rc = hf_file_rename_new_at(dir_fd, rep.tmp, dir_fd, HF_POLICY_NAME);
	if (rc == -EEXIST)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot make '%s': it is there already",
			       HF_POLICY_NAME);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot make '%s'",
				      HF_POLICY_NAME);
	rep.tmp[0] = '\0';
	rc = hf_file_sync(dir_fd);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot flush the directory of '%s'",
				      HF_POLICY_NAME);
	return 0;
}
