/* SPDX-License-Identifier: MIT */
/* `environ` in ELF files, damaged ones included. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/linux/task_internal.h"
#include "support/check.h"
#include "support/sample.h"
#include "support/tmpdir.h"

static char *dir;
static int dir_fd = -1;
static unsigned char *image; /* of a sound file */
static size_t image_len;

static void setup(void)
{
	dir = hf_tmpdir_make();
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(dir_fd, 0);
}

static void teardown(void)
{
	free(image);
	hf_file_close_quietly(&dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(task_symbol, .init = setup, .fini = teardown, .timeout = 120);

static void load(const char *kind)
{
	char path[PATH_MAX];
	struct stat stat;
	cleanup_fd int fd = -1;

	if (!hf_sample_path(path, kind))
		hf_skip(teardown, "no compiler for such a program");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0 && fstat(fd, &stat) == 0);
	free(image);
	image_len = (size_t)stat.st_size;
	image = malloc(image_len);
	cr_assert(image && read(fd, image, image_len) == stat.st_size);
}

/* Look for the symbol in these bytes. */
static struct hf_symbol find(const void *data, size_t len)
{
	struct hf_symbol symbol = {.is_found = true};
	cleanup_fd int fd = openat(
		dir_fd, "file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	cr_assert(fd >= 0 && pwrite(fd, data, len, 0) == (ssize_t)len);
	hf_symbol_find_environ(fd, true, &symbol);
	return symbol;
}

Test(task_symbol, is_found)
{
	struct hf_symbol symbol;

	load("static");
	symbol = find(image, image_len);
	cr_expect(symbol.is_found && symbol.is_fixed);
	cr_expect_eq(symbol.pointer_size, sizeof(void *));
	load("static_pie");
	symbol = find(image, image_len);
	cr_expect(symbol.is_found && !symbol.is_fixed);
	load("stripped");
	cr_expect_not(find(image, image_len).is_found);
}

/* Addresses need not begin at 0: prelinked libraries have others. */
Test(task_symbol, is_counted_from_where_the_file_begins)
{
	struct hf_symbol symbol;
	ElfW(Ehdr) header;
	ElfW(Phdr) * part;

	load("static_pie");
	symbol = find(image, image_len);
	memcpy(&header, image, sizeof(header));
	cr_assert_eq(header.e_phoff % alignof(ElfW(Phdr)), 0);
	part = (ElfW(Phdr) *)(void *)(image + header.e_phoff);
	for (; part->p_type != PT_LOAD; part++)
		;
	part->p_vaddr += 0x1000;
	cr_expect_eq(find(image, image_len).value, symbol.value - 0x1000);
	/* The part that the beginning is not in says nothing. */
	part->p_offset = part->p_align;
	cr_expect_neq(find(image, image_len).value, symbol.value - 0x1000);
}

Test(task_symbol, is_not_in_other_files)
{
	cleanup_fd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct hf_symbol symbol = {.is_found = true};

	hf_symbol_find_environ(fd, true, &symbol);
	cr_expect_not(symbol.is_found);
	cr_expect_not(find("", 0).is_found);
	cr_expect_not(find("#!/bin/sh\n", 10).is_found);
	cr_expect_not(find("!<arch>\n", 8).is_found);
	cr_expect_not(find(ELFMAG "\2\1\1", 7).is_found);
}

Test(task_symbol, bears_a_short_file)
{
	load("static");
	for (size_t len = 0; len < 4096; len += 13)
		(void)find(image, len);
	for (size_t len = 0; len < image_len; len += image_len / 97 + 1)
		(void)find(image, len);
}

/* A number in one of the places that say how much there is of something. */
static void damage(size_t at, size_t size, const unsigned char *value)
{
	unsigned char kept[8];

	if (at + size > image_len)
		return;
	memcpy(kept, image + at, size);
	memcpy(image + at, value, size);
	(void)find(image, image_len);
	memcpy(image + at, kept, size);
}

Test(task_symbol, bears_huge_numbers)
{
	static const unsigned char values[][8] = {
		{0},
		{1},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		{0, 0, 0, 0xf0, 0xff, 0xff, 0xff, 0xff},
		{0, 0, 0, 0x7f},
		{0xff, 0xff},
		{0, 0xff},
	};
	ElfW(Ehdr) header;

	load("static_pie");
	cr_assert_geq(image_len, sizeof(header));
	memcpy(&header, image, sizeof(header));
	for (size_t i = 0; i < HF_COUNT(values); i++) {
		for (size_t at = EI_NIDENT; at < sizeof(header); at += 2) {
			damage(at, 2, values[i]);
			damage(at, 8, values[i]);
		}
		for (size_t at = header.e_phoff;
		     at < header.e_phoff + 4 * sizeof(ElfW(Phdr)); at += 8)
			damage(at, 8, values[i]);
		/* Only the last sections have to do with symbols. */
		for (size_t at = image_len - 4 * sizeof(ElfW(Shdr));
		     at < image_len; at += 8)
			damage(at, 8, values[i]);
	}
}

/* A small generator, so that a failure can be had again. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

Test(task_symbol, bears_random_bytes)
{
	uint32_t seed = (uint32_t)getpid();

	load("pie");
	printf("seed %u\n", seed);
	for (int i = 0; i < 2000; i++) {
		unsigned char bytes[8];
		const size_t in_headers = next_random(&seed) % 1024;
		const size_t anywhere = next_random(&seed) % image_len;
		const size_t at_end = image_len - 1 - in_headers;

		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (unsigned char)next_random(&seed);
		damage(i % 3 == 0   ? in_headers
		       : i % 3 == 1 ? at_end
				    : anywhere,
		       1 + next_random(&seed) % 8, bytes);
	}
}

/* A file that says it is larger than any memory. */
Test(task_symbol, bears_a_sparse_file)
{
	struct hf_symbol symbol = {.is_found = true};
	cleanup_fd int fd = -1;
	ElfW(Ehdr) header;

	load("static");
	memcpy(&header, image, sizeof(header));
	header.e_shnum = 0;
	fd = openat(dir_fd, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(fd >= 0 && write(fd, &header, sizeof(header)) > 0);
	cr_assert_eq(ftruncate(fd, (off_t)1 << 40), 0);
	hf_symbol_find_environ(fd, true, &symbol);
	cr_expect_not(symbol.is_found);
}
