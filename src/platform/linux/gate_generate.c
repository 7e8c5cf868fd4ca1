/* SPDX-License-Identifier: MIT */
/*
 * Makes the gate's filter, when holdfast is built.
 *
 *	gate_generate ARCHITECTURE filter gate_filter.h
 *	gate_generate ARCHITECTURE numbers gate_numbers.h
 *
 * libseccomp builds the program for the architecture and its 32-bit companion;
 * holdfast installs it as it stands, so that a start pays for neither.  Calls
 * that are newer than Debian's libseccomp stand in front: numbers above 424 are
 * the same on every architecture.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "platform/linux/gate_calls.h"

#define NUMBERS_MAX 512
#define PROGRAM_MAX 4096

/* Of calls that libseccomp may not know. */
#define NR_FIRST_NEW	 452
#define NR_FCHMODAT2	 452
#define NR_SETXATTRAT	 463
#define NR_REMOVEXATTRAT 466
#define NR_FILE_SETATTR	 469

/* A 32-bit program's bind() is one of its own besides socketcall(). */
#define NR_BIND_X86 361

/* FS_IOC_SETFLAGS is a number of its own in a 32-bit program. */
#define FS_IOC32_SETFLAGS _IOW('f', 2, int)

static const struct {
	const char *name;
	uint32_t token;
	uint32_t companion; /* 0: none */
} architectures[] = {
	{"x86_64", SCMP_ARCH_X86_64, SCMP_ARCH_X86},
	{"aarch64", SCMP_ARCH_AARCH64, SCMP_ARCH_ARM},
};

static const char *const names[GATE_CALLS] = {
#define NAME(call, operation, ...) [GATE_CALL_##call] = #call,
	HF_GATE_CALLS(NAME)
#undef NAME
};

static _Noreturn void die(const char *what, int rc)
{
	(void)fprintf(stderr, "gate_generate: %s: %s\n", what, strerror(-rc));
	exit(1);
}

static void add_where(scmp_filter_ctx filter, const char *name, unsigned count,
		      const struct scmp_arg_cmp *tests)
{
	const int number = seccomp_syscall_resolve_name(name);
	const int rc = seccomp_rule_add_array(filter, SCMP_ACT_NOTIFY, number,
					      count, tests);

	if (rc < 0)
		die(name, rc);
}

/* Told of the call when one of these bits is set in an argument. */
static void add_bits(scmp_filter_ctx filter, const char *name,
		     unsigned argument, const uint64_t *bits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct scmp_arg_cmp test = SCMP_CMP(
			argument, SCMP_CMP_MASKED_EQ, bits[i], bits[i]);

		add_where(filter, name, 1, &test);
	}
}

/* Told of the call when the low half of an argument is one of these. */
static void add_values(scmp_filter_ctx filter, const char *name,
		       unsigned argument, const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct scmp_arg_cmp test = SCMP_CMP(
			argument, SCMP_CMP_MASKED_EQ, UINT32_MAX, values[i]);

		add_where(filter, name, 1, &test);
	}
}

static void add_call(scmp_filter_ctx filter, enum gate_call call)
{
	static const uint64_t intents[] = {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC};
	static const uint64_t flags[] = {FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS,
					 FS_IOC_FSSETXATTR,
					 FS_IOC_ENABLE_VERITY};
	static const uint64_t mounts[] = {GATE_CLONE_NEWNS};
	static const uint64_t modes[] = {SECCOMP_SET_MODE_FILTER};
	static const uint64_t traces[] = {PTRACE_TRACEME, PTRACE_ATTACH,
					  GATE_PTRACE_SEIZE};
	static const uint64_t questions[] = {PR_GET_NO_NEW_PRIVS};
	const struct scmp_arg_cmp dumpable[] = {
		SCMP_A0_32(SCMP_CMP_EQ, PR_SET_DUMPABLE),
		SCMP_A1_32(SCMP_CMP_EQ, 0),
	};
	const char *const name = names[call];

	switch (call) {
	case GATE_CALL_open:
		add_bits(filter, name, 1, intents, 4);
		break;
	case GATE_CALL_openat:
		add_bits(filter, name, 2, intents, 4);
		break;
	case GATE_CALL_ioctl:
		add_values(filter, name, 1, flags, 4);
		break;
	case GATE_CALL_clone:
		add_bits(filter, name, 0, mounts, 1);
		break;
	case GATE_CALL_seccomp:
		add_values(filter, name, 0, modes, 1);
		break;
	case GATE_CALL_ptrace:
		add_values(filter, name, 0, traces, 3);
		break;
	case GATE_CALL_prctl:
		add_where(filter, name, 2, dumpable);
		add_values(filter, name, 0, questions, 1);
		break;
	case GATE_CALL_socketcall: /* libseccomp makes it of bind */
	case GATE_CALL_fchmodat2:  /* see write_program() */
		break;
	default:
		add_where(filter, name, 0, NULL);
	}
}

static scmp_filter_ctx build(uint32_t token, uint32_t companion)
{
	const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int rc;

	if (!filter)
		die("seccomp_init", -ENOMEM);
	if (token != seccomp_arch_native()) {
		rc = seccomp_arch_add(filter, token);
		if (rc == 0)
			rc = seccomp_arch_remove(filter, SCMP_ARCH_NATIVE);
		if (rc < 0)
			die("architecture", rc);
	}
	rc = companion ? seccomp_arch_add(filter, companion) : 0;
	if (rc < 0)
		die("second architecture", rc);
	/* x32 on x86-64, whose calls have numbers of their own. */
	rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH,
			      SCMP_ACT_ERRNO(ENOSYS));
	if (rc == 0)
		rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (rc < 0)
		die("attributes", rc);
	for (int call = 1; call < GATE_CALLS; call++)
		add_call(filter, (enum gate_call)call);
	return filter;
}

static void write_step(const struct sock_filter *step)
{
	printf("\t{ 0x%04x, %u, %u, 0x%08x },\n", step->code, step->jt,
	       step->jf, step->k);
}

static void write_program(scmp_filter_ctx filter)
{
	static const struct sock_filter newer[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NR_FIRST_NEW, 0, 6),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_FCHMODAT2, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_SETXATTRAT, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_REMOVEXATTRAT, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_FILE_SETATTR, 1, 2),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	struct sock_filter program[PROGRAM_MAX];
	FILE *const file = tmpfile();
	size_t count;
	int rc;

	if (!file)
		die("temporary file", -errno);
	rc = seccomp_export_bpf(filter, fileno(file));
	if (rc < 0)
		die("seccomp_export_bpf", rc);
	rewind(file);
	count = fread(program, sizeof(*program), PROGRAM_MAX, file);
	(void)fclose(file);
	if (count == 0 || count == PROGRAM_MAX)
		die("program", -EFBIG);
	printf("static const struct sock_filter gate_filter[] = {\n");
	for (size_t i = 0; i < sizeof(newer) / sizeof(*newer); i++)
		write_step(&newer[i]);
	for (size_t i = 0; i < count; i++)
		write_step(&program[i]);
	printf("};\n\n");
}

static void write_numbers(const char *label, uint32_t token)
{
	unsigned char numbers[NUMBERS_MAX] = {0};

	for (int call = 1; call < GATE_CALLS; call++) {
		int number =
			seccomp_syscall_resolve_name_arch(token, names[call]);

		if (call == GATE_CALL_fchmodat2)
			number = NR_FCHMODAT2;
		else if (call == GATE_CALL_bind && token == SCMP_ARCH_X86)
			number = NR_BIND_X86;
		if (number >= 0 && number < NUMBERS_MAX)
			numbers[number] = (unsigned char)call;
	}
	printf("#define GATE_AUDIT_%s 0x%08xu\n", label, token);
	printf("static const unsigned char gate_%s[%d] = {\n", label,
	       NUMBERS_MAX);
	for (int i = 0; i < NUMBERS_MAX; i++)
		if (numbers[i])
			printf("\t[%d] = GATE_CALL_%s,\n", i,
			       names[numbers[i]]);
	printf("};\n\n");
}

int main(int argc, char **argv)
{
	const size_t count = sizeof(architectures) / sizeof(*architectures);

	for (size_t i = 0; argc == 4 && i < count; i++) {
		const uint32_t token = architectures[i].token;
		const uint32_t companion = architectures[i].companion;

		if (strcmp(argv[1], architectures[i].name) != 0)
			continue;
		if (!freopen(argv[3], "w", stdout))
			die(argv[3], -errno);
		printf("/* Made by gate_generate; changes are lost. */\n\n"
		       "#include <linux/filter.h>\n\n"
		       "#include \"platform/linux/gate_calls.h\"\n\n");
		if (strcmp(argv[2], "filter") == 0) {
			write_program(build(token, companion));
		} else {
			write_numbers("native", token);
			write_numbers("compat", companion);
		}
		return fflush(stdout) == 0 ? 0 : 1;
	}
	(void)fprintf(stderr, "usage: gate_generate x86_64|aarch64 "
			      "filter|numbers FILE\n");
	return 2;
}
