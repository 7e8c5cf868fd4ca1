/* SPDX-License-Identifier: MIT */
/*
 * Bytes as hexadecimal digits and as base64.
 */
#ifndef HF_BASE_ENCODE_H
#define HF_BASE_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_buffer;

/* len bytes as 2 * len lower-case digits and a NUL. */
void hf_hex_encode(char *out, const uint8_t *data, size_t len);

/* The reverse of exactly 2 * len digits (either case); -EINVAL otherwise, and
 * out is undefined then. */
MUST_CHECK int hf_hex_decode(uint8_t *out, const char *text, size_t len);

/* Base64 (RFC 4648, with padding) of data appended to the buffer. */
void hf_base64_encode(struct hf_buffer *out, const void *data, size_t len);

/* The reverse, strict: 0 with the bytes appended, or -EINVAL, -ENOMEM. */
MUST_CHECK int hf_base64_decode(struct hf_buffer *out, const char *text,
				size_t len);

#endif /* HF_BASE_ENCODE_H */
