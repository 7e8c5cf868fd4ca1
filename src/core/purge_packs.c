/* SPDX-License-Identifier: MIT */
/* Find the packs that have some of it, and write the rest of each anew. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/archiver.h"
#include "core/pack_lost.h"
#include "core/pack_member.h"
#include "core/pack_name.h"
#include "core/purge_run.h"

/* -- what is where ----------------------------------------------------------
 */

struct walking {
	struct hf_purge_pack pack;
	const struct hf_purge *purge;
	bool is_dirty;
};

static void walking_done(struct walking *w)
{
	hf_free_pointee(&w->pack.members);
}

static int add_member(void *context, const struct hf_pack_member *member,
		      struct hf_error *err)
{
	struct walking *const w = context;
	struct hf_purge_pack *const pack = &w->pack;
	struct hf_purge_member *item;

	if (pack->count == pack->capacity) {
		const size_t wanted = 2 * pack->capacity + 64;
		struct hf_purge_member *const more =
			realloc(pack->members, wanted * sizeof(*more));

		if (!more)
			return hf_fail_memory(err);
		pack->members = more;
		pack->capacity = wanted;
	}
	item = &pack->members[pack->count++];
	*item = (struct hf_purge_member){
		.offset = member->offset,
		.hash = member->hash,
		.size = member->size,
		.is_bad = hf_purge_has(w->purge, &member->hash, member->size),
	};
	w->is_dirty |= item->is_bad;
	return 0;
}

static void ignore_bytes(void *context, uint64_t bytes)
{
	(void)context;
	(void)bytes;
}

/* What lies in a pack without any of it can be referred to. */
static int note_clean(struct hf_purge *purge, const struct hf_purge_pack *pack,
		      struct hf_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < pack->count; i++) {
		const struct hf_purge_member *const member = &pack->members[i];
		const struct hf_location location = {
			.pack = pack->number,
			.offset = member->offset,
		};

		rc = hf_contents_add(purge->clean, &member->hash, member->size,
				     location, err);
	}
	return rc;
}

static int add_pack(struct hf_purge *purge, struct walking *w,
		    struct hf_error *err)
{
	struct hf_purge_pack *const packs =
		realloc(purge->packs, (purge->pack_count + 1) * sizeof(*packs));

	if (!packs)
		return hf_fail_memory(err);
	purge->packs = packs;
	packs[purge->pack_count++] = w->pack;
	w->pack.members = NULL;
	return 0;
}

static int look_at_pack(struct hf_purge *purge, uint32_t number,
			struct hf_error *err)
{
	CLEANUP(walking_done)
	struct walking w = {
		.pack = {.number = number},
		.purge = purge,
	};
	const struct hf_pack_visitor visitor = {
		.context = &w,
		.member = add_member,
		.read = ignore_bytes,
	};
	char name[HF_PACK_NAME];
	int rc;

	rc = hf_pack_walk(purge->store, number, &visitor, err);
	if (rc < 0) {
		hf_pack_name_format(number, HF_PACK_SUFFIX, name);
		return hf_purge_pass_over(purge, "packs", name, err);
	}
	return w.is_dirty ? add_pack(purge, &w, err)
			  : note_clean(purge, &w.pack, err);
}

int hf_purge_find_packs(struct hf_purge *purge, struct hf_error *err)
{
	cleanup_packs struct hf_packs packs = HF_PACKS_INIT;
	int rc;

	rc = hf_packs_add_there(&packs, purge->store, err);
	if (rc < 0)
		return rc;
	if (packs.count > 0)
		purge->last_pack = packs.items[packs.count - 1];
	for (size_t i = 0; purge->contents > 0 && rc == 0 && i < packs.count;
	     i++)
		rc = look_at_pack(purge, packs.items[i], err);
	return rc;
}

/* -- the rest of a pack -----------------------------------------------------
 */

struct moving {
	struct hf_archiver *archiver;
	struct hf_scan_sink sink;
	struct hf_purge_pack *pack;
	struct hf_purge_member *member; /* that is read; NULL: not to be had */
	struct hf_entry entry;
	char *path;
};

static void moving_done(struct moving *m)
{
	hf_archiver_free(&m->archiver);
	hf_free_pointee(&m->path);
}

/* As it was archived; a name that is none of ours gets one. */
static int describe(struct moving *m, const struct hf_pack_item *item,
		    struct hf_error *err)
{
	free(m->path);
	m->path = hf_pack_member_path(item->name);
	if (!m->path && errno == EINVAL)
		m->path = strdup("nameless");
	if (!m->path)
		return hf_fail_memory(err);
	m->entry = (struct hf_entry){
		.path = m->path,
		.rule = "",
		.xattrs = "",
		.stat = {.kind = HF_KIND_FILE,
			 .mode = item->mode,
			 .uid = item->uid,
			 .gid = item->gid,
			 .mtime_ns = item->mtime_ns,
			 .size = item->size},
		.has_hash = true,
		.hash = m->member->hash,
	};
	return 0;
}

static int begin(void *context, const struct hf_pack_item *item,
		 struct hf_error *err)
{
	struct moving *const m = context;
	struct hf_purge_member *member = NULL;
	int rc;

	for (size_t i = 0; i < m->pack->count; i++)
		if (m->pack->members[i].offset == item->offset)
			member = &m->pack->members[i];
	m->member = NULL;
	if (!item->is_file || !member || member->is_bad)
		return 0;
	m->member = member;
	rc = describe(m, item, err);
	if (rc == 0)
		rc = hf_archiver_find(m->archiver, &m->entry, err);
	if (rc > 0) {
		member->moved = m->entry.location;
		m->member = NULL;
		return 0;
	}
	return rc < 0 ? rc : m->sink.begin(m->sink.context, 0, &m->entry, err);
}

static int data(void *context, const void *bytes, size_t len,
		struct hf_error *err)
{
	struct moving *const m = context;

	return m->member ? m->sink.data(m->sink.context, 0, bytes, len, err)
			 : 0;
}

static int end(void *context, const struct hf_hash *hash, struct hf_error *err)
{
	struct moving *const m = context;
	int rc;

	if (!m->member)
		return 0;
	if (!hf_hash_equal(hash, &m->member->hash))
		return hf_fail(err, HF_ERR_CHANGED,
			       "a pack has changed while it was read");
	rc = m->sink.end(m->sink.context, 0, &m->entry, err);
	if (rc == 0)
		m->member->moved = m->entry.location;
	return rc;
}

static int move_pack(const struct hf_purge *purge, struct moving *m,
		     struct hf_error *err)
{
	const struct hf_pack_listener listener = {
		.context = m,
		.begin = begin,
		.data = data,
		.end = end,
	};
	cleanup_fd int fd = hf_pack_open(purge->store, m->pack->number);
	char name[HF_PACK_NAME];
	char what[HF_PACK_NAME + 16];

	hf_pack_name_format(m->pack->number, HF_PACK_SUFFIX, name);
	(void)snprintf(what, sizeof(what), "pack '%s'", name);
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open %s", what);
	return hf_pack_listen(fd, what, &listener, err);
}

int hf_purge_move(struct hf_purge *purge, struct hf_error *err)
{
	CLEANUP(moving_done) struct moving m = {.archiver = NULL};
	uint64_t bytes;
	size_t count;
	int rc;

	if (purge->pack_count == 0)
		return 0;
	rc = hf_archiver_new(purge->store, NULL, purge->last_pack, NULL,
			     &m.archiver, err);
	if (rc < 0)
		return rc;
	hf_archiver_know(m.archiver, take_ptr(&purge->clean));
	m.sink = hf_archiver_sink(m.archiver);
	for (size_t i = 0; rc == 0 && i < purge->pack_count; i++) {
		m.pack = &purge->packs[i];
		rc = move_pack(purge, &m, err);
	}
	return rc < 0 ? rc
		      : hf_archiver_commit(m.archiver, &count, &bytes, err);
}

int hf_purge_remove_packs(struct hf_purge *purge, struct hf_error *err)
{
	const struct hf_store *const store = purge->store;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < purge->pack_count; i++)
		rc = hf_pack_remove(store, purge->packs[i].number);
	if (rc == 0)
		rc = hf_file_sync(store->folder_fd[HF_STORE_PACKS]);
	return rc < 0 ? hf_fail_system(err, rc,
				       "cannot remove packs of the store '%s'",
				       HF_QUOTE(store->path))
		      : 0;
}
