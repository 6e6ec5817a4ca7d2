/* Compiled code kept between runs (kernel_cache.h). One file per entry, named by a hash of its key:
 *
 *   magic, key bytes, code bytes, hash of both (8 bytes each), then the key, then the code
 *
 * The key is compared in full. A file is written under a name of its own and renamed. Everything is
 * relative to the opened folder, so nobody can exchange it under us. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "fingerprint.h"
#include "kernel_cache.h"
#include "log.h"

enum { NAME_ROOM = 48, PATH_ROOM = 4096, STALE_SECONDS = 3600 };

static const int64_t bytes_max = INT64_C(256) << 20, entry_max = INT64_C(64) << 20;
static const char suffix[] = ".kernel", temporary[] = ".writing-";
static const uint64_t magic = 0x31656e68637377u; /* "wschne1" and a zero */

struct kernel_cache {
  int folder;
  int off; /* writing failed, and that was said */
};

typedef struct head {
  uint64_t magic, key_bytes, code_bytes, hash;
} head;

/* ---- the folder ---- */

/* The folder's path; 0 when the environment names none. */
static int folder_path(char out[PATH_ROOM]) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = 0;
  if (cache != NULL && cache[0] == '/') {
    length = snprintf(out, PATH_ROOM, "%s", cache);
  } else if (home != NULL && home[0] == '/') {
    length = snprintf(out, PATH_ROOM, "%s/.cache", home);
  }
  if (length <= 0 || length + 16 >= PATH_ROOM) return 0;
  (void)mkdir(out, 0700); /* usually there */
  strcat(out, "/halosweep");
  return 1;
}

/* Opens it, made if need be; -1 with the reason in `why`. */
static int open_folder(const char *path, char *why, size_t room) {
  struct stat s;
  if (mkdir(path, 0700) != 0 && errno != EEXIST) {
    snprintf(why, room, "cannot be made: %s", strerror(errno));
    return -1;
  }
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    snprintf(why, room, "cannot be opened: %s", strerror(errno));
    return -1;
  }
  why[0] = '\0';
  if (fstat(folder, &s) != 0) {
    snprintf(why, room, "cannot be examined: %s", strerror(errno));
  } else if (s.st_uid != geteuid()) {
    snprintf(why, room, "belongs to somebody else");
  } else if ((s.st_mode & 07777) != 0700) {
    snprintf(why, room, "has mode %04o, expected 0700", (unsigned)(s.st_mode & 07777));
  } else if (faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) != 0) {
    snprintf(why, room, "cannot be written: %s", strerror(errno));
  }
  if (why[0] == '\0') return folder;
  close(folder);
  return -1;
}

status kernel_cache_open(kernel_cache **out) {
  status rc = STATUS_OK;
  char path[PATH_ROOM], why[256];
  *out = NULL;
  if (!folder_path(path)) {
    log_info("compiled formulas are not kept: neither XDG_CACHE_HOME nor HOME names a folder");
    return STATUS_OK;
  }
  const int folder = open_folder(path, why, sizeof why);
  if (folder < 0) {
    log_info("compiled formulas are not kept: %s %s", path, why);
    return STATUS_OK;
  }
  TRY(alloc_zeroed(out, 1, sizeof **out, "cache"));
  (*out)->folder = folder;
done:
  if (rc != STATUS_OK) close(folder);
  return rc;
}

void kernel_cache_close(kernel_cache **cache) {
  if (*cache == NULL) return;
  close((*cache)->folder);
  alloc_free(cache);
}

/* ---- keys ---- */

/* All parts, each after its length. */
static status join_key(kernel_key key, char **out, int64_t *bytes) {
  status rc = STATUS_OK;
  *bytes = 0;
  for (int i = 0; key[i] != NULL; i++) *bytes += 8 + (int64_t)strlen(key[i]);
  TRY(alloc_array(out, *bytes, 1, "cache key"));
  char *at = *out;
  for (int i = 0; key[i] != NULL; i++) {
    const uint64_t length = strlen(key[i]);
    memcpy(at, &length, 8);
    memcpy(at + 8, key[i], length);
    at += 8 + length;
  }
done:
  return rc;
}

static void name_of(const char *key, int64_t bytes, char out[NAME_ROOM]) {
  const uint64_t one = fingerprint_bytes(FINGERPRINT_BASIS, key, bytes),
                 two = fingerprint_bytes(~FINGERPRINT_BASIS, key, bytes);
  snprintf(out, NAME_ROOM, "%016llx%016llx%s", (unsigned long long)one, (unsigned long long)two,
           suffix);
}

static uint64_t content_hash(const char *key, int64_t key_bytes, const void *code,
                             int64_t code_bytes) {
  return fingerprint_bytes(fingerprint_bytes(FINGERPRINT_BASIS, key, key_bytes), code, code_bytes);
}

/* ---- reading ---- */

static int read_all(int file, void *to, int64_t count) {
  char *at = to;
  while (count > 0) {
    const ssize_t got = read(file, at, (size_t)count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    count -= got;
  }
  return 1;
}

/* The entry's file if it can be trusted, and its size; else -1. */
static int open_entry(const kernel_cache *cache, const char *name, int64_t *size) {
  struct stat s;
  const int file = openat(cache->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  if (fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
      (s.st_mode & 0022) == 0 && s.st_size <= entry_max) {
    *size = s.st_size;
    return file;
  }
  close(file);
  return -1;
}

/* The code out of a whole entry in `all`; 0 when it is not this key's or damaged. */
static int accept(const char *all, int64_t size, const char *key, int64_t key_bytes, head *h) {
  if (size < (int64_t)sizeof *h) return 0;
  memcpy(h, all, sizeof *h);
  if (h->magic != magic || h->key_bytes != (uint64_t)key_bytes) return 0;
  if ((uint64_t)size - sizeof *h < h->key_bytes) return 0;
  if ((uint64_t)size - sizeof *h - h->key_bytes != h->code_bytes) return 0;
  if (memcmp(all + sizeof *h, key, (size_t)key_bytes) != 0) return 0;
  const char *code = all + sizeof *h + key_bytes;
  return content_hash(key, key_bytes, code, (int64_t)h->code_bytes) == h->hash;
}

status kernel_cache_read(kernel_cache *cache, kernel_key key, void *bytes, int64_t *count) {
  status rc = STATUS_OK;
  char *joined = NULL, *all = NULL, *code = NULL, name[NAME_ROOM];
  int64_t key_bytes, size = 0;
  int file = -1;
  head h;
  *count = 0;
  memcpy(bytes, &code, sizeof code);
  if (cache == NULL) return STATUS_OK;
  TRY(join_key(key, &joined, &key_bytes));
  name_of(joined, key_bytes, name);
  file = open_entry(cache, name, &size);
  if (file < 0) goto done;
  TRY(alloc_array(&all, size, 1, "cache entry"));
  if (!read_all(file, all, size) || !accept(all, size, joined, key_bytes, &h)) goto done;
  TRY(alloc_array(&code, (int64_t)h.code_bytes, 1, "compiled code"));
  memcpy(code, all + sizeof h + key_bytes, h.code_bytes);
  memcpy(bytes, &code, sizeof code);
  *count = (int64_t)h.code_bytes;
  (void)futimens(file, NULL); /* used now */
done:
  if (file >= 0) close(file);
  alloc_free(&all);
  alloc_free(&joined);
  return rc;
}

/* ---- writing ---- */

typedef struct entry {
  char name[NAME_ROOM];
  struct timespec used;
  int64_t size;
} entry;

static int by_age(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* Notes one file of the folder; leftovers of killed writers go at once. */
static status note_file(const kernel_cache *cache, const char *name, entry **all, int64_t *count,
                        int64_t *room) {
  status rc = STATUS_OK;
  struct stat s;
  if (strlen(name) >= NAME_ROOM) return rc;
  if (fstatat(cache->folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) return rc;
  if (strncmp(name, temporary, strlen(temporary)) == 0) {
    if (time(NULL) - s.st_mtime > STALE_SECONDS) (void)unlinkat(cache->folder, name, 0);
    return rc;
  }
  if (strstr(name, suffix) == NULL) return rc;
  if (*count == *room) {
    TRY(alloc_grow(all, *room, 2 * *room + 64, sizeof **all, "cache"));
    *room = 2 * *room + 64;
  }
  entry *e = &(*all)[(*count)++];
  snprintf(e->name, sizeof e->name, "%.47s", name);
  e->used = s.st_mtim;
  e->size = s.st_size;
done:
  return rc;
}

/* Entries not used for longest go until half of the bound is left. */
static status prune(kernel_cache *cache) {
  status rc = STATUS_OK;
  entry *all = NULL;
  int64_t count = 0, room = 0, total = 0;
  const int again = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = again < 0 ? NULL : fdopendir(again);
  if (listing == NULL) {
    if (again >= 0) close(again);
    return STATUS_OK;
  }
  for (const struct dirent *d; (d = readdir(listing)) != NULL;) {
    TRY(note_file(cache, d->d_name, &all, &count, &room));
  }
  for (int64_t i = 0; i < count; i++) total += all[i].size;
  if (total <= bytes_max) goto done;
  qsort(all, (size_t)count, sizeof *all, by_age);
  for (int64_t i = 0; i < count && total > bytes_max / 2; i++) {
    (void)unlinkat(cache->folder, all[i].name, 0);
    total -= all[i].size;
  }
done:
  closedir(listing);
  alloc_free(&all);
  return rc;
}

static int write_all(int file, const void *from, int64_t count) {
  const char *at = from;
  while (count > 0) {
    const ssize_t put = write(file, at, (size_t)count);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return 0;
    at += put;
    count -= put;
  }
  return 1;
}

/* 0 on failure, with errno. */
static int write_entry(const kernel_cache *cache, const char *name, const head *h, const char *key,
                       const void *code) {
  char working[NAME_ROOM];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(working, sizeof working, "%s%ld-%09ld", temporary, (long)getpid(), now.tv_nsec);
  const int file =
      openat(cache->folder, working, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return 0;
  int good = write_all(file, h, sizeof *h) && write_all(file, key, (int64_t)h->key_bytes) &&
             write_all(file, code, (int64_t)h->code_bytes);
  int why = errno;
  if (close(file) != 0 && good) good = 0, why = errno;
  if (good && renameat(cache->folder, working, cache->folder, name) != 0) good = 0, why = errno;
  if (!good) (void)unlinkat(cache->folder, working, 0);
  errno = why;
  return good;
}

void kernel_cache_write(kernel_cache *cache, kernel_key key, const void *bytes, int64_t count) {
  status rc = STATUS_OK;
  char *joined = NULL, name[NAME_ROOM];
  int64_t key_bytes;
  if (cache == NULL || cache->off || count > entry_max / 2) return;
  TRY(join_key(key, &joined, &key_bytes));
  name_of(joined, key_bytes, name);
  const head h = {magic, (uint64_t)key_bytes, (uint64_t)count,
                  content_hash(joined, key_bytes, bytes, count)};
  if (!write_entry(cache, name, &h, joined, bytes)) {
    cache->off = 1;
    log_info("compiled formulas are not kept: writing failed: %s", strerror(errno));
  }
  TRY(prune(cache));
done:
  if (rc != STATUS_OK) fail_clear(); /* no memory: not kept, then */
  alloc_free(&joined);
}
