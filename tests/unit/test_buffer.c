/* SPDX-License-Identifier: MIT */
/* Buffers: grow, end with a NUL, and remember that they could not grow. */
#include "base/buffer.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/fail.h"

Test(buffer, grows_and_stays_terminated)
{
	cleanup_buffer struct hf_buffer buffer = HF_BUFFER_INIT;
	struct hf_error err;

	cr_expect_null(buffer.data);
	for (size_t i = 0; i < 10000; i++) {
		hf_buffer_add(&buffer, "ab", i % 3);
		hf_buffer_add_text(&buffer, "c");
		hf_buffer_printf(&buffer, "%d", 7);
		cr_assert_eq(strlen(buffer.data), buffer.len);
	}
	cr_expect_eq(buffer.len, 3333 * 1 + 3333 * 2 + 20000);
	cr_expect_eq(memcmp(buffer.data, "c7ac7abc7c7", 11), 0);
	cr_expect_eq(hf_buffer_check(&buffer, &err), 0);
}

/* A text that ends exactly where the memory does, and one byte around that. */
Test(buffer, printf_at_the_end_of_its_memory)
{
	for (int len = 0; len < 300; len++) {
		cleanup_buffer struct hf_buffer buffer = HF_BUFFER_INIT;

		hf_buffer_printf(&buffer, "%*s", len, "");
		hf_buffer_printf(&buffer, "%s", "x");
		cr_assert_eq(buffer.len, (size_t)len + 1);
		cr_assert_eq(buffer.data[len], 'x');
		cr_assert_eq(buffer.data[len + 1], '\0');
	}
}

Test(buffer, numbers_of_every_length)
{
	static const struct {
		uint64_t value;
		size_t digits;
		const char *decimal;
		const char *octal;
	} rows[] = {
		{0, 0, "", ""},
		{0, 1, "0", "0"},
		{7, 3, "007", "007"},
		{8, 1, "8", "10"},
		{1234567, 4, "1234567", "4553207"},
		{UINT64_MAX, 20, "18446744073709551615",
		 "1777777777777777777777"},
		{1, 20, "00000000000000000001", "00000000000000000001"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

		hf_buffer_add_text(&out, "<");
		hf_buffer_add_decimal(&out, rows[i].value, rows[i].digits);
		cr_expect_str_eq(out.data + 1, rows[i].decimal);
		hf_buffer_clear(&out);
		hf_buffer_add_text(&out, "<");
		hf_buffer_add_octal(&out, rows[i].value, rows[i].digits);
		cr_expect_str_eq(out.data + 1, rows[i].octal);
	}
}

Test(buffer, holds_any_byte)
{
	cleanup_buffer struct hf_buffer buffer = HF_BUFFER_INIT;

	hf_buffer_add(&buffer, "a\0b", 3);
	hf_buffer_add(&buffer, "\0", 1);
	cr_expect_eq(buffer.len, 4);
	cr_expect_eq(memcmp(buffer.data, "a\0b\0\0", 5), 0);
}

Test(buffer, failure_is_remembered_until_cleared)
{
	cleanup_buffer struct hf_buffer buffer = HF_BUFFER_INIT;
	volatile size_t largest = SIZE_MAX;
	struct hf_error err;

	hf_buffer_add_text(&buffer, "kept");
	for (size_t less = 0; less < 8; less++)
		cr_expect_null(hf_buffer_reserve(&buffer, largest - less));
	hf_buffer_add_text(&buffer, "no more");
	cr_expect_str_eq(buffer.data, "kept");
	cr_expect_eq(hf_buffer_check(&buffer, &err), HF_ERR_SYSTEM);
	cr_expect_eq(err.sys_errno, ENOMEM);
	cr_expect_null(hf_buffer_take(&buffer));

	hf_buffer_clear(&buffer);
	cr_expect_eq(hf_buffer_check(&buffer, &err), 0);
	hf_buffer_add_text(&buffer, "again");
	cr_expect_str_eq(buffer.data, "again");
}

Test(buffer, taken_content_is_the_callers)
{
	cleanup_buffer struct hf_buffer buffer = HF_BUFFER_INIT;
	cleanup_free char *empty = hf_buffer_take(&buffer);
	cleanup_free char *text = NULL;

	cr_expect_str_eq(empty, "");
	hf_buffer_add_text(&buffer, "text");
	text = hf_buffer_take(&buffer);
	cr_expect_str_eq(text, "text");
	cr_expect_null(buffer.data);
	cr_expect_eq(buffer.len, 0);
	hf_buffer_add_text(&buffer, "more");
	cr_expect_str_eq(buffer.data, "more");
}
