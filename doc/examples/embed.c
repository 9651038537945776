/* SPDX-License-Identifier: Apache-2.0
 * A host that lets a model call tools, and asks before what is dangerous:  ./embed TOOL '{"code": "print(6 * 7)"}'
 * Build:  cc embed.c -o embed $(pkg-config --cflags --libs jianmu) */
#include <jianmu.h>
#include <stdio.h>
#include <stdlib.h>

/* 1 yes, 0 no, -1 nobody can be asked. */
static int confirm(void *data, const json_t *question)
{
    char *arguments = jianmu_json_text(json_object_get(question, "arguments"), 0);
    printf("%s %s? ", json_string_value(json_object_get(question, "tool")), arguments ? arguments : "");
    free(arguments);
    int answer = fgetc(data);
    return answer == EOF ? -1 : answer == 'y';
}

int main(int argc, char **argv)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    json_t *args = argc == 3 ? json_loads(argv[2], 0, NULL) : NULL;
    jianmu_runner *runner = jianmu_runner_from_constraints(NULL, NULL, NULL, NULL, NULL, &err);
    jianmu_executor *executor = runner ? jianmu_executor_new(runner, &err) : NULL;
    if (executor)
        jianmu_executor_set_confirm(executor, confirm, stdin);
    if (executor && args && !jianmu_execute_tool(executor, argv[1], args, NULL, &result, &err)) {
        char *value = jianmu_json_text(jianmu_result_value(result), 0); /* this goes back to the model, as the error does */
        printf("%s\n", value ? value : jianmu_result_message(result));
        free(value);
    } else {
        printf("%s: %s\n", jianmu_code_name(jianmu_error_code(err)), err ? jianmu_error_message(err) : "TOOL and JSON, please");
    }
    int status = result && jianmu_result_reason(result) == JIANMU_EXITED ? 0 : 1;
    jianmu_error_free(err);
    jianmu_result_free(result);
    jianmu_executor_free(executor);
    jianmu_runner_free(runner);
    json_decref(args);
    return status;
}
