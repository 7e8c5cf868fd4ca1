/* SPDX-License-Identifier: MIT */
/*
 * Run a program and read what it answers.
 *
 * The question lies in a file in memory, not in a pipe: nobody has to write
 * while the other side writes, too, and a program that does not read it does no
 * harm.
 */
#include "platform/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "platform/file.h"
#include "platform/linux/file_internal.h"

#define NOTHING	   "/dev/null"
#define READ_CHUNK ((size_t)64 << 10)
/* As a shell tells of it. */
#define SIGNALLED  128

/* -- the environment --------------------------------------------------------
 */

/*
 * Of git's variables those that a person sets, and git hands on as they are; a
 * star stands for any end.  All others may come from git itself.
 */
static const char *const persons[] = {
	"GIT_ALLOW_PROTOCOL",
	"GIT_ASKPASS",
	"GIT_CEILING_DIRECTORIES",
	"GIT_CONFIG_GLOBAL",
	"GIT_CONFIG_NOSYSTEM",
	"GIT_CONFIG_SYSTEM",
	"GIT_DEFAULT_HASH",
	"GIT_DISCOVERY_ACROSS_FILESYSTEM",
	"GIT_HTTP*",
	"GIT_PAGER",
	"GIT_PROXY*",
	"GIT_SSH*",
	"GIT_SSL*",
	"GIT_TERMINAL_PROMPT",
	"GIT_TEST*",
	"GIT_TRACE*",
};

#define GIT_PREFIX     "GIT_"
/* Git sets it, empty or not, for whatever it starts; nobody else does. */
#define STARTED_BY_GIT "GIT_PREFIX"

static bool is_named(const char *variable, const char *name)
{
	const size_t len = strcspn(name, "*");

	return strncmp(variable, name, len) == 0 &&
	       (name[len] == '*' || variable[len] == '=');
}

static bool is_gits(const char *variable)
{
	if (strncmp(variable, GIT_PREFIX, strlen(GIT_PREFIX)) != 0)
		return false;
	for (size_t i = 0; i < HF_COUNT(persons); i++)
		if (is_named(variable, persons[i]))
			return false;
	return true;
}

void hf_program_forget_git(void)
{
	bool is_from_git = false;
	size_t kept = 0;

	for (size_t i = 0; environ && environ[i]; i++)
		is_from_git |= is_named(environ[i], STARTED_BY_GIT);
	if (!is_from_git)
		return;
	for (size_t i = 0; environ[i]; i++)
		if (!is_gits(environ[i]))
			environ[kept++] = environ[i];
	environ[kept] = NULL;
}

/* Is it given another value? */
static bool is_replaced(const char *variable, const char *const *variables)
{
	for (size_t i = 0; variables && variables[i]; i++) {
		const size_t len = strcspn(variables[i], "=") + 1;

		if (strncmp(variable, variables[i], len) == 0)
			return true;
	}
	return false;
}

/* To free(); the strings are borrowed.  NULL: no memory. */
static char **make_environment(const struct hf_program *program)
{
	const char *const *const variables = program->variables;
	size_t count = 1;
	size_t used = 0;
	char **list;

	for (size_t i = 0; environ && environ[i]; i++)
		count++;
	for (size_t i = 0; variables && variables[i]; i++)
		count++;
	list = calloc(count, sizeof(*list));
	for (size_t i = 0; list && environ && environ[i]; i++)
		if (!is_replaced(environ[i], variables) &&
		    !(program->is_apart_from_git && is_gits(environ[i])))
			list[used++] = environ[i];
	for (size_t i = 0; list && variables && variables[i]; i++)
		memcpy(&list[used++], &variables[i], sizeof(*list));
	return list;
}

/* -- asking ------------------------------------------------------------------
 */

/* What the program reads; -errno on failure. */
static int open_input(const struct hf_program *program)
{
	cleanup_fd int fd = -1;
	int rc;

	if (program->input_len == 0)
		return HF_CALL(open(NOTHING, O_RDONLY | O_CLOEXEC));
	fd = HF_CALL(memfd_create("question", MFD_CLOEXEC));
	if (fd < 0)
		return fd;
	rc = hf_file_write(fd, program->input, program->input_len);
	if (rc == 0)
		rc = hf_file_seek(fd, 0);
	return rc < 0 ? rc : take_fd(&fd);
}

static int spawn(const struct hf_program *program, int input_fd, int output_fd,
		 pid_t *ret_child)
{
	cleanup_free char **environment = make_environment(program);
	cleanup_free char **argv = NULL;
	posix_spawn_file_actions_t actions;
	size_t count = 0;
	int rc;

	while (program->argv[count])
		count++;
	argv = calloc(count + 1, sizeof(*argv));
	if (!argv || !environment)
		return -ENOMEM;
	memcpy(argv, program->argv, count * sizeof(*argv));
	rc = posix_spawn_file_actions_init(&actions);
	if (rc != 0)
		return -rc;
	rc = posix_spawn_file_actions_adddup2(&actions, input_fd, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(&actions, output_fd, 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(&actions, 2, NOTHING,
						      O_WRONLY, 0);
	if (rc == 0)
		rc = posix_spawnp(ret_child, argv[0], &actions, NULL, argv,
				  environment);
	(void)posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* To the end, or to the bound: then the program's next write fails. */
static int read_answer(int fd, size_t max, struct hf_buffer *ret_answer)
{
	const size_t before = ret_answer->len;

	for (;;) {
		char *const room = hf_buffer_reserve(ret_answer, READ_CHUNK);
		ssize_t len;

		if (!room)
			return -ENOMEM;
		room[0] = '\0';
		len = HF_CALL(read(fd, room, READ_CHUNK));
		if (len <= 0)
			return (int)len;
		ret_answer->len += (size_t)len;
		room[len] = '\0';
		if (ret_answer->len - before > max)
			return -EFBIG;
	}
}

int hf_program_ask(const struct hf_program *program,
		   struct hf_buffer *ret_answer)
{
	cleanup_fd int input_fd = open_input(program);
	cleanup_fd int answer_fd = -1;
	cleanup_fd int write_fd = -1;
	int pipe_fds[2];
	int status = 0;
	pid_t child = -1;
	int ended;
	int rc;

	if (input_fd < 0)
		return input_fd;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	answer_fd = pipe_fds[0];
	write_fd = pipe_fds[1];
	rc = spawn(program, input_fd, write_fd, &child);
	if (rc < 0)
		return rc;
	hf_file_close_quietly(&write_fd);
	rc = read_answer(answer_fd, program->max, ret_answer);
	hf_file_close_quietly(&answer_fd);
	ended = HF_CALL(waitpid(child, &status, 0));
	if (rc < 0 || ended < 0)
		return rc < 0 ? rc : ended;
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : SIGNALLED + WTERMSIG(status);
}

int hf_program_self(char **ret_path)
{
	char *const path = realpath("/proc/self/exe", NULL);

	if (!path)
		return -errno;
	*ret_path = path;
	return 0;
}
