/* SPDX-License-Identifier: MIT */
/*
 * Everything that holdfast prints goes through here: lines for a person to
 * standard error, results to standard output, a bar while work takes long.
 *
 *	cleanup_output struct hf_output output = HF_OUTPUT_INIT;
 *
 *	hf_output_init(&output, options);
 */
#ifndef HF_CLI_OUTPUT_H
#define HF_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "cli/options.h"
#include "core/scan.h"
#include "report/text.h"

/* Exit statuses of all commands but `run`; 98 is HF_STATUS_UNDECIDED. */
#define HF_STATUS_DONE		0
#define HF_STATUS_DIFFERS	1
#define HF_STATUS_USAGE		2
#define HF_STATUS_FAILED	3

struct hf_bar {
	struct hf_progress progress;
	const char *what;	/* "recording" */
	int64_t begun_ns;	/* 0: not yet */
	int64_t drawn_ns;
	bool is_drawn;
};

struct hf_output {
	struct hf_text_style style;	/* of standard error */
	struct hf_buffer location;	/* what style.location points to */
	struct hf_bar bar;
	int patience_ms;		/* left for who does not read */
	size_t lost;			/* messages that were not read in time */
	bool has_failed;		/* a result was not written whole */
	unsigned char last;		/* of a content, checked until here */
};

/* Nobody who reads messages may hold up a run longer than this, however many
 * there are. */
#define HF_MESSAGE_PATIENCE_MS	1000

#define HF_OUTPUT_INIT							\
	{ .style = { .location = "" }, .patience_ms = HF_MESSAGE_PATIENCE_MS }
#define cleanup_output	CLEANUP(hf_output_done)

void hf_output_init(struct hf_output *output, const struct hf_options *options);
void hf_output_done(struct hf_output *output);

/* One line to standard error: "holdfast: ...". */
PRINTF_LIKE(2, 3)
void hf_output_say(struct hf_output *output, const char *fmt, ...);
/* The same with "hint" or "note" in front. */
PRINTF_LIKE(3, 4)
void hf_output_mark(struct hf_output *output, const char *word,
		    const char *fmt, ...);
/* For hf_project.on_wait; context is the output. */
bool hf_output_say_waiting(void *context);
/* A note for each line of a text; NULL for none. */
void hf_output_notes(struct hf_output *output, const char *text);
void hf_output_error(struct hf_output *output, const struct hf_error *err);
/* Complete lines to standard error. */
void hf_output_lines(struct hf_output *output, const struct hf_buffer *lines);
/* A result to standard output.  A failure is said, and decides how we end. */
void hf_output_result(struct hf_output *output, const struct hf_buffer *text);
/* The same of a part of one; false when no more need follow. */
bool hf_output_part(struct hf_output *output, const void *data, size_t len);
/*
 * Before a part of a content is printed, from its first byte on: a terminal is
 * given no more of one that could drive it.  Nothing else is checked.
 */
MUST_CHECK int hf_output_check_content(struct hf_output *output,
				       const char *name, const void *data,
				       size_t len, struct hf_error *err);
/* What to exit with: failure instead, when nothing else went wrong. */
int hf_output_end(const struct hf_output *output, int status, int failure);

/*
 * What a command exits with after a failure: 2 for usage and policy, 98 when a
 * person must look, else 3.
 */
int hf_output_status(const struct hf_error *err);
/* Print the failure and return that status. */
int hf_output_fail(struct hf_output *output, const struct hf_error *err);

/* For long work; NULL when nobody looks. */
struct hf_progress *hf_output_progress(struct hf_output *output,
				       const char *what);

#endif /* HF_CLI_OUTPUT_H */
