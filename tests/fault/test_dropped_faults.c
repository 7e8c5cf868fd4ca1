/* SPDX-License-Identifier: MIT */
/*
 * Who looks at a store does not lock it: a snapshot may be dropped, and then
 * its pack, between one call and the next.  Neither is lost.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/snapshot_lost.h"
#include "support/check.h"
#include "support/stored.h"

static struct hf_stored s;
static struct hf_name names[3];
/* At the first call with this name what belongs to the second snapshot goes. */
static const char *trigger;
static unsigned triggered;
/* The folder of kept copies that goes when it is opened. */
static const char *folder_trigger;

static void setup(void)
{
	hf_stored_make(&s, "*.toml");
}

static void teardown(void)
{
	hf_stored_remove(&s);
}

TestSuite(dropped_faults, .init = setup, .fini = teardown);

static void drop(size_t index)
{
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];
	char name[32];

	cr_assert_eq(unlinkat(s.store.folder_fd[HF_STORE_SNAPSHOTS],
			      names[index].text, 0),
		     0);
	(void)snprintf(name, sizeof(name), "%06zu.tar.zst", index + 1);
	cr_assert_eq(unlinkat(packs_fd, name, 0), 0);
	(void)snprintf(name, sizeof(name), "%06zu.index", index + 1);
	cr_assert_eq(unlinkat(packs_fd, name, 0), 0);
}

static void pull(const char *name)
{
	if (!trigger || strcmp(name, trigger) != 0)
		return;
	trigger = NULL;
	triggered++;
	drop(1);
}

int __real_openat64(int dir_fd, const char *name, int flags, ...);
int __real_fstatat64(int dir_fd, const char *name, struct stat *stat,
		     int flags);
int __wrap_openat64(int dir_fd, const char *name, int flags, ...);
int __wrap_fstatat64(int dir_fd, const char *name, struct stat *stat,
		     int flags);

int __wrap_openat64(int dir_fd, const char *name, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	pull(name);
	if (folder_trigger && strcmp(name, folder_trigger) == 0) {
		folder_trigger = NULL;
		(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
	}
	return __real_openat64(dir_fd, name, flags, mode);
}

int __wrap_fstatat64(int dir_fd, const char *name, struct stat *stat, int flags)
{
	pull(name);
	return __real_fstatat64(dir_fd, name, stat, flags);
}

/* The first was dropped before: a number is missing, so all are looked at. */
static void expect_nothing_lost(const char *name)
{
	cleanup_manifest struct hf_manifest newest = HF_MANIFEST_INIT;
	struct hf_pack_lost lost = {.count = 99};
	struct hf_snapshot_result result;
	struct hf_name snapshot = {""};
	struct hf_error err = {.text = ""};
	uint64_t bytes;
	int fds;

	for (unsigned i = 0; i < 3; i++) {
		char text[16];

		(void)snprintf(text, sizeof(text), "key = %u\n", i);
		hf_put_file(s.root_fd, "a.toml", text);
		hf_manifest_done(&newest);
		hf_stored_take(&s, &newest, &result);
		names[i] = newest.name;
	}
	drop(0);
	fds = hf_open_descriptors();
	trigger = name ? name : names[1].text;
	cr_expect(hf_snapshot_find_lost(&s.store, &newest.tree, &lost,
					&snapshot, &err) == 0,
		  "%s", err.text);
	cr_expect_eq(triggered, 1);
	cr_expect_eq(lost.count, 0, "%s is lost", snapshot.text);
	cr_expect_eq(hf_store_size(&s.store, &bytes, &err), 0);
	cr_expect_eq(hf_open_descriptors(), fds);
}

Test(dropped_faults, before_it_is_opened)
{
	expect_nothing_lost(NULL);
}

Test(dropped_faults, when_its_pack_is_looked_at)
{
	expect_nothing_lost("000002.tar.zst");
}

/* Copies that are measured: their folder is gone before it is entered. */
Test(dropped_faults, a_folder)
{
	static const char folder[] = "000001-20261130T030007Z";
	struct hf_error err = {.text = ""};
	uint64_t bytes;

	cr_assert_eq(mkdirat(s.store.folder_fd[HF_STORE_KEPT], folder, 0700),
		     0);
	folder_trigger = folder;
	cr_expect(hf_store_size(&s.store, &bytes, &err) == 0, "%s", err.text);
	cr_expect_eq(folder_trigger, NULL);
}
