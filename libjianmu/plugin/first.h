/* SPDX-License-Identifier: Apache-2.0
 * The sizes that plug-in structs had in the first release. Once released these numbers never change: to compare
 * with today's size instead would refuse every older plug-in. Until then they are the least that can work. */
#ifndef JM_FIRST_H
#define JM_FIRST_H

#define JM_FIRST_HEAD 24u    /* struct jianmu_head */
#define JM_FIRST_PLUGIN 24u  /* struct jianmu_plugin */
#define JM_FIRST_TOOL 32u    /* struct jianmu_tool_plugin up to run */
#define JM_FIRST_BACKEND 48u /* struct jianmu_backend_plugin up to run_tool */
#define JM_FIRST_GUARD 32u   /* struct jianmu_guard_plugin up to decide */
#define JM_FIRST_SINK 32u    /* struct jianmu_sink_plugin up to event */

#endif
