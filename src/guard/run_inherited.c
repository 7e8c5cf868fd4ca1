/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that the command would have from its first moment, and through which
 * it could write to a protected file without ever opening it: nobody could refuse
 * that.
 */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "guard/run.h"

static const struct hf_entry *entry_of(const struct hf_run *run,
				       const struct hf_inherited *inherited)
{
	const struct hf_tree *const tree = &run->session.snapshot.tree;

	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (entry->stat.ino == inherited->ino &&
		    entry->stat.dev == inherited->dev &&
		    (entry->role == HF_ROLE_PROTECTED ||
		     entry->role == HF_ROLE_SIDE_FILE))
			return entry;
	}
	return NULL;
}

/* One that we keep for ourselves is closed in the command. */
static bool is_kept(const struct hf_run *run, int fd)
{
	for (size_t i = 0; i < run->options->keep_count; i++)
		if (run->options->keep[i] == fd)
			return true;
	return false;
}

static int refuse(int fd, const struct hf_entry *entry, struct hf_error *err)
{
	static const char *const names[] = {
		"standard input",
		"standard output",
		"standard error",
	};

	if (fd >= 0 && fd < (int)HF_COUNT(names))
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot run: %s is open for writing to '%s', "
			      "which is protected",
			      names[fd], HF_QUOTE(entry->path));
	else
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot run: descriptor %d is open for writing "
			      "to '%s', which is protected",
			      fd, HF_QUOTE(entry->path));
	return hf_fail_hint(err,
			    "send it elsewhere, or let the command write "
			    "there with '--allow %s'",
			    HF_QUOTE(entry->path));
}

int hf_run_check_inherited(const struct hf_run *run, struct hf_error *err)
{
	cleanup_free struct hf_inherited *inherited = NULL;
	const int count = hf_process_inherited(&inherited);

	if (count < 0)
		return hf_fail_system(err, count,
				      "cannot run: open descriptors");
	for (int i = 0; i < count; i++) {
		const struct hf_entry *const entry =
			entry_of(run, &inherited[i]);

		if (entry && !is_kept(run, inherited[i].fd))
			return refuse(inherited[i].fd, entry, err);
	}
	return 0;
}
