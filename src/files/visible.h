/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of files as a terminal may see them. Names may contain line ends and sequences that control
 * terminals: C0 and DEL, and C1, which are two bytes in UTF-8, or one that is part of no character.
 */
#ifndef GPUME_FILES_VISIBLE_H
#define GPUME_FILES_VISIBLE_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character that the text begins with; 0: they are none. */
size_t gpume_visible_utf8(const unsigned char *text);

/* Bytes of the control character that the text begins with; 0: it begins with another. *bytes: of
 * that one. */
size_t gpume_visible_control(const char *text, size_t *bytes);

/* Replaces each control character by '?', in place. */
void gpume_visible_clean(char *text);

/* Writes the text in that form. */
void gpume_visible_put(const char *text, FILE *stream);

#endif
