/* Starting the helper process (helper.h). It ends when its channel closes, at the latest with us.
 */
#include "helper.h"

#include <unistd.h>

#include "log.h"

status helper_start(compiler **out) {
  int end[2] = {-1, -1}, pid = -1;
  if (compile_channel(end) == STATUS_OK) {
    pid = (int)fork();
    if (pid == 0) {
      close(end[0]);
      compile_serve(end[1]);
      _exit(0);
    }
    close(end[1]);
    if (pid < 0) close(end[0]), end[0] = -1;
  }
  fail_clear();
  return compiler_open(end[0], pid, out);
}
