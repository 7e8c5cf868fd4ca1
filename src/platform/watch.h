/* SPDX-License-Identifier: MIT */
/*
 * The watch seam: be told after something happened to a name or a file.
 *
 * On Linux inotify.  What it misses (stores through a shared mapping, events
 * beyond the queue) is why a run ends with a look at the content.
 */
#ifndef HF_PLATFORM_WATCH_H
#define HF_PLATFORM_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_watch;
#define cleanup_watch	CLEANUP(hf_watch_free)

enum hf_watch_event_kind {
	HF_WATCH_WRITTEN = 1 << 0,
	HF_WATCH_METADATA = 1 << 1,	/* perhaps: a reason to compare */
	HF_WATCH_CREATED = 1 << 2,
	HF_WATCH_REMOVED = 1 << 3,
	HF_WATCH_MOVED_FROM = 1 << 4,
	HF_WATCH_MOVED_TO = 1 << 5,
	HF_WATCH_SELF_GONE = 1 << 6,	/* the watched one moved or was removed */
	HF_WATCH_OVERFLOW = 1 << 7,	/* events were lost */
	/* A descriptor opened for writing was closed; of watched files alone. */
	HF_WATCH_CLOSED = 1 << 8
};

struct hf_watch_event {
	unsigned kinds;		/* set of enum hf_watch_event_kind */
	size_t tag;		/* as given to add; unset on overflow */
	bool is_directory;	/* what name is */
	const char *name;	/* in the watched directory; "" for itself */
};

MUST_CHECK int hf_watch_new(struct hf_watch **ret_watch);
void hf_watch_free(struct hf_watch **watch);
/* Readable when there are events. */
int hf_watch_fd(const struct hf_watch *watch);

/*
 * Paths are absolute; a link as the last component is not followed.  -ENOSPC
 * when the user's watches are used up.
 */
MUST_CHECK int hf_watch_add_directory(struct hf_watch *watch, const char *path,
				      size_t tag);
/*
 * Of a directory, only what happens to names in it: for one whose files have
 * watches of their own.  Opens of what lies in it cost nothing more.
 */
MUST_CHECK int hf_watch_add_names(struct hf_watch *watch, const char *path,
				  size_t tag);
MUST_CHECK int hf_watch_add_file(struct hf_watch *watch, const char *path,
				 size_t tag);
/* Only whether it is moved or removed itself. */
MUST_CHECK int hf_watch_add_ancestor(struct hf_watch *watch, const char *path,
				     size_t tag);

/* 1 with an event (valid until the next call), 0 when there is none now. */
MUST_CHECK int hf_watch_next(struct hf_watch *watch,
			     struct hf_watch_event *ret_event);

#endif /* HF_PLATFORM_WATCH_H */
