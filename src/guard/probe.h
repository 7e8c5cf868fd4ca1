/* SPDX-License-Identifier: MIT */
/*
 * Does the gate hold here, for whoever requires it?  All operations of the
 * doctor are tried once a boot, user and program; that they were refused is
 * remembered in one small file where programs keep their state.
 *
 *	rc = hf_probe_check(store_path, err);
 *
 * Nothing is printed, and nothing but that file is left behind.
 */
#ifndef HF_GUARD_PROBE_H
#define HF_GUARD_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_buffer;
struct hf_doctor;
struct hf_error;

/* What the answer holds for; with another one of these it is asked anew. */
struct hf_probe_key {
	const char *version;	/* of holdfast */
	uint64_t program[3];	/* device, inode and mtime of this file */
	char boot_id[37];	/* "": the system does not tell */
	uint32_t uid;
	const char *standing;	/* of hf_surroundings_standing() */
};

/*
 * HF_ERR_UNSUPPORTED when the gate cannot be had, or does not hold.  Where there
 * is no state directory to write to the decoys go beside the store, and nothing
 * is remembered.
 */
MUST_CHECK int hf_probe_check(const char *store_path, struct hf_error *err);

/* The pure parts. */

/* The text of the file, appended. */
void hf_probe_text(const struct hf_probe_key *key, struct hf_buffer *out);
/* Does what the file has say that the gate holds? */
bool hf_probe_is_known(const struct hf_probe_key *key, const char *data,
		       size_t len);
/* What was tried: HF_ERR_UNSUPPORTED with the operations that are not covered. */
MUST_CHECK int hf_probe_judge(const struct hf_doctor *doctor,
			      struct hf_error *err);

#endif /* HF_GUARD_PROBE_H */
