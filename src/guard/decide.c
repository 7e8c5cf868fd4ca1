/* SPDX-License-Identifier: MIT */
/*
 * One function for each kind of call.  Each asks for a fact by returning
 * HF_VERDICT_ASK and is called again when it is there.
 */
#include "guard/decide_internal.h"

#include <errno.h>
#include <string.h>

#define SET_IDS	      06000u /* set-user-ID and set-group-ID */

bool decide_knows(const struct decider *decider, size_t place,
		  enum hf_gate_fact fact)
{
	if (decider->call->places[place].known & fact)
		return true;
	decider->decision->place = place;
	decider->decision->fact = fact;
	return false;
}

bool decide_is_guarded(const struct hf_entry *entry)
{
	return entry->role == HF_ROLE_PROTECTED ||
	       entry->role == HF_ROLE_SIDE_FILE;
}

/* -- refusing ---------------------------------------------------------------
 */

struct hf_target *decide_target(struct hf_decision *decision, const char *path)
{
	for (size_t i = 0; i < decision->target_count; i++)
		if (strcmp(decision->targets[i].path, path) == 0)
			return &decision->targets[i];
	return NULL;
}

/* Not where the system would not have let the caller do it either. */
enum hf_verdict decide_refuse_as(const struct decider *decider, size_t place,
				 const char *path, const char *rule,
				 const struct hf_entry *entry)
{
	struct hf_decision *const decision = decider->decision;

	if (!decide_knows(decider, place, HF_GATE_FACT_PERMITTED))
		return HF_VERDICT_ASK;
	if (!decider->call->places[place].is_permitted)
		return HF_VERDICT_PASS;
	if (!decide_target(decision, path) &&
	    decision->target_count < HF_TARGETS_MAX)
		decision->targets[decision->target_count++] =
			(struct hf_target){
				.path = path,
				.rule = rule,
				.entry = entry,
			};
	return HF_VERDICT_REFUSE;
}

enum hf_verdict decide_refuse(const struct decider *decider, size_t place,
			      const struct decide_target *target)
{
	if (target->is_store)
		return decide_refuse_as(decider, place,
					decider->set->store_path, "the store",
					NULL);
	return decide_refuse_as(decider, place, target->entry->path,
				target->entry->rule, target->entry);
}

/* What a call reaches, by its identity; where that is not one of ours, by its
 * name: another file may stand there since.  False when a fact is missing. */
static bool reach(const struct decider *decider, size_t index,
		  struct decide_target *ret_target)
{
	const struct hf_gate_place *const place = &decider->call->places[index];
	const struct hf_known *const known = hf_decide_set_find(
		decider->set, place->object.dev, place->object.ino);
	const char *path;
	bool is_store;

	*ret_target = (struct decide_target){.entry = NULL};
	if (known) {
		ret_target->entry = known->entry;
		ret_target->is_store = known->kind == HF_KNOWN_STORE;
		ret_target->is_above = known->kind == HF_KNOWN_ABOVE;
		return true;
	}
	if (place->last[0] == '\0' ||
	    !hf_decide_set_has_name(decider->set, place->last))
		return true;
	if (!decide_knows(decider, index, HF_GATE_FACT_NAME))
		return false;
	/* A link of this name leads elsewhere. */
	if (place->name_rc < 0 || place->name.ino != place->object.ino)
		return true;
	if (!decide_locate(decider, index, &path, &is_store))
		return false;
	ret_target->is_store = is_store;
	ret_target->entry =
		path ? hf_tree_find(decider->set->tree, path) : NULL;
	if (ret_target->entry &&
	    ret_target->entry->stat.kind != place->object.kind)
		ret_target->entry = NULL;
	return true;
}

/* -- content ----------------------------------------------------------------
 */

static enum hf_verdict write_object(const struct decider *decider, size_t index)
{
	const struct hf_gate_place *const place = &decider->call->places[index];
	const unsigned flags = decider->call->flags;
	const bool is_update = flags & HF_GATE_READS &&
			       !(flags & HF_GATE_TRUNCATES) &&
			       decider->call->operation != HF_GATE_TRUNCATE;
	struct decide_target target;
	enum hf_verdict verdict;

	/* A directory fails, a fifo or device is no content of ours. */
	if (place->object_rc < 0 || place->object.kind != HF_KIND_FILE ||
	    flags & HF_GATE_OF_DIRECTORY)
		return HF_VERDICT_PASS;
	if (!reach(decider, index, &target))
		return HF_VERDICT_ASK;
	if (!target.is_store &&
	    (!target.entry || !decide_is_guarded(target.entry)))
		return HF_VERDICT_PASS;
	verdict = decide_refuse(decider, index, &target);
	if (verdict == HF_VERDICT_REFUSE && is_update && !target.is_store &&
	    !decider->set->refuses_updates)
		return HF_VERDICT_OBSERVE;
	return verdict;
}

static enum hf_verdict decide_object(const struct decider *decider)
{
	return decide_knows(decider, 0, HF_GATE_FACT_OBJECT)
		       ? write_object(decider, 0)
		       : HF_VERDICT_ASK;
}

/* A link that leads to nothing is where the new file will be. */
static enum hf_verdict open_through_link(const struct decider *decider)
{
	const struct hf_gate_place *const place = &decider->call->places[0];

	if (decider->call->flags & HF_GATE_NO_LINK)
		return HF_VERDICT_PASS;
	if (!decide_knows(decider, 0, HF_GATE_FACT_OBJECT))
		return HF_VERDICT_ASK;
	if (place->object_rc != -ENOENT ||
	    !(decider->call->flags & HF_GATE_CREATES))
		return write_object(decider, 0);
	if (!decide_knows(decider, 0, HF_GATE_FACT_END))
		return HF_VERDICT_ASK;
	return decide_place_name(decider, 0, false);
}

static enum hf_verdict decide_open(const struct decider *decider)
{
	const struct hf_gate_place *const place = &decider->call->places[0];
	const unsigned flags = decider->call->flags;
	const bool writes = flags & (HF_GATE_WRITES | HF_GATE_TRUNCATES);

	if (!(writes || flags & HF_GATE_CREATES) || flags & HF_GATE_UNNAMED)
		return HF_VERDICT_PASS;
	if (place->last[0] == '\0')
		return writes ? decide_object(decider) : HF_VERDICT_PASS;
	if (!decide_knows(decider, 0, HF_GATE_FACT_NAME))
		return HF_VERDICT_ASK;
	if (place->name_rc == -ENOENT)
		return flags & HF_GATE_CREATES && !place->wants_directory
			       ? decide_place_name(decider, 0, false)
			       : HF_VERDICT_PASS;
	if (place->name_rc < 0 ||
	    (flags & HF_GATE_CREATES && flags & HF_GATE_EXCLUSIVE))
		return HF_VERDICT_PASS;
	if (place->name.kind == HF_KIND_LINK)
		return open_through_link(decider);
	if (place->wants_directory && place->name.kind != HF_KIND_DIRECTORY)
		return HF_VERDICT_PASS;
	return writes ? decide_object(decider) : HF_VERDICT_PASS;
}

/* -- metadata ---------------------------------------------------------------
 */

static bool changes_owner(const struct hf_gate_call *call,
			  const struct hf_stat *object)
{
	/* Whoever has no privilege loses these bits by it, chown(2). */
	const bool drops =
		object->kind == HF_KIND_FILE && object->mode & SET_IDS;

	return (call->uid != UINT32_MAX && call->uid != object->uid) ||
	       (call->gid != UINT32_MAX && call->gid != object->gid) || drops;
}

/* Does the call change what it reaches?  HF_VERDICT_REFUSE for yes. */
static enum hf_verdict changes_metadata(const struct decider *decider)
{
	const struct hf_gate_call *const call = decider->call;
	const struct hf_gate_place *const place = &call->places[0];
	const struct hf_stat *const object = &place->object;
	bool is_changed = true;

	switch (call->operation) {
	case HF_GATE_MODE:
		/* Nobody can change a link's. */
		is_changed = object->kind != HF_KIND_LINK &&
			     call->mode != object->mode;
		break;
	case HF_GATE_OWNER:
		is_changed = changes_owner(call, object);
		break;
	case HF_GATE_TIMES:
		/* What happens in a directory moves its time. */
		is_changed =
			!call->keeps_mtime &&
			object->kind != HF_KIND_DIRECTORY &&
			(call->sets_now || call->mtime_ns != object->mtime_ns);
		break;
	default:
		if (!decide_knows(decider, 0, HF_GATE_FACT_SAME))
			return HF_VERDICT_ASK;
		is_changed = !place->is_same;
	}
	return is_changed ? HF_VERDICT_REFUSE : HF_VERDICT_PASS;
}

/* The mode or owner that is there already: all that the system would do is to set
 * a new change time. */
static enum hf_verdict decide_idle(const struct decider *decider)
{
	const struct hf_gate_call *const call = decider->call;
	const struct hf_gate_place *const place = &call->places[0];

	if (call->operation != HF_GATE_OWNER &&
	    (call->operation != HF_GATE_MODE ||
	     place->object.kind == HF_KIND_LINK))
		return HF_VERDICT_PASS;
	if (!decide_knows(decider, 0, HF_GATE_FACT_PERMITTED))
		return HF_VERDICT_ASK;
	return place->is_permitted ? HF_VERDICT_DONE : HF_VERDICT_PASS;
}

static enum hf_verdict decide_metadata(const struct decider *decider)
{
	const struct hf_gate_place *const place = &decider->call->places[0];
	struct decide_target target;
	enum hf_verdict verdict;

	if (!decide_knows(decider, 0, HF_GATE_FACT_OBJECT))
		return HF_VERDICT_ASK;
	if (place->object_rc < 0)
		return HF_VERDICT_PASS;
	if (!reach(decider, 0, &target))
		return HF_VERDICT_ASK;
	if (!target.is_store &&
	    (!target.entry || !decide_is_guarded(target.entry)))
		return HF_VERDICT_PASS;
	verdict = changes_metadata(decider);
	if (verdict == HF_VERDICT_REFUSE)
		return decide_refuse(decider, 0, &target);
	return verdict == HF_VERDICT_PASS && !target.is_store ?
		       decide_idle(decider) :
		       verdict;
}

enum hf_verdict hf_decide(const struct hf_decide_set *set,
			  const struct hf_gate_call *call,
			  struct hf_decision *ret_decision)
{
	const struct decider decider = {
		.set = set,
		.call = call,
		.decision = ret_decision,
	};

	ret_decision->target_count = 0;
	if (call->flags & HF_GATE_IS_INVALID)
		return HF_VERDICT_PASS;
	switch (call->operation) {
	case HF_GATE_OPEN:
		return decide_open(&decider);
	case HF_GATE_HANDLE:
		return call->flags & (HF_GATE_WRITES | HF_GATE_TRUNCATES)
			       ? decide_object(&decider)
			       : HF_VERDICT_PASS;
	case HF_GATE_TRUNCATE:
		return decide_object(&decider);
	case HF_GATE_MODE:
	case HF_GATE_OWNER:
	case HF_GATE_TIMES:
	case HF_GATE_ATTRIBUTE:
	case HF_GATE_FLAGS:
		return decide_metadata(&decider);
	case HF_GATE_CREATE:
	case HF_GATE_BIND:
		return decide_create(&decider);
	case HF_GATE_REMOVE:
	case HF_GATE_REMOVE_DIRECTORY:
		return decide_remove(&decider);
	case HF_GATE_RENAME:
		return decide_rename(&decider);
	case HF_GATE_LINK:
		return decide_link(&decider);
	case HF_GATE_MOUNT:
	case HF_GATE_UNMOUNT:
		return decide_mount(&decider);
	case HF_GATE_DIRECTORY:
	case HF_GATE_VIEW:
	case HF_GATE_PROCESS:
		break;
	}
	return HF_VERDICT_PASS;
}
