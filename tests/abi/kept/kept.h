/* SPDX-License-Identifier: Apache-2.0
 * The header that the kept plug-ins are built from: of the oldest ABI that still loads. */
#include "jianmu-plugin-0.h"
