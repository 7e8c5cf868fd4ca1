/* SPDX-License-Identifier: MIT */
/* Numbers and ranges of numbers. */
#include "cli/choice.h"

#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"

#define SEPARATORS " \t,"

static bool parse_number(const char *text, size_t len, size_t count,
			 size_t *ret_number)
{
	uint64_t number;

	if (hf_parse_u64(text, len, 10, &number) < 0 || number < 1 ||
	    number > count)
		return false;
	*ret_number = (size_t)number;
	return true;
}

/* "3" or "2-4". */
static bool parse_range(const char *word, size_t len, size_t count,
			size_t *ret_first, size_t *ret_last)
{
	const char *const dash = memchr(word, '-', len);
	const size_t first_len = dash ? (size_t)(dash - word) : len;

	if (!parse_number(word, first_len, count, ret_first))
		return false;
	if (!dash) {
		*ret_last = *ret_first;
		return true;
	}
	return parse_number(dash + 1, len - first_len - 1, count, ret_last) &&
	       *ret_first <= *ret_last;
}

static bool is_word(const char *at, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(at, word, len) == 0;
}

int hf_choice_parse(const char *answer, size_t count, bool *chosen,
		    struct hf_error *err)
{
	cleanup_free bool *result = calloc(count + 1, sizeof(*result));
	const char *at = answer + strspn(answer, SEPARATORS);

	if (!result)
		return hf_fail_memory(err);
	if (*at == '\0')
		return 0;
	while (*at != '\0') {
		const size_t len = strcspn(at, SEPARATORS);
		size_t first = 1;
		size_t last = count;

		if (is_word(at, len, "none"))
			last = 0;
		else if (!is_word(at, len, "all") &&
			 !parse_range(at, len, count, &first, &last))
			return hf_fail(err, HF_ERR_USAGE,
				       "cannot choose '%s': numbers from 1 to "
				       "%zu, 'all' or 'none' are possible",
				       HF_QUOTE(at), count);
		for (size_t i = first; i <= last; i++)
			result[i - 1] = true;
		at += len;
		at += strspn(at, SEPARATORS);
	}
	memcpy(chosen, result, count * sizeof(*chosen));
	return 0;
}
