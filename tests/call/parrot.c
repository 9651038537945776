/* SPDX-License-Identifier: Apache-2.0
 * A program to be kept: answers framed questions, and remembers how many there were. */
#include "config.h"
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct header {
    char magic[4];
    uint32_t type;
    uint64_t id, len;
};

static void put(uint32_t type, uint64_t id, const char *text)
{
    struct header h = {{'J', 'M', 'F', '0'}, htole32(type), htole64(id), htole64(strlen(text))};
    fwrite(&h, sizeof h, 1, stdout);
    fputs(text, stdout);
    fflush(stdout);
}

static const char *answer(const char *question, uint64_t id)
{
    static char text[64];
    static int count;
    count++;
    if (!strcmp(question, "pid"))
        snprintf(text, sizeof text, "%d", (int)getpid());
    else if (!strncmp(question, "env ", 4))
        snprintf(text, sizeof text, "%s", getenv(question + 4) ? getenv(question + 4) : "unset");
    else
        snprintf(text, sizeof text, "%d", count);
    if (!strncmp(question, "say ", 4))
        fputs(question + 4, stderr);
    if (!strncmp(question, "exit ", 5))
        exit(atoi(question + 5));
    if (!strcmp(question, "other")) {
        put(2, id + 1, "an answer to another question");
        put(9, id, "a frame of no type");
    }
    if (!strcmp(question, "event")) {
        put(3, id, "{\"name\": \"parrot.sang\", \"payload\": {\"n\": 1}}");
        put(3, id + 1, "{\"name\": \"parrot.of_another\", \"payload\": {}}");
        put(3, id, "{\"name\": \"execution.completed\", \"payload\": {}}");
    }
    if (!strcmp(question, "flood")) {
        put(3, id, "{\"name\": \"execution.log\", \"payload\": {\"text\": \"said\", \"code\": \"timeout\"}}");
        put(3, id, "{\"name\": \"execution.progress\", \"payload\": {\"text\": \"half\", \"fraction\": 7, \"reason\": 1}}");
        put(3, id, "{\"name\": \"execution.log\", \"payload\": {\"text\": {\"not\": \"text\"}}}");
        for (int i = 0; i < 1500; i++)
            put(3, id, "{\"name\": \"parrot.sang\", \"payload\": {}}");
    }
    return text;
}

int main(void)
{
    struct header h;
    while (fread(&h, sizeof h, 1, stdin) == 1) {
        uint64_t len = le64toh(h.len);
        char *question = calloc(1, len + 1);
        if (memcmp(h.magic, "JMF0", 4) || le32toh(h.type) != 1 || !question || fread(question, 1, len, stdin) != len)
            return 70;
        put(2, le64toh(h.id), answer(question, le64toh(h.id)));
        free(question);
    }
    return 0;
}
