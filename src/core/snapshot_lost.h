/* SPDX-License-Identifier: MIT */
/*
 * What all snapshots of a store refer to and is lost.
 *
 * Their manifests are read only if a number of a pack is missing or a pack is cut;
 * a manifest that cannot be read tells nothing.
 */
#ifndef HF_CORE_SNAPSHOT_LOST_H
#define HF_CORE_SNAPSHOT_LOST_H

#include "core/pack_lost.h"

/* ret_snapshot: the newest that needs a lost pack; untouched when none does. */
MUST_CHECK int hf_snapshot_find_lost(const struct hf_store *store,
				     const struct hf_tree *newest,
				     struct hf_pack_lost *ret_lost,
				     struct hf_name *ret_snapshot,
				     struct hf_error *err);

#endif /* HF_CORE_SNAPSHOT_LOST_H */
