/* SPDX-License-Identifier: MIT */
/*
 * Why a call of libholdfast failed.
 */
#ifndef HOLDFAST_ERROR_H
#define HOLDFAST_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a failing call returns.  The values are ABI: never renumber. */
enum hf_code {
	HF_OK = 0,
	HF_ERR_SYSTEM = -1,	/* the system refused; see hf_error.sys_errno */
	HF_ERR_CORRUPT = -2,	/* stored data does not match its hash */
	HF_ERR_CHANGED = -3,	/* a file kept changing while it was read */
	HF_ERR_BUSY = -4,	/* somebody else holds it */
	HF_ERR_DENIED = -5,	/* refused by our own rules, not the system's */
	HF_ERR_UNSUPPORTED = -6,	/* this system or store cannot do it */
	HF_ERR_LIMIT = -7,	/* larger than the named bound */
	HF_ERR_USAGE = -8,	/* a wrong argument, option or policy */
	HF_ERR_UNDECIDED = -9,	/* a person must look before this can go on */
	HF_ERR_NOTHING = -10	/* nothing is recorded yet */
};

/*
 * Owned by the caller, no destructor, no allocation: it can be filled in when
 * memory is gone.  Valid only after a negative return.
 */
struct hf_error {
	int code;		/* enum hf_code */
	int sys_errno;		/* 0 when no system call was involved */
	char text[512];		/* one line, no trailing newline or full stop */
	char hint[256];		/* how to cure it, one line; "" when unknown */
};

#ifdef __cplusplus
}
#endif
#endif /* HOLDFAST_ERROR_H */
