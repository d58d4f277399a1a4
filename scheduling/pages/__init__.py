"""What the pages of scheduling show: figures from the selectors, put in order and in words. Nothing here writes."""
