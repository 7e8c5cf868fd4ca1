/* SPDX-License-Identifier: MIT */
/*
 * Every operation that can change a name, the content or the metadata of a
 * file, ready to be performed: by the number of its system call, not by what a
 * C library makes of it.  What has to hold against all of them is tried with
 * this one table.
 *
 * An operation aims at the entries of a stage: a directory of its own, which
 * hf_stage_build() fills.  What HF_STAGE_POLICY names in it is protected.
 *
 *	rc = hf_stage_build(operation, dir_fd);
 *	rc = hf_stage_look(dir_fd, &before);
 *	rc = hf_operation_perform(operation, dir_fd, path, &outcome);
 *	rc = hf_stage_look(dir_fd, &after);
 *	is_damaged = !hf_stage_is_same(&before, &after);
 *
 * Returns >= 0 or -errno.
 */
#ifndef HF_PLATFORM_OPERATION_H
#define HF_PLATFORM_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

/* A policy file for stages at any depth beneath its root. */
#define HF_STAGE_POLICY							\
	"{ \"protect\": [\"**/*.toml\", \"**/kept.d/\"],\n"		\
	"  \"on-landed\": \"keep-going\" }\n"

enum hf_operation_trait {
	/* Only root can. */
	HF_OPERATION_PRIVILEGED = 1u << 0,
	/* Opens for update and writes then: a policy may let it through. */
	HF_OPERATION_UPDATE = 1u << 1,
	/* A gate denies the call itself, as if the kernel had none. */
	HF_OPERATION_DENIED = 1u << 2
};

struct hf_stage {
	int dir_fd;		/* also the working directory */
	const char *path;	/* of the same, absolute */
};

struct hf_operation {
	const char *name;	/* unique; the call's, with a word for the variant */
	const char *call;	/* as a violation names it */
	long number;		/* negative: this architecture has none */
	unsigned traits;	/* set of enum hf_operation_trait */
	/* Besides what every stage has; NULL for nothing. */
	int (*prepare)(int dir_fd);
	/* In a process of its own; 0 or -errno. */
	long (*perform)(const struct hf_stage *stage);
};

struct hf_operation_outcome {
	int64_t pid;		/* of the process that did it */
	int error;		/* errno; 0: the calls have succeeded */
};

/* An entry of a stage as it is; all zero when there is none. */
struct hf_stage_entry {
	uint64_t size;
	int64_t mtime_ns;
	uint64_t flags;
	uint32_t mode;		/* with the kind */
	uint32_t uid;
	uint32_t gid;
	char content[32];
	char attribute[32];
};

#define HF_STAGE_ENTRIES 7

struct hf_stage_state {
	struct hf_stage_entry entries[HF_STAGE_ENTRIES];
};

/* By place; NULL behind the last. */
const struct hf_operation *hf_operation_at(size_t index);
/* NULL when there is none of this name. */
const struct hf_operation *hf_operation_find(const char *name);

/* Fill an empty directory. */
MUST_CHECK int hf_stage_build(const struct hf_operation *operation,
			      int dir_fd);
/* Once more for a stage that was built, in another namespace of mounts. */
MUST_CHECK int hf_stage_prepare(const struct hf_operation *operation,
				int dir_fd);
MUST_CHECK int hf_stage_look(int dir_fd, struct hf_stage_state *ret_state);
bool hf_stage_is_same(const struct hf_stage_state *a,
		      const struct hf_stage_state *b);

/* -ECHILD when the process that did it was ended by a signal. */
MUST_CHECK int hf_operation_perform(const struct hf_operation *operation,
				    int dir_fd, const char *path,
				    struct hf_operation_outcome *ret_outcome);

/*
 * From now on nobody else sees what this process mounts, as some operations do
 * when root performs them.  -EPERM for anybody else, who cannot mount either.
 */
MUST_CHECK int hf_operation_isolate(void);

#endif /* HF_PLATFORM_OPERATION_H */
