/* SPDX-License-Identifier: MIT */
/*
 * The pager seam: long text for a person, through the viewer of their choice.
 */
#ifndef HF_PLATFORM_PAGER_H
#define HF_PLATFORM_PAGER_H

#include <stddef.h>

#include "base/defs.h"

/*
 * $PAGER (none when it is empty or "cat"), else less, with what makes it show
 * colours and leave a short text alone (FRX, unless $LESS says otherwise).  0
 * when the viewer has ended well, whether it was read to the end or not; else
 * -errno: nobody may have seen anything, and the caller prints the text itself.
 */
MUST_CHECK int hf_pager_show(const char *text, size_t len);

#endif /* HF_PLATFORM_PAGER_H */
