/* SPDX-License-Identifier: MIT */
/*
 * Put the differing lines of two texts together with what is around them.
 *
 * Of lines that were replaced by others the words are compared as well, and
 * those that differ are marked, unless nearly all do.
 */
#include "report/unified.h"

#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/edits.h"
#include "base/fail.h"
#include "base/text.h"

#define AROUND	     3
#define WORDS_MAX    ((size_t)20000) /* of lines that are compared by words */
#define WORDS_EFFORT ((uint64_t)1000 * 1000)

#define COLOR_NAME    "\033[1m"
#define COLOR_PLACE   "\033[36m"
#define COLOR_REMOVED "\033[31m"
#define COLOR_ADDED   "\033[32m"
#define COLOR_END     "\033[0m"
#define MARK	      "\033[7m"
#define MARK_END      "\033[27m"

struct spans {
	struct hf_span *items;
	size_t count;
};

static void spans_done(struct spans *spans)
{
	hf_free_pointee(&spans->items);
}

struct comparison {
	struct spans before; /* lines */
	struct spans after;
	struct hf_edits edits;
	const struct hf_unified_style *style;
	struct hf_buffer *out;
};

static void comparison_done(struct comparison *comparison)
{
	spans_done(&comparison->before);
	spans_done(&comparison->after);
	hf_edits_done(&comparison->edits);
}

bool hf_unified_is_text(const char *data, size_t len)
{
	return len <= HF_UNIFIED_MAX &&
	       (len == 0 || memchr(data, '\0', len) == NULL);
}

/* -- cutting ----------------------------------------------------------------
 */

static size_t line_len(const char *text, size_t len)
{
	const char *const newline = memchr(text, '\n', len);

	return newline == NULL ? len : (size_t)(newline - text) + 1;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* Of a word, a run of blanks, or one other character. */
static size_t word_len(const char *text, size_t len)
{
	size_t i = 1;

	if (is_letter(text[0]))
		while (i < len && is_letter(text[i]))
			i++;
	else if (text[0] == ' ' || text[0] == '\t')
		while (i < len && text[i] == text[0])
			i++;
	return i;
}

static int cut(const char *text, size_t len,
	       size_t (*piece_len)(const char *text, size_t len),
	       struct spans *spans)
{
	size_t count = 0;

	for (size_t at = 0; at < len; at += piece_len(text + at, len - at))
		count++;
	spans->items = calloc(count + 1, sizeof(*spans->items));
	if (spans->items == NULL)
		return -ENOMEM;
	for (size_t at = 0; at < len;) {
		const size_t piece = piece_len(text + at, len - at);

		spans->items[spans->count++] = (struct hf_span){
			.text = text + at,
			.len = piece,
		};
		at += piece;
	}
	return 0;
}

/* -- one line ---------------------------------------------------------------
 */

static void add_text(struct comparison *comparison, const char *text,
		     size_t len)
{
	if (comparison->style->is_escaped)
		hf_buffer_add_shown(comparison->out, text, len);
	else
		hf_buffer_add(comparison->out, text, len);
}

/* Words of several lines, of which those are marked that differ. */
struct marks {
	struct spans words;
	const bool *is_changed; /* NULL: none is marked */
};

/* Does something of the line stay as it was?  A wholly new one needs no marks.
 */
static bool has_equal(const struct hf_span *line, const struct marks *marks,
		      size_t word)
{
	const char *const end = line->text + line->len;

	for (; word < marks->words.count && marks->words.items[word].text < end;
	     word++)
		if (!marks->is_changed[word] &&
		    is_letter(marks->words.items[word].text[0]))
			return true;
	return false;
}

/* The words of the line, from *word on. */
static void add_marked(struct comparison *comparison,
		       const struct hf_span *line, const struct marks *marks,
		       size_t *word)
{
	const char *const end = line->text + line->len;
	const bool has_marks = has_equal(line, marks, *word);
	bool is_on = false;

	for (;
	     *word < marks->words.count && marks->words.items[*word].text < end;
	     (*word)++) {
		const struct hf_span *const span = &marks->words.items[*word];
		const bool is_marked = has_marks && marks->is_changed[*word] &&
				       span->text[0] != '\n';

		if (is_marked != is_on)
			hf_buffer_add_text(comparison->out,
					   is_marked ? MARK : MARK_END);
		is_on = is_marked;
		if (span->text[0] != '\n')
			add_text(comparison, span->text, span->len);
	}
	if (is_on)
		hf_buffer_add_text(comparison->out, MARK_END);
}

static void add_line(struct comparison *comparison, char sign,
		     const struct hf_span *line, const struct marks *marks,
		     size_t *word)
{
	struct hf_buffer *const out = comparison->out;
	const bool has_end = line->len > 0 && line->text[line->len - 1] == '\n';
	const bool has_color = comparison->style->has_color && sign != ' ';

	if (has_color)
		hf_buffer_add_text(out,
				   sign == '-' ? COLOR_REMOVED : COLOR_ADDED);
	hf_buffer_add(out, &sign, 1);
	if (marks != NULL && marks->is_changed != NULL)
		add_marked(comparison, line, marks, word);
	else
		add_text(comparison, line->text, line->len - (has_end ? 1 : 0));
	if (has_color)
		hf_buffer_add_text(out, COLOR_END);
	hf_buffer_add_text(out, "\n");
	if (!has_end)
		hf_buffer_add_text(out, "\\ No newline at end of file\n");
}

/* -- lines that were replaced ------------------------------------------------
 */

/* Is there more that is the same than what is not?  Then marks say something.
 */
static bool is_alike(const struct spans *words, const bool *is_changed)
{
	size_t all = 0;
	size_t changed = 0;

	for (size_t i = 0; i < words->count; i++) {
		if (!is_letter(words->items[i].text[0]))
			continue;
		all += words->items[i].len;
		changed += is_changed[i] ? words->items[i].len : 0;
	}
	return changed < all - changed;
}

static size_t text_len(const struct hf_span *lines, size_t count)
{
	return count == 0 ? 0
			  : (size_t)(lines[count - 1].text +
				     lines[count - 1].len - lines[0].text);
}

static void add_lines(struct comparison *comparison, char sign,
		      const struct hf_span *lines, size_t count,
		      const struct marks *marks)
{
	size_t word = 0;

	for (size_t i = 0; i < count; i++)
		add_line(comparison, sign, &lines[i], marks, &word);
}

static int add_change(struct comparison *comparison, const struct hf_span *a,
		      size_t a_count, const struct hf_span *b, size_t b_count)
{
	CLEANUP(spans_done) struct spans before = {.items = NULL};
	CLEANUP(spans_done) struct spans after = {.items = NULL};
	cleanup_edits struct hf_edits edits = HF_EDITS_INIT;
	struct marks removed = {.is_changed = NULL};
	struct marks added = {.is_changed = NULL};
	const size_t a_len = text_len(a, a_count);
	const size_t b_len = text_len(b, b_count);
	int rc = 0;

	if (comparison->style->has_color && a_count > 0 && b_count > 0 &&
	    a_len + b_len <= WORDS_MAX) {
		rc = cut(a[0].text, a_len, word_len, &before);
		if (rc == 0)
			rc = cut(b[0].text, b_len, word_len, &after);
		if (rc == 0)
			rc = hf_edits_find(before.items, before.count,
					   after.items, after.count,
					   WORDS_EFFORT, &edits);
		if (rc < 0)
			return rc;
		removed.words = before;
		added.words = after;
		if (is_alike(&before, edits.is_removed) ||
		    is_alike(&after, edits.is_added)) {
			removed.is_changed = edits.is_removed;
			added.is_changed = edits.is_added;
		}
	}
	add_lines(comparison, '-', a, a_count, &removed);
	add_lines(comparison, '+', b, b_count, &added);
	return 0;
}

/* -- hunks -------------------------------------------------------------------
 */

/* Where both sides stand. */
struct place {
	size_t a;
	size_t b;
};

static bool is_changed(const struct comparison *comparison,
		       const struct place *place)
{
	return (place->a < comparison->before.count &&
		comparison->edits.is_removed[place->a]) ||
	       (place->b < comparison->after.count &&
		comparison->edits.is_added[place->b]);
}

static void pass_change(const struct comparison *comparison,
			struct place *place)
{
	while (place->a < comparison->before.count &&
	       comparison->edits.is_removed[place->a])
		place->a++;
	while (place->b < comparison->after.count &&
	       comparison->edits.is_added[place->b])
		place->b++;
}

/* Up to the next change, at most so many lines; how many there were. */
static size_t pass_equal(const struct comparison *comparison, size_t most,
			 struct place *place)
{
	size_t count = 0;

	while (count < most && place->a < comparison->before.count &&
	       !is_changed(comparison, place)) {
		place->a++;
		place->b++;
		count++;
	}
	return count;
}

/* The end of the hunk that begins at a change: what is around two changes may
 * touch. */
static struct place find_end(const struct comparison *comparison,
			     struct place place)
{
	for (;;) {
		struct place next;

		pass_change(comparison, &place);
		next = place;
		(void)pass_equal(comparison, 2 * AROUND, &next);
		if (!is_changed(comparison, &next)) {
			(void)pass_equal(comparison, AROUND, &place);
			return place;
		}
		place = next;
	}
}

/* "12,3": an empty range names the line before it. */
static void add_range(struct hf_buffer *out, size_t begin, size_t end)
{
	hf_buffer_printf(out, "%zu", end > begin ? begin + 1 : begin);
	if (end - begin != 1)
		hf_buffer_printf(out, ",%zu", end - begin);
}

static void add_place(const struct comparison *comparison,
		      const struct place *begin, const struct place *end)
{
	struct hf_buffer *const out = comparison->out;

	if (comparison->style->has_color)
		hf_buffer_add_text(out, COLOR_PLACE);
	hf_buffer_add_text(out, "@@ -");
	add_range(out, begin->a, end->a);
	hf_buffer_add_text(out, " +");
	add_range(out, begin->b, end->b);
	hf_buffer_add_text(out, " @@");
	if (comparison->style->has_color)
		hf_buffer_add_text(out, COLOR_END);
	hf_buffer_add_text(out, "\n");
}

static int add_hunk(struct comparison *comparison, struct place place,
		    const struct place *end)
{
	int rc = 0;

	add_place(comparison, &place, end);
	while (rc == 0 && (place.a < end->a || place.b < end->b)) {
		struct place next = place;
		size_t count;

		count = pass_equal(comparison, end->a - place.a, &next);
		add_lines(comparison, ' ', comparison->before.items + place.a,
			  count, NULL);
		place = next;
		pass_change(comparison, &next);
		rc = add_change(comparison, comparison->before.items + place.a,
				next.a - place.a,
				comparison->after.items + place.b,
				next.b - place.b);
		place = next;
	}
	return rc;
}

static void add_name(const struct comparison *comparison, const char *sign,
		     char side, const struct hf_unified_text *text)
{
	struct hf_buffer *const out = comparison->out;

	if (comparison->style->has_color)
		hf_buffer_add_text(out, COLOR_NAME);
	hf_buffer_printf(out, "%s ", sign);
	if (text->name == NULL) {
		hf_buffer_add_text(out, "/dev/null");
	} else {
		hf_buffer_printf(out, "%c/", side);
		hf_buffer_add_quoted(out, text->name, strlen(text->name));
		hf_buffer_printf(out, "\t%s", text->when);
	}
	if (comparison->style->has_color)
		hf_buffer_add_text(out, COLOR_END);
	hf_buffer_add_text(out, "\n");
}

static int add_all(struct comparison *comparison,
		   const struct hf_unified_text *before,
		   const struct hf_unified_text *after)
{
	struct place place = {.a = 0, .b = 0};
	bool has_name = false;
	int rc = 0;

	while (rc == 0) {
		struct place begin;
		struct place end;
		size_t around;

		(void)pass_equal(comparison, SIZE_MAX, &place);
		if (!is_changed(comparison, &place))
			break;
		if (!has_name) {
			add_name(comparison, "---", 'a', before);
			add_name(comparison, "+++", 'b', after);
		}
		has_name = true;
		around = place.a < AROUND ? place.a : AROUND;
		begin = (struct place){place.a - around, place.b - around};
		end = find_end(comparison, place);
		rc = add_hunk(comparison, begin, &end);
		place = end;
	}
	return rc;
}

static int fail(int rc, struct hf_error *err)
{
	if (rc == -ENOMEM)
		return hf_fail_memory(err);
	return hf_fail(err, HF_ERR_LIMIT,
		       "cannot compare texts of so many lines");
}

int hf_unified_add(const struct hf_unified_text *before,
		   const struct hf_unified_text *after,
		   const struct hf_unified_style *style, struct hf_buffer *out,
		   bool *ret_is_rough, struct hf_error *err)
{
	CLEANUP(comparison_done)
	struct comparison comparison = {
		.edits = HF_EDITS_INIT,
		.style = style,
		.out = out,
	};
	int rc;

	rc = cut(before->data, before->len, line_len, &comparison.before);
	if (rc == 0)
		rc = cut(after->data, after->len, line_len, &comparison.after);
	if (rc == 0)
		rc = hf_edits_find(
			comparison.before.items, comparison.before.count,
			comparison.after.items, comparison.after.count,
			HF_EDITS_EFFORT, &comparison.edits);
	if (rc == 0)
		rc = add_all(&comparison, before, after);
	if (rc < 0)
		return fail(rc, err);
	*ret_is_rough = comparison.edits.is_rough;
	return hf_buffer_check(out, err);
}
