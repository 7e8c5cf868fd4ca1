/* SPDX-License-Identifier: MIT */
/*
 * Where this process finds itself: what the system around it has allowed or
 * taken away before it was asked.  Facts for a person; what works is found out
 * by trying.
 */
#ifndef HF_PLATFORM_SURROUNDINGS_H
#define HF_PLATFORM_SURROUNDINGS_H

#include <stdbool.h>

struct hf_buffer;

struct hf_surroundings {
	bool is_root;
	bool is_in_user_namespace;
	bool is_filtered;	/* some calls are filtered already */
	bool has_no_new_privileges;
	/* Setuid programs keep it in a run, too: a filter needs no promise. */
	bool keeps_privilege;
	bool forbids_looking;	/* into other processes' memory, but for root */
	char container[24];	/* "docker", "WSL"; "" for none that is known */
};

void hf_surroundings_look(struct hf_surroundings *ret_surroundings);
/* What decides here what a gate can do and is quick to find out: one line,
 * appended, the same as long as nothing of it changes. */
void hf_surroundings_standing(struct hf_buffer *out);

#endif /* HF_PLATFORM_SURROUNDINGS_H */
