/* The side of run-time compilation that lives in the ranks (compile.h). */
#define _GNU_SOURCE
#include "compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "compile_wire.h"
#include "embedded.h"
#include "fingerprint.h"
#include "fp_check.h"
#include "kernel_cache.h"

enum { PATH_ROOM = 4096, SERIAL_BITS = 20 };

struct compiler {
  int end, pid; /* of the helper; -1: there is none */
  char path[PATH_ROOM];
  kernel_cache *cache; /* rank 0's */
  int cache_tried;
  unsigned serial; /* of the next module */
};

struct module {
  int memory; /* open as long as it is loaded: its number is part of the name it was loaded by */
  void *handle;
};

/* ---- life ---- */

/* Finds a name without slash in PATH; what is not found stays as it is, for messages. */
static void find_in_path(const char *name, char out[PATH_ROOM]) {
  const char *at = getenv("PATH");
  snprintf(out, PATH_ROOM, "%.4000s", name);
  if (strchr(name, '/') != NULL) return;
  while (at != NULL && *at != '\0') {
    const size_t length = strcspn(at, ":");
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%.*s/%.500s", length < 3000 ? (int)length : 0, at, name);
    if (length > 0 && access(path, X_OK) == 0) {
      snprintf(out, PATH_ROOM, "%s", path);
      return;
    }
    at += length + (at[length] == ':');
  }
}

status compiler_open(int end, int pid, compiler **out) {
  status rc = STATUS_OK;
  const char *said = getenv("HALOSWEEP_CC");
  TRY(alloc_zeroed(out, 1, sizeof **out, "compiler"));
  (*out)->end = end;
  (*out)->pid = pid;
  find_in_path(said != NULL && *said != '\0' ? said : COMPILE_COMPILER, (*out)->path);
done:
  return rc;
}

static void end_helper(compiler *w) {
  if (w->end >= 0) close(w->end);
  if (w->pid > 0) {
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR) continue;
  }
  w->end = w->pid = -1;
}

void compiler_close(compiler **w) {
  if (*w == NULL) return;
  end_helper(*w);
  kernel_cache_close(&(*w)->cache);
  alloc_free(w);
}

void compiler_settle(compiler *w, const comm *c) {
  if (w != NULL && comm_rank(c) != 0) end_helper(w);
}

const char *compiler_name(const compiler *w) { return w == NULL ? "none" : w->path; }
int compiler_found(const compiler *w) { return w != NULL && access(w->path, X_OK) == 0; }

/* ---- asking the helper ---- */

typedef struct product {
  compile_outcome outcome;
  char *bytes; /* alloc_free frees it */
  int64_t count;
} product;

static status ask(compiler *w, wire_task task, const char *source, const char *folder, product *out,
                  char said[COMPILE_SAID]) {
  status rc = STATUS_OK;
  wire_reply reply;
  const wire_request request = {(int64_t)task, (int64_t)strlen(w->path), (int64_t)strlen(folder),
                                (int64_t)strlen(source)};
  int good = wire_send(w->end, &request, sizeof request) &&
             wire_send(w->end, w->path, request.compiler_bytes) &&
             wire_send(w->end, folder, request.folder_bytes) &&
             wire_send(w->end, source, request.source_bytes) &&
             wire_receive(w->end, &reply, sizeof reply);
  if (good) {
    TRY(alloc_array(&out->bytes, reply.product_bytes + 1, 1, "compiled code"));
    good = wire_receive(w->end, out->bytes, reply.product_bytes);
  }
  if (!good) {
    out->outcome = COMPILE_MISSING;
    snprintf(said, COMPILE_SAID, "the process that runs the compiler has ended");
    end_helper(w);
    goto done;
  }
  out->bytes[reply.product_bytes] = '\0';
  out->count = reply.product_bytes;
  out->outcome = (compile_outcome)reply.outcome;
  memcpy(said, reply.said, COMPILE_SAID);
done:
  return rc;
}

/* ---- loading ---- */

/* A name for the file that no module had before (the loader takes equal names for the same
 * library): the serial number is spelled in slashes and dots. */
static void memory_name(const compiler *w, int memory, char out[128]) {
  int used = snprintf(out, 64, "/proc/self/fd");
  for (int bit = 0; bit < SERIAL_BITS; bit++) {
    used += snprintf(out + used, 3, "%s", (w->serial >> bit & 1) != 0 ? "/." : "/");
  }
  snprintf(out + used, 16, "/%d", memory);
}

/* *out is NULL, and `said` says why, when the loader does not take it: what the text calls is not
 * there. */
static status load(compiler *w, const char *bytes, int64_t count, char said[COMPILE_SAID],
                   module **out) {
  status rc = STATUS_OK;
  module *m = NULL;
  char name[128], when[PATH_ROOM + 64];
  TRY(alloc_zeroed(&m, 1, sizeof *m, "module"));
  m->memory = memfd_create("halosweep", MFD_CLOEXEC);
  for (int64_t at = 0; m->memory >= 0 && at < count;) {
    const ssize_t put = write(m->memory, bytes + at, (size_t)(count - at));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      rc = fail(STATUS_UNAVAILABLE, "compiled code cannot be put into memory: %s", strerror(errno));
      goto done;
    }
    at += put;
  }
  memory_name(w, m->memory, name);
  w->serial++;
  m->handle = m->memory < 0 ? NULL : dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (m->handle == NULL) {
    const char *why = m->memory < 0 ? strerror(errno) : dlerror();
    const char *symbol = strstr(why, "undefined symbol");
    snprintf(said, COMPILE_SAID, "%s", symbol != NULL ? symbol : why);
    goto done;
  }
  snprintf(when, sizeof when, "after loading what %s compiled", w->path);
  TRY(fp_check(when));
  *out = m;
  m = NULL;
done:
  module_release(&m);
  return rc;
}

void module_function(const module *m, const char *name, void *f) {
  void *at = dlsym(m->handle, name);
  memcpy(f, &at, sizeof at);
}

void module_release(module **m) {
  if (*m == NULL) return;
  if ((*m)->handle != NULL) dlclose((*m)->handle);
  if ((*m)->memory >= 0) close((*m)->memory);
  alloc_free(m);
}

/* ---- rank 0: from a request to code ---- */

/* All embedded headers in one number; they change with the version. */
static uint64_t headers_hash(void) {
  uint64_t hash = FINGERPRINT_BASIS;
  for (const embedded_file *f = EMBEDDED; f->name != NULL; f++) {
    hash = fingerprint_bytes(hash, f->text, (int64_t)strlen(f->text));
  }
  return hash;
}

/* What tells this compiler from another one at its place. */
static int identify(const compiler *w, char *out, size_t room, char said[COMPILE_SAID]) {
  struct stat s;
  if (access(w->path, X_OK) != 0 || stat(w->path, &s) != 0) {
    snprintf(said, COMPILE_SAID, "%s: %s", w->path, strerror(errno));
    return 0;
  }
  snprintf(out, room, "%s %lld %lld.%09ld %016llx", w->path, (long long)s.st_size,
           (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec, (unsigned long long)headers_hash());
  return 1;
}

static status cached_or_compiled(compiler *w, const char *identity, const char *source,
                                 int preprocessed, const char *folder, product *code,
                                 char said[COMPILE_SAID], module **out) {
  status rc = STATUS_OK;
  const char *const key[] = {"host code 1", identity, COMPILE_FLAGS, source, NULL};
  if (!w->cache_tried) TRY(kernel_cache_open(&w->cache));
  w->cache_tried = 1;
  TRY(kernel_cache_read(w->cache, key, &code->bytes, &code->count));
  const int known = code->bytes != NULL;
  code->outcome = COMPILE_DONE;
  if (!known) {
    const wire_task task = preprocessed ? WIRE_COMPILE_PREPROCESSED : WIRE_COMPILE;
    TRY(ask(w, task, source, folder, code, said));
  }
  if (code->outcome != COMPILE_DONE) goto done;
  TRY(load(w, code->bytes, code->count, said, out));
  if (*out == NULL) code->outcome = COMPILE_REFUSED;
  if (*out != NULL && !known) kernel_cache_write(w->cache, key, code->bytes, code->count);
done:
  return rc;
}

static status make(compiler *w, const compile_request *r, product *code, char said[COMPILE_SAID],
                   module **out) {
  status rc = STATUS_OK;
  product text = {COMPILE_DONE, NULL, 0};
  char identity[PATH_ROOM + 80], folder[PATH_ROOM] = "";
  if (r->folder != NULL && realpath(r->folder, folder) == NULL) folder[0] = '\0';
  code->outcome = COMPILE_MISSING;
  if (!identify(w, identity, sizeof identity, said)) goto done;
  if (w->end < 0) {
    snprintf(said, COMPILE_SAID, "there is no process to run the compiler");
    goto done;
  }
  if (r->included) TRY(ask(w, WIRE_PREPROCESS, r->source, folder, &text, said));
  if (text.outcome != COMPILE_DONE) {
    code->outcome = text.outcome;
    goto done;
  }
  TRY(cached_or_compiled(w, identity, r->included ? text.bytes : r->source, r->included, folder,
                         code, said, out));
done:
  alloc_free(&text.bytes);
  return rc;
}

/* ---- all ranks ---- */

/* What rank 0 made to everybody else. */
static status share(comm *c, product *code, char said[COMPILE_SAID]) {
  status rc = STATUS_OK;
  int64_t facts[2] = {(int64_t)code->outcome, code->count};
  TRY(comm_broadcast(c, facts, sizeof facts, 0));
  TRY(comm_broadcast(c, said, COMPILE_SAID, 0));
  code->outcome = (compile_outcome)facts[0];
  if (code->outcome != COMPILE_DONE) goto done;
  if (comm_rank(c) != 0) rc = alloc_array(&code->bytes, facts[1], 1, "compiled code");
  TRY(comm_agree(c, rc));
  code->count = facts[1];
  TRY(comm_broadcast(c, code->bytes, code->count, 0));
done:
  return rc;
}

status compiler_build(comm *c, compiler *w, const compile_request *r, compile_outcome *outcome,
                      char said[COMPILE_SAID], module **out) {
  status rc = STATUS_OK;
  product code = {COMPILE_DONE, NULL, 0};
  *out = NULL;
  memset(said, 0, COMPILE_SAID);
  if (comm_rank(c) == 0) rc = make(w, r, &code, said, out);
  TRY(comm_agree(c, rc));
  TRY(share(c, &code, said));
  *outcome = code.outcome;
  if (code.outcome != COMPILE_DONE) goto done;
  if (comm_rank(c) != 0) {
    rc = load(w, code.bytes, code.count, said, out);
    if (rc == STATUS_OK && *out == NULL) {
      rc = fail(STATUS_UNAVAILABLE, "compiled code cannot be loaded: %.1000s", said);
    }
  }
  TRY(comm_agree(c, rc));
done:
  if (rc != STATUS_OK) module_release(out);
  alloc_free(&code.bytes);
  return rc;
}
