/* SPDX-License-Identifier: MIT */
/*
 * Read an archive member by member, knowing at each what may come.
 *
 * Contents go to packs as they do when a tree is recorded; a manifest, with the
 * places where its contents lie now, waits under a temporary name until the
 * last content of all is on the disk.  A failure before that leaves nothing.
 */
#include "core/import.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/archiver.h"
#include "core/content.h"
#include "core/export.h"
#include "core/import_commit.h"
#include "core/journal_text.h"
#include "core/json.h"
#include "core/pack.h"
#include "core/pack_lost.h"
#include "core/pack_member.h"

#define HEADER_MAX 4096

/* What the member is that is being read. */
enum part { PART_NONE, PART_HEADER, PART_MANIFEST, PART_FILE };

struct importing {
	const struct hf_store *store;
	const char *what;
	struct hf_archiver *archiver;
	struct hf_scan_sink sink;
	struct hf_import_commit commit;
	size_t begun;		     /* snapshots so far */
	struct hf_manifest manifest; /* of the newest of those */
	struct hf_name original;     /* its name in the archive */
	bool *is_seen;		     /* of each of its entries */
	enum part part;
	struct hf_buffer text;
	struct hf_entry entry; /* the file that is read */
	struct hf_hash wanted;
	size_t index;
	struct hf_import_result result;
};

static void importing_done(struct importing *im)
{
	hf_archiver_free(&im->archiver);
	hf_import_commit_done(&im->commit);
	hf_manifest_done(&im->manifest);
	hf_free_pointee(&im->is_seen);
	hf_buffer_done(&im->text);
	hf_free_pointee(&im->result.root);
}

PRINTF_LIKE(3, 4)
static int fail(const struct importing *im, struct hf_error *err,
		const char *fmt, ...)
{
	char reason[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	return hf_fail(err, HF_ERR_CORRUPT, "cannot import %s: %s", im->what,
		       reason);
}

/* -- the header -------------------------------------------------------------
 */

static int end_header(struct importing *im, struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	struct hf_error ignored;
	uint64_t version = 0;
	uint64_t count = 0;
	size_t len = im->text.len;

	if (len > 0 && im->text.data[len - 1] == '\n')
		len--;
	if (!im->text.data ||
	    hf_json_parse_line(im->text.data, len, &json, &ignored) < 0 ||
	    !hf_json_number(hf_json_get(hf_json_root(json), "holdfast-export"),
			    &version))
		return fail(im, err, "its first line is damaged");
	if (version != HF_EXPORT_VERSION)
		return hf_fail(err, HF_ERR_UNSUPPORTED,
			       "cannot import %s: it has format %" PRIu64
			       ", known is %d",
			       im->what, version, HF_EXPORT_VERSION);
	if (!hf_json_number(hf_json_get(hf_json_root(json), "snapshots"),
			    &count) ||
	    count == 0 || count > HF_EXPORT_SNAPSHOTS_MAX)
		return fail(im, err, "it has no snapshots, or too many");
	return hf_import_commit_begin(&im->commit, im->store, (size_t)count,
				      err);
}

/* -- a snapshot -------------------------------------------------------------
 */

static bool has_content(const struct hf_entry *entry)
{
	return entry->stat.kind == HF_KIND_FILE && entry->has_hash;
}

/* What it says of the file system is of another one. */
static void forget_places(struct hf_entry *entry)
{
	entry->stat.dev = 0;
	entry->stat.ino = 0;
	entry->stat.ctime_ns = 0;
	entry->stat.nlink = 1;
	entry->is_racy = entry->stat.kind != HF_KIND_ABSENT;
	entry->location = (struct hf_location){.pack = 0};
}

static int end_manifest(struct importing *im, struct hf_error *err)
{
	struct hf_manifest *const manifest = &im->manifest;
	struct hf_error found;
	int rc;

	rc = hf_manifest_decode(im->original.text, im->text.data, im->text.len,
				manifest, &found);
	if (rc == HF_ERR_CORRUPT)
		return fail(im, err, "%s", found.text);
	if (rc < 0) {
		*err = found;
		return rc;
	}
	if (strcmp(manifest->name.text, im->original.text) != 0)
		return fail(im, err, "the manifest '%s' is called '%s'",
			    manifest->name.text, im->original.text);
	im->is_seen = calloc(manifest->tree.count + 1, sizeof(bool));
	if (!im->is_seen)
		return hf_fail_memory(err);
	for (size_t i = 0; i < manifest->tree.count; i++)
		forget_places(&manifest->tree.entries[i]);
	hf_buffer_clear(&im->text);
	if (im->begun++ > 0)
		return 0;
	im->result.original = im->original;
	im->result.root = strdup(manifest->root);
	return im->result.root ? 0 : hf_fail_memory(err);
}

/* Where each content is that the archive does not have under that name. */
static int place_rest(struct importing *im, struct hf_error *err)
{
	struct hf_tree *const tree = &im->manifest.tree;

	for (size_t i = 0; i < tree->count; i++) {
		struct hf_entry *const entry = &tree->entries[i];
		int rc;

		if (!has_content(entry))
			continue;
		im->result.files++;
		if (im->is_seen[i])
			continue;
		rc = hf_archiver_find(im->archiver, entry, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			return fail(im, err, "the content of '%s' is missing",
				    HF_QUOTE(entry->path));
	}
	return 0;
}

/* All of its members were read. */
static int end_snapshot(struct importing *im, struct hf_error *err)
{
	int rc;

	if (im->begun == 0)
		return 0;
	rc = place_rest(im, err);
	if (rc == 0)
		rc = hf_import_commit_add(&im->commit, &im->manifest, err);
	hf_manifest_done(&im->manifest);
	im->manifest = (struct hf_manifest)HF_MANIFEST_INIT;
	hf_free_pointee(&im->is_seen);
	return rc;
}

/* -- members ----------------------------------------------------------------
 */

static int begin_text(struct importing *im, enum part part, uint64_t size,
		      uint64_t max, struct hf_error *err)
{
	if (size > max)
		return fail(im, err, "its text is too large");
	im->part = part;
	hf_buffer_clear(&im->text);
	return 0;
}

/* "000042-20261130T030007Z.manifest" */
static bool parse_manifest_name(const char *text, struct hf_name *ret_name)
{
	const size_t len = strlen(text);
	const size_t suffix_len = strlen(HF_EXPORT_MANIFEST);
	char name[sizeof(ret_name->text)];

	if (len <= suffix_len || len - suffix_len >= sizeof(name) ||
	    strcmp(text + len - suffix_len, HF_EXPORT_MANIFEST) != 0)
		return false;
	memcpy(name, text, len - suffix_len);
	name[len - suffix_len] = '\0';
	return hf_name_parse(name, ret_name);
}

static int begin_manifest(struct importing *im, const struct hf_name *name,
			  uint64_t size, struct hf_error *err)
{
	int rc;

	if (im->begun > 0 &&
	    hf_name_number(name) >= hf_name_number(&im->original))
		return fail(im, err, "snapshot '%s' does not come before '%s'",
			    name->text, im->original.text);
	if (im->begun == im->commit.count)
		return fail(im, err, "it has more snapshots than it says");
	rc = end_snapshot(im, err);
	if (rc < 0)
		return rc;
	im->original = *name;
	return begin_text(im, PART_MANIFEST, size, HF_EXPORT_MANIFEST_MAX, err);
}

/* The entry that a member is the content of; NULL when it is none's. */
static struct hf_entry *find_entry(struct importing *im, const char *name)
{
	const size_t len = strlen(im->original.text);
	cleanup_free char *path = NULL;

	if (im->begun == 0 || strncmp(name, im->original.text, len) != 0 ||
	    name[len] != '/')
		return NULL;
	path = hf_pack_member_path(name + len + 1);
	return path ? hf_tree_find(&im->manifest.tree, path) : NULL;
}

static int begin_file(struct importing *im, const struct hf_pack_item *item,
		      struct hf_error *err)
{
	struct hf_entry *const entry = find_entry(im, item->name);

	if (!entry || !has_content(entry))
		return fail(im, err, "its manifest has no file '%s'",
			    HF_QUOTE(item->name));
	im->index = (size_t)(entry - im->manifest.tree.entries);
	if (im->is_seen[im->index])
		return fail(im, err, "'%s' is in it twice",
			    HF_QUOTE(item->name));
	if (item->size != entry->stat.size || item->size > HF_CONTENT_MAX)
		return fail(im, err, "'%s' has a wrong size",
			    HF_QUOTE(item->name));
	im->is_seen[im->index] = true;
	im->part = PART_FILE;
	im->entry = *entry;
	im->wanted = entry->hash;
	return im->sink.begin(im->sink.context, 0, &im->entry, err);
}

static int begin(void *context, const struct hf_pack_item *item,
		 struct hf_error *err)
{
	struct importing *const im = context;
	struct hf_name name;

	im->part = PART_NONE;
	if (!item->is_file)
		return fail(im, err, "'%s' is no regular file",
			    HF_QUOTE(item->name));
	if (im->commit.count == 0) {
		if (strcmp(item->name, HF_EXPORT_HEADER) != 0)
			return fail(im, err,
				    "it was not made by 'holdfast export'");
		return begin_text(im, PART_HEADER, item->size, HEADER_MAX, err);
	}
	return parse_manifest_name(item->name, &name)
		       ? begin_manifest(im, &name, item->size, err)
		       : begin_file(im, item, err);
}

static int data(void *context, const void *bytes, size_t len,
		struct hf_error *err)
{
	struct importing *const im = context;

	if (im->part == PART_FILE)
		return im->sink.data(im->sink.context, 0, bytes, len, err);
	hf_buffer_add(&im->text, bytes, len);
	return hf_buffer_check(&im->text, err);
}

static int end(void *context, const struct hf_hash *hash, struct hf_error *err)
{
	struct importing *const im = context;
	int rc;

	if (im->part == PART_HEADER)
		return end_header(im, err);
	if (im->part == PART_MANIFEST)
		return end_manifest(im, err);
	if (!hf_hash_equal(hash, &im->wanted))
		return fail(im, err, "the content of '%s' has another hash",
			    HF_QUOTE(im->entry.path));
	rc = im->sink.end(im->sink.context, 0, &im->entry, err);
	if (rc == 0)
		im->manifest.tree.entries[im->index].location =
			im->entry.location;
	return rc;
}

/* -- all of it --------------------------------------------------------------
 */

static int read_all(struct importing *im, int fd, struct hf_error *err)
{
	const struct hf_pack_listener listener = {
		.context = im,
		.begin = begin,
		.data = data,
		.end = end,
	};
	int rc;

	rc = hf_pack_listen(fd, im->what, &listener, err);
	if (rc == 0 && (im->commit.count == 0 || im->begun < im->commit.count))
		return fail(im, err, "it ends too early");
	return rc < 0 ? rc : end_snapshot(im, err);
}

/* Packs that were full have their names: of a failed import they are of no use.
 */
static void remove_packs(const struct hf_store *store,
			 const struct hf_packs *before)
{
	cleanup_packs struct hf_packs now = HF_PACKS_INIT;
	const uint32_t last =
		before->count > 0 ? before->items[before->count - 1] : 0;
	struct hf_error ignored;

	if (hf_packs_add_there(&now, store, &ignored) < 0)
		return;
	for (size_t i = 0; i < now.count; i++)
		if (now.items[i] > last)
			(void)!hf_pack_remove(store, now.items[i]);
}

static int import(struct importing *im, int fd, struct hf_error *err)
{
	cleanup_packs struct hf_packs before = HF_PACKS_INIT;
	int rc;

	rc = hf_packs_add_there(&before, im->store, err);
	if (rc == 0)
		rc = hf_import_last_pack(im->store, &before, err);
	if (rc == 0)
		rc = hf_archiver_new(
			im->store, NULL,
			before.count > 0 ? before.items[before.count - 1] : 0,
			NULL, &im->archiver, err);
	if (rc < 0)
		return rc;
	im->sink = hf_archiver_sink(im->archiver);
	rc = read_all(im, fd, err);
	if (rc == 0)
		rc = hf_archiver_commit(im->archiver, &im->result.archived,
					&im->result.archived_bytes, err);
	if (rc < 0)
		remove_packs(im->store, &before);
	return rc < 0 ? rc : hf_import_commit(&im->commit, err);
}

int hf_import(const struct hf_store *store, int fd, const char *what,
	      struct hf_import_result *ret_result, struct hf_error *err)
{
	CLEANUP(importing_done)
	struct importing im = {
		.store = store,
		.what = what,
		.commit = HF_IMPORT_COMMIT_INIT,
		.manifest = HF_MANIFEST_INIT,
		.text = HF_BUFFER_INIT,
	};
	const int rc = import(&im, fd, err);

	if (rc < 0)
		return rc;
	im.result.snapshots = im.commit.count;
	im.result.first = im.commit.names[im.commit.count - 1];
	im.result.last = im.commit.names[0];
	*ret_result = im.result;
	im.result.root = NULL;
	return 0;
}
