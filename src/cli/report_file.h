/* SPDX-License-Identifier: MIT */
/*
 * Where a report goes: a file that is replaced as a whole at every
 * violation, so that a reader never sees half of one; or a descriptor, pipe or
 * device, which gets it once, at the end.
 *
 *	cleanup_report_file struct hf_report_file file =
 *		HF_REPORT_FILE_INIT("report", HF_REPORT_JSON_START);
 *
 *	rc = hf_report_file_inherit(&file, "report.json", err);
 *	rc = hf_report_file_open(&file, &project, err);
 *	rc = hf_report_file_write(&file, text, len, is_last, err);
 */
#ifndef HF_CLI_REPORT_FILE_H
#define HF_CLI_REPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_error;
struct hf_project;

enum hf_report_way {
	HF_REPORT_NONE,
	HF_REPORT_REPLACED,	/* a new file takes the name */
	HF_REPORT_REWRITTEN,	/* a file behind a descriptor, from its start */
	HF_REPORT_ONCE		/* cannot be taken back: the last one only */
};

struct hf_report_file {
	const char *what;	/* in messages: "report", "JUnit report" */
	const char *start;	/* how an earlier one begins */
	enum hf_report_way way;
	int fd;			/* the directory when replaced */
	char *name;		/* in the directory */
	uint32_t mode;
	const char *word;	/* as it was typed, or NULL; borrowed */
};

#define HF_REPORT_FILE_INIT(what_, start_)				\
	{ .what = (what_), .start = (start_), .fd = -1 }
#define cleanup_report_file	CLEANUP(hf_report_file_done)

/*
 * The first thing that a run does: a descriptor that was not inherited must not
 * be mistaken for one that we have opened meanwhile.
 */
MUST_CHECK int hf_report_file_inherit(struct hf_report_file *file,
				      const char *word, struct hf_error *err);
/*
 * Made and checked before the command starts.  HF_ERR_USAGE when it would
 * replace a protected file or lie in the store.  With a project that
 * hf_project_init() has refused, neither is known: then only an empty file or an
 * earlier report is replaced.
 */
MUST_CHECK int hf_report_file_open(struct hf_report_file *file,
				   const struct hf_project *project,
				   struct hf_error *err);
/* HF_ERR_USAGE when both were opened and one would replace the other. */
MUST_CHECK int hf_report_file_check_apart(const struct hf_report_file *file,
					  const struct hf_report_file *other,
					  struct hf_error *err);
MUST_CHECK int hf_report_file_write(const struct hf_report_file *file,
				    const char *text, size_t len, bool is_last,
				    struct hf_error *err);
void hf_report_file_done(struct hf_report_file *file);

#endif /* HF_CLI_REPORT_FILE_H */
