"""Pictures of embeddings and results (needs the extra ``viz``)."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.viz._page import embedding_page, save_page
from demurk.viz._static import plot_embedding, plot_embeddings

__all__ = ["embedding_page", "plot_embedding", "plot_embeddings", "save_page"]
