"""What each page shows, made ready for its template: no queries, no HTML."""
