/* SPDX-License-Identifier: MIT */
/* Extended attributes and ACLs as text, there and back. */
#include "platform/file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buffer.h"
#include "support/check.h"
#include "support/deny_calls.h"
#include "support/tmpdir.h"

#define ACL_ACCESS  "system.posix_acl_access"
#define ACL_DEFAULT "system.posix_acl_default"

/* user::rw- user:1234:r-- group::r-- mask::r-- other::---, as the kernel has
 * it: version 2, then (tag, permissions, id) each. */
static const char acl[] = "\x02\0\0\0"
			  "\x01\0\x06\0\xff\xff\xff\xff"
			  "\x02\0\x04\0\xd2\x04\0\0"
			  "\x04\0\x04\0\xff\xff\xff\xff"
			  "\x10\0\x04\0\xff\xff\xff\xff"
			  "\x20\0\0\0\xff\xff\xff\xff";
#define ACL_LEN (sizeof(acl) - 1)
#define ACL_BASE64 \
	"AgAAAAEABgD/////AgAEANIEAAAEAAQA/////xAABAD/////IAAAAP////8="

static char *top;
static int top_fd;
static int file_fd;

static void teardown(void)
{
	(void)close(file_fd);
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

static void setup(void)
{
	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(top_fd, 0);
	hf_put_file(top_fd, "file", "content");
	file_fd = openat(top_fd, "file", O_RDONLY | O_CLOEXEC);
	cr_assert_geq(file_fd, 0);
	cr_assert_eq(mkdirat(top_fd, "dir", 0700), 0);
	cr_assert_eq(symlinkat("file", top_fd, "link"), 0);
	cr_assert_eq(mkfifoat(top_fd, "fifo", 0600), 0);
	if (fsetxattr(file_fd, "user.probe", "", 0, 0) < 0)
		hf_skip(teardown, "no extended attributes here");
	cr_assert_eq(fremovexattr(file_fd, "user.probe"), 0);
}

TestSuite(xattr, .init = setup, .fini = teardown, .timeout = 60);

static void put(const char *name, const char *value)
{
	cr_assert_eq(fsetxattr(file_fd, name, value, strlen(value), 0), 0, "%s",
		     name);
}

static void expect_text(const char *name, const char *text)
{
	cleanup_buffer struct hf_buffer got = HF_BUFFER_INIT;
	const int rc = hf_file_get_xattrs_at(top_fd, name, &got);

	cr_expect_eq(rc, 0, "%s: %d", name, rc);
	cr_expect_str_eq(got.data, text, "%s: %s", name, got.data);
}

/* Both ways to ask about the file must say the same. */
static void expect_file(const char *text)
{
	cleanup_buffer struct hf_buffer got = HF_BUFFER_INIT;

	cr_expect_eq(hf_file_get_xattrs(file_fd, &got), 0);
	cr_expect_str_eq(got.data, text, "%s", got.data);
	expect_text("file", text);
}

/* -- reading ------------------------------------------------------------- */

static void check_reading(void)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	const int before = hf_open_descriptors();

	expect_file("");
	expect_text("dir", "");
	expect_text("link", "");
	expect_text("fifo", "");

	put("user.b", "2");
	put("user.a", "\xff\n=");
	put("user.empty", "");
	put("user.A", "1");
	expect_file("user.A=MQ==\nuser.a=/wo9\nuser.b=Mg==\nuser.empty=\n");
	/* Of the link, not of what it leads to. */
	expect_text("link", "");
	cr_expect_eq(hf_file_get_xattrs_at(top_fd, "missing", &text), -ENOENT);
	cr_expect_eq(hf_open_descriptors(), before, "leaked");
}

Test(xattr, reading)
{
	check_reading();
}

Test(xattr, reading_on_old_kernels)
{
	cr_assert_eq(hf_deny_newer_calls(ENOSYS), 0);
	check_reading();
}

Test(xattr, reading_in_a_container)
{
	cr_assert_eq(hf_deny_newer_calls(EPERM), 0);
	check_reading();
}

/* Hide /proc from this process alone. */
static void hide_proc(void)
{
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/proc", "tmpfs", 0, NULL) < 0)
		hf_skip(teardown, "/proc cannot be hidden here");
}

static void check_without_proc(void)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	hide_proc();
	put("user.a", "1");
	expect_file("user.a=MQ==\n");
	expect_text("dir", "");
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "file", "user.b=Mg==\n"), 0);
	expect_file("user.b=Mg==\n");
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "link", ""), -EOPNOTSUPP);
	cr_expect_eq(hf_file_get_xattrs_at(top_fd, "missing", &text), -ENOENT);
}

Test(xattr, without_proc)
{
	check_without_proc();
	expect_text("link", "");
}

Test(xattr, without_proc_on_old_kernels)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	cr_assert_eq(hf_deny_newer_calls(ENOSYS), 0);
	check_without_proc();
	cr_expect_eq(hf_file_get_xattrs_at(top_fd, "link", &text), -EOPNOTSUPP);
}

Test(xattr, strange_names)
{
	put("user.=", "1");
	put("user.a=b\n", "2");
	put("user.%41", "3");
	put("user.\xff \x7f", "4");
	expect_file("user.%25"
		    "41=Mw==\nuser.%3d=MQ==\n"
		    "user.a%3db%0a=Mg==\nuser.%ff%20%7f=NA==\n");
}

Test(xattr, more_than_usual)
{
	cleanup_buffer struct hf_buffer expected = HF_BUFFER_INIT;

	/* Their names alone do not fit into the first, small list. */
	for (unsigned i = 10; i < 40; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name),
			       "user.a-name-that-is-rather-long-%u", i);
		put(name, "x");
		hf_buffer_printf(&expected, "%s=eA==\n", name);
	}
	expect_file(expected.data);
}

Test(xattr, text_is_appended)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	put("user.a", "1");
	hf_buffer_add_text(&text, "kept ");
	cr_expect_eq(hf_file_get_xattrs(file_fd, &text), 0);
	cr_expect_str_eq(text.data, "kept user.a=MQ==\n");
}

Test(xattr, what_only_root_records)
{
	if (geteuid() != 0 || fsetxattr(file_fd, "trusted.t", "1", 1, 0) < 0)
		hf_skip(teardown, "needs root");
	put("security.s", "2");
	put("security.ima", "\x04"
			    "3");
	put("user.u", "4");
	expect_file("security.s=Mg==\ntrusted.t=MQ==\nuser.u=NA==\n");
	cr_expect_eq(hf_file_set_xattrs(file_fd, "security.evm=MQ==\n"),
		     -EPERM);
	/* Which does not keep it from removing what it may. */
	expect_file("");
	cr_expect_geq(fgetxattr(file_fd, "security.ima", NULL, 0), 0);

	put("trusted.t", "1");
	/* Such a one a link may have, and its target others. */
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "link", "trusted.l=MQ==\n"),
		     0);
	expect_text("link", "trusted.l=MQ==\n");
	expect_file("trusted.t=MQ==\n");
	hf_become_user(top);
	expect_file("");
	cr_expect_eq(hf_file_set_xattrs(file_fd, "trusted.t=MQ==\n"), -EPERM);
}

Test(xattr, file_systems_without)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int dir_fd = open("/proc/self", O_RDONLY | O_CLOEXEC);
	cleanup_fd int fd = openat(dir_fd, "stat", O_RDONLY | O_CLOEXEC);

	cr_expect_eq(hf_file_get_xattrs(fd, &text), 0);
	cr_expect_str_eq(text.data, "");
	cr_expect_eq(hf_file_get_xattrs_at(dir_fd, "stat", &text), 0);
	cr_expect_eq(hf_file_set_xattrs(fd, ""), 0);
	/* Not supported, or not even writable. */
	cr_expect_lt(hf_file_set_xattrs(fd, "user.a=MQ==\n"), 0);
	cr_expect_eq(hf_file_get_xattrs(-1, &text), -EBADF);
	cr_expect_eq(text.len, 0);
}

/* -- writing ------------------------------------------------------------- */

Test(xattr, set_makes_it_so)
{
	static const char *const texts[] = {
		"user.a=MQ==\n",	 "user.a=Mg==\nuser.b=\n",
		"user.b=AAEC/w==\n",	 "",
		"user.%3d%0a%ff=MQ==\n", "user.a=MQ==\nuser.aa=Mg==\n",
		"user.aa=Mg==\n",	 "",
	};
	const int before = hf_open_descriptors();

	for (size_t i = 0; i < HF_COUNT(texts); i++) {
		cr_expect_eq(hf_file_set_xattrs(file_fd, texts[i]), 0, "%zu",
			     i);
		expect_file(texts[i]);
	}
	for (size_t i = 0; i < HF_COUNT(texts); i++) {
		cr_expect_eq(hf_file_set_xattrs_at(top_fd, "file", texts[i]),
			     0);
		expect_file(texts[i]);
		cr_expect_eq(hf_file_set_xattrs_at(top_fd, "dir", texts[i]), 0);
		expect_text("dir", texts[i]);
	}
	cr_expect_eq(hf_open_descriptors(), before, "leaked");
}

Test(xattr, set_touches_only_what_differs)
{
	struct stat before;
	struct stat after;

	put("user.a", "1");
	cr_assert_eq(fstat(file_fd, &before), 0);
	/* Unless an equal value is left alone, the change time moves on. */
	(void)usleep(20000);
	cr_expect_eq(hf_file_set_xattrs(file_fd, "user.a=MQ==\n"), 0);
	cr_assert_eq(fstat(file_fd, &after), 0);
	cr_expect_eq(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
}

Test(xattr, set_leaves_the_target_of_a_link)
{
	put("user.a", "1");
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "link", ""), 0);
	expect_file("user.a=MQ==\n");
	/* The kernel has none of these on links. */
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "link", "user.b=MQ==\n"),
		     -EPERM);
	expect_file("user.a=MQ==\n");
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "missing", ""), -ENOENT);
}

Test(xattr, damaged_lines_change_nothing)
{
	static const char *const texts[] = {
		"user.a",
		"user.a=MQ==",
		"\n",
		"user.a\nuser.b=MQ==\n",
		"user.b=MQ==\nuser.c",
		"user.b=MQ==\n\n",
	};

	put("user.kept", "1");
	for (size_t i = 0; i < HF_COUNT(texts); i++) {
		cr_expect_eq(hf_file_set_xattrs(file_fd, texts[i]), -EINVAL,
			     "%zu", i);
		expect_file("user.kept=MQ==\n");
	}
}

Test(xattr, damaged_attributes_are_refused_one_by_one)
{
	static const struct {
		const char *name;
		const char *line;
		int rc;
	} rows[] = {
		{"no name", "=MQ==\n", -EINVAL},
		{"half an escape", "user.%4=MQ==\n", -EINVAL},
		{"escape at the end", "user.%=MQ==\n", -EINVAL},
		{"no digits", "user.%zz=MQ==\n", -EINVAL},
		{"NUL", "user.a%00=MQ==\n", -EINVAL},
		{"raw control", "user.\x01=MQ==\n", -EINVAL},
		{"raw byte", "user.\xff=MQ==\n", -EINVAL},
		{"damaged value", "user.a=MQ=\n", -EINVAL},
		{"name too short", "user.=MQ==\n", -EINVAL},
		{"name space", "other.a=MQ==\n", -EPERM},
		{"name space alone", "user=MQ==\n", -EPERM},
		{"of the system", "system.other=MQ==\n", -EPERM},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_free char *text = NULL;
		int rc;

		cr_assert_gt(
			asprintf(&text, "%suser.good=MQ==\n", rows[i].line), 0);
		rc = hf_file_set_xattrs(file_fd, text);
		cr_expect_eq(rc, rows[i].rc, "%s: %d", rows[i].name, rc);
		expect_file("user.good=MQ==\n");
		cr_assert_eq(fremovexattr(file_fd, "user.good"), 0);
	}
}

Test(xattr, name_longer_than_any)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	hf_buffer_add_text(&text, "user.");
	for (unsigned i = 0; i < 251; i++)
		hf_buffer_add(&text, "n", 1);
	hf_buffer_add_text(&text, "=\n");
	cr_expect_eq(hf_file_set_xattrs(file_fd, text.data), -EINVAL);
	expect_file("");
}

/* -- ACLs ---------------------------------------------------------------- */

Test(xattr, acl)
{
	struct stat st;

	if (fsetxattr(file_fd, ACL_ACCESS, acl, ACL_LEN, 0) < 0)
		hf_skip(teardown, "no ACLs here");
	put("user.a", "1");
	expect_file(ACL_ACCESS "=" ACL_BASE64 "\nuser.a=MQ==\n");

	hf_put_file(top_fd, "copy", "");
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "copy",
					   ACL_ACCESS "=" ACL_BASE64 "\n"),
		     0);
	expect_text("copy", ACL_ACCESS "=" ACL_BASE64 "\n");
	/* The kernel shows the mask in the place of the group. */
	cr_assert_eq(fstatat(top_fd, "copy", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "copy", ""), 0);
	expect_text("copy", "");

	cr_expect_eq(hf_file_set_xattrs(file_fd, ACL_ACCESS "=AAAA\n"),
		     -EINVAL);
	/* A fifo may have one, too, and is not opened for it. */
	cr_expect_eq(hf_file_set_xattrs_at(top_fd, "fifo",
					   ACL_ACCESS "=" ACL_BASE64 "\n"),
		     0);
	expect_text("fifo", ACL_ACCESS "=" ACL_BASE64 "\n");
}

Test(xattr, default_acl_of_a_directory)
{
	cleanup_fd int dir_fd = openat(top_fd, "dir", O_RDONLY | O_CLOEXEC);

	if (fsetxattr(dir_fd, ACL_DEFAULT, acl, ACL_LEN, 0) < 0)
		hf_skip(teardown, "no ACLs here");
	expect_text("dir", ACL_DEFAULT "=" ACL_BASE64 "\n");
	cr_expect_eq(hf_file_set_xattrs(dir_fd, ""), 0);
	expect_text("dir", "");
}
