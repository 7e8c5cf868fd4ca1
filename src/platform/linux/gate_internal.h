/* SPDX-License-Identifier: MIT */
/*
 * One call that waits at the gate, as its parts see it:
 *
 *	gate.c		the thread that answers
 *	gate_decode.c	from numbers to a question
 *	gate_values.c	its flags, modes, owners, times
 *	gate_copy.c	a copy instead of a second name
 *	gate_read.c	the caller's memory
 *	gate_look.c	facts, by one look at the path where that is enough
 *	gate_standing.c	the directory that a caller stands in
 *	gate_walk.c	the same from the caller's view, component by component
 *	gate_permit.c	would the system let the caller do it
 *	gate_describe.c	the arguments in words
 */
#ifndef HF_PLATFORM_LINUX_GATE_INTERNAL_H
#define HF_PLATFORM_LINUX_GATE_INTERNAL_H

#include <limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "platform/gate.h"
#include "platform/linux/gate_calls.h"

/* Room for "TID/fd/NUMBER/" in front of a path. */
#define GATE_LEAD_MAX	48
#define GATE_OWN_MAX	512
#define GATE_OWN_GAP	16
#define GATE_COPIES_MAX	256

/* See gate_calls.h. */
struct gate_shape {
	const char *name;
	enum hf_gate_operation operation;
	unsigned char dir[2];
	unsigned char path[2];
	unsigned char flags;
	unsigned char value;
	enum gate_times times;
	unsigned traits;
};

/* What a walk found; parent_fd is -1 when there is no name. */
struct gate_walk {
	bool is_done;
	int parent_fd;
	int object_fd;		/* O_PATH; -1 when nothing is there */
	char last[NAME_MAX + 1];
	int rc;			/* of the way to the parent */
	int object_rc;
	struct stat object;
};

/* A place as the caller named it. */
struct gate_path {
	bool is_descriptor;	/* the object is dir_fd itself */
	bool is_absolute;
	bool follows;		/* a link as the last component */
	int dir_fd;		/* AT_FDCWD, or the caller's */
	/*
	 * The caller's text begins at lead + GATE_LEAD_MAX; what leads to it in
	 * /proc stands right before, so that from begin on it is one path for us.
	 */
	char *begin;
	char *text;
	char *last;		/* in text; its end when there is no name */
	size_t len;		/* of text, slashes at the end left out */
	char lead[GATE_LEAD_MAX + PATH_MAX + 1];
	struct gate_walk walk;
	char parent_path[PATH_MAX];
};

/* See gate_standing.c. */
struct gate_standing {
	int fd;			/* O_PATH; -1 for none */
	uint32_t tid;		/* whose it is */
	uint32_t last_tid;	/* that has asked */
	int64_t until_ns;
	int64_t moving_until_ns;
};

struct gate {
	int listener_fd;
	int proc_fd;
	struct hf_gate_hooks hooks;
	bool has_other_views;
	struct gate_standing standing;
	/* Our own files, met when a link through /proc/self means the caller's. */
	struct hf_gate_identity own[GATE_OWN_MAX];
	size_t own_count;
	/* The copies made, open: their numbers are not used again. */
	int copies[GATE_COPIES_MAX];
	size_t copy_count;
};

struct hf_gate_question {
	struct gate *gate;
	struct seccomp_notif notice;
	const struct gate_shape *shape;
	bool is_compat;		/* a 32-bit program */
	bool is_close;		/* paths are walked */
	bool is_unseen;		/* a fact could not be had, by our own fault */
	uint64_t flags;		/* as the caller gave them */
	uint64_t resolve;	/* of openat2() */
	struct hf_gate_call call;
	struct gate_path paths[2];
};

/* -- gate_read.c -- */

/* Argument counted from 1. */
uint64_t gate_argument(const struct hf_gate_question *question, unsigned number);
/* All of len bytes, or -EFAULT, or -EPERM. */
MUST_CHECK int gate_read(const struct hf_gate_question *question,
			 uint64_t address, void *data, size_t len);
/* A text that ends; its length, or -ENAMETOOLONG, -EFAULT, -EPERM. */
MUST_CHECK int gate_read_text(const struct hf_gate_question *question,
			      uint64_t address, char *text, size_t size);

/* -- gate_decode.c -- */

/* NULL for a call that we do not know. */
const struct gate_shape *gate_shape_of(const struct seccomp_data *data,
				       bool *ret_is_compat);
/* Fill in call and paths.  Negative: what the call itself will fail with, or
 * -EPERM when the memory cannot be read. */
MUST_CHECK int gate_decode(struct hf_gate_question *question);

/* -- gate_values.c -- */

/* The call's own flags (AT_*, O_*, MS_*), into question->flags. */
MUST_CHECK int gate_take_flags(struct hf_gate_question *question);
/* All else that it would set. */
MUST_CHECK int gate_take_values(struct hf_gate_question *question);

/* -- gate_look.c -- */

/* Descriptors to the object and to the directory that holds the name, O_PATH;
 * or -errno. */
MUST_CHECK int gate_open_object(struct hf_gate_question *question,
				size_t place);
MUST_CHECK int gate_open_parent(struct hf_gate_question *question,
				size_t place);
void gate_to_stat(const struct stat *from, struct hf_stat *to);

/* -- gate_standing.c -- */

/* Somebody is about to change its directory. */
void gate_standing_moves(struct gate_standing *standing);
/* The working directory of the thread; -1 to go through /proc. */
int gate_standing_of(struct gate_standing *standing, int proc_fd, uint32_t tid);

/* -- gate_walk.c -- */

/* Sets path->walk, once; as openat2(2) with its own rules, where there are any. */
void gate_walk(struct hf_gate_question *question, struct gate_path *path);
void gate_walk_done(struct gate_path *path);

/* -- gate_permit.c -- */

bool gate_is_permitted(struct hf_gate_question *question, size_t place);
/* Is the attribute, or are the flags, already so? */
bool gate_is_same(struct hf_gate_question *question, size_t place);
/* Is the caller a program that has a privilege by its file, and not now? */
bool gate_has_lost_privilege(const struct hf_gate_question *question);

#endif /* HF_PLATFORM_LINUX_GATE_INTERNAL_H */
