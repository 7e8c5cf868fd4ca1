/* SPDX-License-Identifier: MIT */
/*
 * Attributes and small idioms used by every file.
 */
#ifndef HF_BASE_DEFS_H
#define HF_BASE_DEFS_H

#include <errno.h>
#include <stdlib.h>

#define MUST_CHECK	__attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define CLEANUP(fn)	__attribute__((cleanup(fn)))

#define HF_COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Cleanup never changes errno: it runs between a failure and its report. */
static inline void hf_free_pointee(void *pointer)
{
	const int saved = errno;

	free(*(void **)pointer);
	*(void **)pointer = NULL;
	errno = saved;
}

#define cleanup_free	CLEANUP(hf_free_pointee)

/* Move a descriptor out of a variable that would otherwise close it. */
static inline int take_fd(int *fd)
{
	const int taken = *fd;

	*fd = -1;
	return taken;
}

/* The same for a pointer: `return take_ptr(&tree);` */
#define take_ptr(pp)							\
	({								\
		__typeof__(*(pp)) taken_ = *(pp);			\
		*(pp) = NULL;						\
		taken_;							\
	})

#endif /* HF_BASE_DEFS_H */
