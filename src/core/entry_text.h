/* SPDX-License-Identifier: MIT */
/*
 * One entry as a JSON object: manifests and journals share it.
 *
 * Members are left out where they have their usual value.  A text that is not
 * UTF-8 is followed by its bytes in base64, which count: "path":"a\ufffd",
 * "path_bytes":"Yf8=".  docs/formats.md lists all members.
 */
#ifndef HF_CORE_ENTRY_TEXT_H
#define HF_CORE_ENTRY_TEXT_H

#include "core/json.h"
#include "core/tree.h"

struct hf_buffer;
struct hf_error;

/* "file", "directory", "link", ..., "absent". */
const char *hf_kind_name(enum hf_kind kind);
/* "protected", "ancestor", "allowed", "side-file". */
const char *hf_role_name(enum hf_entry_role role);

/* A time as "SECONDS.NANOSECONDS", the latter with nine digits. */
void hf_time_encode(int64_t time_ns, struct hf_buffer *out);
/* -EINVAL when it is none. */
MUST_CHECK int hf_time_decode(const char *text, int64_t *ret_time_ns);

/* A number, as a string where it exceeds HF_JSON_NUMBER_MAX. */
void hf_number_encode(uint64_t number, struct hf_buffer *out);

/* "KEY":"TEXT", and the bytes where they are needed; no comma. */
void hf_text_encode(const char *key, const char *text, struct hf_buffer *out);
/*
 * The reverse: bytes win.  The text is copied into the arena; -EINVAL when
 * there is none, or it holds a NUL; -ENOMEM.
 */
MUST_CHECK int hf_text_decode(const hf_json_value *text,
			      const hf_json_value *bytes,
			      struct hf_arena *arena, const char **ret_text);

/* Without a newline. */
void hf_entry_encode(const struct hf_entry *entry, struct hf_buffer *out);
/*
 * Add to the tree what object says.  Everything is checked: the path plain, the
 * members those of the kind, numbers within their types.  HF_ERR_CORRUPT.
 */
MUST_CHECK int hf_entry_decode(const hf_json_value *object,
			       struct hf_tree *tree, struct hf_error *err);

#endif /* HF_CORE_ENTRY_TEXT_H */
