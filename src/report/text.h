/* SPDX-License-Identifier: MIT */
/*
 * What a person reads in a terminal: lines for standard error, each complete
 * with "holdfast: " and a newline.  Nothing is printed here.
 */
#ifndef HF_REPORT_TEXT_H
#define HF_REPORT_TEXT_H

#include <stdbool.h>

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

/* First session, missing layer, drift; nothing on an ordinary clean start. */
void hf_report_text_begun(const struct hf_session *session,
			  const struct hf_deltas *drift,
			  const struct hf_text_style *style,
			  struct hf_buffer *out);
/* One line when the watch is not whole. */
void hf_report_text_watch(const struct hf_session *session,
			  const struct hf_text_style *style,
			  struct hf_buffer *out);
/* One line, when it happens. */
void hf_report_text_violation(const struct hf_session *session,
			      const struct hf_violation *violation,
			      const struct hf_text_style *style,
			      struct hf_buffer *out);
/* The summary; nothing after a clean run. */
void hf_report_text_finished(const struct hf_session *session,
			     const struct hf_text_style *style,
			     struct hf_buffer *out);
/*
 * "holdfast: TEXT", and "holdfast: hint: HINT" where there is one, the style's
 * location behind each command that it names.
 */
void hf_report_text_error(const struct hf_error *err,
			  const struct hf_text_style *style,
			  struct hf_buffer *out);

/* -- pieces that other commands share -------------------------------------- */

/* A name, made safe for the terminal. */
void hf_text_add_name(struct hf_buffer *out, const char *name);
/* A word as a shell takes it and a terminal shows it, quoted where it must be. */
void hf_text_add_shell(struct hf_buffer *out, const char *word);
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
/* The number a name begins with, without zeros. */
void hf_text_add_number(struct hf_buffer *out, const struct hf_name *name);
/*
 * hf_delta_describe() without what goes without saying: who writes a file also
 * changes its mtime.
 */
void hf_text_add_difference(struct hf_buffer *out,
			    const struct hf_delta *delta);
/* Was something replaced?  A mode or a removal is undone without a copy. */
bool hf_report_can_undo(const struct hf_violation *violation);
/* A person's change beside the run that replaced something: does the snapshot
 * of the run hold what was there before? */
bool hf_report_can_go_back(const struct hf_violation *violation);
/* Did the command remove the store?  Then no command of ours helps. */
bool hf_report_is_store_gone(const struct hf_session *session);
/* An operation as what was done: "written" for "write". */
void hf_text_add_done(struct hf_buffer *out, const char *operation);
/* What an open store's file system means for what it holds; NULL for nothing. */
const char *hf_text_store_risk(const struct hf_store *store);
/* Packs of the store that are not whole, as the subject of what is said of them. */
void hf_text_add_lost(struct hf_buffer *out, const struct hf_pack_lost *lost);
/* "1 file", "2 files" */
void hf_text_add_count(struct hf_buffer *out, size_t count, const char *one,
		       const char *many);
/* "holdfast: " with the word that says what kind of line it is, in colour. */
void hf_text_begin(struct hf_buffer *out, const struct hf_text_style *style,
		   const char *word);

#endif /* HF_REPORT_TEXT_H */
