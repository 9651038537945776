/* SPDX-License-Identifier: Apache-2.0
 * What a shared object exports and lacks, read from its dynamic symbol table without loading it. */
#ifndef JM_SYMBOLS_H
#define JM_SYMBOLS_H

#include "plugin/elf.h"

#define JM_ENTRY "jianmu_plugin_entry"

/* Refuses a file that does not export JM_ENTRY ("no_entry"), or that needs a symbol of ours
 * ("undefined_symbol"). What else it lacks comes up when it is loaded. */
int jm_symbols_check(struct jm_elf *elf, struct jm_refusal *r);

#endif
