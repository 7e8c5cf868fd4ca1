/* SPDX-License-Identifier: MIT */
#include "support/decided.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/policy.h"

#define ROOT	  "/here"
#define STORE	  "/home/store"
#define DEV	  1u
#define OTHER_DEV 2u
/* Each place has so many facts. */
#define LOOKS_MAX 16u

static const char wide_policy[] =
	"{ \"protect\": [\"*.toml\", \"data/\", \"**/*.cfg\", \"conf/app.ini\","
	"   \"conf/new.ini\", \"secret.key\", \"app.db\","
	"   \"/elsewhere/settings.ini\", \"!free.toml\"],"
	"  \"allow\": [\"allowed.toml\", \"made-*.toml\"],"
	"  \"commands\": [{ \"match\": \"uv add*\", \"allow\": [\"uv.toml\"] }]"
	"}";
static const char plain_policy[] = "{ \"protect\": [\"*.toml\"] }";

/* Not recorded: the world has it, the set does not. */
#define NO_ROLE (-1)

/* Paths beneath the root are relative.  Links end where leads_to says. */
static const struct there {
	const char *path;
	uint64_t ino;
	enum hf_kind kind;
	int role;
	const char *rule;
	const char *leads_to;
} world[] = {
	{"/", 1, HF_KIND_DIRECTORY, NO_ROLE, "", NULL},
	{".", 10, HF_KIND_DIRECTORY, HF_ROLE_ANCESTOR, "", NULL},
	{"presets.toml", 11, HF_KIND_FILE, HF_ROLE_PROTECTED, "*.toml", NULL},
	{"personas.toml", 12, HF_KIND_FILE, HF_ROLE_PROTECTED, "*.toml", NULL},
	{"allowed.toml", 13, HF_KIND_FILE, HF_ROLE_ALLOWED, "*.toml", NULL},
	{"latest.toml", 14, HF_KIND_LINK, HF_ROLE_PROTECTED, "*.toml",
	 "presets.toml"},
	{"data", 15, HF_KIND_DIRECTORY, HF_ROLE_PROTECTED, "data/", NULL},
	{"data/a.bin", 16, HF_KIND_FILE, HF_ROLE_PROTECTED, "data/", NULL},
	{"data/empty", 17, HF_KIND_DIRECTORY, HF_ROLE_PROTECTED, "data/", NULL},
	{"conf", 18, HF_KIND_DIRECTORY, HF_ROLE_ANCESTOR, "", NULL},
	{"conf/app.ini", 19, HF_KIND_FILE, HF_ROLE_PROTECTED, "conf/app.ini",
	 NULL},
	{"conf/new.ini", 0, HF_KIND_ABSENT, HF_ROLE_PROTECTED, "conf/new.ini",
	 NULL},
	{"secret.key", 0, HF_KIND_ABSENT, HF_ROLE_PROTECTED, "secret.key",
	 NULL},
	{"app.db", 20, HF_KIND_FILE, HF_ROLE_PROTECTED, "app.db", NULL},
	{"app.db-wal", 21, HF_KIND_FILE, HF_ROLE_SIDE_FILE, "app.db", NULL},
	{"app.db-shm", 22, HF_KIND_FILE, HF_ROLE_SIDE_CACHE, "app.db", NULL},
	/* Recorded as 23; another file has taken its place. */
	{"stale.toml", 23, HF_KIND_FILE, HF_ROLE_PROTECTED, "*.toml", NULL},
	{"sub", 30, HF_KIND_DIRECTORY, HF_ROLE_ANCESTOR, "", NULL},
	{"sub/deep.cfg", 31, HF_KIND_FILE, HF_ROLE_PROTECTED, "**/*.cfg", NULL},
	{"/elsewhere", 40, HF_KIND_DIRECTORY, HF_ROLE_ANCESTOR, "", NULL},
	{"/elsewhere/settings.ini", 41, HF_KIND_FILE, HF_ROLE_PROTECTED,
	 "/elsewhere/settings.ini", NULL},
	{"/home", 50, HF_KIND_DIRECTORY, NO_ROLE, "", NULL},
	{"/home/store", 60, HF_KIND_DIRECTORY, NO_ROLE, "", NULL},
	{"/home/store/journal", 61, HF_KIND_FILE, NO_ROLE, "", NULL},
	{"/home/store/packs", 62, HF_KIND_DIRECTORY, NO_ROLE, "", NULL},
	/* Nobody's. */
	{"free.txt", 70, HF_KIND_FILE, NO_ROLE, "", NULL},
	{"free.toml", 71, HF_KIND_FILE, NO_ROLE, "", NULL},
	{"other", 72, HF_KIND_DIRECTORY, NO_ROLE, "", NULL},
	{"other/x.txt", 73, HF_KIND_FILE, NO_ROLE, "", NULL},
	{"other/presets.toml", 74, HF_KIND_FILE, NO_ROLE, "", NULL},
	{"other/hard", 11, HF_KIND_FILE, NO_ROLE, "", NULL},
	{"other/link", 75, HF_KIND_LINK, NO_ROLE, "", "presets.toml"},
	{"other/dangling", 76, HF_KIND_LINK, NO_ROLE, "", "new.toml"},
	{"other/adrift", 77, HF_KIND_LINK, NO_ROLE, "", "other/nothing"},
	{"other/fifo", 78, HF_KIND_FIFO, NO_ROLE, "", NULL},
	{"other/bare", 79, HF_KIND_DIRECTORY, NO_ROLE, "", NULL},
	{"/tmp", 80, HF_KIND_DIRECTORY, NO_ROLE, "", NULL},
	{"/tmp/y", 81, HF_KIND_FILE, NO_ROLE, "", NULL},
	{"/tmp/link", 82, HF_KIND_LINK, NO_ROLE, "", "presets.toml"},
	{"/tmp/dir", 83, HF_KIND_DIRECTORY, NO_ROLE, "", NULL},
};

static const struct there *find(const char *path)
{
	for (size_t i = 0; i < HF_COUNT(world); i++)
		if (strcmp(world[i].path, path) == 0 &&
		    world[i].kind != HF_KIND_ABSENT)
			return &world[i];
	return NULL;
}

uint64_t hf_decided_ino(const char *path)
{
	const struct there *const there = find(path);

	cr_assert(there, "%s", path);
	return there->ino;
}

/* -- the set ------------------------------------------------------------- */

static void fill_tree(struct hf_tree *tree, enum hf_decided_policy policy)
{
	struct hf_error err;

	for (size_t i = 0; i < HF_COUNT(world); i++) {
		const struct there *const there = &world[i];
		struct hf_entry *entry;

		if (there->role == NO_ROLE ||
		    (policy == HF_DECIDED_PLAIN && i > 0 &&
		     strcmp(there->rule, "*.toml") != 0 &&
		     strcmp(there->path, ".") != 0))
			continue;
		entry = hf_tree_add(tree, there->path);
		cr_assert(entry);
		entry->rule = there->rule;
		entry->role = (enum hf_entry_role)there->role;
		entry->stat.kind = there->kind;
		entry->stat.dev = there->ino ? DEV : 0;
		entry->stat.ino = there->ino;
	}
	cr_assert_eq(hf_tree_sort(tree, &err), 0);
}

void hf_decided_setup(struct hf_decided *decided, enum hf_decided_policy policy)
{
	const char *const text =
		policy == HF_DECIDED_WIDE ? wide_policy : plain_policy;
	struct hf_decide_set *const set = &decided->set;
	struct hf_error err;

	*decided = (struct hf_decided){.tree = HF_TREE_INIT};
	cr_assert_eq(hf_policy_parse(&decided->policy, "t", text, strlen(text),
				     "/home", &err),
		     0, "%s", err.text);
	decided->policy.root = strdup(ROOT);
	if (!decided->policy.allow)
		decided->policy.allow = hf_patterns_new();
	fill_tree(&decided->tree, policy);
	cr_assert_eq(hf_decide_set_fill(set, &decided->tree, &decided->policy,
					NULL, &err),
		     0);
	set->store_path = STORE;
	cr_assert_eq(hf_decide_set_add_above(set, ROOT, DEV, 10), 0);
	cr_assert_eq(hf_decide_set_add_above(set, "/", DEV, 1), 0);
	cr_assert_eq(hf_decide_set_add_above(set, "/home", DEV, 50), 0);
	cr_assert_eq(hf_decide_set_add_above(set, "/tmp", OTHER_DEV, 80), 0);
	cr_assert_eq(hf_decide_set_add_store(set, "", DEV, 60, true), 0);
	cr_assert_eq(hf_decide_set_add_above(set, STORE, DEV, 60), 0);
	cr_assert_eq(hf_decide_set_add_store(set, "journal", DEV, 61, false),
		     0);
	cr_assert_eq(hf_decide_set_add_store(set, "packs", DEV, 62, true), 0);
}

void hf_decided_teardown(struct hf_decided *decided)
{
	hf_decide_set_done(&decided->set);
	hf_tree_done(&decided->tree);
	hf_policy_done(&decided->policy);
}

/* -- looking -------------------------------------------------------------- */

/* A place of a row, as the gate would have it, and where it is in the world. */
struct spot {
	char path[PATH_MAX]; /* without a slash at its end */
	char last[PATH_MAX];
	char parent[PATH_MAX];
	char parent_path[PATH_MAX + 8];
	bool is_bare;
	bool follows;
};

static void split(struct spot *spot, const char *path)
{
	const char *const slash = strrchr(path, '/');

	(void)snprintf(spot->path, sizeof(spot->path), "%s", path);
	(void)snprintf(spot->last, sizeof(spot->last), "%s",
		       slash ? slash + 1 : path);
	if (!slash)
		(void)snprintf(spot->parent, sizeof(spot->parent), ".");
	else
		(void)snprintf(spot->parent, sizeof(spot->parent), "%.*s",
			       slash == path ? 1 : (int)(slash - path), path);
}

static struct hf_stat stat_of(const struct there *there)
{
	const bool is_stale = strcmp(there->path, "stale.toml") == 0;

	return (struct hf_stat){
		.kind = there->kind,
		.mode = HF_DECIDED_MODE,
		.uid = HF_DECIDED_ID,
		.gid = HF_DECIDED_ID,
		.dev = strncmp(there->path, "/tmp", 4) == 0 ? OTHER_DEV : DEV,
		.ino = is_stale ? 93 : there->ino,
		.mtime_ns = HF_DECIDED_MTIME,
	};
}

static int look(const char *path, const char *parent, struct hf_stat *ret_stat)
{
	const struct there *const there = find(path);
	const struct there *const above = find(parent);

	if (there)
		*ret_stat = stat_of(there);
	if (there)
		return 0;
	return above && above->kind != HF_KIND_DIRECTORY ? -ENOTDIR : -ENOENT;
}

static int rc_of_object(const struct hf_gate_place *place)
{
	return place->wants_directory && place->object.kind != HF_KIND_DIRECTORY
		       ? -ENOTDIR
		       : 0;
}

static void learn_object(const struct spot *spot, struct hf_gate_place *place)
{
	const struct there *const there = find(spot->path);
	const char *path = spot->path;

	if (there && there->kind == HF_KIND_LINK && spot->follows)
		path = there->leads_to;
	place->object_rc = look(path, spot->parent, &place->object);
	if (place->object_rc == 0)
		place->object_rc = rc_of_object(place);
}

static void learn_parent(struct spot *spot, struct hf_gate_place *place)
{
	const struct there *const above = find(spot->parent);
	const bool is_relative = spot->parent[0] != '/';
	struct hf_stat stat;

	place->parent_rc = !above			      ? -ENOENT
			   : above->kind != HF_KIND_DIRECTORY ? -ENOTDIR
							      : 0;
	if (place->parent_rc < 0)
		return;
	stat = stat_of(above);
	place->parent =
		(struct hf_gate_identity){.dev = stat.dev, .ino = stat.ino};
	(void)snprintf(spot->parent_path, sizeof(spot->parent_path), "%s%s%s",
		       is_relative ? ROOT : "",
		       is_relative && strcmp(spot->parent, ".") != 0 ? "/" : "",
		       strcmp(spot->parent, ".") != 0 ? spot->parent : "");
	place->last = spot->last;
}

static bool is_bare_directory(const struct spot *spot)
{
	const size_t len = strlen(spot->path);

	for (size_t i = 0; i < HF_COUNT(world); i++)
		if (world[i].kind != HF_KIND_ABSENT &&
		    strncmp(world[i].path, spot->path, len) == 0 &&
		    world[i].path[len] == '/')
			return false;
	return true;
}

/* As hf_gate_learn(). */
static void learn(const struct hf_decided_row *row, struct spot *spot,
		  struct hf_gate_place *place, enum hf_gate_fact fact)
{
	const struct there *const there = find(spot->path);

	cr_assert_not(place->known & fact, "%s: asks again for %d", row->name,
		      fact);
	place->known |= fact;
	switch (fact) {
	case HF_GATE_FACT_NAME:
		place->name_rc = look(spot->path, spot->parent, &place->name);
		if (place->name_rc < 0 ||
		    (place->name.kind == HF_KIND_LINK && spot->follows))
			break;
		place->known |= HF_GATE_FACT_OBJECT;
		place->object = place->name;
		place->object_rc = rc_of_object(place);
		break;
	case HF_GATE_FACT_OBJECT:
		learn_object(spot, place);
		break;
	case HF_GATE_FACT_END:
		cr_assert(there && there->leads_to,
			  "%s: the end of what is no "
			  "link",
			  row->name);
		split(spot, there->leads_to);
		place->known |= HF_GATE_FACT_PARENT;
		learn_parent(spot, place);
		break;
	case HF_GATE_FACT_PARENT:
		learn_parent(spot, place);
		break;
	case HF_GATE_FACT_PARENT_PATH:
		cr_assert(place->known & HF_GATE_FACT_PARENT);
		place->parent_path = spot->parent_path;
		break;
	case HF_GATE_FACT_EMPTY:
		place->is_empty = is_bare_directory(spot);
		break;
	case HF_GATE_FACT_SAME:
		place->is_same = row->is_same;
		break;
	case HF_GATE_FACT_PERMITTED:
		break;
	}
}

/* -- rows ----------------------------------------------------------------- */

static bool follows_links(enum hf_gate_operation operation)
{
	return operation <= HF_GATE_FLAGS || operation >= HF_GATE_MOUNT;
}

static void take_spot(const struct hf_decided_row *row, size_t index,
		      struct spot *spot, struct hf_gate_place *place)
{
	char path[PATH_MAX];
	const char *const at = row->at[index];
	size_t len;

	*spot = (struct spot){.is_bare = at[0] == ':'};
	(void)snprintf(path, sizeof(path), "%s", at + spot->is_bare);
	len = strlen(path);
	*place = (struct hf_gate_place){.last = ""};
	if (len > 1 && path[len - 1] == '/') {
		path[len - 1] = '\0';
		place->wants_directory = true;
	}
	split(spot, path);
	spot->follows =
		(follows_links(row->operation) &&
		 !(row->flags & HF_GATE_NO_LINK) && !row->is_link_meant) ||
		row->is_link_followed;
	if (!spot->is_bare)
		place->last = spot->last;
}

static void describe(const struct hf_decision *decision, char *text,
		     size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < decision->target_count; i++) {
		const struct hf_target *const target = &decision->targets[i];

		len += (size_t)snprintf(text + len, size - len, "%s%s (%s)%s",
					i ? ", " : "",
					target->path ? target->path : "-",
					target->rule ? target->rule : "-",
					target->takes_all ? "+" : "");
		cr_assert_lt(len, size);
	}
}

static void expect(struct hf_decided *decided, const struct hf_decided_row *row)
{
	static const char *const verdicts[] = {"pass", "refuse", "observe",
					       "copy", "ask"};
	struct hf_decision *const decision = &decided->decision;
	struct hf_gate_call call = {
		.operation = row->operation,
		.name = "call",
		.flags = row->flags,
		.mode = row->mode,
		.uid = row->uid,
		.gid = row->gid,
		.keeps_mtime = row->keeps_mtime,
		.sets_now = row->sets_now,
		.mtime_ns = row->mtime_ns,
	};
	struct spot spots[2];
	char targets[4 * PATH_MAX];
	unsigned looks = 0;
	enum hf_verdict verdict;

	decided->set.refuses_updates = row->refuses_updates;
	decided->set.argv = row->argv;
	for (; call.place_count < 2 && row->at[call.place_count];
	     call.place_count++) {
		const size_t i = call.place_count;

		take_spot(row, i, &spots[i], &call.places[i]);
		call.places[i].is_permitted =
			!row->is_denied && !(row->is_denied_from && i == 0);
	}
	while ((verdict = hf_decide(&decided->set, &call, decision)) ==
	       HF_VERDICT_ASK) {
		cr_assert_lt(decision->place, call.place_count, "%s",
			     row->name);
		learn(row, &spots[decision->place],
		      &call.places[decision->place], decision->fact);
		cr_assert_leq(++looks, LOOKS_MAX, "%s: has no end", row->name);
	}
	cr_expect_eq(verdict, row->verdict, "%s: %s, not %s", row->name,
		     verdicts[verdict], verdicts[row->verdict]);
	cr_expect_eq(looks, row->looks, "%s: %u looks, not %u", row->name,
		     looks, row->looks);
	if (verdict == HF_VERDICT_PASS)
		decision->target_count = 0;
	describe(decision, targets, sizeof(targets));
	cr_expect_str_eq(targets, row->targets ? row->targets : "", "%s: '%s'",
			 row->name, targets);
}

void hf_decided_expect(struct hf_decided *decided,
		       const struct hf_decided_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect(decided, &rows[i]);
}
