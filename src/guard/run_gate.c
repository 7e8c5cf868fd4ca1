/* SPDX-License-Identifier: MIT */
/*
 * The gate in a run.
 *
 * The gate's thread decides, looks at who asks, answers, and leaves what
 * happened in a list; the main thread, told by a bell, turns that into
 * violations, the journal and the report.  So nobody waits at the gate for a
 * disk.
 *
 * Opens for reading and writing that were let through are remembered by entry:
 * they are who may have written to it.
 */
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "guard/run_gate_internal.h"
#include "platform/lease.h"
#include "platform/system.h"
#include "platform/task.h"

/* So many who were met last are compared with before one more is kept. */
#define CULPRITS_COMPARED 64u

/* -- who ---------- */

static bool is_same_program(const struct hf_culprit *culprit,
			    const struct hf_task *task)
{
	const struct hf_process *const a = &culprit->process;
	const struct hf_process *const b = &task->process;

	return a->pid == b->pid && culprit->tid == task->tid &&
	       culprit->start == task->start &&
	       strcmp(culprit->exe, task->exe) == 0 &&
	       strcmp(culprit->cwd, task->cwd) == 0 &&
	       a->command_line_len == b->command_line_len &&
	       (a->command_line_len == 0 ||
		memcmp(a->command_line, b->command_line, a->command_line_len) ==
			0);
}

static const struct hf_culprit *keep_culprit(struct hf_run_gate *gate,
					     const struct hf_task *task)
{
	const size_t count = gate->culprit_count;
	struct hf_culprit *culprit;

	for (size_t i = count; i > 0 && count - i < CULPRITS_COMPARED; i--)
		if (is_same_program(gate->culprits[i - 1], task))
			return gate->culprits[i - 1];
	if (count == gate->culprit_capacity) {
		const size_t capacity = count ? 2 * count : 16;
		struct hf_culprit **const culprits = reallocarray(
			gate->culprits, capacity, sizeof(*culprits));

		if (!culprits)
			return NULL;
		gate->culprits = culprits;
		gate->culprit_capacity = capacity;
	}
	culprit = hf_culprit_keep(&gate->arena, task);
	if (culprit)
		gate->culprits[gate->culprit_count++] = culprit;
	return culprit;
}

/* -- the gate's thread ---------- */

static const char *copy(struct hf_run_gate *gate, const char *text)
{
	return text ? hf_arena_copy(&gate->arena, text, strlen(text)) : NULL;
}

bool gate_event_is_same(const struct gate_event *a, const struct gate_event *b)
{
	return a->kind == b->kind && a->effect == b->effect &&
	       a->entry == b->entry && a->culprit == b->culprit && a->culprit &&
	       hf_is_same_text(a->path, b->path) &&
	       hf_is_same_text(a->operation, b->operation) &&
	       hf_is_same_text(a->detail, b->detail) &&
	       hf_is_same_text(a->test, b->test);
}

static struct gate_event *keep_event(struct hf_run_gate *gate,
				     const struct gate_event *event)
{
	struct gate_event *const kept =
		hf_arena_alloc(&gate->arena, sizeof(*kept));

	if (!kept)
		return NULL;
	*kept = *event;
	kept->path = copy(gate, event->path);
	kept->rule = copy(gate, event->rule);
	kept->operation = copy(gate, event->operation);
	kept->detail = copy(gate, event->detail);
	kept->test = copy(gate, event->test);
	return kept;
}

static struct gate_event *find_recent(const struct hf_run_gate *gate,
				      const struct gate_event *event)
{
	for (size_t i = 0; i < GATE_RECENT; i++)
		if (gate->recent[i] &&
		    gate_event_is_same(gate->recent[i], event))
			return gate->recent[i];
	return NULL;
}

/* Into the list, if it is not there; under the mutex. */
static void leave(struct hf_run_gate *gate, struct gate_event *event)
{
	if (event->is_left)
		return;
	event->is_left = true;
	event->next = NULL;
	if (gate->last)
		gate->last->next = event;
	else
		gate->first = event;
	gate->last = event;
}

/* Before the caller knows of it: what it does next may be to kill us. */
static void journal_event(struct hf_run_gate *gate,
			  const struct gate_event *event)
{
	const struct hf_violation violation = {
		.path = event->path,
		.rule = event->rule,
		.operation = event->operation,
		.detail = event->detail,
		.culprit = event->culprit,
		.test = event->test,
		.is_test_exact = event->is_test_exact,
		.count = 1,
		.time_ns = event->time_ns,
	};
	struct hf_error ignored = { 0 };
	int rc = 0;

	if (event->kind == GATE_EVENT_REFUSED)
		rc = hf_run_write_journal(gate->run, &violation, &ignored);
	/* The main thread writes it again, and says what goes wrong then. */
	(void)rc;
}

/* A loop that is refused again and again is one event with a count. */
static void leave_event(struct hf_run_gate *gate, const struct gate_event *event)
{
	struct gate_event *kept = find_recent(gate, event);
	bool was_left;

	if (!kept) {
		kept = keep_event(gate, event);
		if (kept) {
			journal_event(gate, kept);
			gate->recent[gate->recent_at++ % GATE_RECENT] = kept;
		}
	}
	hf_mutex_lock(gate->mutex);
	was_left = kept && kept->is_left;
	if (kept) {
		kept->count++;
		kept->last_ns = event->time_ns;
		leave(gate, kept);
	} else {
		gate->is_full = true;
	}
	hf_mutex_unlock(gate->mutex);
	if (!was_left)
		hf_bell_ring(gate->bell);
}

/* Who waits there, in which test, and what it was about to do. */
static void describe(struct hf_run_gate *gate,
		     const struct hf_gate_question *question,
		     struct gate_event *event, struct hf_buffer *detail)
{
	struct hf_suspect *const suspect = &gate->suspect;

	event->time_ns = hf_system_time_ns();
	event->operation = hf_gate_question_call(question)->name;
	hf_gate_describe(question, detail);
	event->detail = detail->data ? detail->data : "";
	if (hf_culprit_look(gate->tasks, hf_gate_question_tid(question),
			    suspect) < 0)
		return;
	event->culprit = keep_culprit(gate, suspect->task);
	event->test = suspect->has_test ? suspect->test : NULL;
	event->is_test_exact = suspect->has_test && suspect->is_test_exact;
}

static void leave_decision(struct hf_run_gate *gate,
			   const struct hf_gate_question *question,
			   enum gate_event_kind kind)
{
	const struct hf_decision *const decision = &gate->decision;
	cleanup_buffer struct hf_buffer detail = HF_BUFFER_INIT;
	struct gate_event event = {.kind = kind};

	describe(gate, question, &event, &detail);
	/* Its number may have been another one's while we looked. */
	if (!hf_gate_is_waiting(question))
		return;
	for (size_t i = 0; i < decision->target_count; i++) {
		const struct hf_target *const target = &decision->targets[i];

		event.entry = target->entry;
		event.takes_all = target->takes_all;
		event.path = target->path;
		event.rule = target->rule;
		leave_event(gate, &event);
	}
}

/* The copy is guarded like the file: what the command does to it would have
 * been done to that. */
static int copy_instead(struct hf_run_gate *gate,
			struct hf_gate_question *question)
{
	const struct hf_entry *const entry = gate->decision.targets[0].entry;
	struct hf_gate_identity copy;
	const int rc = hf_gate_copy(question, &copy);

	if (rc < 0)
		return rc == -EOPNOTSUPP ? 0 : -rc;
	if (hf_decide_set_add_copy(&gate->set, entry, copy.dev, copy.ino) < 0) {
		gate_lose(gate);
		hf_bell_ring(gate->bell);
	}
	return HF_GATE_DONE;
}

/* Its lease must not keep the caller waiting, nor count as a way past the gate. */
static int approve(struct hf_run_gate *gate,
		   const struct hf_gate_question *question)
{
	const struct hf_tree *const tree = gate->set.tree;
	const struct hf_entry *const entry = gate->decision.targets[0].entry;

	if (!gate->run->leases || entry->role != HF_ROLE_PROTECTED)
		return 0;
	return -hf_leases_approve(gate->run->leases,
				  (size_t)(entry - tree->entries),
				  hf_gate_question_tid(question));
}

static enum hf_verdict decide(struct hf_run_gate *gate,
			      struct hf_gate_question *question)
{
	struct hf_decision *const decision = &gate->decision;

	for (;;) {
		const enum hf_verdict verdict =
			hf_decide(&gate->set, hf_gate_question_call(question),
				  decision);

		if (verdict != HF_VERDICT_ASK)
			return verdict;
		hf_gate_learn(question, decision->place, decision->fact);
	}
}

/* What the main thread has found to be another file. */
static void take_renewals(struct hf_run_gate *gate)
{
	int rc = 0;

	hf_mutex_lock(gate->mutex);
	atomic_store(&gate->has_renewals, false);
	for (size_t i = 0; i < gate->renewal_count; i++) {
		const struct gate_renewal *const renewal = &gate->renewals[i];

		if (hf_decide_set_renew(&gate->set, renewal->entry,
					renewal->file.dev,
					renewal->file.ino) < 0)
			rc = -ENOMEM;
	}
	gate->renewal_count = 0;
	gate->is_full = gate->is_full || rc < 0;
	hf_mutex_unlock(gate->mutex);
}

static void pass(struct hf_run_gate *gate, enum hf_deed deed)
{
	const int64_t now_ns = hf_system_boot_ns();

	if (now_ns - atomic_load(&gate->last_passed_ns[deed]) >= HF_MOMENT_NS)
		atomic_store(&gate->first_passed_ns[deed], now_ns);
	atomic_store(&gate->last_passed_ns[deed], now_ns);
}

/* It may meet another name than the one that we looked at. */
static void note_passed(struct hf_run_gate *gate,
			enum hf_gate_operation operation)
{
	switch (operation) {
	case HF_GATE_RENAME:
		pass(gate, HF_DEED_REPLACE);
		pass(gate, HF_DEED_REMOVE);
		break;
	case HF_GATE_REMOVE:
	case HF_GATE_REMOVE_DIRECTORY:
		pass(gate, HF_DEED_REMOVE);
		break;
	case HF_GATE_MODE:
	case HF_GATE_OWNER:
	case HF_GATE_TIMES:
	case HF_GATE_ATTRIBUTE:
	case HF_GATE_FLAGS:
		pass(gate, HF_DEED_METADATA);
		break;
	default:
		break;
	}
}

static int judge(void *context, struct hf_gate_question *question)
{
	struct hf_run_gate *const gate = context;
	enum hf_verdict verdict;

	/* The first refusal was to be the last thing that happens. */
	if (gate->is_ending)
		return HF_GATE_HOLD;
	if (atomic_load(&gate->has_renewals))
		take_renewals(gate);
	/* What it was let through with before is over. */
	if (gate->run->leases)
		hf_leases_forget(gate->run->leases,
				 hf_gate_question_tid(question));
	do
		verdict = decide(gate, question);
	while (verdict != HF_VERDICT_PASS && hf_gate_look_closer(question));
	switch (verdict) {
	case HF_VERDICT_REFUSE:
		leave_decision(gate, question, GATE_EVENT_REFUSED);
		gate->is_ending = gate->run->options->fail_fast;
		return gate->is_ending ? HF_GATE_HOLD : EACCES;
	case HF_VERDICT_OBSERVE:
		leave_decision(gate, question, GATE_EVENT_OBSERVED);
		return approve(gate, question);
	case HF_VERDICT_COPY:
		return copy_instead(gate, question);
	case HF_VERDICT_DONE:
		return HF_GATE_DONE;
	case HF_VERDICT_PASS:
		note_passed(gate, hf_gate_question_call(question)->operation);
		break;
	case HF_VERDICT_ASK:
		break;
	}
	return 0;
}

static void take_effect(void *context, struct hf_gate_question *question,
			enum hf_gate_effect effect)
{
	struct hf_run_gate *const gate = context;
	struct gate_event event = {.kind = GATE_EVENT_EFFECT, .effect = effect};

	if (effect == HF_GATE_MOUNTED) {
		atomic_store(&gate->has_mounts, true);
		return;
	}

	if (hf_culprit_look(gate->tasks, hf_gate_question_tid(question),
			    &gate->suspect) < 0)
		return;
	event.time_ns = hf_system_time_ns();
	event.culprit = keep_culprit(gate, gate->suspect.task);
	if (hf_gate_is_waiting(question))
		leave_event(gate, &event);
}

/* -- arming ---------- */

static const char *why_not(int rc)
{
	switch (rc) {
	case -EBUSY:
		return "the command is below another gate already";
	case -ENOSYS:
	case -EINVAL:
	case -EOPNOTSUPP:
		return "the kernel has no seccomp notification";
	case -EACCES:
	case -EPERM:
		return "this user may not install a filter";
	case -EMFILE:
	case -ENFILE:
		return "no descriptor is left";
	case -ENOMEM:
		return "out of memory";
	default:
		return "the filter cannot be installed";
	}
}

static void gate_free(struct hf_run_gate **gate)
{
	struct hf_run_gate *const it = *gate;

	*gate = NULL;
	if (!it)
		return;
	hf_free_pointee(&it->renewals);
	hf_decide_set_done(&it->set);
	hf_tasks_free(&it->tasks);
	hf_bell_free(&it->bell);
	hf_mutex_free(&it->mutex);
	free(it);
}

static int start(struct hf_run *run, struct hf_job *job, struct hf_error *err)
{
	__attribute__((cleanup(gate_free))) struct hf_run_gate *gate =
		calloc(1, sizeof(*gate));
	const struct hf_gate_hooks hooks = {
		.context = gate,
		.judge = judge,
		.effect = take_effect,
	};
	int rc;

	if (!gate)
		return hf_fail_memory(err);
	gate->run = run;
	rc = hf_run_fill_set(run, &gate->set, err);
	if (rc < 0)
		return rc;
	rc = hf_mutex_new(&gate->mutex);
	if (rc == 0)
		rc = hf_bell_new(&gate->bell);
	if (rc == 0)
		rc = hf_tasks_new(hf_job_proc(job), hf_process_pid(),
				  &gate->tasks);
	if (rc == 0)
		rc = hf_gate_start(hf_job_gate(job), hf_job_proc(job), &hooks);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot start the gate");
	hf_job_listen(job, hf_bell_fd(gate->bell));
	run->gate = take_ptr(&gate);
	return 0;
}

int hf_run_arm_gate(struct hf_run *run, struct hf_job *job,
		    struct hf_error *err)
{
	struct hf_session *const session = &run->session;
	const enum hf_gate_mode mode = run->project->policy.gate;
	int rc;

	if (mode == HF_GATE_OFF)
		return 0;
	rc = hf_job_gate(job);
	if (rc < 0) {
		session->gate_why = why_not(rc);
		if (mode != HF_GATE_REQUIRE)
			return 0;
		(void)hf_fail(err, HF_ERR_UNSUPPORTED,
			      "cannot run: the gate is required, and %s",
			      session->gate_why);
		return hf_fail_hint(err,
				    "'holdfast doctor' shows what holds here; "
				    "with '--gate auto' changes are noticed, "
				    "put back and fail the run");
	}
	rc = start(run, job, err);
	if (rc < 0)
		return rc;
	session->gate = HF_LAYER_ON;
	session->gate_why = NULL;
	return 0;
}
