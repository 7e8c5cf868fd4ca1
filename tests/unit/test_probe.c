/* SPDX-License-Identifier: MIT */
/* What is remembered of the gate, and what is said when it does not hold. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "guard/doctor.h"
#include "guard/probe.h"
#include "holdfast/error.h"

#define BOOT "11111111-2222-3333-4444-555555555555"

static const struct hf_probe_key plain = {
	.version = "1.2.3",
	.program = {7, 8, 9},
	.boot_id = BOOT,
	.uid = 1000,
	.standing = "a \"b\"",
};

#define PLAIN                                                       \
	"{\"holdfast-probe\":1,\"version\":\"1.2.3\","              \
	"\"program\":\"7:8:9\",\"boot\":\"" BOOT "\",\"uid\":1000," \
	"\"standing\":\"a \\\"b\\\"\",\"gate\":\"holds\"}\n"

Test(probe, has_this_text)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	hf_probe_text(&plain, &text);
	cr_assert_eq(text.len, strlen(PLAIN));
	cr_assert_arr_eq(text.data, PLAIN, text.len);
	cr_assert(hf_probe_is_known(&plain, PLAIN, strlen(PLAIN)));
}

Test(probe, any_other_byte_is_no_answer)
{
	char text[] = PLAIN;

	for (size_t i = 0; i < strlen(PLAIN); i++) {
		cr_assert_not(hf_probe_is_known(&plain, PLAIN, i), "%zu", i);
		text[i] ^= 1;
		cr_assert_not(hf_probe_is_known(&plain, text, strlen(PLAIN)),
			      "%zu", i);
		text[i] ^= 1;
	}
	/* The NUL behind it. */
	cr_assert_not(hf_probe_is_known(&plain, PLAIN, strlen(PLAIN) + 1));
}

Test(probe, any_other_key_is_another_question)
{
	struct hf_probe_key keys[] = {plain, plain, plain, plain,
				      plain, plain, plain};

	keys[0].version = "1.2.4";
	keys[1].program[0]++;
	keys[2].program[1]++;
	keys[3].program[2]++;
	keys[4].boot_id[0] = '2';
	keys[5].uid++;
	keys[6].standing = "a";
	for (size_t i = 0; i < HF_COUNT(keys); i++)
		cr_assert_not(hf_probe_is_known(&keys[i], PLAIN, strlen(PLAIN)),
			      "%zu", i);
}

Test(probe, without_a_boot_nothing_is_known)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_probe_key key = plain;

	key.boot_id[0] = '\0';
	hf_probe_text(&key, &text);
	cr_assert_not(hf_probe_is_known(&key, text.data, text.len));
}

static const struct {
	const char *name;
	enum hf_layer_state gate;
	size_t uncovered;
	const char *text; /* NULL: it holds */
} verdicts[] = {
	{"holds", HF_LAYER_ON, 0, NULL},
	{"no gate", HF_LAYER_UNAVAILABLE, 0, "is required, and because"},
	{"one", HF_LAYER_ON, 1,
	 "is required, but here it does not hold for 1 operation ("},
	{"three", HF_LAYER_ON, 3,
	 "is required, but here it does not hold for 3 operations ("},
	{"four", HF_LAYER_ON, 4, "does not hold for 4 operations ("},
};

Test(probe, says_what_does_not_hold)
{
	for (size_t i = 0; i < HF_COUNT(verdicts); i++) {
		struct hf_doctor doctor = {
			.row_count = 10,
			.gate = verdicts[i].gate,
			.gate_why = "because",
		};
		struct hf_error err = {0};
		int rc;

		for (size_t n = 0; n < doctor.row_count; n++)
			doctor.rows[n].verdict = n < 10 - verdicts[i].uncovered
							 ? HF_DOCTOR_REFUSED
							 : HF_DOCTOR_UNCOVERED;
		doctor.counts[HF_DOCTOR_UNCOVERED] = verdicts[i].uncovered;
		rc = hf_probe_judge(&doctor, &err);
		cr_assert_eq(rc,
			     verdicts[i].text == NULL ? 0 : HF_ERR_UNSUPPORTED,
			     "%s", verdicts[i].name);
		if (verdicts[i].text == NULL)
			continue;
		cr_assert_not_null(strstr(err.text, verdicts[i].text), "%s: %s",
				   verdicts[i].name, err.text);
		cr_assert_eq(strstr(err.text, ", ...)") != NULL,
			     verdicts[i].uncovered > 3, "%s", err.text);
		if (verdicts[i].uncovered > 0)
			cr_assert_not_null(
				strstr(err.text,
				       hf_operation_at(10 -
						       verdicts[i].uncovered)
					       ->name),
				"%s", err.text);
		cr_assert_not_null(strstr(err.hint, "holdfast doctor"));
	}
}
