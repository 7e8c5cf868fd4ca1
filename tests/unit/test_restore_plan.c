/* SPDX-License-Identifier: MIT */
/* Which steps follow from what differs, and in which order. */
#include "core/restore.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

/*
 * A tree as text: "Pf a.toml 1 644;" is role (P protected, A ancestor, L
 * allowed), kind (f file, d directory, l link, p fifo, - absent), path,
 * content, mode; "*" behind the mode: the file has another name and is not the
 * recorded one.
 */
static void read_tree(const char *text, struct hf_tree *tree)
{
	static const char kinds[] = "-fdlp";
	static const char roles[] = "PAL";
	struct hf_error err;

	while (*text != '\0') {
		char path[64];
		char role;
		char kind;
		char content;
		unsigned mode;
		char mark = ' ';
		struct hf_entry *entry;

		cr_assert_geq(sscanf(text, "%c%c %63s %c %o%c", &role, &kind,
				     path, &content, &mode, &mark),
			      5, "%s", text);
		entry = hf_tree_add(tree, path);
		cr_assert(entry);
		entry->role = (enum hf_entry_role)(strchr(roles, role) - roles);
		entry->stat.kind = (enum hf_kind)(strchr(kinds, kind) - kinds);
		entry->stat.mode = mode;
		entry->stat.nlink = mark == '*' ? 2 : 1;
		entry->stat.ino = mark == '*' ? 7 : 1;
		entry->has_hash = entry->stat.kind == HF_KIND_FILE;
		entry->hash = hf_hash_of(&content, 1);
		if (entry->stat.kind == HF_KIND_LINK)
			entry->link = content == '1' ? "1" : "2";
		text = strchr(text, ';') + 1;
	}
	cr_assert_eq(hf_tree_sort(tree, &err), 0, "%s", err.text);
}

/* "m ." is what to do (d directory, f file, l link, n node, m metadata, r
 * remove, ! remove first) and the path, "<N" the step of its directory. */
static const char *plan_text(const struct hf_plan *plan)
{
	static struct hf_buffer text = HF_BUFFER_INIT;

	hf_buffer_clear(&text);
	for (size_t i = 0; i < plan->count; i++) {
		const struct hf_step *const step = &plan->steps[i];

		hf_buffer_printf(&text, "%c %s",
				 step->goes_first ? '!'
						  : "dflnmr"[step->action],
				 hf_step_path(step));
		if (step->parent != HF_STEP_NONE)
			hf_buffer_printf(&text, "<%zu", step->parent);
		hf_buffer_add_text(&text, ";");
	}
	return text.data ? text.data : "";
}

static const struct row {
	const char *name;
	const char *want;
	const char *now;
	const char *paths; /* one path, or NULL for all */
	bool keeps_additions;
	const char *plan;
} rows[] = {
	{"nothing differs", "Ad . 0 755;Pf a 1 644;", "Ad . 0 755;Pf a 1 644;",
	 NULL, false, ""},
	{"content", "Ad . 0 755;Pf a 1 644;", "Ad . 0 755;Pf a 2 644;", NULL,
	 false, "m .;f a<0;"},
	{"content without an ancestor", "Pf a 1 644;", "Pf a 2 644;", NULL,
	 false, "f a;"},
	{"metadata", "Ad . 0 755;Pf a 1 644;", "Ad . 0 755;Pf a 1 600;", NULL,
	 false, "m .;m a<0;"},
	{"metadata of a file with other names", "Pf a 1 644;", "Pf a 1 600*;",
	 NULL, false, "f a;"},
	{"missing", "Ad . 0 755;Pf a 1 644;", "Ad . 0 755;", NULL, false,
	 "m .;f a<0;"},
	{"missing directory", "Ad . 0 755;Ad d 0 755;Pf d/a 1 644;",
	 "Ad . 0 755;", NULL, false, "m .;d d<0;f d/a<1;"},
	{"missing directory by a path in it",
	 "Ad . 0 755;Ad d 0 755;Pf d/a 1 644;Pf d/b 1 644;", "Ad . 0 755;",
	 "d/a", false, "m .;d d<0;f d/a<1;"},
	{"only what was asked for", "Pf a 1 644;Pf b 1 644;Pf ab 1 644;", "",
	 "a", false, "f a;"},
	{"a directory and what lies in it",
	 "Pd d 0 755;Pf d/a 1 644;Pf d-b 1 644;", "", "d", false,
	 "d d;f d/a<0;"},
	{"link", "Pl a 1 777;", "Pl a 2 777;", NULL, false, "l a;"},
	{"fifo", "Pp a 0 600;", "Pf a 1 600;", NULL, false, "n a;"},
	{"metadata of a fifo with other names", "Pp a 0 600;", "Pp a 0 644*;",
	 NULL, false, "n a;"},
	{"file in place of a directory", "Pd d 0 755;Pf d/a 1 644;",
	 "Pf d 1 644;", NULL, false, "d d;f d/a<0;"},
	{"directory in place of a file", "Pf a 1 644;",
	 "Pd a 0 755;Pf a/x 1 644;", NULL, false, "f a;r a/x<0;"},
	{"additions go last, deepest first", "Ad . 0 755;Pf z 1 644;",
	 "Ad . 0 755;Pd n 0 755;Pf n/a 1 644;Pf n/b/c 1 644;Pf z 2 644;", NULL,
	 false, "m .;f z<0;r n/b/c;r n/a;r n<0;"},
	{"additions are kept unless told", "Pf z 1 644;", "Pf n 1 644;", NULL,
	 true, "f z;"},
	{"protected as absent", "P- no 0 0;", "Pf no 1 644;", NULL, false,
	 "r no;"},
	{"allowed", "Lf a 1 644;Pf b 1 644;", "Lf a 2 644;Pf b 2 644;", NULL,
	 false, "f b;"},
	{"allowed addition", "Pf b 1 644;", "Lf a 2 644;Pf b 1 644;", NULL,
	 false, ""},
	{"in an allowed directory", "Ld d 0 755;Pf d/a 1 644;",
	 "Ld d 0 700;Pf d/a 2 644;", NULL, false, "f d/a;"},
	{"in an allowed directory that is missing", "Ld d 0 755;Pf d/a 1 644;",
	 "", NULL, false, "d d;f d/a<0;"},
	{"case of a name", "Pf config 1 644;", "Pf Config 1 644;", NULL, false,
	 "f config;! Config;"},
	{"case of a directory", "Pd d 0 755;Pf d/a 1 644;",
	 "Pd D 0 755;Pf D/a 1 644;", NULL, false, "d d;f d/a<0;! D/a;! D;"},
	{"outside the root", "Ad /x 0 755;Pf /x/a 1 644;", "Ad /x 0 755;", NULL,
	 false, "m /x;f /x/a<0;"},
};

Test(restore_plan, rows)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const struct row *const row = &rows[i];
		const char *const paths[] = {row->paths, NULL};
		const struct hf_plan_options options = {
			.remove_additions = !row->keeps_additions,
			.paths = row->paths ? paths : NULL,
		};
		cleanup_tree struct hf_tree want = HF_TREE_INIT;
		cleanup_tree struct hf_tree now = HF_TREE_INIT;
		cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
		cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
		struct hf_error err;

		read_tree(row->want, &want);
		read_tree(row->now, &now);
		cr_assert_eq(hf_compare(&want, &now, &deltas, &err), 0);
		cr_assert_eq(
			hf_restore_plan(&deltas, &want, &options, &plan, &err),
			0);
		cr_expect_str_eq(plan_text(&plan), row->plan, "%s: %s",
				 row->name, plan_text(&plan));
	}
}

static bool is_left(const struct hf_delta *delta, void *context)
{
	return delta->before && strcmp(delta->before->path, context) == 0;
}

Test(restore_plan, what_a_person_changed_stays)
{
	cleanup_tree struct hf_tree want = HF_TREE_INIT;
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	char path[] = "a";
	const struct hf_plan_options options = {
		.is_left = is_left,
		.context = path,
	};
	struct hf_error err;

	read_tree("Pf a 1 644;Pf b 1 644;", &want);
	cr_assert_eq(hf_compare(&want, &now, &deltas, &err), 0);
	cr_assert_eq(hf_restore_plan(&deltas, &want, &options, &plan, &err), 0);
	cr_expect_str_eq(plan_text(&plan), "f b;");
}

/* What was replaced, a record each, and what is there now. */
static const struct undo_row {
	const char *name;
	const char *replaced[4]; /* one record each, oldest first */
	const char *now;
	const char *plan;
	const char *source; /* of the first step */
} undo_rows[] = {
	{"nothing was replaced", {NULL}, "", "", NULL},
	{"content", {"Pf a 1 644;"}, "Pf a 2 644;", "f a;", "kept/0"},
	{"is so already", {"Pf a 1 644;"}, "Pf a 1 644;", "", NULL},
	{"metadata", {"Pf a 1 600;"}, "Pf a 1 644;", "m a;", "kept/0"},
	{"nothing was there", {"P- a 0 0;"}, "Pf a 2 644;", "r a;", "kept/0"},
	{"nothing is there", {"P- a 0 0;"}, "", "", NULL},
	{"the newest counts",
	 {"Pf a 1 644;", "Pf a 3 644;"},
	 "Pf a 2 644;",
	 "f a;",
	 "kept/1"},
	{"a removed addition",
	 {"Pd n 0 755;", "Pf n/x 1 644;"},
	 "",
	 "d n;f n/x<0;",
	 "kept/0"},
	{"made directories go, deepest first",
	 {"P- d 0 0;", "P- d/a 0 0;"},
	 "Pd d 0 755;Pf d/a 1 644;",
	 "r d/a;r d;",
	 "kept/1"},
	{"changed since", {"Pf a 1 644;"}, "Pl a 2 777;", "f a;", "kept/0"},
};

Test(restore_plan, undo)
{
	for (size_t i = 0; i < HF_COUNT(undo_rows); i++) {
		const struct undo_row *const row = &undo_rows[i];
		static const char *const kept[] = {"kept/0", "kept/1"};
		struct hf_tree trees[2] = {HF_TREE_INIT, HF_TREE_INIT};
		struct hf_kept_record records[2];
		struct hf_session_record session = HF_SESSION_RECORD_INIT;
		cleanup_tree struct hf_tree now = HF_TREE_INIT;
		cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
		struct hf_error err;
		size_t count = 0;

		for (; row->replaced[count]; count++) {
			read_tree(row->replaced[count], &trees[count]);
			records[count] = (struct hf_kept_record){
				.replaced = &trees[count].entries[0],
				.put = &trees[count].entries[0],
				.kept_path = kept[count],
			};
		}
		session.kept = records;
		session.kept_count = count;
		read_tree(row->now, &now);
		cr_assert_eq(hf_restore_plan_undo(&session, &now, &plan, &err),
			     0);
		cr_expect_str_eq(plan_text(&plan), row->plan, "%s: %s",
				 row->name, plan_text(&plan));
		if (row->source)
			cr_expect_str_eq(plan.steps[0].source, row->source,
					 "%s", row->name);
		hf_tree_done(&trees[0]);
		hf_tree_done(&trees[1]);
	}
}
