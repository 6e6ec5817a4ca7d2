/* Before the work: can the result be written, and may it (result_io.h)? Rank 0 looks, all leave
 * with the same answer. Ours is what carries our mark: the root attribute `format` of an HDF5 file,
 * a comment line with our name at the head of a text file (vectors as .mtx or .txt), the heading of
 * a history, the first key of a report. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "file_name.h"
#include "h5.h"
#include "history_heads.h"
#include "result_internal.h"
#include "swap_file.h"

enum { HEAD = 512, NAME = 4096 };

/* A checkpoint's user block, a history's heading, a report's first key, or a line that begins with
 * % or # and names us. */
static int marked_text(char *head) {
  static const char *const headings[] = HISTORY_HEADS;
  if (strncmp(head, "halosweep checkpoint ", strlen("halosweep checkpoint ")) == 0) return 1;
  for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
    const size_t length = strlen(headings[i]);
    if (strncmp(head, headings[i], length) != 0) continue;
    const char *behind = head + length;
    if (*behind == '\n' || strncmp(behind, HISTORY_PROBE, strlen(HISTORY_PROBE)) == 0) return 1;
  }
  if (head[0] == '{' && strstr(head, "\"program\": \"halosweep\"") != NULL) return 1;
  for (char *line = head; line != NULL && *line != '\0';) {
    char *end = strchr(line, '\n');
    if (end != NULL) *end = '\0';
    if ((*line == '%' || *line == '#') && strstr(line, "written by halosweep") != NULL) return 1;
    line = end != NULL ? end + 1 : NULL;
  }
  return 0;
}

static int marked_hdf5(const char *path) {
  hid_t file;
  char *mark = NULL;
  int ours = 0;
  if (h5_open_alone(path, H5F_ACC_RDONLY, STATUS_INPUT, &file) == STATUS_OK) {
    ours = h5_read_text(file, path, RESULT_MARK, &mark) == STATUS_OK &&
           strncmp(mark, "halosweep ", strlen("halosweep ")) == 0;
    H5Fclose(file);
  }
  fail_clear();
  alloc_free(&mark);
  return ours;
}

status result_recognise(const char *path, int *ours) {
  static const char signature[] = "\x89HDF\r\n\x1a\n";
  char head[HEAD + 1] = {0};
  *ours = 0;
  FILE *file = fopen(path, "rb");
  if (file == NULL) return STATUS_OK;
  size_t bytes = fread(head, 1, HEAD, file);
  fclose(file);
  if (bytes >= sizeof signature - 1 && memcmp(head, signature, sizeof signature - 1) == 0) {
    status rc = h5_start();
    if (rc != STATUS_OK) return rc;
    *ours = marked_hdf5(path);
  } else {
    *ours = marked_text(head);
  }
  return STATUS_OK;
}

static status not_an_input(const char *path, const struct stat *output, const char *const *inputs) {
  for (; inputs != NULL && *inputs != NULL; inputs++) {
    struct stat input;
    const char *rest = "";
    char name[NAME];
    const size_t length = file_name_data(*inputs, &rest);
    snprintf(name, sizeof name, "%.*s", (int)(length == 0 ? strlen(*inputs) : length), *inputs);
    if (stat(name, &input) == 0 && input.st_dev == output->st_dev &&
        input.st_ino == output->st_ino) {
      return fail(STATUS_USAGE, "%s: this output is also an input (%s): it would be overwritten",
                  path, *inputs);
    }
  }
  return STATUS_OK;
}

static status check_existing(const char *path, const struct stat *found,
                             const char *const *inputs) {
  int ours = 0;
  if (S_ISDIR(found->st_mode)) {
    return fail(STATUS_USAGE, "%s: is a folder, expected a file name", path);
  }
  if (!S_ISREG(found->st_mode)) {
    return fail(STATUS_USAGE, "%s: is not a regular file, expected one, or a new name", path);
  }
  status rc = not_an_input(path, found, inputs);
  if (rc == STATUS_OK && access(path, R_OK) != 0) {
    rc = fail(STATUS_IO, "%s: exists and cannot be read: %s", path, strerror(errno));
  }
  if (rc == STATUS_OK) rc = result_recognise(path, &ours);
  if (rc != STATUS_OK) return rc;
  if (!ours) {
    return fail(STATUS_USAGE,
                "%s: exists and was not written by halosweep: remove it or choose another name",
                path);
  }
  if (access(path, W_OK) != 0) {
    return fail(STATUS_IO, "%s: cannot be replaced: %s", path, strerror(errno));
  }
  return STATUS_OK;
}

static status check_name(const char *path, const char *const *inputs) {
  const size_t length = strlen(path);
  struct stat found;
  status rc = STATUS_OK;
  char *target = NULL;
  if (length == 0 || path[length - 1] == '/') {
    return fail(STATUS_USAGE, "output '%s': expected a file name", path);
  }
  TRY(swap_resolve(path, &target));
  if (stat(target, &found) == 0) {
    TRY(check_existing(path, &found, inputs));
  } else if (errno != ENOENT) {
    rc = fail(STATUS_IO, "%s: %s", path, strerror(errno));
    goto done;
  }
  TRY(swap_probe(path));
done:
  alloc_free(&target);
  return rc;
}

status result_check(comm *c, const char *path, const char *const *inputs) {
  return comm_agree(c, comm_rank(c) == 0 ? check_name(path, inputs) : STATUS_OK);
}

/* The file that `path` names, or will: links followed, and its folder, which exists. */
static status locate(const char *path, char **name, struct stat *folder) {
  status rc = STATUS_OK;
  TRY(swap_resolve(path, name));
  char *slash = strrchr(*name, '/');
  const char *where = slash == NULL ? "." : slash == *name ? "/" : *name;
  if (slash != NULL && slash != *name) *slash = '\0';
  if (stat(where, folder) != 0) rc = fail(STATUS_IO, "%s: %s", path, strerror(errno));
  if (slash != NULL) memmove(*name, slash + 1, strlen(slash + 1) + 1);
done:
  return rc;
}

static status check_pair(const char *one, const char *other) {
  status rc = STATUS_OK;
  struct stat here, there;
  char *name = NULL, *second = NULL;
  TRY(locate(one, &name, &here));
  TRY(locate(other, &second, &there));
  int same = here.st_dev == there.st_dev && here.st_ino == there.st_ino && !strcmp(name, second);
  if (!same && stat(one, &here) == 0 && stat(other, &there) == 0) {
    same = here.st_dev == there.st_dev && here.st_ino == there.st_ino;
  }
  if (same) {
    rc = fail(STATUS_USAGE, "%s and %s: two outputs in one file: expected a name for each", one,
              other);
  }
done:
  alloc_free(&name);
  alloc_free(&second);
  return rc;
}

status result_check_distinct(comm *c, const char *const *outputs) {
  status rc = STATUS_OK;
  for (int i = 0; comm_rank(c) == 0 && rc == STATUS_OK && outputs[i] != NULL; i++) {
    for (int j = 0; rc == STATUS_OK && j < i; j++) rc = check_pair(outputs[j], outputs[i]);
  }
  return comm_agree(c, rc);
}
