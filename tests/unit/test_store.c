/* SPDX-License-Identifier: MIT */
/* The store: whose it is, its names, its lock, where it lies. */
#include "core/store.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "core/store_identity.h"
#include "platform/system.h"
#include "support/check.h"
#include "support/stored.h"

static struct hf_stored s;

static void setup(void)
{
	hf_stored_make(&s, "*.toml");
}

static void teardown(void)
{
	hf_stored_remove(&s);
}

TestSuite(store, .init = setup, .fini = teardown);

/* Open the store as another command would; closed again at once. */
static int try_open(const char *path, const char *root, int root_fd,
		    enum hf_store_open_mode mode, struct hf_error *err)
{
	cleanup_store struct hf_store store = HF_STORE_INIT;

	return hf_store_open(&store, path, root, root_fd, mode, err);
}

Test(store, made_once_and_found_again)
{
	static const char *const names[] = {"packs", "snapshots", "sessions",
					    "kept"};
	struct hf_stat stat;

	cr_expect(s.store.is_new);
	cr_expect_str_eq(s.store.root, s.root);
	cr_expect_str_eq(s.store.path, s.store_path);
	hf_stored_reopen(&s);
	cr_expect_not(s.store.is_new);

	cr_assert_eq(hf_file_stat(s.store.dir_fd, &stat), 0);
	cr_expect_eq(stat.mode, 0700);
	for (size_t i = 0; i < HF_COUNT(names); i++) {
		cr_assert_eq(hf_file_stat_at(s.store.dir_fd, names[i], &stat),
			     0);
		cr_expect_eq(stat.mode, 0700);
	}
	cr_assert_eq(hf_file_stat_at(s.store.dir_fd, "store.json", &stat), 0);
	cr_expect_eq(stat.mode, 0600);
}

Test(store, nothing_is_made_by_looking)
{
	cleanup_free char *path = hf_path_join(s.dir, "other");
	struct hf_error err;
	struct hf_stat stat;

	cr_expect_eq(
		try_open(path, s.root, s.root_fd, HF_STORE_MUST_EXIST, &err),
		HF_ERR_NOTHING);
	cr_expect_str_eq(err.text, "nothing is recorded yet");
	cr_expect_eq(hf_file_stat_path(path, &stat), -ENOENT);

	cr_assert_eq(hf_file_mkdir_path(path), 0);
	cr_expect_eq(
		try_open(path, s.root, s.root_fd, HF_STORE_MUST_EXIST, &err),
		HF_ERR_NOTHING);
}

Test(store, another_root_is_refused_until_it_adopts)
{
	cleanup_free char *other = hf_path_join(s.dir, "other");
	cleanup_fd int other_fd = -1;
	struct hf_error err;

	cr_assert_eq(hf_file_mkdir_path(other), 0);
	other_fd = hf_file_open_directory(other);
	cr_assert(other_fd >= 0);
	cr_expect_eq(
		try_open(s.store_path, other, other_fd, HF_STORE_MAKE, &err),
		HF_ERR_DENIED);
	cr_expect(strstr(err.text, "belongs to '"), "%s", err.text);
	cr_expect(strstr(err.text, s.root), "%s", err.text);
	cr_expect(strstr(err.hint, "holdfast store adopt"), "%s", err.hint);
	cr_expect(strstr(err.hint, "--store DIR"), "%s", err.hint);

	cr_assert_eq(hf_store_adopt(s.store_path, other, other_fd, &err), 0);
	cr_expect_eq(
		try_open(s.store_path, other, other_fd, HF_STORE_MAKE, &err),
		0);
	cr_expect_eq(
		try_open(s.store_path, s.root, s.root_fd, HF_STORE_MAKE, &err),
		HF_ERR_DENIED);
}

Test(store, another_directory_at_the_same_path_is_refused)
{
	cleanup_free char *aside = hf_path_join(s.dir, "aside");
	cleanup_fd int new_fd = -1;
	struct hf_error err;

	cr_assert_eq(rename(s.root, aside), 0);
	cr_assert_eq(hf_file_mkdir_path(s.root), 0);
	new_fd = hf_file_open_directory(s.root);
	cr_assert(new_fd >= 0);
	cr_expect_eq(
		try_open(s.store_path, s.root, new_fd, HF_STORE_MAKE, &err),
		HF_ERR_DENIED);
	cr_expect(strstr(err.text, "another directory at this path"), "%s",
		  err.text);
	cr_expect(strstr(err.hint, "holdfast store adopt"), "%s", err.hint);
	cr_assert_eq(hf_store_adopt(s.store_path, s.root, new_fd, &err), 0);
	cr_expect_eq(
		try_open(s.store_path, s.root, new_fd, HF_STORE_MAKE, &err), 0);
}

/* Written as for a root of this identity, the store is opened for ours. */
static int open_written(uint64_t dev, uint64_t ino, const char *born)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	hf_buffer_printf(&text,
			 "{\"holdfast-store\":1,\"root\":\"%s\","
			 "\"dev\":\"%" PRIu64 "\",\"ino\":\"%" PRIu64
			 "\"%s}\n",
			 s.root, dev, ino, born);
	hf_put_file(s.store.dir_fd, HF_STORE_IDENTITY_NAME, text.data);
	return try_open(s.store_path, s.root, s.root_fd, HF_STORE_MAKE, &err);
}

Test(store, the_device_of_the_root_may_get_another_number)
{
	const uint64_t born_ns = hf_file_birth_ns(s.root_fd);
	char born[64];
	struct hf_stat at;
	unsigned traits;

	cr_assert_eq(hf_file_stat(s.root_fd, &at), 0);
	(void)snprintf(born, sizeof(born), ",\"born\":\"%" PRIu64 "\"",
		       born_ns);
	cr_expect_eq(open_written(at.dev, at.ino, ""), 0);
	cr_expect_eq(open_written(at.dev + 1, at.ino, ""), 0);
	cr_expect_eq(open_written(at.dev + 1, at.ino, born), 0);
	cr_expect_eq(open_written(at.dev, at.ino + 1, born), HF_ERR_DENIED);
	cr_expect_eq(open_written(at.dev + 1, at.ino + 1, born),
		     HF_ERR_DENIED);
	cr_expect_eq(open_written(at.dev, at.ino, ",\"born\":7"),
		     HF_ERR_CORRUPT);
	if (born_ns == 0)
		return;
	/* As the root of a mount does, another directory has the number... */
	cr_expect_eq(open_written(at.dev + 1, at.ino, ",\"born\":\"7\""),
		     HF_ERR_DENIED);
	/* ...on another tmpfs with the same device even. */
	cr_assert_eq(hf_file_system_traits(s.root_fd, &traits), 0);
	cr_expect_eq(open_written(at.dev, at.ino, ",\"born\":\"7\""),
		     (traits & HF_FS_OVERLAY) != 0 ? 0 : HF_ERR_DENIED);
}

Test(store, open_to_others_it_is_refused)
{
	struct hf_error err;

	cr_assert_eq(hf_file_set_mode(s.store.dir_fd, 0750), 0);
	cr_expect_eq(
		try_open(s.store_path, s.root, s.root_fd, HF_STORE_MAKE, &err),
		HF_ERR_DENIED);
	cr_expect(strstr(err.text, "open to other users"), "%s", err.text);
	cr_expect(strstr(err.hint, "chmod 700"), "%s", err.hint);
}

Test(store, of_another_user_it_is_refused)
{
	struct hf_error err;

	if (!hf_system_is_root())
		hf_skip(teardown, "only root can give a directory away");
	cr_assert_eq(hf_file_set_owner(s.store.dir_fd, 12345, 12345), 0);
	cr_expect_eq(
		try_open(s.store_path, s.root, s.root_fd, HF_STORE_MAKE, &err),
		HF_ERR_DENIED);
	cr_expect(strstr(err.text, "another user"), "%s", err.text);
}

Test(store, what_stands_in_store_json)
{
	static const struct {
		const char *name;
		const char *text;
		int code;
	} cases[] = {
		{"empty", "", HF_ERR_CORRUPT},
		{"no JSON", "{", HF_ERR_CORRUPT},
		{"no object", "[]", HF_ERR_CORRUPT},
		{"another version",
		 "{\"holdfast-store\":2,\"root\":\"/\",\"dev\":\"1\","
		 "\"ino\":\"1\"}",
		 HF_ERR_UNSUPPORTED},
		{"no root",
		 "{\"holdfast-store\":1,\"dev\":\"1\",\"ino\":\"1\"}",
		 HF_ERR_CORRUPT},
		{"no number",
		 "{\"holdfast-store\":1,\"root\":\"/\",\"dev\":\"x\","
		 "\"ino\":\"1\"}",
		 HF_ERR_CORRUPT},
		{"another root",
		 "{\"holdfast-store\":1,\"root\":\"/\",\"dev\":\"1\","
		 "\"ino\":\"1\"}\n",
		 HF_ERR_DENIED},
	};

	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		struct hf_error err;

		hf_put_file(s.store.dir_fd, "store.json", cases[i].text);
		cr_expect_eq(try_open(s.store_path, s.root, s.root_fd,
				      HF_STORE_MAKE, &err),
			     cases[i].code, "%s: %s", cases[i].name, err.text);
	}
}

Test(store, a_directory_with_something_else_does_not_become_one)
{
	cleanup_free char *path = hf_path_join(s.dir, "home");
	cleanup_fd int fd = -1;
	struct hf_error err;

	cr_assert_eq(hf_file_mkdir_path(path), 0);
	fd = hf_file_open_directory(path);
	cr_assert(fd >= 0);
	hf_put_file(fd, "letter.txt", "x");
	cr_assert_eq(hf_file_set_mode(fd, 0755), 0);
	cr_expect_eq(try_open(path, s.root, s.root_fd, HF_STORE_MAKE, &err),
		     HF_ERR_DENIED);
	cr_expect(strstr(err.text, "cannot use '") == err.text, "%s", err.text);
	cr_expect(strstr(err.text, "neither a store nor empty"), "%s",
		  err.text);
	cr_expect_eq(hf_count_names(fd, ""), 1);

	/* Empty, it is taken, although mkdir(1) left it open. */
	cr_assert_eq(hf_file_unlink_at(fd, "letter.txt"), 0);
	cr_expect_eq(try_open(path, s.root, s.root_fd, HF_STORE_MAKE, &err), 0);
}

Test(store, where_nothing_can_be_made_there_is_a_hint)
{
	struct hf_error err;

	cr_expect_eq(try_open("/proc/self/nowhere/store", s.root, s.root_fd,
			      HF_STORE_MAKE, &err),
		     HF_ERR_SYSTEM);
	cr_expect(strstr(err.hint, "--store DIR"), "%s", err.hint);
}

/* -- the lock ------------------------------------------------------------- */

Test(store, the_lock_is_held_by_one)
{
	cleanup_store struct hf_store other = HF_STORE_INIT;
	struct hf_error err;

	cr_assert_eq(hf_store_open(&other, s.store_path, s.root, s.root_fd,
				   HF_STORE_MUST_EXIST, &err),
		     0);
	cr_assert_eq(hf_store_lock(&s.store, true, &err), 0);
	cr_expect_eq(hf_store_lock(&other, false, &err), HF_ERR_BUSY);
	cr_expect(strstr(err.text, "in use by another holdfast"), "%s",
		  err.text);
	hf_store_unlock(&s.store);
	cr_expect_eq(hf_store_lock(&other, false, &err), 0);
}

/* -- names ---------------------------------------------------------------- */

Test(store, names_that_are_none_are_ignored)
{
	static const char *const good[] = {
		"000002-20261130T030007Z.open",
		"000010-20200101T000000Z.open",
		"999999-20200101T000000Z.open",
		"1000000-20200101T000000Z.open",
	};
	static const char *const bad[] = {
		"00001-20261130T030007Z.open",
		"000001-20261130T030007.open",
		"000001-20261130T030007Z.done",
		"000001-20261130T030007Z",
		"000001-20261130T030007Z.open2",
		"000001.open",
		"x00001-20261130T030007Z.open",
		"9999999999-20261130T030007Z.open",
		"99999999999999999999999999999-20261130T030007Z.open",
		".holdfast-0123456789abcdef",
	};
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	const int fd = s.store.folder_fd[HF_STORE_SESSIONS];
	struct hf_error err;

	for (size_t i = 0; i < HF_COUNT(bad); i++)
		hf_put_file(fd, bad[i], "");
	for (size_t i = HF_COUNT(good); i-- > 0;)
		hf_put_file(fd, good[i], "");
	cr_assert_eq(hf_store_list(&s.store, HF_STORE_SESSIONS, ".open", &names,
				   &err),
		     0);
	cr_assert_eq(names.count, HF_COUNT(good));
	for (size_t i = 0; i < names.count; i++)
		cr_expect_eq(strncmp(names.items[i].text, good[i],
				     strlen(names.items[i].text)),
			     0, "%s", names.items[i].text);
	cr_expect_eq(hf_name_number(&names.items[3]), 1000000);
}

Test(store, the_next_name_counts_up_over_all_suffixes)
{
	const int fd = s.store.folder_fd[HF_STORE_SESSIONS];
	struct hf_name name;
	struct hf_name parsed;
	struct hf_error err;

	cr_assert_eq(
		hf_store_next_name(&s.store, HF_STORE_SESSIONS, &name, &err),
		0);
	cr_expect_eq(hf_name_number(&name), 1);
	cr_expect(hf_name_parse(name.text, &parsed), "%s", name.text);

	hf_put_file(fd, "000041-20261130T030007Z.done", "");
	hf_put_file(fd, "000007-20991130T030007Z.open", "");
	cr_assert_eq(
		hf_store_next_name(&s.store, HF_STORE_SESSIONS, &name, &err),
		0);
	cr_expect_eq(hf_name_number(&name), 42);
	cr_expect_eq(strncmp(name.text, "000042-2", 8), 0, "%s", name.text);

	hf_put_file(fd, "999999999-20991130T030007Z.open", "");
	cr_expect_eq(
		hf_store_next_name(&s.store, HF_STORE_SESSIONS, &name, &err),
		HF_ERR_LIMIT);
}

Test(store, what_a_person_types)
{
	static const struct {
		const char *typed;
		const char *name; /* NULL: refused */
	} cases[] = {
		{"000042-20261130T030007Z", "000042-20261130T030007Z"},
		{"42", "000042-20261130T030007Z"},
		{"000042", "000042-20261130T030007Z"},
		{"000042-2026", "000042-20261130T030007Z"},
		{"00004", "000004-20261130T030008Z"},
		{"0000", NULL},
		{"4", "000004-20261130T030008Z"},
		{"5", NULL},
		{"", NULL},
		{"x", NULL},
		{"../42", NULL},
		{"99999999999999999999999", NULL},
		{"000042-20261130T030007Z.done", NULL},
	};
	const int fd = s.store.folder_fd[HF_STORE_SESSIONS];

	hf_put_file(fd, "000042-20261130T030007Z.done", "");
	hf_put_file(fd, "000004-20261130T030008Z.open", "");
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		struct hf_name name = {.text = "untouched"};
		struct hf_error err;
		const int rc = hf_store_resolve(&s.store, HF_STORE_SESSIONS,
						cases[i].typed, &name, &err);

		cr_expect_eq(rc, cases[i].name ? 0 : HF_ERR_USAGE, "'%s'",
			     cases[i].typed);
		cr_expect_str_eq(name.text,
				 cases[i].name ? cases[i].name : "untouched");
	}
}

Test(store, the_time_of_a_name)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} cases[] = {
		{"000001-19700101T000000Z", 0},
		{"000042-20261130T030007Z", 1796007607},
		{"12345678-20261130T030007Z", 1796007607},
		{"000001-20261399T000000Z", -1},
		{"000001-20261130T250000Z", -1},
	};

	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		struct hf_name name;

		cr_assert(hf_name_parse(cases[i].name, &name));
		cr_expect_eq(hf_name_time_ns(&name),
			     cases[i].seconds < 0
				     ? INT64_MAX
				     : cases[i].seconds * 1000000000,
			     "%s: %lld", cases[i].name,
			     (long long)hf_name_time_ns(&name));
	}
}

/* -- sweeping and measuring ----------------------------------------------- */

Test(store, the_sweep_takes_what_a_crash_left_and_no_more)
{
	static const char temporary[] = ".holdfast-0123456789abcdef";
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];
	const int kept_fd = s.store.folder_fd[HF_STORE_KEPT];
	cleanup_fd int deep_fd = -1;
	struct hf_error err;
	struct hf_stat stat;

	hf_put_file(s.store.dir_fd, temporary, "x");
	hf_put_file(packs_fd, temporary, "x");
	hf_put_file(packs_fd, "000001.index", "alone");
	hf_put_file(packs_fd, "000002.index", "x");
	hf_put_file(packs_fd, "000002.tar.zst", "x");
	hf_put_file(packs_fd, ".holdfast-notes", "of a person");
	cr_assert_eq(hf_file_mkdir_at(kept_fd, temporary, 0700), 0);
	deep_fd = hf_file_open_directory_at(kept_fd, temporary);
	cr_assert(deep_fd >= 0);
	hf_put_file(deep_fd, "inside", "x");
	cr_assert_eq(hf_file_mkdir_at(deep_fd, "more", 0700), 0);

	cr_assert(hf_store_sweep(&s.store, &err) == 0, "%s", err.text);
	cr_expect_eq(hf_file_stat_at(s.store.dir_fd, temporary, &stat),
		     -ENOENT);
	cr_expect_eq(hf_count_names(kept_fd, ""), 0);
	cr_expect_eq(hf_count_names(packs_fd, ""), 3);
	cr_expect_eq(hf_file_stat_at(packs_fd, "000001.index", &stat), -ENOENT);
	cr_expect_eq(hf_file_stat_at(packs_fd, ".holdfast-notes", &stat), 0);
}

Test(store, a_link_is_swept_and_not_followed)
{
	const int kept_fd = s.store.folder_fd[HF_STORE_KEPT];
	struct hf_error err;

	hf_put_file(s.root_fd, "precious", "x");
	cr_assert_eq(hf_file_symlink_at(s.root, kept_fd,
					".holdfast-0123456789abcdef"),
		     0);
	cr_assert_eq(hf_store_sweep(&s.store, &err), 0);
	cr_expect_eq(hf_count_names(kept_fd, ""), 0);
	cr_expect(hf_file_has(s.root_fd, "precious", "x"));
}

Test(store, its_size_is_that_of_all_files)
{
	const int kept_fd = s.store.folder_fd[HF_STORE_KEPT];
	cleanup_fd int deep_fd = -1;
	uint64_t before;
	uint64_t after;
	struct hf_error err;

	cr_assert_eq(hf_store_size(&s.store, &before, &err), 0);
	cr_assert_eq(hf_file_mkdir_at(kept_fd, "a", 0700), 0);
	deep_fd = hf_file_open_directory_at(kept_fd, "a");
	cr_assert(deep_fd >= 0);
	hf_put_file(deep_fd, "b", "12345");
	hf_put_file(s.store.folder_fd[HF_STORE_PACKS], "000001.index", "123");
	cr_assert_eq(hf_store_size(&s.store, &after, &err), 0);
	cr_expect_eq(after - before, 8);
}

Test(store, a_failed_open_leaks_no_descriptor)
{
	const int fds = hf_open_descriptors();
	struct hf_error err;

	hf_put_file(s.store.dir_fd, "store.json", "{");
	cr_expect_eq(
		try_open(s.store_path, s.root, s.root_fd, HF_STORE_MAKE, &err),
		HF_ERR_CORRUPT);
	cr_expect_eq(hf_open_descriptors(), fds);
}
