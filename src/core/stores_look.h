/* SPDX-License-Identifier: MIT */
/* What a store is that is open.  Private to core/stores*.c. */
#ifndef HF_CORE_STORES_LOOK_H
#define HF_CORE_STORES_LOOK_H

#include "core/stores.h"

/* Fill in all of item but its path; HF_ERR_NOTHING: it is no store. */
MUST_CHECK int hf_stores_look(const struct hf_store *store,
			      struct hf_stores_item *item,
			      struct hf_error *err);

#endif /* HF_CORE_STORES_LOOK_H */
