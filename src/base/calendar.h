/* SPDX-License-Identifier: MIT */
/*
 * Dates and times that a person typed, in the form in which ours are printed.
 */
#ifndef HF_BASE_CALENDAR_H
#define HF_BASE_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

/*
 * The date or time that text begins with: "2026-11-30", "2026-11-30T03:00:07Z"
 * (RFC 3339; a blank for the T; Z, an offset, or nothing, which means UTC). Its
 * length, or 0 when there is none.  *ret_ns is the last moment that it names,
 * in nanoseconds since 1970: the end of the day or of the second.  Years 1970
 * to 2261.
 */
MUST_CHECK size_t hf_calendar_scan(const char *text, int64_t *ret_ns);

#endif /* HF_BASE_CALENDAR_H */
