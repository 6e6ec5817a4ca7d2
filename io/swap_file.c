/* Files that appear complete or not at all (swap_file.h). The temporary is named
 * .NAME.PID-N.part: a leading dot keeps it out of listings and of patterns like *.h5, O_EXCL
 * settles who owns a name when processes of other nodes share the folder. A killed run leaves its
 * temporary behind; who holds a lock on his (swap_hold) may remove those of the same name that
 * nobody holds (swap_tidy). */
#define _DEFAULT_SOURCE /* realpath, flock, dirent */
#include "swap_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"

enum { NAME_KEPT = 100, TRIES = 1000 };

status swap_resolve(const char *path, char **out) {
  struct stat found;
  *out = NULL;
  if (lstat(path, &found) != 0 || !S_ISLNK(found.st_mode))
    return alloc_text(out, path, "file name");
  char *real = realpath(path, NULL);
  if (real == NULL) {
    return fail(STATUS_USAGE, "%s: is a symbolic link that leads nowhere (%s)", path,
                strerror(errno));
  }
  status rc = alloc_text(out, real, "file name");
  free(real);
  return rc;
}

/* Where the last component begins. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static status open_temporary(swap_file *s) {
  const size_t folder = folder_length(s->path), room = folder + NAME_KEPT + 64;
  status rc = alloc_array(&s->temporary, (int64_t)room, 1, "file name");
  if (rc != STATUS_OK) return rc;
  for (int n = 0; n < TRIES; n++) {
    snprintf(s->temporary, room, "%.*s.%.*s.%ld-%d.part", (int)folder, s->path, NAME_KEPT,
             s->path + folder, (long)getpid(), n);
    s->descriptor = open(s->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (s->descriptor >= 0) return STATUS_OK;
    if (errno != EEXIST) break;
  }
  return fail(STATUS_IO, "%s: cannot create a file in that folder: %s", s->path, strerror(errno));
}

static void release(swap_file *s) {
  if (s->descriptor >= 0 && s->temporary != NULL) close(s->descriptor);
  s->descriptor = -1;
  alloc_free(&s->path);
  alloc_free(&s->temporary);
}

status swap_open(const char *path, swap_file *out) {
  status rc = STATUS_OK;
  *out = (swap_file){.descriptor = -1};
  if (strlen(path) > PATH_MAX) return fail(STATUS_USAGE, "the file name is too long: %.60s…", path);
  TRY(swap_resolve(path, &out->path));
  TRY(open_temporary(out));
done:
  if (rc != STATUS_OK) release(out);
  return rc;
}

status swap_reserve(swap_file *s, int64_t bytes) {
  int code = posix_fallocate(s->descriptor, 0, bytes);
  /* EINVAL, EOPNOTSUPP: a file system that cannot say beforehand */
  if (code == 0 || code == EINVAL || code == EOPNOTSUPP) return STATUS_OK;
  return fail(STATUS_IO, "%s: cannot write %lld bytes: %s", s->path, (long long)bytes,
              strerror(code));
}

/* A rename is durable once its folder is. */
static status sync_folder(const char *path) {
  char folder[PATH_MAX + 2];
  size_t length = folder_length(path);
  snprintf(folder, sizeof folder, "%.*s", (int)length, length == 0 ? "" : path);
  int descriptor = open(length == 0 ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* EINVAL: a file system that keeps no such promise */
  int failed = descriptor < 0 || (fsync(descriptor) != 0 && errno != EINVAL);
  int why = errno;
  if (descriptor >= 0) close(descriptor);
  if (!failed) return STATUS_OK;
  return fail(STATUS_IO, "%s: cannot make its folder durable: %s", path, strerror(why));
}

status swap_commit(swap_file *s) {
  status rc = STATUS_OK;
  if (fsync(s->descriptor) != 0) {
    rc = fail(STATUS_IO, "%s: cannot make the file durable: %s", s->path, strerror(errno));
  } else if (rename(s->temporary, s->path) != 0) {
    rc = fail(STATUS_IO, "%s: cannot rename the finished file: %s", s->path, strerror(errno));
  }
  if (rc != STATUS_OK) {
    swap_discard(s);
    return rc;
  }
  rc = sync_folder(s->path);
  release(s);
  return rc;
}

void swap_discard(swap_file *s) {
  if (s->temporary != NULL) unlink(s->temporary);
  release(s);
}

void swap_hold(const swap_file *s) { (void)flock(s->descriptor, LOCK_EX | LOCK_NB); }

/* Whether an entry is ".NAME.PID-N.part". */
static int is_temporary_of(const char *entry, const char *name) {
  const size_t length = strnlen(name, NAME_KEPT);
  if (entry[0] != '.' || strncmp(entry + 1, name, length) != 0 || entry[1 + length] != '.') {
    return 0;
  }
  const char *p = entry + length + 2;
  const size_t pid = strspn(p, "0123456789");
  if (pid == 0 || p[pid] != '-') return 0;
  p += pid + 1;
  const size_t number = strspn(p, "0123456789");
  return number > 0 && strcmp(p + number, ".part") == 0;
}

void swap_tidy(const swap_file *s) {
  char name[PATH_MAX + 2];
  const size_t length = folder_length(s->path);
  snprintf(name, sizeof name, "%.*s", (int)length, s->path);
  DIR *folder = opendir(length == 0 ? "." : name);
  if (folder == NULL) return;
  for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
    struct stat found;
    if (!is_temporary_of(e->d_name, s->path + length)) continue;
    const int file = openat(dirfd(folder), e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) continue;
    /* an empty one may not be held yet */
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0 &&
        flock(file, LOCK_EX | LOCK_NB) == 0) {
      (void)unlinkat(dirfd(folder), e->d_name, 0);
    }
    close(file);
  }
  closedir(folder);
}

status swap_probe(const char *path) {
  swap_file s;
  status rc = swap_open(path, &s);
  if (rc == STATUS_OK) swap_discard(&s);
  return rc;
}
