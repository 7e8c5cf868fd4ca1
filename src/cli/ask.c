/* SPDX-License-Identifier: MIT */
/* Ask, and take anything but a yes for a no. */
#include "cli/ask.h"

#include "base/buffer.h"
#include "cli/output.h"
#include "platform/terminal.h"

bool hf_ask_is_possible(void)
{
	return hf_terminal_is(HF_STDIN) && hf_terminal_is(HF_STDERR);
}

bool hf_ask_for(struct hf_output *output, const struct hf_buffer *lines,
		const char *question, char *answer, size_t size)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	if (lines)
		hf_buffer_add(&text, lines->data, lines->len);
	hf_buffer_add_text(&text, question);
	hf_output_lines(output, &text);
	return hf_terminal_read_line(HF_STDIN, answer, size) >= 0;
}

bool hf_ask(struct hf_output *output, const struct hf_buffer *lines,
	    const char *question)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	char answer[16] = "";

	hf_buffer_printf(&text, "%s [y/N] ", question);
	return hf_ask_for(output, lines, text.is_failed ? "" : text.data,
			  answer, sizeof(answer)) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}
