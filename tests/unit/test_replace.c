/* SPDX-License-Identifier: MIT */
/* Replacing a file: content, mode, and what an abandoned attempt leaves. */
#include "core/replace.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/fail.h"
#include "platform/file.h"
#include "support/check.h"
#include "support/stored.h"
#include "support/tmpdir.h"

static char *dir;
static int dir_fd = -1;

static void setup(void)
{
	dir = hf_tmpdir_make();
	dir_fd = hf_file_open_directory(dir);
	cr_assert(dir_fd >= 0);
}

static void teardown(void)
{
	hf_file_close_quietly(&dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(replace, .init = setup, .fini = teardown);

Test(replace, a_new_file_gets_content_and_mode)
{
	struct hf_error err;
	struct hf_stat stat;

	cr_assert_eq(hf_replace_write(dir_fd, "a", 0640, "new", 3, &err), 0);
	cr_expect(hf_file_has(dir_fd, "a", "new"));
	cr_assert_eq(hf_file_stat_at(dir_fd, "a", &stat), 0);
	cr_expect_eq(stat.mode, 0640);
	cr_expect_eq(hf_count_names(dir_fd, ""), 1);
}

Test(replace, a_reader_keeps_what_it_opened)
{
	struct hf_error err;
	char text[4] = "";
	cleanup_fd int fd = -1;

	hf_put_file(dir_fd, "a", "old");
	fd = hf_file_open_read_at(dir_fd, "a");
	cr_assert(fd >= 0);
	cr_assert_eq(hf_replace_write(dir_fd, "a", 0600, "new", 3, &err), 0);
	cr_assert_eq(hf_file_read(fd, text, 3), 3);
	cr_expect_str_eq(text, "old");
	cr_expect(hf_file_has(dir_fd, "a", "new"));
}

Test(replace, a_link_is_replaced_and_not_followed)
{
	struct hf_error err;
	struct hf_stat stat;

	hf_put_file(dir_fd, "target", "old");
	cr_assert_eq(hf_file_symlink_at("target", dir_fd, "a"), 0);
	cr_assert_eq(hf_replace_write(dir_fd, "a", 0600, "new", 3, &err), 0);
	cr_expect(hf_file_has(dir_fd, "target", "old"));
	cr_assert_eq(hf_file_stat_at(dir_fd, "a", &stat), 0);
	cr_expect_eq(stat.kind, HF_KIND_FILE);
}

Test(replace, without_a_commit_nothing_is_left)
{
	const int fds = hf_open_descriptors();

	hf_put_file(dir_fd, "a", "old");
	{
		cleanup_replace struct hf_replace rep = HF_REPLACE_INIT;
		struct hf_error err;

		cr_assert_eq(hf_replace_begin(&rep, dir_fd, "a", 0600, &err),
			     0);
		cr_assert_eq(hf_file_write(rep.fd, "new", 3), 0);
		cr_expect_eq(hf_count_names(dir_fd, HF_TEMPORARY_PREFIX), 1);
	}
	cr_expect(hf_file_has(dir_fd, "a", "old"));
	cr_expect_eq(hf_count_names(dir_fd, ""), 1);
	cr_expect_eq(hf_open_descriptors(), fds);
}

Test(replace, which_names_are_temporary)
{
	static const struct {
		const char *name;
		bool is_temporary;
	} cases[] = {
		{".holdfast-0123456789abcdef", true},
		{".holdfast-0123456789abcde", false},
		{".holdfast-0123456789abcdef0", false},
		{".holdfast-0123456789abcdeF", false},
		{".holdfast-", false},
		{"holdfast-0123456789abcdef", false},
		{"", false},
	};
	char name[32];
	struct hf_error err;

	for (size_t i = 0; i < HF_COUNT(cases); i++)
		cr_expect_eq(hf_replace_is_temporary(cases[i].name),
			     cases[i].is_temporary, "%s", cases[i].name);
	cr_assert_eq(hf_replace_name(name, &err), 0);
	cr_expect(hf_replace_is_temporary(name));
}

Test(replace, the_message_names_the_file)
{
	struct hf_error err;

	hf_file_close_quietly(&dir_fd);
	dir_fd = hf_file_open_directory("/proc/self");
	cr_assert(dir_fd >= 0);
	cr_expect_eq(hf_replace_write(dir_fd, "a\n", 0600, "", 0, &err),
		     HF_ERR_SYSTEM);
	cr_expect(strstr(err.text, "cannot create a copy of 'a\\n': "), "%s",
		  err.text);
	cr_expect_neq(err.sys_errno, 0);
}
