"""What follows from one matrix or two: proofs, comparisons, and how alike two matrices are."""
