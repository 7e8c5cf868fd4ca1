/* SPDX-License-Identifier: MIT */
/*
 * Print what is told of a run whose every name is hostile, so that a parser which
 * is not ours can read it.
 *
 *	told json|junit|github
 */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "report/annotations.h"
#include "report/json.h"
#include "report/junit.h"
#include "support/session.h"

/* Every byte but NUL and '/', in which no two make a character, and the ends of
 * all kinds of raw text. */
static const char *hostile(void)
{
	static char name[300];
	size_t len = 0;

	for (int byte = 255; byte > 0; byte--)
		if (byte != '/')
			name[len++] = (char)byte;
	(void)strcpy(name + len, "]]>\">%0A::error::x\357\277\277\303\244");
	return name;
}

static void fill(struct hf_test_session *test, struct hf_culprit *culprit,
		 struct hf_outsider *outsider, struct hf_side_effect *effect)
{
	static char test_name[64];
	struct hf_violation *violation;

	(void)snprintf(test_name, sizeof(test_name),
		       "tests/\033\377,:%%<.py::t[::]]>] (call)");
	culprit->process.command_line = test_name;
	culprit->process.command_line_len = strlen(test_name);
	(void)strncpy(culprit->process.comm, hostile(),
		      sizeof(culprit->process.comm) - 1);
	culprit->exe = hostile();
	culprit->cwd = hostile();
	culprit->parents = &culprit->process;
	culprit->parent_count = 1;
	violation = hf_test_session_refuse(test, hostile(), "openat");
	violation->culprit = culprit;
	violation->test = test_name;
	violation->is_test_exact = true;
	violation->detail = "O_RDWR|O_TRUNC";
	violation->count = 5000;
	violation = hf_test_session_refuse(test, "sub/a.toml", "unlink");
	violation->test = hostile();
	hf_test_session_leave(hf_test_session_add(test, "sub/b.toml", "write"));
	(void)hf_test_session_add(test, hostile(), "write");
	*outsider = (struct hf_outsider){ .path = hostile(),
					  .process = culprit->process };
	*effect = (struct hf_side_effect){ .what = hostile(), .count = 1 };
	test->session.outsiders = outsider;
	test->session.outsider_count = 1;
	test->session.side_effects = effect;
	test->session.side_effect_count = 1;
}

int main(int argc, char **argv)
{
	struct hf_culprit culprit = { .process = { .pid = 4711 } };
	struct hf_outsider outsider;
	struct hf_side_effect effect;
	struct hf_test_session test;
	struct hf_buffer out = HF_BUFFER_INIT;
	const char *form = argc == 2 ? argv[1] : "";

	hf_test_session_init(&test);
	fill(&test, &culprit, &outsider, &effect);
	if (strcmp(form, "json") == 0)
		hf_report_json(&test.session, "", 0, &out);
	else if (strcmp(form, "junit") == 0)
		hf_report_junit(&test.session, "", &out);
	else if (strcmp(form, "github") == 0)
		hf_report_annotations(&test.session, "", &out);
	(void)fwrite(out.data, 1, out.len, stdout);
	hf_buffer_done(&out);
	hf_test_session_done(&test);
	return 0;
}
