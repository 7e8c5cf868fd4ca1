/* SPDX-License-Identifier: MIT */
/* How a run ended: from what happened to one status. */
#include "base/fail.h"
#include "guard/run.h"

static void count_results(struct hf_run *run)
{
	struct hf_session *const session = &run->session;
	size_t stuck = 0;
	size_t outside = 0;

	for (size_t i = 0; i < session->violations.count; i++) {
		struct hf_violation *const violation =
			session->violations.items[i];

		/* Nothing was touched, or it is to stay. */
		if (!violation->has_landed)
			continue;
		if (violation->is_outside) {
			outside += violation == hf_violations_find(
							&session->violations,
							violation->path) &&
				   violation->before.path &&
				   violation->change != 0;
			continue;
		}
		if (!session->has_looked || violation->is_open) {
			violation->is_stuck = true;
			violation->is_restored = false;
			if (!violation->error)
				violation->error = session->error.text;
		}
		/* Seen while it happened and not at the end: undone. */
		if (!violation->is_stuck)
			violation->is_restored = true;
		else if (violation ==
				 hf_violations_find(&session->violations,
						    violation->path) &&
			 violation->before.path)
			stuck++;
	}
	if (!session->has_looked)
		stuck = session->protected_count;
	stuck += outside;
	session->verified_count = session->protected_count > stuck ?
					  session->protected_count - stuck :
					  0;
}

bool hf_run_has_stuck(const struct hf_run *run)
{
	const struct hf_session *const session = &run->session;

	for (size_t i = 0; i < session->violations.count; i++)
		if (session->violations.items[i]->is_stuck)
			return true;
	return false;
}

static void decide_status(struct hf_run *run)
{
	struct hf_session *const session = &run->session;

	if (hf_run_has_stuck(run) || session->unended > 0 ||
	    session->look_failed || session->is_store_lost) {
		session->status = HF_SESSION_UNRESTORED;
		session->exit_status = HF_STATUS_UNDECIDED;
	} else if (session->violations.count > 0) {
		session->status = HF_SESSION_VIOLATED;
		session->exit_status = HF_STATUS_VIOLATION;
	} else if (session->exec_errno != 0) {
		session->status = HF_SESSION_ERROR;
		session->exit_status =
			hf_session_exec_status(session->exec_errno);
	} else if (session->error.code != 0 || session->is_survivor) {
		session->status = HF_SESSION_ERROR;
		session->exit_status = HF_STATUS_FAILURE;
	} else {
		session->status = HF_SESSION_CLEAN;
		session->exit_status = 0;
	}
}

void hf_run_take_end(struct hf_run *run, const struct hf_job_end *end)
{
	struct hf_session *const session = &run->session;

	session->has_command_result = end->has_run;
	session->command_code = end->code;
	session->command_signal = end->signal;
	session->exec_errno = end->exec_errno;
	session->was_stopped = end->was_stopped;
	session->is_survivor = end->is_survivor;
	session->leftovers = end->leftovers;
	session->unended = end->unended;
	if (end->error.code != 0)
		hf_run_fail(run, &end->error);
	if (end->is_survivor) {
		struct hf_error err = { 0 };

		if (session->gate != HF_LAYER_OFF) {
			session->gate = HF_LAYER_UNAVAILABLE;
			session->gate_why = "a process of holdfast was killed";
		}

		(void)hf_fail(&err, HF_ERR_SYSTEM,
			      "cannot go on: a process of holdfast was killed; "
			      "the command was ended and the tree checked");
		hf_run_fail(run, &err);
	}
}

void hf_run_close_journal(struct hf_run *run)
{
	static const enum hf_outcome outcomes[] = {
		[HF_SESSION_RUNNING] = HF_OUTCOME_ERROR,
		[HF_SESSION_CLEAN] = HF_OUTCOME_CLEAN,
		[HF_SESSION_VIOLATED] = HF_OUTCOME_VIOLATED,
		[HF_SESSION_UNRESTORED] = HF_OUTCOME_UNRESTORED,
		[HF_SESSION_ERROR] = HF_OUTCOME_ERROR,
	};
	struct hf_session *const session = &run->session;
	struct hf_error err = { 0 };

	if (hf_journal_end(&run->journal, outcomes[session->status],
			   session->exit_status, session->violations.count,
			   &err) == 0)
		return;
	hf_run_fail(run, &err);
	decide_status(run);
}

void hf_run_decide(struct hf_run *run)
{
	hf_run_forget_beside(run);
	count_results(run);
	decide_status(run);
}
