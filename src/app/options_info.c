/* `info` has no options of its own. */
#include "commands.h"

static const option INFO[] = {{0}};

const command COMMAND_info = {
    "info", "this build and this machine: version, backends, ranks, threads, cores", NULL, INFO,
    NULL};
