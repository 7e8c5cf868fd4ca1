/* SPDX-License-Identifier: MIT */
/* holdfast doctor: what holds here, tried on decoys. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "guard/doctor.h"
#include "platform/file.h"

/* What the command looks at besides the decoys. */
struct place {
	const char *directory; /* of the decoys; NULL: the usual */
	/* The same without the gate; NULL where there is none. */
	const struct hf_doctor *behind;
	char *root;
	unsigned traits;   /* of the root's file system */
	bool is_elsewhere; /* the decoys lie on another one */
};

static const char *const verdicts[HF_DOCTOR_VERDICTS] = {
	[HF_DOCTOR_IMPOSSIBLE] = "not possible here",
	[HF_DOCTOR_REFUSED] = "refused",
	[HF_DOCTOR_RESTORED] = "noticed and restored",
	[HF_DOCTOR_UNCOVERED] = "not covered",
};

static const char *const verdict_words[HF_DOCTOR_VERDICTS] = {
	[HF_DOCTOR_IMPOSSIBLE] = "impossible",
	[HF_DOCTOR_REFUSED] = "refused",
	[HF_DOCTOR_RESTORED] = "restored",
	[HF_DOCTOR_UNCOVERED] = "uncovered",
};

static const char *const layer_states[] = {
	[HF_LAYER_UNAVAILABLE] = "unavailable",
	[HF_LAYER_OFF] = "off",
	[HF_LAYER_ON] = "on",
};

static const struct {
	unsigned trait;
	const char *word;
	const char *text;
} trait_texts[] = {
	{HF_FS_VOLATILE, "volatile", "is gone when the machine is"},
	{HF_FS_OVERLAY, "overlay", "is gone when the container is"},
	{HF_FS_REMOTE, "remote",
	 "is remote: what others change there is seen by the last look alone, "
	 "and there may be no leases"},
};

static const char *why_of(const struct hf_doctor_row *row)
{
	return row->why != NULL ? row->why : strerror(row->error);
}

/* -- text ------------------------------------------------------------------ */

static void add_row(const struct hf_doctor_row *row, size_t index,
		    struct hf_buffer *out)
{
	const char *why = why_of(row);

	/* Calls of other architectures are nobody's concern. */
	if (hf_operation_at(index)->number < 0)
		return;
	hf_buffer_printf(out, "  %-28s %s%s%s\n", hf_operation_at(index)->name,
			 verdicts[row->verdict], why[0] == '\0' ? "" : ": ",
			 why);
}

static void add_rows(const struct hf_doctor *doctor, bool is_quiet,
		     struct hf_buffer *out)
{
	if (!is_quiet)
		hf_buffer_add_text(out, "operations\n");
	for (size_t i = 0; i < doctor->row_count; i++)
		if (!is_quiet || doctor->rows[i].verdict == HF_DOCTOR_UNCOVERED)
			add_row(&doctor->rows[i], i, out);
}

static void add_uncovered(const struct hf_doctor *doctor, struct hf_buffer *out)
{
	const char *separator = "";

	for (size_t i = 0; i < doctor->row_count; i++) {
		if (doctor->rows[i].verdict != HF_DOCTOR_UNCOVERED)
			continue;
		hf_buffer_printf(out, "%s%s", separator,
				 hf_operation_at(i)->name);
		separator = ", ";
	}
}

static void add_behind(const struct hf_doctor *behind, struct hf_buffer *out)
{
	const size_t uncovered = behind->counts[HF_DOCTOR_UNCOVERED];

	hf_buffer_printf(out,
			 "  %-28s %zu noticed and restored, %zu not covered",
			 "without the gate", behind->counts[HF_DOCTOR_RESTORED],
			 uncovered);
	if (uncovered > 0) {
		hf_buffer_add_text(out, " (");
		add_uncovered(behind, out);
		hf_buffer_add_text(out, ")");
	}
	hf_buffer_add_text(out, "\n");
}

static void add_layers(const struct hf_doctor *doctor, struct hf_buffer *out)
{
	hf_buffer_printf(out, "layers\n  %-28s %s%s%s\n", "gate",
			 layer_states[doctor->gate],
			 doctor->gate_why[0] == '\0' ? "" : ": ",
			 doctor->gate_why);
	hf_buffer_printf(out, "  %-28s %zu of %zu held throughout\n", "leases",
			 doctor->leases_held, doctor->leases_wanted);
	hf_buffer_printf(out, "  %-28s %s%s%s\n", "watch",
			 doctor->is_watch_complete ? "complete" : "incomplete",
			 doctor->watch_why[0] == '\0' ? "" : ": ",
			 doctor->watch_why);
	hf_buffer_printf(out, "  %-28s %s\n", "last look",
			 doctor->has_looked ? "by content" : "failed");
}

static void add_fact(const char *name, const char *text, struct hf_buffer *out)
{
	hf_buffer_printf(out, "  %-28s %s\n", name, text);
}

static void add_traits(const char *name, unsigned traits, struct hf_buffer *out)
{
	for (size_t i = 0; i < HF_COUNT(trait_texts); i++)
		if (traits & trait_texts[i].trait)
			add_fact(name, trait_texts[i].text, out);
}

static void add_here(const struct hf_doctor *doctor, const struct place *place,
		     struct hf_buffer *out)
{
	const struct hf_surroundings *around = &doctor->around;

	hf_buffer_add_text(out, "here\n");
	add_fact("user", around->is_root ? "root" : "an ordinary user", out);
	if (around->container[0] != '\0')
		add_fact("container", around->container, out);
	if (around->is_in_user_namespace)
		add_fact("user namespace", "one of its own", out);
	if (around->is_filtered)
		add_fact("system calls",
			 "filtered already by what holdfast runs in", out);
	if (around->forbids_looking)
		add_fact("other processes",
			 "cannot be looked into (Yama): no gate for an "
			 "ordinary user",
			 out);
	if (around->has_no_new_privileges)
		add_fact("setuid programs",
			 "have no privilege, inside a run or not", out);
	else if (around->keeps_privilege)
		add_fact("setuid programs",
			 "keep their privilege inside a run", out);
	else if (doctor->gate == HF_LAYER_ON)
		add_fact("setuid programs",
			 "have no privilege inside a run (sudo, ping)", out);
	add_traits("the project's file system", place->traits, out);
	add_traits("the decoys' file system", doctor->traits, out);
	if (place->is_elsewhere)
		add_fact("the project",
			 "is on another file system than the decoys; "
			 "'holdfast doctor DIR' tries in DIR",
			 out);
}

static void add_text(const struct hf_doctor *doctor, const struct place *place,
		     bool is_quiet, struct hf_buffer *out)
{
	add_rows(doctor, is_quiet, out);
	if (is_quiet)
		return;
	add_layers(doctor, out);
	if (place->behind != NULL)
		add_behind(place->behind, out);
	add_here(doctor, place, out);
	hf_buffer_printf(out,
			 "%zu refused, %zu noticed and restored, %zu not "
			 "covered, %zu not possible here\n",
			 doctor->counts[HF_DOCTOR_REFUSED],
			 doctor->counts[HF_DOCTOR_RESTORED],
			 doctor->counts[HF_DOCTOR_UNCOVERED],
			 doctor->counts[HF_DOCTOR_IMPOSSIBLE]);
}

/* -- json ------------------------------------------------------------------ */

static void add_json_text(const char *text, struct hf_buffer *out)
{
	if (text[0] == '\0')
		hf_buffer_add_text(out, "null");
	else
		hf_buffer_add_json(out, text, strlen(text));
}

static void add_json_traits(unsigned traits, struct hf_buffer *out)
{
	const char *separator = "";

	hf_buffer_add_text(out, "[");
	for (size_t i = 0; i < HF_COUNT(trait_texts); i++) {
		if (!(traits & trait_texts[i].trait))
			continue;
		hf_buffer_printf(out, "%s\"%s\"", separator,
				 trait_texts[i].word);
		separator = ", ";
	}
	hf_buffer_add_text(out, "]");
}

static void add_json_row(const struct hf_doctor_row *row, size_t index,
			 struct hf_buffer *out)
{
	const struct hf_operation *operation = hf_operation_at(index);

	hf_buffer_printf(out,
			 "\n {\"name\": \"%s\", \"call\": \"%s\", "
			 "\"result\": \"%s\", \"why\": ",
			 operation->name, operation->call,
			 verdict_words[row->verdict]);
	add_json_text(why_of(row), out);
	hf_buffer_add_text(out, "}");
}

/* All of them, or those that nothing covers. */
static void add_json_rows(const struct hf_doctor *doctor, bool is_all,
			  struct hf_buffer *out)
{
	const char *separator = "";

	hf_buffer_printf(out, "\"%s\": [", is_all ? "operations" : "uncovered");
	for (size_t i = 0; i < doctor->row_count; i++) {
		if (!is_all && doctor->rows[i].verdict != HF_DOCTOR_UNCOVERED)
			continue;
		hf_buffer_add_text(out, separator);
		add_json_row(&doctor->rows[i], i, out);
		separator = ",";
	}
	hf_buffer_add_text(out, "]");
}

static void add_json_layers(const struct hf_doctor *doctor,
			    struct hf_buffer *out)
{
	hf_buffer_printf(out,
			 "\"layers\": {\"gate\": {\"state\": \"%s\", "
			 "\"why\": ",
			 layer_states[doctor->gate]);
	add_json_text(doctor->gate_why, out);
	hf_buffer_printf(out,
			 "}, \"leases\": {\"held_throughout\": %zu, "
			 "\"wanted\": %zu}, \"watch\": {\"state\": "
			 "\"%s\", \"why\": ",
			 doctor->leases_held, doctor->leases_wanted,
			 doctor->is_watch_complete ? "complete" : "incomplete");
	add_json_text(doctor->watch_why, out);
	hf_buffer_printf(out, "}, \"final_look\": \"%s\"}",
			 doctor->has_looked ? "content" : "failed");
}

static const char *truth(bool is_so)
{
	return is_so ? "true" : "false";
}

static void add_json_here(const struct hf_doctor *doctor,
			  const struct place *place, struct hf_buffer *out)
{
	const struct hf_surroundings *around = &doctor->around;

	hf_buffer_printf(out, "\"here\": {\"root_user\": %s, \"container\": ",
			 truth(around->is_root));
	add_json_text(around->container, out);
	hf_buffer_printf(out,
			 ", \"user_namespace\": %s, \"filtered\": %s, "
			 "\"no_new_privileges\": %s, "
			 "\"setuid_in_run\": %s, \"forbids_looking\": %s, "
			 "\"project_file_system\": ",
			 truth(around->is_in_user_namespace),
			 truth(around->is_filtered),
			 truth(around->has_no_new_privileges),
			 truth(!around->has_no_new_privileges &&
			       (around->keeps_privilege ||
				doctor->gate != HF_LAYER_ON)),
			 truth(around->forbids_looking));
	add_json_traits(place->traits, out);
	hf_buffer_add_text(out, ", \"decoys_file_system\": ");
	add_json_traits(doctor->traits, out);
	hf_buffer_printf(out, ", \"same_file_system\": %s}",
			 truth(!place->is_elsewhere));
}

static void add_json_counts(const struct hf_doctor *doctor,
			    struct hf_buffer *out)
{
	for (size_t i = 0; i < HF_DOCTOR_VERDICTS; i++)
		hf_buffer_printf(out, "%s\"%s\": %zu", i == 0 ? "" : ", ",
				 verdict_words[i], doctor->counts[i]);
}

static void add_json_behind(const struct hf_doctor *behind,
			    struct hf_buffer *out)
{
	if (behind == NULL) {
		hf_buffer_add_text(out, "null");
		return;
	}
	hf_buffer_add_text(out, "{\"counts\": {");
	add_json_counts(behind, out);
	hf_buffer_add_text(out, "}, ");
	add_json_rows(behind, false, out);
	hf_buffer_add_text(out, "}");
}

static void add_json(const struct hf_doctor *doctor, const struct place *place,
		     struct hf_buffer *out)
{
	hf_buffer_printf(out,
			 "{\"holdfast-json\": 1, \"command\": \"doctor\", "
			 "\"covered\": %s, \"counts\": {",
			 truth(doctor->counts[HF_DOCTOR_UNCOVERED] == 0));
	add_json_counts(doctor, out);
	hf_buffer_add_text(out, "},\n\"without_gate\": ");
	add_json_behind(place->behind, out);
	hf_buffer_add_text(out, ",\n");
	add_json_layers(doctor, out);
	hf_buffer_add_text(out, ",\n");
	add_json_here(doctor, place, out);
	hf_buffer_add_text(out, ",\n");
	add_json_rows(doctor, true, out);
	hf_buffer_add_text(out, "}\n");
}

/* -- the command ----------------------------------------------------------- */

static int find_place(const struct hf_options *options, struct place *place,
		      const struct hf_doctor *doctor, struct hf_error *err)
{
	cleanup_free char *file = NULL;
	cleanup_fd int fd = -1;
	struct hf_stat st;
	int rc;

	rc = hf_policy_find(&options->policy, &place->root, &file, err);
	if (rc < 0)
		return rc;
	fd = hf_file_open_directory(place->root);
	rc = fd < 0 ? fd : hf_file_system_traits(fd, &place->traits);
	if (rc >= 0)
		rc = hf_file_stat(fd, &st);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(place->root));
	place->is_elsewhere = st.dev != doctor->device;
	return 0;
}

static int try_both(struct place *place, struct hf_doctor doctors[2],
		    struct hf_error *err)
{
	int rc;

	rc = hf_doctor_try(place->directory, HF_GATE_AUTO, &doctors[0], err);
	if (rc < 0 || doctors[0].gate != HF_LAYER_ON)
		return rc;
	rc = hf_doctor_try(place->directory, HF_GATE_OFF, &doctors[1], err);
	if (rc == 0)
		place->behind = &doctors[1];
	return rc;
}

static int diagnose(const struct hf_options *options, struct hf_output *output,
		    struct place *place, struct hf_doctor doctors[2],
		    struct hf_error *err)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	int rc;

	if (options->word_count > 1)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot try in more than one directory at a "
			       "time");
	place->directory = options->words[0];
	rc = try_both(place, doctors, err);
	if (rc < 0)
		return rc;
	rc = find_place(options, place, &doctors[0], err);
	if (rc < 0)
		return rc;
	if (options->is_json)
		add_json(&doctors[0], place, &out);
	else
		add_text(&doctors[0], place, options->is_quiet, &out);
	rc = hf_buffer_check(&out, err);
	if (rc < 0)
		return rc;
	hf_output_result(output, &out);
	return 0;
}

/* We are the command of a guarded run on the decoys. */
static int perform(const struct hf_options *options, struct hf_output *output)
{
	struct hf_error err = {0};

	return hf_doctor_perform(options->words[1], options->words[2], &err) < 0
		       ? hf_output_fail(output, &err)
		       : HF_STATUS_DONE;
}

int hf_cmd_doctor(const struct hf_options *options, struct hf_output *output)
{
	cleanup_free struct hf_doctor *doctors = calloc(2, sizeof(*doctors));
	struct place place = {.root = NULL};
	struct hf_error err = {0};
	int rc;

	if (options->word_count == 3 &&
	    strcmp(options->words[0], HF_DOCTOR_PERFORM) == 0)
		return perform(options, output);
	rc = doctors == NULL ? hf_fail_memory(&err)
			     : diagnose(options, output, &place, doctors, &err);
	hf_free_pointee(&place.root);
	if (rc < 0)
		return hf_output_fail(output, &err);
	return doctors[0].counts[HF_DOCTOR_UNCOVERED] > 0 ? HF_STATUS_DIFFERS
							  : HF_STATUS_DONE;
}
