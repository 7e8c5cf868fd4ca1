/* SPDX-License-Identifier: MIT */
/*
 * What holds here: every operation of platform/operation.h is tried on decoys
 * in a guarded run like any other, and what became of it is looked up.
 *
 *	rc = hf_doctor_try(directory, HF_GATE_AUTO, &doctor, err);
 *
 * The command of that run is this program itself, which calls
 * hf_doctor_perform().
 */
#ifndef HF_GUARD_DOCTOR_H
#define HF_GUARD_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guard/session.h"
#include "holdfast/error.h"
#include "platform/operation.h"
#include "platform/surroundings.h"

/* More than the table has. */
#define HF_DOCTOR_ROWS 256
#define HF_DOCTOR_WHY  160

enum hf_doctor_verdict {
	HF_DOCTOR_IMPOSSIBLE,	/* the system itself does not let it happen */
	HF_DOCTOR_REFUSED,	/* it did not happen */
	HF_DOCTOR_RESTORED,	/* it happened, was noticed and undone */
	HF_DOCTOR_UNCOVERED	/* it happened, and is still so or was not told */
};
#define HF_DOCTOR_VERDICTS 4

/* One operation, by its place in the table. */
struct hf_doctor_row {
	enum hf_doctor_verdict verdict;
	bool is_tried;
	bool was_ended;		/* with all the command, in the middle of it */
	bool was_damaged;	/* seen at once by who performed it */
	bool is_refused;	/* by the report: so it was called */
	bool is_noticed;	/* by the report: a change that landed */
	bool is_stuck;		/* by the report: it could not be put back */
	bool is_left;		/* by the report: an edit from outside, left */
	bool is_same;		/* the protected entries, when all was over */
	int error;		/* errno; 0 when the calls succeeded */
	const char *why;	/* a constant; NULL: what error says */
};

/* Plain memory, shared by the processes of the run. */
struct hf_doctor {
	struct hf_doctor_row rows[HF_DOCTOR_ROWS];
	size_t row_count;
	size_t counts[HF_DOCTOR_VERDICTS];
	enum hf_layer_state gate;
	char gate_why[HF_DOCTOR_WHY];	/* "" when on */
	size_t leases_wanted;
	size_t leases_held;
	bool is_watch_complete;
	char watch_why[HF_DOCTOR_WHY];
	bool has_looked;		/* every entry, at the end */
	size_t protected_count;
	struct hf_surroundings around;
	unsigned traits;		/* enum hf_file_system_trait of the place */
	uint64_t device;		/* that it is on */
	struct hf_error error;		/* of the run; code 0 when none */
};

/*
 * directory NULL: where programs keep their state.  gate as for a run: with
 * HF_GATE_OFF the layers behind it have to show what they can.  A failure means
 * that it could not be tried; nothing of it is left behind either way.
 */
MUST_CHECK int hf_doctor_try(const char *directory, enum hf_gate_mode gate,
			     struct hf_doctor *ret_doctor,
			     struct hf_error *err);

/* In the scratch directory: the stages; what the run's command wrote down. */
#define HF_DOCTOR_PROJECT  "project"
#define HF_DOCTOR_OUTCOMES "outcomes"

/* The hidden word that our command line begins with in that run. */
#define HF_DOCTOR_PERFORM "perform-decoys"

/* In the run: perform all that has a stage beneath the scratch directory, from
 * the row with this number on. */
MUST_CHECK int hf_doctor_perform(const char *path, const char *first,
				 struct hf_error *err);

/* The pure part: what the facts of a row mean.  Sets verdict and why. */
void hf_doctor_judge(struct hf_doctor_row *row,
		     const struct hf_operation *operation, bool is_root,
		     enum hf_layer_state gate);

#endif /* HF_GUARD_DOCTOR_H */
