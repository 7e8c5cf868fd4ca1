/* SPDX-License-Identifier: MIT */
/* A pack that is gone or cut: noticed at once, and healed from the tree. */
#include "core/pack_lost.h"

#include <criterion/criterion.h>
#include <unistd.h>

#include "core/snapshot_lost.h"
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

TestSuite(pack_lost, .init = setup, .fini = teardown);

/* Changed long before any scan: the stat cache believes it. */
static void put_old(const char *name, const char *text)
{
	hf_put_file(s.root_fd, name, text);
	(void)usleep(20000);
}

static void remove_pack_file(const char *name)
{
	cr_assert_eq(hf_file_unlink_at(s.store.folder_fd[HF_STORE_PACKS], name),
		     0);
}

static void take(struct hf_manifest *manifest,
		 struct hf_snapshot_result *result)
{
	hf_manifest_done(manifest);
	*manifest = (struct hf_manifest)HF_MANIFEST_INIT;
	hf_stored_take(&s, manifest, result);
}

/* The newest snapshot that needs what is lost. */
static struct hf_name find_lost(const struct hf_manifest *newest,
				struct hf_pack_lost *lost)
{
	struct hf_name name = {""};
	struct hf_error err;

	cr_assert_eq(hf_snapshot_find_lost(&s.store, &newest->tree, lost, &name,
					   &err),
		     0);
	return name;
}

static void cut_pack(void)
{
	cleanup_fd int fd = hf_file_open_write_at(
		s.store.folder_fd[HF_STORE_PACKS], "000001.tar.zst");

	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_truncate(fd, 20), 0);
}

static void lose_pack(void)
{
	remove_pack_file("000001.tar.zst");
}

static void lose_both(void)
{
	remove_pack_file("000001.tar.zst");
	remove_pack_file("000001.index");
}

Test(pack_lost, what_the_tree_still_has_is_archived_again)
{
	static void (*const damages[])(void) = {lose_pack, lose_both, cut_pack};

	for (size_t i = 0; i < HF_COUNT(damages); i++) {
		cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
		cleanup_manifest struct hf_manifest loaded = HF_MANIFEST_INIT;
		struct hf_snapshot_result result;
		struct hf_error err;

		if (i > 0) {
			teardown();
			setup();
		}
		put_old("a.toml", "a");
		put_old("b.toml", "b");
		take(&taken, &result);
		cr_expect_eq(result.lost.count, 0);
		damages[i]();
		cr_expect_neq(hf_stored_check(&s.store, &taken.tree, &err), 0);

		take(&taken, &result);
		cr_expect_eq(result.lost.count, 1, "case %zu", i);
		cr_expect_eq(result.lost.first, 1);
		cr_expect_eq(result.archived, 2, "case %zu", i);
		cr_expect_not(result.is_new);
		cr_assert_eq(hf_snapshot_load_newest(&s.store, &loaded, &err),
			     0);
		cr_expect_str_eq(loaded.name.text, taken.name.text);
		cr_expect_eq(hf_stored_check(&s.store, &loaded.tree, &err), 0,
			     "case %zu: %s", i, err.text);
		/* The number is not given again. */
		cr_expect_eq(loaded.tree.entries[1].location.pack, 2);

		take(&taken, &result);
		cr_expect_eq(result.lost.count, 0);
		cr_expect_eq(result.archived, 0);
	}
}

/* An index is a help: without it nothing is lost. */
Test(pack_lost, a_pack_without_an_index_is_whole)
{
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	put_old("a.toml", "a");
	take(&taken, &result);
	remove_pack_file("000001.index");
	take(&taken, &result);
	cr_expect_eq(result.lost.count, 0);
	cr_expect_eq(result.archived, 0);
}

/* Only a file that changed meanwhile differs: the rest is no drift. */
Test(pack_lost, a_changed_file_makes_a_snapshot)
{
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_pack_lost lost;
	struct hf_name name;
	struct hf_error err;

	put_old("a.toml", "a");
	put_old("b.toml", "b");
	take(&taken, &result);
	lose_pack();
	put_old("b.toml", "changed");
	take(&taken, &result);
	cr_expect(result.is_new);
	cr_expect_eq(result.archived, 2);
	cr_expect_eq(hf_stored_check(&s.store, &taken.tree, &err), 0, "%s",
		     err.text);

	/* The old "b" is lost for good. */
	name = find_lost(&taken, &lost);
	cr_expect_eq(lost.count, 1);
	cr_expect_eq(lost.first, 1);
	cr_expect_eq(hf_name_number(&name), 1);
}

/* A number that no snapshot refers to is a gap and no loss. */
Test(pack_lost, only_what_is_referred_to_is_lost)
{
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_pack_lost lost;

	put_old("a.toml", "a");
	take(&taken, &result);
	lose_both();
	take(&taken, &result);
	(void)find_lost(&taken, &lost);
	cr_expect_eq(lost.count, 0);

	remove_pack_file("000002.tar.zst");
	(void)find_lost(&taken, &lost);
	cr_expect_eq(lost.count, 1);
	cr_expect_eq(lost.first, 2);
}
