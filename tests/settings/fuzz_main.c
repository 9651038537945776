/* SPDX-License-Identifier: Apache-2.0
 * Where there is no fuzzing engine: the inputs of the corpus, and each of them cut off at every byte. */
#include "config.h"

#include "base/cleanup.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#ifndef CORPUS
#define CORPUS "tests/settings/corpus"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *text, size_t len)
{
    for (size_t size = len > 3000 ? len : 0; size <= len; size++) {
        jm_auto_free uint8_t *exact = malloc(size + !size); /* so that a byte too far is seen */
        if (!exact)
            abort();
        memcpy(exact, text, size);
        LLVMFuzzerTestOneInput(exact, size);
    }
}

int main(int argc, char **argv)
{
    static char text[1 << 16];
    char path[4096];
    int count = 0;
    const char *base = strrchr(argv[0], '_');
    snprintf(path, sizeof path, "%s/" CORPUS "/%s", argc > 1 ? argv[1] : getenv("JIANMU_SOURCE"),
             base ? base + 1 : "");
    DIR *dir = opendir(path);
    if (!dir) {
        printf("Bail out! no corpus %s\n", path);
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        jm_auto_fd int fd = entry->d_name[0] == '.' ? -1 : openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
        ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text);
        if (len < 0)
            continue;
        replay(text, (size_t)len);
        printf("ok %d - %s\n", ++count, entry->d_name);
        fflush(stdout);
    }
    closedir(dir);
    if (count < 10)
        printf("not ok %d - the corpus is not whole\n", ++count);
    printf("1..%d\n", count);
    return 0;
}
