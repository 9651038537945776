/* SPDX-License-Identifier: Apache-2.0
 * Sinks: plug-ins that take events as lines. */
#ifndef JM_SINK_H
#define JM_SINK_H

#include "event/bus.h"

/* All sinks that the config names, each once; *own: a new bus where `bus` is NULL and one is needed. */
int jm_sinks_open(jianmu_bus *bus, const jianmu_config *config, jianmu_bus **own, jianmu_error **err);

#endif
