"""Articles, posts and the glossary, and what search engines and feed readers ask for."""
