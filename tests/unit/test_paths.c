/* SPDX-License-Identifier: MIT */
/* Where a typed path leads, seen from the root. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/paths.h"
#include "holdfast/error.h"

TestSuite(paths);

static const struct {
	const char *name;
	const char *root;
	const char *directory;
	const char *typed;
	const char *path;	/* NULL: refused */
} rows[] = {
	{ "at the root", "/r", "/r", "a.toml", "a.toml" },
	{ "below it", "/r", "/r/d", "a.toml", "d/a.toml" },
	{ "up again", "/r", "/r/d/e", "../a.toml", "d/a.toml" },
	{ "untidy", "/r", "/r", "./d//e/", "d/e" },
	{ "the root itself", "/r", "/r", ".", "." },
	{ "the root from below", "/r", "/r/d", "..", "." },
	{ "absolute, beneath", "/r", "/r", "/r/d/a", "d/a" },
	{ "absolute, outside", "/r", "/r", "/etc/x", "/etc/x" },
	{ "relative, outside", "/r", "/r", "../x", "/x" },
	{ "a name like the root's", "/r", "/r", "/r2/a", "/r2/a" },
	{ "from elsewhere", "/r", "/home", "a.toml", "a.toml" },
	{ "a directory like the root", "/r", "/r2", "a.toml", "a.toml" },
	{ "the whole system", "/", "/d", "a", "d/a" },
	{ "empty", "/r", "/r", "", NULL },
	{ "beyond everything", "/r", "/r", "../../x", NULL },
};

Test(paths, resolve)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_free char *path = NULL;
		struct hf_error err = { 0 };
		const int rc = hf_paths_resolve_from(
			rows[i].root, rows[i].directory, rows[i].typed, &path,
			&err);

		if (rows[i].path == NULL) {
			cr_expect_eq(rc, HF_ERR_USAGE, "%s", rows[i].name);
			cr_expect_null(path);
		} else {
			cr_assert_eq(rc, 0, "%s: %s", rows[i].name, err.text);
			cr_expect_str_eq(path, rows[i].path, "%s: %s",
					 rows[i].name, path);
		}
	}
}
