/* SPDX-License-Identifier: MIT */
/*
 * The gate in a run, as its two threads share it:
 *
 *	run_gate.c		the gate's thread, and the start
 *	run_gate_take.c		the main thread
 */
#ifndef HF_GUARD_RUN_GATE_INTERNAL_H
#define HF_GUARD_RUN_GATE_INTERNAL_H

#include <stdatomic.h>

#include "guard/culprit.h"
#include "guard/decide.h"
#include "guard/run.h"
#include "platform/gate.h"

struct hf_bell;
struct hf_mutex;
struct hf_tasks;

enum gate_event_kind { GATE_EVENT_REFUSED, GATE_EVENT_OBSERVED, GATE_EVENT_EFFECT };

/* What the gate's thread has seen; strings are in its arena. */
struct gate_event {
	struct gate_event *next;
	enum gate_event_kind kind;
	enum hf_gate_effect effect;
	const struct hf_entry *entry;
	bool takes_all;
	const char *path;
	const char *rule;
	const char *operation;
	const char *detail;
	const struct hf_culprit *culprit; /* NULL: it could not be seen */
	const char *test;
	bool is_test_exact;
	uint64_t count;		/* since it was taken last */
	int64_t time_ns;
	int64_t last_ns;
	bool is_left;		/* in the list */
};

/* An entry is another file since. */
struct gate_renewal {
	const struct hf_entry *entry;
	struct hf_gate_identity file;
};

/* So many different deeds a program may do in turn. */
#define GATE_RECENT 64u

struct hf_run_gate {
	struct hf_run *run;
	struct hf_mutex *mutex;	/* over what follows, up to the next line */
	struct hf_bell *bell;
	struct gate_event *first;	/* not taken yet, oldest first */
	struct gate_event *last;
	bool is_full;			/* an event was lost: no memory */
	struct gate_renewal *renewals;	/* for the set */
	size_t renewal_count;
	size_t renewal_capacity;
	/* -- both: are there renewals? -- */
	atomic_bool has_renewals;
	/* -- both: has the command mounted something? -- */
	atomic_bool has_mounts;
	/* -- both: see hf_run_gate_has_passed(), by hf_system_boot_ns() -- */
	_Atomic int64_t first_passed_ns[HF_DEEDS];
	_Atomic int64_t last_passed_ns[HF_DEEDS]; /* 0: never */
	/* -- the gate's thread alone, once it runs -- */
	struct hf_decide_set set;
	bool is_ending;
	struct hf_tasks *tasks;
	struct hf_decision decision;
	struct hf_suspect suspect;
	struct hf_arena arena;
	/* What was kept last: a loop is kept once. */
	struct gate_event *recent[GATE_RECENT];
	size_t recent_at;
	struct hf_culprit **culprits;
	size_t culprit_count;
	size_t culprit_capacity;
	/* -- the main thread alone -- */
	struct gate_event *observed;
	size_t observed_count;
	size_t observed_capacity;
};

/* The same done by the same in the same test. */
bool gate_event_is_same(const struct gate_event *a, const struct gate_event *b);
/* There was no memory for an event: the run says so when events are taken next. */
void gate_lose(struct hf_run_gate *gate);

#endif /* HF_GUARD_RUN_GATE_INTERNAL_H */
