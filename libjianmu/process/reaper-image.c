/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/spawn.h"

const unsigned char jm_reaper_program[] = {
#include "libjianmu/process/reaper-image.inc"
};
const size_t jm_reaper_program_size = sizeof jm_reaper_program;
