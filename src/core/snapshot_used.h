/* SPDX-License-Identifier: MIT */
/*
 * The newest snapshot that a session used: proof that it was there.
 */
#ifndef HF_CORE_SNAPSHOT_USED_H
#define HF_CORE_SNAPSHOT_USED_H

#include "core/store.h"

struct hf_snapshot_used {
	struct hf_name snapshot;	/* "": none */
	struct hf_name session;
};

/*
 * sessions are all there are, old to new.  Only the newest few are asked, up to
 * the newest run; one whose journal is damaged tells nothing.
 */
MUST_CHECK int hf_snapshot_find_used(const struct hf_store *store,
				     const struct hf_names *sessions,
				     struct hf_snapshot_used *ret_used,
				     struct hf_error *err);

#endif /* HF_CORE_SNAPSHOT_USED_H */
