/* SPDX-License-Identifier: MIT */
/*
 * The terminal seam: is there a person, how wide is the line, say something.
 */
#ifndef HF_PLATFORM_TERMINAL_H
#define HF_PLATFORM_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#define HF_STDIN	0
#define HF_STDOUT	1
#define HF_STDERR	2

/*
 * Open those of the three that are closed on nothing, so that no file of ours
 * takes their place and becomes somebody's output.  The command still finds them
 * closed.
 */
void hf_terminal_fill(void);
bool hf_terminal_is(int fd);
/* Columns, or 80 when unknown. */
unsigned hf_terminal_width(int fd);
/* A terminal, then.  What it calls itself stands in the environment, which is
 * not read: a dumb one needs --color never. */
bool hf_terminal_has_color(int fd);
/*
 * All of it in as few writes as possible; a vanished reader is ignored.  One that
 * does not read (a pager, a stopped terminal, a stuck collector) is waited for,
 * patience_ms in all, and loses the rest; -1 waits as long as it takes.  false: not
 * all was written; errno says why.
 */
bool hf_terminal_write(int fd, const char *text, size_t len, int patience_ms);
/* Has the reader of a pipe or socket gone, for whom more need not be made? */
bool hf_terminal_is_gone(int fd);
/* One line from a person, without the newline, cut to size: its length, or -1
 * at the end of input. */
int hf_terminal_read_line(int fd, char *line, size_t size);

#endif /* HF_PLATFORM_TERMINAL_H */
