/* SPDX-License-Identifier: MIT */
/* What the gate has seen becomes violations, and who is known to have opened
 * what. */
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "guard/run_gate_internal.h"
#include "platform/system.h"

/* A refusal of more entries at once than this is one violation. */
#define NAMED_BENEATH_MAX 100u

static void note_refused(struct hf_run *run, const struct gate_event *event,
			 const char *path, const char *rule,
			 const struct hf_entry *entry)
{
	(void)hf_run_note_attempt(run,
				  &(struct hf_attempt){
					  .path = path,
					  .rule = rule,
					  .operation = event->operation,
					  .detail = event->detail,
					  .before = entry,
					  .culprit = event->culprit,
					  .test = event->test,
					  .is_test_exact = event->is_test_exact,
					  .time_ns = event->time_ns,
				  },
				  event->count);
}

/* Is it protected, there, and in the directory that was about to go? */
static bool would_go(const struct hf_run *run, const struct gate_event *event,
		     const struct hf_entry *entry)
{
	const char *const root = run->project->root;
	const bool is_whole = strcmp(event->path, ".") == 0 ||
			      strcmp(event->path, root) == 0 ||
			      hf_path_is_beneath(root, event->path);

	return entry->role == HF_ROLE_PROTECTED &&
	       entry->stat.kind != HF_KIND_ABSENT &&
	       ((is_whole && !hf_path_is_absolute(entry->path)) ||
		strcmp(entry->path, event->path) == 0 ||
		hf_path_is_beneath(entry->path, event->path));
}

/* A directory was about to go, with all that is protected in it; of many it is
 * named alone. */
static void note_all_beneath(struct hf_run *run, const struct gate_event *event)
{
	const struct hf_tree *const tree = &run->session.snapshot.tree;
	size_t count = 0;

	for (size_t i = 0; i < tree->count; i++)
		count += would_go(run, event, &tree->entries[i]);
	for (size_t i = 0; count <= NAMED_BENEATH_MAX && i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (would_go(run, event, entry))
			note_refused(run, event, entry->path, entry->rule,
				     entry);
	}
	if (count == 0 || count > NAMED_BENEATH_MAX)
		note_refused(run, event, event->path, event->rule,
			     event->entry);
}

void gate_lose(struct hf_run_gate *gate)
{
	hf_mutex_lock(gate->mutex);
	gate->is_full = true;
	hf_mutex_unlock(gate->mutex);
}

static void remember_open(struct hf_run_gate *gate,
			  const struct gate_event *event)
{
	for (size_t i = 0; i < gate->observed_count; i++)
		if (gate_event_is_same(&gate->observed[i], event)) {
			gate->observed[i].last_ns = event->last_ns;
			return;
		}
	if (gate->observed_count == gate->observed_capacity) {
		const size_t capacity =
			gate->observed_capacity ? 2 * gate->observed_capacity :
						  16;
		struct gate_event *const observed = reallocarray(
			gate->observed, capacity, sizeof(*observed));

		if (!observed) {
			gate_lose(gate);
			return;
		}
		gate->observed = observed;
		gate->observed_capacity = capacity;
	}
	gate->observed[gate->observed_count++] = *event;
}

bool hf_run_gate_has_mounts(struct hf_run *run)
{
	return run->gate && atomic_load(&run->gate->has_mounts);
}

bool hf_run_gate_has_passed(struct hf_run *run, enum hf_deed deed,
			    int64_t *ret_first_ns)
{
	const int64_t last_ns =
		run->gate ? atomic_load(&run->gate->last_passed_ns[deed]) : 0;

	if (last_ns == 0 || hf_system_boot_ns() - last_ns >= HF_MOMENT_NS)
		return false;
	*ret_first_ns = atomic_load(&run->gate->first_passed_ns[deed]);
	return true;
}

int64_t hf_run_gate_opened_ns(struct hf_run *run, const struct hf_entry *entry)
{
	const struct hf_run_gate *const gate = run->gate;
	int64_t last_ns = 0;

	for (size_t i = 0; gate && i < gate->observed_count; i++)
		if (gate->observed[i].entry == entry &&
		    gate->observed[i].last_ns > last_ns)
			last_ns = gate->observed[i].last_ns;
	return last_ns;
}

static const char *effect_text(enum hf_gate_effect effect)
{
	switch (effect) {
	case HF_GATE_NOT_JUDGED:
		return "a call was refused, since the program's memory cannot "
		       "be read";
	case HF_GATE_NO_IO_URING:
		return "io_uring was refused";
	case HF_GATE_NO_LISTENER:
		return "a second seccomp listener was refused";
	case HF_GATE_NO_PRIVILEGE:
		return "a setuid program ran without its privilege";
	case HF_GATE_TRACED:
	case HF_GATE_MOUNTED:
		break;
	}
	return "a program was traced";
}

static void note_effect(struct hf_run *run, const struct gate_event *event)
{
	struct hf_session *const session = &run->session;
	const char *const what = effect_text(event->effect);
	struct hf_side_effect *effects = session->side_effects;

	for (size_t i = 0; i < session->side_effect_count; i++)
		if (strcmp(effects[i].what, what) == 0 &&
		    strcmp(effects[i].process.comm,
			   event->culprit->process.comm) == 0) {
			effects[i].count += event->count;
			return;
		}
	effects = reallocarray(effects, session->side_effect_count + 1,
			       sizeof(*effects));
	if (!effects)
		return;
	session->side_effects = effects;
	effects[session->side_effect_count++] = (struct hf_side_effect){
		.what = what,
		.process = event->culprit->process,
		.count = event->count,
	};
}

static void take_event(struct hf_run *run, struct hf_job *job,
		       const struct gate_event *event)
{
	switch (event->kind) {
	case GATE_EVENT_REFUSED:
		if (event->takes_all)
			note_all_beneath(run, event);
		else
			note_refused(run, event, event->path, event->rule,
				     event->entry);
		if (job && run->options->fail_fast)
			hf_job_stop(job);
		break;
	case GATE_EVENT_OBSERVED:
		remember_open(run->gate, event);
		break;
	case GATE_EVENT_EFFECT:
		if (event->culprit)
			note_effect(run, event);
		break;
	}
}

/* The next of the list; its count is what came since it was taken last. */
static bool next_event(struct hf_run_gate *gate, struct gate_event *ret_event)
{
	struct gate_event *event;

	hf_mutex_lock(gate->mutex);
	event = gate->first;
	if (event) {
		gate->first = event->next;
		if (!gate->first)
			gate->last = NULL;
		event->is_left = false;
		*ret_event = *event;
		event->count = 0;
	}
	hf_mutex_unlock(gate->mutex);
	return event != NULL;
}

void hf_run_gate_lock(struct hf_run *run)
{
	if (run->gate)
		hf_mutex_lock(run->gate->mutex);
}

void hf_run_gate_unlock(struct hf_run *run)
{
	if (run->gate)
		hf_mutex_unlock(run->gate->mutex);
}

static bool has_lost(struct hf_run_gate *gate)
{
	bool is_full;

	hf_mutex_lock(gate->mutex);
	is_full = gate->is_full;
	hf_mutex_unlock(gate->mutex);
	return is_full;
}

void hf_run_take_gate(struct hf_run *run, struct hf_job *job)
{
	struct hf_run_gate *const gate = run->gate;
	struct gate_event event;

	if (!gate)
		return;
	hf_bell_silence(gate->bell);
	while (next_event(gate, &event))
		take_event(run, job, &event);
	if (has_lost(gate)) {
		struct hf_error err = { 0 };

		(void)hf_fail_memory(&err);
		hf_run_fail(run, &err);
	}
}

static bool has_room(struct hf_run_gate *gate)
{
	const size_t capacity =
		gate->renewal_capacity ? 2 * gate->renewal_capacity : 16;
	struct gate_renewal *renewals;

	if (gate->renewal_count < gate->renewal_capacity)
		return true;
	renewals = reallocarray(gate->renewals, capacity, sizeof(*renewals));
	if (!renewals)
		return false;
	gate->renewals = renewals;
	gate->renewal_capacity = capacity;
	return true;
}

/* The gate's thread takes it before its next decision. */
void hf_run_gate_renew(struct hf_run *run, const struct hf_entry *entry,
		       const struct hf_stat *now)
{
	struct hf_run_gate *const gate = run->gate;

	if (!gate)
		return;
	hf_mutex_lock(gate->mutex);
	if (has_room(gate))
		gate->renewals[gate->renewal_count++] = (struct gate_renewal){
			.entry = entry,
			.file = { .dev = now->dev, .ino = now->ino },
		};
	else
		gate->is_full = true;
	atomic_store(&gate->has_renewals, true);
	hf_mutex_unlock(gate->mutex);
}

size_t hf_run_gate_openers(struct hf_run *run, const struct hf_entry *entry,
			   struct hf_violation *violation)
{
	const struct hf_run_gate *const gate = run->gate;
	cleanup_free struct hf_process *found = NULL;
	struct hf_processes processes = HF_PROCESSES_INIT;
	const struct gate_event *one = NULL;

	if (!gate || gate->observed_count == 0)
		return 0;
	found = calloc(gate->observed_count, sizeof(*found));
	if (!found)
		return 0;
	for (size_t i = 0; i < gate->observed_count; i++) {
		const struct gate_event *const event = &gate->observed[i];

		if (event->entry != entry || !event->culprit)
			continue;
		one = event;
		found[processes.count++] = event->culprit->process;
	}
	if (processes.count == 1) {
		violation->culprit = one->culprit;
		violation->test = one->test;
		violation->is_test_exact = false;
		return 1;
	}
	processes.items = found;
	if (processes.count > 0 &&
	    hf_violations_set_candidates(&run->session.violations, violation,
					 &processes) < 0)
		return 0;
	return processes.count;
}
