/* What `convert` can be told. */
#include "commands.h"
#include "matrix_io.h"
#include "option_checks.h"

static const option CONVERT[] = {
    {"convert", "file", OPTION_INPUT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "a matrix or vector file: Matrix Market, PETSc binary, FILE.h5[:/NAME] or dense text"},
    {"convert", "order", OPTION_WORD, "natural", "natural|rcm", 0, 0, OPTION_PROBLEM,
     "rcm: rows and columns reordered by reverse Cuthill-McKee (small bandwidth)"},
    {"convert", "rhs", OPTION_INPUT, NULL, NULL, 0, 0, OPTION_PROBLEM,
     "a right-hand side to reorder along with the matrix"},
    {"convert", "rhs_output", OPTION_OUTPUT, NULL, NULL, 0, 0, 0,
     "where the reordered right-hand side goes: .mtx, .petsc or .txt"},
    {"convert", "permutation", OPTION_OUTPUT, NULL, NULL, 0, 0, 0,
     "where the order goes: line i has the old number (from 1) of new row i; .mtx or .txt"},
    {0},
};

const command COMMAND_convert = {
    "convert", "a matrix or vector file into another format, reordered on the way if asked", "file",
    CONVERT, NULL};

status check_convert(const options *o) {
  status rc = STATUS_OK;
  const int reorders = options_text(o, "convert.order")[0] == 'r';
  if (!options_has(o, "convert.file")) {
    return fail(STATUS_USAGE, "convert: no file: expected halosweep convert FILE --output FILE");
  }
  if (!options_has(o, "run.output")) {
    return fail(STATUS_USAGE,
                "convert: no output: expected --output NAME.h5, .mtx, .petsc or .txt");
  }
  TRY(check_needs(o, "convert.permutation", reorders, "a permutation needs order = rcm"));
  TRY(check_needs(o, "convert.rhs", reorders, "rhs is reordered along with order = rcm"));
  if (options_has(o, "convert.rhs") != options_has(o, "convert.rhs_output")) {
    return fail(STATUS_USAGE, "convert: rhs and rhs_output go together");
  }
  TRY(check_output_kind(options_text(o, "run.output"), ".h5|.hdf5|.mtx|.txt|" MATRIX_PETSC_NAMES,
                        ".h5, .mtx, .petsc, or (vectors) .txt"));
  TRY(check_output_kind(options_text(o, "convert.rhs_output"), ".mtx|.txt|" MATRIX_PETSC_NAMES,
                        ".mtx, .petsc or .txt"));
  rc = check_output_kind(options_text(o, "convert.permutation"), ".mtx|.txt", ".mtx or .txt");
done:
  return rc;
}
