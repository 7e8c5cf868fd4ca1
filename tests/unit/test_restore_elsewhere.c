/* SPDX-License-Identifier: MIT */
/* Where copies of recorded entries are to stand, and what is made above them. */
#include "core/restore_elsewhere.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"

struct row {
	const char *name;
	/* Entries: kind (f file, d directory, l link, - absent), role (P, A
	 * ancestor, L allowed, C side cache), path; ends with a path of NULL. */
	struct {
		const char *what;
		const char *path;
	} wanted[6];
	const char *want; /* kind, role, path, each with a semicolon */
};

static const struct row rows[] = {
	{ "as they are",
	  { { "dA", "." }, { "fP", "a.toml" }, { "lP", "l" } },
	  "fP a.toml;lP l;" },
	{ "with their directories",
	  { { "dA", "." }, { "dA", "d" }, { "dP", "d/e" }, { "fP", "d/e/f" } },
	  "dA d;dP d/e;fP d/e/f;" },
	{ "directories that nobody recorded",
	  { { "fP", "d/e/f" }, { "fP", "d/g" } },
	  "dA d;dA d/e;fP d/e/f;fP d/g;" },
	{ "what is absent, and a cache",
	  { { "-P", "gone" }, { "fC", "a-shm" }, { "fP", "a" } },
	  "fP a;" },
	{ "what commands may change", { { "fL", "a" } }, "fP a;" },
	{ "from outside the root",
	  { { "dA", "/" }, { "dA", "/etc" }, { "fP", "/etc/x" } },
	  "dA outside;dA outside/etc;fP outside/etc/x;" },
	{ "no two have one name",
	  { { "fP", "outside/x" }, { "fP", "outside~" }, { "fP", "/x" } },
	  "dA outside;fP outside/x;dA outside~;fP outside~/x;fP outside~~;" },
	{ "nothing", { { "dA", "." } }, "" },
};

static void read_tree(const struct row *row, struct hf_tree *tree)
{
	static const char kinds[] = "-fdl";
	static const char roles[] = "PALSC";
	struct hf_error err;

	for (size_t i = 0; row->wanted[i].path; i++) {
		const char *const what = row->wanted[i].what;
		struct hf_entry *const entry =
			hf_tree_add(tree, row->wanted[i].path);

		cr_assert(entry);
		entry->stat.kind =
			(enum hf_kind)(strchr(kinds, what[0]) - kinds);
		entry->role =
			(enum hf_entry_role)(strchr(roles, what[1]) - roles);
	}
	cr_assert_eq(hf_tree_sort(tree, &err), 0, "%s", err.text);
}

Test(restore_elsewhere, tree)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_tree struct hf_tree wanted = HF_TREE_INIT;
		cleanup_tree struct hf_tree want = HF_TREE_INIT;
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		struct hf_error err;

		read_tree(&rows[i], &wanted);
		cr_assert_eq(hf_elsewhere_tree(&wanted, 7, &want, &err), 0);
		hf_buffer_add_text(&text, "");
		for (size_t k = 0; k < want.count; k++) {
			const struct hf_entry *const entry = &want.entries[k];

			hf_buffer_printf(&text, "%c%c %s;",
					 "-fdl"[entry->stat.kind],
					 "PALSC"[entry->role], entry->path);
		}
		cr_expect_str_eq(text.data, rows[i].want, "%s: %s",
				 rows[i].name, text.data);
	}
}

/* One that is made for the way there is plain, and of now. */
Test(restore_elsewhere, way)
{
	cleanup_tree struct hf_tree wanted = HF_TREE_INIT;
	cleanup_tree struct hf_tree want = HF_TREE_INIT;
	struct hf_error err;

	cr_assert(hf_tree_add(&wanted, "d/f"));
	wanted.entries[0].stat.kind = HF_KIND_FILE;
	cr_assert_eq(hf_elsewhere_tree(&wanted, 7, &want, &err), 0);
	cr_assert_eq(want.count, 2);
	cr_expect_eq(want.entries[0].stat.mode, 0755);
	cr_expect_eq(want.entries[0].stat.mtime_ns, 7);
}
