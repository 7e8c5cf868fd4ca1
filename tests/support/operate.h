/* SPDX-License-Identifier: MIT */
/* What the files of the program operate share. */
#ifndef HF_TESTS_OPERATE_H
#define HF_TESTS_OPERATE_H

#include "platform/linux/operation_internal.h"
#include "platform/operation.h"

struct noop {
	struct hf_operation operation;
	int error; /* what it ends with; 0: it succeeds */
};

#define NOOP(call, variant, function, error)                 \
	{                                                    \
		OPERATION(call, variant, function, 0), error \
	}
#define NOOP_OF_ROOT(call, variant, function, error)                         \
	{                                                                    \
		OPERATION(call, variant, function, HF_OPERATION_PRIVILEGED), \
			error                                                \
	}

/* Operations that change nothing, by place; NULL behind the last. */
const struct noop *noop_at(size_t index);
/* Those of them that open. */
const struct noop *noop_open_at(size_t index);

#endif /* HF_TESTS_OPERATE_H */
