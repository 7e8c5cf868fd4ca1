/* SPDX-License-Identifier: MIT */
/*
 * The pieces that lines for a person are made of.
 */
#ifndef HF_REPORT_WORDS_H
#define HF_REPORT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard/session.h"

struct hf_buffer;

struct hf_text_style {
	bool has_color;
	bool is_verbose;
	bool is_quiet;
	/*
	 * What stands behind a command that is named so that it finds this
	 * project and store again: " --root DIR --store DIR", or "".
	 */
	const char *location;
};

/* A name, made safe for the terminal. */
void hf_text_add_name(struct hf_buffer *out, const char *name);
/* A word as a shell takes it and a terminal shows it, quoted where it must be. */
void hf_text_add_shell(struct hf_buffer *out, const char *word);
/* The same of a path that must not be taken for an option: "./-name". */
void hf_text_add_argument(struct hf_buffer *out, const char *path);
/* A command line of NULL-terminated words, safe for the terminal, shortened. */
void hf_text_add_command(struct hf_buffer *out, const char *const *argv);
/* What a process was started with, shortened; else its short name. */
void hf_text_add_process(struct hf_buffer *out,
			 const struct hf_process *process);
/* "holdfast undo 42": the number is enough, and shorter than the name. */
void hf_text_add_undo(struct hf_buffer *out, const struct hf_name *session,
		      const char *location);
/* "holdfast restore --from 12 PATH"; from NULL: the newest snapshot. */
void hf_text_add_restore(struct hf_buffer *out,
			 const struct hf_project *project,
			 const struct hf_name *from, const char *path,
			 const char *location);
/* "holdfast show @{1}:PATH": what a path held before the newest snapshot. */
void hf_text_add_show_before(struct hf_buffer *out,
			     const struct hf_project *project, const char *path,
			     const char *location);
/* "2026-11-30 03:00:07Z" */
void hf_text_add_time(struct hf_buffer *out, int64_t unix_ns);
/* The number a name begins with, without zeros. */
void hf_text_add_number(struct hf_buffer *out, const struct hf_name *name);
/*
 * hf_delta_describe() without what goes without saying: who writes a file also
 * changes its mtime.
 */
void hf_text_add_difference(struct hf_buffer *out,
			    const struct hf_delta *delta);
/* An operation as what was done: "written" for "write". */
void hf_text_add_done(struct hf_buffer *out, const char *operation);
/* What an open store's file system means for what it holds; NULL for nothing. */
const char *hf_text_store_risk(const struct hf_store *store);
/* Packs of the store that are not whole, as the subject of what is said of them. */
void hf_text_add_lost(struct hf_buffer *out, const struct hf_pack_lost *lost);
/* "5,000" */
void hf_text_add_many(struct hf_buffer *out, uint64_t number);
/* "1 file", "2 files" */
void hf_text_add_count(struct hf_buffer *out, size_t count, const char *one,
		       const char *many);
/* "holdfast: " with the word that says what kind of line it is, in colour. */
void hf_text_begin(struct hf_buffer *out, const struct hf_text_style *style,
		   const char *word);
/*
 * "holdfast: TEXT", and "holdfast: hint: HINT" where there is one, the style's
 * location behind each command that it names.
 */
void hf_report_text_error(const struct hf_error *err,
			  const struct hf_text_style *style,
			  struct hf_buffer *out);

#endif /* HF_REPORT_WORDS_H */
