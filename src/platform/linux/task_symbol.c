/* SPDX-License-Identifier: MIT */
/*
 * Find the variable `environ` in an ELF file: the one door to libelf.
 *
 * The file is read, not mapped: another process may cut it meanwhile, and a
 * mapping beyond its end is a SIGBUS.  libelf allocates by the counts in the
 * file's header, so these are looked at before.
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/linux/task_internal.h"

/* Beyond what programs have, even with debug information. */
#define FILE_MAX    ((off_t)4 << 30)
#define HEADERS_MAX 512u
#define SYMBOLS_MAX ((uint64_t)64 << 20) /* bytes of one table */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_HERE ELFDATA2LSB
#else
#define BYTE_ORDER_HERE ELFDATA2MSB
#endif

static void end_elf(Elf **elf)
{
	if (*elf)
		(void)elf_end(*elf);
}

/* More than 0xff00 sections are counted elsewhere in the file: no program has
 * them, and no file without sections has symbols. */
static bool is_count_sound(uint32_t sections, uint32_t headers)
{
	return sections > 0 && sections < SHN_LORESERVE &&
	       headers <= HEADERS_MAX;
}

static bool is_sound(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr small;
		Elf64_Ehdr large;
	} header = {.ident = {0}};
	struct stat stat;

	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) ||
	    stat.st_size > FILE_MAX ||
	    pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.ident, ELFMAG, SELFMAG) != 0 ||
	    header.ident[EI_DATA] != BYTE_ORDER_HERE)
		return false;
	if (header.ident[EI_CLASS] == ELFCLASS32)
		return is_count_sound(header.small.e_shnum,
				      header.small.e_phnum);
	return header.ident[EI_CLASS] == ELFCLASS64 &&
	       is_count_sound(header.large.e_shnum, header.large.e_phnum);
}

/*
 * The address for which the file's first byte was linked; false when that byte
 * is not loaded.
 */
static bool find_base(Elf *elf, uint64_t *ret_base, bool *ret_has_linker)
{
	size_t count;
	bool is_found = false;

	*ret_has_linker = false;
	if (elf_getphdrnum(elf, &count) < 0 || count > HEADERS_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header))
			return false;
		if (header.p_type == PT_INTERP)
			*ret_has_linker = true;
		if (header.p_type != PT_LOAD || is_found ||
		    header.p_offset >= header.p_align)
			continue;
		*ret_base = header.p_vaddr - header.p_offset;
		is_found = true;
	}
	return is_found;
}

static bool is_environ(const Elf_Data *strings, size_t at)
{
	static const char *const names[] = {"environ", "__environ", "_environ"};

	if (at >= strings->d_size)
		return false;
	for (size_t i = 0; i < HF_COUNT(names); i++)
		if (strncmp((const char *)strings->d_buf + at, names[i],
			    strings->d_size - at) == 0)
			return true;
	return false;
}

/* The content of a section, if it is there and not too long. */
static Elf_Data *read_section(Elf_Scn *section, GElf_Shdr *ret_header)
{
	Elf_Data *data;

	if (!section || !gelf_getshdr(section, ret_header) ||
	    ret_header->sh_type == SHT_NOBITS ||
	    (ret_header->sh_flags & SHF_COMPRESSED) ||
	    ret_header->sh_size > SYMBOLS_MAX)
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf ? data : NULL;
}

static bool search_table(Elf *elf, Elf_Scn *section, uint64_t *ret_value)
{
	const size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Shdr header;
	GElf_Shdr strings_header;
	Elf_Data *const symbols = read_section(section, &header);
	const Elf_Data *strings;
	size_t count;

	if (!symbols || symbols->d_type != ELF_T_SYM || size == 0)
		return false;
	strings =
		read_section(elf_getscn(elf, header.sh_link), &strings_header);
	if (!strings || strings_header.sh_type != SHT_STRTAB)
		return false;
	count = symbols->d_size / size;
	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(symbols, (int)i, &symbol))
			return false;
		if (GELF_ST_TYPE(symbol.st_info) == STT_OBJECT &&
		    GELF_ST_BIND(symbol.st_info) != STB_LOCAL &&
		    symbol.st_shndx != SHN_UNDEF &&
		    is_environ(strings, symbol.st_name)) {
			*ret_value = symbol.st_value;
			return true;
		}
	}
	return false;
}

static bool search_tables(Elf *elf, uint32_t type, uint64_t *ret_value)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == type &&
		    search_table(elf, section, ret_value))
			return true;
	}
	return false;
}

void hf_symbol_find_environ(int fd, bool is_program,
			    struct hf_symbol *ret_symbol)
{
	CLEANUP(end_elf) Elf *elf = NULL;
	GElf_Ehdr header;
	uint64_t base = 0;
	uint64_t value = 0;
	bool has_linker;

	*ret_symbol = (struct hf_symbol){.is_found = false};
	if (elf_version(EV_CURRENT) == EV_NONE || !is_sound(fd))
		return;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || !gelf_getehdr(elf, &header) ||
	    !find_base(elf, &base, &has_linker))
		return;
	if (!search_tables(elf, SHT_DYNSYM, &value) &&
	    (!is_program || has_linker ||
	     !search_tables(elf, SHT_SYMTAB, &value)))
		return;
	*ret_symbol = (struct hf_symbol){
		.is_found = true,
		.is_fixed = header.e_type == ET_EXEC,
		.pointer_size = gelf_getclass(elf) == ELFCLASS32 ? 4 : 8,
		.value = header.e_type == ET_EXEC ? value : value - base,
	};
}
