/* SPDX-License-Identifier: MIT */
/*
 * What a person may have meant when nothing is protected: the patterns that were
 * looked for, and files nearby that look like configuration or data.
 */
#ifndef HF_CORE_NEARBY_H
#define HF_CORE_NEARBY_H

#include <stddef.h>

struct hf_buffer;
struct hf_policy;

/* A hint fits struct hf_error's. */
#define HF_NEARBY_MAX	240

/*
 * Append one line, at most HF_NEARBY_MAX bytes: "looked for '*.toml'; found
 * app/config.toml, settings.json: name them with --protect".  Looks at the top
 * level and one below, bounded; what cannot be read is passed over.
 */
void hf_nearby_describe(int root_fd, const struct hf_policy *policy,
			struct hf_buffer *hint);

#endif /* HF_CORE_NEARBY_H */
