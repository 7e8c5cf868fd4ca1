/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a decision share: decide.c (contents and metadata) and
 * decide_name.c (names).
 */
#ifndef HF_GUARD_DECIDE_INTERNAL_H
#define HF_GUARD_DECIDE_INTERNAL_H

#include "guard/decide.h"

struct decider {
	const struct hf_decide_set *set;
	const struct hf_gate_call *call;
	struct hf_decision *decision;
};

/* What a call meets: an entry, the store, or nothing of ours. */
struct decide_target {
	const struct hf_entry *entry;
	bool is_store;
	bool is_above;
};

/* Is the fact there?  Else it is what the decision asks for. */
bool decide_knows(const struct decider *decider, size_t place,
		  enum hf_gate_fact fact);
/* Must it stay as it is? */
bool decide_is_guarded(const struct hf_entry *entry);
/* What is refused already; NULL when it is not.  An exchange takes a name and
 * gives it to something else, which is one loss. */
struct hf_target *decide_target(struct hf_decision *decision, const char *path);
/* Refuse, unless the system would not let the caller do it either. */
enum hf_verdict decide_refuse_as(const struct decider *decider, size_t place,
				 const char *path, const char *rule,
				 const struct hf_entry *entry);
enum hf_verdict decide_refuse(const struct decider *decider, size_t place,
			      const struct decide_target *target);

/* -- decide_name.c -- */

/* Where a name leads in the set: its path or NULL, or that it is in the store.
 * False when a fact is missing. */
bool decide_locate(const struct decider *decider, size_t index,
		   const char **ret_path, bool *ret_is_store);
/* Something new of this name: an addition that the policy does not want, or an
 * entry that is to be absent, or would be replaced. */
enum hf_verdict decide_place_name(const struct decider *decider, size_t index,
				  bool is_directory);
enum hf_verdict decide_create(const struct decider *decider);
enum hf_verdict decide_remove(const struct decider *decider);
enum hf_verdict decide_rename(const struct decider *decider);
enum hf_verdict decide_link(const struct decider *decider);
enum hf_verdict decide_mount(const struct decider *decider);

#endif /* HF_GUARD_DECIDE_INTERNAL_H */
