/* SPDX-License-Identifier: MIT */
/* What git answers is read; what is no answer is refused. */
#include "core/git.h"

#include <criterion/criterion.h>
#include <string.h>

#define A40 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B40 "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define A64 A40 "aaaaaaaaaaaaaaaaaaaaaaaa"

TestSuite(git, .timeout = 60);

/* Text with its NULs; the last one belongs to it. */
#define RAW(text) { (text), sizeof(text) }

Test(git, records)
{
	static const struct {
		const char *name;
		struct {
			const char *data;
			size_t len;
		} raw;
		char status;
		bool is_link;
		const char *blob;
		const char *path;
		const char *to;
	} rows[] = {
		{"changed", RAW(":100644 100644 " A40 " " B40 " M\0a b.toml"),
		 'M', false, B40, "a b.toml", NULL},
		{"a link", RAW(":000000 120000 " A40 " " B40 " A\0l.toml"), 'A',
		 true, B40, "l.toml", NULL},
		{"renamed",
		 RAW(":100644 100644 " A40 " " B40 " R100\0a.toml\0b.toml"),
		 'R', false, B40, "a.toml", "b.toml"},
		{"longer names of objects",
		 RAW(":100644 100644 " A64 " " A64 " M\0a.toml"), 'M', false,
		 A64, "a.toml", NULL},
		{"a commit", RAW(A40), '\0', false, "", A40, NULL},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		struct hf_git_change change;
		size_t at = 0;

		hf_buffer_add(&text, rows[i].raw.data, rows[i].raw.len);
		cr_assert(hf_git_next_change(&text, &at, &change), "%s",
			  rows[i].name);
		cr_expect_eq(change.status, rows[i].status, "%s", rows[i].name);
		cr_expect_eq(change.is_link, rows[i].is_link, "%s",
			     rows[i].name);
		cr_expect_str_eq(change.blob, rows[i].blob, "%s", rows[i].name);
		cr_expect_str_eq(change.path, rows[i].path, "%s", rows[i].name);
		cr_expect((change.to == NULL) == (rows[i].to == NULL) &&
				  (!change.to ||
				   strcmp(change.to, rows[i].to) == 0),
			  "%s", rows[i].name);
		cr_expect(!hf_git_next_change(&text, &at, &change), "%s",
			  rows[i].name);
	}
}

/* Cut anywhere, or with a byte flipped, it is read to no harm. */
Test(git, damaged_records)
{
	static const char raw[] = ":100644 100644 " A40 " " B40
				  " R100\0a.toml\0b.toml\0" A40 "\0"
				  ":100644 000000 " A40 " " B40 " D\0c.toml";

	for (size_t len = 0; len <= sizeof(raw); len++) {
		for (unsigned flip = 0; flip < 256; flip += 51) {
			cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
			struct hf_git_change change;
			size_t at = 0;
			size_t count = 0;

			hf_buffer_add(&text, raw, len);
			if (len > 0)
				text.data[len / 2] ^= (char)flip;
			while (hf_git_next_change(&text, &at, &change))
				count++;
			cr_expect(count <= 4 + len / 2 && at <= len);
		}
	}
}
