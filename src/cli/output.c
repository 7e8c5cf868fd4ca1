/* SPDX-License-Identifier: MIT */
/* Print lines, results and a bar. */
#include "cli/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/sealed.h"
#include "platform/system.h"
#include "platform/terminal.h"

/* Who asked for a result may hold it up. */
#define RESULT_PATIENCE_MS  (-1)
/* A write that takes no longer has not waited. */
#define PROMPT_MS	    1

#define MS_NS	     INT64_C(1000000)
#define SECOND_NS    INT64_C(1000000000)
#define BAR_AFTER_NS SECOND_NS
#define BAR_EVERY_NS (SECOND_NS / 10)

static void add_location(struct hf_buffer *out, const char *option,
			 const char *value)
{
	if (value == NULL)
		return;
	hf_buffer_printf(out, " %s ", option);
	hf_text_add_shell(out, value);
}

void hf_output_init(struct hf_output *output, const struct hf_options *options)
{
	add_location(&output->location, "--root", options->policy.root);
	add_location(&output->location, "--config", options->policy.config);
	add_location(&output->location, "--store", options->store);
	output->style = (struct hf_text_style){
		.has_color = options->color == HF_COLOR_ALWAYS ||
			     (options->color == HF_COLOR_AUTO &&
			      hf_terminal_has_color(HF_STDERR)),
		.is_verbose = options->is_verbose && !options->is_quiet,
		.is_quiet = options->is_quiet,
		.location = output->location.data == NULL ?
				    "" :
				    output->location.data,
	};
}

void hf_output_done(struct hf_output *output)
{
	hf_buffer_done(&output->location);
	output->style.location = "";
}

/* A reader that has caught up is waited for again. */
static void write_message(struct hf_output *output, const char *text,
			  size_t len)
{
	const int64_t begun_ns = hf_system_boot_ns();
	const bool is_read = hf_terminal_write(HF_STDERR, text, len,
					       output->patience_ms);
	const int64_t waited_ms = (hf_system_boot_ns() - begun_ns) / MS_NS;

	if (!is_read)
		output->lost++;
	if (is_read && waited_ms <= PROMPT_MS)
		output->patience_ms = HF_MESSAGE_PATIENCE_MS;
	else if (waited_ms < output->patience_ms)
		output->patience_ms -= (int)waited_ms;
	else
		output->patience_ms = 0;
}

/* What is drawn over is no message: it is shown or not, at once. */
static void clear_bar(struct hf_bar *bar)
{
	static const char clear[] = "\r\033[K";

	if (bar->is_drawn)
		(void)hf_terminal_write(HF_STDERR, clear, sizeof(clear) - 1, 0);
	bar->is_drawn = false;
}

void hf_output_lines(struct hf_output *output, const struct hf_buffer *lines)
{
	static const char no_memory[] =
		"holdfast: cannot say what happened: out of memory\n";

	clear_bar(&output->bar);
	if (lines->is_failed)
		write_message(output, no_memory, sizeof(no_memory) - 1);
	else if (lines->len > 0)
		write_message(output, lines->data, lines->len);
}

bool hf_output_part(struct hf_output *output, const void *data, size_t len)
{
	struct hf_error err = { 0 };

	clear_bar(&output->bar);
	if (!hf_terminal_write(HF_STDOUT, data, len, RESULT_PATIENCE_MS)) {
		output->has_failed = true;
		(void)hf_fail_system(&err, -errno,
				     "cannot write to standard output");
		hf_output_error(output, &err);
		return false;
	}
	return !hf_terminal_is_gone(HF_STDOUT);
}

void hf_output_result(struct hf_output *output, const struct hf_buffer *text)
{
	if (text->is_failed) {
		output->has_failed = true;
		hf_output_lines(output, text);
	} else if (text->len > 0) {
		(void)hf_output_part(output, text->data, text->len);
	} else {
		clear_bar(&output->bar);
	}
}

/* Would it move the cursor, or worse?  U+0080 to U+009F are two bytes each. */
static bool is_for_terminals(const unsigned char *data, size_t len,
			     unsigned char *last)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == 0 || data[i] == 0x7f ||
		    (data[i] < 0x20 && strchr("\t\n\r\f", data[i]) == NULL) ||
		    (*last == 0xc2 && data[i] >= 0x80 && data[i] < 0xa0))
			return false;
		*last = data[i];
	}
	return true;
}

int hf_output_check_content(struct hf_output *output, const char *name,
			    const void *data, size_t len, struct hf_error *err)
{
	if (!hf_terminal_is(HF_STDOUT) ||
	    is_for_terminals(data, len, &output->last))
		return 0;
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot show '%s' on a terminal: it is no text",
		      HF_QUOTE(name));
	return hf_fail_hint(err,
			    "'> FILE' or '| less' behind the command takes "
			    "it as it is");
}

int hf_output_end(const struct hf_output *output, int status, int failure)
{
	return output->has_failed && (status == HF_STATUS_DONE ||
				      status == HF_STATUS_DIFFERS) ?
		       failure :
		       status;
}

PRINTF_LIKE(3, 0)
static void say(struct hf_output *output, const char *word, const char *fmt,
		va_list ap)
{
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
	va_list again;
	char *room;
	int len;

	hf_text_begin(&line, &output->style, word);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	room = len < 0 ? NULL : hf_buffer_reserve(&line, (size_t)len);
	if (room != NULL) {
		(void)vsnprintf(room, (size_t)len + 1, fmt, ap);
		line.len += (size_t)len;
	}
	hf_buffer_add_text(&line, "\n");
	hf_output_lines(output, &line);
}

void hf_output_say(struct hf_output *output, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(output, NULL, fmt, ap);
	va_end(ap);
}

void hf_output_mark(struct hf_output *output, const char *word, const char *fmt,
		    ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(output, word, fmt, ap);
	va_end(ap);
}

bool hf_output_say_waiting(void *context)
{
	struct hf_output *const output = context;

	if (!output->style.is_quiet)
		hf_output_say(output,
			      "waiting: another holdfast is at work on this "
			      "project");
	return true;
}

void hf_output_notes(struct hf_output *output, const char *text)
{
	struct hf_lines lines = hf_lines_of(text);
	const char *line;
	size_t len;

	while (hf_lines_next(&lines, &line, &len))
		hf_output_mark(output, "note", "%.*s", (int)len, line);
}

void hf_output_error(struct hf_output *output, const struct hf_error *err)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	hf_report_text_error(err, &output->style, &lines);
	hf_output_lines(output, &lines);
}

int hf_output_status(const struct hf_error *err)
{
	if (err->code == HF_ERR_UNDECIDED)
		return HF_STATUS_UNDECIDED;
	return err->code == HF_ERR_USAGE ? HF_STATUS_USAGE : HF_STATUS_FAILED;
}

int hf_output_fail(struct hf_output *output, const struct hf_error *err)
{
	hf_output_error(output, err);
	return hf_output_status(err);
}

/* -- the bar -----------------------------------------------------------------
 */

static void draw(struct hf_bar *bar, uint64_t done, uint64_t all)
{
	struct hf_short_text done_text;
	struct hf_short_text all_text;
	const unsigned width = hf_terminal_width(HF_STDERR);
	char line[160];
	int len;

	len = snprintf(line, sizeof(line),
		       "\r\033[Kholdfast: %s %3u%% (%s of %s)", bar->what,
		       all == 0 ?
			       100u :
			       (unsigned)((double)done * 100.0 / (double)all),
		       hf_format_size(&done_text, done),
		       hf_format_size(&all_text, all));
	/* Four bytes go before the text; a full line would wrap. */
	if (len > (int)width + 3)
		len = (int)width + 3;
	(void)hf_terminal_write(HF_STDERR, line, (size_t)len, 0);
	bar->is_drawn = true;
}

static void update(void *context, uint64_t done_bytes, uint64_t all_bytes,
		   size_t done_entries, size_t all_entries)
{
	struct hf_bar *bar = context;
	const int64_t now = hf_system_boot_ns();

	(void)done_entries;
	(void)all_entries;
	if (bar->begun_ns == 0)
		bar->begun_ns = now;
	if (done_bytes >= all_bytes) {
		/* The next thing to do begins from the start. */
		clear_bar(bar);
		bar->begun_ns = 0;
		return;
	}
	if (now - bar->begun_ns < BAR_AFTER_NS ||
	    now - bar->drawn_ns < BAR_EVERY_NS)
		return;
	bar->drawn_ns = now;
	draw(bar, done_bytes, all_bytes);
}

struct hf_progress *hf_output_progress(struct hf_output *output,
				       const char *what)
{
	if (output->style.is_quiet || !hf_terminal_is(HF_STDERR))
		return NULL;
	output->bar = (struct hf_bar){
		.progress = { .update = update, .context = &output->bar },
		.what = what,
		.begun_ns = hf_system_boot_ns(),
	};
	return &output->bar.progress;
}
