/* SPDX-License-Identifier: MIT */
/*
 * Packs: contents in an ordinary pax .tar.zst with real names, so that `tar -xf`
 * gets the files back without holdfast.
 *
 * libarchive writes no zstd checksum and tar has none: the recorded hash is the
 * only integrity, and every read checks it.  The index beside a pack lists its
 * contents (JSON lines closed by count and hash, as in a manifest); it serves to
 * find a content that is stored already.
 *
 * pack_write.c and pack_read.c are the only files that know libarchive.
 */
#ifndef HF_CORE_PACK_H
#define HF_CORE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/entry.h"
#include "core/store.h"

struct hf_buffer;
struct hf_error;

/* Contents above this size get a pack of their own. */
#define HF_PACK_MEMBER_MAX	((uint64_t)4 << 20)
/* A pack is closed when it holds this much. */
#define HF_PACK_SIZE		((uint64_t)64 << 20)

/* -- writing -------------------------------------------------------------- */

struct hf_pack_writer;
#define cleanup_pack_writer CLEANUP(hf_pack_writer_free)

/* Begins a temporary file in packs/.  number is the name it will get. */
MUST_CHECK int hf_pack_writer_new(const struct hf_store *store, uint32_t number,
				  struct hf_pack_writer **ret_writer,
				  struct hf_error *err);
/* Where the next member will lie. */
struct hf_location
hf_pack_next_location(const struct hf_pack_writer *writer);
/*
 * Can the next member be this one?  A pack is begun with plain tar headers,
 * which are written much faster, when its first member fits one; then it takes
 * no member that needs a pax header.
 */
bool hf_pack_writer_takes(const struct hf_pack_writer *writer,
			  const struct hf_entry *entry);
/* entry->stat.size bytes must follow. */
MUST_CHECK int hf_pack_begin_member(struct hf_pack_writer *writer,
				    const struct hf_entry *entry,
				    struct hf_location *ret_location,
				    struct hf_error *err);
MUST_CHECK int hf_pack_write(struct hf_pack_writer *writer, const void *data,
			     size_t len, struct hf_error *err);
/* The content is complete; its hash goes into the index. */
MUST_CHECK int hf_pack_end_member(struct hf_pack_writer *writer,
				  const struct hf_hash *hash,
				  struct hf_error *err);
uint32_t hf_pack_writer_number(const struct hf_pack_writer *writer);
/* Bytes of content so far. */
uint64_t hf_pack_writer_size(const struct hf_pack_writer *writer);
/*
 * Durable and under its name: index first, then the pack, then the directory.
 * A pack without members is dropped.
 */
MUST_CHECK int hf_pack_commit(struct hf_pack_writer *writer,
			      struct hf_error *err);
/* Without a commit before: nothing is left. */
void hf_pack_writer_free(struct hf_pack_writer **writer);

/*
 * The same archive to any descriptor, for a person and for import: no index, no
 * number, and nothing of it is made durable.  prefix, borrowed, stands before
 * the names of all members that follow.
 */
MUST_CHECK int hf_pack_stream_new(int fd, struct hf_pack_writer **ret_writer,
				  struct hf_error *err);
void hf_pack_stream_prefix(struct hf_pack_writer *writer, const char *prefix);
/* All is written; so many bytes. */
MUST_CHECK int hf_pack_stream_end(struct hf_pack_writer *writer,
				  uint64_t *ret_bytes, struct hf_error *err);

/* -- reading -------------------------------------------------------------- */

/* One content to read. */
struct hf_pack_want {
	struct hf_location location;
	uint64_t size;
	struct hf_hash hash;
	void *context;
};

/*
 * Called in order of the offsets: begin, data..., end with 0 when size and hash
 * were right, else with the failure (HF_ERR_CORRUPT).  A negative return of data
 * gives that content up, others go on; end's return is ignored.
 */
struct hf_pack_sink {
	int (*begin)(const struct hf_pack_want *want, struct hf_error *err);
	int (*data)(const struct hf_pack_want *want, const void *data,
		    size_t len, struct hf_error *err);
	void (*end)(const struct hf_pack_want *want, int result,
		    const struct hf_error *err);
};

/*
 * Read wants, all of one pack, sorted by offset, in one pass.  Every want gets
 * exactly one end() unless begin() refused it.  Negative when any failed; without
 * memory for the reading itself nothing is called at all.
 */
MUST_CHECK int hf_pack_read(const struct hf_store *store,
			    const struct hf_pack_want *wants, size_t count,
			    const struct hf_pack_sink *sink,
			    struct hf_error *err);

/* A pack for reading; -errno. */
MUST_CHECK int hf_pack_open(const struct hf_store *store, uint32_t pack);
/* The same of a pack that hf_pack_open() has opened, and that stays open. */
MUST_CHECK int hf_pack_read_open(int fd, const struct hf_pack_want *wants,
				 size_t count, const struct hf_pack_sink *sink,
				 struct hf_error *err);

/* A member of a pack, as it was found there. */
struct hf_pack_member {
	uint64_t offset;	/* as in a location */
	uint64_t size;
	struct hf_hash hash;
};

struct hf_pack_visitor {
	void *context;
	/* A negative return ends the walk, and is what it returns. */
	int (*member)(void *context, const struct hf_pack_member *member,
		      struct hf_error *err);
	/* So many more bytes of the file were read. */
	void (*read)(void *context, uint64_t bytes);
};

/*
 * Read all of a pack.  HF_ERR_CORRUPT when it is missing, or damaged so that what
 * follows the members told so far cannot be read.
 */
MUST_CHECK int hf_pack_walk(const struct hf_store *store, uint32_t pack,
			    const struct hf_pack_visitor *visitor,
			    struct hf_error *err);

/* A member of an archive from anywhere, as it is called there. */
struct hf_pack_item {
	const char *name;
	bool is_file; /* a regular one with a content of its own */
	uint64_t size;
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	int64_t mtime_ns;
	uint64_t offset; /* as in a location */
};

/* A negative return ends it, and is what it returns. */
struct hf_pack_listener {
	void *context;
	int (*begin)(void *context, const struct hf_pack_item *item,
		     struct hf_error *err);
	int (*data)(void *context, const void *data, size_t len,
		    struct hf_error *err);
	/* The size is what was said. */
	int (*end)(void *context, const struct hf_hash *hash,
		   struct hf_error *err);
};

/*
 * Read all of an archive from fd, which stays open; data and end only for what
 * is a file.  what is for messages: "'FILE'", quoted.  HF_ERR_CORRUPT when it
 * is damaged, cut short, or none.
 */
MUST_CHECK int hf_pack_listen(int fd, const char *what,
			      const struct hf_pack_listener *listener,
			      struct hf_error *err);

/* Pack and index, the index last: alone it is swept, while a pack alone looks
 * whole. 0 or -errno; 0 when it is not there. */
MUST_CHECK int hf_pack_remove(const struct hf_store *store, uint32_t pack);

/* Is name that of an index whose pack is not there?  1, 0 or -errno. */
MUST_CHECK int hf_pack_is_stray_index(const struct hf_store *store,
				      const char *name);

/* -- what is stored ------------------------------------------------------- */

struct hf_contents;	/* hash and size -> location, of all packs */
#define cleanup_contents CLEANUP(hf_contents_free)

/* An empty one. */
MUST_CHECK int hf_contents_new(struct hf_contents **ret_contents,
			       struct hf_error *err);
/* Read all indexes.  A damaged index is passed over (its contents are archived
 * again) and named in ret_notes. */
MUST_CHECK int hf_contents_load(const struct hf_store *store,
				struct hf_contents **ret_contents,
				struct hf_buffer *ret_notes,
				struct hf_error *err);
const struct hf_location *hf_contents_find(const struct hf_contents *contents,
					   const struct hf_hash *hash,
					   uint64_t size);
MUST_CHECK int hf_contents_add(struct hf_contents *contents,
			       const struct hf_hash *hash, uint64_t size,
			       struct hf_location location,
			       struct hf_error *err);
/* One more than the largest number in use. */
uint32_t hf_contents_next_pack(const struct hf_contents *contents);
void hf_contents_free(struct hf_contents **contents);

#endif /* HF_CORE_PACK_H */
