/* SPDX-License-Identifier: MIT */
/*
 * What a person may have meant when nothing is protected: the patterns that were
 * looked for, and files nearby that look like configuration or data.
 */
#ifndef HF_CORE_NEARBY_H
#define HF_CORE_NEARBY_H

#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_buffer;
struct hf_deltas;
struct hf_error;
struct hf_policy;
struct hf_scan_options;
struct hf_tree;

/* A hint fits struct hf_error's. */
#define HF_NEARBY_MAX	240

/*
 * Append one line, at most HF_NEARBY_MAX bytes: "looked for '*.toml'; found
 * app/config.toml, settings.json: name them with --protect".  Looks at the top
 * level and one below, bounded; what cannot be read is passed over.
 */
void hf_nearby_describe(int root_fd, const struct hf_policy *policy,
			struct hf_buffer *hint);

/*
 * HF_ERR_USAGE, with the hint above, when fewer than minimum entries of a scanned
 * tree exist and are protected.  The policy file does not count: it always is
 * protected, and a policy that protects nothing else protects nothing.  A minimum
 * of 0 is always met.  drift (may be NULL) is what changed since the last
 * snapshot: what is gone was meant.  verb is for the message: "run", "record".
 */
MUST_CHECK int hf_nearby_check(const struct hf_scan_options *scan,
			       const struct hf_tree *tree,
			       const struct hf_deltas *drift, uint64_t minimum,
			       const char *verb, struct hf_error *err);
/* The same before there is a scan: looks at no more than is needed to know. */
MUST_CHECK int hf_nearby_look(const struct hf_scan_options *scan,
			      uint64_t minimum, const char *verb,
			      struct hf_error *err);

#endif /* HF_CORE_NEARBY_H */
