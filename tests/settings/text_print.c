/* SPDX-License-Identifier: Apache-2.0
 * For python_float.py: reads the 64 bits of a double as hexadecimal digits a line, prints it as we do.
 * With an argument, under that locale. */
#include "config.h"

#include "base/json.h"
#include "base/text.h"
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && !setlocale(LC_ALL, argv[1])) {
        fprintf(stderr, "no locale %s\n", argv[1]);
        return 3;
    }
    if (argc > 1) {
        static const char numbers[] = "[0.25,1e-05,1.5]";
        json_error_t why;
        json_t *value = jm_json_parse(numbers, strlen(numbers), 0, &why);
        char *again = value ? jm_json_print(value, 0, NULL) : NULL;
        printf("%s %s\n", localeconv()->decimal_point, again ? again : why.text);
        free(again);
        json_decref(value);
    }
    uint64_t bits;
    while (scanf("%" SCNx64, &bits) == 1) {
        double value, back = 0;
        char text[32];
        memcpy(&value, &bits, sizeof value);
        jm_print_seconds(value, text);
        const char *digits = text + (text[0] == '-');
        size_t used = jm_parse_real(digits, strlen(digits), &back);
        printf("%s %d\n", text, used == strlen(digits) && (text[0] == '-' ? -back : back) == value);
    }
    return 0;
}
