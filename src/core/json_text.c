/* SPDX-License-Identifier: MIT */
/*
 * Walk a JSON text from value to value with a stack of open brackets.
 */
#include "core/json_text.h"

#include <stdint.h>
#include <string.h>

#include "base/defs.h"

#define NOT_WANTED SIZE_MAX

struct walk {
	const char *text;
	size_t len;
	size_t at;
	bool has_comments;	/* they are allowed */
	char *blanked;		/* where to wipe them; may be NULL */
	/* The closing bracket of every open array and object. */
	char closing[HF_JSON_DEPTH_MAX];
	unsigned depth;
	bool is_fresh;		/* the innermost one has no element yet */
	size_t seen;		/* values so far */
	size_t wanted;		/* stop at this value */
	const char *fault;
};

enum step { STEP_FAULT, STEP_VALUE, STEP_END };

static bool fault(struct walk *walk, const char *what)
{
	walk->fault = what;
	return false;
}

/* The byte at the cursor; NUL at the end: a NUL byte is never allowed. */
static char peek(const struct walk *walk)
{
	return walk->at < walk->len ? walk->text[walk->at] : '\0';
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool skip_comment(struct walk *walk)
{
	const char *const start = walk->text + walk->at;
	const size_t left = walk->len - walk->at;
	const char *end = NULL;

	if (!walk->has_comments)
		return fault(walk, "a comment is not allowed here");
	if (left > 1 && start[1] == '/') {
		end = memchr(start, '\n', left);
		if (!end)
			end = start + left;
	} else if (left > 1 && start[1] == '*') {
		for (size_t i = 3; i < left && !end; i++) {
			if (start[i - 1] == '*' && start[i] == '/')
				end = start + i + 1;
		}
		if (!end)
			return fault(walk, "the comment does not end");
	} else {
		return fault(walk, "expected '//' or '/*'");
	}

	if (walk->blanked)
		memset(walk->blanked + walk->at, ' ', (size_t)(end - start));
	walk->at += (size_t)(end - start);
	return true;
}

/* Up to the first byte that is none, nor a comment. */
static bool skip_all_space(struct walk *walk)
{
	for (;;) {
		switch (peek(walk)) {
		case ' ':
		case '\t':
		case '\r':
		case '\n':
			walk->at++;
			break;
		case '/':
			if (!skip_comment(walk))
				return false;
			break;
		default:
			return true;
		}
	}
}

static bool skip_space(struct walk *walk)
{
	/* Our own lines have none. */
	if (peek(walk) > ' ' && peek(walk) != '/')
		return true;
	return skip_all_space(walk);
}

/* The four digits behind "\u"; -1 when they are none. */
static int read_unit(const struct walk *walk, size_t at)
{
	int unit = 0;

	if (walk->len < 4 || at > walk->len - 4)
		return -1;
	for (size_t i = at; i < at + 4; i++) {
		const char byte = walk->text[i];
		int digit;

		if (is_digit(byte))
			digit = byte - '0';
		else if (byte >= 'a' && byte <= 'f')
			digit = byte - 'a' + 10;
		else if (byte >= 'A' && byte <= 'F')
			digit = byte - 'A' + 10;
		else
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

/* At the "u" of an escape. */
static bool skip_unicode_escape(struct walk *walk)
{
	const int unit = read_unit(walk, walk->at + 1);

	if (unit < 0)
		return fault(walk, "expected four hexadecimal digits");
	if (unit == 0)
		return fault(walk, "a string must not hold U+0000");
	if (unit >= 0xDC00 && unit <= 0xDFFF)
		return fault(walk, "a low surrogate without a high one");
	walk->at += 5;
	if (unit < 0xD800 || unit > 0xDBFF)
		return true;

	if (peek(walk) == '\\') {
		walk->at++;
		if (peek(walk) == 'u') {
			const int low = read_unit(walk, walk->at + 1);

			if (low >= 0xDC00 && low <= 0xDFFF) {
				walk->at += 5;
				return true;
			}
		}
	}
	return fault(walk, "a high surrogate without a low one");
}

/* Where the first byte stands that does not speak for itself. */
static size_t plain_end(const char *text, size_t at, size_t len)
{
	while (at < len && (unsigned char)text[at] >= ' ' && text[at] != '"' &&
	       text[at] != '\\')
		at++;
	return at;
}

/* At the opening quote, where the cursor stays when there is no other. */
static bool skip_string(struct walk *walk)
{
	const size_t start = walk->at++;

	for (;;) {
		walk->at = plain_end(walk->text, walk->at, walk->len);
		if (walk->at == walk->len || walk->text[walk->at] == '\n') {
			walk->at = start;
			return fault(walk, "the string does not end");
		}

		switch (walk->text[walk->at]) {
		case '"':
			walk->at++;
			return true;
		case '\\':
			walk->at++;
			if (peek(walk) == 'u') {
				if (!skip_unicode_escape(walk))
					return false;
			} else if (peek(walk) != '\0' &&
				   strchr("\"\\/bfnrt", peek(walk))) {
				walk->at++;
			} else {
				return fault(walk, "unknown escape");
			}
			break;
		default:
			return fault(walk, "a control byte in a string");
		}
	}
}

static bool skip_digits(struct walk *walk)
{
	if (!is_digit(peek(walk)))
		return fault(walk, "expected a digit");
	while (is_digit(peek(walk)))
		walk->at++;
	return true;
}

static bool skip_number(struct walk *walk)
{
	const size_t start = walk->at;

	if (peek(walk) == '-')
		walk->at++;
	if (peek(walk) == '0') {
		walk->at++;
		if (is_digit(peek(walk)))
			return fault(walk, "a number must not begin with 0");
	} else if (!skip_digits(walk)) {
		return false;
	}
	if (peek(walk) == '.') {
		walk->at++;
		if (!skip_digits(walk))
			return false;
	}
	if (peek(walk) == 'e' || peek(walk) == 'E') {
		walk->at++;
		if (peek(walk) == '+' || peek(walk) == '-')
			walk->at++;
		if (!skip_digits(walk))
			return false;
	}
	if (walk->at - start <= 32)
		return true;
	/* cJSON copies a number into 64 bytes and goes on behind them. */
	walk->at = start;
	return fault(walk, "the number is too long");
}

static bool skip_word(struct walk *walk, const char *word)
{
	const size_t word_len = strlen(word);

	if (walk->len - walk->at < word_len ||
	    memcmp(walk->text + walk->at, word, word_len) != 0)
		return fault(walk, "expected a value");
	walk->at += word_len;
	return true;
}

static bool open_bracket(struct walk *walk, char closing)
{
	if (walk->depth == HF_JSON_DEPTH_MAX)
		return fault(walk, "nested too deeply");
	walk->closing[walk->depth++] = closing;
	walk->is_fresh = true;
	walk->at++;
	return true;
}

static bool skip_key(struct walk *walk)
{
	if (peek(walk) != '"')
		return fault(walk, "expected a key in double quotes");
	if (!skip_string(walk) || !skip_space(walk))
		return false;
	if (peek(walk) != ':')
		return fault(walk, "expected ':'");
	walk->at++;
	return skip_space(walk);
}

/* A whole scalar, or the opening bracket; with its key within an object. */
static bool begin_value(struct walk *walk)
{
	const size_t start = walk->at;

	walk->is_fresh = false;
	if (walk->depth > 0 && walk->closing[walk->depth - 1] == '}' &&
	    !skip_key(walk))
		return false;
	if (walk->seen++ == walk->wanted) {
		walk->at = start;
		return true;
	}

	switch (peek(walk)) {
	case '{':
		return open_bracket(walk, '}');
	case '[':
		return open_bracket(walk, ']');
	case '"':
		return skip_string(walk);
	case 't':
		return skip_word(walk, "true");
	case 'f':
		return skip_word(walk, "false");
	case 'n':
		return skip_word(walk, "null");
	default:
		if (peek(walk) != '-' && !is_digit(peek(walk)))
			return fault(walk, "expected a value");
		return skip_number(walk);
	}
}

static bool is_closing(const struct walk *walk, char closing)
{
	return walk->at < walk->len && walk->text[walk->at] == closing;
}

/* Everything between one value and the next. */
static enum step next_value(struct walk *walk)
{
	while (skip_space(walk)) {
		char closing;

		if (walk->depth == 0)
			return STEP_END;

		closing = walk->closing[walk->depth - 1];
		if (is_closing(walk, closing)) {
			walk->at++;
			walk->depth--;
			walk->is_fresh = false;
			continue;
		}
		if (walk->is_fresh)
			return STEP_VALUE;
		if (peek(walk) != ',') {
			(void)fault(walk, closing == '}' ?
					      "expected ',' or '}'" :
					      "expected ',' or ']'");
			return STEP_FAULT;
		}

		walk->at++;
		if (!skip_space(walk))
			return STEP_FAULT;
		if (!is_closing(walk, closing))
			return STEP_VALUE;
		(void)fault(walk, "a comma without a value behind it");
		return STEP_FAULT;
	}
	return STEP_FAULT;
}

/* Up to the value that is wanted, or to the end of the outermost one. */
static bool walk_values(struct walk *walk)
{
	enum step step = STEP_VALUE;

	if (!skip_space(walk))
		return false;
	while (step == STEP_VALUE) {
		if (!begin_value(walk))
			return false;
		if (walk->wanted != NOT_WANTED && walk->seen > walk->wanted)
			return true;
		step = next_value(walk);
	}
	return step == STEP_END;
}

bool hf_json_text_check(const char *text, size_t len, char *blanked,
			struct hf_json_fault *ret_fault)
{
	struct walk walk = {
		.text = text,
		.len = len,
		.has_comments = blanked != NULL,
		.blanked = blanked,
		.wanted = NOT_WANTED,
	};

	if (walk_values(&walk)) {
		if (walk.at == len)
			return true;
		(void)fault(&walk, "unexpected text behind the value");
	}

	ret_fault->what = walk.fault;
	ret_fault->offset = walk.at;
	if (walk.at == len && walk.depth > 0)
		ret_fault->what = "the text ends too early";
	else if (walk.at < len && text[walk.at] == '\0')
		ret_fault->what = "a NUL byte";
	return false;
}

size_t hf_json_text_find(const char *text, size_t len, size_t index)
{
	struct walk walk = {
		.text = text,
		.len = len,
		.has_comments = true,
		.wanted = index,
	};

	if (!walk_values(&walk) || walk.seen <= index)
		return len;
	return walk.at;
}

void hf_json_text_position(const char *text, size_t offset, unsigned *ret_line,
			   unsigned *ret_column)
{
	unsigned line = 1;
	unsigned column = 1;

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)text[i] & 0xC0) != 0x80) {
			column++;
		}
	}
	*ret_line = line;
	*ret_column = column;
}
