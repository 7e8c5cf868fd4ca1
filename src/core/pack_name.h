/* SPDX-License-Identifier: MIT */
/*
 * The file names of packs, and the form of their indexes: what pack_write.c,
 * pack_read.c and contents.c agree on.
 */
#ifndef HF_CORE_PACK_NAME_H
#define HF_CORE_PACK_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "core/json.h"

#define HF_PACK_NAME		32	/* bytes of a name */
#define HF_PACK_SUFFIX		".tar.zst"
#define HF_PACK_INDEX_SUFFIX	".index"

#define HF_PACK_INDEX_VERSION	1
#define HF_PACK_INDEX_COUNTED	"contents"

/* "000042.tar.zst" */
void hf_pack_name_format(uint32_t number, const char *suffix,
			 char name[HF_PACK_NAME]);
/* The number in such a name; false when it is none. */
bool hf_pack_name_parse(const char *name, const char *suffix,
			uint32_t *ret_number);

/* The first line of an index: is it that of this pack, and how long is that? */
bool hf_pack_header_decode(const hf_json_value *header, uint32_t pack,
			   uint64_t *ret_bytes);

#endif /* HF_CORE_PACK_NAME_H */
