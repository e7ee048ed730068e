"""Probabilities of labels over several reasoning traces.

SPDX-License-Identifier: Apache-2.0
"""

import math


def score_mean(traces):
    """The mean of label probabilities over reasoning traces, with its standard error.

    `traces`: for each trace the list of texts that score_all gave behind it: (text,
    log_probability, probability). Traces that the model drew for one prompt make the mean an
    estimate of P(label | prompt). Returns a list of (text, mean, standard_error) in the order of
    the bytes; the error is NaN for one trace. A text that a trace does not have counts as 0 there.
    ValueError if there is no trace.
    """
    if not traces:
        raise ValueError("score_mean needs the scores of one trace at least")
    found = [{text: p for text, _, p in texts} for texts in traces]
    out, n = [], len(found)
    for text in sorted(set().union(*found)):
        values = [trace.get(text, 0.0) for trace in found]
        mean = math.fsum(values) / n
        square = math.fsum((p - mean) ** 2 for p in values)
        out.append((text, mean, math.sqrt(square / (n * (n - 1))) if n > 1 else math.nan))
    return out
