/* SPDX-License-Identifier: MIT */
/*
 * Which keys differ between two TOML texts, by their dotted names.  Values are
 * compared as they are written, and never told: they may be credentials.
 *
 *	cleanup_toml_changes struct hf_toml_changes changes =
 *HF_TOML_CHANGES_INIT;
 *
 *	if (hf_toml_compare(a, a_len, b, b_len, &changes) == 1)
 *		...
 */
#ifndef HF_REPORT_TOML_KEYS_H
#define HF_REPORT_TOML_KEYS_H

#include <stddef.h>

#include "base/arena.h"

/* Larger texts, and such with more keys, are not looked at. */
#define HF_TOML_SIZE_MAX ((size_t)1 << 20)
#define HF_TOML_KEYS_MAX ((size_t)200000)

enum hf_toml_change_kind { HF_TOML_ADDED, HF_TOML_REMOVED, HF_TOML_CHANGED };

struct hf_toml_change {
	enum hf_toml_change_kind kind;
	/* "server.port", "products[1].name": as it is written, a quoted part
	 * with its quotes. */
	const char *name;
};

struct hf_toml_changes {
	struct hf_toml_change *items; /* by name */
	size_t count;
	struct hf_arena arena;
};

#define HF_TOML_CHANGES_INIT  \
	{                     \
		.items = NULL \
	}
#define cleanup_toml_changes CLEANUP(hf_toml_changes_done)

/*
 * 1 with the changes; 0 when one of them is no TOML as far as keys and the ends
 * of values go; -ENOMEM.
 */
MUST_CHECK int hf_toml_compare(const char *before, size_t before_len,
			       const char *after, size_t after_len,
			       struct hf_toml_changes *ret_changes);
void hf_toml_changes_done(struct hf_toml_changes *changes);

#endif /* HF_REPORT_TOML_KEYS_H */
