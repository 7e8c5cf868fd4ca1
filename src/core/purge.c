/* SPDX-License-Identifier: MIT */
/*
 * The order of a purge: what refers to something goes before it, journals
 * before the copies they name; what stays of a pack is in another one, on the
 * disk, before a manifest says so; a pack goes when no manifest refers to it.
 */
#include "core/purge.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/journal_text.h"
#include "core/purge_run.h"
#include "core/replace.h"
#include "core/sealed.h"

#define VERSION	    1
#define COUNTED	    "contents"
#define PURGING_MAX ((size_t)256 << 20)

void hf_purge_done(struct hf_purge *purge)
{
	for (size_t i = 0; i < purge->pack_count; i++)
		free(purge->packs[i].members);
	hf_free_pointee(&purge->packs);
	purge->pack_count = 0;
	hf_contents_free(&purge->bad);
	hf_contents_free(&purge->clean);
	hf_buffer_done(&purge->old);
	hf_buffer_done(&purge->lines);
	hf_buffer_done(&purge->shared);
	hf_buffer_done(&purge->gone);
	hf_buffer_done(&purge->unsearched);
}

/* -- what goes --------------------------------------------------------------
 */

static bool is_at_or_beneath(const char *path, const char *top)
{
	return strcmp(path, top) == 0 || hf_path_is_beneath(path, top);
}

bool hf_purge_names(const struct hf_purge *purge, const char *path)
{
	for (size_t i = 0; purge->paths[i]; i++)
		if (is_at_or_beneath(path, purge->paths[i]))
			return true;
	/* Those of a purge that was cut off, each behind a NUL. */
	for (size_t at = 0; at < purge->old.len;
	     at += strlen(purge->old.data + at) + 1)
		if (is_at_or_beneath(path, purge->old.data + at))
			return true;
	return false;
}

bool hf_purge_has(const struct hf_purge *purge, const struct hf_hash *hash,
		  uint64_t size)
{
	return hf_contents_find(purge->bad, hash, size) != NULL;
}

bool hf_purge_wants(const struct hf_purge *purge, const struct hf_entry *entry)
{
	if (entry->has_hash &&
	    hf_purge_has(purge, &entry->hash, entry->stat.size))
		return true;
	return entry->stat.kind != HF_KIND_DIRECTORY &&
	       entry->stat.kind != HF_KIND_ABSENT &&
	       hf_purge_names(purge, entry->path);
}

int hf_purge_add(struct hf_purge *purge, const struct hf_hash *hash,
		 uint64_t size, struct hf_error *err)
{
	const struct hf_location somewhere = {.pack = 1};
	char digits[HF_HASH_TEXT];

	/* Nothing is no secret, and many files hold it. */
	if (size == 0 || hf_purge_has(purge, hash, size))
		return 0;
	purge->contents++;
	hf_buffer_printf(&purge->lines, "{\"hash\":\"%s\",\"size\":",
			 hf_hash_format(hash, digits));
	hf_number_encode(size, &purge->lines);
	hf_buffer_add_text(&purge->lines, "}\n");
	return hf_contents_add(purge->bad, hash, size, somewhere, err);
}

int hf_purge_pass_over(struct hf_purge *purge, const char *folder,
		       const char *name, struct hf_error *err)
{
	if (err->code != HF_ERR_CORRUPT)
		return err->code;
	hf_buffer_printf(&purge->unsearched, "%s/%s\n", folder, HF_QUOTE(name));
	return 0;
}

bool hf_purge_is_empty(const struct hf_purge *purge)
{
	return !purge->is_begun && purge->contents == 0 &&
	       purge->snapshots == 0 && purge->sessions == 0 &&
	       purge->kept == 0;
}

/* -- the file "purging" -----------------------------------------------------
 */

static int read_line(struct hf_purge *purge, const char *line, size_t len,
		     struct hf_arena *arena, struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *root;
	const char *digits;
	const char *path;
	struct hf_hash hash;
	uint64_t size;
	int rc;

	rc = hf_json_parse_line(line, len, &json, err);
	if (rc < 0)
		return rc;
	root = hf_json_root(json);
	digits = hf_json_string(hf_json_get(root, "hash"));
	if (digits && hf_hash_parse(digits, &hash) == 0 &&
	    hf_json_large_number(hf_json_get(root, "size"), &size))
		return hf_purge_add(purge, &hash, size, err);
	if (hf_text_decode(hf_json_get(root, "path"),
			   hf_json_get(root, "path_bytes"), arena, &path) == 0)
		hf_buffer_add(&purge->old, path, strlen(path) + 1);
	return hf_buffer_check(&purge->old, err);
}

/* One that is damaged has got its name by nobody of us: it is written anew. */
static int read_begun(struct hf_purge *purge, struct hf_error *err)
{
	cleanup_fd int fd = hf_file_open_read_at(purge->store->dir_fd,
						 HF_STORE_PURGING_NAME);
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	struct hf_lines lines;
	struct hf_error ignored;
	const char *line;
	size_t len;
	size_t count;
	int rc;

	if (fd == -ENOENT)
		return 0;
	rc = fd < 0 ? fd : hf_file_read_all(fd, PURGING_MAX, &text);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read '%s' of the store",
				      HF_STORE_PURGING_NAME);
	purge->is_begun = true;
	if (!text.data ||
	    hf_sealed_check(HF_STORE_PURGING_NAME, text.data, text.len, COUNTED,
			    &lines, &count, &ignored) < 0)
		return 0;
	while (rc == 0 && hf_lines_next(&lines, &line, &len))
		rc = read_line(purge, line, len, &arena, err);
	return rc == HF_ERR_CORRUPT ? 0 : rc;
}

bool hf_purge_is_begun(const char *store_path)
{
	cleanup_free char *name =
		hf_path_join(store_path, HF_STORE_PURGING_NAME);
	struct hf_stat stat;

	return name && hf_file_stat_path(name, &stat) == 0;
}

static void add_path(const char *path, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "{");
	hf_text_encode("path", path, out);
	hf_buffer_add_text(out, "}\n");
}

static int write_begun(struct hf_purge *purge, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	hf_buffer_printf(&text, "{\"holdfast-purge\":%d}\n", VERSION);
	for (size_t i = 0; purge->paths[i]; i++)
		add_path(purge->paths[i], &text);
	for (size_t at = 0; at < purge->old.len;
	     at += strlen(purge->old.data + at) + 1)
		add_path(purge->old.data + at, &text);
	hf_buffer_add(&text, purge->lines.data, purge->lines.len);
	hf_sealed_end(&text, COUNTED, purge->contents);
	rc = hf_buffer_check(&purge->lines, err);
	if (rc == 0)
		rc = hf_buffer_check(&text, err);
	if (rc < 0)
		return rc;
	purge->is_begun = true;
	return hf_replace_write(purge->store->dir_fd, HF_STORE_PURGING_NAME,
				0600, text.data, text.len, err);
}

static int remove_begun(struct hf_purge *purge, struct hf_error *err)
{
	const int dir_fd = purge->store->dir_fd;
	int rc = hf_file_unlink_at(dir_fd, HF_STORE_PURGING_NAME);

	if (rc == 0)
		rc = hf_file_sync(dir_fd);
	return rc < 0 ? hf_fail_system(err, rc,
				       "cannot remove '%s' of the store",
				       HF_STORE_PURGING_NAME)
		      : 0;
}

/* -- all of it --------------------------------------------------------------
 */

int hf_purge_find(const struct hf_store *store, const char *const *paths,
		  struct hf_purge *purge, struct hf_error *err)
{
	int rc;

	purge->store = store;
	purge->paths = paths;
	rc = hf_contents_new(&purge->bad, err);
	if (rc == 0)
		rc = hf_contents_new(&purge->clean, err);
	if (rc == 0)
		rc = read_begun(purge, err);
	if (rc == 0)
		rc = hf_purge_gather_manifests(purge, err);
	if (rc == 0)
		rc = hf_purge_gather_sessions(purge, err);
	if (rc == 0)
		rc = hf_purge_count_manifests(purge, err);
	if (rc == 0)
		rc = hf_purge_find_packs(purge, err);
	if (rc == 0)
		rc = hf_purge_journals(purge, false, err);
	if (rc == 0)
		rc = hf_purge_kept(purge, false, err);
	return rc;
}

/* A line in the log. */
static int write_journal(const struct hf_purge *purge, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer words = HF_BUFFER_INIT;

	for (size_t i = 0; purge->paths[i]; i++) {
		if (i > 0)
			hf_buffer_add_text(&words, ",");
		hf_buffer_add_json(&words, purge->paths[i],
				   strlen(purge->paths[i]));
	}
	return hf_journal_write_done(purge->store, "purge", "", &words, NULL,
				     err);
}

int hf_purge_apply(struct hf_purge *purge, struct hf_error *err)
{
	int rc;

	rc = write_begun(purge, err);
	if (rc == 0)
		rc = hf_purge_journals(purge, true, err);
	if (rc == 0)
		rc = hf_purge_kept(purge, true, err);
	if (rc == 0)
		rc = hf_purge_move(purge, err);
	if (rc == 0)
		rc = hf_purge_manifests(purge, err);
	if (rc == 0)
		rc = hf_purge_remove_packs(purge, err);
	if (rc == 0)
		rc = write_journal(purge, err);
	/* What cannot be searched now may be one day, and by then nothing else
	 * says what to look for. */
	return rc < 0 || purge->unsearched.len > 0 ? rc
						   : remove_begun(purge, err);
}
