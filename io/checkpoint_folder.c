/* Names, lock and housekeeping of checkpoints in their folder (checkpoint_io.h). Local: rank 0's.
 *
 * FILE = dir/ck.h5 stands for dir/ck.000200.h5 and so on; the lock is dir/.ck.h5.lock, held by
 * flock: the kernel lets go of it when its holder dies, however that happens. It is removed by who
 * gives it back, so a taker makes sure that the file he locked is still the one under that name. */
#define _DEFAULT_SOURCE /* flock, dirent */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "checkpoint_io.h"
#include "result_internal.h"
#include "swap_file.h"

enum { DIGITS = 6, NAME_KEPT = 100, LOCK_TRIES = 30 };

/* dir/ck.h5: where the name and its ending begin. */
typedef struct file_name {
  int folder; /* characters, with the slash */
  int stem;   /* of the name without its ending */
  const char *name, *ending;
} file_name;

static file_name take_apart(const char *file) {
  const char *slash = strrchr(file, '/');
  const char *name = slash == NULL ? file : slash + 1;
  const char *dot = strrchr(name, '.');
  if (dot == NULL || dot == name) dot = name + strlen(name);
  return (file_name){(int)(name - file), (int)(dot - name), name, dot};
}

status checkpoint_path(const char *file, int64_t number, char out[CHECKPOINT_PATH]) {
  const file_name f = take_apart(file);
  int length = snprintf(out, CHECKPOINT_PATH, "%.*s.%0*lld%s", f.folder + f.stem, file, DIGITS,
                        (long long)number, f.ending);
  if (length < CHECKPOINT_PATH) return STATUS_OK;
  return fail(STATUS_USAGE, "checkpoint file: the name is too long: %.60s...", file);
}

/* The number in "ck.000200.h5"; -1 when it is no checkpoint of FILE. */
static int64_t number_of(const file_name *f, const char *entry) {
  char *end;
  if (strncmp(entry, f->name, (size_t)f->stem) != 0 || entry[f->stem] != '.') return -1;
  const char *digits = entry + f->stem + 1;
  if (!isdigit((unsigned char)*digits)) return -1;
  errno = 0;
  const long long number = strtoll(digits, &end, 10);
  if (errno != 0 || end - digits < DIGITS || strcmp(end, f->ending) != 0) return -1;
  return number;
}

static DIR *open_folder(const char *file, const file_name *f) {
  char folder[CHECKPOINT_PATH];
  if (f->folder == 0) return opendir(".");
  snprintf(folder, sizeof folder, "%.*s", f->folder, file);
  return opendir(folder);
}

static int descending(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

status checkpoint_list(const char *file, int64_t **numbers, int64_t *count) {
  status rc = STATUS_OK;
  const file_name f = take_apart(file);
  int64_t room = 0;
  *numbers = NULL;
  *count = 0;
  DIR *folder = open_folder(file, &f);
  if (folder == NULL) return fail(STATUS_IO, "%s: its folder: %s", file, strerror(errno));
  for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
    const int64_t number = number_of(&f, e->d_name);
    if (number < 0) continue;
    if (*count == room) {
      const int64_t more = 2 * room + 16;
      TRY(alloc_grow(numbers, room, more, sizeof **numbers, "checkpoint numbers"));
      room = more;
    }
    (*numbers)[(*count)++] = number;
  }
  if (*count > 1) qsort(*numbers, (size_t)*count, sizeof **numbers, descending);
done:
  closedir(folder);
  if (rc != STATUS_OK) alloc_free(numbers);
  return rc;
}

static void lock_name(const char *file, char out[CHECKPOINT_PATH]) {
  const file_name f = take_apart(file);
  snprintf(out, CHECKPOINT_PATH, "%.*s.%.*s.lock", f.folder, file, NAME_KEPT, f.name);
}

/* The folder that a name of `length` characters in front lies in. */
static int stat_folder(const char *path, int length, struct stat *out) {
  char folder[CHECKPOINT_PATH];
  if (length >= CHECKPOINT_PATH) return 0;
  snprintf(folder, sizeof folder, "%.*s", length, path);
  return stat(length == 0 ? "." : folder, out) == 0;
}

int checkpoint_claims(const char *file, const char *path) {
  const file_name ours = take_apart(file);
  char lock[CHECKPOINT_PATH], *target = NULL;
  struct stat here, there;
  int claimed = 0;
  lock_name(file, lock);
  if (swap_resolve(path, &target) == STATUS_OK) {
    const file_name theirs = take_apart(target);
    claimed =
        (number_of(&ours, theirs.name) >= 0 || strcmp(theirs.name, lock + ours.folder) == 0) &&
        stat_folder(file, ours.folder, &here) && stat_folder(target, theirs.folder, &there) &&
        here.st_dev == there.st_dev && here.st_ino == there.st_ino;
  }
  fail_clear();
  alloc_free(&target);
  return claimed;
}

/* Whether the descriptor is still what the name leads to. */
static int still_there(int descriptor, const char *name) {
  struct stat held, there;
  return fstat(descriptor, &held) == 0 && stat(name, &there) == 0 && held.st_ino == there.st_ino &&
         held.st_dev == there.st_dev;
}

status checkpoint_lock(const char *file, int *lock) {
  char name[CHECKPOINT_PATH];
  const struct timespec moment = {0, 100000000};
  lock_name(file, name);
  *lock = -1;
  for (int i = 0; i < LOCK_TRIES; i++) {
    int descriptor = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      return fail(STATUS_IO, "%s: cannot create a file in that folder: %s", file, strerror(errno));
    }
    const int taken = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    const int why = errno;
    if (taken && still_there(descriptor, name)) {
      *lock = descriptor;
      return STATUS_OK;
    }
    close(descriptor);
    if (!taken && why != EWOULDBLOCK && why != EINTR) {
      return fail(STATUS_IO, "%s: cannot be locked: %s", name, strerror(why));
    }
    if (!taken) nanosleep(&moment, NULL);
  }
  return fail(STATUS_IO,
              "%s: another job is writing checkpoints of this name (it holds %s): wait for it, or "
              "choose another checkpoint.file",
              file, name);
}

void checkpoint_unlock(const char *file, int *lock) {
  char name[CHECKPOINT_PATH];
  if (*lock < 0) return;
  lock_name(file, name);
  if (still_there(*lock, name)) unlink(name);
  close(*lock);
  *lock = -1;
}

/* ".ck.000200.h5.PID-N.part", as swap_file.c names them. */
static int is_leftover(const file_name *f, const char *entry) {
  char name[NAME_KEPT + 64];
  const char *part = strstr(entry, ".part");
  if (entry[0] != '.' || part == NULL || part[5] != '\0') return 0;
  const char *cut = part; /* back over .PID-N */
  while (cut > entry && cut[-1] != '.') cut--;
  const int length = (int)(cut - entry) - 2;
  if (length <= 0 || length >= (int)sizeof name) return 0;
  snprintf(name, sizeof name, "%.*s", length, entry + 1);
  return number_of(f, name) >= 0;
}

void checkpoint_tidy(const char *file) {
  const file_name f = take_apart(file);
  DIR *folder = open_folder(file, &f);
  if (folder == NULL) return;
  for (struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
    if (is_leftover(&f, e->d_name)) unlinkat(dirfd(folder), e->d_name, 0);
  }
  closedir(folder);
}

int checkpoint_remove(const char *path) {
  int ours = 0;
  status rc = result_recognise(path, &ours);
  fail_clear();
  return rc == STATUS_OK && ours && unlink(path) == 0;
}

status checkpoint_set_aside(const char *path, int *moved) {
  char aside[CHECKPOINT_PATH + 16];
  struct stat found;
  int ours = 0;
  *moved = 0;
  if (lstat(path, &found) != 0) return STATUS_OK;
  status rc = result_recognise(path, &ours);
  if (rc != STATUS_OK || ours) return rc;
  snprintf(aside, sizeof aside, "%s.damaged", path);
  if (rename(path, aside) != 0) {
    return fail(STATUS_IO, "%s: stands where a checkpoint is to be: %s", path, strerror(errno));
  }
  *moved = 1;
  return STATUS_OK;
}
