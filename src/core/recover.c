/* SPDX-License-Identifier: MIT */
/* Judge what a session that died has left, entry by entry. */
#include "core/recover.h"

#include <string.h>

#include "base/fail.h"
#include "core/entry_text.h"
#include "core/sealed.h"

void hf_dead_done(struct hf_dead *dead)
{
	hf_free_pointee(&dead->damages);
	dead->damage_count = 0;
	hf_arena_done(&dead->arena);
}

/* -- from the journal --------------------------------------------------------
 */

/* By path; those of one path stay in the order in which they came. */
static int compare_damages(const void *a, const void *b)
{
	const struct hf_damage *const left = a;
	const struct hf_damage *const right = b;
	const int order = strcmp(left->path, right->path);

	if (order != 0)
		return order;
	return left->order < right->order ? -1 : 1;
}

static int add_damage(struct hf_dead *dead, size_t *capacity,
		      const struct hf_damage *damage, struct hf_error *err)
{
	if (dead->damage_count == *capacity) {
		const size_t wanted = 2 * *capacity + 16;
		struct hf_damage *const items =
			realloc(dead->damages, wanted * sizeof(*items));

		if (!items)
			return hf_fail_memory(err);
		dead->damages = items;
		*capacity = wanted;
	}
	dead->damages[dead->damage_count] = *damage;
	dead->damages[dead->damage_count].order = dead->damage_count;
	dead->damage_count++;
	return 0;
}

/* The entry in the violation's record, if it has one. */
static int decode_after(struct hf_dead *dead, const hf_json_value *object,
			const struct hf_entry **ret_entry, struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_entry *entry;
	int rc;

	*ret_entry = NULL;
	if (!object)
		return 0;
	rc = hf_entry_decode(object, &tree, err);
	if (rc < 0)
		return rc;
	entry = hf_arena_alloc(&dead->arena, sizeof(*entry));
	if (!entry)
		return hf_fail_memory(err);
	*entry = tree.entries[0];
	hf_arena_adopt(&dead->arena, &tree.arena);
	*ret_entry = entry;
	return 0;
}

/* One line of violations.  What was refused left nothing. */
static int add_violation(struct hf_dead *dead, size_t *capacity,
			 const char *line, size_t len, struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	struct hf_damage damage = {.path = NULL};
	const hf_json_value *record;
	bool has_landed = true;
	int rc;

	rc = hf_json_parse_line(line, len, &json, err);
	if (rc < 0)
		return rc;
	record = hf_json_root(json);
	(void)hf_json_bool(hf_json_get(record, "landed"), &has_landed);
	(void)hf_json_bool(hf_json_get(record, "outside"), &damage.is_outside);
	if (!has_landed)
		return 0;
	rc = hf_text_decode(hf_json_get(record, "path"),
			    hf_json_get(record, "path_bytes"), &dead->arena,
			    &damage.path);
	if (rc == -ENOMEM)
		return hf_fail_memory(err);
	if (rc < 0)
		return hf_fail(err, HF_ERR_CORRUPT,
			       "a record of a violation has no path");
	rc = decode_after(dead, hf_json_get(record, "after"), &damage.entry,
			  err);
	return rc < 0 ? rc : add_damage(dead, capacity, &damage, err);
}

static int add_violations(struct hf_dead *dead, size_t *capacity,
			  const char *lines, struct hf_error *err)
{
	struct hf_lines at = hf_lines_of(lines);
	const char *line;
	size_t len;

	while (hf_lines_next(&at, &line, &len)) {
		const int rc = add_violation(dead, capacity, line, len, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int hf_dead_read(const struct hf_session_record *record, const char *boot_id,
		 struct hf_dead *ret_dead, struct hf_error *err)
{
	cleanup_dead struct hf_dead dead = {
		.is_run = strcmp(record->kind, "run") == 0,
		.accepted = record->accepted,
		.accepted_count = record->accepted_count,
	};
	size_t capacity = 0;
	int rc;

	if (strcmp(record->boot_id, boot_id) == 0 && record->alive_ns > 0)
		dead.alive_ns = record->alive_ns + HF_JOURNAL_BEAT_NS;
	rc = add_violations(&dead, &capacity, record->violation_lines, err);
	/* What was replaced, or was about to be, was not what was recorded. */
	for (size_t i = 0; rc == 0 && i < record->kept_count; i++)
		rc = add_damage(&dead, &capacity,
				&(struct hf_damage){
					.path = record->kept[i].replaced->path,
					.entry = record->kept[i].replaced,
				},
				err);
	if (rc < 0)
		return rc;
	if (dead.damage_count > 1)
		qsort(dead.damages, dead.damage_count, sizeof(*dead.damages),
		      compare_damages);
	*ret_dead = dead;
	dead = (struct hf_dead)HF_DEAD_INIT;
	return 0;
}

/* -- judging -----------------------------------------------------------------
 */

/* Those of the path: where they begin, and how many there are. */
static const struct hf_damage *find(const struct hf_dead *dead,
				    const char *path, size_t *ret_count)
{
	size_t low = 0;
	size_t high = dead->damage_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strcmp(dead->damages[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < dead->damage_count &&
			 strcmp(dead->damages[high].path, path) == 0;)
		high++;
	*ret_count = high - low;
	return dead->damages + low;
}

/* Is now what was there then?  Its times are not asked: they say who looked. */
static bool is_equal(const struct hf_entry *then, const struct hf_entry *now)
{
	const unsigned change = hf_compare_entry(then, now);

	/* One that was not read is known by nothing. */
	if (then->stat.kind == HF_KIND_FILE && !then->has_hash)
		return false;
	if (change == 0)
		return true;
	return change == HF_CHANGE_METADATA &&
	       then->stat.mode == now->stat.mode &&
	       then->stat.uid == now->stat.uid &&
	       then->stat.gid == now->stat.gid &&
	       strcmp(then->xattrs, now->xattrs) == 0;
}

bool hf_recover_is_accepted(const struct hf_dead *dead,
			    const struct hf_delta *delta)
{
	const char *const path = hf_delta_entry(delta)->path;

	for (size_t i = 0; i < dead->accepted_count; i++) {
		const struct hf_entry *const entry = dead->accepted[i];

		if (strcmp(entry->path, path) != 0)
			continue;
		if (delta->after ? is_equal(entry, delta->after)
				 : entry->stat.kind == HF_KIND_ABSENT)
			return true;
	}
	return false;
}

static bool is_damage(const struct hf_damage *damages, size_t count,
		      const struct hf_entry *now)
{
	for (size_t i = 0; i < count; i++)
		if (damages[i].entry && !damages[i].is_outside &&
		    is_equal(damages[i].entry, now))
			return true;
	return false;
}

/* Has a person changed it, and nobody else as far as is known? */
static bool is_a_persons(const struct hf_damage *damages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!damages[i].is_outside)
			return false;
	return count > 0;
}

/* Did it become what it is while the run was watched? */
static bool is_of_the_run(const struct hf_dead *dead,
			  const struct hf_delta *delta)
{
	const struct hf_entry *const before = delta->before;
	const struct hf_stat *const now = &delta->after->stat;

	if (now->ctime_ns > dead->alive_ns)
		return false;
	return !before || before->stat.kind == HF_KIND_ABSENT ||
	       before->stat.ctime_ns != now->ctime_ns ||
	       before->stat.ino != now->ino || before->stat.dev != now->dev;
}

enum hf_recovery hf_recover_decide(const struct hf_dead *dead,
				   const struct hf_delta *delta)
{
	const struct hf_entry *const now = delta->after;
	const bool is_missing = !now || now->stat.kind == HF_KIND_ABSENT;
	const struct hf_damage *damages;
	size_t count;

	if (delta->change == 0)
		return HF_RECOVERY_NOTHING;
	if (hf_recover_is_accepted(dead, delta))
		return HF_RECOVERY_LEAVE;
	damages = find(dead, hf_delta_entry(delta)->path, &count);
	if (is_a_persons(damages, count))
		return is_missing || is_of_the_run(dead, delta)
			       ? HF_RECOVERY_LEAVE
			       : HF_RECOVERY_UNDECIDED;
	if (is_missing)
		return dead->is_run ? HF_RECOVERY_PUT_BACK
				    : HF_RECOVERY_UNDECIDED;
	if (is_damage(damages, count, now) ||
	    (dead->is_run && is_of_the_run(dead, delta)))
		return HF_RECOVERY_PUT_BACK;
	return HF_RECOVERY_UNDECIDED;
}

const struct hf_entry *hf_recover_left(const struct hf_dead *dead,
				       const char *path)
{
	size_t count;
	const struct hf_damage *const damages = find(dead, path, &count);

	for (size_t i = count; i > 0; i--)
		if (damages[i - 1].entry)
			return damages[i - 1].entry;
	return NULL;
}
