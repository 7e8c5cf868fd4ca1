/* SPDX-License-Identifier: MIT */
/*
 * Other runs of this root that lived beside this one: what their commands
 * changed, and what they put back, is theirs to answer for.
 *
 * It stands in their journals.  Where our gate is on, our command has not
 * changed what they say has landed there.  Without a gate nobody can tell whose
 * command it was, and it is everybody's.
 */
#include <string.h>

#include "base/text.h"
#include "core/json.h"
#include "core/sealed.h"
#include "guard/run.h"

/*
 * A change by the command of that session, that landed.  Two runs behind gates
 * may each take a third one's change for the other's: of those the earlier
 * keeps it.
 */
static bool is_of_path(const hf_json_value *record, const char *path,
		       bool is_earlier, struct hf_arena *arena)
{
	bool has_landed = false;
	bool is_outside = false;
	bool is_gated = false;
	const char *name;

	(void)hf_json_bool(hf_json_get(record, "landed"), &has_landed);
	(void)hf_json_bool(hf_json_get(record, "outside"), &is_outside);
	(void)hf_json_bool(hf_json_get(record, "gated"), &is_gated);
	return has_landed && !is_outside && (!is_gated || is_earlier) &&
	       hf_text_decode(hf_json_get(record, "path"),
			      hf_json_get(record, "path_bytes"), arena,
			      &name) == 0 &&
	       strcmp(name, path) == 0;
}

/*
 * Open now, begun after us, or not ended when we began.  The last is by the
 * clock: where that was set back meanwhile, a run more or less is asked.
 */
static bool is_beside(const struct hf_run *run,
		      const struct hf_session_record *record)
{
	return !record->has_ended ||
	       hf_name_number(&record->name) >
		       hf_name_number(&run->session.name) ||
	       record->ended_ns >= run->session.started_ns;
}

static bool has_changed(const struct hf_run *run, const struct hf_name *session,
			const char *path)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	const bool is_earlier =
		hf_name_number(session) < hf_name_number(&run->session.name);
	struct hf_error ignored;
	struct hf_lines lines;
	const char *line;
	size_t len;

	if (hf_journal_read(&run->project->store, session, &record, &ignored) <
		    0 ||
	    !is_beside(run, &record))
		return false;
	lines = hf_lines_of(record.violation_lines);
	while (hf_lines_next(&lines, &line, &len)) {
		cleanup_json struct hf_json *json = NULL;

		if (hf_json_parse_line(line, len, &json, &ignored) == 0 &&
		    is_of_path(hf_json_root(json), path, is_earlier,
			       &record.arena))
			return true;
	}
	return false;
}

/* How many sessions that have ended are asked, the newest first. */
#define ENDED_MAX 32u

static bool find(const struct hf_run *run, const struct hf_names *names,
		 size_t most, const char *path, struct hf_name *ret_session)
{
	for (size_t i = 0; i < names->count && i < most; i++) {
		const struct hf_name *const name =
			&names->items[names->count - 1 - i];

		if (hf_name_number(name) !=
			    hf_name_number(&run->session.name) &&
		    has_changed(run, name, path)) {
			*ret_session = *name;
			return true;
		}
	}
	return false;
}

bool hf_run_is_of_another(const struct hf_run *run, const char *path,
			  struct hf_name *ret_session)
{
	cleanup_journal_names struct hf_journal_names names =
		HF_JOURNAL_NAMES_INIT;
	struct hf_error ignored;

	return hf_journal_names(&run->project->store, &names, &ignored) == 0 &&
	       (find(run, &names.open, names.open.count, path, ret_session) ||
		find(run, &names.done, ENDED_MAX, path, ret_session));
}

/* Not looked at yet, or undone by somebody else. */
static bool is_undecided(const struct hf_violation *violation)
{
	return violation->has_landed && !violation->is_outside &&
	       violation->change == 0 && !violation->is_restored;
}

bool hf_run_disown(struct hf_run *run)
{
	struct hf_violations *const violations = &run->session.violations;
	const bool is_proven =
		run->project->policy.on_outside == HF_OUTSIDE_STAY &&
		run->session.gate == HF_LAYER_ON &&
		!hf_run_gate_has_mounts(run);
	bool has_own = false;
	bool has_any = false;

	for (size_t i = 0; i < violations->count; i++) {
		struct hf_violation *const violation = violations->items[i];
		struct hf_name other;

		if (is_proven && is_undecided(violation) &&
		    hf_run_is_of_another(run, violation->path, &other)) {
			violation->is_outside = true;
			violation->candidate_count = 0;
			has_any = true;
			hf_run_journal(run, violation);
		}
		has_own |= violation->has_landed && !violation->is_outside;
	}
	return has_any && !has_own;
}

void hf_run_forget_beside(struct hf_run *run)
{
	struct hf_session *const session = &run->session;
	struct hf_violations *const violations = &session->violations;
	size_t count = 0;

	(void)hf_run_disown(run);
	for (size_t i = 0; session->has_looked && i < violations->count; i++) {
		struct hf_violation *const violation = violations->items[i];
		const bool is_theirs =
			violation->is_outside && violation->change == 0 &&
			hf_run_is_of_another(run, violation->path,
					     &session->beside_session);

		if (!is_theirs)
			violations->items[count++] = violation;
		else if (session->beside_count++ == 0)
			session->beside_path = violation->path;
	}
	if (session->has_looked)
		violations->count = count;
}
