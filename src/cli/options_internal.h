/* SPDX-License-Identifier: MIT */
/* What the table of options and its application share.  Private to
 * cli/options*.c. */
#ifndef HF_CLI_OPTIONS_INTERNAL_H
#define HF_CLI_OPTIONS_INTERNAL_H

#include "cli/options.h"

enum option_id {
	OPTION_ALL,
	OPTION_ALLOW,
	OPTION_ANNOTATIONS,
	OPTION_CHECK_STORE,
	OPTION_COLOR,
	OPTION_COMPLETION,
	OPTION_CONFIG,
	OPTION_DRY_RUN,
	OPTION_EXCLUDE,
	OPTION_FAIL_FAST,
	OPTION_FROM,
	OPTION_GATE,
	OPTION_HELP,
	OPTION_JSON,
	OPTION_JUNIT,
	OPTION_KEEP_GOING,
	OPTION_KEEP_MINE,
	OPTION_LEFTOVERS,
	OPTION_LIMIT,
	OPTION_MIN_PROTECTED,
	OPTION_PATH,
	OPTION_PROTECT,
	OPTION_PUT_BACK,
	OPTION_QUIET,
	OPTION_REMOVE_ADDITIONS,
	OPTION_REPORT,
	OPTION_ROOT,
	OPTION_STORE,
	OPTION_TO,
	OPTION_VERBOSE,
	OPTION_YES,
};

/* One that was found, with its value (NULL when it takes none). */
MUST_CHECK int hf_options_apply(struct hf_options *options,
				const struct hf_option *option,
				const char *value, struct hf_error *err);
/* To a NULL-terminated list that has room. */
void hf_options_append(const char **list, const char *value);

#endif /* HF_CLI_OPTIONS_INTERNAL_H */
