/* SPDX-License-Identifier: MIT */
/*
 * The parts of a test's name as pytest writes it:
 * "tests/test_a.py::TestB::test_c[x] (call)".
 */
#ifndef HF_REPORT_TEST_ID_H
#define HF_REPORT_TEST_ID_H

#include <stdbool.h>
#include <stddef.h>

/* Parts of the name that was given; not ended by a NUL. */
struct hf_test_id {
	const char *file;
	size_t file_len;
	const char *classes;	/* "TestB", may be several with "::" between */
	size_t classes_len;	/* 0: none */
	const char *name;	/* "test_c[x]" */
	size_t name_len;
};

/* False for NULL and for a name of another form. */
bool hf_test_id_parse(const char *test, struct hf_test_id *ret_id);
/* The length of a name without the "(setup)", "(call)" or "(teardown)" behind. */
size_t hf_test_id_len(const char *test);

#endif /* HF_REPORT_TEST_ID_H */
