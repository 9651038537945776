/* SPDX-License-Identifier: Apache-2.0
 * Jobs through the local backend, end to end. */
#include "config.h"
#include "support.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char parent[256]; /* where work directories are made: must be empty after every test */

static int count_left(void)
{
    int n = 0;
    DIR *dir = opendir(parent);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static void open_jobs(struct world *w, const char *constraints)
{
    char yaml[400];
    snprintf(yaml, sizeof yaml, "execution:\n  local:\n    workdir: %s\n", parent);
    world_open(w, yaml, constraints);
}

static void close_jobs(struct world *w)
{
    world_close(w);
    assert_int_equal(count_left(), 0);
}

static const char *out(jianmu_result *r)
{
    return jianmu_result_text(r, 1, NULL);
}

static void test_python(void **state)
{
    (void)state;
    struct world w;
    open_jobs(&w, NULL);
    jianmu_result *r = run_script(&w, NULL,
                                  "import os, sys\n"
                                  "print(__file__ == os.path.abspath(__file__), os.path.basename(__file__))\n"
                                  "print(os.path.samefile(os.getcwd(), os.path.dirname(__file__)))\n"
                                  "print(sys.flags.ignore_environment, sys.flags.no_user_site, sys.stdin.read() == '')\n"
                                  "sys.stderr.write('oops')\n"
                                  "open('a.txt', 'w').write('x' * 3)\n"
                                  "os.mkdir('d'); open('d/b.bin', 'wb').write(b'\\0\\xff')\n"
                                  "sys.exit(4)\n");
    assert_string_equal(out(r), "True main.py\nTrue\n1 1 True\n");
    assert_string_equal(jianmu_result_text(r, 2, NULL), "oops");
    assert_int_equal(jianmu_result_exit_code(r), 4);
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    assert_int_equal(jianmu_result_artifacts(r), 2);
    jianmu_artifact a;
    char hex[65];
    assert_int_equal(jianmu_result_artifact(r, 0, &a), 0);
    assert_string_equal(a.path, "a.txt");
    assert_int_equal(a.size, 3);
    assert_memory_equal(a.data, "xxx", 3);
    assert_int_equal(jianmu_result_artifact_sha256(r, 0, hex), 0);
    assert_string_equal(hex, "cd2eb0837c9b4c962c22d2ff8b5441b7b45805887f051d39bf133b583baf6860");
    assert_int_equal(jianmu_result_artifact(r, 1, &a), 0);
    assert_string_equal(a.path, "d/b.bin");
    assert_memory_equal(a.data, "\0\xff", 2);
    assert_int_equal(jianmu_result_artifact(r, 2, &a), -1);
    assert_true(jianmu_result_seconds(r, "wall") > 0);
    assert_true(jianmu_result_seconds(r, "run") > 0);
    assert_true(jianmu_result_seconds(r, "user") >= 0);
    assert_true(jianmu_result_peak_memory(r) > 1000000);
    assert_true(jianmu_result_seconds(r, "nosuch") == -1);
    jianmu_result_free(r);
    close_jobs(&w);
}

static void test_done_when(void **state)
{
    (void)state;
    struct world w;
    open_jobs(&w, "{\"timeout_s\": 60}");
    jianmu_result_free(run_script(&w, "sh", ":"));
    int fds = count_fds();
    double before = now_s();
    jianmu_result *r = run_script(&w, NULL,
                                  "import os, subprocess\n"
                                  "print('printed')\n"
                                  "open('one', 'w').write('1'); open('two', 'w').write('22')\n"
                                  "os.symlink('/etc/passwd', 'link'); os.mkfifo('fifo')\n"
                                  "p = subprocess.Popen(['setsid', 'sleep', '300'])\n"
                                  "import time; time.sleep(0.2)\n"
                                  "print(p.pid, p.poll() is None)\n");
    assert_true(now_s() - before < 30);
    int pid = 0;
    char alive[8] = "";
    assert_int_equal(sscanf(out(r), "printed\n%d %7s", &pid, alive), 2);
    assert_string_equal(alive, "True");
    assert_true(process_gone(pid));
    assert_int_equal(jianmu_result_artifacts(r), 2);
    json_t *json = jianmu_result_json(r), *skipped = jianmu_result_skipped(r), *item;
    assert_true(json_equal(skipped, json_object_get(json, "skipped")));
    size_t i, found = 0;
    json_array_foreach (skipped, i, item) {
        const char *path = json_string_value(json_object_get(item, "path"));
        const char *why = json_string_value(json_object_get(item, "why"));
        found += (!strcmp(path, "link") && !strcmp(why, "symlink")) || (!strcmp(path, "fifo") && !strcmp(why, "fifo"));
    }
    assert_int_equal(found, 2);
    assert_int_equal(json_array_size(skipped), 2);
    json_decref(json);
    jianmu_result_free(r);
    assert_int_equal(count_fds(), fds);
    close_jobs(&w);
}

static void test_inputs_arguments_stdin(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    const char *script = "import sys, helper\nprint(helper.x, sys.argv[1:], sys.stdin.read())\n"
                         "open('data/in.txt', 'a').write('more')\n";
    open_jobs(&w, NULL);
    jianmu_job *job = jianmu_job_new(script, strlen(script));
    assert_int_equal(jianmu_job_add_input(job, "./helper.py", "x = 5\n", 6, &err), 0);
    assert_int_equal(jianmu_job_add_input(job, "data//in.txt", "abc", 3, &err), 0);
    assert_int_equal(jianmu_job_add_input(job, "data/same.txt", "s", 1, &err), 0);
    assert_int_equal(jianmu_job_add_arg(job, "--flag", &err), 0);
    assert_int_equal(jianmu_job_add_arg(job, "a b", &err), 0);
    assert_int_equal(jianmu_job_set_stdin(job, "typed", 5, &err), 0);
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), 0);
    assert_string_equal(out(r), "5 ['--flag', 'a b'] typed\n");
    json_t *json = jianmu_result_json(r);
    json_t *modified = json_object_get(json, "modified_inputs");
    assert_int_equal(json_array_size(modified), 1);
    assert_string_equal(json_string_value(json_array_get(modified, 0)), "data/in.txt");
    json_decref(json);
    /* only that: not the input as it was, and no compiled copy of the imported one */
    jianmu_artifact a;
    assert_int_equal(jianmu_result_artifacts(r), 1);
    jianmu_result_artifact(r, 0, &a);
    assert_string_equal(a.path, "data/in.txt");
    assert_int_equal(a.size, 7);
    jianmu_job_free(job);
    jianmu_result_free(r);
    close_jobs(&w);
}

static void refuse_input(const char *path, const char *part)
{
    jianmu_error *err = NULL;
    jianmu_job *job = jianmu_job_new("", 0);
    assert_int_equal(jianmu_job_add_input(job, "taken/x", "", 0, &err), 0);
    assert_int_equal(jianmu_job_add_input(job, path, "", 0, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    if (!strstr(jianmu_error_message(err), part))
        fail_msg("%s: %s", path, jianmu_error_message(err));
    jianmu_error_free(err);
    jianmu_job_free(job);
}

static void test_bad_inputs(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    refuse_input("/etc/x", "/etc/x");
    refuse_input("../x", "../x");
    refuse_input("a/../../x", "a/../../x");
    refuse_input("", "empty");
    refuse_input("./taken//x", "taken/x");
    open_jobs(&w, NULL);
    const char *const own[] = {"main.py", "./main.py"};
    for (size_t i = 0; i < 2; i++) {
        jianmu_job *job = jianmu_job_new("open('ran', 'w')", 16);
        if (!jianmu_job_add_input(job, own[i], "", 0, &err))
            assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), -1);
        assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
        assert_non_null(strstr(jianmu_error_message(err), "main.py"));
        jianmu_error_free(err);
        err = NULL;
        jianmu_job_free(job);
    }
    jianmu_result_free(r);
    close_jobs(&w);
}

static void test_environment(void **state)
{
    (void)state;
    struct world w;
    char yaml[500];
    setenv("JM_TEST_SECRET", "sentinel-secret", 1);
    setenv("JM_TEST_ALLOWED", "yes", 1);
    setenv("JM_PRE_ONE", "1", 1);
    setenv("PYTHONPATH", "/nonexistent-path", 1);
    snprintf(yaml, sizeof yaml,
             "execution:\n  local:\n    workdir: %s\n    env_allowlist: [JM_TEST_ALLOWED]\n    env_allowprefix: [JM_PRE_]\n",
             parent);
    world_open(&w, yaml, "{\"env\": {\"EXTRA\": \"e=1\"}}");
    jianmu_result *r = run_script(&w, NULL,
                                  "import os\n"
                                  "for k in sorted(os.environ): print(k)\n"
                                  "print(os.environ['EXTRA'], os.environ['LANG'], os.environ['JM_TEST_ALLOWED'])\n"
                                  "base = os.path.dirname(os.getcwd())\n"
                                  "print([os.path.dirname(os.environ[k]) == base for k in ('HOME', 'TMPDIR')])\n"
                                  "print(oct(os.stat(base).st_mode & 0o777), os.path.basename(base).startswith('jianmu_local_job_'))\n"
                                  "print(sorted(os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))\n");
    const char *expected = "EXTRA\nHOME\nJM_PRE_ONE\nJM_TEST_ALLOWED\nLANG\nPATH\nTMPDIR\n";
    if (!getenv("TZ") && strncmp(out(r), expected, strlen(expected)))
        fail_msg("%s", out(r));
    assert_null(strstr(out(r), "SECRET"));
    assert_non_null(strstr(out(r), "e=1 C.UTF-8 yes\n[True, True]\n0o700 True\n['0', '1', '2'] 4\n"));
    jianmu_result_free(r);
    unsetenv("PYTHONPATH");
    close_jobs(&w);
}

static void test_ends(void **state)
{
    (void)state;
    struct world w;
    char script[64];
    open_jobs(&w, NULL);
    const int codes[] = {0, 1, 2, 124, 125, 126, 127, 137, 143, 255};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        snprintf(script, sizeof script, "exit %d", codes[i]);
        jianmu_result *r = run_script(&w, "sh", script);
        assert_int_equal(jianmu_result_exit_code(r), codes[i]);
        assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
        assert_int_equal(jianmu_result_signal(r), 0);
        jianmu_result_free(r);
    }
    const int signals[] = {1, 2, 6, 9, 11, 15};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        snprintf(script, sizeof script, "kill -%d $$", signals[i]);
        jianmu_result *r = run_script(&w, "sh", script);
        assert_int_equal(jianmu_result_exit_code(r), 128 + signals[i]);
        assert_int_equal(jianmu_result_reason(r), JIANMU_SIGNALLED);
        assert_int_equal(jianmu_result_signal(r), signals[i]);
        jianmu_result_free(r);
    }
    close_jobs(&w);
}

static void expect_stopped(const char *constraints, const char *script, jianmu_reason reason, const char *text,
                           const char *artifact)
{
    struct world w;
    open_jobs(&w, constraints);
    double before = now_s();
    jianmu_result *r = run_script(&w, NULL, script);
    assert_true(now_s() - before < 30);
    if (jianmu_result_reason(r) != reason)
        fail_msg("%s: %s", jianmu_reason_name(jianmu_result_reason(r)), jianmu_result_text(r, 2, NULL));
    assert_non_null(strstr(out(r), text));
    jianmu_artifact a;
    if (artifact) {
        assert_int_equal(jianmu_result_artifacts(r), 1);
        jianmu_result_artifact(r, 0, &a);
        assert_string_equal(a.path, artifact);
    }
    assert_string_not_equal(jianmu_result_message(r), "");
    jianmu_result_free(r);
    close_jobs(&w);
}

static void test_limits(void **state)
{
    (void)state;
    /* what was printed and written before the end is there, whatever the end was */
    expect_stopped("{\"timeout_s\": 1}", "print('before'); open('f', 'w').write('x')\nimport time; time.sleep(100)\n",
                   JIANMU_TIMEOUT, "before", "f");
    expect_stopped("{\"cpu_time_s\": 0.5}", "print('before'); open('f', 'w').write('x')\nwhile True: pass\n",
                   JIANMU_CPU_TIME, "before", "f");
    expect_stopped("{\"output_limit\": \"64k\"}", "open('f', 'w').write('x')\nwhile True: print('y' * 1000)\n",
                   JIANMU_OUTPUT, "yyy", "f");
    expect_stopped("{\"fsize\": \"1k\"}",
                   "import signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nprint('before')\n"
                   "f = open('f', 'wb'); f.write(b'x' * 5000); f.flush()\n",
                   JIANMU_FSIZE, "before", "f");
}

struct cancelling {
    jianmu_call *call;
    int fd;
};

static void *cancel_when_told(void *arg)
{
    struct cancelling *c = arg;
    char byte;
    if (read(c->fd, &byte, 1) == 1)
        jianmu_call_cancel(c->call);
    return NULL;
}

static void pass_byte(void *data, int stream, const void *bytes, size_t len)
{
    (void)stream;
    (void)bytes;
    if (len && write(*(int *)data, "x", 1) != 1)
        abort();
}

static void test_cancel(void **state)
{
    (void)state;
    struct world w;
    int p[2];
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    const char *script = "import os, time\nopen('f', 'w').write('x'); os.write(1, b'running\\n'); time.sleep(100)\n";
    open_jobs(&w, NULL);
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    jianmu_call *call = jianmu_call_new();
    struct cancelling c = {call, p[0]};
    pthread_t thread;
    jianmu_job *job = jianmu_job_new(script, strlen(script));
    jianmu_job_set_output(job, pass_byte, &p[1]);
    pthread_create(&thread, NULL, cancel_when_told, &c);
    assert_int_equal(jianmu_run_job(w.runner, job, call, &r, &err), 0);
    pthread_join(thread, NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    assert_string_equal(out(r), "running\n");
    assert_int_equal(jianmu_result_artifacts(r), 1);
    jianmu_call_free(call);
    jianmu_job_free(job);
    jianmu_result_free(r);
    close(p[0]);
    close(p[1]);
    close_jobs(&w);
}

static void test_capture_and_bytes(void **state)
{
    (void)state;
    struct world w;
    size_t len;
    open_jobs(&w, "{\"capture\": 1000}");
    jianmu_result *r = run_script(&w, NULL, "import sys\nsys.stdout.write('a' * 600 + 'b' * 5000 + 'c' * 600)\n");
    jianmu_result_raw(r, 1, &len);
    assert_int_equal(len, 1000);
    assert_int_equal(jianmu_result_dropped(r, 1), 5200);
    assert_int_equal(((const char *)jianmu_result_raw(r, 1, NULL))[0], 'a');
    assert_int_equal(((const char *)jianmu_result_raw(r, 1, NULL))[999], 'c');
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    jianmu_result_free(r);
    r = run_script(&w, NULL, "import sys\nsys.stdout.buffer.write(b'\\xff\\x00\\xe5\\xbb')\n");
    const void *raw = jianmu_result_raw(r, 1, &len);
    assert_int_equal(len, 4);
    assert_memory_equal(raw, "\xff\0\xe5\xbb", 4);
    const char *text = jianmu_result_text(r, 1, &len);
    assert_memory_equal(text, "\xef\xbf\xbd\0\xef\xbf\xbd", 7);
    assert_int_equal(len, 7);
    jianmu_result_free(r);
    close_jobs(&w);
}

static void test_missing_interpreter(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    char yaml[500];
    snprintf(yaml, sizeof yaml, "execution:\n  local:\n    workdir: %s\n    python: /nonexistent/python\n", parent);
    world_open(&w, yaml, NULL);
    jianmu_job *job = jianmu_job_new("", 0);
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
    assert_non_null(strstr(jianmu_error_message(err), "/nonexistent/python"));
    jianmu_error_free(err);
    jianmu_job_free(job);
    jianmu_result_free(r);
    close_jobs(&w);
}

static int make_parent(void **state)
{
    (void)state;
    snprintf(parent, sizeof parent, "/tmp/jm_test_job_XXXXXX");
    return mkdtemp(parent) ? 0 : -1;
}

static int remove_parent(void **state)
{
    (void)state;
    return rmdir(parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_python),
        cmocka_unit_test(test_done_when),
        cmocka_unit_test(test_inputs_arguments_stdin),
        cmocka_unit_test(test_bad_inputs),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_capture_and_bytes),
        cmocka_unit_test(test_missing_interpreter),
    };
    return cmocka_run_group_tests(tests, make_parent, remove_parent);
}
