/* SPDX-License-Identifier: MIT */
/*
 * What a path is called in an archive, and back: so that no two paths have one
 * name, and no name leads out of where it is unpacked.
 */
#ifndef HF_CORE_PACK_MEMBER_H
#define HF_CORE_PACK_MEMBER_H

#include <stddef.h>

#include "base/defs.h"

/* To free(); NULL when out of memory. */
MUST_CHECK char *hf_pack_member_name(const char *path);
/* How long that is. */
size_t hf_pack_member_len(const char *path);
/* The path whose name it is; to free(), NULL with errno: EINVAL when it is none
 * that is given. */
MUST_CHECK char *hf_pack_member_path(const char *name);

#endif /* HF_CORE_PACK_MEMBER_H */
