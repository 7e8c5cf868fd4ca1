/* SPDX-License-Identifier: MIT */
/*
 * What git says of a repository: the one place that starts git.
 *
 * Git only reads: it takes no lock, writes no index, asks nobody.  Paths are as
 * git has them, relative to the top of the work tree.
 */
#ifndef HF_CORE_GIT_H
#define HF_CORE_GIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct hf_error;

struct hf_git {
	const char *directory; /* where git looks */
	/* In a hook: about its own repository, with the variables that git gave
	 * it (the index of a partial commit is another one). */
	bool is_hooks_own;
};

/* Answers beyond that are a failure. */
#define HF_GIT_ANSWER_MAX ((size_t)256 << 20)

/*
 * Ask `git WORDS...` (NULL-terminated); the answer is appended.  Returns git's
 * exit status; HF_ERR_UNSUPPORTED where there is no git.
 */
MUST_CHECK int hf_git_ask(const struct hf_git *git, const char *const *words,
			  const struct hf_buffer *input, size_t max,
			  struct hf_buffer *ret_answer, struct hf_error *err);
/* The same; any status but 0 is a failure: "cannot <verb>: git ... ended with".
 */
MUST_CHECK int hf_git_must(const struct hf_git *git, const char *const *words,
			   const struct hf_buffer *input,
			   struct hf_buffer *ret_answer, struct hf_error *err);

/* -- lists of names ---------------------------------------------------------
 */

struct hf_git_names {
	struct hf_buffer text;
	const char **items; /* sorted as strcmp() has it */
	size_t count;
};

#define HF_GIT_NAMES_INIT     \
	{                     \
		.items = NULL \
	}
#define cleanup_git_names CLEANUP(hf_git_names_done)

/* The same question, answered by names, each ended by a NUL (-z). */
MUST_CHECK int hf_git_names(const struct hf_git *git, const char *const *words,
			    struct hf_git_names *ret_names,
			    struct hf_error *err);
bool hf_git_names_have(const struct hf_git_names *names, const char *path);
void hf_git_names_done(struct hf_git_names *names);

/* -- raw differences --------------------------------------------------------
 */

#define HF_GIT_ID_MAX 65 /* SHA-256 in hexadecimal digits, and NUL */

/* One record of `--raw -z`. */
struct hf_git_change {
	char status;		  /* A, D, M, R, T, ... */
	bool is_link;		  /* after it */
	char blob[HF_GIT_ID_MAX]; /* after it; zeros when deleted */
	const char *path;	  /* of a rename: where it was */
	const char *to;		  /* of a rename; else NULL */
};

/*
 * The next record of a text; false at the end, or where it is damaged.  *at
 * begins at the text's start.  What is no record (the name of a commit) is a
 * change with status 0 and that text as its path.
 */
bool hf_git_next_change(const struct hf_buffer *text, size_t *at,
			struct hf_git_change *ret_change);

/* -- objects ----------------------------------------------------------------
 */

/*
 * For each line of specs ("HEAD:a.toml") the name of the object, in their
 * order;
 * "" where there is none.  A spec must not contain a newline.
 */
struct hf_git_ids {
	char (*items)[HF_GIT_ID_MAX];
	size_t count;
};

#define HF_GIT_IDS_INIT       \
	{                     \
		.items = NULL \
	}
#define cleanup_git_ids CLEANUP(hf_git_ids_done)
MUST_CHECK int hf_git_find_objects(const struct hf_git *git,
				   const struct hf_buffer *specs, size_t count,
				   struct hf_git_ids *ret_ids,
				   struct hf_error *err);
void hf_git_ids_done(struct hf_git_ids *ids);

/*
 * A file's content as git would put it into the work tree at path, or, path
 * NULL, as git has it.  1, or 0 when there is no such object or it is longer
 * than max.
 */
MUST_CHECK int hf_git_content(const struct hf_git *git, const char *object,
			      const char *path, size_t max,
			      struct hf_buffer *ret_content,
			      struct hf_error *err);

/* Is there an object with what git would make of that content of path?  1 or 0;
 * 0 also when git cannot tell. */
MUST_CHECK int hf_git_has_content(const struct hf_git *git, const char *path,
				  const struct hf_buffer *content,
				  struct hf_error *err);

#endif /* HF_CORE_GIT_H */
