/* SPDX-License-Identifier: MIT */
/* Tell snapshots from paths. */
#include "cli/diff_words.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/moment.h"

#define SNAPSHOTS_MAX 2

bool hf_diff_is_snapshot(const char *word)
{
	const size_t digits = strspn(word, "0123456789");
	struct hf_moment moment;
	struct hf_error ignored;

	/* What cannot be understood in braces was meant as one. */
	if (hf_moment_parse(word, 0, &moment, &ignored) < 0 ||
	    moment.kind != HF_MOMENT_NAME)
		return true;
	word += digits;
	if (digits == 0 || *word == '\0')
		return digits > 0;
	return *word == '-' &&
	       word[1 + strspn(word + 1, "0123456789TZ")] == '\0';
}

int hf_diff_words_split(const struct hf_diff_words *words,
			bool (*is_path)(void *context, const char *word),
			void *context, size_t *ret_snapshots,
			struct hf_error *err)
{
	size_t count = 0;

	if (words->has_dashes) {
		if (words->before_dashes > SNAPSHOTS_MAX)
			return hf_fail(err, HF_ERR_USAGE,
				       "cannot compare more than two "
				       "snapshots");
		*ret_snapshots = words->before_dashes;
		return 0;
	}
	while (count < words->count && count < SNAPSHOTS_MAX &&
	       hf_diff_is_snapshot(words->words[count])) {
		const char *const word = words->words[count];

		if (is_path(context, word)) {
			(void)hf_fail(err, HF_ERR_USAGE,
				      "'%s' names a snapshot and a path",
				      HF_QUOTE(word));
			return hf_fail_hint(err,
					    "'--' stands between "
					    "snapshots and paths: '%s --' "
					    "or '-- %s'",
					    HF_QUOTE(word), HF_QUOTE(word));
		}
		count++;
	}
	*ret_snapshots = count;
	return 0;
}
