/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/kernel.h"

#include "base/status.h"
#include "shared.h"

static int create_layouts(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    VkDescriptorSetLayoutBinding bindings[GPUME_KERNEL_BUFFERS_MAX];
    for (uint32_t i = 0; i < kernel->buffer_count; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = kernel->buffer_count,
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
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    GPUME_VK_TRY(gpu->log, vkCreatePipelineLayout(gpu->device, &layout, NULL, &kernel->layout));
fail:
    return status;
}

static int create_pipeline(struct gpume_gpu *gpu, const struct gpume_kernel_info *info,
    VkShaderModule module, struct gpume_kernel *kernel)
{
    VkSpecializationMapEntry entries[GPUME_SPEC_COUNT];
    for (uint32_t i = 0; i < GPUME_SPEC_COUNT; i++) {
        entries[i] = (VkSpecializationMapEntry){
            .constantID = i, .offset = i * 4, .size = 4}; /* ids count from 0 without gaps */
    }
    VkSpecializationInfo constants = {
        .mapEntryCount = GPUME_SPEC_COUNT,
        .pMapEntries = entries,
        .dataSize = GPUME_SPEC_COUNT * sizeof(uint32_t),
        .pData = info->constants,
    };
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT,
            .module = module,
            .pName = "main",
            .pSpecializationInfo = info->constants ? &constants : NULL},
        .layout = kernel->layout,
    };
    int status;
    GPUME_VK_TRY(gpu->log, vkCreateComputePipelines(
                               gpu->device, gpu->pipelines, 1, &pipeline, NULL, &kernel->pipeline));
fail:
    return status;
}

int gpume_kernel_create(
    struct gpume_gpu *gpu, const struct gpume_kernel_info *info, struct gpume_kernel *out)
{
    struct gpume_kernel kernel = {
        .buffer_count = info->buffer_count, .push_bytes = info->push_bytes};
    VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = info->bytes,
        .pCode = info->words,
    };
    VkShaderModule module = VK_NULL_HANDLE;
    int status;
    GPUME_VK_TRY(gpu->log, vkCreateShaderModule(gpu->device, &module_info, NULL, &module));
    GPUME_TRY(create_layouts(gpu, &kernel));
    GPUME_TRY(create_pipeline(gpu, info, module, &kernel));
    *out = kernel;
fail:
    if (status != GPUME_OK) {
        gpume_kernel_destroy(gpu, &kernel);
    }
    vkDestroyShaderModule(gpu->device, module, NULL);
    return status;
}

void gpume_kernel_destroy(struct gpume_gpu *gpu, struct gpume_kernel *kernel)
{
    vkDestroyPipeline(gpu->device, kernel->pipeline, NULL);
    vkDestroyPipelineLayout(gpu->device, kernel->layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, kernel->set_layout, NULL);
    *kernel = (struct gpume_kernel){0};
}
