/* SPDX-License-Identifier: Apache-2.0
 * The smallest tool. Build:  cc -shared -fPIC $(pkg-config --cflags jianmu) hello.c -o hello.so $(pkg-config --libs jansson)
 * Use:  mkdir -p tools && mv hello.so tools/ && jianmu --plugin-dir "$PWD" run hello --args '{"name": "world"}' */
#include <jianmu-plugin.h>

static json_t *run(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    const char *name = json_string_value(json_object_get(args, "name"));
    if (!name)
        return ctx->services->tool_failed(ctx, "name: a string is needed"), NULL;
    return json_sprintf("Hello, %s!", name);
}

JIANMU_TOOL(hello, run, JIANMU_DANGER_READ, JIANMU_READ_ONLY | JIANMU_COOPERATES,
    "Greets somebody by name. It reads and changes nothing.",
    "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}}, \"required\": [\"name\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(hello))
