/* SPDX-License-Identifier: MIT */
/*
 * The gate seam: be asked before a name, a content or metadata changes.
 *
 * On Linux seccomp user notification (seccomp(2), seccomp_unotify(2)): the
 * command's calls that could change something wait until judge has answered.
 * What a call is about to do is told as struct hf_gate_call; what it would meet
 * is looked up as far as judge asks for it, by hf_gate_learn(), from the
 * caller's view: its root, working directory, descriptors and mounts.
 *
 * It is no boundary against a hostile program: another thread may change a path
 * between the look and the call.  Leases, watch and the last look are for that.
 *
 *	child:	rc = hf_gate_install(socket_fd);	(before exec)
 *	guard:	rc = hf_gate_receive(socket_fd, &listener_fd);
 *		rc = hf_gate_start(listener_fd, proc_fd, &hooks);
 */
#ifndef HF_PLATFORM_GATE_H
#define HF_PLATFORM_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "platform/file.h"

struct hf_buffer;

enum hf_gate_operation {
	HF_GATE_OPEN,
	HF_GATE_HANDLE, /* open by a handle: of an object, no name */
	HF_GATE_TRUNCATE,
	HF_GATE_MODE,
	HF_GATE_OWNER,
	HF_GATE_TIMES,
	HF_GATE_ATTRIBUTE, /* an extended one, ACLs among them */
	HF_GATE_FLAGS,	   /* those of chattr(1) */
	HF_GATE_CREATE,	   /* a directory, link or node */
	HF_GATE_BIND,	   /* a socket's name */
	HF_GATE_REMOVE,
	HF_GATE_REMOVE_DIRECTORY,
	HF_GATE_RENAME, /* place 0 to place 1 */
	HF_GATE_LINK,	/* place 0 gets the second name place 1 */
	HF_GATE_MOUNT,	/* over place 0 */
	HF_GATE_UNMOUNT,
	/* The rest changes no entry; judge is not asked, but told. */
	HF_GATE_DIRECTORY,	/* the caller goes elsewhere */
	HF_GATE_VIEW,	/* the caller may see other files from now on */
	HF_GATE_PROCESS /* something that the guarded process gets not */
};

enum hf_gate_flag {
	HF_GATE_WRITES = 1 << 0, /* of an open: for writing */
	HF_GATE_READS = 1 << 1,	 /* and for reading */
	HF_GATE_TRUNCATES = 1 << 2,
	HF_GATE_CREATES = 1 << 3,
	HF_GATE_EXCLUSIVE = 1 << 4, /* fails when the name is taken */
	HF_GATE_NO_LINK = 1 << 5,   /* fails when the name is a link */
	HF_GATE_UNNAMED = 1 << 6,   /* a file without a name, or none opened */
	HF_GATE_EXCHANGES = 1 << 7,
	HF_GATE_OF_DIRECTORY = 1 << 8, /* what is made is one */
	HF_GATE_REMOVES = 1 << 9,      /* the attribute */
	/* Fails, or changes nothing, whatever it meets. */
	HF_GATE_IS_INVALID = 1 << 10
};

/* What can be learnt of a place. */
enum hf_gate_fact {
	/* What stands at the name, a link itself. */
	HF_GATE_FACT_NAME = 1 << 0,
	/* What the call would reach, links followed as it does. */
	HF_GATE_FACT_OBJECT = 1 << 1,
	/* The directory that holds the name. */
	HF_GATE_FACT_PARENT = 1 << 2,
	/* The directory and name where a link that leads nowhere ends: parent
	 * and last become those. */
	HF_GATE_FACT_END = 1 << 3,
	/* The path of parent, as our system calls it. */
	HF_GATE_FACT_PARENT_PATH = 1 << 4,
	HF_GATE_FACT_EMPTY = 1 << 5,
	/* Is the attribute, or are the flags, what they would be set to?  Of an
	 * unmount: is nothing mounted there? */
	HF_GATE_FACT_SAME = 1 << 6,
	/* Would the system let the caller do it? */
	HF_GATE_FACT_PERMITTED = 1 << 7
};

struct hf_gate_identity {
	uint64_t dev;
	uint64_t ino;
};

/* Each result is 0, or -errno as the caller would get it. */
struct hf_gate_place {
	/* The last component; "" for what goes by identity alone: a descriptor,
	 * ".", "..". */
	const char *last;
	bool wants_directory; /* a slash follows */
	unsigned known;	      /* set of enum hf_gate_fact */
	int name_rc;
	struct hf_stat name;
	int object_rc;
	struct hf_stat object;
	int parent_rc;
	struct hf_gate_identity parent;
	const char *parent_path; /* "" when that cannot be told */
	bool is_empty;
	bool is_same;
	bool is_permitted;
};

struct hf_gate_call {
	enum hf_gate_operation operation;
	const char *name; /* of the system call */
	unsigned flags;	  /* set of enum hf_gate_flag */
	/* HF_GATE_MODE; HF_GATE_OWNER, UINT32_MAX to leave it;
	 * HF_GATE_TIMES. */
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	bool keeps_mtime;
	bool sets_now;
	int64_t mtime_ns;
	size_t place_count;
	struct hf_gate_place places[2];
};

/* One call that waits, in the gate's thread. */
struct hf_gate_question;

const struct hf_gate_call *hf_gate_question_call(
	const struct hf_gate_question *question);
int64_t hf_gate_question_tid(const struct hf_gate_question *question);
/* Look for a fact; the place has it afterwards. */
void hf_gate_learn(struct hf_gate_question *question, size_t place,
		   enum hf_gate_fact fact);
/*
 * Forget what is known: all is looked for again, as carefully as can be, before
 * somebody is accused.  False when it was so already.
 */
bool hf_gate_look_closer(struct hf_gate_question *question);
/*
 * Of a HF_GATE_LINK: make place 1 a copy of what place 0 reaches, as the caller's
 * own link would look.  0 and what it became; -EOPNOTSUPP where only a link can be
 * made; else the errno that the caller gets.
 */
MUST_CHECK int hf_gate_copy(struct hf_gate_question *question,
			    struct hf_gate_identity *ret_copy);
/* Does the caller still wait?  Else its number may be another thread's by now.
 */
bool hf_gate_is_waiting(const struct hf_gate_question *question);
/* The call's arguments for a person: "O_WRONLY|O_CREAT", "a.tmp -> a.toml". */
void hf_gate_describe(const struct hf_gate_question *question,
		      struct hf_buffer *out);

/* What a caller does not get, or gets otherwise, because of the gate. */
enum hf_gate_effect {
	HF_GATE_NOT_JUDGED, /* its memory cannot be read: refused */
	HF_GATE_NO_IO_URING,
	HF_GATE_NO_LISTENER,  /* a second one */
	HF_GATE_NO_PRIVILEGE, /* a setuid program */
	HF_GATE_TRACED,
	/* No harm to it: files may be reached by other ways from now on. */
	HF_GATE_MOUNTED
};

#define HF_GATE_DONE	(-1)
/* No answer: the caller waits until it is ended. */
#define HF_GATE_HOLD	(-2)

struct hf_gate_hooks {
	void *context;
	/*
	 * In the gate's thread, one call at a time: 0 to let it go on, the
	 * errno it fails with, or HF_GATE_DONE: it was done in its place.
	 */
	int (*judge)(void *context, struct hf_gate_question *question);
	/* In the gate's thread: something was different for the caller. */
	void (*effect)(void *context, struct hf_gate_question *question,
		       enum hf_gate_effect effect);
};

/*
 * In the child that will be the command: from here on it and all that it starts
 * are told of.  Sends the listener, or why there is none, to whoever calls
 * hf_gate_receive() at the other end of the socket.
 */
void hf_gate_install(int socket_fd);
/* 0 and the listener, or -errno: -EBUSY, there is one already; -ENOSYS or
 * -EINVAL, the system has no such thing. */
MUST_CHECK int hf_gate_receive(int socket_fd, int *ret_listener_fd);

/*
 * Answer in a thread that ends with the last process of the command, or with
 * ours; what it needs lives as long as the process.  The listener stays the
 * caller's.  proc_fd: /proc as it was before the command.
 */
MUST_CHECK int hf_gate_start(int listener_fd, int proc_fd,
			     const struct hf_gate_hooks *hooks);

#endif /* HF_PLATFORM_GATE_H */
