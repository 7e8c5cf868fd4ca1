/* SPDX-License-Identifier: MIT */
/* Take a pytest id apart. */
#include "report/test_id.h"

#include <string.h>

#include "base/defs.h"

size_t hf_test_id_len(const char *test)
{
	static const char *const phases[] = { " (call)", " (setup)",
					      " (teardown)" };
	const size_t len = strlen(test);

	for (size_t i = 0; i < HF_COUNT(phases); i++) {
		const size_t phase = strlen(phases[i]);

		if (len > phase &&
		    strcmp(test + len - phase, phases[i]) == 0)
			return len - phase;
	}
	return len;
}

bool hf_test_id_parse(const char *test, struct hf_test_id *ret_id)
{
	static const char end[] = ".py";
	const char *colon = test == NULL ? NULL : strstr(test, "::");
	struct hf_test_id id = { .file = test };
	const char *parameters;
	const char *next;

	if (colon == NULL)
		return false;
	id.file_len = (size_t)(colon - test);
	if (id.file_len <= strlen(end) ||
	    memcmp(colon - strlen(end), end, strlen(end)) != 0)
		return false;
	id.classes = colon + 2;
	id.name = id.classes;
	/* A parameter may look like anything. */
	parameters = id.name + strcspn(id.name, "[");
	while ((next = strstr(id.name, "::")) != NULL && next < parameters)
		id.name = next + 2;
	if (id.name > id.classes)
		id.classes_len = (size_t)(id.name - 2 - id.classes);
	id.name_len = (size_t)(test + hf_test_id_len(test) - id.name);
	*ret_id = id;
	return true;
}
