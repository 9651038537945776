/* SPDX-License-Identifier: Apache-2.0
 * Processes that are kept: what they answer, what ends them, and that nothing of them stays. */
#include "config.h"
#include "fixture.h"
#include "process/kept.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <cmocka.h>

static const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};

static struct jm_kept *start(const char *program, const char *script)
{
    const char *const argv[] = {program, script ? "-c" : NULL, script, NULL};
    struct jm_process_spec spec = {.argv = argv, .env = env, .cwd_fd = -1, .stdin_fd = -1, .scratch_fd = -1};
    struct jm_kept *kept = jm_kept_start(reapers, &spec, NULL);
    assert_non_null(kept);
    return kept;
}

/* The answer is over with its last byte. */
struct listener {
    char *text;
    size_t len, want;
    char until;
};

static int listen_to(void *data, const void *bytes, size_t len)
{
    struct listener *l = data;
    l->text = realloc(l->text, l->len + len + 1);
    assert_non_null(l->text);
    memcpy(l->text + l->len, bytes, len);
    l->len += len;
    l->text[l->len] = 0;
    if (l->want)
        return l->len >= l->want;
    return l->until == '!' ? -1 : strchr(l->text, l->until) != NULL;
}

static struct jm_exchange_end ask(struct jm_kept *kept, struct jm_exchange x, const char *question, struct listener *l)
{
    struct iovec parts[] = {{(void *)(uintptr_t)question, strlen(question)}};
    struct jm_exchange_end end;
    jianmu_error *err = NULL;
    x.parts = parts;
    x.part_count = 1;
    x.take = listen_to;
    x.data = l;
    x.capture = x.capture ? x.capture : 1 << 20;
    if (!x.cancel_fd)
        x.cancel_fd = -1;
    *l = (struct listener){.want = l->want, .until = l->until ? l->until : '\n'};
    if (jm_kept_exchange(kept, &x, &end, &err))
        fail_msg("%s", jianmu_error_message(err));
    return end;
}

static void drop(struct listener *l, struct jm_exchange_end *end)
{
    free(l->text);
    free(end->out.data);
}

/* Asks and wants that answer and a process that lives on. */
static void converse(struct jm_kept *kept, const char *question, const char *answer)
{
    struct listener l = {0};
    struct jm_exchange_end end = ask(kept, (struct jm_exchange){.deadline = now_ns() + 60 * SECOND}, question, &l);
    assert_int_equal(end.reason, JIANMU_EXITED);
    assert_true(end.answered && !end.gone && !end.unasked);
    assert_string_equal(l.text, answer);
    drop(&l, &end);
}

static struct seen watch_pid(struct jm_kept *kept)
{
    struct listener l = {0};
    struct seen seen;
    struct jm_exchange_end end = ask(kept, (struct jm_exchange){0}, "echo $$\n", &l);
    assert_true(see((pid_t)atoi(l.text), &seen));
    drop(&l, &end);
    return seen;
}

#define SHELL "while read line; do eval \"$line\"; done"

static void one_process_answers_again_and_again(void **state)
{
    (void)state;
    int fds = count_fds();
    struct jm_kept *kept = start("sh", SHELL);
    struct seen seen = watch_pid(kept);
    converse(kept, "n=1; echo $n\n", "1\n");
    for (int i = 0; i < 100; i++)
        converse(kept, "n=$((n + 1)); echo $n >/dev/null; echo ok\n", "ok\n");
    converse(kept, "echo $n\n", "101\n");
    jm_kept_free(kept);
    assert_true(is_gone(&seen));
    kept = start("cat", NULL); /* on the reaper of the first */
    converse(kept, "x\n", "x\n");
    jm_kept_free(kept);
    jm_kept_free(NULL);
    assert_true(count_fds() <= fds + 1); /* one kept reaper */
}

static void questions_and_answers_may_be_long(void **state)
{
    (void)state;
    size_t size = 4 << 20;
    char *question = malloc(size + 1);
    assert_non_null(question);
    memset(question, 'q', size);
    question[size] = 0;
    struct jm_kept *kept = start("cat", NULL);
    struct listener l = {.want = size};
    struct jm_exchange_end end = ask(kept, (struct jm_exchange){.deadline = now_ns() + 60 * SECOND}, question, &l);
    assert_true(end.answered);
    assert_memory_equal(l.text, question, size);
    drop(&l, &end);
    jm_kept_free(kept);
    free(question);
}

static void standard_error_is_output(void **state)
{
    (void)state;
    struct jm_kept *kept = start("sh", SHELL);
    struct listener l = {0};
    struct jm_exchange_end end = ask(kept, (struct jm_exchange){.capture = 10},
                                     "echo 0123456789abcdefghij >&2; echo done\n", &l);
    assert_string_equal(end.out.data, "01234ghij\n");
    assert_int_equal(end.out.dropped, 11);
    drop(&l, &end);
    end = ask(kept, (struct jm_exchange){0}, "echo done; (sleep 0.1; echo late >&2) &\n", &l);
    drop(&l, &end);
    struct timespec pause = {1, 0};
    nanosleep(&pause, NULL);
    end = ask(kept, (struct jm_exchange){0}, "echo done\n", &l);
    assert_string_equal(end.out.data, "late\n");
    drop(&l, &end);
    jm_kept_free(kept);
}

static void a_deadline_interrupts_or_kills(void **state)
{
    (void)state;
    struct jm_kept *kept = start("sh", "trap 'echo stopped' INT; " SHELL);
    struct listener l = {0};
    converse(kept, "echo ready\n", "ready\n");
    struct jm_exchange x = {.deadline = now_ns() + SECOND / 5, .interrupt_s = 30};
    struct jm_exchange_end end = ask(kept, x, "sleep 600\n", &l);
    assert_int_equal(end.reason, JIANMU_TIMEOUT);
    assert_true(end.answered && !end.gone);
    assert_string_equal(l.text, "stopped\n");
    drop(&l, &end);
    converse(kept, "echo alive\n", "alive\n");
    x.deadline = now_ns() + SECOND / 5;
    x.interrupt_s = 0;
    struct seen seen = watch_pid(kept);
    end = ask(kept, x, "sleep 600\n", &l);
    assert_int_equal(end.reason, JIANMU_TIMEOUT);
    assert_true(end.gone && !end.answered && end.signal == SIGKILL && end.exit_code == 137);
    assert_true(is_gone(&seen));
    drop(&l, &end);
    end = ask(kept, x, "echo alive\n", &l);
    assert_true(end.gone && end.unasked && !end.answered);
    drop(&l, &end);
    jm_kept_free(kept);
}

static void *cancel_soon(void *fd)
{
    struct timespec pause = {0, 200000000};
    nanosleep(&pause, NULL);
    eventfd_write(*(int *)fd, 1);
    return NULL;
}

static void a_cancel_from_another_thread(void **state)
{
    (void)state;
    pthread_t thread;
    struct jm_kept *kept = start("sh", "trap '' INT; " SHELL);
    struct listener l = {0};
    converse(kept, "echo ready\n", "ready\n");
    int fd = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &fd), 0);
    struct jm_exchange_end end = ask(kept, (struct jm_exchange){.cancel_fd = fd, .interrupt_s = 0.2}, "sleep 600\n", &l);
    assert_int_equal(end.reason, JIANMU_CANCELLED);
    assert_true(end.gone);
    drop(&l, &end);
    pthread_join(thread, NULL);
    close(fd);
    jm_kept_free(kept);
}

static void limits_are_each_exchanges(void **state)
{
    (void)state;
    struct listener l = {0};
    struct jm_kept *kept = start("sh", SHELL);
    struct jm_exchange x = {.cpu_time_s = 0.8};
    for (int i = 0; i < 3; i++) { /* together more than the limit */
        struct jm_exchange_end end = ask(kept, x, "timeout -s KILL 0.5 sh -c 'while :; do :; done' 2>/dev/null; echo ok\n", &l);
        assert_true(end.answered && !end.gone);
        drop(&l, &end);
    }
    struct jm_exchange_end end = ask(kept, x, "while :; do :; done\n", &l);
    assert_int_equal(end.reason, JIANMU_CPU_TIME);
    drop(&l, &end);
    jm_kept_free(kept);
    kept = start("sh", SHELL);
    x = (struct jm_exchange){.output_limit = 100000, .output_before = 50000};
    end = ask(kept, x, "while :; do echo x >&2; done\n", &l);
    assert_int_equal(end.reason, JIANMU_OUTPUT);
    assert_true(end.gone && end.out.len > 50000 && end.out.len < 1000000);
    drop(&l, &end);
    jm_kept_free(kept);
}

static void it_ends_by_itself_when_nobody_asks(void **state)
{
    (void)state;
    char path[] = "/tmp/jianmu-kept-test.XXXXXX", name[64];
    assert_non_null(mkdtemp(path));
    snprintf(name, sizeof name, "%s/file", path);
    close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    const char *const argv[] = {"sh", "-c", SHELL, NULL};
    int scratch = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct jm_process_spec spec = {.argv = argv, .env = env, .cwd_fd = -1, .stdin_fd = -1, .scratch_fd = scratch};
    struct jm_kept *kept = jm_kept_start(reapers, &spec, NULL);
    assert_non_null(kept);
    struct seen seen = watch_pid(kept);
    struct listener l = {0};
    struct jm_exchange x = {.idle_s = 1.3, .deadline = now_ns() + 60 * SECOND};
    struct jm_exchange_end end = ask(kept, x, "echo ok\n", &l);
    assert_true(end.answered && !end.gone);
    drop(&l, &end);
    end = ask(kept, x, "sleep 2; echo ok\n", &l); /* its own time is no idle time */
    assert_true(end.answered && !end.gone);
    drop(&l, &end);
    assert_true(goes_within(&seen, 20 * SECOND));
    for (int i = 0; i < 1000 && access(path, F_OK) == 0; i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    assert_int_not_equal(access(path, F_OK), 0);
    end = ask(kept, x, "echo ok\n", &l);
    assert_true(end.gone && end.unasked && end.expired && !end.answered);
    drop(&l, &end);
    jm_kept_free(kept);
    close(scratch);
}

static void a_short_idle_time_is_time(void **state)
{
    (void)state;
    struct jm_kept *kept = start("sh", SHELL);
    struct listener l = {0};
    int64_t last = now_ns();
    for (int i = 0; i < 20; i++) {
        struct jm_exchange_end end = ask(kept, (struct jm_exchange){.idle_s = 1}, "echo ok\n", &l);
        bool late = now_ns() - last > SECOND / 2; /* a busy machine */
        drop(&l, &end);
        if (late || end.gone) {
            assert_true(late);
            break;
        }
        last = now_ns();
    }
    jm_kept_free(kept);
}

static void who_cannot_answer_is_killed(void **state)
{
    (void)state;
    struct listener l = {0}, deaf = {.until = '!'};
    struct jm_kept *kept = start("cat", NULL);
    struct jm_exchange_end end = ask(kept, (struct jm_exchange){0}, "this is no answer\n", &deaf);
    assert_true(end.gone && !end.answered);
    drop(&deaf, &end);
    jm_kept_free(kept);
    kept = start("sh", "read line; echo last words >&2; exit 7");
    end = ask(kept, (struct jm_exchange){0}, "x\n", &l);
    assert_true(end.gone && end.exit_code == 7 && end.reason == JIANMU_EXITED);
    assert_string_equal(end.out.data, "last words\n");
    drop(&l, &end);
    jm_kept_free(kept);
    kept = start("sh", "read line; kill -SEGV $$");
    end = ask(kept, (struct jm_exchange){0}, "x\n", &l);
    assert_true(end.gone && end.signal == SIGSEGV && end.reason == JIANMU_SIGNALLED);
    drop(&l, &end);
    jm_kept_free(kept);
}

static void what_cannot_be_executed_is_an_error(void **state)
{
    (void)state;
    jianmu_error *err = NULL;
    const char *const missing[] = {"/nonexistent/program", NULL};
    struct jm_process_spec spec = {.argv = missing, .env = env, .cwd_fd = -1, .stdin_fd = -1, .scratch_fd = -1};
    struct jm_kept *kept = jm_kept_start(reapers, &spec, &err);
    struct jm_exchange_end end;
    struct listener l = {.until = '\n'};
    struct jm_exchange x = {.cancel_fd = -1, .take = listen_to, .data = &l};
    if (kept)
        assert_int_equal(jm_kept_exchange(kept, &x, &end, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
    jianmu_error_free(err);
    jm_kept_free(kept);
    err = NULL;
    const char *const bad[] = {put_file("bad", "#!/nonexistent/interpreter\n", 0755), NULL};
    spec.argv = bad;
    kept = jm_kept_start(reapers, &spec, &err);
    assert_non_null(kept);
    assert_int_equal(jm_kept_exchange(kept, &x, &end, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
    jianmu_error_free(err);
    jm_kept_free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_answers_again_and_again), cmocka_unit_test(questions_and_answers_may_be_long),
        cmocka_unit_test(standard_error_is_output), cmocka_unit_test(a_deadline_interrupts_or_kills),
        cmocka_unit_test(a_cancel_from_another_thread), cmocka_unit_test(limits_are_each_exchanges),
        cmocka_unit_test(it_ends_by_itself_when_nobody_asks), cmocka_unit_test(a_short_idle_time_is_time),
        cmocka_unit_test(who_cannot_answer_is_killed),
        cmocka_unit_test(what_cannot_be_executed_is_an_error),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
