/* SPDX-License-Identifier: MIT */
/* Read from /proc, and from the marks that container managers leave. */
#include "platform/surroundings.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buffer.h"
#include "platform/file.h"

#define TEXT_MAX 4096

/* From this value of Yama's ptrace_scope on, ancestors may not either. */
#define SCOPE_ROOT_ALONE '2'
#define SCOPE_FILE	 "/proc/sys/kernel/yama/ptrace_scope"

/* A short file as a string, "" when it cannot be read. */
static const char *read_text(const char *path, char text[TEXT_MAX])
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t len = fd < 0 ? 0 : read(fd, text, TEXT_MAX - 1);

	text[len < 0 ? 0 : len] = '\0';
	return text;
}

/* The character behind "NAME:" and blanks, in a file like /proc/self/status. */
static char value_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (at == NULL)
		return '\0';
	at += strlen(name);
	return at[strspn(at, ": \t")];
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void find_container(struct hf_surroundings *around)
{
	char text[TEXT_MAX];
	size_t len;

	if (strcasestr(read_text("/proc/sys/kernel/osrelease", text),
		       "microsoft") != NULL) {
		(void)snprintf(around->container, sizeof(around->container),
			       "WSL");
		return;
	}
	/* systemd-nspawn and others say so here, as a word. */
	(void)read_text("/run/systemd/container", text);
	for (len = 0; isalnum((unsigned char)text[len]) || text[len] == '-';)
		len++;
	if (len == 0 && exists("/.dockerenv"))
		len = (size_t)snprintf(text, sizeof(text), "docker");
	else if (len == 0 && exists("/run/.containerenv"))
		len = (size_t)snprintf(text, sizeof(text), "podman");
	(void)snprintf(around->container, sizeof(around->container), "%.*s",
		       (int)len, text);
}

/* All of it mapped onto itself: the first namespace, or as good as that. */
static bool is_whole_map(const char *text)
{
	unsigned inside;
	unsigned outside;
	unsigned count;

	return sscanf(text, "%u %u %u", &inside, &outside, &count) != 3 ||
	       (inside == 0 && outside == 0 && count == UINT32_MAX);
}

/* The effective ones; 0 when they cannot be told. */
static uint64_t capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {
		{.effective = 0}};

	if (syscall(SYS_capget, &header, sets) < 0)
		return 0;
	return (uint64_t)sets[1].effective << 32 | sets[0].effective;
}

/* As the kernel asks before it takes a filter. */
static bool may_filter(void)
{
	return (capabilities() & UINT64_C(1) << CAP_SYS_ADMIN) != 0;
}

/* Names a namespace as long as it lasts; 0 when there are none. */
static uint64_t namespace(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

void hf_surroundings_standing(struct hf_buffer *out)
{
	char text[TEXT_MAX];
	struct utsname kernel = {.release = ""};
	const char *scope = read_text(SCOPE_FILE, text);

	(void)uname(&kernel);
	hf_buffer_printf(out,
			 "%s capabilities %" PRIx64 " promised %d filtered %d "
			 "scope %.1s user %" PRIu64 " pid %" PRIu64,
			 kernel.release, capabilities(),
			 prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
			 prctl(PR_GET_SECCOMP, 0, 0, 0, 0),
			 scope[0] == '\0' ? "-" : scope,
			 namespace("/proc/self/ns/user"),
			 namespace("/proc/self/ns/pid"));
}

void hf_surroundings_look(struct hf_surroundings *ret_surroundings)
{
	struct hf_surroundings around = {.is_root = geteuid() == 0};
	char text[TEXT_MAX];

	(void)read_text("/proc/self/status", text);
	around.has_no_new_privileges = value_of(text, "NoNewPrivs") == '1';
	around.is_filtered = value_of(text, "\nSeccomp:") == '2';
	around.is_in_user_namespace =
		!is_whole_map(read_text("/proc/self/uid_map", text));
	around.keeps_privilege = !around.has_no_new_privileges && may_filter();
	around.forbids_looking =
		read_text(SCOPE_FILE, text)[0] >= SCOPE_ROOT_ALONE;
	find_container(&around);
	*ret_surroundings = around;
}
