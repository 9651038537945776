/* SPDX-License-Identifier: Apache-2.0
 * The framing process: one forked child a request. It never loads a tool, so nothing of a tool's can write a frame. */
#include "config.h"
#include "serve.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void write_failure(int out, uint64_t id, const char *code, const char *message)
{
    jm_auto_json json_t *json = json_pack("{s:b, s:{s:s, s:s}}", "ok", 0, "error", "code", code, "message", message);
    jm_auto_free char *text = json ? jm_json_print(json, 0, NULL) : NULL;
    if (text)
        jm_frame_write(out, JM_FRAME_RESULT, id, text, strlen(text));
}

/* Passes on the frames of the child, each checked and given the id of the request. True: its result was among them. */
static bool pass_frames(int from, int out, uint64_t id)
{
    struct jm_frame frame;
    bool result = false;
    while (!result && jm_frame_read(from, &frame, NULL) == 0) {
        if ((frame.type == JM_FRAME_RESULT || frame.type == JM_FRAME_EVENT))
            jm_frame_write(out, frame.type, id, frame.data, frame.len);
        result = frame.type == JM_FRAME_RESULT;
        free(frame.data);
    }
    return result;
}

/* The limit whose signal this is; JIANMU_EXITED: none's. */
static int limit_of(int signal)
{
    return signal == SIGXFSZ ? JIANMU_FSIZE : signal == SIGXCPU ? JIANMU_CPU_TIME : JIANMU_EXITED;
}

static void answer_one(const struct jm_frame *request, int in, int out)
{
    int channel[2], status = 0;
    if (pipe2(channel, O_CLOEXEC)) {
        write_failure(out, request->id, "internal", "the tool host has no descriptor left");
        return;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(in);
        close(out);
        close(channel[0]);
        entry_answer(request, channel[1]);
        fflush(NULL);
        _exit(0);
    }
    close(channel[1]);
    bool answered = child > 0 && pass_frames(channel[0], out, request->id);
    close(channel[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    if (answered)
        return;
    char text[96] = "the tool host could not fork";
    if (child > 0 && WIFSIGNALED(status))
        snprintf(text, sizeof text, "the tool ended its process (signal %d)", WTERMSIG(status));
    else if (child > 0)
        snprintf(text, sizeof text, "the tool ended its process (status %d)", WEXITSTATUS(status));
    jm_auto_json json_t *json = json_pack("{s:b, s:s, s:b}", "ok", 1, "failed", text, "died", 1);
    int limit = child > 0 && WIFSIGNALED(status) ? limit_of(WTERMSIG(status)) : JIANMU_EXITED;
    if (json && limit)
        json_object_set_new(json, "limit", json_integer(limit));
    jm_auto_free char *dump = child > 0 && json ? jm_json_print(json, 0, NULL) : NULL;
    if (dump)
        jm_frame_write(out, JM_FRAME_RESULT, request->id, dump, strlen(dump));
    else
        write_failure(out, request->id, "internal", text);
}

int entry_serve(int in, int out)
{
    struct jm_frame frame;
    jianmu_error *err = NULL;
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int status = jm_frame_read(in, &frame, &err);
        if (status == 1)
            return 0;
        if (status || frame.type != JM_FRAME_REQUEST) {
            fprintf(stderr, "jianmu-tool-entry: %s\n", err ? jianmu_error_message(err) : "this frame is no request");
            if (!status)
                free(frame.data);
            jianmu_error_free(err);
            return 1;
        }
        answer_one(&frame, in, out);
        free(frame.data);
    }
}
