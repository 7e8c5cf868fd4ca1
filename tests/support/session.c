/* SPDX-License-Identifier: MIT */
/* Put a session together. */
#include "support/session.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "report/text.h"

#define NAME	"000042-20261130T030007Z"

/* The tests only read it. */
static char root[] = "/home/u/project";
static char store_path[] = "/state/holdfast/project-1";
static const char *const argv[] = { "pytest", "-x", NULL };

void hf_test_session_init(struct hf_test_session *test)
{
	*test = (struct hf_test_session){
		.project = HF_PROJECT_INIT,
		.session = {
			.project = &test->project,
			.argv = argv,
			.name = { NAME },
			.snapshot = HF_MANIFEST_INIT,
			.status = HF_SESSION_CLEAN,
			.has_command_result = true,
			.started_ns = INT64_C(1796007607000000001),
			.ended_ns = INT64_C(1796007608000000002),
			.is_watch_complete = true,
			.protected_count = 6,
			.verified_count = 6,
			.leftovers = HF_PROCESSES_INIT,
			.violations = HF_VIOLATIONS_INIT,
		},
	};
	test->project.root = root;
	test->project.store_path = store_path;
}

static void fill_file(struct hf_entry *entry, const char *path, uint64_t size,
		      const char *content)
{
	*entry = (struct hf_entry){
		.path = path,
		.rule = "*.toml",
		.xattrs = "",
		.has_hash = true,
		.hash = hf_hash_of(content, strlen(content)),
		.stat = {
			.kind = HF_KIND_FILE,
			.mode = 0644,
			.size = size,
		},
	};
}

struct hf_violation *hf_test_session_add(struct hf_test_session *test,
					 const char *path,
					 const char *operation)
{
	struct hf_session *const session = &test->session;
	struct hf_violation *violation;
	struct hf_entry before;
	char kept[256];

	fill_file(&before, path, 94, "before");
	violation = hf_violations_note(&session->violations, path, "*.toml",
				       operation, &before,
				       INT64_C(1796007607500000000));
	cr_assert_not_null(violation);
	fill_file(&violation->after, violation->path, 12, "after");
	(void)snprintf(kept, sizeof(kept), "kept/" NAME "/%s", path);
	violation->kept = hf_arena_copy(&session->violations.arena, kept,
					strlen(kept));
	violation->has_after = true;
	violation->change = HF_CHANGE_CONTENT;
	violation->has_landed = true;
	violation->is_restored = true;
	violation->count = 1;
	session->status = HF_SESSION_VIOLATED;
	session->exit_status = HF_STATUS_VIOLATION;
	return violation;
}

struct hf_violation *hf_test_session_refuse(struct hf_test_session *test,
					    const char *path,
					    const char *operation)
{
	struct hf_violation *const violation =
		hf_test_session_add(test, path, operation);

	violation->kept = NULL;
	violation->has_after = false;
	violation->change = 0;
	violation->has_landed = false;
	violation->is_restored = false;
	return violation;
}

void hf_test_session_leave(struct hf_violation *violation)
{
	violation->is_outside = true;
	violation->is_restored = false;
	violation->kept = NULL;
}

void hf_test_expect_said(const struct hf_buffer *said, const char *text)
{
	const char *const got = said->data ? said->data : "";

	cr_expect_str_eq(got, text, "got:\n%swanted:\n%s", got, text);
}

void hf_test_session_expect_finished(const struct hf_test_session *test,
				     const struct hf_text_style *style,
				     const char *text)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	hf_report_text_finished(&test->session, style, &out);
	hf_test_expect_said(&out, text);
}

void hf_test_session_done(struct hf_test_session *test)
{
	hf_violations_done(&test->session.violations);
}
