"""The corpus as strangers get it: what stands in the download, and how to derive it again."""
