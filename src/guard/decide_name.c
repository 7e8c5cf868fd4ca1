/* SPDX-License-Identifier: MIT */
/* Decisions about names: what appears, goes away or is hidden. */
#include "guard/decide_internal.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "core/scan.h"
#include "core/scan_side.h"

/* -- what stands at a name ----------------------------------------------------
 */

/* The path of a name in a directory that is known; NULL when it is too long. */
static const char *path_in(const struct decider *decider, const char *directory,
			   const char *name)
{
	const size_t at = decider->decision->target_count;
	char *const space = decider->decision->path_space[at];
	const size_t len = strcmp(directory, ".") == 0 ? 0 : strlen(directory);
	const size_t name_len = strlen(name);
	const size_t slash = len > 0 && directory[len - 1] != '/' ? 1 : 0;

	if (len + slash + name_len >= HF_DECIDE_PATH_MAX)
		return NULL;
	memcpy(space, directory, len);
	if (slash)
		space[len] = '/';
	memcpy(space + len + slash, name, name_len + 1);
	return space;
}

/* The same for a directory that the system names. */
static const char *path_beneath(const struct decider *decider,
				const struct hf_gate_place *place)
{
	const char *const root = decider->set->policy->root;
	const char *directory = place->parent_path;

	if (directory[0] == '\0')
		return NULL;
	if (root && hf_path_is_beneath(directory, root)) {
		directory += strlen(root);
		directory += directory[0] == '/';
		if (directory[0] == '\0')
			directory = ".";
	}
	return path_in(decider, directory, place->last);
}

/* Where a name leads in the set: its path, or that it is in the store.  False
 * when a fact is missing. */
bool decide_locate(const struct decider *decider, size_t index,
		   const char **ret_path, bool *ret_is_store)
{
	const struct hf_gate_place *const place = &decider->call->places[index];
	const struct hf_known *known;

	*ret_path = NULL;
	*ret_is_store = false;
	if (!decide_knows(decider, index, HF_GATE_FACT_PARENT))
		return false;
	if (place->parent_rc < 0)
		return true;
	known = hf_decide_set_find(decider->set, place->parent.dev,
				   place->parent.ino);
	if (known) {
		*ret_is_store = known->kind == HF_KNOWN_STORE;
		if (known->path)
			*ret_path = path_in(decider, known->path, place->last);
		return true;
	}
	if (!decider->set->is_deep)
		return true;
	if (!decide_knows(decider, index, HF_GATE_FACT_PARENT_PATH))
		return false;
	*ret_path = path_beneath(decider, place);
	return true;
}

/* What a program makes beside a database to read it (NAME-wal, NAME-shm,
 * NAME-journal) is judged at the end, when it may be gone. */
static bool is_beside_file(const struct hf_tree *tree, const char *path)
{
	const struct hf_entry *const entry = hf_scan_side_base(tree, path);

	return entry && decide_is_guarded(entry) &&
	       entry->stat.kind == HF_KIND_FILE;
}

enum hf_verdict decide_place_name(const struct decider *decider, size_t index,
				  bool is_directory)
{
	const struct hf_gate_place *const place = &decider->call->places[index];
	const struct hf_decide_set *const set = decider->set;
	const struct hf_entry *entry;
	const char *path;
	const char *rule;
	bool is_store;

	if (place->last[0] == '\0' || !hf_decide_set_may_name(set, place->last))
		return HF_VERDICT_PASS;
	if (!decide_locate(decider, index, &path, &is_store))
		return HF_VERDICT_ASK;
	if (is_store)
		return decide_refuse(decider, index,
				     &(struct decide_target){
					     .is_store = true,
				     });
	if (!path)
		return HF_VERDICT_PASS;
	entry = hf_tree_find(set->tree, path);
	if (entry)
		return decide_is_guarded(entry)
			       ? decide_refuse(decider, index,
					       &(struct decide_target){
						       .entry = entry})
			       : HF_VERDICT_PASS;
	if (is_beside_file(set->tree, path))
		return HF_VERDICT_PASS;
	rule = hf_patterns_match_past(set->policy->protect, path,
				      hf_scan_skipped_len(path), is_directory);
	if (!rule ||
	    hf_policy_allows(set->policy, set->argv, path, is_directory))
		return HF_VERDICT_PASS;
	return decide_refuse_as(decider, index, path, rule, NULL);
}

/* What stands there goes away.  The name alone decides: another name of the
 * same file is no loss. */
static enum hf_verdict take_name(const struct decider *decider, size_t index)
{
	const struct hf_gate_place *const place = &decider->call->places[index];
	const struct hf_entry *entry;
	const char *path;
	bool is_store;

	if (place->last[0] == '\0' ||
	    !hf_decide_set_has_name(decider->set, place->last))
		return HF_VERDICT_PASS;
	if (!decide_locate(decider, index, &path, &is_store))
		return HF_VERDICT_ASK;
	if (is_store)
		return decide_refuse(decider, index,
				     &(struct decide_target){.is_store = true});
	entry = path ? hf_tree_find(decider->set->tree, path) : NULL;
	if (!entry || !decide_is_guarded(entry) ||
	    entry->stat.kind == HF_KIND_ABSENT)
		return HF_VERDICT_PASS;
	return decide_refuse(decider, index,
			     &(struct decide_target){.entry = entry});
}

/* -- names ------------------------------------------------------------------
 */

enum hf_verdict decide_create(const struct decider *decider)
{
	const struct hf_gate_place *const place = &decider->call->places[0];
	const bool is_directory = decider->call->flags & HF_GATE_OF_DIRECTORY;

	if (decider->call->place_count == 0 || place->last[0] == '\0' ||
	    (place->wants_directory && !is_directory) ||
	    !hf_decide_set_may_name(decider->set, place->last))
		return HF_VERDICT_PASS;
	if (!decide_knows(decider, 0, HF_GATE_FACT_NAME))
		return HF_VERDICT_ASK;
	/* The name is taken, or its directory is not there. */
	return place->name_rc == -ENOENT
		       ? decide_place_name(decider, 0, is_directory)
		       : HF_VERDICT_PASS;
}

enum hf_verdict decide_remove(const struct decider *decider)
{
	const struct hf_gate_place *const place = &decider->call->places[0];
	const bool is_directory =
		decider->call->operation == HF_GATE_REMOVE_DIRECTORY;

	if (place->last[0] == '\0' ||
	    !hf_decide_set_has_name(decider->set, place->last))
		return HF_VERDICT_PASS;
	if (!decide_knows(decider, 0, HF_GATE_FACT_NAME))
		return HF_VERDICT_ASK;
	if (place->name_rc < 0 ||
	    (place->name.kind == HF_KIND_DIRECTORY) != is_directory ||
	    (place->wants_directory && !is_directory))
		return HF_VERDICT_PASS;
	if (is_directory && !decide_knows(decider, 0, HF_GATE_FACT_EMPTY))
		return HF_VERDICT_ASK;
	if (is_directory && !place->is_empty)
		return HF_VERDICT_PASS;
	return take_name(decider, 0);
}

/* Will the system refuse the rename by itself, or do nothing? */
static bool is_idle_rename(const struct hf_gate_call *call)
{
	const struct hf_gate_place *const from = &call->places[0];
	const struct hf_gate_place *const to = &call->places[1];
	const bool is_directory = from->name.kind == HF_KIND_DIRECTORY;
	const bool exchanges = call->flags & HF_GATE_EXCHANGES;

	if (from->name_rc < 0 || (to->name_rc < 0 && to->name_rc != -ENOENT) ||
	    from->parent_rc < 0 || to->parent_rc < 0 ||
	    from->parent.dev != to->parent.dev)
		return true;
	if (!is_directory &&
	    (from->wants_directory || (to->wants_directory && !exchanges)))
		return true;
	if (to->name_rc == -ENOENT)
		return exchanges;
	if (call->flags & HF_GATE_EXCLUSIVE ||
	    (from->name.ino == to->name.ino && from->name.dev == to->name.dev))
		return true;
	return !exchanges &&
	       is_directory != (to->name.kind == HF_KIND_DIRECTORY);
}

/* A directory goes elsewhere, with all that is protected in it. */
static enum hf_verdict take_directory(const struct decider *decider,
				      size_t index)
{
	const struct hf_gate_place *const place = &decider->call->places[index];
	const struct hf_known *const known = hf_decide_set_find(
		decider->set, place->name.dev, place->name.ino);
	struct hf_target *target;
	enum hf_verdict verdict;

	if (!known || !known->is_directory)
		return take_name(decider, index);
	if (known->kind == HF_KNOWN_STORE)
		return decide_refuse(decider, index,
				     &(struct decide_target){.is_store = true});
	if (known->entry && known->entry->role == HF_ROLE_ALLOWED)
		return HF_VERDICT_PASS;
	verdict = decide_refuse_as(decider, index, known->path,
				   known->entry ? known->entry->rule : "",
				   known->entry);
	target = decide_target(decider->decision, known->path);
	if (verdict == HF_VERDICT_REFUSE && target)
		target->takes_all = true;
	return verdict;
}

static enum hf_verdict take_either(const struct decider *decider, size_t index)
{
	return decider->call->places[index].name.kind == HF_KIND_DIRECTORY
		       ? take_directory(decider, index)
		       : take_name(decider, index);
}

static bool knows_rename(const struct decider *decider)
{
	const struct hf_gate_place *const to = &decider->call->places[1];

	if (!decide_knows(decider, 0, HF_GATE_FACT_NAME) ||
	    !decide_knows(decider, 1, HF_GATE_FACT_NAME) ||
	    !decide_knows(decider, 0, HF_GATE_FACT_PARENT) ||
	    !decide_knows(decider, 1, HF_GATE_FACT_PARENT))
		return false;
	return to->name_rc < 0 || to->name.kind != HF_KIND_DIRECTORY ||
	       decider->call->flags & HF_GATE_EXCHANGES ||
	       decide_knows(decider, 1, HF_GATE_FACT_EMPTY);
}

/* One that asks goes first, then one that refuses. */
static enum hf_verdict worse_of(enum hf_verdict a, enum hf_verdict b)
{
	if (a == HF_VERDICT_ASK || b == HF_VERDICT_ASK)
		return HF_VERDICT_ASK;
	return a == HF_VERDICT_REFUSE ? a : b;
}

/* Both directories have to let the caller, or the system does not. */
static enum hf_verdict refuse_both(const struct decider *decider)
{
	for (size_t i = 0; i < 2; i++) {
		if (!decide_knows(decider, i, HF_GATE_FACT_PERMITTED))
			return HF_VERDICT_ASK;
		if (!decider->call->places[i].is_permitted)
			return HF_VERDICT_PASS;
	}
	return HF_VERDICT_REFUSE;
}

enum hf_verdict decide_rename(const struct decider *decider)
{
	const struct hf_gate_call *const call = decider->call;
	const struct hf_gate_place *const from = &call->places[0];
	const struct hf_gate_place *const to = &call->places[1];
	const bool exchanges = call->flags & HF_GATE_EXCHANGES;
	enum hf_verdict verdict;

	if (from->last[0] == '\0' || to->last[0] == '\0' ||
	    (!hf_decide_set_may_name(decider->set, from->last) &&
	     !hf_decide_set_may_name(decider->set, to->last)))
		return HF_VERDICT_PASS;
	if (!knows_rename(decider))
		return HF_VERDICT_ASK;
	if (is_idle_rename(call) ||
	    (!exchanges && to->name_rc == 0 &&
	     to->name.kind == HF_KIND_DIRECTORY && !to->is_empty))
		return HF_VERDICT_PASS;
	/* All that is lost is named. */
	verdict = take_either(decider, 0);
	if (exchanges)
		verdict = worse_of(verdict, take_either(decider, 1));
	verdict =
		worse_of(verdict, decide_place_name(decider, 1,
						    from->name.kind ==
							    HF_KIND_DIRECTORY));
	if (exchanges)
		verdict = worse_of(
			verdict,
			decide_place_name(decider, 0,
					  to->name.kind == HF_KIND_DIRECTORY));
	return verdict == HF_VERDICT_REFUSE ? refuse_both(decider) : verdict;
}

/* One more name of a protected file. */
static enum hf_verdict copy_instead(const struct decider *decider)
{
	const struct hf_gate_place *const from = &decider->call->places[0];
	const struct hf_known *const known = hf_decide_set_find(
		decider->set, from->object.dev, from->object.ino);

	/* A second name of what the store holds would outlive its guard. */
	if (known && known->kind == HF_KNOWN_STORE)
		return decide_refuse(decider, 1,
				     &(struct decide_target){
					     .is_store = true,
				     });
	if (!known || !known->entry || !decide_is_guarded(known->entry) ||
	    from->object.kind != HF_KIND_FILE)
		return HF_VERDICT_PASS;
	if (!decide_knows(decider, 1, HF_GATE_FACT_PERMITTED))
		return HF_VERDICT_ASK;
	if (!decider->call->places[1].is_permitted)
		return HF_VERDICT_PASS;
	decider->decision->targets[0] =
		(struct hf_target){.entry = known->entry};
	decider->decision->target_count = 1;
	return HF_VERDICT_COPY;
}

/* The file gets one more name; where that is, is judged like anything new. */
enum hf_verdict decide_link(const struct decider *decider)
{
	const struct hf_gate_place *const from = &decider->call->places[0];
	const struct hf_gate_place *const to = &decider->call->places[1];
	enum hf_verdict verdict;

	if (to->last[0] == '\0' || to->wants_directory)
		return HF_VERDICT_PASS;
	if (!decide_knows(decider, 1, HF_GATE_FACT_NAME) ||
	    !decide_knows(decider, 0, HF_GATE_FACT_NAME) ||
	    !decide_knows(decider, 0, HF_GATE_FACT_OBJECT))
		return HF_VERDICT_ASK;
	if (to->name_rc != -ENOENT || from->object_rc < 0 ||
	    from->object.kind == HF_KIND_DIRECTORY)
		return HF_VERDICT_PASS;
	/* A link that is followed may lead out of its file system. */
	if (from->last[0] != '\0' && from->name.ino == from->object.ino) {
		if (!decide_knows(decider, 0, HF_GATE_FACT_PARENT) ||
		    !decide_knows(decider, 1, HF_GATE_FACT_PARENT))
			return HF_VERDICT_ASK;
		if (from->parent_rc == 0 && to->parent_rc == 0 &&
		    from->parent.dev != to->parent.dev)
			return HF_VERDICT_PASS;
	}
	verdict = decide_place_name(decider, 1, false);
	return verdict == HF_VERDICT_PASS ? copy_instead(decider) : verdict;
}

/* Has the mount point the name of what is seen in it? */
static bool is_named_like(const struct decider *decider,
			  const struct hf_known *known,
			  const struct hf_gate_place *place)
{
	const char *path = known->path ? known->path :
					 decider->set->store_path;
	const char *slash;

	if (strcmp(path, ".") == 0)
		path = decider->set->policy->root;
	slash = strrchr(path, '/');
	return place->last[0] == '\0' ||
	       strcmp(slash ? slash + 1 : path, place->last) == 0;
}

/* What is mounted over an entry or a directory above one hides it. */
enum hf_verdict decide_mount(const struct decider *decider)
{
	const struct hf_gate_place *const place = &decider->call->places[0];
	const struct hf_known *known;

	if (!decide_knows(decider, 0, HF_GATE_FACT_OBJECT))
		return HF_VERDICT_ASK;
	if (place->object_rc < 0)
		return HF_VERDICT_PASS;
	known = hf_decide_set_find(decider->set, place->object.dev,
				   place->object.ino);
	if (!known || (known->entry && known->entry->role == HF_ROLE_ALLOWED))
		return HF_VERDICT_PASS;
	if (decider->call->operation == HF_GATE_UNMOUNT) {
		if (!decide_knows(decider, 0, HF_GATE_FACT_SAME))
			return HF_VERDICT_ASK;
		/* One of the command's own, of the same files elsewhere. */
		if (place->is_same || !is_named_like(decider, known, place))
			return HF_VERDICT_PASS;
	}
	if (known->kind == HF_KNOWN_STORE)
		return decide_refuse(decider, 0,
				     &(struct decide_target){.is_store = true});
	return decide_refuse_as(decider, 0, known->path,
				known->entry ? known->entry->rule : "",
				known->entry);
}
