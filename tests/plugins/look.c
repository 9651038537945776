/* SPDX-License-Identifier: Apache-2.0
 * look [--load] [--run] DIR...         what is in these plug-in directories, one item a line, columns by tabs
 * look --json DIR...
 * look --find tool|backend NAME DIR... one line, or the error: "code: sentence"
 * look --acl FILE                      gives somebody else write access by an access list
 * look --trusted DIR                   status 0 if a plug-in could stand in DIR
 * look --socket FILE                   makes a socket */
#include "config.h"
#include "plugin/registry.h"
#include "plugin/trust.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

static const char *const origins[] = {"--plugin-dir", "JIANMU_PLUGIN_PATH", "plugins.path", "user", "installed"};

static int complain(jianmu_error *err)
{
    printf("%s: %s\n", jianmu_code_name(jianmu_error_code(err)), jianmu_error_message(err));
    jianmu_error_free(err);
    return 1;
}

static void show(const struct jm_item *item)
{
    static const char *const states[] = {"usable", "shadowed", "refused"};
    static const char *const kinds[] = {"?", "tool", "backend", "guard", "sink"};
    const char *file = strrchr(item->path, '/') + 1;
    printf("%s\t%s\t%s\t%s\t%s\t%s\n", file, kinds[item->kind],
           item->name ? item->name : "-", states[item->state], item->code ? item->code : "-",
           item->sentence ? item->sentence : "-");
}

static void run(struct jm_item *item)
{
    if (item->loaded && item->kind == JIANMU_KIND_TOOL) {
        json_t *value = item->plugin.tool.run(NULL, NULL, NULL);
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        printf("%s = %s\n", item->name, text);
        free(text);
        json_decref(value);
    }
}

static int set_acl(const char *file)
{
    /* version 2; user:rw, user 4242:rw, group:r, mask:rw, other:r */
    static const struct { uint32_t version; struct { uint16_t tag, perm; uint32_t id; } list[5]; } acl = {2,
        {{1, 6, ~0u}, {2, 6, 4242}, {4, 4, ~0u}, {16, 6, ~0u}, {32, 4, ~0u}}};
    if (!setxattr(file, "system.posix_acl_access", &acl, sizeof acl, 0))
        return 0;
    perror(file);
    return 1;
}

static int make_socket(const char *file)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || strlen(file) >= sizeof address.sun_path)
        return 1;
    strcpy(address.sun_path, file);
    return bind(fd, (struct sockaddr *)&address, sizeof address) != 0;
}

static int is_trusted(const char *dir)
{
    jm_auto_place struct jm_place place = JM_PLACE_INIT;
    struct jm_refusal r = {0};
    int rc = jm_trust_dir(dir, &place, &r);
    if (rc)
        printf("%s\n", r.sentence ? r.sentence : "it does not exist");
    jm_refusal_free(&r);
    return rc != 0;
}

static void dump_json(jm_registry *registry)
{
    json_t *list = jm_registry_json(registry);
    json_dumpf(list, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(list);
}

static int look(const char *how, const char *kind, const char *name, char **dirs, size_t count)
{
    jianmu_error *err = NULL;
    struct jm_search_dir *list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct jm_search_dir){dirs[i], origins[i % 5], 0};
    jm_registry *registry = jm_registry_scan(list, count, &err);
    free(list);
    if (!registry)
        return complain(err);
    int status = 0;
    if (kind) {
        struct jm_item *item = jm_registry_find(registry, strcmp(kind, "tool") ? JIANMU_KIND_BACKEND : JIANMU_KIND_TOOL,
                                                name, &err);
        if (item)
            show(item);
        else
            status = complain(err);
    } else if (how && !strcmp(how, "--json")) {
        dump_json(registry);
    } else {
        for (size_t i = 0; i < jm_registry_count(registry); i++) {
            struct jm_item *item = jm_registry_item(registry, i);
            if (how && item->state == JM_USABLE && jm_item_load(registry, item, &err)) {
                jianmu_error_free(err);
                err = NULL;
            }
            show(item);
            if (how && !strcmp(how, "--run"))
                run(item);
        }
    }
    jm_registry_free(registry);
    return status;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 && argv[1][0] == '-' ? argv[1] : NULL;
    if (how && !strcmp(how, "--acl") && argc == 3)
        return set_acl(argv[2]);
    if (how && !strcmp(how, "--socket") && argc == 3)
        return make_socket(argv[2]);
    if (how && !strcmp(how, "--trusted") && argc == 3)
        return is_trusted(argv[2]);
    if (how && !strcmp(how, "--find") && argc > 3)
        return look(how, argv[2], argv[3], argv + 4, (size_t)argc - 4);
    int first = how ? 2 : 1;
    return look(how, NULL, NULL, argv + first, (size_t)(argc - first));
}
