/* SPDX-License-Identifier: MIT */
/*
 * A temporary directory for one test.
 *
 *	static char *dir;
 *	static void setup(void) { dir = hf_tmpdir_make(); }
 *	static void teardown(void) { hf_tmpdir_remove(dir); }
 */
#ifndef HF_TESTS_TMPDIR_H
#define HF_TESTS_TMPDIR_H

/* A new empty directory, its absolute path to be given to the next function;
 * ends the test when there can be none. */
char *hf_tmpdir_make(void);

/* Remove it with all that is in it, locked directories too; frees path. */
void hf_tmpdir_remove(char *path);

#endif /* HF_TESTS_TMPDIR_H */
