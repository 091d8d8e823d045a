/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The task table, and where the frames of task z lie in the bound ring: by place, and in quads from
 * the window's start.
 */
layout(std140, binding = GPUME_TASKS_BINDING) uniform Tasks {
    gpume_task_row tasks[GPUME_TASKS_MAX];
    uvec4 sum_frames[GPUME_TASKS_MAX / 2];
};

uint target_place(uint z) { return tasks[z].target; }
uint reference_place(uint z) { return tasks[z].reference; }

uint target_of(gpume_frames_push frames, uint z)
{
    return frames.target_base + target_place(z) * frames.frame_quads;
}

uint reference_of(gpume_frames_push frames, uint z)
{
    return frames.reference_base + reference_place(z) * frames.frame_quads;
}
