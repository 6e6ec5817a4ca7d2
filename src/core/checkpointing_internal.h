/* What the files of checkpointing share; nobody else includes this. */
#ifndef CHECKPOINTING_INTERNAL_H
#define CHECKPOINTING_INTERNAL_H

#include "checkpointing.h"

enum { CHECKPOINTING_ITEMS = 24, CHECKPOINTING_TEXTS = 4, CHECKPOINTING_PROBLEM = 3 };

/* Items of every checkpoint: the texts, then the number it has in its name. */
enum { CHECKPOINTING_OWN = CHECKPOINTING_TEXTS + 1 };
#define CHECKPOINTING_NUMBER  "/run/number"
#define CHECKPOINTING_HISTORY "/run/history"

typedef struct saved_item {
  checkpoint_item is;
  checkpointing_refresh refresh;
  void *context;
  void *loaded; /* replicated: what the file held */
  int64_t loaded_length;
} saved_item;

struct checkpointing {
  comm *c;
  timers *timers;

  /* options */
  const char *file;    /* NULL: write none */
  const char *restart; /* NULL, or the file; "latest" with `latest` set */
  int latest;
  int go_on; /* on_failure = continue */
  int64_t keep;
  double every_seconds;
  int64_t every_count;

  /* clocks, comm_clock() */
  double deadline; /* INFINITY: none */
  double due;      /* of the next checkpoint by time, rank 0's */
  double cost;     /* seconds of the last one */

  int lock;                        /* rank 0 */
  char *text[CHECKPOINTING_TEXTS]; /* command, version, config, problem */
  saved_item item[CHECKPOINTING_ITEMS];
  int count;
  history *history; /* rank 0 */
  int history_columns;
  double nothing; /* the address of an empty history */
  void *buffer;   /* for items with `move` */
  int64_t last;   /* number saved last; -1: none */
  int64_t met;    /* number of the last meeting, or of the checkpoint gone on from */
  checkpointing_facts facts;
};

/* checkpointing_problem.c: which keys two problem texts differ in, as "solve.n: 10 there, 20 here;
 * ..."; 0 when they are equal. Local. */
int problems_differ(const char *there, const char *here, char *out, size_t room);

/* checkpointing_history.c: the rows loaded into the history. Local, alike on all ranks. */
status checkpointing_restore_history(const checkpointing *cp);

/* checkpointing_load.c: the names of the text items. */
extern const char *const CHECKPOINTING_TEXT_NAMES[CHECKPOINTING_TEXTS];

#endif
