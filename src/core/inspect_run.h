/* SPDX-License-Identifier: MIT */
/* An inspection under way.  Private to core/inspect*.c. */
#ifndef HF_CORE_INSPECT_RUN_H
#define HF_CORE_INSPECT_RUN_H

#include "core/inspect.h"
#include "core/inspect_refs.h"
#include "core/journal.h"

struct hf_inspect_run {
	struct hf_store *store; /* a folder that is missing has no descriptor */
	const struct hf_inspect_sink *sink;
	struct hf_progress *progress;
	struct hf_inspect_counts counts;
	uint64_t all_bytes;
	struct hf_refs refs;
};

bool hf_inspect_has(const struct hf_inspect_run *run,
		    enum hf_store_folder folder);
/* Is it a failure of the inspection itself, and no damage? */
bool hf_inspect_has_failed(const struct hf_error *err);
void hf_inspect_add_bytes(struct hf_inspect_run *run, uint64_t bytes);
void hf_inspect_tell(struct hf_inspect_run *run, const char *file,
		     const char *reason, const char *cost);

/* inspect_pack.c: every pack, with its index and what refers to it. */
MUST_CHECK int hf_inspect_packs(struct hf_inspect_run *run,
				struct hf_error *err);
/* inspect_session.c: every journal, and the kept copies it names. */
MUST_CHECK int hf_inspect_sessions(struct hf_inspect_run *run,
				   struct hf_error *err);

#endif /* HF_CORE_INSPECT_RUN_H */
