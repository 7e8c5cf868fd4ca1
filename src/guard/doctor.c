/* SPDX-License-Identifier: MIT */
/*
 * A scratch directory holds a project with one stage for every operation, and
 * a store.  In a process of its own, which root's mounts cannot leave:
 *
 *	build the stages, look at them
 *	run "holdfast doctor perform-decoys DIR", guarded
 *	look again, read what the command wrote down, judge
 *
 * A layer may hold by ending the command: then the rest is tried in another
 * run. What is found lies in memory that all processes of a run share: the
 * session's last word is spoken in another one.
 */
#include "guard/doctor.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/project.h"
#include "guard/scratch.h"
#include "platform/file.h"
#include "platform/system.h"

#define STORE	"store"
#define OURSELF "/proc/self/exe"

/* What outlasts a run. */
struct trial {
	struct hf_doctor doctor;
	struct hf_stage_state before[HF_DOCTOR_ROWS];
	bool is_built;
	bool is_complete; /* every row was tried */
};

struct attempt {
	const struct hf_scratch *scratch;
	enum hf_gate_mode gate;
	uint64_t held_signals;
	char *project_path;
	int project_fd;
	struct trial *trial;
	struct hf_doctor *doctor; /* the trial's */
};

#define ATTEMPT_INIT             \
	{                        \
		.project_fd = -1 \
	}
#define cleanup_attempt CLEANUP(attempt_done)

static void attempt_done(struct attempt *attempt)
{
	hf_file_close_quietly(&attempt->project_fd);
	hf_free_pointee(&attempt->project_path);
}

/* -- stages ---------------------------------------------------------------- */

static bool is_possible(const struct hf_operation *operation)
{
	return operation->number >= 0 &&
	       (hf_system_is_root() ||
		!(operation->traits & HF_OPERATION_PRIVILEGED));
}

static int build_stage(struct attempt *attempt, size_t row)
{
	const struct hf_operation *operation = hf_operation_at(row);
	cleanup_fd int fd = -1;
	int rc;

	rc = hf_file_mkdir_at(attempt->project_fd, operation->name, 0755);
	if (rc < 0)
		return rc;
	fd = hf_file_open_directory_at(attempt->project_fd, operation->name);
	if (fd < 0)
		return fd;
	rc = hf_stage_build(operation, fd);
	return rc < 0 ? rc : hf_stage_look(fd, &attempt->trial->before[row]);
}

static int build_stages(struct attempt *attempt, struct hf_error *err)
{
	const struct hf_operation *operation;
	struct hf_doctor *const doctor = attempt->doctor;

	for (size_t i = 0; (operation = hf_operation_at(i)) != NULL; i++) {
		int rc = 0;

		doctor->row_count = i + 1;
		if (i == HF_DOCTOR_ROWS)
			return hf_fail(err, HF_ERR_LIMIT,
				       "cannot try more than %u operations",
				       (unsigned)HF_DOCTOR_ROWS);
		if (is_possible(operation))
			rc = build_stage(attempt, i);
		if (rc < 0)
			return hf_fail_system(err, rc,
					      "cannot make decoys for '%s'",
					      operation->name);
	}
	return 0;
}

static int write_policy(int project_fd)
{
	cleanup_fd int fd = hf_file_create_at(project_fd, HF_POLICY_NAME, 0600);

	return fd < 0 ? fd
		      : hf_file_write(fd, HF_STAGE_POLICY,
				      strlen(HF_STAGE_POLICY));
}

static int build(struct attempt *attempt, struct hf_error *err)
{
	const struct hf_scratch *scratch = attempt->scratch;
	int rc = hf_file_mkdir_at(scratch->fd, HF_DOCTOR_PROJECT, 0755);

	/* By its path: an older descriptor belongs to the mounts that were left
	 * behind. */
	if (rc >= 0)
		rc = attempt->project_fd =
			hf_file_open_directory(attempt->project_path);
	if (rc >= 0)
		rc = write_policy(attempt->project_fd);
	/* Of no use to git: a repository around it would be told of the store.
	 */
	if (rc >= 0)
		rc = hf_file_mkdir_at(attempt->project_fd, ".git", 0700);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot make decoys in '%s'",
				      HF_QUOTE(scratch->path));
	attempt->trial->is_built = true;
	return build_stages(attempt, err);
}

/* Another run for what is left: what was mounted is no more. */
static int build_again(struct attempt *attempt, struct hf_error *err)
{
	int rc = attempt->project_fd =
		hf_file_open_directory(attempt->project_path);

	for (size_t i = 0; rc >= 0 && i < attempt->doctor->row_count; i++) {
		const struct hf_operation *operation = hf_operation_at(i);
		cleanup_fd int fd = -1;

		if (attempt->doctor->rows[i].is_tried ||
		    !is_possible(operation))
			continue;
		rc = fd = hf_file_open_directory_at(attempt->project_fd,
						    operation->name);
		if (rc >= 0)
			rc = hf_stage_prepare(operation, fd);
	}
	return rc < 0 ? hf_fail_system(err, rc, "cannot try again in '%s'",
				       HF_QUOTE(attempt->scratch->path))
		      : 0;
}

/* -- the run --------------------------------------------------------------- */

/* The row whose stage holds this path; NULL for the policy file. */
static struct hf_doctor_row *row_of(struct hf_doctor *doctor, const char *path)
{
	const char *end = strchr(path, '/');
	const size_t len = end == NULL ? strlen(path) : (size_t)(end - path);

	for (size_t i = 0; i < doctor->row_count; i++) {
		const char *name = hf_operation_at(i)->name;

		if (strncmp(name, path, len) == 0 && name[len] == '\0')
			return &doctor->rows[i];
	}
	return NULL;
}

static void copy_why(char to[HF_DOCTOR_WHY], const char *why)
{
	(void)snprintf(to, HF_DOCTOR_WHY, "%s", why == NULL ? "" : why);
}

/* In the process that guards: what the report would say. */
static int on_finished(void *context, const struct hf_session *session)
{
	struct hf_doctor *const doctor = context;

	for (size_t i = 0; i < session->violations.count; i++) {
		const struct hf_violation *one = session->violations.items[i];
		struct hf_doctor_row *row = row_of(doctor, one->path);

		if (row == NULL)
			continue;
		row->is_refused = row->is_refused || !one->has_landed;
		row->is_noticed = row->is_noticed || one->has_landed;
		row->is_stuck = row->is_stuck || one->is_stuck;
		row->is_left = row->is_left || one->is_outside;
	}
	doctor->gate = session->gate;
	copy_why(doctor->gate_why, session->gate_why);
	doctor->leases_wanted = session->leases_wanted;
	doctor->leases_held = session->leases_held;
	doctor->is_watch_complete = session->is_watch_complete;
	copy_why(doctor->watch_why, session->watch_why);
	doctor->has_looked = session->has_looked;
	doctor->protected_count = session->protected_count;
	/* What could not be put back stands in its row. */
	if (session->status == HF_SESSION_ERROR)
		doctor->error = session->error;
	return 0;
}

/* Behind the last that was tried. */
static size_t first_row(const struct hf_doctor *doctor)
{
	size_t row = doctor->row_count;

	while (row > 0 && !doctor->rows[row - 1].is_tried)
		row--;
	return row;
}

static int run_in(struct attempt *attempt, const char *config,
		  const char *store, struct hf_error *err)
{
	char first[24];
	const char *const argv[] = {
		OURSELF, "doctor", HF_DOCTOR_PERFORM, attempt->scratch->path,
		first,	 NULL};
	const struct hf_session_observer observer = {
		.context = attempt->doctor,
		.finished = on_finished,
	};
	/* The run closes all others. */
	const int keep[] = {attempt->scratch->fd, attempt->project_fd};
	const struct hf_session_options options = {
		.argv = argv,
		.observer = &observer,
		.keep = keep,
		.keep_count = HF_COUNT(keep),
	};
	const struct hf_policy_options policy = {
		.root = attempt->project_path,
		.config = config,
		.has_gate = true,
		.gate = attempt->gate,
	};
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	struct hf_session_result result = {.status = 0};
	int rc;

	(void)snprintf(first, sizeof(first), "%zu", first_row(attempt->doctor));
	rc = hf_project_init(&project, &policy, store, err);
	if (rc < 0)
		return rc;
	rc = hf_session_run(&project, &options, &result, err);
	if (rc < 0)
		return rc;
	if (result.exec_errno != 0)
		return hf_fail_system(err, -result.exec_errno,
				      "cannot execute '%s'", OURSELF);
	return 0;
}

static int run(struct attempt *attempt, struct hf_error *err)
{
	cleanup_free char *config =
		hf_path_join(attempt->project_path, HF_POLICY_NAME);
	cleanup_free char *store = hf_path_join(attempt->scratch->path, STORE);

	if (config == NULL || store == NULL)
		return hf_fail_memory(err);
	return run_in(attempt, config, store, err);
}

/* -- afterwards ------------------------------------------------------------ */

/* "ROW" before, "ERRNO DAMAGED" behind an operation; the last line may lack the
 * rest: the command was ended. */
static void read_outcomes(struct hf_doctor *doctor, const char *text)
{
	size_t row;
	int error;
	int is_damaged;
	int len;

	while (sscanf(text, "%zu%n", &row, &len) == 1) {
		text += len;
		if (row >= doctor->row_count)
			return;
		doctor->rows[row].is_tried = true;
		doctor->rows[row].was_ended = true;
		if (sscanf(text, " %d %d%n", &error, &is_damaged, &len) != 2)
			return;
		text += len;
		doctor->rows[row].was_ended = false;
		doctor->rows[row].error = error;
		doctor->rows[row].was_damaged = is_damaged != 0;
	}
}

static int look_for_outcomes(const struct attempt *attempt)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd =
		hf_file_open_read_at(attempt->scratch->fd, HF_DOCTOR_OUTCOMES);
	int rc = fd < 0 ? fd : hf_file_read_all(fd, 1 << 16, &text);

	if (rc >= 0 && text.len > 0)
		read_outcomes(attempt->doctor, text.data);
	/* The next run begins another. */
	if (rc >= 0)
		rc = hf_file_unlink_at(attempt->scratch->fd,
				       HF_DOCTOR_OUTCOMES);
	return rc;
}

static bool is_as_before(const struct attempt *attempt, size_t row)
{
	struct hf_stage_state after;
	cleanup_fd int fd = hf_file_open_directory_at(
		attempt->project_fd, hf_operation_at(row)->name);

	return fd >= 0 && hf_stage_look(fd, &after) == 0 &&
	       hf_stage_is_same(&attempt->trial->before[row], &after);
}

/* Those that this run has tried; was_tried: those of runs before. */
static void look_again(struct attempt *attempt,
		       const bool was_tried[HF_DOCTOR_ROWS])
{
	struct hf_doctor *const doctor = attempt->doctor;
	bool has_tried = false;

	attempt->trial->is_complete = true;
	for (size_t i = 0; i < doctor->row_count; i++) {
		struct hf_doctor_row *row = &doctor->rows[i];

		if (was_tried[i])
			continue;
		row->is_same = row->is_tried && is_as_before(attempt, i);
		has_tried = has_tried || row->is_tried;
		if (!row->is_tried && is_possible(hf_operation_at(i)))
			attempt->trial->is_complete = false;
	}
	/* A run that gets nowhere is the last. */
	if (!has_tried)
		attempt->trial->is_complete = true;
}

static void judge(struct hf_doctor *doctor)
{
	for (size_t i = 0; i < doctor->row_count; i++) {
		struct hf_doctor_row *row = &doctor->rows[i];

		hf_doctor_judge(row, hf_operation_at(i), doctor->around.is_root,
				doctor->gate);
		doctor->counts[row->verdict]++;
	}
}

static int look_around(struct attempt *attempt)
{
	struct hf_doctor *const doctor = attempt->doctor;
	struct hf_stat st;
	int rc;

	hf_surroundings_look(&doctor->around);
	rc = hf_file_system_traits(attempt->scratch->fd, &doctor->traits);
	if (rc >= 0)
		rc = hf_file_stat(attempt->scratch->fd, &st);
	if (rc >= 0)
		doctor->device = st.dev;
	return rc;
}

static int try_all(struct attempt *attempt, struct hf_error *err)
{
	struct hf_doctor *const doctor = attempt->doctor;
	bool was_tried[HF_DOCTOR_ROWS];
	int rc = look_around(attempt);

	/* Whoever cannot has no operation that mounts, either. */
	if (rc >= 0)
		rc = hf_operation_isolate();
	if (rc < 0 && rc != -EPERM)
		return hf_fail_system(err, rc, "cannot try in '%s'",
				      HF_QUOTE(attempt->scratch->path));
	rc = attempt->trial->is_built ? build_again(attempt, err)
				      : build(attempt, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < HF_DOCTOR_ROWS; i++)
		was_tried[i] = doctor->rows[i].is_tried;
	rc = run(attempt, err);
	if (rc < 0)
		return rc;
	rc = look_for_outcomes(attempt);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read what was tried");
	look_again(attempt, was_tried);
	return 0;
}

/* In a process apart, for what a run does to it. */
static void try_apart(void *context, void *result)
{
	const struct attempt *const given = context;
	cleanup_attempt struct attempt attempt = ATTEMPT_INIT;
	struct hf_error err = {0};
	int rc;

	/* A stop key would stop the run, and whoever waits for it could not be
	 * stopped: the caller has the signals. */
	hf_process_leave_group();
	attempt.scratch = given->scratch;
	attempt.gate = given->gate;
	attempt.trial = result;
	attempt.doctor = &attempt.trial->doctor;
	attempt.project_path =
		hf_path_join(given->scratch->path, HF_DOCTOR_PROJECT);
	hf_system_release_signals(given->held_signals);
	rc = attempt.project_path == NULL ? hf_fail_memory(&err)
					  : try_all(&attempt, &err);
	if (rc < 0)
		attempt.doctor->error = err;
}

static int try_in(struct attempt *attempt, struct hf_doctor *ret_doctor,
		  struct hf_error *err)
{
	cleanup_free struct trial *trial = calloc(1, sizeof(*trial));

	if (trial == NULL)
		return hf_fail_memory(err);
	while (!trial->is_complete) {
		const int rc = hf_process_apart(try_apart, attempt, trial,
						sizeof(*trial));

		if (rc < 0)
			return hf_fail_system(err, rc, "cannot try in '%s'",
					      HF_QUOTE(attempt->scratch->path));
		*err = trial->doctor.error;
		if (err->code < 0)
			return err->code;
		if (hf_system_is_signal_held(attempt->held_signals))
			return hf_fail(err, HF_ERR_SYSTEM,
				       "cannot try: interrupted");
	}
	judge(&trial->doctor);
	*ret_doctor = trial->doctor;
	return 0;
}

int hf_doctor_try(const char *directory, enum hf_gate_mode gate,
		  struct hf_doctor *ret_doctor, struct hf_error *err)
{
	struct hf_scratch scratch = HF_SCRATCH_INIT;
	struct attempt attempt = {
		.scratch = &scratch,
		.gate = gate,
		.held_signals = hf_system_hold_signals(),
	};
	int rc;

	(void)memset(ret_doctor, 0, sizeof(*ret_doctor));
	rc = hf_scratch_make(&scratch, directory, err);
	if (rc >= 0)
		rc = try_in(&attempt, ret_doctor, err);
	hf_scratch_remove(&scratch);
	hf_system_release_signals(attempt.held_signals);
	return rc;
}
