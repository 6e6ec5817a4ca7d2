/* File names by their endings, and HDF5 files with a dataset behind: FILE.h5:/DATASET. */
#ifndef FILE_NAME_H
#define FILE_NAME_H

#include <string.h>

/* Whether `name` ends in one of `endings`, ".h5|.hdf5". */
static inline int file_name_ends(const char *name, const char *endings) {
  const size_t length = strlen(name);
  for (const char *end = endings; *end != '\0';) {
    const size_t tail = strcspn(end, "|");
    if (length >= tail && strncmp(name + length - tail, end, tail) == 0) return 1;
    end += tail + (end[tail] == '|');
  }
  return 0;
}

/* The length of the file's name in FILE.h5 or FILE.h5:/DATASET, and what follows it, from the slash
 * on ("": nothing does); 0: it names no data file. */
static inline size_t file_name_data(const char *text, const char **rest) {
  static const char *const endings[] = {".vtkhdf", ".hdf5", ".h5"};
  const char *colon = strstr(text, ":/");
  const size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    const size_t end = strlen(endings[i]);
    if (length <= end || strncmp(text + length - end, endings[i], end) != 0) continue;
    *rest = colon == NULL ? "" : colon + 1;
    return length;
  }
  return 0;
}

#endif
