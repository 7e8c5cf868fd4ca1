/* SPDX-License-Identifier: MIT */
/* What a person answers to a numbered list. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/fail.h"
#include "cli/choice.h"

TestSuite(choice);

struct answer {
	const char *text;
	const char *chosen; /* of five, "-x---" before; NULL: refused */
};

static const struct answer table[] = {
	{ "", "-x---" },      { "  \t", "-x---" },	{ "1", "x----" },
	{ "5 1", "x---x" },   { "2-4", "-xxx-" },	{ "1,3 - ", NULL },
	{ "1,3", "x-x--" },   { "all", "xxxxx" },	{ "none", "-----" },
	{ "1-1,2", "xx---" }, { "0", NULL },		{ "6", NULL },
	{ "2-", NULL },	      { "-2", NULL },		{ "3-2", NULL },
	{ "1 x", NULL },      { "al", NULL },		{ "1-6", NULL },
	{ "99999999999999999999", NULL },
};

Test(choice, table)
{
	for (size_t i = 0; i < HF_COUNT(table); i++) {
		bool chosen[5] = { false, true, false, false, false };
		const char *const wanted =
			table[i].chosen ? table[i].chosen : "-x---";
		struct hf_error err;
		const int rc = hf_choice_parse(table[i].text, 5, chosen, &err);

		cr_expect_eq(rc, table[i].chosen ? 0 : HF_ERR_USAGE, "%s",
			     table[i].text);
		for (size_t j = 0; j < 5; j++)
			cr_expect_eq(chosen[j], wanted[j] == 'x', "%s: %zu",
				     table[i].text, j);
	}
}
