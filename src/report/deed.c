/* SPDX-License-Identifier: MIT */
/* Words for calls and for those who made them. */
#include "report/deed.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "guard/session.h"
#include "report/words.h"

#define ATTEMPTS_SHOWN 4

static bool is_absent(const struct hf_entry *entry)
{
	return entry->path == NULL || entry->stat.kind == HF_KIND_ABSENT;
}

struct attempt {
	const char *call;
	const char *words;
	bool is_creation; /* when nothing is there */
};

static const struct attempt attempts[] = {
	{"open", "open for writing", true},
	{"openat", "open for writing", true},
	{"openat2", "open for writing", true},
	{"creat", "open for writing", true},
	{"open_by_handle_at", "open for writing", false},
	{"truncate", "truncation", false},
	{"ftruncate", "truncation", false},
	{"rename", "rename", false},
	{"renameat", "rename", false},
	{"renameat2", "rename", false},
	{"unlink", "removal", false},
	{"unlinkat", "removal", false},
	{"rmdir", "removal", false},
	{"mkdir", "creation of a directory", true},
	{"mkdirat", "creation of a directory", true},
	{"mknod", "creation of a special file", true},
	{"mknodat", "creation of a special file", true},
	{"link", "creation of a hard link", true},
	{"linkat", "creation of a hard link", true},
	{"symlink", "creation of a symbolic link", true},
	{"symlinkat", "creation of a symbolic link", true},
	{"bind", "creation of a socket", true},
	{"chmod", "change of mode", false},
	{"fchmod", "change of mode", false},
	{"fchmodat", "change of mode", false},
	{"fchmodat2", "change of mode", false},
	{"chown", "change of owner", false},
	{"lchown", "change of owner", false},
	{"fchown", "change of owner", false},
	{"fchownat", "change of owner", false},
	{"utime", "change of times", false},
	{"utimes", "change of times", false},
	{"futimesat", "change of times", false},
	{"utimensat", "change of times", false},
	{"setxattr", "change of an attribute", false},
	{"lsetxattr", "change of an attribute", false},
	{"fsetxattr", "change of an attribute", false},
	{"setxattrat", "change of an attribute", false},
	{"removexattr", "removal of an attribute", false},
	{"lremovexattr", "removal of an attribute", false},
	{"fremovexattr", "removal of an attribute", false},
	{"removexattrat", "removal of an attribute", false},
	{"ioctl", "change of flags", false},
	{"file_setattr", "change of flags", false},
	{"mount", "mount", false},
	{"move_mount", "mount", false},
	{"umount2", "unmount", false},
};

static const struct attempt *find(const char *call)
{
	for (size_t i = 0; i < HF_COUNT(attempts); i++)
		if (strcmp(attempts[i].call, call) == 0)
			return &attempts[i];
	return NULL;
}

const char *hf_deed_attempt(const struct hf_violation *violation)
{
	const struct attempt *attempt = find(violation->operation);

	if (attempt == NULL)
		return violation->operation;
	/* Nobody opens what is not there, unless to make it. */
	if (is_absent(&violation->before) && attempt->is_creation &&
	    strcmp(attempt->words, "open for writing") == 0)
		return "creation";
	return attempt->words;
}

const char *hf_deed_unchanged(const struct hf_violation *violation)
{
	const struct attempt *attempt = find(violation->operation);

	if (is_absent(&violation->before))
		return attempt != NULL && attempt->is_creation
			       ? "it was not created"
			       : "nothing was changed";
	switch (violation->before.stat.kind) {
	case HF_KIND_FILE:
		return "the file is unchanged";
	case HF_KIND_DIRECTORY:
		return "the directory is unchanged";
	case HF_KIND_LINK:
		return "the link is unchanged";
	default:
		return "it is unchanged";
	}
}

void hf_text_add_attempts(struct hf_buffer *out, const struct hf_group *group)
{
	const char *said[ATTEMPTS_SHOWN];
	size_t count = 0;

	for (size_t i = 0; i < group->count; i++) {
		const char *words = hf_deed_attempt(group->items[i]);
		size_t at = 0;

		while (at < count && strcmp(said[at], words) != 0)
			at++;
		if (at < count)
			continue;
		if (count == ATTEMPTS_SHOWN) {
			hf_buffer_add_text(out, ", ...");
			return;
		}
		hf_buffer_add_text(out, count == 0 ? "" : ", ");
		hf_text_add_name(out, words);
		said[count++] = words;
	}
}

/* -- who ------------------------------------------------------------------- */

void hf_text_add_test(struct hf_buffer *out, const char *test)
{
	static const char call[] = " (call)";
	size_t len = strlen(test);

	if (len > strlen(call) && strcmp(test + len - strlen(call), call) == 0)
		len -= strlen(call);
	hf_buffer_add_quoted(out, test, len);
}

/* A process that has ended, but was not waited for, has no command line. */
static bool is_alive(const struct hf_process *process)
{
	return process->command_line != NULL && process->command_line_len > 0 &&
	       process->command_line[0] != '\0';
}

/* The one to name and how many there are; the dead only when all are. */
static const struct hf_process *choose_candidate(
	const struct hf_violation *violation, size_t *ret_count)
{
	const struct hf_process *chosen = NULL;
	size_t count = 0;

	for (size_t i = 0; i < violation->candidate_count; i++) {
		if (!is_alive(&violation->candidates[i]))
			continue;
		if (count++ == 0)
			chosen = &violation->candidates[i];
	}
	if (chosen == NULL && violation->candidate_count > 0) {
		chosen = &violation->candidates[0];
		count = violation->candidate_count;
	}
	*ret_count = count;
	return chosen;
}

static void add_candidates(const struct hf_violation *violation,
			   struct hf_buffer *out)
{
	size_t count;
	const struct hf_process *process = choose_candidate(violation, &count);

	if (process == NULL)
		return;
	hf_buffer_add_text(out, " (perhaps ");
	hf_text_add_process(out, process);
	hf_buffer_printf(out, ", pid %" PRId64 "%s)", process->pid,
			 count > 1 ? " or others" : "");
}

static void add_more(size_t count, const char *one, const char *many,
		     struct hf_buffer *out)
{
	if (count <= 1)
		return;
	hf_buffer_add_text(out, " and ");
	hf_text_add_many(out, count - 1);
	hf_buffer_printf(out, " more %s", count == 2 ? one : many);
}

/* " (python3, pid 4711)": beside a test, which says enough of what it is. */
static void add_beside(const struct hf_group *group, struct hf_buffer *out)
{
	const struct hf_culprit *culprit = group->best->culprit;

	hf_buffer_add_text(out, " (");
	hf_text_add_name(out, culprit->process.comm);
	hf_buffer_printf(out, ", pid %" PRId64, culprit->process.pid);
	if (group->test_count <= 1)
		add_more(group->process_count, "process", "processes", out);
	hf_buffer_add_text(out, ")");
}

static void add_alone(const struct hf_group *group, struct hf_buffer *out)
{
	const struct hf_culprit *culprit = group->best->culprit;

	hf_text_add_name(out, culprit->process.comm);
	hf_buffer_printf(out, " (pid %" PRId64, culprit->process.pid);
	if (is_alive(&culprit->process)) {
		hf_buffer_add_text(out, ": ");
		hf_text_add_process(out, &culprit->process);
	}
	hf_buffer_add_text(out, culprit->is_inside
					? ")"
					: "; not started by the command)");
	add_more(group->process_count, "process", "processes", out);
}

bool hf_deed_has_actor(const struct hf_group *group)
{
	return group->best->culprit != NULL || group->best->test != NULL;
}

void hf_text_add_actor(struct hf_buffer *out, const struct hf_group *group)
{
	const struct hf_violation *best = group->best;

	if (best->test != NULL) {
		hf_buffer_add_text(out,
				   best->is_test_exact ? " by " : " during ");
		hf_text_add_test(out, best->test);
		add_more(group->test_count, "test", "tests", out);
	}
	if (best->culprit == NULL) {
		add_candidates(best, out);
	} else if (best->test != NULL) {
		add_beside(group, out);
	} else {
		hf_buffer_add_text(out, " by ");
		add_alone(group, out);
	}
}

void hf_text_add_outsider(struct hf_buffer *out,
			  const struct hf_session *session,
			  const struct hf_violation *violation)
{
	const struct hf_process *process =
		violation->culprit == NULL ? NULL
					   : &violation->culprit->process;

	for (size_t i = 0; process == NULL && i < session->outsider_count;
	     i++) {
		const struct hf_outsider *outsider = &session->outsiders[i];

		if (outsider->has_changed && outsider->process.pid != 0 &&
		    strcmp(outsider->path, violation->path) == 0)
			process = &outsider->process;
	}
	if (process == NULL || process->pid == 0)
		return;
	hf_buffer_add_text(out, " (");
	hf_text_add_name(out, process->comm);
	hf_buffer_printf(out, ", pid %" PRId64 ")", process->pid);
}

/* -- what came of it ------------------------------------------------------- */

bool hf_report_can_undo(const struct hf_violation *violation)
{
	return violation->kept != NULL ||
	       (violation->is_restored && violation->change != 0);
}

bool hf_report_can_go_back(const struct hf_session *session,
			   const struct hf_violation *violation)
{
	return violation->is_outside && violation->change != 0 &&
	       !(violation->change & HF_CHANGE_ADDED) &&
	       session->snapshot.name.text[0] != '\0';
}

bool hf_report_is_store_gone(const struct hf_session *session)
{
	/* The commands that are named look where it was. */
	return session->is_store_elsewhere ||
	       (session->is_store_lost &&
		hf_store_is_gone(&session->project->store));
}

void hf_text_add_fix(struct hf_buffer *out, const struct hf_session *session,
		     const struct hf_violation *violation, const char *location)
{
	if (hf_report_is_store_gone(session))
		return;
	if (violation->is_stuck)
		hf_text_add_restore(out, session->project, NULL,
				    violation->path, location);
	else if (hf_report_can_go_back(session, violation))
		hf_text_add_restore(out, session->project,
				    &session->snapshot.name, violation->path,
				    location);
	else if (hf_report_can_undo(violation))
		hf_text_add_undo(out, &session->name, location);
}
