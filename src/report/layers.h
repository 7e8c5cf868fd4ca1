/* SPDX-License-Identifier: MIT */
/*
 * What is said of the layers of a run: which did not hold, who else opened the
 * files, and what they made different for the command.
 */
#ifndef HF_REPORT_LAYERS_H
#define HF_REPORT_LAYERS_H

struct hf_buffer;
struct hf_session;
struct hf_text_style;

/* One line when the watch is not whole. */
void hf_report_text_watch(const struct hf_session *session,
			  const struct hf_text_style *style,
			  struct hf_buffer *out);
/* One line when the gate cannot be had; nothing when it was not wanted. */
void hf_report_text_gate(const struct hf_session *session,
			 const struct hf_text_style *style,
			 struct hf_buffer *out);
/* At the end of a verbose run: each of them in one line, and who opened a
 * protected file beside the run without changing it. */
void hf_text_add_layers(struct hf_buffer *out, const struct hf_session *session,
			const struct hf_text_style *style);
/* A line each; a program that behaves otherwise than without us must not puzzle
 * anybody. */
void hf_text_add_side_effects(struct hf_buffer *out,
			      const struct hf_session *session,
			      const struct hf_text_style *style);

#endif /* HF_REPORT_LAYERS_H */
