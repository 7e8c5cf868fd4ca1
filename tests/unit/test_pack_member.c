/* SPDX-License-Identifier: MIT */
/* What paths are called in archives, and what names are none of theirs. */
#include "core/pack_member.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pack_member);

static const struct pair {
	const char *path;
	const char *name;
} pairs[] = {
	{"a.toml", "a.toml"},
	{"deep/outside", "deep/outside"},
	{"outside", "outside~"},
	{"outside/b", "outside~/b"},
	{"outside~", "outside~~"},
	{"outside~~/b", "outside~~~/b"},
	{"outside~x", "outside~x"},
	{"outsider/b", "outsider/b"},
	{"/etc/hosts", "outside/etc/hosts"},
	{"/outside", "outside/outside"},
};

Test(pack_member, there_and_back)
{
	for (size_t i = 0; i < HF_COUNT(pairs); i++) {
		cleanup_free char *name = hf_pack_member_name(pairs[i].path);
		cleanup_free char *path = hf_pack_member_path(pairs[i].name);

		cr_assert(name && path);
		cr_expect_str_eq(name, pairs[i].name);
		cr_expect_str_eq(path, pairs[i].path);
		cr_expect_eq(hf_pack_member_len(pairs[i].path), strlen(name),
			     "%s", name);
	}
}

static const char *const wrong[] = {
	"",
	"/",
	"/etc/hosts",
	"..",
	"../a",
	"a/../b",
	"./a",
	"a//b",
	"a/",
	"outside",
	"outside/",
	"outside//etc",
	"outside/../etc",
	"a/.",
};

Test(pack_member, none)
{
	for (size_t i = 0; i < HF_COUNT(wrong); i++) {
		errno = 0;
		cr_expect_null(hf_pack_member_path(wrong[i]), "%s", wrong[i]);
		cr_expect_eq(errno, EINVAL, "%s", wrong[i]);
	}
}
