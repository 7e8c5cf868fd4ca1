/* SPDX-License-Identifier: MIT */
/* git's index: whatever it says, what is taken from it are names within bounds. */
/* The assertions are the test. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "core/git_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	cleanup_git_index struct hf_git_index index = HF_GIT_INDEX_INIT;
	struct hf_error err;
	const int rc =
		hf_git_index_parse(&index, (const char *)data, len, &err);

	if (rc < 0) {
		assert(rc == HF_ERR_CORRUPT && index.count == 0);
		return 0;
	}
	assert(!index.shared || strlen(index.shared) == 40 ||
	       strlen(index.shared) == 64);
	hf_git_index_sort(&index);
	for (size_t i = 0; i < index.count; i++) {
		assert(index.names[i][0] != '\0' &&
		       strlen(index.names[i]) < HF_PATH_MAX);
		assert(hf_git_index_has(&index, index.names[i]));
	}
	(void)hf_git_index_has(&index, "a/b/c");
	return 0;
}
