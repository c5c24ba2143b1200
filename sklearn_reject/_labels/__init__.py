"""What labels mean: rejected, out of distribution, rated or not."""
