/* SPDX-License-Identifier: MIT */
/* What front and guard tell each other, to the last word. */
#include "platform/linux/job_internal.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

TestSuite(job_message, .timeout = 60);

/* Who ends with something unread resets its peer: what it said before counts. */
Test(job_message, last_word_of_who_did_not_listen)
{
	const struct hf_message seen = { .kind = HF_MESSAGE_SEEN, .value = 2 };
	const struct hf_message ended = {
		.kind = HF_MESSAGE_ENDED, .result = { .status = 97 },
	};
	struct hf_message got;
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				pair), 0);
	hf_message_send(pair[0], &seen);
	hf_message_send(pair[1], &ended);
	(void)close(pair[1]);
	cr_assert_eq(hf_message_receive(pair[0], &got), 1);
	cr_expect_eq(got.kind, HF_MESSAGE_ENDED);
	cr_expect_eq(got.result.status, 97);
	cr_expect_eq(hf_message_receive(pair[0], &got), 0);
	(void)close(pair[0]);
}
