/* SPDX-License-Identifier: Apache-2.0
 * jianmu gc: removes what dead processes of ours left. */
#include "config.h"
#include "cli.h"
#include <stdio.h>

int command_gc(struct cli *cli)
{
    jianmu_config *config = NULL;
    jianmu_error *err = NULL;
    json_t *removed = NULL, *path;
    size_t i;
    if (cli->word_count)
        return cli_usage(cli, "gc takes no argument");
    int status = session_config(cli, &config);
    if (status)
        return status;
    if (jianmu_gc(config, &removed, &err)) {
        status = report_error(cli, err, EXIT_COULD_NOT);
    } else if (cli->json) {
        json_t *object = json_pack("{s:O}", "removed", removed);
        status = put_json(object);
        json_decref(object);
    } else {
        json_array_foreach(removed, i, path) {
            put_clean(json_string_value(path));
            out("\n");
        }
    }
    json_decref(removed);
    jianmu_config_free(config);
    return status;
}
