"""What readers see as arrays: kept on the disk, and which documents in it are versions of one page."""
