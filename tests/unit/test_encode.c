/* SPDX-License-Identifier: MIT */
/* Bytes as text, and back. */
#include "base/encode.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/buffer.h"

Test(encode, hex)
{
	static const uint8_t data[] = {0x00, 0x0f, 0xf0, 0xff, 0xa5};
	uint8_t back[sizeof(data)];
	char text[2 * sizeof(data) + 1];

	hf_hex_encode(text, data, sizeof(data));
	cr_expect_str_eq(text, "000ff0ffa5");
	cr_expect_eq(hf_hex_decode(back, text, sizeof(back)), 0);
	cr_expect_eq(memcmp(back, data, sizeof(data)), 0);
	cr_expect_eq(hf_hex_decode(back, "000FF0FFA5", sizeof(back)), 0);
	cr_expect_eq(memcmp(back, data, sizeof(data)), 0);

	hf_hex_encode(text, data, 0);
	cr_expect_str_eq(text, "");
}

Test(encode, hex_damaged)
{
	static const char *const rows[] = {"0g", "g0", "0",	  "",
					   " 0", "0x", "\xff\xff"};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		uint8_t byte = 42;

		cr_expect_eq(hf_hex_decode(&byte, rows[i], 1), -EINVAL, "'%s'",
			     rows[i]);
		cr_expect_eq(byte, 42);
	}
}

Test(encode, base64_vectors)
{
	/* RFC 4648, section 10. */
	static const struct {
		const char *data;
		const char *text;
	} rows[] = {
		{"", ""},
		{"f", "Zg=="},
		{"fo", "Zm8="},
		{"foo", "Zm9v"},
		{"foob", "Zm9vYg=="},
		{"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
		{"\xff\xef\xbe", "/+++"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;

		hf_buffer_add(&text, "", 0);
		hf_base64_encode(&text, rows[i].data, strlen(rows[i].data));
		cr_expect_str_eq(text.data, rows[i].text);
		cr_expect_eq(hf_base64_decode(&data, text.data, text.len), 0);
		cr_expect_str_eq(data.data, rows[i].data);
	}
}

Test(encode, base64_round_trip)
{
	for (size_t len = 0; len < 600; len++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		cleanup_buffer struct hf_buffer back = HF_BUFFER_INIT;
		uint8_t data[600];

		for (size_t i = 0; i < len; i++)
			data[i] = (uint8_t)(i * 7 + len);
		hf_buffer_add(&text, "", 0);
		hf_base64_encode(&text, data, len);
		cr_assert_eq(hf_base64_decode(&back, text.data, text.len), 0);
		cr_assert_eq(back.len, len);
		cr_assert_eq(memcmp(back.data, data, len), 0);
	}
}

Test(encode, base64_damaged)
{
	static const struct {
		const char *name;
		const char *text;
		size_t len;
	} rows[] = {
		{"one digit", "Z", 1},
		{"two digits", "Zg", 2},
		{"padding missing", "Zg=", 3},
		{"padding alone", "====", 4},
		{"three of padding", "Z===", 4},
		{"padding within", "Zg==Zg==", 8},
		{"padding first", "=Zg=", 4},
		{"padding twice", "Zm=8", 4},
		{"too much padding", "Zm9v====", 8},
		{"newline", "Zm9v\n", 5},
		{"newline for a digit", "Zm9\n", 4},
		{"space", "Zm 9", 4},
		{"URL alphabet", "-_-_", 4},
		{"NUL", "Zm9\0", 4},
		{"no ASCII", "Zm9\xff", 4},
		{"bits behind one byte", "Zh==", 4},
		{"bits behind two bytes", "Zm9=", 4},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

		hf_buffer_add_text(&out, "kept");
		cr_expect_eq(hf_base64_decode(&out, rows[i].text, rows[i].len),
			     -EINVAL, "%s", rows[i].name);
		cr_expect_eq(out.len, 4);
		cr_expect_str_eq(out.data, "kept", "%s", rows[i].name);
	}
}
