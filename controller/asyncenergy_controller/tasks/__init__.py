"""Tasks: what is asked, and which answers are right. Importing them reads no file and opens no connection."""
