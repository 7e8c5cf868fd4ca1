/* SPDX-License-Identifier: MIT */
/*
 * Look into the file; else try on decoys, and write it.
 *
 * The file is compared as a whole with what it would be written as now: one
 * that is cut, old or of another program is as good as none.  A gate that does
 * not hold is not remembered: somebody is about to mend that.
 */
#include "guard/probe.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "base/version.h"
#include "core/replace.h"
#include "guard/doctor.h"
#include "guard/scratch.h"
#include "platform/file.h"
#include "platform/surroundings.h"
#include "platform/system.h"

#define FOLDER	  "holdfast"
#define FILE_NAME "probe"
#define FILE_MAX  ((size_t)4096)
#define OURSELF	  "/proc/self/exe"

/* So many of the operations that are not covered are named. */
#define NAMES_MAX 3

/* -- the file ------------------------------------------------------------- */

void hf_probe_text(const struct hf_probe_key *key, struct hf_buffer *out)
{
	hf_buffer_printf(out,
			 "{\"holdfast-probe\":1,\"version\":\"%s\","
			 "\"program\":\"%" PRIu64 ":%" PRIu64 ":%" PRIu64
			 "\",\"boot\":\"%s\",\"uid\":%" PRIu32 ",\"standing\":",
			 key->version, key->program[0], key->program[1],
			 key->program[2], key->boot_id, key->uid);
	hf_buffer_add_json(out, key->standing, strlen(key->standing));
	hf_buffer_add_text(out, ",\"gate\":\"holds\"}\n");
}

bool hf_probe_is_known(const struct hf_probe_key *key, const char *data,
		       size_t len)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error ignored = {0};

	/* Of which boot it tells cannot be known. */
	if (key->boot_id[0] == '\0')
		return false;
	hf_probe_text(key, &text);
	return hf_buffer_check(&text, &ignored) == 0 && len == text.len &&
	       memcmp(data, text.data, len) == 0;
}

/* Nobody else may say that it holds. */
static bool is_remembered(const char *folder, const struct hf_probe_key *key)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_free char *path = hf_path_join(folder, FILE_NAME);
	cleanup_fd int fd = path == NULL ? -1 : hf_file_open_read_path(path);
	struct hf_stat stat;

	return fd >= 0 && hf_file_stat(fd, &stat) == 0 &&
	       stat.kind == HF_KIND_FILE && stat.uid == hf_system_uid() &&
	       (stat.mode & 022) == 0 &&
	       hf_file_read_all(fd, FILE_MAX, &text) == 0 && text.len > 0 &&
	       hf_probe_is_known(key, text.data, text.len);
}

/* Whoever cannot remember it asks again. */
static void remember(const char *folder, const struct hf_probe_key *key)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = hf_file_open_directory(folder);
	struct hf_error ignored = {0};
	uint64_t held;

	hf_probe_text(key, &text);
	if (fd < 0 || key->boot_id[0] == '\0' ||
	    hf_buffer_check(&text, &ignored) < 0)
		return;
	/* An interrupt would leave the temporary file. */
	held = hf_system_hold_signals();
	(void)!hf_replace_write(fd, FILE_NAME, 0600, text.data, text.len,
				&ignored);
	hf_system_release_signals(held);
}

static int look_at_key(struct hf_probe_key *key, struct hf_buffer *standing,
		       struct hf_error *err)
{
	struct hf_stat stat;
	int rc;

	hf_surroundings_standing(standing);
	rc = hf_buffer_check(standing, err);
	if (rc < 0)
		return rc;
	/* A package may be mended under one version. */
	rc = hf_file_stat_path(OURSELF, &stat);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'", OURSELF);
	*key = (struct hf_probe_key){
		.version = HF_VERSION,
		.program = {stat.dev, stat.ino, (uint64_t)stat.mtime_ns},
		.uid = hf_system_uid(),
		.standing = standing->data,
	};
	hf_system_boot_id(key->boot_id);
	return 0;
}

/* -- trying --------------------------------------------------------------- */

int hf_probe_judge(const struct hf_doctor *doctor, struct hf_error *err)
{
	const size_t count = doctor->counts[HF_DOCTOR_UNCOVERED];
	cleanup_buffer struct hf_buffer names = HF_BUFFER_INIT;
	size_t named = 0;
	int rc;

	if (doctor->gate == HF_LAYER_ON && count == 0)
		return 0;
	for (size_t i = 0; i < doctor->row_count && named <= NAMES_MAX; i++) {
		if (doctor->rows[i].verdict != HF_DOCTOR_UNCOVERED)
			continue;
		hf_buffer_printf(&names, "%s%s", named == 0 ? "" : ", ",
				 named < NAMES_MAX ? hf_operation_at(i)->name
						   : "...");
		named++;
	}
	rc = hf_buffer_check(&names, err);
	if (rc < 0)
		return rc;
	if (doctor->gate != HF_LAYER_ON)
		(void)hf_fail(err, HF_ERR_UNSUPPORTED,
			      "cannot run: the gate is required, and %s",
			      doctor->gate_why);
	else
		(void)hf_fail(err, HF_ERR_UNSUPPORTED,
			      "cannot run: the gate is required, but here it "
			      "does not hold for %zu operation%s (%s)",
			      count, count == 1 ? "" : "s", names.data);
	return hf_fail_hint(err, "'holdfast doctor' shows them all");
}

/* Without a gate that run does not begin, and says why as every one does. */
static int try_in(const char *directory, struct hf_error *err)
{
	cleanup_free struct hf_doctor *doctor = calloc(1, sizeof(*doctor));
	int rc;

	if (doctor == NULL)
		return hf_fail_memory(err);
	rc = hf_doctor_try(directory, HF_GATE_REQUIRE, doctor, err);
	return rc < 0 ? rc : hf_probe_judge(doctor, err);
}

static bool takes_decoys(const char *directory)
{
	struct hf_scratch scratch = HF_SCRATCH_INIT;
	struct hf_error ignored = {0};
	const uint64_t held = hf_system_hold_signals();
	const int rc = hf_scratch_make(&scratch, directory, &ignored);

	hf_scratch_remove(&scratch);
	hf_system_release_signals(held);
	return rc == 0;
}

static int try_beside(const char *store_path, struct hf_error *err)
{
	cleanup_free char *parent = strdup(store_path);
	size_t len;
	int rc;

	if (parent == NULL)
		return hf_fail_memory(err);
	len = hf_path_parent_len(parent);
	/* The root of all is its own. */
	parent[len > 0 ? len : 1] = '\0';
	rc = hf_file_mkdir_path(parent);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot make decoys in '%s'",
				      HF_QUOTE(parent));
	return try_in(parent, err);
}

/* Where it is remembered; NULL when there is no such place; to free(). */
static char *find_folder(void)
{
	cleanup_free char *state = NULL;

	return hf_system_state_directory(&state) < 0
		       ? NULL
		       : hf_path_join(state, FOLDER);
}

int hf_probe_check(const char *store_path, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer standing = HF_BUFFER_INIT;
	cleanup_free char *folder = find_folder();
	struct hf_probe_key key;
	int rc;

	rc = look_at_key(&key, &standing, err);
	if (rc < 0)
		return rc;
	if (folder != NULL && is_remembered(folder, &key))
		return 0;
	if (folder == NULL || hf_file_mkdir_path(folder) < 0 ||
	    !takes_decoys(folder))
		return try_beside(store_path, err);
	rc = try_in(folder, err);
	if (rc == 0)
		remember(folder, &key);
	return rc;
}
