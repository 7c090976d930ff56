"""Pictures of embeddings and results (needs the extra ``viz``)."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.viz._static import plot_embedding, plot_embeddings

__all__ = ["plot_embedding", "plot_embeddings"]
