/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the task seam share: task.c keeps who is who, task_stat.c and
 * task_objects.c read /proc, task_symbol.c reads ELF files, task_environ.c the
 * memory of the process.
 */
#ifndef HF_PLATFORM_LINUX_TASK_INTERNAL_H
#define HF_PLATFORM_LINUX_TASK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "platform/task.h"

/* -- task_stat.c ---------------------------------------------------------- */

/* Where the parts of a program lie in memory; every exec puts them elsewhere. */
enum {
	HF_TASK_ENVIRON_BEGIN = 8,
	HF_TASK_ENVIRON_END = 9,
	HF_TASK_IMAGE = 10 /* how many there are */
};

struct hf_task_stat {
	int64_t parent;
	uint64_t start;
	uint64_t size; /* of its memory; 0: a zombie, or a thread of the kernel
			*/
	uint64_t image[HF_TASK_IMAGE];
	char comm[32];
};

/* Of a process or one thread of it; -ESRCH when it is gone. */
MUST_CHECK int hf_task_stat_read(int proc_fd, int64_t number,
				 struct hf_task_stat *ret_stat);
/* The process that a thread belongs to. */
MUST_CHECK int hf_task_group(int proc_fd, int64_t tid, int64_t *ret_pid);

/* -- task_symbol.c -------------------------------------------------------- */

/* Where an ELF file has the variable `environ`. */
struct hf_symbol {
	bool is_found;
	bool is_fixed;		/* value is an address, not a distance */
	uint8_t pointer_size;
	uint64_t value;		/* from where the file's beginning is mapped */
};

/*
 * Among the symbols for the dynamic linker; of a program without such a linker
 * (is_program) also among all others.  Anything that is no ELF file of this
 * machine's byte order has no symbol.
 */
void hf_symbol_find_environ(int fd, bool is_program,
			    struct hf_symbol *ret_symbol);

/* -- task_environ.c ------------------------------------------------------- */

/* Where a process keeps the pointer to its environment. */
struct hf_environ_place {
	uint64_t address;	/* 0: nowhere to be found */
	uint8_t pointer_size;
};

/* Values of the variables asked for. */
struct hf_environ_values {
	const char *const *names;
	size_t count;
	size_t found;
	bool is_set[HF_TASK_NAMES_MAX];
	char text[HF_TASK_NAMES_MAX][HF_TASK_VALUE_MAX];
};

/* From the memory of the process; -EINVAL when there is no environment. */
MUST_CHECK int hf_environ_read(int64_t pid,
			       const struct hf_environ_place *place,
			       struct hf_environ_values *values);
/* What the program was started with. */
MUST_CHECK int hf_environ_read_initial(int proc_fd, int64_t pid,
				       struct hf_environ_values *values);

/* -- task_objects.c ------------------------------------------------------- */

struct hf_objects;	/* the ELF files that were read */

MUST_CHECK int hf_objects_new(struct hf_objects **ret_objects);
void hf_objects_free(struct hf_objects **objects);

/*
 * Where the process has `environ`; place->address is 0 when no file of it knows
 * such a variable.  -EAGAIN when one does, but the variable holds no environment
 * now.
 */
MUST_CHECK int hf_objects_find_environ(struct hf_objects *objects, int proc_fd,
				       int64_t pid,
				       struct hf_environ_place *ret_place);

#endif /* HF_PLATFORM_LINUX_TASK_INTERNAL_H */
