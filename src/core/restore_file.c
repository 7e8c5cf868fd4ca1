/* SPDX-License-Identifier: MIT */
/*
 * Put a file back: its content beside it, verified, then in its place.
 *
 * There are two ways into the place.  As a rule the names trade places, so that
 * a reader sees the old content or the new.  Where the file itself must survive
 * (other names of it are to go on sharing it, or it is a mount point and cannot
 * be moved) it is written in place, after it was kept and journalled: a crash
 * in the middle leaves a mixture, which the next restore puts right.
 */
#include "core/restore_file.h"

#include "base/fail.h"
#include "base/text.h"
#include "core/kept.h"
#include "core/metadata.h"
#include "core/replace.h"
#include "core/restore_step.h"
#include "core/swap.h"
#include "platform/system.h"

static int fail_file(struct hf_error *err, int rc, const char *verb,
		     const struct hf_entry *want)
{
	return hf_fail_system(err, rc, "cannot %s '%s'", verb,
			      HF_QUOTE(want->path));
}

/* May the directory refuse new names while the file in it can be written? */
static bool is_closed_directory(const struct hf_step *step, int rc)
{
	return (rc == -EACCES || rc == -EPERM || rc == -EROFS) && step->now &&
	       step->now->stat.kind == HF_KIND_FILE;
}

static int create(struct hf_file_maker *maker, struct hf_error *err)
{
	const struct hf_step *const step = maker->step;
	struct hf_place *const place = &maker->place;
	int rc;

	maker->fd = hf_file_create_at(place->dir_fd, place->tmp, 0600);
	if (maker->fd < 0 && is_closed_directory(step, maker->fd)) {
		place->tmp[0] = '\0';
		rc = hf_replace_name(maker->staged, err);
		if (rc < 0)
			return rc;
		maker->fd = hf_file_create_at(maker->context->store->dir_fd,
					      maker->staged, 0600);
	}
	return maker->fd < 0 ? fail_file(err, maker->fd, "make a copy of",
					 step->want)
			     : 0;
}

int hf_file_maker_begin(struct hf_file_maker *maker,
			const struct hf_restore_context *context,
			struct hf_step *step, struct hf_error *err)
{
	struct hf_place *const place = &maker->place;
	int rc;

	maker->context = context;
	maker->step = step;
	rc = hf_place_open(place, context->root_fd, step->want->path, err);
	if (rc < 0)
		return rc;
	rc = hf_place_name(place, err);
	if (rc < 0)
		return rc;
	rc = create(maker, err);
	if (rc < 0)
		return rc;
	hf_content_begin(&maker->writer, maker->fd, HF_CONTENT_FRESH);
	return 0;
}

int hf_file_maker_write(struct hf_file_maker *maker, const void *data,
			size_t len, struct hf_error *err)
{
	const int rc = hf_content_write(&maker->writer, data, len);

	return rc < 0 ? fail_file(err, rc, "write", maker->step->want) : 0;
}

int hf_file_maker_complete(struct hf_file_maker *maker, struct hf_error *err)
{
	const int rc = hf_content_end(&maker->writer);

	return rc < 0 ? fail_file(err, rc, "write", maker->step->want) : 0;
}

int hf_file_maker_open(const struct hf_file_maker *maker)
{
	return maker->staged[0] != '\0' ?
		       hf_content_open(maker->context->store->dir_fd,
				       maker->staged) :
		       hf_content_open(maker->place.dir_fd, maker->place.tmp);
}

/* What stands at the name. */
static int look(const struct hf_file_maker *maker, struct hf_stat *ret_stat,
		struct hf_error *err)
{
	struct hf_stat stat;
	int rc;

	rc = hf_file_stat_at(maker->place.dir_fd, maker->place.name, &stat);
	if (rc == -ENOENT)
		stat = (struct hf_stat){.kind = HF_KIND_ABSENT};
	else if (rc < 0)
		return fail_file(err, rc, "look at", maker->step->want);
	*ret_stat = stat;
	return 0;
}

/*
 * Another name of the same file may have been put right just before, and with
 * it this one.
 */
static bool is_content_right(const struct hf_file_maker *maker,
			     const struct hf_stat *now)
{
	const struct hf_entry *const want = maker->step->want;
	struct hf_error ignored;
	struct hf_hash hash;
	int rc;

	if (now->kind != HF_KIND_FILE || now->size != want->stat.size ||
	    !want->has_hash || hf_step_is_shared(want, now))
		return false;
	rc = hf_content_hash(maker->place.dir_fd, maker->place.name, want->path,
			     &hash, &ignored);
	return rc == 0 && hf_hash_equal(&hash, &want->hash);
}

/* For writing in place; a file of ours is made writable for that. */
static int open_for_writing(const struct hf_place *place,
			    const struct hf_stat *stat)
{
	int fd = hf_file_open_write_at(place->dir_fd, place->name);
	int rc;

	if (fd != -EACCES || stat->uid != hf_system_uid())
		return fd;
	rc = hf_file_set_mode_at(place->dir_fd, place->name, stat->mode | 0600);
	if (rc < 0)
		return fd;
	fd = hf_file_open_write_at(place->dir_fd, place->name);
	if (fd < 0)
		rc = hf_file_set_mode_at(place->dir_fd, place->name,
					 stat->mode);
	return fd;
}

/* The temporary file's content into to_fd, which was kept. */
static int write_over(struct hf_file_maker *maker, int to_fd,
		      struct hf_error *err)
{
	const struct hf_entry *const want = maker->step->want;
	cleanup_fd int from_fd = hf_file_maker_open(maker);
	struct hf_content_writer writer;
	struct hf_hash hash;
	uint64_t size;
	int rc;

	if (from_fd < 0)
		return fail_file(err, from_fd, "read a copy of", want);
	hf_content_begin(&writer, to_fd, HF_CONTENT_OVER);
	rc = hf_content_copy(from_fd, &writer, want->path, &size, &hash, err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(to_fd);
	return rc < 0 ? fail_file(err, rc, "flush", want) : 0;
}

/*
 * Is what is open, to the byte, what was kept?  Its stat data alone do not tell:
 * they follow a store through a mapping late.
 */
static int check_kept(struct hf_file_maker *maker, int to_fd,
		      const struct hf_stat *kept,
		      const struct hf_hash *kept_hash, struct hf_error *err)
{
	const struct hf_entry *const want = maker->step->want;
	struct hf_hash hash;
	struct hf_stat now;
	uint64_t size;
	int rc;

	rc = hf_file_stat(to_fd, &now);
	if (rc < 0)
		return fail_file(err, rc, "look at", want);
	if (now.dev == kept->dev && now.ino == kept->ino &&
	    now.size == kept->size) {
		rc = hf_content_copy(to_fd, NULL, want->path, &size, &hash,
				     err);
		if (rc < 0)
			return rc;
		if (hf_hash_equal(&hash, kept_hash)) {
			rc = hf_file_seek(to_fd, 0);
			return rc < 0 ? fail_file(err, rc, "read", want) : 0;
		}
	}
	return hf_fail(err, HF_ERR_CHANGED,
		       "cannot restore '%s': it is being changed",
		       HF_QUOTE(want->path));
}

/* The kept copy into to_fd, over whatever was written there. */
static int write_back(struct hf_file_maker *maker, int to_fd,
		      struct hf_error *err)
{
	const char *const kept_path = maker->step->kept;
	cleanup_fd int from_fd =
		hf_kept_open(maker->context->store, kept_path, err);
	struct hf_content_writer writer;
	struct hf_hash hash;
	uint64_t size;
	int rc;

	if (from_fd < 0)
		return from_fd;
	rc = hf_file_seek(to_fd, 0);
	if (rc < 0)
		return fail_file(err, rc, "write", maker->step->want);
	hf_content_begin(&writer, to_fd, HF_CONTENT_OVER);
	rc = hf_content_copy(from_fd, &writer, kept_path, &size, &hash, err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(to_fd);
	return rc < 0 ? fail_file(err, rc, "flush", maker->step->want) : 0;
}

/* Old or new: half written it must not stay, or it must be said. */
static int write_or_leave(struct hf_file_maker *maker, int to_fd,
			  struct hf_error *err)
{
	struct hf_error second;
	int rc;

	rc = write_over(maker, to_fd, err);
	if (rc == 0)
		return 0;
	rc = write_back(maker, to_fd, &second);
	if (rc == 0) {
		hf_swap_take_back(maker->context, maker->step,
				  maker->place.path);
		return err->code;
	}
	return hf_fail_hint(err,
			    "it may be half old and half new; what it was is "
			    "kept as '%s', 'holdfast restore' tries again",
			    HF_QUOTE(maker->step->kept));
}

/* What somebody writes while we do would be lost between our bytes. */
static int check_writers(struct hf_file_maker *maker, struct hf_error *err)
{
	const struct hf_place *const place = &maker->place;
	cleanup_fd int fd = hf_content_open(place->dir_fd, place->name);

	/* Where it cannot be told, or not be read, nobody is known. */
	if (fd < 0 || hf_file_has_writer(fd) <= 0)
		return 0;
	(void)hf_fail(err, HF_ERR_BUSY,
		      "cannot restore '%s': a program has it open for writing",
		      HF_QUOTE(maker->step->want->path));
	return hf_fail_hint(err, "it must be written in place, since it has "
				 "other names or cannot be replaced: end the "
				 "program and try again");
}

static int rewrite(struct hf_file_maker *maker, struct hf_error *err)
{
	cleanup_fd int to_fd = -1;
	struct hf_hash kept_hash;
	struct hf_stat kept;
	int rc;

	rc = check_writers(maker, err);
	if (rc < 0)
		return rc;
	rc = hf_swap_keep(maker->context, &maker->place, maker->step, &kept,
			  &kept_hash, err);
	if (rc < 0)
		return rc;
	to_fd = open_for_writing(&maker->place, &kept);
	rc = to_fd < 0 ? fail_file(err, to_fd, "open", maker->step->want)
		       : check_kept(maker, to_fd, &kept, &kept_hash, err);
	if (rc < 0)
		hf_swap_take_back(maker->context, maker->step,
				  maker->place.path);
	if (to_fd < 0)
		return rc;
	if (rc == 0)
		rc = write_or_leave(maker, to_fd, err);
	if (rc < 0) {
		const int back = hf_file_set_mode(to_fd, kept.mode);

		/* The first failure is the one to tell. */
		(void)back;
		return rc;
	}
	/* The content is right, whatever becomes of the rest. */
	rc = hf_metadata_set(to_fd, maker->step->want, HF_METADATA_ALL, err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(to_fd);
	if (rc == 0)
		rc = hf_file_close(&to_fd);
	return rc < 0 ? fail_file(err, rc, "flush", maker->step->want) : 0;
}

/*
 * All but an owner that only root could give: the rest of the metadata, without
 * a set-id bit for the wrong one.
 */
static int set_what_we_may(int fd, const struct hf_entry *want,
			   struct hf_error *err)
{
	struct hf_entry ours = *want;
	struct hf_stat now;
	const int rc = hf_file_stat(fd, &now);

	if (rc < 0)
		return fail_file(err, rc, "look at a copy of", want);
	ours.stat.uid = now.uid;
	ours.stat.gid = now.gid;
	ours.stat.mode &= 01777u;
	return hf_metadata_set(fd, &ours, HF_METADATA_ALL, err);
}

/* The temporary file to the disk, then the trade. */
static int flush_and_trade(struct hf_file_maker *maker,
			   const struct hf_stat *now, struct hf_error *err)
{
	int rc;

	rc = hf_file_sync(maker->fd);
	/* Some file systems report a failed write only here. */
	if (rc == 0)
		rc = hf_file_close(&maker->fd);
	if (rc < 0)
		return fail_file(err, rc, "flush", maker->step->want);
	rc = hf_swap(maker->context, &maker->place, maker->step, err);
	if (rc == HF_ERR_BUSY && now->kind == HF_KIND_FILE)
		return rewrite(maker, err);
	return rc;
}

/*
 * A new file is ours, and may be refused another's owner or group.  What stands
 * there is written in place if it still has them; else the content at least goes
 * back, and the failure is told.
 */
static int trade(struct hf_file_maker *maker, const struct hf_stat *now,
		 struct hf_error *err)
{
	const struct hf_entry *const want = maker->step->want;
	struct hf_error second;
	int rc;

	rc = hf_metadata_set(maker->fd, want, hf_restore_extent(maker->context),
			     err);
	if (rc == 0)
		return flush_and_trade(maker, now, err);
	if (err->sys_errno != EPERM)
		return rc;
	if (now->kind == HF_KIND_FILE && now->uid == want->stat.uid &&
	    now->gid == want->stat.gid)
		return rewrite(maker, err);
	rc = set_what_we_may(maker->fd, want, &second);
	if (rc == 0)
		rc = flush_and_trade(maker, now, &second);
	if (rc < 0)
		*err = second;
	return err->code;
}

int hf_file_maker_finish(struct hf_file_maker *maker, struct hf_error *err)
{
	const struct hf_restore_context *const context = maker->context;
	struct hf_step *const step = maker->step;
	struct hf_stat now = {.kind = HF_KIND_ABSENT};
	int rc;

	/* Elsewhere nothing may be there. */
	rc = context->is_elsewhere ? 0 : look(maker, &now, err);
	if (rc < 0)
		return rc;
	if (is_content_right(maker, &now)) {
		rc = hf_place_close(&maker->place, err);
		return rc < 0 ? rc : hf_step_set_metadata(context, step, err);
	}
	if (maker->staged[0] != '\0' && now.kind != HF_KIND_FILE)
		rc = fail_file(err, -EACCES, "put anything beside",
			       step->want);
	else if (maker->staged[0] != '\0' ||
		 hf_step_must_survive(step->want, &now))
		rc = rewrite(maker, err);
	else
		rc = trade(maker, &now, err);
	if (rc < 0)
		return rc;
	rc = hf_step_verify(context, step, true, err);
	if (rc < 0)
		return rc;
	return hf_place_close(&maker->place, err);
}

void hf_file_maker_done(struct hf_file_maker *maker)
{
	hf_file_close_quietly(&maker->fd);
	hf_place_done(&maker->place);
	if (maker->staged[0] == '\0')
		return;
	{
		const int rc = hf_file_unlink_at(
			maker->context->store->dir_fd, maker->staged);

		/* What stays is swept. */
		(void)rc;
	}
	maker->staged[0] = '\0';
}

/* -- content at hand ------------------------------------------------------ */

static int copy_from(struct hf_file_maker *maker, int from_fd,
		     struct hf_error *err)
{
	const struct hf_entry *const want = maker->step->want;
	struct hf_hash hash;
	uint64_t size;
	int rc;

	rc = hf_content_copy(from_fd, &maker->writer, want->path, &size, &hash,
			     err);
	if (rc < 0)
		return rc;
	if (size == want->stat.size &&
	    (!want->has_hash || hf_hash_equal(&hash, &want->hash)))
		return 0;
	return hf_fail(err, HF_ERR_CORRUPT,
		       "cannot restore '%s': the kept copy is not what was "
		       "recorded",
		       HF_QUOTE(want->path));
}

int hf_step_put_file(const struct hf_restore_context *context,
		     struct hf_step *step, int from_fd, struct hf_error *err)
{
	cleanup_file_maker struct hf_file_maker maker = HF_FILE_MAKER_INIT;
	cleanup_fd int source_fd = -1;
	int rc;

	if (from_fd < 0 && step->source) {
		source_fd = hf_kept_open(context->store, step->source, err);
		if (source_fd < 0)
			return source_fd;
		from_fd = source_fd;
	}
	if (from_fd < 0 && step->want->stat.size > 0)
		return hf_fail(err, HF_ERR_CORRUPT,
			       "cannot restore '%s': its content is not in the "
			       "store",
			       HF_QUOTE(step->want->path));
	rc = hf_file_maker_begin(&maker, context, step, err);
	if (rc < 0)
		return rc;
	if (from_fd >= 0) {
		rc = copy_from(&maker, from_fd, err);
		if (rc < 0)
			return rc;
	}
	return hf_file_maker_finish(&maker, err);
}
