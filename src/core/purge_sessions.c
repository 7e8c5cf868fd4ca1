/* SPDX-License-Identifier: MIT */
/* What sessions have of a path: records in journals, and kept copies. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/content.h"
#include "core/entry_text.h"
#include "core/journal_text.h"
#include "core/kept.h"
#include "core/kept_list.h"
#include "core/pack_member.h"
#include "core/purge_run.h"
#include "core/replace.h"
#include "core/sealed.h"

/* -- journals ---------------------------------------------------------------
 */

static int add_entry(struct hf_purge *purge, const struct hf_entry *entry,
		     struct hf_error *err)
{
	return entry->has_hash && hf_purge_names(purge, entry->path)
		       ? hf_purge_add(purge, &entry->hash, entry->stat.size,
				      err)
		       : 0;
}

static int gather_journal(struct hf_purge *purge, const struct hf_name *name,
			  struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	int rc;

	rc = hf_journal_read(purge->store, name, &record, err);
	if (rc < 0)
		return hf_purge_pass_over(purge, "sessions", name->text, err);
	for (size_t i = 0; rc == 0 && i < record.kept_count; i++) {
		rc = add_entry(purge, record.kept[i].replaced, err);
		if (rc == 0)
			rc = add_entry(purge, record.kept[i].put, err);
	}
	return rc;
}

/* Does the record tell of it?  The entry under that key. */
static bool tells(const struct hf_purge *purge, const hf_json_value *record,
		  const char *key)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	const hf_json_value *const object = hf_json_get(record, key);
	struct hf_error ignored;

	return object && hf_entry_decode(object, &tree, &ignored) == 0 &&
	       tree.count == 1 &&
	       (hf_purge_names(purge, tree.entries[0].path) ||
		hf_purge_wants(purge, &tree.entries[0]));
}

/* Behind an object that begins at text; NULL when it does not end. */
static const char *object_end(const char *text, const char *end)
{
	bool is_string = false;
	unsigned depth = 0;

	for (; text < end; text++) {
		if (is_string && *text == '\\')
			text++;
		else if (*text == '"')
			is_string = !is_string;
		else if (!is_string && *text == '{')
			depth++;
		else if (!is_string && *text == '}' && --depth == 0)
			return text + 1;
	}
	return NULL;
}

/* A violation stays, without what the file was afterwards. */
static void add_without_after(const char *line, size_t len,
			      struct hf_buffer *out)
{
	static const char key[] = ",\"after\":";
	static const char head[] = "{\"record\":\"violation\",";
	static const char sum[] = ",\"sum\":\"";
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	const char *const end = line + len;
	const char *const start = line + sizeof(head) - 1;
	/* Both keys stand in no text: quotes are escaped there. */
	const char *const from = strstr(line, key);
	const char *const to =
		from ? object_end(from + sizeof(key) - 1, end) : NULL;
	const char *const stop = to ? strstr(to, sum) : NULL;

	if (len < sizeof(head) || strncmp(line, head, sizeof(head) - 1) != 0 ||
	    !from || from < start || !stop || stop >= end)
		return;
	hf_buffer_add(&members, start, (size_t)(from - start));
	hf_buffer_add(&members, to, (size_t)(stop - to));
	if (members.is_failed)
		out->is_failed = true;
	else
		hf_journal_line("violation", members.data, out);
}

/* The line as it stays; 1 when it is another one or none. */
static int pass_line(const struct hf_purge *purge, const char *line, size_t len,
		     struct hf_buffer *out)
{
	cleanup_json struct hf_json *json = NULL;
	struct hf_error ignored;
	const hf_json_value *record;

	if (hf_json_parse_line(line, len, &json, &ignored) == 0) {
		record = hf_json_root(json);
		if (tells(purge, record, "replaced") ||
		    tells(purge, record, "put") ||
		    tells(purge, record, "entry"))
			return 1;
		if (tells(purge, record, "after")) {
			add_without_after(line, len, out);
			return 1;
		}
	}
	hf_buffer_add(out, line, len);
	hf_buffer_add(out, "\n", 1);
	return 0;
}

static int purge_journal(struct hf_purge *purge, const struct hf_name *name,
			 bool removes, struct hf_error *err)
{
	const int folder_fd = purge->store->folder_fd[HF_STORE_SESSIONS];
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	char file_name[HF_JOURNAL_FILE_NAME];
	struct hf_lines lines;
	const char *line;
	size_t len;
	int changes = 0;
	cleanup_fd int fd = -1;
	int rc;

	hf_journal_file_name(name, HF_JOURNAL_DONE, file_name);
	fd = hf_file_open_read_at(folder_fd, file_name);
	/* What has not ended cannot be read either, or nothing is said in it.
	 */
	if (fd == -ENOENT)
		return 0;
	rc = fd < 0 ? fd : hf_file_read_all(fd, HF_JOURNAL_SIZE_MAX, &text);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read the journal '%s'",
				      name->text);
	lines = hf_lines_of(text.data);
	while (hf_lines_next(&lines, &line, &len))
		changes += pass_line(purge, line, len, &out);
	if (changes == 0)
		return 0;
	if (!removes) {
		purge->sessions++;
		return 0;
	}
	rc = hf_buffer_check(&out, err);
	return rc < 0 ? rc
		      : hf_replace_write(folder_fd, file_name, 0600, out.data,
					 out.len, err);
}

int hf_purge_journals(struct hf_purge *purge, bool removes,
		      struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_journal_list(purge->store, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		rc = purge_journal(purge, &names.items[i], removes, err);
	return rc;
}

/* -- kept copies ------------------------------------------------------------
 */

/* "PATH~2" of PATH. */
static bool is_variant(const char *name, const char *path)
{
	const size_t len = strlen(path);

	return strncmp(name, path, len) == 0 && name[len] == '~' &&
	       name[len + 1] != '\0' &&
	       strspn(name + len + 1, "0123456789") == strlen(name + len + 1);
}

static bool names_copy(const struct hf_purge *purge, const char *name)
{
	cleanup_free char *path = hf_pack_member_path(name);

	if (!path)
		return false;
	if (hf_purge_names(purge, path))
		return true;
	for (size_t i = 0; purge->paths[i]; i++)
		if (is_variant(path, purge->paths[i]))
			return true;
	return false;
}

/* Its hash, of a file; 1, or 0 when it is none. */
static int hash_copy(const struct hf_purge *purge,
		     const struct hf_kept_list *list,
		     const struct hf_kept_copy *copy, struct hf_hash *hash,
		     uint64_t *size, struct hf_error *err)
{
	cleanup_free char *path = hf_kept_list_path(list, copy->name);
	cleanup_fd int fd = -1;
	int rc;

	if (!path)
		return hf_fail_memory(err);
	if (copy->kind != HF_KIND_FILE)
		return 0;
	fd = hf_kept_open(purge->store, path, err);
	if (fd < 0)
		return fd;
	rc = hf_content_copy(fd, NULL, path, size, hash, err);
	return rc < 0 ? rc : 1;
}

/* By its name, or what a journal says it is. */
static bool is_named(const struct hf_purge *purge,
		     const struct hf_kept_copy *copy)
{
	return copy->record
		       ? hf_purge_names(purge, copy->record->replaced->path)
		       : names_copy(purge, copy->name);
}

static int remove_copy(const struct hf_purge *purge,
		       const struct hf_kept_list *list,
		       const struct hf_kept_copy *copy, struct hf_error *err)
{
	cleanup_free char *path = hf_path_join(list->session.text, copy->name);
	cleanup_fd int fd = -1;
	char *name;
	int rc;

	if (!path)
		return hf_fail_memory(err);
	name = path + hf_path_parent_len(path);
	*name++ = '\0';
	fd = hf_file_open_beneath(purge->store->folder_fd[HF_STORE_KEPT], path);
	rc = fd < 0 ? fd : hf_file_unlink_at(fd, name);
	if (rc == 0)
		rc = hf_file_sync(fd);
	return rc < 0 ? hf_fail_system(err, rc,
				       "cannot remove the kept copy '%s'",
				       HF_QUOTE(copy->name))
		      : 0;
}

/* What is done with each copy. */
enum deed { DEED_GATHER, DEED_COUNT, DEED_REMOVE };

static int do_copy(struct hf_purge *purge, const struct hf_kept_list *list,
		   const struct hf_kept_copy *copy, enum deed deed,
		   struct hf_error *err)
{
	bool is_wanted = is_named(purge, copy);
	struct hf_hash hash;
	uint64_t size;
	int rc;

	if (copy->kind == HF_KIND_DIRECTORY)
		return 0;
	if (!is_wanted || deed == DEED_GATHER) {
		rc = hash_copy(purge, list, copy, &hash, &size, err);
		if (rc < 0)
			return rc;
		if (deed == DEED_GATHER)
			return rc > 0 && is_wanted
				       ? hf_purge_add(purge, &hash, size, err)
				       : 0;
		is_wanted = rc > 0 && hf_purge_has(purge, &hash, size);
	}
	if (!is_wanted)
		return 0;
	if (deed == DEED_REMOVE)
		return remove_copy(purge, list, copy, err);
	purge->kept++;
	return 0;
}

static int do_copies(struct hf_purge *purge, enum deed deed,
		     struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_store_list(purge->store, HF_STORE_KEPT, "", &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		cleanup_kept_list struct hf_kept_list list = HF_KEPT_LIST_INIT;

		rc = hf_kept_list_read(purge->store, &names.items[i], &list,
				       err);
		for (size_t k = 0; rc == 0 && k < list.count; k++)
			rc = do_copy(purge, &list, &list.items[k], deed, err);
	}
	return rc;
}

int hf_purge_kept(struct hf_purge *purge, bool removes, struct hf_error *err)
{
	return do_copies(purge, removes ? DEED_REMOVE : DEED_COUNT, err);
}

int hf_purge_gather_sessions(struct hf_purge *purge, struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_journal_list(purge->store, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		rc = gather_journal(purge, &names.items[i], err);
	return rc < 0 ? rc : do_copies(purge, DEED_GATHER, err);
}
