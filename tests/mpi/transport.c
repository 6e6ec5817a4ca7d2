/* Transport `mpi` with a device that is host memory: when it is tried, proved, refused, and what
 * follows. The backend is `ref` with a description, as if its memory were its own.
 *
 * With the argument "crash" the halo's buffers are pages that nobody may touch, as device addresses
 * are to an MPI that is wrong about itself; with "quiet" the last rank's are (mpi/transport_crash).
 * ranks: 1 2 3 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "log.h"
#include "trial.h"

enum { PAGE = 4096 };

static struct {
  int packs_until_lost; /* of the last rank: pack does nothing from then on (< 0: never) */
  int packs_until_broken;
  int untouchable; /* the next halo buffers may not be touched */
  int tries;       /* packs so far */
  struct {
    void *at;
    size_t bytes;
  } pages[2]; /* the halo's buffers */
} fake;

static int last(void) { return comm_rank(world) == comm_size(world) - 1; }

static void describe(const device *d, device_facts *out) {
  (void)d;
  strcpy(out->name, "host memory");
}

static size_t pages_of(int64_t bytes) { return ((size_t)bytes / PAGE + 1) * PAGE; }

/* Halo buffers get pages of their own, which can be taken away. */
static status alloc_pages(device *d, int64_t bytes, const char *what, dptr *out) {
  if (strcmp(what, "halo") != 0) return BACKEND_ref.alloc(d, bytes, what, out);
  const int allowed = fake.untouchable ? PROT_NONE : PROT_READ | PROT_WRITE;
  out->at = mmap(NULL, pages_of(bytes), allowed, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(out->at != MAP_FAILED);
  for (int i = 0; i < 2; i++) {
    if (fake.pages[i].at != NULL) continue;
    fake.pages[i].at = out->at;
    fake.pages[i].bytes = pages_of(bytes);
    return STATUS_OK;
  }
  return fail(STATUS_BUG, "more than two halo buffers");
}

static void release_pages(device *d, dptr *p) {
  for (int i = 0; i < 2; i++) {
    if (p->at == NULL || fake.pages[i].at != p->at) continue;
    munmap(p->at, fake.pages[i].bytes);
    fake.pages[i].at = p->at = NULL;
    return;
  }
  BACKEND_ref.release(d, p);
}

static status pack(device *d, const halo *h, vec x) {
  const int lost = last() && fake.packs_until_lost >= 0 && fake.tries >= fake.packs_until_lost;
  const int broken =
      last() && fake.packs_until_broken >= 0 && fake.tries >= fake.packs_until_broken;
  fake.tries++;
  if (broken) { /* as with a device that is gone: so is its memory */
    for (int i = 0; i < 2; i++) {
      if (fake.pages[i].at != NULL) mprotect(fake.pages[i].at, fake.pages[i].bytes, PROT_NONE);
    }
    return fail(STATUS_BROKEN, "the fake device broke");
  }
  if (lost || fake.untouchable) return STATUS_OK;
  return BACKEND_ref.pack(d, h, x);
}

static backend faked(void) {
  backend b = BACKEND_ref;
  memset(&fake, 0, sizeof fake);
  fake.packs_until_lost = fake.packs_until_broken = -1;
  b.name = "fake";
  b.describe = describe;
  b.alloc = alloc_pages;
  b.release = release_pages;
  b.pack = pack;
  return b;
}

/* A system with a plan and a device, no matrix. */
static void open_system(const backend *b, linear_system *s) {
  ownership o;
  gidx ghost;
  memset(s, 0, sizeof *s);
  s->kernels = b;
  s->world = world;
  const device_request request = {.threads = 1};
  assert_ok(b->open(&request, &s->place));
  assert_ok(ownership_even(world, 10000, &o));
  s->rows = (lidx)(ownership_end(&o) - ownership_begin(&o));
  s->ghosts = comm_size(world) > 1;
  ghost = ownership_end(&o) % 10000;
  assert_ok(halo_create(world, &o, &ghost, s->ghosts, &s->plan));
  ownership_release(&o);
}

static void close_system(linear_system *s) {
  const transport_side side = linear_side(s);
  transport_release(&side);
  s->kernels->close(&s->place);
}

/* Chooses; what must come of it. `refused`: a word of the reason, NULL for none. */
static void choose(const backend *b, const char *asked, int claim, status code, const char *name,
                   const char *refused) {
  linear_system s;
  transport_choice t;
  const int64_t live = alloc_live();
  open_system(b, &s);
  const transport_side side = linear_side(&s);
  assert_int_equal(transport_choose(&side, asked, claim, &t), code);
  if (code == STATUS_OK) {
    assert_string_equal(t.name, name);
    assert_int_equal(s.plan.adopted, strcmp(name, "mpi") == 0);
    assert_int_equal(t.tried, strcmp(name, "none") == 0 ? 0 : refused != NULL ? 2 : 1);
    if (t.tried > 0) {
      assert_null(t.trial[t.tried - 1].refused);
      assert_string_equal(t.trial[t.tried - 1].name, name);
    }
  }
  if (refused != NULL) {
    assert_string_equal(t.trial[0].name, "mpi");
    assert_non_null(strstr(t.trial[0].refused, refused));
  }
  close_system(&s);
  assert_int_equal(alloc_live(), live);
}

static int several(void) { return comm_size(world) > 1; }

static void a_claim_decides_whether_it_is_tried(void **state) {
  (void)state;
  const backend b = faked();
  const char *const host = several() ? "host" : "none";
  const status seven = several() ? STATUS_UNAVAILABLE : STATUS_OK;
  choose(&b, "host", 1, STATUS_OK, host, NULL);
  choose(&b, "auto", 0, STATUS_OK, host, several() ? "says that it cannot" : NULL);
  choose(&b, "auto", -1, STATUS_OK, host, several() ? "does not say" : NULL);
  choose(&b, "mpi", 0, seven, "none", several() ? "says that it cannot" : NULL);
  choose(&b, "mpi", -1, seven, "none", several() ? "does not say" : NULL);
  assert_int_equal(fake.tries, 0);
  /* one rank's MPI says no: none tries */
  choose(&b, "auto", last() ? 0 : 1, STATUS_OK, host, several() ? "says that it cannot" : NULL);
  assert_int_equal(fake.tries, 0);
}

static void a_right_exchange_proves_it(void **state) {
  (void)state;
  const backend b = faked();
  choose(&b, "auto", 1, STATUS_OK, several() ? "mpi" : "none", NULL);
  assert_int_equal(fake.tries, several() ? 8 : 0); /* four sizes, twice */
  choose(&b, "mpi", 1, STATUS_OK, several() ? "mpi" : "none", NULL);
}

/* Zeros or old numbers that arrive without an error, at any point of the proof. */
static void wrong_numbers_are_noticed(void **state) {
  (void)state;
  for (int at = 0; at < 8 && several(); at += 7) { /* first and last exchange */
    const backend b = faked();
    fake.packs_until_lost = at;
    choose(&b, "auto", 1, STATUS_OK, "host", "arrived wrong");
    fake.tries = 0;
    choose(&b, "mpi", 1, STATUS_UNAVAILABLE, "none", "arrived wrong");
  }
}

static void a_device_that_breaks_in_the_proof_stops_all(void **state) {
  (void)state;
  for (int at = 0; at < 8 && several(); at += 3) {
    const backend b = faked();
    fake.packs_until_broken = at;
    choose(&b, "auto", 1, STATUS_BROKEN, NULL, NULL);
  }
}

static void host_memory_has_no_such_transport(void **state) {
  (void)state;
  choose(&BACKEND_ref, "mpi", 1, STATUS_UNAVAILABLE, NULL, NULL);
  choose(&BACKEND_ref, "auto", 1, STATUS_OK, several() ? "host" : "none", NULL);
  assert_int_equal(transport_check("nccl"), STATUS_UNAVAILABLE);
  assert_int_equal(transport_check("ipc"), STATUS_UNAVAILABLE);
  assert_ok(transport_check("mpi"));
  assert_ok(transport_check("auto"));
  fail_clear();
}

static const trial plane = {
    .problem = "poisson2d",
    .n = 40,
    .omega = 1.0,
    .preconditioned = 1,
    .rhs_scale = 1.0,
    .limits = {.rtol = 1e-6, .divergence = 1e5, .max_iterations = 300, .check_every = 50}};

static void solves_have_the_same_bits(void **state) {
  (void)state;
  static outcome want, have;
  for (int i = 0; method_at(i) != NULL; i++) {
    trial t = plane;
    const backend b = faked();
    t.method = method_at(i);
    run_trial(&t, &BACKEND_ref, 1, &want);
    t.transport = "mpi";
    run_trial(&t, &b, 1, &have);
    same_outcome(&want, &have, "transport mpi");
    alloc_free(&want.x);
    alloc_free(&have.x);
  }
}

/* A rank whose device is gone takes part from host memory until all have stopped. */
static void a_rank_that_breaks_goes_on_from_host_memory(void **state) {
  (void)state;
  static outcome out;
  for (int i = 0; method_at(i) != NULL; i++) {
    trial t = plane;
    const backend b = faked();
    t.method = method_at(i);
    t.transport = "mpi";
    fake.packs_until_broken = 30;
    run_trial(&t, &b, 1, &out);
    assert_int_equal(out.failure, last() ? STATUS_BROKEN : STATUS_OK);
    assert_true(out.iterations < 100);
    alloc_free(&out.x);
  }
}

static int crash(int everywhere) {
  backend b = faked();
  linear_system s;
  transport_choice t;
  log_open(comm_rank(world) == 0, 0);
  open_system(&b, &s);
  fake.untouchable = everywhere || last();
  const transport_side side = linear_side(&s);
  transport_choose(&side, "mpi", 1, &t);
  return 1;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_claim_decides_whether_it_is_tried),
      cmocka_unit_test(a_right_exchange_proves_it),
      cmocka_unit_test(wrong_numbers_are_noticed),
      cmocka_unit_test(a_device_that_breaks_in_the_proof_stops_all),
      cmocka_unit_test(host_memory_has_no_such_transport),
      cmocka_unit_test(solves_have_the_same_bits),
      cmocka_unit_test(a_rank_that_breaks_goes_on_from_host_memory),
  };
  if (comm_open(&argc, &argv, &world) != STATUS_OK) return 1;
  if (argc > 1) return crash(strcmp(argv[1], "crash") == 0);
  setenv("CMOCKA_TEST_ABORT", "1", 1); /* a rank that fails ends them all */
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  comm_close(&world);
  return failed;
}
