/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words in pictures. The letters are our own strokes, because fonts may be missing and differ
 * between machines. One thread per cairo.
 */
#ifndef GPUME_DRAW_TEXT_H
#define GPUME_DRAW_TEXT_H

struct _cairo;

/* The width of a line whose capitals have this height, in pixels. */
double gpume_text_width(const char *text, double height);

/* Draws a line in white. (x,y): the upper left corner of its first capital; `g` and its like reach
 * a third of the height below the line. There are digits, small letters, A, B and . , - = < > / %;
 * other characters are blanks. */
void gpume_text_draw(struct _cairo *cairo, const char *text, double x, double y, double height);

#endif
