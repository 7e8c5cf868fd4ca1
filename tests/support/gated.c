/* SPDX-License-Identifier: MIT */
#include "support/gated.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "support/check.h"
#include "support/tmpdir.h"

/* What the thread that answers needs lives as long as the process, by design.
 */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(
	void);
const char *__lsan_default_suppressions(void)
{
	return "leak:hf_gate_start\n";
}

/* -- the gate's side --------------------------------------------------------
 */

static void keep_place(const struct hf_gate_place *from,
		       struct hf_gated_place *to)
{
	to->facts = *from;
	(void)snprintf(to->last, sizeof(to->last), "%s", from->last);
	(void)snprintf(to->parent_path, sizeof(to->parent_path), "%s",
		       from->parent_path ? from->parent_path : "");
}

static void learn_all(struct hf_gate_question *question, size_t place)
{
	const struct hf_gate_call *const call = hf_gate_question_call(question);
	const struct hf_gate_place *const facts = &call->places[place];

	hf_gate_learn(question, place, HF_GATE_FACT_NAME);
	if (!(facts->known & HF_GATE_FACT_OBJECT))
		hf_gate_learn(question, place, HF_GATE_FACT_OBJECT);
	if (facts->last[0] != '\0')
		hf_gate_learn(question, place, HF_GATE_FACT_PARENT);
	if (call->operation == HF_GATE_OPEN && facts->name_rc == 0 &&
	    facts->name.kind == HF_KIND_LINK && facts->object_rc == -ENOENT)
		hf_gate_learn(question, place, HF_GATE_FACT_END);
	if (facts->known & HF_GATE_FACT_PARENT && facts->parent_rc == 0)
		hf_gate_learn(question, place, HF_GATE_FACT_PARENT_PATH);
	if (facts->object_rc == 0 && facts->object.kind == HF_KIND_DIRECTORY)
		hf_gate_learn(question, place, HF_GATE_FACT_EMPTY);
	if (call->operation == HF_GATE_ATTRIBUTE ||
	    call->operation == HF_GATE_FLAGS)
		hf_gate_learn(question, place, HF_GATE_FACT_SAME);
	hf_gate_learn(question, place, HF_GATE_FACT_PERMITTED);
}

static int judge(void *context, struct hf_gate_question *question)
{
	struct hf_gated *const gated = context;
	const struct hf_gate_call *const call = hf_gate_question_call(question);
	struct hf_gated_call *const seen = &gated->calls[gated->shared->mark];
	cleanup_buffer struct hf_buffer detail = HF_BUFFER_INIT;

	seen->count++;
	seen->tid = hf_gate_question_tid(question);
	(void)snprintf(seen->name, sizeof(seen->name), "%s", call->name);
	hf_gate_describe(question, &detail);
	(void)snprintf(seen->detail, sizeof(seen->detail), "%s",
		       detail.data ? detail.data : "");
	for (size_t i = 0; i < call->place_count; i++) {
		if (call->operation == HF_GATE_HANDLE)
			hf_gate_learn(question, i, HF_GATE_FACT_OBJECT);
		else
			learn_all(question, i);
		keep_place(&call->places[i], &seen->places[i]);
	}
	seen->call = *call;
	if (gated->lets_mount &&
	    (gated->shared->mark == 0 || call->operation == HF_GATE_MOUNT))
		return 0;
	if (!gated->copies || call->operation != HF_GATE_LINK)
		return gated->answer;
	seen->copy_rc = hf_gate_copy(question, &seen->copy);
	return seen->copy_rc < 0 ? -seen->copy_rc : HF_GATE_DONE;
}

static void take_effect(void *context, struct hf_gate_question *question,
			enum hf_gate_effect effect)
{
	struct hf_gated *const gated = context;

	(void)question;
	gated->calls[gated->shared->mark].effects |= 1u << effect;
}

/* -- the test's side ----------------------------------------------------------
 */

void hf_gated_setup(struct hf_gated *gated)
{
	*gated = (struct hf_gated){.dir = hf_tmpdir_make()};
	gated->dir_fd = open(gated->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gated->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gated->shared =
		mmap(NULL, sizeof(*gated->shared), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(gated->dir_fd >= 0 && gated->proc_fd >= 0 &&
		  gated->shared != MAP_FAILED);
	cr_assert_eq(fchdir(gated->dir_fd), 0);
}

void hf_gated_teardown(struct hf_gated *gated)
{
	(void)chdir("/");
	(void)munmap(gated->shared, sizeof(*gated->shared));
	(void)close(gated->proc_fd);
	(void)close(gated->dir_fd);
	hf_tmpdir_remove(gated->dir);
}

void hf_gated_run(struct hf_gated *gated, void (*body)(struct hf_gated *gated))
{
	const struct hf_gate_hooks hooks = {
		.context = gated,
		.judge = judge,
		.effect = take_effect,
	};
	int listener_fd = -1;
	int sockets[2];
	int status;
	pid_t pid;
	char go = 1;

	cr_assert_eq(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets),
		0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)close(sockets[0]);
		hf_gate_install(sockets[1]);
		if (read(sockets[1], &go, 1) == 1)
			body(gated);
		_exit(0);
	}
	(void)close(sockets[1]);
	cr_assert_eq(hf_gate_receive(sockets[0], &listener_fd), 0);
	cr_assert_eq(hf_gate_start(listener_fd, gated->proc_fd, &hooks), 0);
	cr_assert_eq(write(sockets[0], &go, 1), 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		  "the child's status is %#x at mark %zu", (unsigned)status,
		  gated->shared->mark);
	(void)close(sockets[0]);
}

/* -- for the body -------------------------------------------------------------
 */

void hf_gated_mark(struct hf_gated *gated, size_t mark)
{
	hf_gated_need(mark < HF_GATED_MAX, "room for a mark");
	gated->shared->mark = mark;
}

void hf_gated_call(struct hf_gated *gated, long number, const long args[6])
{
	const long rc = syscall(number, args[0], args[1], args[2], args[3],
				args[4], args[5]);

	gated->shared->results[gated->shared->mark] = rc < 0 ? -errno : rc;
}

void hf_gated_need(bool is_so, const char *what)
{
	if (is_so)
		return;
	perror(what);
	_exit(1);
}
