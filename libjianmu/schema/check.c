/* SPDX-License-Identifier: Apache-2.0
 * A value against a compiled schema: within so many steps, so deep, whatever the two are. */
#include "config.h"

#include "base/clock.h"
#include "base/error.h"
#include "schema/node.h"

enum { LOOK_EVERY = 16 }; /* searches */
#define MOST_TIME JM_SECOND

int jm_run_stop(struct jm_run *run, const char *why)
{
    return jm_fail(&run->err, JIANMU_INVALID, "the value cannot be checked: %s", why);
}

int jm_run_spend(struct jm_run *run, long steps)
{
    run->steps -= steps;
    return run->steps < 0 ? jm_run_stop(run, "that takes too many steps") : 0;
}

static int64_t processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * JM_SECOND + t.tv_nsec;
}

/* One search is bounded in time; so are many. */
int jm_run_search(struct jm_run *run, const struct jm_pattern *p, const char *text, size_t len)
{
    if (jm_run_spend(run, 4 + (long)(len / 16)))
        return -1;
    if (++run->patterns % LOOK_EVERY == 0) {
        int64_t now = processor_time();
        run->until = run->until ? run->until : now + MOST_TIME;
        if (now > run->until)
            return jm_run_stop(run, "its patterns take too long");
    }
    return jm_pattern_matches(p, text, len, &run->err);
}

int jm_node_check(struct jm_run *run, const struct jm_node *node, const json_t *value, const struct jm_at *at)
{
    int good = 1;
    if (node->never)
        return jm_complain(run, at, value, "nothing: no value is allowed here");
    if (!node->count)
        return 1;
    if (at->depth > JM_SCHEMA_DEEPEST || run->depth >= JM_CHECK_DEEPEST)
        return jm_run_stop(run, "it is nested too deep");
    if (jm_run_spend(run, (long)node->count))
        return -1;
    unsigned kinds = jm_value_kinds(value);
    run->depth++;
    for (const struct jm_op *op = node->ops, *end = op + node->count; op < end; op++) {
        if (!(op->kinds & kinds))
            continue;
        int rc = op->check(run, op, value, at);
        if (rc > 0)
            continue;
        good = rc;
        if (rc < 0 || op->kind == JM_OP_TYPE || !jm_complaints_wanted(run))
            break; /* of the wrong type it is not looked at further */
    }
    run->depth--;
    return good;
}

int jm_node_good(struct jm_run *run, const struct jm_node *node, const json_t *value, const struct jm_at *at)
{
    json_t *listener = run->complaints;
    run->complaints = NULL;
    int rc = jm_node_check(run, node, value, at);
    run->complaints = listener;
    return rc;
}

int jianmu_schema_check(const jianmu_schema *schema, const json_t *value, json_t **complaints, jianmu_error **err)
{
    struct jm_run run = {.steps = JM_CHECK_STEPS};
    const struct jm_at top = {0};
    if (!value) {
        jm_fail(err, JIANMU_INVALID, "there is no value to check");
        return -1;
    }
    int rc = jm_node_check(&run, schema->root, value, &top);
    if (rc == 0 && complaints) { /* most values are good: only now is it worth while to tell why not */
        run = (struct jm_run){.steps = JM_CHECK_STEPS, .complaints = json_array()};
        rc = run.complaints ? jm_node_check(&run, schema->root, value, &top) : jm_fail_memory(&run.err);
        if (run.no_memory && rc >= 0)
            rc = jm_fail_memory(&run.err);
    }
    if (rc < 0)
        jm_fail_take(err, run.err);
    else if (rc == 0 && complaints)
        *complaints = json_incref(run.complaints);
    json_decref(run.complaints);
    return rc;
}
