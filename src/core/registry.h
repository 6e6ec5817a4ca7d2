/* Registries: descriptors by position and by name. The list is an array of pointers made from a
 * .def file; descriptors have a `name`. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include <string.h>

/* Defines PREFIX_at(index), NULL past the last, and PREFIX_find(name), NULL when unknown. */
#define REGISTRY(type, prefix, list)                                                               \
  const type *prefix##_at(int index) {                                                             \
    return index >= 0 && index < (int)(sizeof(list) / sizeof *(list)) ? (list)[index] : NULL;      \
  }                                                                                                \
                                                                                                   \
  const type *prefix##_find(const char *name) {                                                    \
    for (int i = 0; prefix##_at(i) != NULL; i++) {                                                 \
      if (strcmp(prefix##_at(i)->name, name) == 0) return prefix##_at(i);                          \
    }                                                                                              \
    return NULL;                                                                                   \
  }

#endif
