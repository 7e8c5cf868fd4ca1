/* SPDX-License-Identifier: MIT */
/* Fill in a struct hf_error without allocating anything. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int hf_fail(struct hf_error *err, enum hf_code code, const char *fmt, ...)
{
	va_list ap;

	err->code = code;
	err->sys_errno = 0;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

int hf_fail_system(struct hf_error *err, int negative_errno, const char *fmt,
		   ...)
{
	va_list ap;
	size_t used;

	err->code = HF_ERR_SYSTEM;
	err->sys_errno = -negative_errno;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);

	used = strlen(err->text);
	(void)snprintf(err->text + used, sizeof(err->text) - used, ": %s",
		       strerror(-negative_errno));
	return HF_ERR_SYSTEM;
}

int hf_fail_hint(struct hf_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return err->code;
}

int hf_fail_memory(struct hf_error *err)
{
	return hf_fail_system(err, -ENOMEM, "cannot go on");
}
