/* Memory that is left (memory.h), read from Linux's own files; where one is missing, its limit is
 * taken as not there. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "report.h"

enum { PATH_ROOM = 4096, LINE_ROOM = 4096 + 256 };

/* The number after `key` at the start of a line of the file, or at its very start where key is "".
 * -1: not there, or not a number ("max"). */
static int64_t read_number(const char *path, const char *key) {
  char line[LINE_ROOM];
  int64_t found = -1;
  FILE *file = fopen(path, "r");
  if (file == NULL) return -1;
  while (found < 0 && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, key, strlen(key)) != 0) continue;
    char *end;
    const long long value = strtoll(line + strlen(key), &end, 10);
    if (end != line + strlen(key) && value >= 0) found = value;
    if (*key == '\0') break;
  }
  fclose(file);
  return found;
}

/* The file names of a version of control groups. */
typedef struct group_files {
  const char *limit, *usage, *droppable; /* droppable: a key of memory.stat */
} group_files;

static const group_files VERSION_1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                      "total_inactive_file "};
static const group_files VERSION_2 = {"memory.max", "memory.current", "inactive_file "};

static int64_t group_number(const char *folder, const char *name, const char *key) {
  char path[PATH_ROOM + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return read_number(path, key);
}

static int64_t left_in(const char *folder, const group_files *names) {
  const int64_t limit = group_number(folder, names->limit, "");
  const int64_t used = group_number(folder, names->usage, "");
  const int64_t droppable = group_number(folder, "memory.stat", names->droppable);
  if (limit < 0 || used < 0) return INT64_MAX;
  const int64_t held = used - (droppable > 0 ? droppable : 0);
  return limit > held ? limit - held : 0;
}

/* The tightest of a group and those it is part of. A container may not see the folders of its own
 * name, only that of the root. */
static int64_t left_along(const char *root, const char *group, const group_files *names) {
  char folder[PATH_ROOM];
  int64_t least = INT64_MAX;
  if (snprintf(folder, sizeof folder, "%s%s", root, group) >= PATH_ROOM) return least;
  for (;;) {
    const int64_t left = left_in(folder, names);
    if (left < least) least = left;
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= strlen(root) || slash == NULL) return least;
    *slash = '\0';
  }
}

int64_t memory_of_group(const char *membership, const char *root) {
  char line[LINE_ROOM], version_1[PATH_ROOM];
  int64_t least = INT64_MAX;
  FILE *file = fopen(membership, "r");
  if (file == NULL) return least;
  snprintf(version_1, sizeof version_1, "%.4000s/memory", root);
  while (fgets(line, sizeof line, file) != NULL) { /* "4:memory:/group", "0::/group" */
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL) continue;
    *group++ = '\0';
    int64_t left = INT64_MAX;
    if (strcmp(controllers, ":") == 0) left = left_along(root, group, &VERSION_2);
    if (strcmp(controllers, ":memory") == 0) left = left_along(version_1, group, &VERSION_1);
    if (left < least) least = left;
  }
  fclose(file);
  return least;
}

/* Address space left under `ulimit -v`; INT64_MAX: no limit. */
static int64_t left_of_process(void) {
  struct rlimit limit;
  const int64_t page = sysconf(_SC_PAGESIZE), pages = read_number("/proc/self/statm", "");
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
  if (limit.rlim_cur > (rlim_t)INT64_MAX) return INT64_MAX;
  const int64_t used = pages > 0 ? pages * page : 0, most = (int64_t)limit.rlim_cur;
  return most > used ? most - used : 0;
}

int64_t memory_available(int node_ranks, const char **limit) {
  const int64_t kilobytes = read_number("/proc/meminfo", "MemAvailable:");
  const int64_t group = memory_of_group("/proc/self/cgroup", "/sys/fs/cgroup");
  const int64_t process = left_of_process();
  int64_t least = kilobytes < 0 ? INT64_MAX : kilobytes * 1024 / node_ranks;
  *limit = "the node's available memory";
  if (group != INT64_MAX && group / node_ranks < least) {
    least = group / node_ranks;
    *limit = "the control group's memory limit";
  }
  if (process < least) {
    least = process;
    *limit = "the process's own limit, ulimit -v";
  }
  return least;
}

status memory_check(comm *c, double bytes, const char *what) {
  status rc = STATUS_OK;
  const char *limit;
  const int ranks = comm_node_size(c);
  const int64_t left = memory_available(ranks, &limit);
  if (bytes > (double)left) {
    char needed[REPORT_BYTES], there[REPORT_BYTES], count[REPORT_COUNT];
    report_bytes(bytes, needed);
    report_bytes((double)left, there);
    report_count(ranks, "rank", count);
    rc = fail(STATUS_UNAVAILABLE,
              "not enough memory: %s needs about %s on this rank, and %s are left (%s; %s on this "
              "node): use more nodes, or fewer ranks",
              what, needed, there, limit, count);
  }
  return comm_agree(c, rc);
}
