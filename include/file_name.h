/* File names by their endings. */
#ifndef FILE_NAME_H
#define FILE_NAME_H

#include <string.h>

/* Whether `path` ends in one of `endings`, ".h5|.hdf5". */
static inline int file_name_ends(const char *path, const char *endings) {
  const size_t length = strlen(path);
  for (const char *end = endings; *end != '\0';) {
    const size_t tail = strcspn(end, "|");
    if (length >= tail && strncmp(path + length - tail, end, tail) == 0) return 1;
    end += tail + (end[tail] == '|');
  }
  return 0;
}

#endif
