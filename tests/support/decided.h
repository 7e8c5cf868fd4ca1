/* SPDX-License-Identifier: MIT */
/*
 * Decisions of the gate about a small world that is only a table: no file is
 * touched, and every look at it is counted.
 *
 *	hf_decided_setup(&decided, HF_DECIDED_WIDE);
 *	hf_decided_expect(&decided, row, HF_COUNT(row));
 *	hf_decided_teardown(&decided);
 *
 * The project is /here, the store /home/store.  See decided.c for what is
 * there.
 */
#ifndef HF_TESTS_DECIDED_H
#define HF_TESTS_DECIDED_H

#include "core/tree.h"
#include "guard/decide.h"

/* Which patterns: all kinds, or "*.toml" alone, as most projects have it. */
enum hf_decided_policy { HF_DECIDED_WIDE, HF_DECIDED_PLAIN };

struct hf_decided {
	struct hf_policy policy;
	struct hf_tree tree;
	struct hf_decide_set set;
	struct hf_decision decision;
};

struct hf_decided_row {
	const char *name;
	enum hf_gate_operation operation;
	unsigned flags;
	/*
	 * Where: a path of the world.  A slash at its end is the caller's; a
	 * colon in front means by identity alone, as ".", ".." and descriptors.
	 */
	const char *at[2];
	enum hf_verdict verdict;
	/* "PATH (RULE)" of each target, "+" behind it for all beneath; NULL. */
	const char *targets;
	unsigned looks;
	/* Rarely. */
	bool is_link_meant;    /* of a call that follows links else */
	bool is_link_followed; /* of a call that does not */
	bool is_denied;	       /* the system would not let the caller */
	bool is_denied_from;   /* not at the first place of two */
	bool is_same;
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	bool keeps_mtime;
	bool sets_now;
	int64_t mtime_ns;
	bool refuses_updates;
	const char *const *argv;
};

/* What every file of the world has. */
#define HF_DECIDED_MODE	 0644u
#define HF_DECIDED_ID	 1000u
#define HF_DECIDED_MTIME 5000

void hf_decided_setup(struct hf_decided *decided,
		      enum hf_decided_policy policy);
void hf_decided_teardown(struct hf_decided *decided);
/* Decide each row, and compare. */
void hf_decided_expect(struct hf_decided *decided,
		       const struct hf_decided_row *rows, size_t count);
/* The world's number of a path. */
uint64_t hf_decided_ino(const char *path);

/*
 * Make a call and all facts of these bytes, and decide it; NULL, or what is
 * wrong with the decision.
 */
const char *hf_decided_try(struct hf_decided *decided, const uint8_t *data,
			   size_t len);

#endif /* HF_TESTS_DECIDED_H */
