/* SPDX-License-Identifier: Apache-2.0
 * THE list of the core's settings. A row without a place in the file stands for the name itself: in constraints, in
 * the plan, and below execution.<mode>. of the backends whose note has it. The rows of docker are here and not in
 * its note, so that a file that sets them can be read where docker is not installed. */
#include "config.h"

#include "settings/settings.h"
#include <string.h>

#define C JM_IN_CONSTRAINTS
#define Y JM_IN_YAML
#define T JM_PER_TOOL
#define L JM_LIMIT
#define N JM_NULLABLE
#define M JM_PER_MODE
#define S JM_CWD_SAFE

#define LONGEST 1e8          /* seconds: three years; nanoseconds of it fit */
#define BIGGEST 0x1p50       /* bytes: a pebibyte */
#define ARGS_MAX 131054.0    /* one string of an environment: 128 KiB less "jianmu_TOOL_ARGS=" and a NUL */

const struct jm_knob jm_knobs[] = {
    {"mode", "execution.tool_runner", JM_STR, C | Y | T | S, 0, 0, "\"local\"", "the backend that runs tools and jobs"},
    {"scope", NULL, JM_STR, C, 0, 0, NULL, "what the constraints apply to: tools, skill, all"},
    {"docker_image", NULL, JM_STR, C | T | M, 0, 0, NULL, "the image of the container"},
    {"network", NULL, JM_STR, C | T | L | M, 0, 0, NULL, "the network that is reachable"},
    {"memory", NULL, JM_SIZE, C | T | L | M | S, 1, BIGGEST, NULL, "memory, bytes"},
    {"cpus", NULL, JM_REAL, C | T | L | M | S, 0.001, 4096, NULL, "processors, may be a fraction"},
    {"timeout_s", "execution.timeout_s", JM_SECONDS, C | Y | T | L | N | S, 1e-6, LONGEST, NULL,
     "wall-clock time of one call, seconds"},
    {"tmpfs_noexec", NULL, JM_BOOL, C | T | M, 0, 0, "true", "nothing on the container's /tmp can be executed"},
    {"pids", NULL, JM_INT, C | T | L | M | S, 1, 4194304, NULL, "processes and threads at once"},
    {"cpu_time_s", "execution.cpu_time_s", JM_SECONDS, C | Y | T | L | N | S, 1e-6, LONGEST, NULL,
     "processor time of all processes of a call, seconds"},
    {"fsize", "execution.fsize", JM_SIZE, C | Y | T | L | N | S, 1, BIGGEST, NULL, "size of one written file, bytes"},
    {"nofile", "execution.nofile", JM_INT, C | Y | T | L | N | S, 8, 1073741824, NULL, "open files of one process"},
    {"disk", NULL, JM_SIZE, C | T | L | M | S, 1, BIGGEST, NULL, "all that a call writes to disk, bytes"},
    {"capture", "execution.capture", JM_SIZE, C | Y | T | S, 0, BIGGEST, "1048576",
     "bytes kept of each output stream; the middle is dropped"},
    {"max_output", "execution.max_output", JM_INT, C | Y | T | N | S, 1, 1e12, NULL,
     "characters of text that a tool hands to a model"},
    {"output_limit", "execution.output_limit", JM_SIZE, C | Y | T | L | N | S, 1, BIGGEST, NULL,
     "bytes of output after which a call is stopped"},
    {"env", NULL, JM_MAP, C, 0, 0, NULL, "more environment variables of what runs"},
    {"workspace", NULL, JM_STR, C, 0, 0, NULL, "a directory the call may read; with \":rw\" also write"},
    {"skill", NULL, JM_STR, C, 0, 0, NULL, "a read-only directory of tools and scripts"},
    {"max_retries", "execution.max_retries", JM_INT, Y | T | S, 0, 1000, "3", "repeats of a call that failed"},
    {"retry_backoff", "execution.retry_backoff", JM_SECONDS, Y | T | S, 0, 10, "\"0.2\"",
     "longest wait before the first repeat, seconds; doubles"},
    {"retry_deadline", "execution.retry_deadline", JM_SECONDS, Y | T | N | S, 1e-6, LONGEST, NULL,
     "seconds from the first attempt within which all repeats must end"},
    {"tool_args_max", "execution.tool_args_max", JM_INT, Y | N | S, 1, ARGS_MAX, "60000",
     "bytes of arguments that go through the environment; more go through a file"},
    {"concurrency", "execution.concurrency", JM_INT, Y | N | S, 1, 1e6, NULL, "calls of one runner at once"},
    {"artifact_count", "execution.artifacts.count", JM_INT, Y | S, 1, 1e9, "20000", "artifacts of one job"},
    {"artifact_bytes", "execution.artifacts.bytes", JM_SIZE, Y | S, 1, BIGGEST, "\"64m\"", "bytes of one artifact"},
    {"artifact_total", "execution.artifacts.total", JM_SIZE, Y | S, 1, BIGGEST, "\"256m\"", "bytes of all artifacts"},
    {"artifact_depth", "execution.artifacts.depth", JM_INT, Y | S, 1, 4096, "64", "directories deep"},
    {"docker_image", "execution.docker.image", JM_STR, Y | M | S, 0, 0, "\"jianmu-tools:latest\"",
     "the image of the container"},
    {"docker_timeout", "execution.docker.timeout", JM_SECONDS, Y | M | S, 1e-6, LONGEST, "\"60\"",
     "wall-clock time of one call in a container, seconds"},
    {"network", "execution.docker.network", JM_STR, Y | L | M | S, 0, 0, "\"none\"", "the container's network"},
    {"reuse_container", "execution.docker.reuse_container", JM_BOOL, Y | M | S, 0, 0, "false",
     "keep the container for further calls"},
    {"env_allowlist", "execution.docker.env_allowlist", JM_LIST, Y | M, 0, 0, "[]",
     "environment variables handed into the container"},
    {"env_allowprefix", "execution.docker.env_allowprefix", JM_LIST, Y | M, 0, 0, "[]",
     "the same, all whose name begins so"},
    {"plugins.path", "plugins.path", JM_LIST, Y, 0, 0, "[]", "directories of plug-ins"},
    {"events.use", "events.use", JM_LIST, Y, 0, 0, "[]", "sinks that are opened though none of their keys is set"},
    {"events.include", "events.include", JM_LIST, Y, 0, 0, "[]", "what else stands in events: arguments, result, error"},
    {"events.redact", "events.redact", JM_LIST, Y, 0, 0, "[]", "patterns of what no event may show"},
    {"events.trace", "events.trace", JM_BOOL, Y | N, 0, 0, NULL, "every call has a span; unset: where a sink or the call asks"},
    {"events.patience", "events.patience", JM_SECONDS, Y, 1e-6, 1e8, "\"2\"",
     "time that a sink with a thread of its own may take for one event, seconds"},
};
const size_t jm_knob_count = sizeof jm_knobs / sizeof jm_knobs[0];

const struct jm_knob *jm_knob_find(const char *name)
{
    for (size_t i = 0; i < jm_knob_count; i++)
        if (!strcmp(jm_knobs[i].name, name))
            return &jm_knobs[i];
    return NULL;
}
