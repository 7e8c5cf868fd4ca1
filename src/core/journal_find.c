/* SPDX-License-Identifier: MIT */
/* Find the journals of a store, tell living sessions from dead, close these. */
#include "core/journal.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/journal_text.h"

/* A first record is longer only with a long command. */
#define FIRST_BLOCK 4096

static int fail_journal(struct hf_error *err, int rc, const char *verb,
			const struct hf_name *name)
{
	return hf_fail_system(err, rc, "cannot %s the journal of session %s",
			      verb, name->text);
}

/* Of a session that has not ended; -ENOENT when it has since it was listed. */
static int open_unended(const struct hf_store *store,
			const struct hf_name *name)
{
	char file_name[HF_JOURNAL_FILE_NAME];

	hf_journal_file_name(name, HF_JOURNAL_OPEN, file_name);
	return hf_file_open_read_at(store->folder_fd[HF_STORE_SESSIONS],
				    file_name);
}

/* Open or ended. */
static int open_journal(const struct hf_store *store,
			const struct hf_name *name, struct hf_error *err)
{
	char file_name[HF_JOURNAL_FILE_NAME];
	int fd = open_unended(store, name);

	if (fd == -ENOENT) {
		hf_journal_file_name(name, HF_JOURNAL_DONE, file_name);
		fd = hf_file_open_read_at(store->folder_fd[HF_STORE_SESSIONS],
					  file_name);
	}
	return fd < 0 ? fail_journal(err, fd, "open", name) : fd;
}

static int decode(const struct hf_name *name, const struct hf_buffer *text,
		  struct hf_session_record *ret, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer label = HF_BUFFER_INIT;
	int rc;

	hf_buffer_printf(&label, "session %s", name->text);
	rc = hf_buffer_check(&label, err);
	if (rc < 0)
		return rc;
	rc = hf_journal_decode(label.data, text->data ? text->data : "",
			       text->len, ret, err);
	if (rc < 0)
		return rc;
	ret->name = *name;
	return 0;
}

int hf_journal_read(const struct hf_store *store, const struct hf_name *name,
		    struct hf_session_record *ret, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = open_journal(store, name, err);
	struct hf_stat stat;
	int rc;

	if (fd < 0)
		return fd;
	rc = hf_file_read_all(fd, HF_JOURNAL_SIZE_MAX, &text);
	if (rc == 0)
		rc = hf_file_stat(fd, &stat);
	if (rc < 0)
		return fail_journal(err, rc, "read", name);
	rc = decode(name, &text, ret, err);
	if (rc == 0 && ret->alive_ns == 0)
		ret->alive_ns = stat.mtime_ns;
	return rc;
}

int hf_journal_read_first(const struct hf_store *store,
			  const struct hf_name *name,
			  struct hf_session_record *ret, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = open_journal(store, name, err);
	const char *end = NULL;
	char block[FIRST_BLOCK];
	int rc;

	if (fd < 0)
		return fd;
	while (!end && text.len < HF_JOURNAL_SIZE_MAX) {
		const int64_t got = hf_file_read(fd, block, sizeof(block));

		if (got < 0)
			return fail_journal(err, (int)got, "read", name);
		if (got == 0)
			break;
		end = memchr(block, '\n', (size_t)got);
		hf_buffer_add(&text, block,
			      end ? (size_t)(end - block) + 1 : (size_t)got);
	}
	rc = hf_buffer_check(&text, err);
	return rc < 0 ? rc : decode(name, &text, ret, err);
}

/*
 * Is this a journal of a session that never started: no record of it reached the
 * disk before a crash?  That leaves nothing, zeros for what was not written, or
 * the beginning of the first line.  Anything else is damage: a journal truncated
 * while holdfast went on appending is zeros, too, but records follow.  1, 0 or a
 * failure.
 */
static int is_blank(int fd, const struct hf_name *name, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	size_t zeros = 0;
	int rc;

	rc = hf_file_read_all(fd, HF_JOURNAL_SIZE_MAX, &text);
	if (rc < 0)
		return fail_journal(err, rc, "read", name);
	while (zeros < text.len && text.data[zeros] == '\0')
		zeros++;
	if (zeros == text.len)
		return 1;
	return !memchr(text.data, '\n', text.len) &&
	       !memchr(text.data, '\0', text.len);
}

/* Drop sessions that never started from the names of open journals. */
static int drop_blank(const struct hf_store *store, struct hf_names *names,
		      struct hf_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < names->count; i++) {
		const struct hf_name *const name = &names->items[i];
		cleanup_fd int fd = open_unended(store, name);
		int rc;

		if (fd < 0 && fd != -ENOENT)
			return fail_journal(err, fd, "open", name);
		rc = fd < 0 ? 0 : is_blank(fd, name, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			names->items[kept++] = *name;
	}
	names->count = kept;
	return 0;
}

void hf_journal_names_done(struct hf_journal_names *names)
{
	hf_names_done(&names->open);
	hf_names_done(&names->done);
}

int hf_journal_names(const struct hf_store *store,
		     struct hf_journal_names *ret_names, struct hf_error *err)
{
	static const char *const suffixes[2] = {HF_JOURNAL_OPEN,
						HF_JOURNAL_DONE};
	struct hf_names lists[2];
	const int rc = hf_store_list_both(store, HF_STORE_SESSIONS, suffixes,
					  lists, err);

	*ret_names = (struct hf_journal_names){
		.open = lists[0],
		.done = lists[1],
	};
	return rc;
}

static int copy_names(const struct hf_names *names, struct hf_names *ret_copy,
		      struct hf_error *err)
{
	struct hf_name *const items = calloc(names->count + 1, sizeof(*items));

	if (!items)
		return hf_fail_memory(err);
	if (names->count > 0)
		memcpy(items, names->items, names->count * sizeof(*items));
	*ret_copy = (struct hf_names){.items = items, .count = names->count};
	return 0;
}

int hf_journal_list_of(const struct hf_store *store,
		       const struct hf_journal_names *names,
		       struct hf_names *ret_names, struct hf_error *err)
{
	cleanup_names struct hf_names open = HF_NAMES_INIT;
	const struct hf_names done = names->done;
	struct hf_name *items;
	size_t o = 0;
	size_t d = 0;
	int rc;

	rc = copy_names(&names->open, &open, err);
	if (rc < 0)
		return rc;
	rc = drop_blank(store, &open, err);
	if (rc < 0)
		return rc;
	items = calloc(open.count + done.count + 1, sizeof(*items));
	if (!items)
		return hf_fail_memory(err);
	while (o < open.count || d < done.count) {
		const bool is_open = d == done.count ||
				     (o < open.count &&
				      hf_name_number(&open.items[o]) <
					      hf_name_number(&done.items[d]));

		items[o + d] = is_open ? open.items[o] : done.items[d];
		o += is_open;
		d += !is_open;
	}
	*ret_names = (struct hf_names){ .items = items, .count = o + d };
	return 0;
}

int hf_journal_list(const struct hf_store *store, struct hf_names *ret_names,
		    struct hf_error *err)
{
	cleanup_journal_names struct hf_journal_names names =
		HF_JOURNAL_NAMES_INIT;
	const int rc = hf_journal_names(store, &names, err);

	return rc < 0 ? rc : hf_journal_list_of(store, &names, ret_names, err);
}

/* -- living and dead ------------------------------------------------------ */

enum state {
	STATE_LIVING,
	STATE_DEAD,
	STATE_GONE /* ended since it was listed, or never begun */
};

static int find_state(const struct hf_store *store, const struct hf_name *name,
		      enum state *ret_state, struct hf_error *err)
{
	cleanup_fd int fd = open_unended(store, name);
	int rc;

	if (fd == -ENOENT) {
		*ret_state = STATE_GONE;
		return 0;
	}
	if (fd < 0)
		return fail_journal(err, fd, "open", name);
	rc = hf_lock_try(fd, HF_LOCK_SHARED);
	if (rc < 0 && rc != -EAGAIN)
		return fail_journal(err, rc, "lock", name);
	if (rc < 0) {
		*ret_state = STATE_LIVING;
		return 0;
	}
	rc = is_blank(fd, name, err);
	if (rc < 0)
		return rc;
	*ret_state = rc > 0 ? STATE_GONE : STATE_DEAD;
	return 0;
}

/* Move the names of that state from all to the front of part. */
static int select_names(const struct hf_names *all, const enum state *states,
			enum state wanted, struct hf_names *part,
			struct hf_error *err)
{
	if (all->count == 0)
		return 0;
	part->items = calloc(all->count, sizeof(*part->items));
	if (!part->items)
		return hf_fail_memory(err);
	for (size_t i = 0; i < all->count; i++) {
		if (states[i] == wanted)
			part->items[part->count++] = all->items[i];
	}
	return 0;
}

int hf_journal_find_open_of(const struct hf_store *store,
			    const struct hf_names *all,
			    struct hf_names *ret_living,
			    struct hf_names *ret_dead, struct hf_error *err)
{
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	cleanup_free enum state *states = NULL;
	int rc;

	states = calloc(all->count + 1, sizeof(*states));
	if (!states)
		return hf_fail_memory(err);
	for (size_t i = 0; i < all->count; i++) {
		rc = find_state(store, &all->items[i], &states[i], err);
		if (rc < 0)
			return rc;
	}
	rc = select_names(all, states, STATE_LIVING, &living, err);
	if (rc < 0)
		return rc;
	rc = select_names(all, states, STATE_DEAD, &dead, err);
	if (rc < 0)
		return rc;
	*ret_living = living;
	*ret_dead = dead;
	living = (struct hf_names)HF_NAMES_INIT;
	dead = (struct hf_names)HF_NAMES_INIT;
	return 0;
}

int hf_journal_find_open(const struct hf_store *store,
			 struct hf_names *ret_living, struct hf_names *ret_dead,
			 struct hf_error *err)
{
	cleanup_names struct hf_names all = HF_NAMES_INIT;
	const int rc = hf_store_list(store, HF_STORE_SESSIONS, HF_JOURNAL_OPEN,
				     &all, err);

	return rc < 0 ? rc
		      : hf_journal_find_open_of(store, &all, ret_living,
						ret_dead, err);
}

/* -- settling ------------------------------------------------------------- */

/*
 * Append a record behind the last whole one: what a torn line left would make
 * the new one unreadable.  When it fails the journal is as before, its
 * modification time included, which says until when its run lived.
 */
static int append_at(int fd, uint64_t good, uint64_t len,
		     const struct hf_buffer *line)
{
	struct hf_stat before;
	int rc;

	rc = hf_file_stat(fd, &before);
	if (rc < 0)
		return rc;
	if (good < len)
		rc = hf_file_truncate(fd, good);
	if (rc == 0)
		rc = hf_file_seek(fd, good);
	if (rc == 0)
		rc = hf_file_write(fd, line->data, line->len);
	if (rc == 0)
		rc = hf_file_sync(fd);
	if (rc < 0) {
		(void)!hf_file_truncate(fd, good);
		(void)!hf_file_set_mtime(fd, before.mtime_ns);
	}
	return rc;
}

static int append(int fd, const struct hf_name *name, const char *kind,
		  const struct hf_buffer *members, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
	int rc;

	rc = hf_buffer_check(members, err);
	if (rc < 0)
		return rc;
	hf_journal_line(kind, members->data, &line);
	rc = hf_buffer_check(&line, err);
	if (rc < 0)
		return rc;
	rc = hf_file_read_all(fd, HF_JOURNAL_SIZE_MAX, &text);
	if (rc < 0)
		return fail_journal(err, rc, "read", name);
	rc = append_at(
		fd, hf_journal_good_len(text.data ? text.data : "", text.len),
		text.len, &line);
	return rc < 0 ? fail_journal(err, rc, "write", name) : 0;
}

/* The journal of a session that has not ended, to append to. */
static int open_to_append(const struct hf_store *store,
			  const struct hf_name *name, struct hf_error *err)
{
	char file_name[HF_JOURNAL_FILE_NAME];
	int fd;

	hf_journal_file_name(name, HF_JOURNAL_OPEN, file_name);
	fd = hf_file_open_write_at(store->folder_fd[HF_STORE_SESSIONS],
				   file_name);
	return fd < 0 ? fail_journal(err, fd, "open", name) : fd;
}

int hf_journal_accept(const struct hf_store *store, const struct hf_name *name,
		      const struct hf_entry *entry, struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	int rc;

	rc = hf_journal_read(store, name, &record, err);
	if (rc < 0)
		return rc;
	fd = open_to_append(store, name, err);
	if (fd < 0)
		return fd;
	hf_buffer_add_text(&members, "\"alive\":\"");
	hf_time_encode(record.alive_ns, &members);
	hf_buffer_add_text(&members, "\",\"entry\":");
	hf_entry_encode(entry, &members);
	return append(fd, name, "accepted", &members, err);
}

int hf_journal_settle(const struct hf_store *store, const struct hf_name *name,
		      enum hf_outcome outcome, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	cleanup_fd int fd = open_to_append(store, name, err);
	int rc;

	if (fd < 0)
		return fd;
	hf_journal_end_members(outcome, 0, 0, &members);
	rc = append(fd, name, "end", &members, err);
	if (rc < 0)
		return rc;
	return hf_journal_close_name(store, name, true, err);
}
