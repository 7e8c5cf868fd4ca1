/* SPDX-License-Identifier: MIT */
/* Ask git, and read what it answers. */
#include "core/git.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "platform/program.h"

/* In front of every question, and how many words a question has at most. */
#define WORDS_BEFORE 6
#define WORDS_MAX    48

#define MODE_LINK "120000"

/* -- asking ------------------------------------------------------------------
 */

static int fail_program(int rc, struct hf_error *err)
{
	if (rc == -ENOENT) {
		(void)hf_fail(err, HF_ERR_UNSUPPORTED, "cannot find git");
		return hf_fail_hint(err, "it must be in a directory of PATH");
	}
	if (rc == -EFBIG)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot use what git says: it is too much");
	return hf_fail_system(err, rc, "cannot ask git");
}

int hf_git_ask(const struct hf_git *git, const char *const *words,
	       const struct hf_buffer *input, size_t max,
	       struct hf_buffer *ret_answer, struct hf_error *err)
{
	/* Nobody is started who could change something. */
	const char *argv[WORDS_BEFORE + WORDS_MAX + 1] = {
		"git",	      "-C", git->directory,
		"--no-pager", "-c", "core.fsmonitor=false"};
	static const char *const variables[] = {"GIT_OPTIONAL_LOCKS=0",
						"GIT_TERMINAL_PROMPT=0",
						"LC_ALL=C", NULL};
	struct hf_program program = {
		.argv = argv,
		.variables = variables,
		.is_apart_from_git = !git->is_hooks_own,
		.max = max,
	};
	int rc;

	for (size_t i = 0; words[i] && i < WORDS_MAX; i++)
		argv[WORDS_BEFORE + i] = words[i];
	if (input) {
		program.input = input->data;
		program.input_len = input->len;
	}
	rc = hf_program_ask(&program, ret_answer);
	return rc < 0 ? fail_program(rc, err) : rc;
}

int hf_git_must(const struct hf_git *git, const char *const *words,
		const struct hf_buffer *input, struct hf_buffer *ret_answer,
		struct hf_error *err)
{
	const int rc = hf_git_ask(git, words, input, HF_GIT_ANSWER_MAX,
				  ret_answer, err);

	if (rc <= 0)
		return rc;
	(void)hf_fail(err, HF_ERR_UNSUPPORTED,
		      "cannot look at the repository: 'git %s' ended with %d",
		      words[0], rc);
	return hf_fail_hint(err, "type that in '%s': git says why",
			    HF_QUOTE(git->directory));
}

/* -- lists of names ----------------------------------------------------------
 */

static int compare_names(const void *a, const void *b)
{
	const char *const *const left = a;
	const char *const *const right = b;

	return strcmp(*left, *right);
}

int hf_git_names(const struct hf_git *git, const char *const *words,
		 struct hf_git_names *ret_names, struct hf_error *err)
{
	struct hf_buffer *const text = &ret_names->text;
	size_t count = 0;
	int rc;

	rc = hf_git_must(git, words, NULL, text, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < text->len; i++)
		count += text->data[i] == '\0';
	ret_names->items = calloc(count + 1, sizeof(*ret_names->items));
	if (!ret_names->items)
		return hf_fail_memory(err);
	for (size_t at = 0; ret_names->count < count;
	     at += strlen(text->data + at) + 1)
		ret_names->items[ret_names->count++] = text->data + at;
	if (count > 0)
		qsort(ret_names->items, count, sizeof(*ret_names->items),
		      compare_names);
	return 0;
}

bool hf_git_names_have(const struct hf_git_names *names, const char *path)
{
	return names->count > 0 &&
	       bsearch(&path, names->items, names->count, sizeof(*names->items),
		       compare_names);
}

void hf_git_names_done(struct hf_git_names *names)
{
	hf_free_pointee(&names->items);
	hf_buffer_done(&names->text);
	names->count = 0;
}

/* -- raw differences ---------------------------------------------------------
 */

/* The text up to the next NUL, *at behind it; NULL where there is none. */
static const char *next_text(const struct hf_buffer *text, size_t *at)
{
	const char *const start = text->data ? text->data + *at : NULL;
	const char *end;

	if (!start || *at >= text->len)
		return NULL;
	end = memchr(start, '\0', text->len - *at);
	if (!end)
		return NULL;
	*at += (size_t)(end - start) + 1;
	return start;
}

/* ":MODE MODE BLOB BLOB STATUS" */
static bool parse_head(const char *head, struct hf_git_change *change)
{
	char mode[8];
	size_t len;

	if (sscanf(head, ":%*6[0-7] %6[0-7] %*64[0-9a-f] %64[0-9a-f] %c", mode,
		   change->blob, &change->status) != 3)
		return false;
	len = strlen(change->blob);
	change->is_link = strcmp(mode, MODE_LINK) == 0;
	return len == 40 || len == 64;
}

bool hf_git_next_change(const struct hf_buffer *text, size_t *at,
			struct hf_git_change *ret_change)
{
	struct hf_git_change change = {.status = '\0'};
	const char *head;

	do
		head = next_text(text, at);
	while (head && head[0] == '\0');
	if (!head)
		return false;
	if (head[0] != ':') {
		change.path = head;
		*ret_change = change;
		return true;
	}
	if (!parse_head(head, &change))
		return false;
	change.path = next_text(text, at);
	if (change.path && (change.status == 'R' || change.status == 'C'))
		change.to = next_text(text, at);
	if (!change.path ||
	    ((change.status == 'R' || change.status == 'C') && !change.to))
		return false;
	*ret_change = change;
	return true;
}

/* -- objects -----------------------------------------------------------------
 */

/* "ID blob SIZE", or "SPEC missing". */
static void parse_object(const char *line, char id[HF_GIT_ID_MAX])
{
	char kind[16];
	char found[HF_GIT_ID_MAX];

	id[0] = '\0';
	if (sscanf(line, "%64[0-9a-f] %15[a-z] %*u", found, kind) == 2 &&
	    (strlen(found) == 40 || strlen(found) == 64) &&
	    strcmp(kind, "missing") != 0)
		memcpy(id, found, sizeof(found));
}

int hf_git_find_objects(const struct hf_git *git, const struct hf_buffer *specs,
			size_t count, struct hf_git_ids *ret_ids,
			struct hf_error *err)
{
	static const char *const words[] = {"cat-file", "--batch-check", NULL};
	cleanup_buffer struct hf_buffer answer = HF_BUFFER_INIT;
	char *line;
	int rc;

	ret_ids->items = calloc(count + 1, sizeof(*ret_ids->items));
	if (!ret_ids->items)
		return hf_fail_memory(err);
	if (count == 0)
		return 0;
	rc = hf_git_must(git, words, specs, &answer, err);
	if (rc < 0)
		return rc;
	line = answer.data;
	while (ret_ids->count < count && line && line[0] != '\0') {
		const size_t len = strcspn(line, "\n");
		const bool is_last = line[len] == '\0';

		line[len] = '\0';
		parse_object(line, ret_ids->items[ret_ids->count++]);
		line += len + (is_last ? 0 : 1);
	}
	return ret_ids->count == count
		       ? 0
		       : hf_fail(err, HF_ERR_UNSUPPORTED,
				 "cannot use what git says of objects");
}

void hf_git_ids_done(struct hf_git_ids *ids)
{
	hf_free_pointee(&ids->items);
	ids->count = 0;
}

int hf_git_content(const struct hf_git *git, const char *object,
		   const char *path, size_t max, struct hf_buffer *ret_content,
		   struct hf_error *err)
{
	cleanup_buffer struct hf_buffer option = HF_BUFFER_INIT;
	const char *filtered[] = {"cat-file", "--filters", NULL, object, NULL};
	const char *plain[] = {"cat-file", "blob", object, NULL};
	int rc;

	hf_buffer_printf(&option, "--path=%s", path ? path : "");
	rc = hf_buffer_check(&option, err);
	if (rc < 0)
		return rc;
	filtered[2] = option.data;
	rc = hf_git_ask(git, path ? filtered : plain, NULL, max, ret_content,
			err);
	if (rc == HF_ERR_LIMIT || rc > 0)
		return 0;
	return rc < 0 ? rc : 1;
}

int hf_git_has_content(const struct hf_git *git, const char *path,
		       const struct hf_buffer *content, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer option = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer id = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer nothing = HF_BUFFER_INIT;
	const char *make[] = {"hash-object", "--stdin", NULL, NULL};
	const char *find[] = {"cat-file", "-e", NULL, NULL};
	int rc;

	hf_buffer_printf(&option, "--path=%s", path);
	rc = hf_buffer_check(&option, err);
	if (rc < 0)
		return rc;
	make[2] = option.data;
	rc = hf_git_ask(git, make, content, HF_GIT_ANSWER_MAX, &id, err);
	if (rc != 0 || !id.data)
		return rc < 0 ? rc : 0;
	id.data[strcspn(id.data, "\n")] = '\0';
	find[2] = id.data;
	rc = hf_git_ask(git, find, NULL, HF_GIT_ANSWER_MAX, &nothing, err);
	return rc < 0 ? rc : rc == 0;
}
