/* SPDX-License-Identifier: MIT */
/*
 * Read packs to their end and compare what is in them with what their index and
 * the manifests say.
 *
 * Three say what a content is: the member itself, the index, and the manifests.
 * Where the index alone differs, it is the one that is wrong.
 */
#include "core/inspect_run.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/pack.h"
#include "core/pack_index.h"
#include "core/pack_lost.h"
#include "core/pack_name.h"

#define REASON_MAX 600
#define FILE_MAX   (HF_PACK_NAME + 8)

/* One pack. */
struct looking {
	struct hf_inspect_run *run;
	uint32_t pack;
	struct hf_pack_member *members; /* as they follow each other */
	size_t count;
	size_t capacity;
	struct hf_ref *refs;
	size_t ref_count;
	size_t named;	 /* by the index */
	size_t wrong;	 /* members that are not what they should be */
	size_t misnamed; /* by the index alone */
	bool is_cut;	 /* what follows the members could not be read */
};

static void looking_done(struct looking *looking)
{
	hf_free_pointee(&looking->members);
}

#define cleanup_looking CLEANUP(looking_done)

static int add_member(void *context, const struct hf_pack_member *member,
		      struct hf_error *err)
{
	struct looking *const looking = context;

	if (looking->count == looking->capacity) {
		const size_t wanted = 2 * looking->capacity + 64;
		struct hf_pack_member *items;
		size_t size;

		if (__builtin_mul_overflow(wanted, sizeof(*items), &size))
			return hf_fail_memory(err);
		items = realloc(looking->members, size);

		if (!items)
			return hf_fail_memory(err);
		looking->members = items;
		looking->capacity = wanted;
	}
	looking->members[looking->count++] = *member;
	return 0;
}

static void add_bytes(void *context, uint64_t bytes)
{
	const struct looking *const looking = context;

	hf_inspect_add_bytes(looking->run, bytes);
}

/* The offsets of members grow. */
static const struct hf_pack_member *find_member(const struct looking *looking,
						uint64_t offset)
{
	size_t low = 0;
	size_t high = looking->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (looking->members[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < looking->count && looking->members[low].offset == offset
		       ? &looking->members[low]
		       : NULL;
}

static bool is_content(const struct hf_pack_member *member,
		       const struct hf_hash *hash, uint64_t size)
{
	return member && member->size == size &&
	       hf_hash_equal(&member->hash, hash);
}

/* Does a manifest say that the member is what it is? */
static bool is_confirmed(const struct looking *looking,
			 const struct hf_pack_member *member)
{
	for (size_t i = 0; i < looking->ref_count; i++) {
		const struct hf_ref *const ref = &looking->refs[i];

		if (ref->location.offset == member->offset &&
		    is_content(member, &ref->hash, ref->size))
			return true;
	}
	return false;
}

static int compare_item(void *context, const struct hf_pack_index_item *item,
			struct hf_error *err)
{
	struct looking *const looking = context;
	const struct hf_pack_member *const member =
		find_member(looking, item->offset);

	(void)err;
	looking->named++;
	if (is_content(member, &item->hash, item->size) ||
	    (!member && looking->is_cut))
		return 0;
	if (!member || is_confirmed(looking, member))
		looking->misnamed++;
	else
		looking->wrong++;
	return 0;
}

/* How many contents that snapshots need are not to be had. */
static size_t mark_bad(struct looking *looking)
{
	size_t bad = 0;

	for (size_t i = 0; i < looking->ref_count; i++) {
		struct hf_ref *const ref = &looking->refs[i];

		ref->is_bad =
			!is_content(find_member(looking, ref->location.offset),
				    &ref->hash, ref->size);
		bad += ref->is_bad;
	}
	return bad;
}

static void tell_pack(struct looking *looking, const char *reason, size_t bad)
{
	char file[FILE_MAX];
	char name[HF_PACK_NAME];
	char cost[REASON_MAX];

	hf_pack_name_format(looking->pack, HF_PACK_SUFFIX, name);
	(void)snprintf(file, sizeof(file), "packs/%s", name);
	if (bad == 0)
		(void)snprintf(cost, sizeof(cost),
			       "no snapshot needs what is lost of it");
	else if (bad == looking->ref_count)
		(void)snprintf(cost, sizeof(cost),
			       "all that snapshots need of it is lost");
	else
		(void)snprintf(cost, sizeof(cost),
			       "%zu of the %zu contents that snapshots need of "
			       "it %s lost; the others can be restored",
			       bad, looking->ref_count,
			       bad == 1 ? "is" : "are");
	hf_inspect_tell(looking->run, file, reason, cost);
}

static void tell_index(struct looking *looking, const char *reason)
{
	char file[FILE_MAX];
	char name[HF_PACK_NAME];

	hf_pack_name_format(looking->pack, HF_PACK_INDEX_SUFFIX, name);
	(void)snprintf(file, sizeof(file), "packs/%s", name);
	hf_inspect_tell(
		looking->run, file, reason,
		"nothing is lost: every content is found without it, and "
		"may be archived a second time");
}

/* After the members: 0, or a failure of ours. */
static int check_index(struct looking *looking, uint64_t pack_bytes,
		       struct hf_error *err)
{
	char name[HF_PACK_NAME];
	struct hf_error found;
	struct hf_stat stat;
	int rc;

	hf_pack_name_format(looking->pack, HF_PACK_INDEX_SUFFIX, name);
	rc = hf_file_stat_at(looking->run->store->folder_fd[HF_STORE_PACKS],
			     name, &stat);
	if (rc == -ENOENT) {
		tell_index(looking, "it is missing");
		return 0;
	}
	if (rc == 0)
		hf_inspect_add_bytes(looking->run, stat.size);
	rc = hf_pack_index_read(looking->run->store, looking->pack, pack_bytes,
				compare_item, looking, &found);
	if (rc < 0 && hf_inspect_has_failed(&found)) {
		*err = found;
		return rc;
	}
	if (rc < 0)
		/* A cut pack has another size than its index says. */
		looking->misnamed = looking->is_cut ? 0 : 1;
	else if (!looking->is_cut && looking->named != looking->count)
		looking->misnamed++;
	if (looking->misnamed > 0)
		tell_index(looking,
			   rc < 0 ? found.text : "it is not that of the pack");
	return 0;
}

/* The pack is there: what is in it, and is all of it right? */
static int check_pack(struct looking *looking, uint64_t bytes,
		      struct hf_error *err)
{
	const struct hf_pack_visitor visitor = {
		.context = looking,
		.member = add_member,
		.read = add_bytes,
	};
	char reason[REASON_MAX] = "";
	struct hf_error found;
	size_t bad;
	int rc;

	rc = hf_pack_walk(looking->run->store, looking->pack, &visitor, &found);
	if (rc < 0 && hf_inspect_has_failed(&found)) {
		*err = found;
		return rc;
	}
	looking->is_cut = rc < 0;
	if (rc < 0)
		(void)snprintf(reason, sizeof(reason), "%s", found.text);
	bad = mark_bad(looking);
	rc = check_index(looking, bytes, err);
	if (rc < 0)
		return rc;
	if (reason[0] == '\0' && (looking->wrong > 0 || bad > 0))
		(void)snprintf(reason, sizeof(reason),
			       "it holds other bytes than were recorded");
	if (reason[0] != '\0')
		tell_pack(looking, reason, bad);
	looking->run->counts.contents += looking->count;
	return 0;
}

static int inspect_pack(struct hf_inspect_run *run, uint32_t pack,
			struct hf_error *err)
{
	cleanup_looking struct looking looking = {.run = run, .pack = pack};
	char name[HF_PACK_NAME];
	struct hf_stat stat = {.kind = HF_KIND_ABSENT};
	int rc = -ENOENT;

	looking.refs = hf_refs_of_pack(&run->refs, pack, &looking.ref_count);
	hf_pack_name_format(pack, HF_PACK_SUFFIX, name);
	if (hf_inspect_has(run, HF_STORE_PACKS))
		rc = hf_file_stat_at(run->store->folder_fd[HF_STORE_PACKS],
				     name, &stat);
	if (rc == -ENOENT) {
		tell_pack(&looking, "it is missing", mark_bad(&looking));
		return 0;
	}
	run->counts.packs++;
	return check_pack(&looking, rc < 0 ? 0 : stat.size, err);
}

/* Those that are there, and those that a manifest refers to. */
static int list_packs(const struct hf_inspect_run *run, struct hf_packs *packs,
		      struct hf_error *err)
{
	for (size_t i = 0; i < run->refs.count; i++)
		if (hf_packs_add(packs, run->refs.items[i].location.pack, err) <
		    0)
			return err->code;
	return hf_inspect_has(run, HF_STORE_PACKS) ?
		       hf_packs_add_there(packs, run->store, err) :
		       0;
}

int hf_inspect_packs(struct hf_inspect_run *run, struct hf_error *err)
{
	cleanup_packs struct hf_packs packs = HF_PACKS_INIT;
	int rc;

	rc = list_packs(run, &packs, err);
	for (size_t i = 0; rc == 0 && i < packs.count; i++)
		rc = inspect_pack(run, packs.items[i], err);
	return rc;
}
