/* SPDX-License-Identifier: MIT */
/* Two hash tables and the few patterns that a name has to be tried against. */
#include "guard/decide_set.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "core/pattern.h"

#define SMALLEST_TABLE 64
/* Of the numbers in the store's names. */
#define STORE_DIGITS 6

/* -- identities -------------------------------------------------------------
 */

static size_t place_of(uint64_t dev, uint64_t ino, size_t size)
{
	/* An odd number with bits everywhere spreads neighbours (Fibonacci
	 * hashing). */
	const uint64_t hash = (ino ^ dev << 32) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(hash >> 32) & (size - 1);
}

static struct hf_known *slot_of(struct hf_known *known, size_t size,
				uint64_t dev, uint64_t ino)
{
	size_t at = place_of(dev, ino, size);

	while (known[at].ino != 0 &&
	       (known[at].ino != ino || known[at].dev != dev))
		at = (at + 1) & (size - 1);
	return &known[at];
}

static int grow_known(struct hf_decide_set *set)
{
	const size_t size =
		set->known_size ? 2 * set->known_size : SMALLEST_TABLE;
	struct hf_known *known;

	if (2 * (set->known_count + 1) <= set->known_size)
		return 0;
	known = calloc(size, sizeof(*known));
	if (!known)
		return -ENOMEM;
	for (size_t i = 0; i < set->known_size; i++)
		if (set->known[i].ino != 0)
			*slot_of(known, size, set->known[i].dev,
				 set->known[i].ino) = set->known[i];
	free(set->known);
	set->known = known;
	set->known_size = size;
	return 0;
}

/* What is known already stays: the entry of a directory says more than that it
 * stands above another one. */
static int add_known(struct hf_decide_set *set, const struct hf_known *known)
{
	struct hf_known *slot;

	if (known->ino == 0)
		return 0;
	if (grow_known(set) < 0)
		return -ENOMEM;
	slot = slot_of(set->known, set->known_size, known->dev, known->ino);
	if (slot->ino == 0)
		set->known_count++;
	if (slot->ino == 0 || slot->kind == HF_KNOWN_GONE)
		*slot = *known;
	return 0;
}

const struct hf_known *hf_decide_set_find(const struct hf_decide_set *set,
					  uint64_t dev, uint64_t ino)
{
	const struct hf_known *slot;

	if (set->known_size == 0 || ino == 0)
		return NULL;
	slot = slot_of(set->known, set->known_size, dev, ino);
	return slot->ino == 0 || slot->kind == HF_KNOWN_GONE ? NULL : slot;
}

/* -- names ------------------------------------------------------------------
 */

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static const char **name_slot(const char **names, size_t size, const char *name)
{
	size_t at = (size_t)hash_of(name) & (size - 1);

	while (names[at] && strcmp(names[at], name) != 0)
		at = (at + 1) & (size - 1);
	return &names[at];
}

static int grow_names(struct hf_decide_set *set)
{
	const size_t size =
		set->name_size ? 2 * set->name_size : SMALLEST_TABLE;
	const char **names;

	if (2 * (set->name_count + 1) <= set->name_size)
		return 0;
	names = calloc(size, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < set->name_size; i++)
		if (set->names[i])
			*name_slot(names, size, set->names[i]) = set->names[i];
	free(set->names);
	set->names = names;
	set->name_size = size;
	return 0;
}

static int add_name(struct hf_decide_set *set, const char *name)
{
	const char **slot;

	if (name[0] == '\0')
		return 0;
	if (grow_names(set) < 0)
		return -ENOMEM;
	slot = name_slot(set->names, set->name_size, name);
	if (*slot)
		return 0;
	*slot = hf_arena_copy(&set->arena, name, strlen(name));
	if (!*slot)
		return -ENOMEM;
	set->name_count++;
	return 0;
}

static const char *last_of(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool hf_decide_set_has_name(const struct hf_decide_set *set, const char *name)
{
	return set->name_size > 0 &&
	       *name_slot(set->names, set->name_size, name) != NULL;
}

/* As the store numbers what is in it: what is planted there misleads the next
 * run. */
static bool is_numbered(const char *name)
{
	return strspn(name, "0123456789") >= STORE_DIGITS;
}

bool hf_decide_set_may_name(const struct hf_decide_set *set, const char *name)
{
	if (set->has_trees || hf_decide_set_has_name(set, name) ||
	    is_numbered(name))
		return true;
	for (size_t i = 0; i < set->glob_count; i++)
		if (hf_pattern_match_text(set->globs[i], name))
			return true;
	return false;
}

/* -- patterns ---------------------------------------------------------------
 */

static int add_glob(struct hf_decide_set *set, const char *glob)
{
	for (size_t i = 0; i < set->glob_count; i++)
		if (strcmp(set->globs[i], glob) == 0)
			return 0;
	set->globs[set->glob_count] =
		hf_arena_copy(&set->arena, glob, strlen(glob));
	return set->globs[set->glob_count++] ? 0 : -ENOMEM;
}

/* What a pattern says of the last component of the paths that it matches. */
static int add_pattern(struct hf_decide_set *set, const char *text)
{
	char *const copy = hf_arena_copy(&set->arena, text, strlen(text));
	const char *last;
	size_t len;

	if (!copy)
		return -ENOMEM;
	if (copy[0] == '!')
		return 0;
	len = strlen(copy);
	if (len > 0 && copy[len - 1] == '/') {
		set->has_trees = true;
		copy[len - 1] = '\0';
	}
	last = last_of(copy);
	set->is_deep = set->is_deep || last != copy;
	if (strcmp(last, "**") == 0) {
		set->has_trees = true;
		set->is_deep = true;
		return 0;
	}
	/* Literal ones are often many, and are looked up. */
	return last[strcspn(last, "*?[\\")] ? add_glob(set, last)
					    : add_name(set, last);
}

static int add_patterns(struct hf_decide_set *set)
{
	const struct hf_patterns *const protect = set->policy->protect;
	const size_t count = hf_patterns_count(protect);

	set->globs = calloc(count + 1, sizeof(*set->globs));
	if (!set->globs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (add_pattern(set, hf_patterns_text(protect, i)) < 0)
			return -ENOMEM;
	return 0;
}

/* -- filling ----------------------------------------------------------------
 */

static struct hf_known known_of(const struct hf_entry *entry,
				enum hf_known_kind kind, uint64_t dev,
				uint64_t ino)
{
	return (struct hf_known){
		.dev = dev,
		.ino = ino,
		.kind = kind,
		.entry = entry,
		.path = entry->path,
		.is_directory = entry->stat.kind == HF_KIND_DIRECTORY,
	};
}

static int add_entry(struct hf_decide_set *set, const struct hf_entry *entry,
		     uint64_t dev, uint64_t ino)
{
	const struct hf_known known =
		known_of(entry, HF_KNOWN_ENTRY, dev, ino);

	return add_known(set, &known);
}

int hf_decide_set_renew(struct hf_decide_set *set, const struct hf_entry *entry,
			uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; i < set->known_size; i++) {
		struct hf_known *const known = &set->known[i];

		/* Also another entry's that was moved here. */
		if (known->ino != 0 && known->kind == HF_KNOWN_ENTRY &&
		    (known->entry == entry ||
		     (known->ino == ino && known->dev == dev)))
			known->kind = HF_KNOWN_GONE;
	}
	return add_entry(set, entry, dev, ino);
}

int hf_decide_set_add_copy(struct hf_decide_set *set,
			   const struct hf_entry *entry, uint64_t dev,
			   uint64_t ino)
{
	const struct hf_known known = known_of(entry, HF_KNOWN_COPY, dev, ino);

	return add_known(set, &known);
}

int hf_decide_set_fill(struct hf_decide_set *set, const struct hf_tree *tree,
		       const struct hf_policy *policy, const char *const *argv,
		       struct hf_error *err)
{
	set->tree = tree;
	set->policy = policy;
	set->argv = argv;
	set->refuses_updates = policy->read_write_opens == HF_OPENS_REFUSE;
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if ((entry->stat.kind != HF_KIND_ABSENT &&
		     add_entry(set, entry, entry->stat.dev,
			       entry->stat.ino) < 0) ||
		    add_name(set, last_of(entry->path)) < 0)
			return hf_fail_memory(err);
	}
	if (add_patterns(set) < 0)
		return hf_fail_memory(err);
	return 0;
}

int hf_decide_set_add_above(struct hf_decide_set *set, const char *path,
			    uint64_t dev, uint64_t ino)
{
	struct hf_known known = {
		.dev = dev,
		.ino = ino,
		.kind = HF_KNOWN_ABOVE,
		.path = hf_arena_copy(&set->arena, path, strlen(path)),
		.is_directory = true,
	};

	if (!known.path || add_known(set, &known) < 0)
		return -ENOMEM;
	return add_name(set, last_of(path));
}

int hf_decide_set_add_store(struct hf_decide_set *set, const char *name,
			    uint64_t dev, uint64_t ino, bool is_directory)
{
	const struct hf_known known = {
		.dev = dev,
		.ino = ino,
		.kind = HF_KNOWN_STORE,
		.is_directory = is_directory,
	};

	if (add_known(set, &known) < 0)
		return -ENOMEM;
	return add_name(set, name);
}

void hf_decide_set_done(struct hf_decide_set *set)
{
	hf_free_pointee(&set->known);
	hf_free_pointee(&set->names);
	hf_free_pointee(&set->globs);
	hf_arena_done(&set->arena);
	*set = (struct hf_decide_set)HF_DECIDE_SET_INIT;
}
