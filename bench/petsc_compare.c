/* The peer's side of petsc_compare.sh: PETSc's own solvers on the same systems, a fixed number of
 * iterations, seconds per iteration to stdout.
 *
 *   bench_petsc_compare -problem poisson2d|poisson3d -n N -method jacobi|cg -iterations K
 *   bench_petsc_compare -problem poisson2d|poisson3d -n N -method amg
 *
 * A is the unscaled Laplacian (diagonal 2 dim, off-diagonal -1, Dirichlet points eliminated, x
 * fastest), MATAIJ, rows dealt out evenly by PETSc; b = A * ones, x0 = 0. jacobi is KSPRICHARDSON
 * with PCJACOBI and the unpreconditioned residual norm each iteration (what halosweep's jacobi
 * computes); cg is KSPCG with PCJACOBI and the same norm. One solve of 3 iterations warms up, then
 * one of K is timed; tolerances are off, so all K are done (checked). The reported time is the
 * slowest rank's.
 *
 * amg is KSPCG with PCGAMG as PETSc chooses it, the same norm, to a relative residual of 1e-8: the
 * hierarchy is made and the system solved once, and seconds of both, iterations and residual are
 * printed. */
#include <petscksp.h>

typedef struct setup {
  char problem[16], method[16];
  PetscInt n, iterations;
  int dim;
} setup;

static PetscErrorCode read_setup(setup *s) {
  PetscBool given;
  PetscFunctionBeginUser;
  s->n = 708;
  s->iterations = 100;
  PetscCall(PetscStrcpy(s->problem, "poisson2d"));
  PetscCall(PetscStrcpy(s->method, "jacobi"));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-problem", s->problem, sizeof s->problem, &given));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-method", s->method, sizeof s->method, &given));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &s->n, &given));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &s->iterations, &given));
  PetscCall(PetscStrcmp(s->problem, "poisson3d", &given));
  s->dim = given ? 3 : 2;
  PetscFunctionReturn(0);
}

/* Rows of this rank: neighbours one step away in each direction that are still inside. */
static PetscErrorCode assemble(const setup *s, Mat *out) {
  PetscInt rows = s->n * s->n, first, end;
  Mat a;
  PetscFunctionBeginUser;
  if (s->dim == 3) rows *= s->n;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, rows, 2 * s->dim + 1,
                         NULL, s->dim, NULL, &a));
  PetscCall(MatSetOption(a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(a, &first, &end));
  for (PetscInt row = first; row < end; row++) {
    PetscCall(MatSetValue(a, row, row, 2.0 * s->dim, INSERT_VALUES));
    PetscInt stride = 1, rest = row;
    for (int d = 0; d < s->dim; d++) {
      PetscInt at = rest % s->n;
      if (at > 0) PetscCall(MatSetValue(a, row, row - stride, -1.0, INSERT_VALUES));
      if (at < s->n - 1) PetscCall(MatSetValue(a, row, row + stride, -1.0, INSERT_VALUES));
      rest /= s->n;
      stride *= s->n;
    }
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  *out = a;
  PetscFunctionReturn(0);
}

/* Set-up and solve from nothing. */
static PetscErrorCode multigrid(Mat a, Vec b, Vec x) {
  KSP ksp;
  PC pc;
  PetscReal size, residual;
  PetscInt done;
  double begin, made, ended, mine[2], slowest[2];
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  begin = MPI_Wtime();
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 0.0, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  made = MPI_Wtime();
  PetscCall(VecSet(x, 0.0));
  PetscCall(KSPSolve(ksp, b, x));
  ended = MPI_Wtime();
  mine[0] = made - begin;
  mine[1] = ended - made;
  PetscCallMPI(MPI_Allreduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(KSPGetIterationNumber(ksp, &done));
  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(VecScale(x, -1.0));
  PetscCall(MatMultAdd(a, x, b, b));
  PetscCall(VecNorm(b, NORM_2, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.9g %.9g %d %.17g\n", slowest[0], slowest[1], (int)done,
                        (double)(residual / size)));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode solver(const setup *s, Mat a, KSP *out) {
  PetscBool cg;
  KSP ksp;
  PC pc;
  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(s->method, "cg", &cg));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetType(ksp, cg ? KSPCG : KSPRICHARDSON));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  *out = ksp;
  PetscFunctionReturn(0);
}

static PetscErrorCode timed_solve(KSP ksp, Vec b, Vec x, PetscInt iterations, double *seconds) {
  PetscInt done;
  double begin, mine;
  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0.0));
  PetscCall(KSPSetTolerances(ksp, 0.0, 0.0, PETSC_DEFAULT, iterations));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  begin = MPI_Wtime();
  PetscCall(KSPSolve(ksp, b, x));
  mine = MPI_Wtime() - begin;
  PetscCallMPI(MPI_Allreduce(&mine, seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(KSPGetIterationNumber(ksp, &done));
  PetscCheck(done == iterations, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "%d iterations done, %d asked for", (int)done, (int)iterations);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  setup s;
  Mat a;
  Vec x, b;
  KSP ksp;
  PetscReal size, residual;
  PetscBool amg;
  double seconds;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(read_setup(&s));
  PetscCall(assemble(&s, &a));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(a, x, b));
  PetscCall(PetscStrcmp(s.method, "amg", &amg));
  if (amg) {
    PetscCall(multigrid(a, b, x));
    goto done;
  }
  PetscCall(solver(&s, a, &ksp));
  PetscCall(timed_solve(ksp, b, x, 3, &seconds));
  PetscCall(timed_solve(ksp, b, x, s.iterations, &seconds));

  PetscCall(VecNorm(b, NORM_2, &size));
  PetscCall(VecScale(x, -1.0));
  PetscCall(MatMultAdd(a, x, b, b));
  PetscCall(VecNorm(b, NORM_2, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.9g %.17g\n", seconds / (double)s.iterations,
                        (double)(residual / size)));
  PetscCall(KSPDestroy(&ksp));
done:
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&a));
  PetscCall(PetscFinalize());
  return 0;
}
