/* The channel between a compiler and its helper (compile_wire.h): a pair of stream sockets. */
#define _GNU_SOURCE
#include "compile_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

status compile_channel(int end[2]) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end) == 0) return STATUS_OK;
  return fail(STATUS_UNAVAILABLE, "no channel to a compiler: %s", strerror(errno));
}

int wire_send(int end, const void *bytes, int64_t count) {
  const char *at = bytes;
  while (count > 0) {
    const ssize_t put = send(end, at, (size_t)count, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return 0;
    at += put;
    count -= put;
  }
  return 1;
}

int wire_receive(int end, void *bytes, int64_t count) {
  char *at = bytes;
  while (count > 0) {
    const ssize_t got = recv(end, at, (size_t)count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    count -= got;
  }
  return 1;
}
