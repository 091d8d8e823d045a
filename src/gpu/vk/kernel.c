/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/kernel.h"

#include "base/status.h"
#include "common/shared.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int create_layouts(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    VkDescriptorSetLayoutBinding bindings[GPUME_KERNEL_BINDINGS_MAX];
    for (uint32_t i = 0; i < kernel->buffer_count; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    bindings[kernel->buffer_count] =
        (VkDescriptorSetLayoutBinding){.binding = GPUME_KERNEL_UNIFORM_BINDING,
            .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = kernel->buffer_count + kernel->uniform,
        .pBindings = bindings,
    };
    int status;
    GPUME_VK_TRY(
        gpu->log, vkCreateDescriptorSetLayout(gpu->device, &set, NULL, &kernel->set_layout));
    VkPushConstantRange push = {
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = kernel->push_bytes};
    VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &kernel->set_layout,
        .pushConstantRangeCount = kernel->push_bytes > 0,
        .pPushConstantRanges = &push,
    };
    GPUME_VK_TRY(gpu->log, vkCreatePipelineLayout(gpu->device, &layout, NULL, &kernel->layout));
fail:
    return status;
}

/* What compiling needs, on its own, as the caller goes on. */
struct gpume_kernel_build {
    struct gpume_gpu *gpu;
    VkShaderModule module;
    VkPipelineLayout layout;
    const char *entry;
    uint32_t constants[GPUME_KERNEL_CONSTANTS_MAX];
    uint32_t constant_count, subgroup;
    bool threaded;
    pthread_t thread;
    VkPipeline pipeline;
    VkResult result;
};

static void *compile(void *opaque)
{
    struct gpume_kernel_build *build = opaque;
    VkSpecializationMapEntry entries[GPUME_KERNEL_CONSTANTS_MAX];
    for (uint32_t i = 0; i < build->constant_count; i++) {
        entries[i] = (VkSpecializationMapEntry){.constantID = i, .offset = i * 4, .size = 4};
    }
    VkSpecializationInfo constants = {
        .mapEntryCount = build->constant_count,
        .pMapEntries = entries,
        .dataSize = build->constant_count * sizeof(*build->constants),
        .pData = build->constants,
    };
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = build->subgroup,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .pNext = build->subgroup ? &subgroup : NULL,
            .flags =
                build->subgroup ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0u,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = build->module,
            .pName = build->entry,
            .pSpecializationInfo = &constants},
        .layout = build->layout,
    };
    build->result = vkCreateComputePipelines(
        build->gpu->device, build->gpu->pipelines, 1, &info, NULL, &build->pipeline);
    return NULL;
}

/* Without a thread to be had it is done at once. */
static int start_build(
    struct gpume_gpu *gpu, const struct gpume_kernel_info *info, struct gpume_kernel *kernel)
{
    struct gpume_kernel_build *build = calloc(1, sizeof(*build));
    if (!build) {
        return gpume_log_nomem(gpu->log, "a kernel");
    }
    kernel->build = build;
    build->gpu = gpu;
    build->layout = kernel->layout;
    build->subgroup = info->subgroup;
    build->entry = info->entry ? info->entry : "main";
    build->constant_count = info->constant_count;
    if (info->constant_count > 0) {
        memcpy(build->constants, info->constants, info->constant_count * sizeof(*info->constants));
    }
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = info->bytes,
        .pCode = info->words,
    };
    int status;
    GPUME_VK_TRY(gpu->log, vkCreateShaderModule(gpu->device, &module, NULL, &build->module));
    build->threaded = pthread_create(&build->thread, NULL, compile, build) == 0;
    if (!build->threaded) {
        compile(build);
    }
fail:
    return status;
}

int gpume_kernel_create(
    struct gpume_gpu *gpu, const struct gpume_kernel_info *info, struct gpume_kernel *out)
{
    struct gpume_kernel kernel = {
        .buffer_count = info->buffer_count,
        .push_bytes = info->push_bytes,
        .uniform = info->uniform,
    };
    int status;
    GPUME_TRY(create_layouts(gpu, &kernel));
    GPUME_TRY(start_build(gpu, info, &kernel));
    *out = kernel;
fail:
    if (status != GPUME_OK) {
        gpume_kernel_destroy(gpu, &kernel);
    }
    return status;
}

int gpume_kernel_wait(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    struct gpume_kernel_build *build = kernel->build;
    if (!build) {
        return GPUME_OK;
    }
    kernel->build = NULL;
    if (build->threaded) {
        pthread_join(build->thread, NULL);
    }
    kernel->pipeline = build->pipeline;
    int status = gpume_vk_check(gpu->log, build->result, "vkCreateComputePipelines");
    vkDestroyShaderModule(gpu->device, build->module, NULL);
    free(build);
    return status;
}

void gpume_kernel_destroy(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    (void)gpume_kernel_wait(gpu, kernel);
    vkDestroyPipeline(gpu->device, kernel->pipeline, NULL);
    vkDestroyPipelineLayout(gpu->device, kernel->layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, kernel->set_layout, NULL);
    *kernel = (struct gpume_kernel){0};
}
