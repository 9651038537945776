/* SPDX-License-Identifier: Apache-2.0
 * What host and reaper say to each other over one SOCK_SEQPACKET socket. One request, one answer; in between the
 * host may say KILL. To a process that it keeps between calls it may say INTERRUPT, which has an answer of its own,
 * and LEASE, which has none. End of file without BYE means the host died. */
#ifndef JM_PROTOCOL_H
#define JM_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#define JM_REAPER_PROTOCOL 2u
#define JM_REAPER_FDS 6           /* most descriptors with one request */
#define JM_REAPER_INLINE 65536    /* bytes of strings within a request; more travel in a memfd */
#define JM_REAPER_PATIENCE_NS 2000000000ll /* without one death, then the rest are survivors */

enum jm_reaper_word {
    JM_REAPER_RUN = 1,
    JM_REAPER_KILL = 2,
    JM_REAPER_BYE = 3,
    JM_REAPER_INTERRUPT = 4,      /* SIGINT to the process group of the main process, as from a terminal */
    JM_REAPER_LEASE = 5
};

/* Which descriptors come along, in this order behind stdout and stderr; and how to run. */
enum jm_reaper_flag {
    JM_REAPER_STDIN = 1,
    JM_REAPER_CWD = 2,
    JM_REAPER_SCRATCH = 4,
    JM_REAPER_STRINGS = 8,
    JM_REAPER_UNSCOPED = 16,      /* no signal scope around the job, as on kernels without Landlock's */
    JM_REAPER_SCAN = 32           /* find children in all of /proc, as on kernels without CONFIG_PROC_CHILDREN */
};

/* Strings follow, each with its NUL: the program's path, argv, environment. */
struct jm_reaper_request {
    uint32_t word, protocol, flags, argc, envc, bytes;
    uint64_t cpu_ns, fsize, nofile; /* 0: no limit */
};

/* What holds from now on. */
struct jm_reaper_lease {
    uint32_t word, reserved;
    uint64_t cpu_ns;                /* what the tree may use from now on; 0: as before */
    uint64_t idle_ns;               /* without another word for so long it is killed and its scratch removed; 0: never */
};

/* Where it could not go on; `value` is the errno. */
enum jm_reaper_step {
    JM_STEP_NONE,
    JM_STEP_REAPER_EXEC,          /* sent by the child that should have become the reaper */
    JM_STEP_SETUP,                /* the reaper's own start */
    JM_STEP_REQUEST,
    JM_STEP_FORK,
    JM_STEP_DESCRIPTORS,
    JM_STEP_LIMITS,
    JM_STEP_CWD,
    JM_STEP_SCOPE,
    JM_STEP_EXEC,
    JM_STEP_INTERRUPTED           /* no failure, and not the end: the signal was sent */
};

struct jm_reaper_answer {
    uint32_t protocol;
    uint32_t step;                /* not JM_STEP_NONE: it did not run */
    int32_t value;                /* errno, or the wait status of the main process */
    uint8_t killed;               /* the main process lived when the tree was killed: on request, */
    uint8_t cpu;                  /* or since the tree had used up its CPU time */
    uint8_t survivors;            /* some of the tree would not die; this reaper is of no further use */
    uint8_t expired;              /* its lease was over */
    int64_t exec_ns, end_ns;      /* CLOCK_MONOTONIC: exec succeeded, tree empty */
    uint64_t user_us, system_us;  /* of all that was reaped */
    uint64_t peak_kb;             /* of the largest process */
};

#endif
