/* SPDX-License-Identifier: MIT */
/*
 * libholdfast: guard a project's protected files while a command runs.
 *
 * All functions that can fail return 0 or a negative enum hf_code and fill in
 * *err (which may be NULL).  Strings are UTF-8 or whatever bytes the file
 * system holds, NUL-terminated.  Handles are opaque and not thread-safe; two
 * handles may be used by two threads.  Nothing is printed and the process never
 * exits.  Structures that a caller fills in begin with struct_size, which must
 * be set to sizeof, and must otherwise be zeroed.
 *
 *	hf_project *project;
 *	hf_project_options options = { .struct_size = sizeof(options) };
 *
 *	if (hf_project_open(&options, &project, &err) < 0) ...
 *	if (hf_project_snapshot(project, &snapshot, &err) < 0) ...
 *	hf_project_close(project);
 */
#ifndef HOLDFAST_HOLDFAST_H
#define HOLDFAST_HOLDFAST_H

#include <stddef.h>
#include <stdint.h>

#include "holdfast/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HF_API __attribute__((visibility("default")))
#else
#define HF_API
#endif

/* A root with its policy and its store, opened. */
typedef struct hf_project hf_project;

/* What differs between a snapshot and the tree. */
typedef struct hf_difference hf_difference;

enum hf_kind {
	HF_KIND_ABSENT = 0,
	HF_KIND_FILE = 1,
	HF_KIND_DIRECTORY = 2,
	HF_KIND_LINK = 3,
	HF_KIND_FIFO = 4,
	HF_KIND_SOCKET = 5,
	HF_KIND_CHARACTER_DEVICE = 6,
	HF_KIND_BLOCK_DEVICE = 7
};

/* How one entry differs.  More than one bit may be set. */
enum hf_change {
	HF_CHANGE_CONTENT = 1 << 0,
	HF_CHANGE_METADATA = 1 << 1,	/* mode, owner, mtime, xattrs */
	HF_CHANGE_MISSING = 1 << 2,
	HF_CHANGE_KIND = 1 << 3,	/* a link where a file was, ... */
	HF_CHANGE_ADDED = 1 << 4	/* matches the policy, was not there */
};

typedef struct hf_project_options {
	size_t struct_size;
	const char *root;		/* NULL: discovered from the working directory */
	const char *config;		/* NULL: nearest holdfast.json, or none */
	const char *store;		/* NULL: the user's state directory */
	const char *const *protect;	/* NULL-terminated patterns, or NULL */
	const char *const *exclude;	/* the same */
} hf_project_options;

/*
 * Find the root, load the policy, open the store (made when it is missing).
 * Fails with HF_ERR_USAGE for a wrong policy and HF_ERR_DENIED for a store that
 * belongs to another project.
 */
HF_API int hf_project_open(const hf_project_options *options,
			   hf_project **ret_project, struct hf_error *err);
HF_API void hf_project_close(hf_project *project);

HF_API const char *hf_project_root(const hf_project *project);
HF_API const char *hf_project_store(const hf_project *project);

/*
 * Record the protected files.  *ret_snapshot is the name of the snapshot that
 * describes them, a new one or the present one when nothing has changed; it is
 * valid until the next call with this project.
 */
HF_API int hf_project_snapshot(hf_project *project, const char **ret_snapshot,
			       struct hf_error *err);

/*
 * Compare the tree with a snapshot (NULL: the newest) by content.  *ret is to be
 * freed with hf_difference_free(); it has hf_difference_count() entries, none
 * when nothing differs.
 */
HF_API int hf_project_compare(hf_project *project, const char *snapshot,
			      hf_difference **ret, struct hf_error *err);
HF_API size_t hf_difference_count(const hf_difference *difference);
/* Path relative to the root (absolute outside it); valid until the free. */
HF_API const char *hf_difference_path(const hf_difference *difference,
				      size_t index);
/* A set of enum hf_change. */
HF_API unsigned hf_difference_change(const hf_difference *difference,
				     size_t index);
HF_API void hf_difference_free(hf_difference *difference);

typedef struct hf_restore_result {
	size_t struct_size;
	size_t restored;	/* entries that are as in the snapshot again */
	size_t failed;		/* entries that could not be put back */
	char undo[64];		/* name for hf_project_undo(); "" if nothing was replaced */
} hf_restore_result;

/*
 * Put back what differs from a snapshot (NULL: the newest).  paths is a
 * NULL-terminated list or NULL for all.  What is replaced is kept first.  One
 * entry that fails does not stop the others: the result is filled in and the
 * first failure returned.
 */
HF_API int hf_project_restore(hf_project *project, const char *snapshot,
			      const char *const *paths,
			      hf_restore_result *result, struct hf_error *err);

/* Bring back what an earlier restore replaced. */
HF_API int hf_project_undo(hf_project *project, const char *name,
			   hf_restore_result *result, struct hf_error *err);

typedef struct hf_guard_result {
	size_t struct_size;
	int status;		/* 0, or what `holdfast run` would exit with: 97 ... */
	int command_code;	/* -1 when it was ended by a signal or never ran */
	int command_signal;	/* 0 when it exited */
} hf_guard_result;

/*
 * Run argv (NULL-terminated) with the protected files guarded, as `holdfast run`
 * does, without its messages.  It happens in a child of the caller, whose
 * descriptors and signals stay as they are.  The caller must have one thread.
 * What happened is in the session's journal: `holdfast log`.
 */
HF_API int hf_project_guard(hf_project *project, const char *const *argv,
			    hf_guard_result *result, struct hf_error *err);

/* The version of the library as "MAJOR.MINOR.PATCH". */
HF_API const char *hf_version(void);

#ifdef __cplusplus
}
#endif
#endif /* HOLDFAST_HOLDFAST_H */
