/* SPDX-License-Identifier: MIT */
/* The arguments of a call in words, as strace(1) would have them. */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>

#include "base/buffer.h"
#include "platform/linux/gate_internal.h"

struct word {
	uint64_t bits;
	uint64_t mask;
	const char *text;
};

#define FLAG(name)                \
	{                         \
		name, name, #name \
	}

static const struct word open_words[] = {
	{O_WRONLY, O_ACCMODE, "O_WRONLY"},
	{O_RDWR, O_ACCMODE, "O_RDWR"},
	{O_RDONLY, O_ACCMODE, "O_RDONLY"},
	FLAG(O_CREAT),
	FLAG(O_EXCL),
	FLAG(O_TRUNC),
	FLAG(O_APPEND),
	FLAG(O_NONBLOCK),
	FLAG(O_NOFOLLOW),
	FLAG(O_DIRECTORY),
};

static void add_open(const struct hf_gate_question *question,
		     struct hf_buffer *out)
{
	const char *separator = "";

	for (size_t i = 0; i < HF_COUNT(open_words); i++) {
		const struct word *const word = &open_words[i];

		if ((question->flags & word->mask) != word->bits)
			continue;
		hf_buffer_printf(out, "%s%s", separator, word->text);
		separator = "|";
	}
}

static void add_owner(const struct hf_gate_call *call, struct hf_buffer *out)
{
	if (call->uid == UINT32_MAX)
		hf_buffer_add_text(out, "-1:");
	else
		hf_buffer_printf(out, "%" PRIu32 ":", call->uid);
	if (call->gid == UINT32_MAX)
		hf_buffer_add_text(out, "-1");
	else
		hf_buffer_printf(out, "%" PRIu32, call->gid);
}

/* An extended attribute's name. */
static void add_attribute(const struct hf_gate_question *question,
			  struct hf_buffer *out)
{
	char name[NAME_MAX + 1];

	if (gate_read_text(question,
			   gate_argument(question, question->shape->value),
			   name, sizeof(name)) >= 0)
		hf_buffer_add_text(out, name);
}

void hf_gate_describe(const struct hf_gate_question *question,
		      struct hf_buffer *out)
{
	const struct hf_gate_call *const call = &question->call;

	switch (call->operation) {
	case HF_GATE_OPEN:
	case HF_GATE_HANDLE:
		add_open(question, out);
		break;
	case HF_GATE_MODE:
		hf_buffer_printf(out, "%04" PRIo32, call->mode);
		break;
	case HF_GATE_OWNER:
		add_owner(call, out);
		break;
	case HF_GATE_ATTRIBUTE:
		add_attribute(question, out);
		break;
	case HF_GATE_RENAME:
	case HF_GATE_LINK:
		hf_buffer_printf(out, "%s -> %s%s", question->paths[0].text,
				 question->paths[1].text,
				 call->flags & HF_GATE_EXCHANGES
					 ? " (RENAME_EXCHANGE)"
					 : "");
		break;
	case HF_GATE_TRUNCATE:
	case HF_GATE_TIMES:
	case HF_GATE_FLAGS:
	case HF_GATE_CREATE:
	case HF_GATE_BIND:
	case HF_GATE_REMOVE:
	case HF_GATE_REMOVE_DIRECTORY:
	case HF_GATE_MOUNT:
	case HF_GATE_UNMOUNT:
	case HF_GATE_DIRECTORY:
	case HF_GATE_VIEW:
	case HF_GATE_PROCESS:
		break;
	}
}
