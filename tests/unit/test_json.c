/* SPDX-License-Identifier: MIT */
/* JSON by people and by us, right and wrong, and where in it things stand. */
#include "core/json.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/json_text.h"

#define TEN(text)  text text text text text text text text text text
#define OPEN_32	   TEN("[") TEN("[") TEN("[") "[["
#define CLOSE_32   TEN("]") TEN("]") TEN("]") "]]"
/* Bytes and their number, NUL among them. */
#define BYTES(text) text, sizeof(text) - 1

struct wrong {
	const char *name;
	const char *text;
	size_t len;
	const char *message;	/* behind "p.json:" */
};

static const struct wrong wrong_rows[] = {
	{"empty", BYTES(""), "1:1: expected a value"},
	{"white space", BYTES("\n \n"), "3:1: expected a value"},
	{"comment alone", BYTES("// x"), "1:5: expected a value"},
	{"object ends early", BYTES("{"), "1:2: the text ends too early"},
	{"array ends early", BYTES("[1"), "1:3: the text ends too early"},
	{"value is missing", BYTES("{\"a\":"), "1:6: the text ends too early"},
	{"trailing comma", BYTES("{\"a\":1,\n }"),
	 "2:2: a comma without a value behind it"},
	{"trailing comma, array", BYTES("[1,]"),
	 "1:4: a comma without a value behind it"},
	{"two commas", BYTES("[1,,2]"), "1:4: expected a value"},
	{"comma first", BYTES("[,1]"), "1:2: expected a value"},
	{"comma first, object", BYTES("{,}"),
	 "1:2: expected a key in double quotes"},
	{"no comma", BYTES("[1 2]"), "1:4: expected ',' or ']'"},
	{"no comma, object", BYTES("{\"a\":1 \"b\":2}"),
	 "1:8: expected ',' or '}'"},
	{"wrong bracket", BYTES("[1}"), "1:3: expected ',' or ']'"},
	{"bare key", BYTES("{a:1}"), "1:2: expected a key in double quotes"},
	{"number as a key", BYTES("{1:1}"),
	 "1:2: expected a key in double quotes"},
	{"no colon", BYTES("{\"a\" 1}"), "1:6: expected ':'"},
	{"text behind", BYTES("{} {}"),
	 "1:4: unexpected text behind the value"},
	{"bracket behind", BYTES("{}]"),
	 "1:3: unexpected text behind the value"},
	{"duplicate key", BYTES("{\"a\":1,\n\"b\":2, \"a\":3}"),
	 "2:8: duplicate key 'a'"},
	{"duplicate key, escaped", BYTES("{\"a\":1, \"\\u0061\":3}"),
	 "1:9: duplicate key 'a'"},
	{"duplicate key, deeper", BYTES("[{\"x\":{\"\":1,\"\":2}}]"),
	 "1:13: duplicate key ''"},
	{"byte-order mark", BYTES("\xef\xbb\xbf{}"),
	 "1:1: a byte-order mark is not allowed"},
	{"NUL", BYTES("[1,\0 2]"), "1:4: a NUL byte"},
	{"NUL first", BYTES("\0"), "1:1: a NUL byte"},
	{"NUL behind", BYTES("[]\0"), "1:3: a NUL byte"},
	{"NUL in a string", BYTES("[\"a\0b\"]"), "1:4: a NUL byte"},
	{"NUL in a word", BYTES("[tr\0e]"), "1:2: expected a value"},
	{"U+0000", BYTES("[\"a\\u0000\"]"),
	 "1:5: a string must not hold U+0000"},
	{"not UTF-8", BYTES("[\"\xc3\xa4\", \"\xff\"]"),
	 "1:8: the text is not valid UTF-8"},
	{"not UTF-8, cut", BYTES("\"\xe2\x82"),
	 "1:2: the text is not valid UTF-8"},
	{"not UTF-8 in a comment", BYTES("/*\xff*/1"),
	 "1:3: the text is not valid UTF-8"},
	{"string does not end", BYTES("[\"a]"), "1:2: the string does not end"},
	{"string over lines", BYTES("[ \"a\nb\"]"),
	 "1:3: the string does not end"},
	{"control byte", BYTES("[\"a\tb\"]"),
	 "1:4: a control byte in a string"},
	{"unknown escape", BYTES("[\"\\x\"]"), "1:4: unknown escape"},
	{"escape at the end", BYTES("\"\\"), "1:3: unknown escape"},
	{"three digits", BYTES("[\"\\u12g4\"]"),
	 "1:4: expected four hexadecimal digits"},
	{"digits at the end", BYTES("\"\\u12"),
	 "1:3: expected four hexadecimal digits"},
	{"high surrogate", BYTES("[\"\\ud83dx\"]"),
	 "1:9: a high surrogate without a low one"},
	{"two high surrogates", BYTES("[\"\\ud83d\\ud83d\"]"),
	 "1:10: a high surrogate without a low one"},
	{"low surrogate", BYTES("[\"\\ude00\"]"),
	 "1:4: a low surrogate without a high one"},
	{"leading zero", BYTES("[01]"),
	 "1:3: a number must not begin with 0"},
	{"plus", BYTES("[+1]"), "1:2: expected a value"},
	{"minus alone", BYTES("[-]"), "1:3: expected a digit"},
	{"no digit before", BYTES("[.5]"), "1:2: expected a value"},
	{"no digit behind", BYTES("[1.]"), "1:4: expected a digit"},
	{"no exponent", BYTES("[1e+]"), "1:5: expected a digit"},
	{"hexadecimal", BYTES("[0x10]"), "1:3: expected ',' or ']'"},
	{"NaN", BYTES("[NaN]"), "1:2: expected a value"},
	{"huge number", BYTES("[0,1e999]"), "1:4: the number is too large"},
	{"huge negative number", BYTES("[0,-1e999]"),
	 "1:4: the number is too large"},
	{"33 digits", BYTES("[" TEN("111") "111]"),
	 "1:2: the number is too long"},
	{"70 digits", BYTES("[" TEN("1111111") "]"),
	 "1:2: the number is too long"},
	{"half a word", BYTES("[tru]"), "1:2: expected a value"},
	{"upper case", BYTES("[True]"), "1:2: expected a value"},
	{"single quotes", BYTES("['a']"), "1:2: expected a value"},
	{"form feed", BYTES("[\f1]"), "1:2: expected a value"},
	{"no-break space", BYTES("[\xc2\xa0" "1]"), "1:2: expected a value"},
	{"comment does not end", BYTES("{} /* x *"),
	 "1:4: the comment does not end"},
	{"half a comment", BYTES("/*/ 1"), "1:1: the comment does not end"},
	{"slash", BYTES("{} /"), "1:4: expected '//' or '/*'"},
	{"hash comment", BYTES("# x\n1"), "1:1: expected a value"},
	{"33 deep", BYTES(OPEN_32 "[]" CLOSE_32), "1:33: nested too deeply"},
	{"1000 deep", BYTES(TEN(TEN(TEN("["))) ), "1:33: nested too deeply"},
	{"columns are characters", BYTES("/* \xc3\xa4\xe2\x82\xac */ x"),
	 "1:10: expected a value"},
	{"lines by line feed", BYTES("[\r\n\r\n\t x]"),
	 "3:3: expected a value"},
};

Test(json, wrong_document)
{
	for (size_t i = 0; i < HF_COUNT(wrong_rows); i++) {
		const struct wrong *const row = &wrong_rows[i];
		struct hf_json *json = NULL;
		struct hf_error err = {.code = 0};
		const int rc = hf_json_parse_document("p.json", row->text,
						      row->len, &json, &err);

		cr_expect_eq(rc, HF_ERR_USAGE, "%s", row->name);
		cr_expect_null(json, "%s", row->name);
		cr_expect(strncmp(err.text, "p.json:", 7) == 0 &&
				  strcmp(err.text + 7, row->message) == 0,
			  "%s: %s", row->name, err.text);
		hf_json_free(&json);
	}
}

/* A line is as strict, but for what only people do. */
Test(json, wrong_line)
{
	for (size_t i = 0; i < HF_COUNT(wrong_rows); i++) {
		const struct wrong *const row = &wrong_rows[i];
		struct hf_json *json = NULL;
		struct hf_error err = {.code = 0};
		int rc;

		if (strstr(row->message, "duplicate") ||
		    strstr(row->message, "too large"))
			continue;
		rc = hf_json_parse_line(row->text, row->len, &json, &err);
		cr_expect_eq(rc, HF_ERR_CORRUPT, "%s", row->name);
		cr_expect_null(json, "%s", row->name);
		cr_expect(err.text[0] != '\0', "%s", row->name);
		hf_json_free(&json);
	}
}

Test(json, comments_only_in_documents)
{
	static const char *const texts[] = {
		"/**/{}", "{}//", "{/* } */}", "[1 // ]\n]", "/***/[]/* * / */",
		"{\"a\" /* : */ : // \"\n 1}",
	};

	for (size_t i = 0; i < HF_COUNT(texts); i++) {
		struct hf_json *json = NULL;
		struct hf_error err;
		const size_t len = strlen(texts[i]);

		cr_expect_eq(hf_json_parse_document("p", texts[i], len, &json,
						    &err),
			     0, "%s", texts[i]);
		hf_json_free(&json);
		cr_expect_eq(hf_json_parse_line(texts[i], len, &json, &err),
			     HF_ERR_CORRUPT, "%s", texts[i]);
	}
}

Test(json, right)
{
	static const char *const texts[] = {
		"{}", "[]", "0", "-0", "\"\"", "null", " [1.5e-3 , 2E+2] ",
		"[true,false,null]", "\"\\u00e4\\ud83d\\ude00\\/\\\"\"",
		"{\"a\":{\"a\":1},\"A\":2}", OPEN_32 CLOSE_32,
		"\t\r\n[\r\n]\n", "\"// no comment\"", "[\"\\\\u0000\"]",
		"[11111111111111111111111111111111]",
	};

	for (size_t i = 0; i < HF_COUNT(texts); i++) {
		struct hf_json *json = NULL;
		struct hf_error err;
		const size_t len = strlen(texts[i]);

		cr_expect_eq(hf_json_parse_document("p", texts[i], len, &json,
						    &err),
			     0, "%s", texts[i]);
		hf_json_free(&json);
		cr_expect_eq(hf_json_parse_line(texts[i], len, &json, &err), 0,
			     "%s", texts[i]);
		hf_json_free(&json);
	}
}

Test(json, bounds)
{
	struct hf_json *json = NULL;
	struct hf_error err;
	char *const text = malloc(HF_JSON_DOCUMENT_MAX + 1);

	cr_assert(text);
	memset(text, ' ', HF_JSON_DOCUMENT_MAX + 1);
	text[0] = '1';
	cr_expect_eq(hf_json_parse_document("p", text, HF_JSON_DOCUMENT_MAX,
					    &json, &err), 0);
	hf_json_free(&json);
	cr_expect_eq(hf_json_parse_document("p", text, HF_JSON_DOCUMENT_MAX + 1,
					    &json, &err), HF_ERR_USAGE);
	cr_expect_eq(hf_json_parse_line(text, HF_JSON_LINE_MAX, &json, &err),
		     0);
	hf_json_free(&json);
	cr_expect_eq(hf_json_parse_line(text, HF_JSON_LINE_MAX + 1, &json,
					&err), HF_ERR_CORRUPT);
	free(text);
}

/* Nothing behind len is looked at. */
Test(json, not_terminated)
{
	struct hf_json *json = NULL;
	struct hf_error err;

	cr_expect_eq(hf_json_parse_line("12", 1, &json, &err), 0);
	hf_json_free(&json);
	cr_expect_eq(hf_json_parse_document("p", "[1]]", 3, &json, &err), 0);
	hf_json_free(&json);
	cr_expect_eq(hf_json_parse_line("true", 3, &json, &err),
		     HF_ERR_CORRUPT);
}

/* -- looking ---------------------------------------------------------- */

static struct hf_json *parse(const char *text)
{
	struct hf_json *json = NULL;
	struct hf_error err;

	cr_assert_eq(hf_json_parse_document("p.json", text, strlen(text), &json,
					    &err), 0, "%s", text);
	return json;
}

Test(json, nothing_is_not_there)
{
	uint64_t number;
	bool truth;

	cr_expect_not(hf_json_is_object(NULL));
	cr_expect_not(hf_json_is_array(NULL));
	cr_expect_null(hf_json_first(NULL));
	cr_expect_null(hf_json_next(NULL));
	cr_expect_null(hf_json_key(NULL));
	cr_expect_null(hf_json_get(NULL, "a"));
	cr_expect_null(hf_json_string(NULL));
	cr_expect_not(hf_json_number(NULL, &number));
	cr_expect_not(hf_json_bool(NULL, &truth));
	cr_expect_str_eq(hf_json_kind(NULL), "nothing");
}

Test(json, members)
{
	cleanup_json struct hf_json *json =
		parse("{\"a\":\"x\",\"B\":[1,\"y\"],\"c\":true,\"d\":null}");
	const hf_json_value *const root = hf_json_root(json);
	const hf_json_value *at = hf_json_first(root);
	bool truth = false;

	cr_expect(hf_json_is_object(root));
	cr_expect_null(hf_json_key(root));
	cr_expect_null(hf_json_next(root));
	cr_expect_str_eq(hf_json_key(at), "a");
	cr_expect_str_eq(hf_json_string(at), "x");
	at = hf_json_next(at);
	cr_expect_str_eq(hf_json_key(at), "B");
	cr_expect(hf_json_is_array(at));
	cr_expect_null(hf_json_key(hf_json_first(at)));
	cr_expect_str_eq(hf_json_string(hf_json_next(hf_json_first(at))), "y");
	cr_expect_null(hf_json_next(hf_json_next(hf_json_first(at))));
	cr_expect_eq(hf_json_get(root, "B"), at);
	cr_expect_null(hf_json_get(root, "b"), "keys have a case");
	cr_expect_null(hf_json_get(at, "a"), "an array has no keys");
	cr_expect(hf_json_bool(hf_json_get(root, "c"), &truth) && truth);
	cr_expect_not(hf_json_bool(hf_json_get(root, "d"), &truth));
	cr_expect_null(hf_json_string(hf_json_get(root, "c")));
	cr_expect_null(hf_json_first(hf_json_get(root, "a")));
}

Test(json, kind)
{
	static const struct {
		const char *text;
		const char *kind;
	} rows[] = {
		{"{}", "an object"}, {"[]", "an array"}, {"\"\"", "a string"},
		{"1", "a number"},   {"true", "true"},	 {"false", "false"},
		{"null", "null"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_json struct hf_json *json = parse(rows[i].text);

		cr_expect_str_eq(hf_json_kind(hf_json_root(json)),
				 rows[i].kind);
	}
}

Test(json, number)
{
	static const struct {
		const char *text;
		bool is_number;
		uint64_t number;
	} rows[] = {
		{"0", true, 0},
		{"-0", true, 0},
		{"1", true, 1},
		{"1.0", true, 1},
		{"1e3", true, 1000},
		{"4294967296", true, UINT64_C(4294967296)},
		{"9007199254740991", true, UINT64_C(9007199254740991)},
		{"9007199254740992", false, 0},
		{"9007199254740993", false, 0},
		{"18446744073709551615", false, 0},
		{"1e300", false, 0},
		{"-1", false, 0},
		{"0.5", false, 0},
		{"1e-3", false, 0},
		{"\"1\"", false, 0},
		{"true", false, 0},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_json struct hf_json *json = parse(rows[i].text);
		uint64_t number = 7;

		cr_expect_eq(hf_json_number(hf_json_root(json), &number),
			     rows[i].is_number, "%s", rows[i].text);
		cr_expect_eq(number, rows[i].is_number ? rows[i].number : 7,
			     "%s", rows[i].text);
	}
}

/* -- positions -------------------------------------------------------- */

Test(json, position)
{
	static const char text[] = "// first\n"
				   "{ \"a\" : [ 1 ,\n"
				   "  {\"b\":/* \xc3\xa4\n*/2, \"c\":[[]]}],\n"
				   "\"\xc3\xa4\":0,\"d\":\"x\" }";
	static const unsigned wanted[][2] = {
		{2, 1}, {2, 3}, {2, 11}, {3, 3}, {3, 4}, {4, 6},
		{4, 11}, {5, 1}, {5, 7},
	};
	cleanup_json struct hf_json *json = parse(text);
	const hf_json_value *const root = hf_json_root(json);
	const hf_json_value *const array = hf_json_get(root, "a");
	const hf_json_value *const object = hf_json_next(hf_json_first(array));
	const hf_json_value *const values[] = {
		root,
		array,
		hf_json_first(array),
		object,
		hf_json_get(object, "b"),
		hf_json_get(object, "c"),
		hf_json_first(hf_json_get(object, "c")),
		hf_json_get(root, "\xc3\xa4"),
		hf_json_get(root, "d"),
	};

	for (size_t i = 0; i < HF_COUNT(values); i++) {
		unsigned line = 0;
		unsigned column = 0;

		hf_json_position(json, values[i], &line, &column);
		cr_expect(line == wanted[i][0] && column == wanted[i][1],
			  "value %zu: %u:%u", i, line, column);
	}
}

Test(json, fail)
{
	cleanup_json struct hf_json *json = parse("{\n \"a\": 1}");
	struct hf_error err;

	cr_expect_eq(hf_json_fail(json, hf_json_first(hf_json_root(json)), &err,
				  "no %s", "good"), HF_ERR_USAGE);
	cr_expect_str_eq(err.text, "p.json:2:2: no good");
}

/* A name cannot drive the terminal. */
Test(json, fail_quotes_the_name)
{
	struct hf_json *json = NULL;
	struct hf_error err;

	cr_expect_eq(hf_json_parse_document("\x1b[2J", "", 0, &json, &err),
		     HF_ERR_USAGE);
	cr_expect_str_eq(err.text, "\\e[2J:1:1: expected a value");
}

Test(json, many_members)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_json *json = NULL;
	struct hf_error err;

	hf_buffer_add_text(&text, "{");
	for (unsigned i = 0; i < 80000; i++)
		hf_buffer_printf(&text, "\"%x\":0,", i);
	hf_buffer_add_text(&text, "\n\"77\":1}");
	cr_expect_eq(hf_json_parse_document("p", text.data, text.len, &json,
					    &err), HF_ERR_USAGE);
	cr_expect_str_eq(err.text, "p:2:1: duplicate key '77'");
}

Test(json, find)
{
	cr_expect_eq(hf_json_text_find("[1, 2]", 6, 0), 0);
	cr_expect_eq(hf_json_text_find("[1, 2]", 6, 2), 4);
	cr_expect_eq(hf_json_text_find("[1, 2]", 6, 3), 6, "there are fewer");
}
