/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of videos, whose files FFmpeg opens one after the other, without a word to us. */
#ifndef GPUME_MEDIA_LISTS_H
#define GPUME_MEDIA_LISTS_H

/* Adds the files that the list names to the inputs (files/inputs.h). The name is as it was opened,
 * format as FFmpeg calls what it found. An input that is no list adds nothing. GPUME_NOMEM, not
 * logged. */
int gpume_lists_add(const char *name, const char *format);

#endif
