/* The helper process that runs the host compiler (compile.h). Per request: a folder of its own
 * under TMPDIR with the embedded headers and the source, the compiler started there with
 * posix_spawn, its words and its product read back, the folder removed. Names inside are relative,
 * so the preprocessed text is the same each time (it is part of a cache key). */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "compile_wire.h"
#include "embedded.h"


enum { WORDS_MAX = 40, FOLDER_ROOM = 4096, LINES_MAX = 30 };

typedef struct job {
  wire_request is;
  char *compiler, *folder, *source;
  wire_reply reply;
  char *product;
} job;

static void refuse(job *j, compile_outcome outcome, const char *what, const char *why) {
  j->reply.outcome = outcome;
  snprintf(j->reply.said, sizeof j->reply.said, "%s: %s", what, why);
}

/* ---- files of the working folder, which is the current one ---- */

static int write_file(const char *name, const char *text) {
  const size_t length = strlen(text);
  FILE *file = fopen(name, "we");
  if (file == NULL) return 0;
  const int good = fwrite(text, 1, length, file) == length;
  return (fclose(file) == 0) && good;
}

/* The whole file into *out, which alloc_free frees; -1 when there is none. */
static int64_t read_file(const char *name, char **out) {
  int64_t size = -1;
  struct stat s;
  FILE *file = fopen(name, "re");
  if (file == NULL) return -1;
  if (fstat(fileno(file), &s) == 0 && s.st_size < WIRE_BYTES_MAX &&
      alloc_array(out, s.st_size + 1, 1, "compiled code") == STATUS_OK) {
    size = (int64_t)fread(*out, 1, (size_t)s.st_size, file);
    (*out)[size] = '\0';
  }
  fclose(file);
  return size;
}

/* The first lines of what the compiler said. */
static void read_said(job *j) {
  char *text = NULL;
  size_t used = 0;
  int lines = 0;
  const int64_t size = read_file("said", &text);
  for (int64_t i = 0; i < size && lines < LINES_MAX && used + 1 < COMPILE_SAID; i++) {
    if (text[i] == '\n') lines++;
    j->reply.said[used++] = text[i];
  }
  while (used > 0 && j->reply.said[used - 1] == '\n') used--;
  j->reply.said[used] = '\0';
  alloc_free(&text);
}

/* stdint.h and stddef.h are the compiler's own here. */
static int write_headers(void) {
  for (const embedded_file *f = EMBEDDED; f->name != NULL; f++) {
    if (strcmp(f->name, "stdint.h") == 0 || strcmp(f->name, "stddef.h") == 0) continue;
    if (!write_file(f->name, f->text)) return 0;
  }
  return 1;
}

static void remove_folder(const char *path) {
  DIR *listing = opendir(path);
  if (listing == NULL) return;
  for (const struct dirent *d; (d = readdir(listing)) != NULL;) {
    if (d->d_name[0] != '.') (void)unlinkat(dirfd(listing), d->d_name, 0);
  }
  closedir(listing);
  (void)rmdir(path);
}

/* ---- the compiler ---- */

/* The fixed flags, a word each; `room` holds them. */
static int flag_words(char *room, size_t bytes, char **word) {
  int count = 0;
  snprintf(room, bytes, "%s", COMPILE_FLAGS);
  for (char *rest = room, *at; (at = strtok_r(rest, " ", &rest)) != NULL;) word[count++] = at;
  return count;
}

/* Starts it and waits; the exit code, or -1 with errno. */
static int run_compiler(char *const *word) {
  int code = -1, state;
  pid_t child;
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  sigset_t all;
  sigfillset(&all);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawn(&child, word[0], &files, &how, word, environ);
  if (error == 0) {
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  }
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  errno = error;
  return code;
}

static void compile_here(job *j) {
  static char quote[] = "-iquote", include[] = "-I.", preprocess[] = "-E", out[] = "-o",
              shared[] = "-shared", text[] = "source.c", preprocessed[] = "source.i",
              code[] = "code.so";
  const int first = j->is.task == WIRE_PREPROCESS;
  char *word[WORDS_MAX] = {j->compiler}, room[1024];
  char *input = j->is.task == WIRE_COMPILE_PREPROCESSED ? preprocessed : text;
  char *product = first ? preprocessed : code;
  int count = 1 + flag_words(room, sizeof room, word + 1);
  word[count++] = first ? preprocess : shared;
  word[count++] = include;
  if (j->folder[0] != '\0') word[count++] = quote, word[count++] = j->folder;
  word[count++] = out;
  word[count++] = product;
  word[count++] = input;
  if (!write_headers() || !write_file(input, j->source)) {
    refuse(j, COMPILE_MISSING, "the folder for temporary files", strerror(errno));
    return;
  }
  const int result = run_compiler(word);
  if (result < 0) {
    refuse(j, COMPILE_MISSING, j->compiler, strerror(errno));
    return;
  }
  read_said(j);
  j->reply.outcome = result == 0 ? COMPILE_DONE : COMPILE_REFUSED;
  if (result != 0 && j->reply.said[0] == '\0') {
    snprintf(j->reply.said, COMPILE_SAID, "%.1000s: it failed (%d) and said nothing", j->compiler,
             result);
  }
  if (result != 0) return;
  j->reply.product_bytes = read_file(product, &j->product);
  if (j->reply.product_bytes <= 0) refuse(j, COMPILE_MISSING, j->compiler, "it wrote nothing");
}

static void do_job(job *j) {
  char folder[FOLDER_ROOM];
  const char *root = getenv("TMPDIR");
  if (root == NULL || root[0] != '/') root = "/tmp";
  snprintf(folder, sizeof folder, "%.4000s/halosweep-XXXXXX", root);
  if (mkdtemp(folder) == NULL) {
    refuse(j, COMPILE_MISSING, folder, strerror(errno));
    return;
  }
  if (chdir(folder) != 0) {
    refuse(j, COMPILE_MISSING, folder, strerror(errno));
  } else {
    compile_here(j);
  }
  (void)!chdir("/");
  remove_folder(folder);
}

/* ---- requests ---- */

static int receive_text(int end, int64_t bytes, char **out) {
  if (bytes < 0 || bytes > WIRE_BYTES_MAX) return 0;
  if (alloc_array(out, bytes + 1, 1, "request") != STATUS_OK) return 0;
  (*out)[bytes] = '\0';
  return wire_receive(end, *out, bytes);
}

static int serve_one(int end) {
  job j;
  memset(&j, 0, sizeof j);
  int good = wire_receive(end, &j.is, sizeof j.is) &&
             receive_text(end, j.is.compiler_bytes, &j.compiler) &&
             receive_text(end, j.is.folder_bytes, &j.folder) &&
             receive_text(end, j.is.source_bytes, &j.source);
  if (good) {
    do_job(&j);
    if (j.reply.outcome != COMPILE_DONE) j.reply.product_bytes = 0;
    good = wire_send(end, &j.reply, sizeof j.reply) &&
           wire_send(end, j.product, j.reply.product_bytes);
  }
  alloc_free(&j.compiler);
  alloc_free(&j.folder);
  alloc_free(&j.source);
  alloc_free(&j.product);
  fail_clear();
  return good;
}

void compile_serve(int end) {
  /* requests to stop reach every process of a job: the parent decides, this one ends after it */
  const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard <= 2 && nowhere >= 0; standard++) (void)dup2(nowhere, standard);
  while (serve_one(end)) continue;
}
