/* SPDX-License-Identifier: MIT */
/* Decisions about whatever the bytes of an input say. */
#include <errno.h>
#include <string.h>

#include "support/decided.h"

/* Each place has so many facts. */
#define LOOKS_MAX 16u

/* Ours, almost ours and nobody's; "" is no name. */
static const char *const lasts[] = {
	"",	     "presets.toml", "new.toml", "allowed.toml", "data",
	"a.bin",     "conf",	     "app.ini",	 "new.ini",	 "secret.key",
	"app.db",    "app.db-shm",   "sub",	 "deep.cfg",	 "x.cfg",
	"home",	     "store",	     "journal",	 "packs",	 "work",
	"free.toml", "free.txt",     "uv.toml",	 "settings.ini", "latest.toml",
};

struct bytes {
	const uint8_t *data;
	size_t len;
};

static unsigned take(struct bytes *bytes, unsigned below)
{
	unsigned value;

	if (bytes->len == 0)
		return 0;
	value = *bytes->data;
	bytes->data++;
	bytes->len--;
	return value % below;
}

static int take_rc(struct bytes *bytes)
{
	static const int rcs[] = {0,	   0,	     0,	     -ENOENT,
				  -ENOENT, -ENOTDIR, -ELOOP, -EACCES};

	return rcs[take(bytes, HF_COUNT(rcs))];
}

static struct hf_stat take_stat(struct bytes *bytes)
{
	return (struct hf_stat){
		.kind = (enum hf_kind)take(bytes, HF_KIND_BLOCK_DEVICE + 1),
		.mode = take(bytes, 256) << 4,
		.uid = take(bytes, 2),
		.gid = take(bytes, 2),
		.dev = 1 + take(bytes, 2),
		.ino = take(bytes, 100),
		.mtime_ns = take(bytes, 3),
	};
}

static const char *take_last(struct bytes *bytes)
{
	return lasts[take(bytes, HF_COUNT(lasts))];
}

static void take_fact(struct bytes *bytes, struct hf_gate_place *place,
		      enum hf_gate_fact fact)
{
	static const char *const parents[] = {
		"", "/", "/here", "/here/a/b", "/elsewhere", "data"};

	place->known |= fact;
	switch (fact) {
	case HF_GATE_FACT_NAME:
		place->name_rc = take_rc(bytes);
		place->name = take_stat(bytes);
		break;
	case HF_GATE_FACT_OBJECT:
		place->object_rc = take_rc(bytes);
		place->object = take_stat(bytes);
		break;
	case HF_GATE_FACT_END:
		place->last = take_last(bytes);
		place->known |= HF_GATE_FACT_PARENT;
		/* fallthrough */
	case HF_GATE_FACT_PARENT:
		place->parent_rc = take_rc(bytes);
		place->parent.dev = 1 + take(bytes, 2);
		place->parent.ino = take(bytes, 100);
		break;
	case HF_GATE_FACT_PARENT_PATH:
		place->parent_path = parents[take(bytes, HF_COUNT(parents))];
		break;
	case HF_GATE_FACT_EMPTY:
		place->is_empty = take(bytes, 2);
		break;
	case HF_GATE_FACT_SAME:
		place->is_same = take(bytes, 2);
		break;
	case HF_GATE_FACT_PERMITTED:
		place->is_permitted = take(bytes, 4);
		break;
	}
}

static bool names_what_is_ours(const struct hf_decided *decided,
			       const struct hf_target *target)
{
	const struct hf_entry *const entry = target->entry;
	const struct hf_patterns *const protect = decided->policy.protect;

	if (!target->path || target->path[0] == '\0' || !target->rule)
		return false;
	if (strcmp(target->path, decided->set.store_path) == 0)
		return !entry;
	if (entry)
		return (entry->role != HF_ROLE_ALLOWED &&
			strcmp(entry->path, target->path) == 0);
	/* A directory above, or what the policy does not want. */
	return target->takes_all ||
	       hf_patterns_match(protect, target->path, true) ||
	       hf_patterns_match(protect, target->path, false) ||
	       strcmp(target->path, "/") == 0 ||
	       strcmp(target->path, "/home") == 0 ||
	       strcmp(target->path, "/tmp") == 0 ||
	       strcmp(target->path, "/here") == 0;
}

static const char *check(const struct hf_decided *decided,
			 enum hf_verdict verdict)
{
	const struct hf_decision *const decision = &decided->decision;

	if (verdict == HF_VERDICT_PASS || verdict == HF_VERDICT_DONE)
		return NULL;
	if (decision->target_count == 0 ||
	    decision->target_count > HF_TARGETS_MAX)
		return "it names nothing";
	if (verdict == HF_VERDICT_COPY)
		return decision->targets[0].entry ? NULL : "a copy of nothing";
	if (verdict == HF_VERDICT_OBSERVE && !decision->targets[0].entry)
		return "nobody's file is observed";
	for (size_t i = 0; i < decision->target_count; i++)
		if (!names_what_is_ours(decided, &decision->targets[i]))
			return "it names what is not ours";
	return NULL;
}

const char *hf_decided_try(struct hf_decided *decided, const uint8_t *data,
			   size_t len)
{
	struct hf_decision *const decision = &decided->decision;
	struct bytes bytes = {.data = data, .len = len};
	struct hf_gate_call call = {.name = "call"};
	enum hf_verdict verdict;
	unsigned looks = 0;

	call.operation =
		(enum hf_gate_operation)take(&bytes, HF_GATE_PROCESS + 1);
	call.flags = take(&bytes, 256) | take(&bytes, 8) << 8;
	call.mode = take(&bytes, 256) << 4;
	call.uid = take(&bytes, 3) - 1;
	call.gid = take(&bytes, 3) - 1;
	call.keeps_mtime = take(&bytes, 2);
	call.sets_now = take(&bytes, 2);
	call.mtime_ns = take(&bytes, 3);
	call.place_count = 2;
	for (size_t i = 0; i < call.place_count; i++) {
		call.places[i].last = take_last(&bytes);
		call.places[i].wants_directory = take(&bytes, 2);
	}
	while ((verdict = hf_decide(&decided->set, &call, decision)) ==
	       HF_VERDICT_ASK) {
		struct hf_gate_place *const place =
			&call.places[decision->place];

		if (place->known & decision->fact || ++looks > LOOKS_MAX)
			return "it asks without an end";
		take_fact(&bytes, place, decision->fact);
	}
	return check(decided, verdict);
}
