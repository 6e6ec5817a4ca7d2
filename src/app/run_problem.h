/* What a run's files say of it: which problem its checkpoints are of, and the root attributes of
 * its result. */
#ifndef RUN_PROBLEM_H
#define RUN_PROBLEM_H

#include "checkpointing.h"
#include "commands.h"
#include "formula.h"
#include "result_io.h"

/* checkpointing_identify with the problem keys and, in `content`, lines "name = hash" for what they
 * cannot say: the content of files, the texts of C files. NULL: nothing else. Collective. */
status run_identify(const run_context *run, checkpointing *cp, const char *name,
                    const char *content);

/* A hash of the texts of formulas, of which any may be NULL. Local. */
uint64_t run_formulas_hash(const formula *const *f, int count);

/* The root attributes version, command, config, report and fingerprint. Collective. */
status run_result_texts(const run_context *run, result_file *f, const char *name, const char *json,
                        uint64_t fingerprint);

#endif
