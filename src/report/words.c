/* SPDX-License-Identifier: MIT */
/* The pieces that lines for a person are made of. */
#include "report/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "base/text.h"
#include "core/project.h"
#include "platform/system.h"

#define COMMAND_MAX 60 /* bytes of a command line in a message */
#define WORDS_MAX   32 /* that fit, blanks between them */

static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			   "0123456789_@%+=:,./-";

void hf_text_begin(struct hf_buffer *out, const struct hf_text_style *style,
		   const char *word)
{
	const char *color = "";

	hf_buffer_add_text(out, "holdfast: ");
	if (word == NULL)
		return;
	if (style->has_color)
		color = strcmp(word, "hint") == 0 ? "\033[36m" :
			strcmp(word, "note") == 0 ? "\033[33m" :
						    "\033[1;31m";
	hf_buffer_printf(out, "%s%s:%s ", color, word,
			 color[0] == '\0' ? "" : "\033[0m");
}

void hf_text_add_name(struct hf_buffer *out, const char *name)
{
	hf_buffer_add_quoted(out, name, strlen(name));
}

/* Does it look like itself, and do nothing to the terminal? */
static bool is_printable(const char *word)
{
	const unsigned char *at = (const unsigned char *)word;

	if (!hf_is_utf8(word, strlen(word)))
		return false;
	for (; *at != '\0'; at++)
		/* U+0080 to U+009F are controls as well. */
		if (*at < 0x20 || *at == 0x7f ||
		    (at[0] == 0xc2 && at[1] < 0xa0))
			return false;
	return true;
}

/* $'...' with escapes for all that is no ordinary letter. */
static void add_escaped(struct hf_buffer *out, const char *word)
{
	hf_buffer_add_text(out, "$'");
	for (const char *at = word; *at != '\0'; at++) {
		if (*at == '\n')
			hf_buffer_add_text(out, "\\n");
		else if (*at == '\t')
			hf_buffer_add_text(out, "\\t");
		else if (*at == '\'' || *at == '\\')
			hf_buffer_printf(out, "\\%c", *at);
		else if (*at < 0x20 || *at > 0x7e)
			hf_buffer_printf(out, "\\%03o", (unsigned char)*at);
		else
			hf_buffer_add(out, at, 1);
	}
	hf_buffer_add_text(out, "'");
}

void hf_text_add_shell(struct hf_buffer *out, const char *word)
{
	if (word[0] != '\0' && word[strspn(word, safe)] == '\0') {
		hf_buffer_add_text(out, word);
		return;
	}
	if (!is_printable(word)) {
		add_escaped(out, word);
		return;
	}
	hf_buffer_add_text(out, "'");
	for (const char *at = word; *at != '\0'; at++)
		if (*at == '\'')
			hf_buffer_add_text(out, "'\\''");
		else
			hf_buffer_add(out, at, 1);
	hf_buffer_add_text(out, "'");
}

void hf_text_add_argument(struct hf_buffer *out, const char *path)
{
	if (path[0] == '-')
		hf_buffer_add_text(out, "./");
	hf_text_add_shell(out, path);
}

void hf_text_add_command(struct hf_buffer *out, const char *const *argv)
{
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
	size_t len;

	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
		hf_buffer_add_text(&line, i == 0 ? "" : " ");
		hf_text_add_shell(&line, argv[i]);
		if (line.len > COMMAND_MAX)
			break;
	}
	len = line.len < COMMAND_MAX ? line.len : COMMAND_MAX;
	/* Not in the middle of a character. */
	while (len > 0 && len < line.len &&
	       ((unsigned char)line.data[len] & 0xc0) == 0x80)
		len--;
	out->is_failed |= line.is_failed;
	hf_buffer_add(out, line.data == NULL ? "" : line.data, len);
	if (len < line.len)
		hf_buffer_add_text(out, "...");
}

void hf_text_add_process(struct hf_buffer *out,
			 const struct hf_process *process)
{
	const char *words[WORDS_MAX + 1] = { process->comm };
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
	size_t count = 0;

	if (process->command_line != NULL)
		hf_buffer_add(&line, process->command_line,
			      process->command_line_len);
	/* A buffer ends with a NUL, whether the last word had one or not. */
	for (size_t at = 0; at < line.len && count < WORDS_MAX;
	     at += strlen(line.data + at) + 1)
		words[count++] = line.data + at;
	hf_text_add_command(out, words);
}

void hf_text_add_time(struct hf_buffer *out, int64_t unix_ns)
{
	struct hf_short_text text;

	hf_format_time(&text, unix_ns);
	hf_buffer_printf(out, "%.10s %.8sZ", text.text, text.text + 11);
}

void hf_text_add_number(struct hf_buffer *out, const struct hf_name *name)
{
	const char *at = name->text;
	size_t len = strcspn(at, "-");

	while (len > 1 && at[0] == '0') {
		at++;
		len--;
	}
	hf_buffer_add(out, at, len);
}

void hf_text_add_undo(struct hf_buffer *out, const struct hf_name *session,
		      const char *location)
{
	hf_buffer_add_text(out, "holdfast undo ");
	hf_text_add_number(out, session);
	hf_buffer_add_text(out, location);
}

/* `restore` takes a path from where the person stands, when that is in the
 * project: does a path of the root mean the same there? */
static bool is_same_from_here(const struct hf_project *project)
{
	cleanup_free char *here = NULL;

	return hf_system_working_directory(&here) < 0 ||
	       !hf_path_is_beneath(here, project->root);
}

/* As it is typed from where the person stands. */
static void add_path(struct hf_buffer *out, const struct hf_project *project,
		     const char *path)
{
	cleanup_free char *absolute = NULL;

	if (!hf_path_is_absolute(path) && !is_same_from_here(project)) {
		absolute = hf_path_join(project->root, path);
		out->is_failed |= absolute == NULL;
	}
	hf_text_add_argument(out, absolute == NULL ? path : absolute);
}

void hf_text_add_restore(struct hf_buffer *out,
			 const struct hf_project *project,
			 const struct hf_name *from, const char *path,
			 const char *location)
{
	hf_buffer_add_text(out, "holdfast restore ");
	if (from != NULL) {
		hf_buffer_add_text(out, "--from ");
		hf_text_add_number(out, from);
		hf_buffer_add_text(out, " ");
	}
	add_path(out, project, path);
	hf_buffer_add_text(out, location);
}

void hf_text_add_show_before(struct hf_buffer *out,
			     const struct hf_project *project, const char *path,
			     const char *location)
{
	hf_buffer_add_text(out, "holdfast show @{1}:");
	add_path(out, project, path);
	hf_buffer_add_text(out, location);
}

static bool is_only_mtime(const struct hf_entry *a, const struct hf_entry *b)
{
	return a->stat.mode == b->stat.mode && a->stat.uid == b->stat.uid &&
	       a->stat.gid == b->stat.gid && strcmp(a->xattrs, b->xattrs) == 0;
}

void hf_text_add_difference(struct hf_buffer *out, const struct hf_delta *delta)
{
	struct hf_delta told = *delta;

	if (told.before != NULL && told.after != NULL &&
	    (told.change & HF_CHANGE_METADATA) &&
	    is_only_mtime(told.before, told.after)) {
		if (told.change == HF_CHANGE_METADATA) {
			hf_buffer_add_text(out, "same content, other mtime");
			return;
		}
		told.change &= ~(unsigned)HF_CHANGE_METADATA;
	}
	hf_delta_describe(&told, out);
}

void hf_text_add_done(struct hf_buffer *out, const char *operation)
{
	static const struct {
		const char *operation;
		const char *done;
	} words[] = {
		{ "write", "written" },
		{ "remove", "removed" },
		{ "rename", "moved away" },
		{ "replace", "replaced" },
		{ "create", "created" },
		{ "metadata", "metadata changed" },
		/* What only the last look found. */
		{ "content", "changed" },
		{ "missing", "removed" },
		{ "kind", "replaced by something else" },
		{ "added", "created" },
	};

	for (size_t i = 0; i < HF_COUNT(words); i++) {
		if (strcmp(operation, words[i].operation) == 0) {
			hf_buffer_add_text(out, words[i].done);
			return;
		}
	}
	hf_buffer_add_text(out, operation);
}

const char *hf_text_store_risk(const struct hf_store *store)
{
	unsigned traits = 0;

	if (hf_file_system_traits(store->dir_fd, &traits) < 0)
		return NULL;
	if (traits & HF_FS_VOLATILE)
		return "in memory: what is recorded is gone when the machine "
		       "stops";
	if (traits & HF_FS_OVERLAY)
		return "in the container's own layer: what is recorded goes "
		       "with the container";
	return NULL;
}

void hf_text_add_lost(struct hf_buffer *out, const struct hf_pack_lost *lost)
{
	hf_buffer_printf(out, "pack %06" PRIu32, lost->first);
	if (lost->count > 1)
		hf_buffer_printf(out, " and %zu more of the store are",
				 lost->count - 1);
	else
		hf_buffer_add_text(out, " of the store is");
	hf_buffer_add_text(out, " missing or cut");
}

void hf_text_add_many(struct hf_buffer *out, uint64_t number)
{
	char digits[32];
	const int len = snprintf(digits, sizeof(digits), "%" PRIu64, number);

	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			hf_buffer_add_text(out, ",");
		hf_buffer_add(out, digits + i, 1);
	}
}

void hf_text_add_count(struct hf_buffer *out, size_t count, const char *one,
		       const char *many)
{
	hf_buffer_printf(out, "%zu %s", count, count == 1 ? one : many);
}

/* How long the words of a command are: "status", "store adopt". */
static size_t command_len(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	size_t len = strspn(text, letters);
	size_t more;

	while (text[len] == ' ') {
		more = strspn(text + len + 1, letters);
		if (more == 0)
			break;
		len += 1 + more;
	}
	return len;
}

/* Who wrote the hint knew no location: say it behind every command that is named,
 * so that it can be typed as it stands. */
static void add_hint(const char *hint, const char *location,
		     struct hf_buffer *out)
{
	static const char name[] = "holdfast ";
	const char *at;
	size_t len;

	while ((at = strstr(hint, name)) != NULL) {
		at += strlen(name);
		len = command_len(at);
		hf_buffer_add(out, hint, (size_t)(at - hint) + len);
		if (len > 0 && strncmp(at, "help", 4) != 0)
			hf_buffer_add_text(out, location);
		hint = at + len;
	}
	hf_buffer_add_text(out, hint);
}

void hf_report_text_error(const struct hf_error *err,
			  const struct hf_text_style *style,
			  struct hf_buffer *out)
{
	hf_text_begin(out, style, NULL);
	hf_buffer_add_text(out, err->text);
	hf_buffer_add_text(out, "\n");
	if (err->hint[0] == '\0')
		return;
	hf_text_begin(out, style, "hint");
	add_hint(err->hint, style->location, out);
	hf_buffer_add_text(out, "\n");
}
