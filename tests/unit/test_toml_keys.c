/* SPDX-License-Identifier: MIT */
/* Which keys differ between two TOML texts. */
#include "report/toml_keys.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"

static const struct {
	const char *name;
	const char *before;
	const char *after;
	const char *told; /* NULL: one is no TOML */
} cases[] = {
	{"nothing", "", "", ""},
	{"comments", "# a\nx = 1 # b\n", "x = 1\n# c", ""},
	{"order", "a = 1\nb = 2\n", "b = 2\na = 1\n", ""},
	{"changed", "a = 1\n", "a = 2\n", "~a"},
	{"added and removed", "a = 1\n", "b = 1\n", "-a +b"},
	{"table", "[x]\na = 1\n", "[x]\na = 2\nb = 3\n", "~x.a +x.b"},
	{"dotted", "x.y . z = 1\n", "[x.y]\nz = 2\n", "~x.y.z"},
	{"quoted", "\"a b\".'c.d' = 1\n", "", "-\"a b\".'c.d'"},
	{"root", "a = 1\n[t]\na = 1\n", "a = 2\n[t]\na = 1\n", "~a"},
	{"no end of line", "a = 1", "a = 2", "~a"},
	{"crlf", "a = 1\r\nb = 1\r\n", "a = 1\nb = 2\n", "~b"},
	{"string with what ends others", "a = \"x # ] '\"\nb = 1\n",
	 "a = \"x # ] '\"\nb = 2\n", "~b"},
	{"escaped quote", "a = \"\\\"\" # x\nb = 1", "a = \"\\\\\"\nb = 1",
	 "~a"},
	{"literal", "a = '\\'\nb = 1", "a = '\\'\nb = 2", "~b"},
	{"long string", "a = \"\"\"\nb = 1\n\"\" x\"\"\"\nc = 1",
	 "a = \"\"\"\nb = 2\n\"\" x\"\"\"\nc = 1", "~a"},
	{"quotes at its end", "a = '''x'''''\nb = 1", "a = '''x'''''\nb = 2",
	 "~b"},
	{"array over lines", "a = [ # ]\n 1,\n [\"]\"],\n]\nb = 1",
	 "a = [ # ]\n 1,\n [\"]\"],\n]\nb = 2", "~b"},
	{"inline table", "a = { b = [1, {c = 2}] }", "a = { b = [1, {c = 3}] }",
	 "~a"},
	{"arrays of tables", "[[p]]\nn = 1\n[[p]]\nn = 2\n",
	 "[[p]]\nn = 1\n[[p]]\nn = 3\n[[p]]\nn = 4\n", "~p[1].n +p[2].n"},
	{"beneath one",
	 "[[p]]\n[p.q]\nn = 1\n[[p.r]]\nn = 1\n[[p]]\n[p.q]\nn = 2",
	 "[[p]]\n[p.q]\nn = 1\n[[p.r]]\nn = 2\n[[p]]\n[p.q]\nn = 3",
	 "~p[0].r[0].n ~p[1].q.n"},
	{"dates and numbers", "a = 1979-05-27 07:32:00Z\nb = +1_0.5e3",
	 "a = 1979-05-27 07:32:01Z\nb = +1_0.5e3", "~a"},
	{"not utf-8", "\xff\xfe = 1\n", "\xff\xfe = 2\n", "~\xff\xfe"},
	{"a word", "hello\n", "", NULL},
	{"no value", "a =\n", "", NULL},
	{"no name", "= 1\n", "", NULL},
	{"two values", "a = 1\nb = \"x\" y\n", "", NULL},
	{"an open string", "a = \"x\nb = 1\n", "", NULL},
	{"an open long string", "a = '''x\n''\n", "", NULL},
	{"an open array", "a = [1, 2\nb = 3\n", "", NULL},
	{"crossed", "a = [{]}\n", "", NULL},
	{"a header alone", "[x\n", "", NULL},
	{"an empty header", "[]\n", "", NULL},
	{"what is behind a header", "[x] y\n", "", NULL},
	{"json", "{\"a\": 1}\n", "", NULL},
	{"a last backslash", "a = \"\\", "", NULL},
	{"the other", "a = 1", "nonsense", NULL},
};

Test(toml_keys, cases)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		cleanup_toml_changes struct hf_toml_changes changes =
			HF_TOML_CHANGES_INIT;
		cleanup_buffer struct hf_buffer told = HF_BUFFER_INIT;
		const int rc = hf_toml_compare(
			cases[i].before, strlen(cases[i].before),
			cases[i].after, strlen(cases[i].after), &changes);

		cr_expect_eq(rc, cases[i].told ? 1 : 0, "%s: %d", cases[i].name,
			     rc);
		hf_buffer_add_text(&told, "");
		for (size_t k = 0; k < changes.count; k++)
			hf_buffer_printf(&told, "%s%c%s", k == 0 ? "" : " ",
					 "+-~"[changes.items[k].kind],
					 changes.items[k].name);
		if (cases[i].told)
			cr_expect_str_eq(told.data ? told.data : "",
					 cases[i].told, "%s: %s", cases[i].name,
					 told.data);
	}
}

/* Every text that is cut, or has one byte changed, is read to its end. */
Test(toml_keys, damaged)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		const size_t len = strlen(cases[i].before);

		for (size_t at = 0; at < len; at++) {
			for (size_t k = 0; k < 6; k++) {
				cleanup_toml_changes struct hf_toml_changes c =
					HF_TOML_CHANGES_INIT;
				char *text = strdup(cases[i].before);
				int rc;

				text[at] = "\0\n\"'[="[k];
				rc = hf_toml_compare(text, len, cases[i].after,
						     strlen(cases[i].after),
						     &c);
				cr_expect(rc == 0 || rc == 1);
				free(text);
			}
		}
	}
}
