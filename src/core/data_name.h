/* SPDX-License-Identifier: MIT */
/* What the name of a file or directory says about its being data. */
#ifndef HF_CORE_DATA_NAME_H
#define HF_CORE_DATA_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* No data by its name. */
#define HF_DATA_NONE ((size_t)-1)

/*
 * How likely somebody cares about this file: 0 is the likeliest, HF_DATA_NONE
 * for what does not look like configuration or data, or is what a tool keeps
 * ("package.json", "pyproject.toml").  name is one component.
 */
size_t hf_data_rank(const char *name);
/* The ending that decided, with its dot; "" where the whole name did. */
const char *hf_data_ending(const char *name);
/* Source text by its ending? */
bool hf_data_is_code(const char *name);
/* A directory that is called what people call their data: "data", "fixtures".
 */
bool hf_data_is_directory(const char *name);
/* One that holds what can be made again: "build", "node_modules", hidden ones.
 */
bool hf_data_is_output(const char *name);
/* A directory that holds an entry of this name is made by a tool, or a project
 * of its own. */
bool hf_data_is_mark(const char *name);

#endif /* HF_CORE_DATA_NAME_H */
