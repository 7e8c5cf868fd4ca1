/* SPDX-License-Identifier: MIT */
/*
 * The text form of a snapshot: JSON, one entry a line.
 *
 *	{"holdfast-manifest":1,"name":...,"root":...,"created":...,"hash":"xxh3-128"}
 *	{"protect":"*.toml"}				(a line each pattern)
 *	{"path":"config.toml","kind":"file","size":94,"mode":"0644","owner":"0:0",
 *	 "mtime":"1764471607.000000001","rule":"*.toml","content":"HEX@PACK:OFFSET",
 *	 "stat":"DEV:INO:CTIME:NLINK"}			(on one line)
 *	{"entries":6,"hash":"HEX"}			hash of all bytes before it
 *
 * Encoding and decoding are pure.  A manifest that is cut at any byte, or has one
 * flipped, is HF_ERR_CORRUPT.  Numbers above 2^53 and times are strings, since
 * JSON numbers are doubles.  docs/formats.md describes every member.
 */
#ifndef HF_CORE_MANIFEST_H
#define HF_CORE_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "core/entry_text.h"
#include "core/store.h"
#include "core/tree.h"

struct hf_buffer;
struct hf_error;

#define HF_MANIFEST_VERSION	1
#define HF_MANIFEST_ENTRIES_MAX	((size_t)10 * 1000 * 1000)
#define HF_MANIFEST_SIZE_MAX	((size_t)3 << 30)

struct hf_manifest {
	struct hf_name name;
	char *root;
	int64_t created_ns;
	/* The policy's patterns in order, as printed (hf_quote()), a line each. */
	char *patterns;
	struct hf_tree tree;
};

#define HF_MANIFEST_INIT { .tree = HF_TREE_INIT }
#define cleanup_manifest CLEANUP(hf_manifest_done)

/* HF_ERR_LIMIT when it is larger than what will be read again. */
MUST_CHECK int hf_manifest_encode(const struct hf_manifest *manifest,
				  struct hf_buffer *out, struct hf_error *err);

/* label is for messages ("snapshot 000042-..."). */
MUST_CHECK int hf_manifest_decode(const char *label, const char *data,
				  size_t len, struct hf_manifest *ret_manifest,
				  struct hf_error *err);

/* Is it whole, and whose is it?  No entry is looked at: core/manifest_find.h.
 */
MUST_CHECK int hf_manifest_check(const char *label, const char *data,
				 size_t len, struct hf_name *ret_name,
				 struct hf_error *err);

void hf_manifest_done(struct hf_manifest *manifest);

#endif /* HF_CORE_MANIFEST_H */
